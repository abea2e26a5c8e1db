"""What the experiment on discontinuous mentions makes of data."""

from __future__ import annotations

from itertools import pairwise

import pytest

from experiments import multilabel, penalties
from experiments.multilabel import EXPERIMENT, KINDS, curve, finish, flat, folds, some, trained
from experiments.noun_chunks import with_chunks
from experiments.penalties import Chosen
from experiments.runner import Run
from experiments.settings import recognizer
from spanloom import Document, Mention, Sentence, read
from spanloom.models import named


def test_kinds_of_mentions_that_are_scored_apart() -> None:
    """ "T and B cells" has a discontinuous member, one that crosses it, and one within the latter."""
    broken, crossing = Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))
    nested, flat = Mention("cell", ((2, 3),)), Mention("cell", ((5, 6),))
    every = [broken, crossing, nested, flat]
    assert some(KINDS["both"], every) == some(KINDS["broken"], every) == [broken]
    assert some(KINDS["crossing"], every) == [broken, crossing]
    assert some(KINDS["any"], every) == [broken, crossing, nested]
    assert some(KINDS["both"], [broken, flat]) == []
    assert some(KINDS["any"], []) == []


def test_a_lower_threshold_finds_no_less() -> None:
    """Figure 5: what is found and what of it is right can only grow as the threshold falls."""
    a, b, c = (Mention("X", ((i, i + 1),)) for i in range(3))
    points = curve([[(2.0, a), (0.55, b), (-1.0, c)]], [[a, c]])
    assert [p["threshold"] for p in points] == sorted(p["threshold"] for p in points)
    by = {p["threshold"]: (p["gold"], p["right"], p["found"]) for p in points}
    assert by[2.0] == (2, 0, 0)
    assert by[1.9] == by[0.6] == (2, 1, 1)
    assert by[0.5] == by[-1.0] == (2, 1, 2)
    assert by[-1.1] == (2, 2, 3)
    for low, high in pairwise(points):
        assert low["found"] >= high["found"]
        assert low["right"] >= high["right"]


def test_a_curve_of_one_label_counts_its_mentions_only() -> None:
    """Figure 5 for persons: the other labels neither wanted nor found."""
    person, place = Mention("PER", ((0, 1),)), Mention("LOC", ((1, 2),))
    (at_zero,) = [p for p in curve([[(1.0, person), (0.5, place)]], [[person, place]], "PER") if p["threshold"] == 0]
    assert at_zero == {"threshold": 0.0, "gold": 1, "found": 1, "right": 1}


def tree(*tokens: str) -> Sentence:
    """Make a sentence of ``word/UPOS/head/deprel``."""
    words, upos, head, deprel = zip(*(token.split("/") for token in tokens), strict=True)
    return Sentence(list(words), columns={"upos": list(upos), "head": list(head), "deprel": list(deprel)})


@pytest.mark.parametrize(
    ("tokens", "chunks"),
    [
        (["all/DET/3/det:predet", "the/DET/3/det", "reasons/NOUN/0/root"], [(0, 3)]),
        (["in/ADP/2/case", "New/PROPN/0/root", "York/PROPN/2/flat"], [(1, 3)]),
        (["Ann/PROPN/3/nmod:poss", "'s/PART/1/case", "dog/NOUN/0/root"], [(0, 1), (2, 3)]),
        (["her/PRON/2/nmod:poss", "dog/NOUN/0/root"], [(0, 2)]),
        (["a/DET/3/det", "(/PUNCT/3/punct", "dog/NOUN/0/root"], [(2, 3)]),
        (["very/ADV/2/advmod", "old/ADJ/3/amod", "dogs/NOUN/0/root", "only/ADV/3/advmod"], [(0, 3)]),
        (["dogs/NOUN/0/root", "of/ADP/3/case", "war/NOUN/1/nmod"], [(0, 1), (2, 3)]),
        (["he/PRON/2/nsubj", "runs/VERB/0/root"], [(0, 1)]),
        (["stone/NOUN/2/compound", "wall/NOUN/0/root"], [(0, 2)]),
    ],
)
def test_noun_phrases_by_hand(tokens: list[str], chunks: list[tuple[int, int]]) -> None:
    """What the rule says of determiners, names, possessors, gaps, adverbs, prepositions, pronouns and compounds."""
    assert [m.parts for m in with_chunks(tree(*tokens)).mentions] == [(chunk,) for chunk in chunks]


def test_lines_by_the_letter_are_the_papers() -> None:
    """Threshold 0, last weights, no cap, all but the test part; every variant says what it changes, and no more."""
    lines = {run.name: run for run in EXPERIMENT.runs}
    for data, figures in (("genia", (84.38, 86.53)), ("uner", (82.33, 83.26)), ("np", (93.45, 93.90))):
        for name, paper in zip(("multilabel", "multilabel, restricted"), figures, strict=True):
            first = lines[f"{data}: {name}, by the letter"]
            assert first.paper["f1"] == paper
            params = recognizer({k: v for k, v in first.settings.items() if k not in ("data", "learn")}).get_params()
            assert (params["model__threshold"], params["model__k"]) == (0.0, None)
            trainer = params["trainer"]
            assert (trainer.average, trainer.all_pairs, trainer.most >= 1e6) == (False, False, True)
            assert first.settings["learn"] == "all"
            for variant, changed in multilabel.VARIANTS.items():
                settings = lines[f"{data}: {name}, by the letter{variant}"].settings
                assert settings == {**first.settings, **changed}
        for tagger in ("CRF", "averaged perceptron"):
            line = lines[f"{data}: {tagger}"]
            assert line.settings["features"] == first.settings["features"]
            assert line.settings["learn"] == "flat"


