"""Learning from what a teacher believes: the loss is the mean over its mention sets."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import CorpusError, NotFittedError, ParameterError
from spanloom.cli.app import app
from spanloom.configuration import configure
from spanloom.corpus import Believed, Known
from spanloom.learning import LBFGS, Perceptron
from spanloom.models import MODELS, Mixture
from spanloom.scale.out_of_core import out_of_core
from spanloom.tuning.audit import audit
from spanloom.tuning.jobs import TrainingJob, _digest, do_job
from toy import OFFICES, sentence

STUDENTS = sorted(name for name, kind in MODELS.items() if kind().takes_beliefs)
TO_THE_END = LBFGS(l2=0.5, tol=1e-9, max_iter=2000)
FEATURES = ["word[-1..1]", "shape(word)"]
TEXT = "the Paris office met Bill"
ONE = [Mention("ORG", ((0, 3),)), Mention("PER", ((4, 5),))]
OTHER = [Mention("LOC", ((1, 2),))]


def believed(text: str, *sets: tuple[float, list[Mention]], weight: float = 1.0) -> Sentence:
    plain = sentence(text)
    told = Believed(tuple((p, tuple(own)) for p, own in sets), weight)
    return Sentence(plain.tokens, [], plain.columns, known=Known(labels=(), believed=told))


def learn(model: str, corpus: list[Sentence], **settings: object) -> Recognizer:
    return Recognizer(
        model, features=FEATURES, trainer=TO_THE_END, keep="longest", threads=1, decide="best", **settings
    ).fit(corpus)


def believes(ner: Recognizer) -> list[dict[Mention, float | None]]:
    return [{m: m.prob for m in s.mentions} for s in ner.predict([s.with_mentions([]) for s in OFFICES], above=1e-3)]


@pytest.mark.parametrize("model", STUDENTS)
def test_sets_that_are_believed_are_sentences_that_count_as_much(model: str) -> None:
    """A sentence with two sets, 2:1, and the weight 3 is two sentences with the one and one with the other."""
    plain = sentence(TEXT)
    told = [*OFFICES, believed(TEXT, (2 / 3, ONE), (1 / 3, OTHER), weight=3)]
    shown = [*OFFICES, plain.with_mentions(ONE), plain.with_mentions(ONE), plain.with_mentions(OTHER)]
    for left, right in zip(believes(learn(model, told)), believes(learn(model, shown)), strict=True):
        for mention in left.keys() | right.keys():
            assert left.get(mention, 0.0) == pytest.approx(right.get(mention, 0.0), abs=2e-3)


def test_what_is_believed_changes_what_is_learned() -> None:
    alone = learn("edge", OFFICES)
    told = learn("edge", [*OFFICES, *[believed(TEXT, (1.0, [Mention("LOC", ((0, 3),))]), weight=5)] * 5])
    wrong = Mention("LOC", ((0, 3),))
    before, after = (ner.distribution(sentence(TEXT)).prob(wrong) for ner in (alone, told))
    assert after > 0.5 > 0.1 > before


def test_a_student_comes_to_believe_what_its_teacher_does() -> None:
    teacher = Recognizer("segmental", features=FEATURES, trainer=LBFGS(l2=1.0), threads=1, decide="best").fit(OFFICES)
    texts = [s.with_mentions([]) for s in OFFICES] * 20
    taught = list(teacher.teach(texts, samples=32))
    assert all(isinstance(doc, Document) and not s.mentions for doc in taught for s in doc.sentences)
    student = Recognizer("segmental", features=FEATURES, trainer=LBFGS(l2=0.01), threads=1, decide="best").fit(taught)
    for one, other in zip(believes(teacher), believes(student), strict=True):
        for mention in one.keys() | other.keys():
            assert one.get(mention, 0.0) == pytest.approx(other.get(mention, 0.0), abs=0.15)
    assert [s for doc in teacher.teach(texts[:3], seed=4) for s in doc.sentences] == [
        s for doc in teacher.teach(texts[:3], seed=4) for s in doc.sentences
    ]


def test_what_the_student_cannot_hold_is_left_out() -> None:
    nested = believed("the Rome office", (0.5, [Mention("ORG", ((0, 3),)), Mention("LOC", ((1, 2),))]), (0.5, []))
    ner = learn("chain", [*OFFICES, *[nested] * 5])
    belief = ner.distribution(sentence("the Rome office"))
    assert belief.prob(Mention("ORG", ((0, 3),))) > belief.prob(Mention("LOC", ((1, 2),)))


def test_what_only_a_less_probable_set_has_is_learned_too() -> None:
    """Tags and labels come from all sets: here a long person, and a place."""
    gold = [sentence("Ann slept", ("PER", 0, 1))] * 5
    long = Mention("PER", ((0, 4),))
    told = believed(
        "the whole of it all slept", (0.6, []), (0.3, [long]), (0.1, [Mention("LOC", ((0, 1),))]), weight=20
    )
    for model in ("chain", "state", "edge"):
        ner = learn(model, [*gold, told])
        assert ner.labels_ == ("LOC", "PER")
        assert ner.distribution(sentence("the whole of it all slept")).prob(long) == pytest.approx(0.3, abs=0.1)


def test_a_student_of_a_teacher_alone_nests_as_its_teacher_does() -> None:
    nested = believed(TEXT, (1.0, [*ONE, *OTHER]))
    ner = Recognizer("edge", features=FEATURES, threads=1).fit([nested] * 10)
    assert ner.training_.get("never") != "overlap"
    assert set(ner.predict(sentence(TEXT)).mentions) == {*ONE, *OTHER}


def test_a_flat_student_needs_no_choice_about_what_nobody_annotated() -> None:
    """``keep`` is about gold; what the student cannot hold of a teacher's set is left out."""
    flat = [
        sentence("Ann slept", ("PER", 0, 1)),
        sentence("saw Rome", ("LOC", 1, 2)),
        sentence("an office", ("ORG", 0, 2)),
    ]
    nested = believed(TEXT, (1.0, [*ONE, *OTHER]))
    assert Recognizer("chain", features=FEATURES, threads=1).fit([*flat, nested] * 3).labels_ == ("LOC", "ORG", "PER")


