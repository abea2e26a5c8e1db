"""A setting lives with its owner: what the chosen model or trainer has not is refused, also on the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import ParameterError
from spanloom.base.settings import Settings
from spanloom.cli.app import app
from spanloom.configuration import configure, read_config, write_config
from spanloom.decisions import Best
from spanloom.decisions.decision import DECISIONS
from spanloom.learning import LBFGS, TRAINERS, Auto, Perceptron
from spanloom.models import MODELS, Cascade, Chain, Edge, Layered, Memm, Multilabel

NESTED = [Sentence(["a", "b", "c"], [Mention("x", ((0, 1),)), Mention("y", ((0, 2),))])] * 4
KINDS = {**MODELS, **TRAINERS, **DECISIONS}


@pytest.mark.parametrize(
    ("model", "name", "message"),
    [
        (Multilabel(), "scheme", "the 'multilabel' settings have no parameter 'scheme'; they have k, max_gap, restr"),
        (Edge(), "base", "the 'edge' settings have no parameter 'base'; they have share"),
        (Layered(), "order", "the 'layered' settings have no parameter 'order'; they have base, direction, layers"),
        (Layered(), "base__order", "the 'chain' settings have no parameter 'order'; they have scheme, constrained"),
        (Cascade(), "direction", "the 'cascade' settings have no parameter 'direction'; they have base, groups"),
    ],
)
def test_a_setting_that_a_model_has_not_is_refused_with_those_that_it_has(
    model: Settings, name: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        Recognizer(model).set_params(**{f"model__{name}": "x"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"model": "edge", "scheme": "BIES"},
            "there is no parameter 'scheme'; there are model, features, .*trainer.l2",
        ),
        ({"scheme": "BIES"}, "there is no parameter 'scheme'"),  # auto has no settings of its own
        ({"model": "layered", "order": 1}, "there is no parameter 'order'; .*model.base.scheme"),
        ({"model": "multilabel", "l2": 1}, "there is no parameter 'l2'"),
        ({"trainer": "perceptron", "l2": 1}, "there is no parameter 'l2'"),
    ],
)
def test_the_last_part_of_a_name_is_enough_where_there_is_such_a_setting(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        configure(settings)


def test_a_penalty_and_a_trainer_that_the_model_does_not_take_are_refused() -> None:
    flat = [Sentence(["a", "b"], [Mention("x", ((0, 1),))])]
    with pytest.raises(ParameterError, match=r"the model 'memm' takes no mention penalty; leave out penalty=0\.5"):
        Recognizer("memm", decide=Best(penalty=0.5)).fit(flat)
    with pytest.raises(ParameterError, match="the model 'memm' learns by the trainer lbfgs, adagrad, not by 'perceptr"):
        Recognizer("memm", trainer=Perceptron()).fit(flat)
    with pytest.raises(ParameterError, match=r"the model 'multilabel' learns by the trainer mira, .*not by 'lbfgs'"):
        Recognizer("multilabel", trainer=LBFGS()).fit(flat)


def test_a_base_has_settings_of_its_own() -> None:
    model = Cascade(base=Memm(order=1, scheme="IOB2", beam=3), folds=2)
    ner = Recognizer(model, trainer=Auto(max_iter=3)).fit(NESTED)
    assert [part.model for part in ner.parts_] == [model.base] * 2
    by_name = {"model": "cascade", "base": "memm", "order": 1, "model__base__scheme": "IOB2", "beam": 3, "folds": 2}
    assert configure(by_name).model == model
    assert ner.get_params()["model__base__beam"] == 3


CHANGED: dict[str, dict[str, object]] = {
    "chain": {"scheme": "IOB2", "constrained": False},
    "chains": {"scheme": "BIES", "constrained": False, "share": 0.5},
    **{name: {"share": 0.5} for name in ("edge", "state", "hypergraph")},
    "memm": {"scheme": "IO", "constrained": False, "order": 1, "dictionary": 3, "beam": 4},
    "multilabel": {"k": 3, "max_gap": 2, "restrictions": ("no_overlap",), "threshold": 0.5, "rescore": True},
    "layered": {"direction": "outside-in", "layers": 2},
    "cascade": {"groups": "by-performance", "guesses": False, "folds": 3},
    "joined": {"rare": 4},
    "tagger": {"column": "lemma"},
    **{name: {"longest": 7} for name in ("semimarkov", "weak-semimarkov", "dgm", "dgm-s", "spans", "dgm-nested")},
    "tree": {"longest": 7, "ancestors": 1},
    "lbfgs": {"l1": 0.5, "l2": 0.2, "support": "observed", "tol": 1e-3, "memory": 4, "max_iter": 9, "patience": 2},
    "adagrad": {"l2": 0.2, "max_iter": 9, "patience": 2},
    "perceptron": {"max_iter": 9, "patience": 2},
    "mira": {"aggressiveness": 0.5, "max_iter": 9, "patience": 2},
    "loglinear": {"aggressiveness": 0.5, "max_iter": 9, "patience": 2},
    "best": {"penalty": 0.5},
    "at-least": {"precision": 0.9},
}
"""Values that are not the defaults."""


@pytest.mark.parametrize("name", [name for name in CHANGED if name in MODELS])
def test_nested_names_are_those_that_can_be_set(name: str) -> None:
    """Every setting of a model can be set and read by its nested name."""
    values = {f"model__{key}": value for key, value in CHANGED[name].items()}
    again = Recognizer(name).set_params(**values).get_params()
    assert {key: again[key] for key in values} == values
    assert set(CHANGED[name]) | {"base"} >= set(MODELS[name].parameters())


@pytest.mark.parametrize("name", CHANGED)
def test_settings_are_made_again_from_their_plain_values(name: str) -> None:
    one = KINDS[name](**CHANGED[name])
    stored = one.to_json()
    assert stored.pop("name") == name
    assert {key: stored[key] for key in CHANGED[name]} == {
        key: list(value) if isinstance(value, tuple) else value for key, value in CHANGED[name].items()
    }
    again = KINDS[name](**{k: v for k, v in stored.items() if k != "base"})
    assert again.to_json() == one.to_json()


def test_the_command_refuses_what_the_model_has_not(tmp_path) -> None:
    out = tmp_path / "m.loom"
    for model, pair, message in (
        ("edge", "max_gap=2", "there is no parameter 'max_gap'"),
        ("edge", "model.max_gap=2", "the 'edge' settings have no parameter 'max_gap'; they have share"),
        ("chain", "trainer.l3=1", "the 'lbfgs' settings have no parameter 'l3'; they have max_iter, patience, l1, l2"),
    ):
        done = CliRunner().invoke(app, ["train", "sample:train", "--model", model, "--set", pair, "-o", str(out)])
        assert isinstance(done.exception, ParameterError)
        assert message in str(done.exception)
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("--model", "chian", "multilabel"),
        ("--trainer", "sgd", "lbfgs, sdca, adagrad, perceptron"),
        ("--keep", "shortest", "raise, longest, outermost, innermost"),
        ("--repair", "spelling", "parentheses, abbreviations"),
    ],
)
def test_a_wrong_choice_is_answered_with_what_there_is(option: str, value: str, allowed: str, tmp_path) -> None:
    out = tmp_path / "x.loom"
    done = CliRunner().invoke(app, ["train", "sample:train", option, value, "-o", str(out)])
    assert isinstance(done.exception, ParameterError)
    assert allowed in str(done.exception)
    assert f"Got '{value}'" in str(done.exception)
    assert not out.exists()


def test_help_names_every_trainer_repair_and_choice() -> None:
    text = " ".join(CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"}).output.split())
    for name in (*TRAINERS, "longest", "outermost", "innermost", "raise", "parentheses", "abbreviations"):
        assert name in text


def test_a_file_of_settings_is_written_and_read(tmp_path) -> None:
    """What is written, read again, makes the same recogniser; options come after the file."""
    ner = Recognizer(
        Cascade(base=Memm(order=1, scheme=["BIES", "IO"]), groups=[["x"], ["y"]]), features=["word"],
        trainer=LBFGS(l2=0.5, max_iter=7), decide="best", repairs=["parentheses"], keep="longest", seed=3,
    )  # fmt: skip
    write_config(ner, tmp_path / "s.toml")
    again = configure(read_config(tmp_path / "s.toml"))
    assert again.model.to_json() == ner.model.to_json()
    assert (again.trainer, again.keep, again.seed) == (ner.trainer, "longest", 3)
    assert (list(again.features), list(again.repairs)) == (["word"], ["parentheses"])
    (tmp_path / "bad.toml").write_text('modell = "chain"\n')
    with pytest.raises(ParameterError, match="there is no parameter 'modell'; there are model, "):
        configure(read_config(tmp_path / "bad.toml"))
    (tmp_path / "short.toml").write_text("l2 = 0.25\n")
    assert configure(read_config(tmp_path / "short.toml")).get_params()["trainer__l2"] == 0.25
    named_labels = Recognizer("edge", decide=Best(penalty={"cell line": 0.5}))
    write_config(named_labels, tmp_path / "labels.toml")
    assert configure(read_config(tmp_path / "labels.toml")).decide == named_labels.decide
    (tmp_path / "worse.toml").write_text("model =\n")
    with pytest.raises(ParameterError, match=r"worse\.toml: not a TOML file"):
        read_config(tmp_path / "worse.toml")


def test_the_command_writes_and_takes_a_file_of_settings(tmp_path) -> None:
    first, second = tmp_path / "a.loom", tmp_path / "b.loom"
    settings = ["--model", "chain", "--set", "scheme=BIES", "--max-iter", "2", "--keep", "longest"]
    made = CliRunner().invoke(
        app, ["train", "sample:dev", *settings, "--write-config", str(tmp_path / "s.toml"), "-o", str(first)]
    )
    assert made.exit_code == 0, made.output
    again = CliRunner().invoke(
        app, ["train", "sample:dev", "--config", str(tmp_path / "s.toml"), "--max-iter", "3", "-o", str(second)]
    )
    assert again.exit_code == 0, again.output
    one, two = Recognizer.load(first), Recognizer.load(second)
    assert one.model == two.model == Chain(scheme="BIES")
    assert (one.trainer.max_iter, two.trainer.max_iter) == (2, 3)
