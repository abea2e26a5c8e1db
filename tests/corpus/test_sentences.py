"""Sentences end where a reader would end them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.corpus.sentences import split_sentences
from spanloom.corpus.tokenizer import make_document, tokenize

# One sentence a string; the text is the strings joined by a blank.
GOLDEN = {
    "full stop": ["It rained.", "We left."],
    "question and exclamation": ["Why?", "Because!", "Really?!", "Yes."],
    "title before name": ["I met Dr. Wu and Mrs. Lee.", "They smiled."],
    "figure reference": ["Cells died (Fig. 2).", "See also Figs. 3 and 4."],
    "et al.": ["Wu et al. Showed nothing.", "Lee et al. did."],
    "e.g. and i.e.": ["Use a buffer, e.g. Tris, i.e. The usual one.", "It works."],
    "versus": ["Wild type vs. Mutant cells were counted.", "None grew."],
    "initials": ["The idea of J. K. Rowan and A. Wu failed.", "It was early."],
    "initial after name": ["John F. Kent spoke.", "No one heard."],
    "letter that ends a sentence": ["They bind NF-kappa B.", "Activation follows."],
    "letter before a starter": ["He took vitamin C.", "The cold went."],
    "species": ["We grew E. coli and S. aureus.", "Both died."],
    "decimal numbers": ["It fell by 3.5 in 1999.", "It rose by .5 later."],
    "sentence-final number": ["It was 1999.", "Nobody came."],
    "number begins a sentence": ["It was late.", "12 men came."],
    "acronym before lower case": ["The U.S. economy grew.", "Good."],
    "acronym before name": ["The U.S. Senate met.", "It voted."],
    "acronym at the end": ["He moved to the U.S.", "There he stayed."],
    "time": ["At 9 a.m. Mr. Lee woke.", "At 5 p.m.", "He slept."],
    "company": ["Weave Inc. said so.", "The Loom Corp. Board did not."],
    "etc. at the end": ["We saw cats, dogs, etc.", "The birds flew."],
    "closing quote": ['"I came."', "He left."],
    "closing curly quote": ["“I came.”", "“I left.”"],
    "quote and question": ['"Did you?"', "She nodded."],
    "quote, then lower case": ['"Did you?" she asked.', "He did."],
    "closing bracket": ["(He came.)", "She left."],
    "sentence within brackets": ["He teaches (He was a cook. It was hot.) at the school.", "He likes it."],
    "citation in brackets": ["As said (J. Virol. 65, 1991), it binds.", "We agree."],
    "opening bracket": ["It ended.", "(It began again.)", "[It stopped.]"],
    "ellipsis within": ["I wonder ... if it works.", "It does."],
    "ellipsis at the end": ["I wonder…", "It works."],
    "gene in lower case": ["This needs p53.", "mRNA was low.", "c-myc was high.", "bcl-2 too."],
    "Greek name": ["It was used.", "alpha-IFN was not."],
    "enumeration": ["We show the following.", "(i) Cells die.", "(ii) They rest."],
    "numbered item": ["1. Introduction follows.", "2. Methods come."],
    "URL": ["See http://example.org/a.b?c.", "It is there."],
    "mail": ["Write to me@example.org.", "I answer."],
    "file name": ["Open setup.py first.", "Run it."],
    "degree": ["Ann Lee, Ph.D., came.", "She spoke."],
    "number sign": ["It is No. 5 on the list.", "Good."],
    "abbreviated month": ["On Sept. 3 it rained.", "It stopped."],
    "unit at the end": ["It took 20 min.", "Increased levels were seen."],
    "Spanish": ["¿Qué tal?", "¡Bien!"],
    "French quotes": ["«Non.»", "Il part."],
    "no final stop": ["It began.", "It went on"],
}


def sentences(text: str) -> list[str]:
    return [sentence.text for sentence in make_document(text)]


@pytest.mark.parametrize("rule", GOLDEN)
def test_golden_rules(rule: str) -> None:
    """Each rule holds on an example written for it."""
    assert sentences(" ".join(GOLDEN[rule])) == GOLDEN[rule]


def test_scripts_without_spaces() -> None:
    assert sentences("我来了。你走了！他呢？") == ["我来了。", "你走了！", "他呢？"]


LINES = {
    "blank line": ("A title\n\nthe text.", ["A title", "the text."]),
    "blank line with spaces": ("a title\n \t\nthe text", ["a title", "the text"]),
    "Windows blank line": ("a title\r\n\r\nthe text", ["a title", "the text"]),
    "form feed": ("one page\fanother", ["one page", "another"]),
    "title line": ("Effects of IL-2\nCells were grown.", ["Effects of IL-2", "Cells were grown."]),
    "wrapped line": ("Cells were\ngrown.", ["Cells were\ngrown."]),
    "wrapped after a link": ("The gene of\nIL-2 was cloned.", ["The gene of\nIL-2 was cloned."]),
    "wrapped after a comma": ("In cells,\nIL-2 acts.", ["In cells,\nIL-2 acts."]),
    "list": ("- One\n- Two", ["- One", "- Two"]),
}


@pytest.mark.parametrize("rule", LINES)
def test_lines(rule: str) -> None:
    """Blank lines always end a sentence; a single line break does unless the line runs on."""
    text, expected = LINES[rule]
    assert sentences(text) == expected


@given(st.one_of(st.text(), st.text(alphabet='aA1.!?"()[] \nDr', max_size=60)))
def test_sentences_partition_the_tokens(text: str) -> None:
    """Ranges are not empty, follow one another, and end with the last token."""
    spans = tokenize(text)
    at = 0
    for start, end in split_sentences(text, spans):
        assert start == at < end
        at = end
    assert at == len(spans)


@pytest.mark.corpus
def test_sentence_boundaries_of_genia(shared_data: Path) -> None:
    """Inner sentence boundaries of the 2,000 GENIA abstracts; most errors (0.2 %) are slips of the gold."""
    right = wrong = missed = 0
    for abstract in ElementTree.parse(shared_data / "genia" / "GENIAcorpus3.02.xml").getroot().iter("abstract"):
        gold = ["".join(sentence.itertext()).strip() for sentence in abstract.iter("sentence")]
        text = " ".join(gold)
        ends = {sum(map(len, gold[: i + 1])) + i for i in range(len(gold))} - {len(text)}
        document = make_document(text)
        found = {start + len(s.text) for start, s in zip(document.starts, document, strict=True)} - {len(text)}
        right, wrong, missed = right + len(ends & found), wrong + len(found - ends), missed + len(ends - found)
    assert right + missed > 14_000
    assert 2 * right / (2 * right + wrong + missed) > 0.997