def test_sequence_taggers_learn_from_sentences_that_they_can_hold(tmp_path, monkeypatch) -> None:
    """Those with overlapping or discontinuous mentions are left out, also of the part on which L2 was chosen."""
    train, dev = ([s for d in read(f"sample:{part}") for s in d.sentences] for part in ("train", "dev"))
    assert 0 < len(flat(train)) < len(train)
    asked = []

    def choose(corpus, parts, settings, **_):
        asked.append((corpus, parts))
        return Chosen(3.0, {})

    monkeypatch.setattr(penalties, "choose", choose)
    settings = {"model": "chain", "l2": [1.0, 3.0], "max_iter": 3, "overlap": "longest", "learn": "flat"}
    ner, held = trained(settings, train, dev, tmp_path / "l2.jsonl")
    ((corpus, ((learned, watched),)),) = asked
    assert [corpus[i] for i in learned] == flat(train)
    assert [corpus[i] for i in watched] == dev, "chosen on all of the development part"
    assert ner.get_params()["trainer__l2"] == 3.0
    mentions = [sum(len(s.mentions) for s in some) for some in (flat(train) + flat(dev), train + dev)]
    assert held == pytest.approx(mentions[0] / mentions[1])


def test_a_threshold_is_chosen_before_all_is_learned_from(tmp_path) -> None:
    train, dev = ([s for d in read(f"sample:{part}") for s in d.sentences] for part in ("train", "dev"))
    common = {"model": "multilabel", "algorithm": "mira", "features": "default", "max_iter": 2, "all_pairs": True}
    ner, _ = trained({**common, "threshold": "global", "learn": "all"}, train, dev, tmp_path / "l2.jsonl")
    alone = recognizer({**common, "threshold": "global"}, threads=1).fit(train, dev=dev).trained_
    assert ner.trained_.thresholds.tolist() == alone.thresholds.tolist()  # type: ignore[attr-defined]
    assert ner.training_["sentences"] == len(train) + len(dev)


def test_paired_tests_and_figures_are_made_of_what_results_keep(tmp_path) -> None:
    better, worse, none = ";".join(["2 2 2"] * 40), ";".join(["2 2 1"] * 40), ";".join(["0 0 0"] * 40)
    points = [
        {"threshold": 0.0, "gold": 2, "found": 1, "right": 1},
        {"threshold": 1.0, "gold": 2, "found": 1, "right": 0},
    ]
    letter = {"units": better, "both_units": none, "curve": points, "person_curve": points}
    finish({"uner: multilabel, by the letter": letter, "uner: CRF": {"units": worse, "both_units": none}}, tmp_path)
    text = (tmp_path / "multilabel-paired.md").read_text(encoding="utf-8")
    assert "| uner | multilabel, by the letter | CRF | all | +50.00 |" in text
    assert "| overlapping and discontinuous |" not in text, "there are none"
    assert (tmp_path / "multilabel-persons.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "multilabel-np.png").exists()


def test_every_document_is_test_data_once_and_never_beside_itself() -> None:
    docs = [Document([Sentence([f"w{i}"])], f"d{i}") for i in range(23)]
    seen: list[str] = []
    for train, dev, test in folds(docs, 3):
        words = [[s.tokens[0] for s in part] for part in (train, dev, test)]
        assert len(set().union(*words)) == sum(map(len, words)) == 23
        assert all(words)
        seen += words[2]
    assert sorted(seen) == sorted(f"w{i}" for i in range(23))


@pytest.mark.parametrize("run", EXPERIMENT.runs, ids=lambda run: run.name)
def test_the_settings_of_every_line_arrive_at_their_owner(run: Run) -> None:
    """Written down by hand: the old names in a line of the table, and where they stand in a recogniser."""
    places = {
        "chain": {"scheme": "model__scheme"},
        "multilabel": {"company": "model__rescore", "restrictions": "model__restrictions"},
    }[run.settings["model"]]
    given = {k: v for k, v in run.settings.items() if k not in ("data", "learn")}
    params = recognizer({**given, "l2": max(given["l2"])} if "l2" in given else given).get_params()
    assert named(params["model"]).name == run.settings["model"]
    assert params["trainer__max_iter"] == run.settings["max_iter"]
    assert params["keep"] == run.settings.get("overlap", "raise")
    for name, place in places.items():
        if name in run.settings:
            assert params[place] == run.settings[name]
    usual = {"chain": "lbfgs", "multilabel": "mira"}[run.settings["model"]]
    assert named(params["model"]).trainer(params["trainer"]).name == run.settings.get("algorithm", usual)
