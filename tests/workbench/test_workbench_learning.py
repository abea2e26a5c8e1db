"""Learning in the background, what next, agreement, errors first: against direct calls, brute force and hand counts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Recognizer
from spanloom.corpus import Document, Mention, Sentence
from spanloom.formats import read
from spanloom.learning import LBFGS
from spanloom.workbench.agreement import Unit, agreement, disorder, dissimilarity, gamma
from spanloom.workbench.api.annotating import changed
from spanloom.workbench.api.call import Call
from spanloom.workbench.auditing import run_audit, suspects
from spanloom.workbench.changes import Change
from spanloom.workbench.comparing import agreements, side_by_side
from spanloom.workbench.errors import Conflict
from spanloom.workbench.fitting import STEPS
from spanloom.workbench.labels import put_settings
from spanloom.workbench.looking import counts, occurrences, why
from spanloom.workbench.project import Project
from spanloom.workbench.queue import queue


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = Project(tmp_path / "p")
    project.learner.threads = 1
    put_settings(project.db, {"model": "edge"})
    yield project
    project.close()


def docs(part: str, domain: str = "news", n: int = 12) -> list[Document]:
    return list(itertools.islice(read(f"sample:{part}", domain=domain), n))


def test_suggestions_are_those_of_a_recogniser_that_was_trained_on_what_is_known(project: Project) -> None:
    project.add(docs("train"))
    project.add(docs("dev", n=3), "none")
    project.add(docs("test", n=3), held_out=True)
    progress = project.learner.start([14])
    assert progress.running
    progress = project.learner.wait()
    assert (progress.phase, progress.error, progress.model) == ("done", "", 1)
    direct = Recognizer("edge", keep="longest", threads=1, trainer=LBFGS(max_iter=STEPS)).fit(docs("train"))
    for number, doc in zip((13, 14, 15), docs("dev", n=3), strict=True):
        found = project.suggested(number)["suggestions"]
        expected = direct.predict(doc, above=0.1).mentions
        assert {(m["label"], tuple(map(tuple, m["parts"]))) for m in found} == {(m.label, m.parts) for m in expected}
        probs = {(m["label"], str(m["parts"])): m["prob"] for m in found}
        assert all(probs[m.label, str([list(p) for p in m.parts])] == pytest.approx(m.prob) for m in expected)
    assert project.suggested(16)["suggestions"] == []  # held out: nothing is suggested
    (point,) = project.learner.curve()
    assert (point["how"], point["f1"]) == ("held-out", pytest.approx(direct.score(docs("test", n=3)).f1))
    assert [path.name for path in (project.folder / "models").iterdir()] == ["000001.loom"]


def test_discontinuous_mentions_are_learned_from_what_is_complete(project: Project) -> None:
    """The model auto becomes one that holds them, with probabilities; it uses complete sentences only."""
    put_settings(project.db, {"model": "auto"})
    project.add(docs("train", "biomedical"))
    project.add(docs("dev", "biomedical", n=2), "none")
    project.sheets.change(13, "ann", 0, "add", Change(add=(Mention("protein", ((0, 1),)),)))
    project.learner.start()
    progress = project.learner.wait()
    assert (progress.phase, progress.note) == (
        "done",
        "left out: multilabel learns from confirmed sentences only, 1 known in part",
    )
    assert project.learner.recognizer().model_.name == "multilabel"
    found = project.suggested(14)["suggestions"]
    assert found
    assert all(0.1 <= m["prob"] <= 1 for m in found)


def test_without_held_out_documents_the_score_is_cross_fitted(project: Project) -> None:
    project.add(docs("train"))
    project.learner.start()
    project.learner.wait()
    (point,) = project.learner.curve()
    assert point["how"] == "cross-fitted"
    assert 0.1 < point["f1"] < 1


def test_unconfirmed_sentences_are_learned_from_in_part(project: Project) -> None:
    """One accepted mention a sentence is enough to learn; what is beside it is not taken for nothing."""
    project.add(docs("train"), "none")
    for number, doc in enumerate(docs("train"), 1):
        first = tuple(s.mentions[0].shifted(at) for s, at in _starts(doc) if s.mentions)
        project.sheets.change(number, "ann", 0, "add", Change(add=first))
    project.learner.start()
    assert project.learner.wait().phase == "done"
    ner = project.learner.recognizer()
    found = sum(len(d.mentions) for d in ner.predict([d.with_sentences(d.sentences) for d in docs("train")]))
    listed = sum(bool(s.mentions) for d in docs("train") for s in d.sentences)
    assert found > listed  # taken as complete, the rest would have been learned as nothing


def test_learning_can_be_stopped_and_the_last_model_stays(project: Project) -> None:
    project.add(docs("train", n=40))
    project.learner.start()
    with pytest.raises(Conflict, match="already"):
        project.learner.start()
    project.learner.stop()
    assert project.learner.wait().phase == "stopped"
    assert project.learner.ner is None
    project.learner.start()
    project.learner.wait()
    before = project.learner.ner
    project.learner.start()
    project.learner.stop()
    assert project.learner.wait().phase == "stopped"
    assert project.learner.ner is before


def test_nothing_to_learn_from_is_said(project: Project) -> None:
    project.add(docs("train"), "none")
    project.learner.start()
    progress = project.learner.wait()
    assert (progress.phase, progress.error[:32]) == ("failed", "there is nothing to learn from y")


def test_the_last_model_is_there_when_a_project_is_opened_again(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.add(docs("train"))
    project.learner.start()
    project.learner.wait()
    project.close()
    project = Project(tmp_path)
    assert project.learner.progress.model == 1
    found = project.learner.recognizer().predict("Anna Lindqvist was elected mayor of Tarnby.").mentions
    assert {m.label for m in found} >= {"PER"}
    project.close()


def _starts(doc: Document) -> list[tuple[Sentence, int]]:
    made, at = [], 0
    for sentence in doc.sentences:
        made.append((sentence, at))
        at += len(sentence)
    return made


def test_the_queue_puts_first_what_is_worth_reading(project: Project) -> None:
    project.add([Document([Sentence([word, "x"])], word) for word in ("apple", "pear", "plum")])
    with project.db.writing() as write:
        write.executemany("INSERT INTO beliefs VALUES (?, 1, ?, ?)", [(1, 0.1, 0.9), (2, 0.5, 0.0), (3, 0.3, 0.5)])
    project.sheets.change(2, "ann", 0, "confirm", Change(confirm=(0,)))
    project.sheets.change(3, "ann", 0, "add", Change(add=(Mention("A", ((0, 1),)),)))
    project.sheets.change(3, "bea", 0, "add", Change(add=(Mention("B", ((0, 1),)),)))

    def names(by: str, state: str = "all", search: str = "") -> list[str]:
        found = queue(project, "ann", by=by, state=state, search=search, offset=0, limit=9)
        return [one["name"] for one in found["documents"]]

    assert names("order") == ["apple", "pear", "plum"]
    assert names("uncertainty") == ["pear", "plum", "apple"]
    assert names("models") == ["apple", "plum", "pear"]
    assert names("annotators")[0] == "plum"
    assert sorted(names("random")) == ["apple", "pear", "plum"]
    assert names("order", "open") == ["apple", "plum"]
    assert names("order", "done") == ["pear"]
    assert names("order", search="PLU") == ["plum"]


UNIT = st.builds(lambda a, n, b: Unit(a, a + n, b), st.integers(0, 9), st.integers(1, 5), st.sampled_from("AB"))
UNITS = st.lists(UNIT, max_size=4)


@settings(max_examples=60)
@given(one=UNITS, other=UNITS)
def test_disorder_is_that_of_the_best_of_all_alignments(one: list[Unit], other: list[Unit]) -> None:
    one, other = sorted(one), sorted(other)
    best = float(len(one) + len(other))
    for size in range(min(len(one), len(other)) + 1):
        for left in itertools.combinations(one, size):
            for right in itertools.permutations(other, size):
                cost = sum(dissimilarity(u, v) for u, v in zip(left, right, strict=True))
                best = min(best, cost + len(one) + len(other) - 2 * size)
    assert disorder(one, other) == pytest.approx(best)


def test_gamma_is_one_for_the_same_and_near_zero_for_chance() -> None:
    same = [Unit(i, i + 2, "AB"[i % 2]) for i in range(0, 60, 5)]
    assert gamma([(same, same, 60)]) == 1.0
    assert gamma([([], [], 60)]) is None
    shifted = [Unit(u.start + 1, u.end + 1, u.label) for u in same]
    apart = [Unit((u.start * 7 + 3) % 58, (u.start * 7 + 3) % 58 + 2, "AB"[u.start % 2]) for u in same]
    near, far = gamma([(same, shifted, 60)]), gamma([(same, sorted(apart), 60)])
    assert near is not None
    assert far is not None
    assert -0.4 < far < near < 1


def test_agreement_by_hand() -> None:
    a, b = Mention("A", ((0, 2),)), Mention("B", ((3, 5),))
    found = agreement([([a, b], [a], 9)])
    assert found["f1"] == pytest.approx(2 / 3)
    assert found["labels"]["B"] == {"f1": 0.0, "one": 1, "other": 0}


def test_annotators_are_compared_where_both_have_confirmed(project: Project) -> None:
    project.add([Document([Sentence(["a", "b", "c"]), Sentence(["d", "e"])], "one")], "none")
    a, b, c = Mention("A", ((0, 2),)), Mention("B", ((1, 3),)), Mention("A", ((3, 4),))
    project.sheets.change(1, "ann", 0, "add", Change(add=(a, b, c), confirm=(0,)))
    project.sheets.change(1, "bea", 0, "add", Change(add=(a,), confirm=(0, 1)))
    (pair,) = agreements(project)
    assert (pair["one"], pair["other"], pair["sentences"]) == ("ann", "bea", 1)
    assert pair["f1"] == pytest.approx(2 / 3)
    assert pair["differing"] == [{"document": 1, "name": "one", "differ": 1}]
    (sentence,) = side_by_side(project, 1, "ann", "bea")["sentences"]
    assert (sentence["sentence"], len(sentence["one"]), len(sentence["other"]), sentence["final"]) == (0, 2, 1, None)


def test_planted_errors_come_first(project: Project) -> None:
    """Labels of two frequent names are exchanged; the audit finds these before all others."""
    some = docs("train", n=40)
    target = next(d for d in some for s in d.sentences for m in s.mentions if s.surface(m) == "Tarnby")
    k = next(i for i, s in enumerate(target.sentences) if any(s.surface(m) == "Tarnby" for m in s.mentions))
    sentence = target.sentences[k]
    wrong = [Mention("PER", m.parts) if sentence.surface(m) == "Tarnby" else m for m in sentence.mentions]
    target.sentences[k] = sentence.with_mentions(wrong)
    project.add(some)
    run_audit(project)
    found = suspects(project, 10)
    planted = [one for one in found[:3] if one["name"] == target.id and one["sentence"] == k]
    assert planted
    assert (planted[0]["gold"]["label"], planted[0]["gold"]["text"]) == ("PER", "Tarnby")


def test_occurrences_and_counts_by_hand(project: Project) -> None:
    gene = Mention("DNA", ((1, 3),))
    project.add([Document([Sentence(["the", "IL", "gene"], [gene]), Sentence(["IL", "Gene", "IL"])], "one")])
    project.add([Document([Sentence(["no", "il", "gene", "here"])], "two")], "none")
    found = occurrences(project, 1, ((1, 3),))
    assert (found["total"], found["labels"]) == (3, {"none": 2, "DNA": 1})
    assert [(p["document"], p["start"], p["labels"]) for p in found["places"]] == [
        (1, 1, ["DNA"]),
        (1, 3, []),
        (2, 1, []),
    ]
    told = counts(project)
    assert (told["mentions"], told["sentences"], told["complete"]) == (1, 2, 2)
    assert told["labels"] == [{"label": "DNA", "mentions": 1, "different": 1, "top": [("il gene", 1)]}]


def test_why_adds_up(project: Project) -> None:
    project.add(docs("train"))
    project.learner.start()
    project.learner.wait()
    mention = min(project.sheets.get(1, "imported").mentions)
    told = why(project, 1, mention)
    shown = sum(c["contribution"] for c in told["contributions"])
    assert shown + told["others"] == pytest.approx(told["score_difference"])


def test_learning_begins_by_itself_after_so_many_documents(project: Project) -> None:
    project.add(docs("train", n=3))
    project.add(docs("dev", n=2), "none")
    put_settings(project.db, {"every": 2})
    for number in (4, 5):
        assert project.learner.progress.phase == "idle"
        sentences = list(range(len(project.documents.get(number).sentences)))
        body = {"annotator": "a", "page": "p", "version": 0, "kind": "confirm", "change": {"confirm": sentences}}
        changed(project, Call({"document": number}, {}, json.dumps(body).encode()))
    project.learner.wait()
    assert project.learner.progress.model == 1
