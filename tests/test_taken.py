"""Settings that the chosen model does not take are refused, in Python and on the command line."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from spanloom.taken import KINDS, model_settings, own_settings, settings_taken
from typer.testing import CliRunner

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import UntakenError
from spanloom.cli import choices
from spanloom.cli.app import app
from spanloom.decisions.repairs import REPAIRS
from spanloom.models import MODELS
from spanloom.models.multilabel import RESTRICTIONS
from spanloom.schemes.flat import CHOICES
from spanloom.schemes.layers import DIRECTIONS

NESTED = [Sentence(["a", "b", "c"], [Mention("x", ((0, 1),)), Mention("y", ((0, 2),))])] * 4


@pytest.mark.parametrize(
    ("settings", "name", "takers"),
    [
        ({"model": "multilabel", "scheme": "BIES"}, "scheme", "chain, chains, memm"),
        ({"model": "edge", "base": "memm"}, "base", "innermost, outermost, layered, cascade, joined"),
        ({"model": "layered", "order": 1}, "order", "memm"),
        ({"model": "cascade", "base": "memm", "direction": "outside-in"}, "direction", "layered"),
        ({"model": "joined", "scheme": "BIES"}, "scheme", "chain, chains, memm"),
        ({"model": "memm", "mention_penalty": 0.5}, "mention_penalty", "chain"),
        ({"scheme": "BIES"}, "scheme", "chain, chains, memm"),
    ],
)
def test_a_setting_without_effect_is_an_error(settings, name, takers):
    """Also where `auto` chose the model: NESTED calls for edge, which has no scheme."""
    with pytest.raises(UntakenError, match=re.escape(f"takes no {name}, and would not heed")) as caught:
        Recognizer(**settings, max_iter=2).fit(NESTED)
    assert f"takes it: {takers}" in str(caught.value)
    assert caught.value.parameter == name


def test_reductions_pass_settings_to_their_base():
    ner = Recognizer("cascade", base="memm", order=1, scheme="IOB2", folds=2, beam=3, max_iter=3).fit(NESTED)
    assert {(p.order, p.scheme, p.beam) for p in ner.parts_} == {(1, "IOB2", 3)}
    assert {p.folds for p in ner.parts_} == {5}, "what the base does not take stays as it is by default"


def test_every_setting_of_models_is_one_of_the_recogniser():
    """And every one is taken by some model, but not by all."""
    assert model_settings() <= set(Recognizer().get_params())
    for name in model_settings():
        takers = [kind for kind in KINDS.values() if name in own_settings(kind)]
        assert 0 < len(takers) < len(KINDS)
    assert "scheme" not in settings_taken(KINDS["joined"], "chain")


def test_the_command_names_its_option(tmp_path):
    out = tmp_path / "m.loom"
    done = CliRunner().invoke(
        app, ["train", "sample:train", "--model", "edge", "--max-gap", "2", "-o", str(out)], catch_exceptions=True
    )
    assert isinstance(done.exception, UntakenError)
    assert "takes no --max-gap" in str(done.exception)
    done = CliRunner().invoke(
        app, ["train", "sample:train", "--model", "edge", "--restriction", "none", "-o", str(out)]
    )
    assert "takes no --restriction" in str(done.exception)
    assert not out.exists()


def test_the_choices_of_the_command_are_those_of_the_library():
    algorithms = {name for kind in MODELS.values() for name in kind.algorithms}
    assert set(get_args(choices.ModelName)) == {"auto", *KINDS}
    assert set(get_args(choices.BaseName)) == set(MODELS)
    assert set(get_args(choices.Algorithm)) == {"auto", *algorithms}
    assert set(get_args(choices.Direction)) == set(DIRECTIONS)
    text = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"}).output
    assert "|".join(REPAIRS) in text
    assert "|".join([*RESTRICTIONS, "none"]) in text
    assert set(get_args(choices.Overlap)) == {"raise", *CHOICES}


def test_a_wrong_choice_is_a_usage_error():
    done = CliRunner().invoke(app, ["train", "sample:train", "--model", "chian", "-o", "x.loom"])
    assert done.exit_code == 2
    assert "chian" in done.output
    assert "multilabel" in done.output
