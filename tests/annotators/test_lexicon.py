"""Lexicons against a naive search, their features, files and cross-fitting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spanloom import Recognizer
from spanloom.annotators import InducedLexicon, Lexicon, annotator, restore
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.learning import LBFGS


def naive(entries: dict[tuple[str, ...], str], tokens: list[str]) -> list[tuple[str, int, int]]:
    """From left to right, the longest entry at each place, by trying all."""
    found, at = [], 0
    while at < len(tokens):
        ends = [e for e in range(len(tokens), at, -1) if tuple(tokens[at:e]) in entries]
        if ends:
            found.append((entries[tuple(tokens[at : ends[0]])], at, ends[0]))
        at = ends[0] if ends else at + 1
    return found


@pytest.mark.parametrize("threads", [1, 3])
def test_random_lexicons_find_what_a_naive_search_finds(threads: int) -> None:
    random = np.random.default_rng(5)
    for _ in range(30):
        words = [f"w{i}" for i in range(4)]
        keys = {tuple(random.choice(words, random.integers(1, 5)).tolist()) for _ in range(12)}
        entries = {key: f"k{i % 3}" for i, key in enumerate(sorted(keys))}
        lexicon = Lexicon("x", [(list(key), kind) for key, kind in entries.items()], threads=threads)
        assert len(lexicon) == len(entries)
        texts = [random.choice([*words, "other"], random.integers(0, 30)).tolist() for _ in range(20)]
        sentences = [Sentence(tokens) for tokens in texts]
        assert lexicon.find(sentences) == [naive(entries, tokens) for tokens in texts]


def test_a_long_match_that_fails_falls_back_to_the_shorter_one() -> None:
    lexicon = Lexicon("x", [["a"], ["a", "b", "c"]])
    assert lexicon.find([Sentence(["a", "b", "d", "a", "b", "c"])]) == [[("", 0, 1), ("", 3, 6)]]


def test_values_say_place_and_kind() -> None:
    lexicon = Lexicon("g", [("NF-kappa B", "protein"), ("p53", "gene"), ("p53", "protein"), "IL"])
    tokens = ["NF", "-", "kappa", "B", "and", "P53", ",", "il"]
    assert lexicon.columns([Sentence(tokens)]) == [
        {"lexicon-g": ["B-protein", "I-protein", "I-protein", "E-protein", "O", "S-gene|protein", "O", "S"]}
    ]


def test_normalisation_is_a_choice() -> None:
    sentence = Sentence(["Il2"])
    assert Lexicon("x", ["IL2"], normalise=()).find([sentence]) == [[]]
    assert Lexicon("x", ["IL2"], normalise=("lower",)).find([sentence]) == [[("", 0, 1)]]
    assert Lexicon("x", [["IL15"]], normalise=("lower", "squeezed")).find([sentence]) == [[("", 0, 1)]]
    with pytest.raises(ParameterError, match="normalise takes lower, digits"):
        Lexicon("x", ["a"], normalise=("upper",))


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("IL-2\n\n  p53 gene \n")
    assert len(Lexicon.read("a", tmp_path / "a.txt")) == 2
    (tmp_path / "a.tsv").write_text('IL-2\tgene\n"x" y\tprotein\nlone\n')
    assert Lexicon.read("a", tmp_path / "a.tsv").find([Sentence(['"', "x", '"', "y", "lone"])]) == [
        [("protein", 0, 4), ("", 4, 5)]
    ]
    (tmp_path / "a.csv").write_text('"a, b",gene\n')
    assert Lexicon.read("a", tmp_path / "a.csv").find([Sentence(["a", ",", "b"])]) == [[("gene", 0, 3)]]
    with pytest.raises(CorpusError, match="cannot be read"):
        Lexicon.read("a", tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(CorpusError, match="has no entry"):
        Lexicon.read("a", tmp_path / "empty.txt")
    (tmp_path / "bad.txt").write_bytes(b"\xff\n")
    with pytest.raises(CorpusError, match="not a lexicon"):
        Lexicon.read("a", tmp_path / "bad.txt")


def test_a_state_is_the_same_lexicon_and_a_damaged_one_an_error() -> None:
    lexicon = Lexicon("x", [(["a", "b"], "k"), (["a"], "l"), (["é"], "k")])
    arrays, header = lexicon.state()
    again = restore(arrays, {"kind": "lexicon", "state": header})
    assert isinstance(again, Lexicon)
    assert again.find([Sentence(["a", "b", "É", "a"])]) == [[("k", 0, 2), ("k", 2, 3), ("l", 3, 4)]]
    for name, value in (("parents", 9), ("tokens", 9), ("ends", 99), ("kinds", 7)):
        damaged = {key: array.copy() for key, array in arrays.items()}
        damaged[name][1] = value
        with pytest.raises(ValueError, match=r"TokenTrie|not listed"):
            restore(damaged, {"kind": "lexicon", "state": header})


def test_features_of_a_lexicon_are_added_and_kept_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "genes.txt").write_text("lacZ\np53\nsonic\n")
    train = [Sentence(["the", w, "runs"], [Mention("g", ((1, 2),))]) for w in ("lacZ", "p53")]
    train += [Sentence(["the", w, "runs"]) for w in ("cat", "dog")]
    ner = Recognizer(
        features=["bias"], annotators=[f"lexicon:genes={tmp_path / 'genes.txt'}"], trainer=LBFGS(l2=0.01)
    ).fit(train)
    ner.save(tmp_path / "ner.loom")
    (tmp_path / "genes.txt").unlink()
    loaded = Recognizer.load(tmp_path / "ner.loom")
    assert [m.parts for m in loaded.predict(Sentence(["the", "sonic", "runs"])).mentions] == [((1, 2),)]


def test_an_induced_lexicon_does_not_show_a_sentence_its_own_mentions() -> None:
    """Each block is looked up in the mentions of the others; what is tagged later is looked up in all."""
    sentences = [Sentence([w, "x"], [Mention("g", ((0, 1),))]) for w in ("a", "b", "a", "c")]
    documents = [Document([sentence]) for sentence in sentences]
    lexicon, done = InducedLexicon(folds=4).fit(documents)
    assert [doc.sentences[0].columns["lexicon-train"][0] for doc in done] == ["S-g", "O", "S-g", "O"]
    assert [doc.sentences[0].columns["lexicon-train"][0] for doc in lexicon.annotate(documents)] == ["S-g"] * 4


def test_an_induced_lexicon_does_not_show_neighbours_each_others_mentions() -> None:
    """Documents of two and of four sentences with a name each: none is known elsewhere, wherever blocks are cut."""
    sentences = [Sentence([w, "x"], [Mention("g", ((0, 1),))]) for w in ("a", "a", "b", "b", "b", "b")]
    for folds in (2, 3, 5):
        _, done = InducedLexicon(folds=folds).fit([Document(sentences[:2], "1"), Document(sentences[2:], "2")])
        assert [s.columns["lexicon-train"] for doc in done for s in doc.sentences] == [["O", "O"]] * 6
        assert [s.tokens for doc in done for s in doc.sentences] == [s.tokens for s in sentences]
        assert [doc.id for doc in done] == ["1", "2"]


def test_entries_that_are_the_same_after_normalisation_share_their_kinds() -> None:
    lexicon = Lexicon("x", [("P53", "gene"), ("p53", "protein"), ("IL", "gene")])
    assert len(lexicon) == 2
    assert lexicon.find([Sentence(["p53", "il", "P53"])]) == [
        [("gene|protein", 0, 1), ("gene", 1, 2), ("gene|protein", 2, 3)]
    ]


def test_an_induced_lexicon_drops_words_that_are_mostly_something_else() -> None:
    sentences = [Sentence(["lead"], [Mention("g", ((0, 1),))]), *[Sentence(["lead"])] * 2]
    assert len(InducedLexicon(min_precision=0.5)._lexicon(sentences)) == 0
    assert len(InducedLexicon(min_precision=0.3)._lexicon(sentences)) == 1


def test_an_induced_lexicon_counts_a_name_however_it_is_written() -> None:
    """`Lead` is always a mention, but its entry would be found in every `lead` too."""
    sentences = [Sentence(["Lead"], [Mention("g", ((0, 1),))]), *[Sentence(["lead"])] * 20]
    assert len(InducedLexicon()._lexicon(sentences)) == 0
    assert len(InducedLexicon(normalise=())._lexicon(sentences)) == 1


def test_references_name_the_lexicon_and_its_normalisation(tmp_path: Path) -> None:
    (tmp_path / "genes.txt").write_text("IL2\n")
    file = f"lexicon:genes={tmp_path / 'genes.txt'}"
    sentence = [Sentence(["IL15"]), Sentence(["il2"]), Sentence(["IL2"])]

    def found(ref: str) -> list[bool]:
        made = annotator(ref)
        assert isinstance(made, Lexicon)
        return [bool(one) for one in made.find(sentence)]

    assert found(file) == [False, True, True]
    assert found(f"{file}?normalise=lower,squeezed") == [True, True, True]
    assert found(f"{file}?normalise=") == [False, False, True]
    induced = annotator("induced?normalise=squeezed")
    assert isinstance(induced, InducedLexicon)
    assert induced.normalise == ("squeezed",)


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("lexicon:a/genes.txt", r"a lexicon is written NAME=FILE, .* got 'a/genes.txt': write e.g. genes=a/genes.txt"),
        ("lexicon:genes.txt?normalise=lower", r"write e.g. genes=genes.txt\?normalise=lower"),
        ("lexicon:a=a.txt?normalize=lower", r"may be normalise=VALUE and nothing else, got 'normalize=lower'"),
        ("lexicon:a=a.txt?normalise", r"may be normalise=VALUE"),
        ("induced?folds=3", r"may be normalise=VALUE"),
    ],
)
def test_wrong_references_say_what_is_right(ref: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        annotator(ref)
