"""Combining systems: set algebra on mentions, conflicts, and bad input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.cli.app import app
from spanloom.decisions.combine import combine
from spanloom.learning import Auto

P, Q, R = Mention("p", ((0, 1),)), Mention("q", ((0, 2),)), Mention("r", ((1, 3),))


def system(*mentions, words="a b c"):
    return [Document([Sentence(words.split(), list(mentions))], "d")]


@pytest.mark.parametrize(
    ("how", "least", "wanted"),
    [
        ("union", None, {P, Q, R}),
        ("intersection", None, {P}),
        ("vote", None, {P, Q}),
        ("vote", 3, {P}),
        ("vote", 1, {P, Q, R}),
    ],
)
def test_mentions_are_combined_as_sets(how, least, wanted):
    """P is found by all three, Q by two, R by one."""
    found, _ = combine([system(P, Q), system(Q, P), system(P, R)], how, least=least)
    assert set(found[0].mentions) == wanted
    assert len(found[0].mentions) == len(wanted)


def test_more_than_half_of_four_is_three():
    found, _ = combine([system(P, Q), system(P, Q), system(P), system()], "vote")
    assert found[0].mentions == [P]


def test_conflicts_are_what_no_system_gave_together():
    """Q and R cross; S has the tokens of P. Together in one system, they are no conflict."""
    same = Mention("s", ((0, 1),))
    _, conflicts = combine([system(P, Q), system(R, same)])
    assert [(c.kind, {c.first, c.second}) for c in conflicts] == [("crossing", {Q, R}), ("labels", {P, same})]
    assert str(conflicts[0]) == "document 'd', sentence 0: q ((0, 2),) and r ((1, 3),) cross"
    assert combine([system(Q, R), system(P)])[1] == []


def test_probabilities_come_along():
    sure = Mention("p", ((0, 1),), 0.75)
    assert combine([system(P), system(sure)])[0][0].mentions[0].prob == 0.75


def test_bad_input_is_named():
    with pytest.raises(CorpusError, match="'d' has other tokens or sentences in system 2"):
        combine([system(P), system(P, words="a b d")])
    with pytest.raises(CorpusError, match="system 1 has 1 documents, and system 2 has 2"):
        combine([system(P), system(P) * 2])
    with pytest.raises(ParameterError, match="least=3 of 2 systems"):
        combine([system(P), system(P)], "vote", least=3)
    with pytest.raises(ParameterError, match="'how' parameter must be one of union"):
        combine([system(P)], "average")
    with pytest.raises(ParameterError, match="no system"):
        combine([])


def test_the_command_combines_models_and_corpora(tmp_path):
    """A model and a corpus with other mentions: the union has the mentions of both."""
    train = list(read("sample:train"))
    Recognizer("outermost", trainer=Auto(max_iter=10)).fit(train).save(tmp_path / "m.loom")
    test = [Document([s.with_mentions([]) for s in d.sentences], d.id, d.text, d.starts) for d in read("sample:test")]
    extra = Mention("extra", ((0, 1),))
    test[0].sentences[0] = test[0].sentences[0].with_mentions([extra])
    write(test, str(tmp_path / "other.jsonl"))
    done = CliRunner().invoke(
        app,
        ["combine", f"{tmp_path}/m.loom", f"{tmp_path}/other.jsonl", "-o", f"{tmp_path}/out.jsonl", "--json"],
    )
    assert done.exit_code == 0, done.output
    found = list(read(str(tmp_path / "out.jsonl")))
    by_model = Recognizer.load(tmp_path / "m.loom").predict(test)
    assert extra in found[0].sentences[0].mentions
    assert sum(len(d.mentions) for d in found) == sum(len(d.mentions) for d in by_model) + 1
    assert json.loads(done.output)["mentions"] == sum(len(d.mentions) for d in found)


def test_models_alone_need_a_text(tmp_path):
    done = CliRunner().invoke(app, ["combine", "a.loom", "b.loom", "-o", f"{tmp_path}/out.jsonl"])
    assert done.exit_code == 2
    assert "text to tag" in done.output