def test_what_is_believed_is_not_scored_on() -> None:
    taught = [believed(TEXT, (1.0, []))] * 5
    alone, both = (
        Recognizer("edge", features=FEATURES, threads=1, decide="f1").fit(OFFICES * 3, dev=dev).training_["decision"]
        for dev in (OFFICES, [*OFFICES, *taught])
    )
    assert alone == both


def test_mentions_and_beliefs_of_one_sentence_are_refused() -> None:
    told = believed(TEXT, (1.0, ONE)).with_mentions(ONE)
    with pytest.raises(CorpusError, match="only one of the two"):
        Recognizer("edge").fit([*OFFICES, told])


def test_beliefs_are_not_kept_in_files_of_blocks() -> None:
    with pytest.raises(ParameterError, match="what a teacher believes cannot be kept in files"):
        Recognizer("state", features=FEATURES).fit(
            [*OFFICES * 4, believed(TEXT, (1.0, ONE))], learner=out_of_core(blocks=2)
        )


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"weight": 0}, "above 0"), ({"weight": float("nan")}, "above 0"), ({"samples": 0}, "samples")],
)
def test_bad_settings_of_a_teacher_are_refused_at_once(settings: dict[str, float], why: str) -> None:
    teacher = learn("edge", OFFICES)
    with pytest.raises(ParameterError, match=why):
        teacher.teach(OFFICES, **settings)
    with pytest.raises(ParameterError, match="in a list"):
        teacher.teach("Bill met Ann")
    with pytest.raises(NotFittedError):
        Recognizer("edge").teach(OFFICES)


