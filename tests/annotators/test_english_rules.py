"""Lemmas and base phrases by rule."""

from __future__ import annotations

import pytest

from spanloom import Document, Sentence
from spanloom.annotators import annotator
from spanloom.annotators.english_rules import chunks, lemma


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [
        ("Genes", "NNS", "gene"),
        ("bodies", "NNS", "body"),
        ("viruses", "NNS", "virus"),
        ("classes", "NNS", "class"),
        ("responses", "NNS", "response"),
        ("mice", "NNS", "mouse"),
        ("loss", "NN", "loss"),
        ("analyses", "NNS", "analysis"),
        ("binds", "VBZ", "bind"),
        ("The", "DT", "the"),
        ("virus", "NNS", "virus"),
    ],
)
def test_lemmas_by_hand(word: str, tag: str, expected: str) -> None:
    assert lemma(word, tag) == expected


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("DT JJ NN MD VB VBN IN NNS", "B-NP I-NP I-NP B-VP I-VP I-VP B-PP B-NP"),
        ("PRP RB VBZ TO VB NN .", "B-NP B-VP I-VP I-VP I-VP B-NP O"),
        ("VBG NN VBZ", "B-NP I-NP B-VP"),
        ("NN CC NN", "B-NP O B-NP"),
        ("", ""),
    ],
)
def test_chunks_by_hand(tags: str, expected: str) -> None:
    """Noun phrases with their participles, verb groups, prepositions; a noun phrase takes what both claim."""
    assert chunks(["w"] * len(tags.split()), tags.split()) == expected.split()


def test_columns_that_are_there_stay() -> None:
    sentence = Sentence(["Genes", "bind"], columns={"pos": ["NNS", "VBP"], "lemma": ["GENE", "BIND"]})
    (done,) = annotator("english-rules").annotate([Document([sentence])])
    assert done.sentences[0].columns["lemma"] == ["GENE", "BIND"]
    assert done.sentences[0].columns["chunk"] == ["B-NP", "B-VP"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("PRP MD VB", "B-NP B-VP I-VP"),
        ("PRP MD RB VB", "B-NP B-VP I-VP I-VP"),
        ("PRP MD VB VBN", "B-NP B-VP I-VP I-VP"),
        ("PRP MD", "B-NP B-VP"),
        ("PRP RB VBZ TO VB", "B-NP B-VP I-VP I-VP I-VP"),
    ],
)
def test_a_modal_and_its_verbs_are_one_group(tags: str, expected: str) -> None:
    assert chunks(tags.lower().split(), tags.split()) == expected.split()


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [
        ("'s", "VBZ", "be"), ("'ve", "VBP", "have"), ("'re", "VBP", "be"), ("ed", "VBD", "ed"), ("-ed", "VBD", "-ed"),
        ("ing", "VBG", "ing"), ("used", "VBN", "use"), ("tied", "VBN", "tie"), ("studied", "VBN", "study"),
        ("tried", "VBD", "try"), ("dried", "VBN", "dry"), ("lied", "VBD", "lie"),
        ("species", "NNS", "species"),
    ],
)  # fmt: skip
def test_no_lemma_is_empty(word: str, tag: str, expected: str) -> None:
    assert lemma(word, tag) == expected