def test_students_that_cannot_learn_so_say_it() -> None:
    taught = [*OFFICES, believed(TEXT, (1.0, ONE))]
    for model in ("layered", "joined", Mixture("state+memm")):
        with pytest.raises(ParameterError, match=r"sentence 5 has what a teacher believes.*choose one of chain"):
            Recognizer(model, keep="longest").fit(taught)
    with pytest.raises(ParameterError, match="perceptron"):
        Recognizer("edge", trainer=Perceptron()).fit(taught)
    with pytest.raises(ParameterError, match="no distribution"):
        list(Recognizer("tagger", features=FEATURES).set_params(model__column="pos").fit(OFFICES).teach(OFFICES))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Believed(((0.5, ()),)), "add up to 0.5"),
        (lambda: Believed(((1.0, ()),), weight=0.0), "a number above 0"),
        (lambda: Believed(((1.5, ()), (-0.5, tuple(ONE)))), "above 0"),
        (lambda: Known(believed=Believed(((1.0, ()),))), "nothing annotated"),
        (lambda: Sentence(["a"], known=Known(labels=(), believed=Believed(((1.0, tuple(ONE)),)))), "ends at token 5"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()  # type: ignore[operator]


def test_what_is_believed_goes_through_files(tmp_path) -> None:
    first = sentence("Ann slept", ("PER", 0, 1))
    doc = Document([first, believed(TEXT, (0.75, ONE), (0.25, []), weight=0.5)], "d")
    write([doc], tmp_path / "d.jsonl")
    (again,) = read(tmp_path / "d.jsonl")
    assert [s.known for s in again.sentences] == [s.known for s in doc.sentences]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ('{"labels": [], "believed": {"sets": [{"prob": 0.5, "mentions": []}]}}', "add up to 0.5"),
        ('{"labels": [], "believed": {"sets": [{"prob": "1", "mentions": []}]}}', "must be a number"),
        ('{"labels": [], "believed": {"sets": [], "waight": 1}}', "unknown field 'waight'"),
        ('{"believed": {"sets": [{"prob": 1, "mentions": []}]}}', "nothing annotated"),
        ('{"labels": [], "believed": {"sets": [{"prob": 1, "mentions": [{"label": "X", "parts": []}]}]}}', "part"),
        ('{"labels": [], "believed": {"sets": [{"prob": 1, "mentions": [], "x": 1}]}}', "unknown field 'x'"),
        (
            '{"labels": [], "believed": {"sets": [{"prob": 1, "mentions": [{"label": "X", "parts": [[0, 1]]}]}]}}',
            "begins before its sentence",
        ),
    ],
)
def test_damaged_beliefs_are_named(told: str, why: str, tmp_path) -> None:
    line = f'{{"tokens": ["a", "b"], "sentences": [[0, 1], {{"range": [1, 2], "known": {told}}}]}}'
    (tmp_path / "d.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=why):
        list(read(tmp_path / "d.jsonl"))


def test_from_a_model_file_to_a_student(tmp_path) -> None:
    Recognizer("state", features=FEATURES, threads=1).fit(OFFICES * 3).save(tmp_path / "big.loom")
    (tmp_path / "text.txt").write_text("Bill met Ann .\nthe Rome office saw Paris .\n", encoding="utf-8")
    write([Document([s], str(i)) for i, s in enumerate(OFFICES)], tmp_path / "train.jsonl")
    run = CliRunner().invoke
    out = run(app, ["teach", str(tmp_path / "big.loom"), str(tmp_path / "text.txt"), "-o", str(tmp_path / "t.jsonl")])
    assert out.exit_code == 0, out.output
    assert all(s.known is not None and s.known.believed for doc in read(tmp_path / "t.jsonl") for s in doc.sentences)
    out = run(
        app,
        ["train", str(tmp_path / "train.jsonl"), str(tmp_path / "t.jsonl"), "-o", str(tmp_path / "small.loom"),
         "--model", "edge", "--threads", "1"],
    )  # fmt: skip
    assert out.exit_code == 0, out.output
    assert Recognizer.load(tmp_path / "small.loom").labels_ == ("LOC", "ORG", "PER")
    out = run(app, ["teach", str(tmp_path / "big.loom"), str(tmp_path / "text.txt"), "-o", str(tmp_path / "t.conll")])
    assert out.exit_code != 0
    assert "JSON lines" in out.output


def test_nothing_is_scored_on_what_a_teacher_believes() -> None:
    ner = learn("edge", OFFICES)
    taught = [believed(TEXT, (1.0, ONE))] * 3
    assert ner.score([*OFFICES, *taught]).micro == ner.score(OFFICES).micro
    one = Document([*OFFICES, *taught])
    assert ner.score([one]).micro == ner.score(OFFICES).micro
    job = TrainingJob({"model": "edge", "max_iter": 5, "keep": "longest"}, [{}], tuple(range(8)), (0, 1, 2))
    scores = [do_job([*OFFICES[:2], last, *OFFICES * 2], job, 1, configure)["scores"][0][:3] for last in taught[:1]]
    two = TrainingJob(job.settings, [{}], job.train, (0, 1))
    assert scores == [do_job([*OFFICES[:2], taught[0], *OFFICES * 2], two, 1, configure)["scores"][0][:3]]


def test_audit_does_not_miss_mentions_where_only_a_teacher_speaks() -> None:
    taught = [believed(TEXT, (1.0, ONE))] * 3
    found = audit([Document([s]) for s in [*OFFICES * 3, *taught]], settings={"model": "edge", "max_iter": 20}, folds=3)
    assert not [one for one in found.suspects if one.sentence.believed is not None]
    assert found.judged


def test_trials_on_other_beliefs_are_other_trials() -> None:
    told = [[believed(TEXT, (1.0, ONE), weight=w)] for w in (1.0, 2.0)]
    assert len({_digest(one) for one in [*told, [sentence(TEXT)]]}) == 3


@pytest.mark.parametrize("model", ["edge", "chain", "semimarkov"])
def test_what_is_never_most_probable_can_be_learned(model: str) -> None:
    """Every sentence has most probably no mention, and yet there is something to learn."""
    ner = learn(model, [believed(TEXT, (0.6, []), (0.4, OTHER))] * 5)
    assert ner.distribution(sentence(TEXT)).prob(OTHER[0]) == pytest.approx(0.4, abs=0.1)


def test_a_teacher_whose_probabilities_are_scores_is_refused() -> None:
    ner = Recognizer("multilabel", features=FEATURES, threads=1, keep="longest").fit(OFFICES)
    with pytest.raises(ParameterError, match="scores, and no probabilities"):
        ner.teach([sentence(TEXT)])


def test_a_negative_seed_is_said_at_once() -> None:
    with pytest.raises(ParameterError, match="seed"):
        learn("edge", OFFICES).teach([sentence(TEXT)], seed=-1)


def test_auto_says_why_it_has_no_model_for_broken_mentions_and_a_teacher() -> None:
    broken = Sentence(["T", "and", "B", "cells"], [Mention("cell", ((0, 1), (3, 4)))])
    corpus = [broken, believed(TEXT, (1.0, ONE))]
    with pytest.raises(
        ParameterError, match=r"cell “T … cells” has, which the model multilabel holds.*keep=\"longest\""
    ):
        Recognizer().fit(corpus)
    assert Recognizer("state", keep="longest", trainer=LBFGS(max_iter=2)).fit([*corpus, *OFFICES]).labels_


@pytest.mark.parametrize("model", ["edge", "chain", "semimarkov", "state", "spans"])
def test_what_the_student_cannot_hold_is_nothing_to_learn(model: str) -> None:
    broken = believed("T and B cells", (1.0, [Mention("cell", ((0, 1), (3, 4)))]))
    with pytest.raises(CorpusError, match="nothing to learn"):
        learn(model, [broken] * 4)


def test_a_teacher_is_no_development_data() -> None:
    ner = learn("edge", OFFICES)
    with pytest.raises(CorpusError, match="no sentence of the development data is annotated"):
        ner.set_decision("f1", [believed(TEXT, (1.0, ONE))])
