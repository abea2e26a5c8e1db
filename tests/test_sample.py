"""The bundled corpus: what it has of each kind, counted from the definitions, and that its annotation is sound."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from itertools import pairwise, permutations
from pathlib import Path

import pytest

from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Mention, Sentence, make_document
from spanloom.formats import read, write

PARTS = ("train", "dev", "test")
LABELS = {
    "biomedical": {"protein", "DNA", "RNA", "cell_type", "cell_line"},
    "news": {"PER", "ORG", "LOC", "EVENT"},
}
# fmt: off
PENN = {
    "CC", "CD", "DT", "IN", "JJ", "JJR", "JJS", "MD", "NN", "NNP", "NNPS", "NNS", "POS", "PRP", "PRP$", "RB", "RBR",
    "RP", "SYM", "TO", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "HYPH", "AFX", "-LRB-", "-RRB-", ",", ".",
}
# fmt: on


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[Document]]:
    return {part: list(read(f"sample:{part}")) for part in PARTS}


def kinds_of(sentence: Sentence) -> Counter[str]:
    """Count a sentence's mentions of each kind, from the definitions, on sets of tokens."""
    tokens = [{i for start, end in m.parts for i in range(start, end)} for m in sentence.mentions]
    found: dict[str, set[int]] = {
        "nested": set(),
        "same-type nested": set(),
        "crossing": set(),
        "discontinuous": {i for i, m in enumerate(sentence.mentions) if len(m.parts) > 1},
    }
    overlapping = set()
    for i, j in permutations(range(len(tokens)), 2):
        a, b = tokens[i], tokens[j]
        if a & b:
            overlapping.add(i)
        if a < b or b < a:
            found["nested"].add(i)
            if sentence.mentions[i].label == sentence.mentions[j].label:
                found["same-type nested"].add(i)
        elif a & b and a != b:
            found["crossing"].add(i)
    found["flat"] = set(range(len(tokens))) - overlapping - found["discontinuous"]
    return Counter({kind: len(members) for kind, members in found.items()})


def counts_of(docs: list[Document]) -> dict[str, int]:
    sentences = [s for doc in docs for s in doc]
    counts = Counter(documents=len(docs), sentences=len(sentences))
    counts["tokens"] = sum(map(len, sentences))
    counts["mentions"] = sum(len(s.mentions) for s in sentences)
    for sentence in sentences:
        counts.update(m.label for m in sentence.mentions)
        counts.update(kinds_of(sentence))
    return dict(counts)


def test_the_guide_states_the_counts(corpus: dict[str, list[Document]]) -> None:
    """Every row of the table in the guide equals a count from the definitions, and every count has its row."""
    guide = Path(__file__).parent.parent / "docs" / "sample-corpus.md"
    rows = [
        line.strip("| \n").split("|") for line in guide.read_text(encoding="utf-8").splitlines() if line[:2] == "| "
    ]
    table = {
        cells[0].strip(): [int(c.replace(",", "")) for c in cells[1:]]
        for cells in rows
        if cells[1].strip()[:1].isdigit()
    }
    counted = {part: counts_of(docs) for part, docs in corpus.items()}
    names = {name for counts in counted.values() for name in counts}
    assert table == {name: [*(counted[p][name] for p in PARTS), sum(counted[p][name] for p in PARTS)] for name in names}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_every_label_and_every_kind(corpus: dict[str, list[Document]], part: str) -> None:
    """Two or more of every label and ten or more of every kind, so that no table of scores has an empty row."""
    counts = counts_of(corpus[part])
    for label in LABELS["biomedical"] | LABELS["news"]:
        assert counts[label] >= 2, label
    for kind in ("flat", "nested", "same-type nested", "crossing", "discontinuous"):
        assert counts[kind] >= 10, kind


@pytest.mark.parametrize("part", PARTS)
def test_documents_are_small_and_of_one_domain(corpus: dict[str, list[Document]], part: str) -> None:
    for doc in corpus[part]:
        assert 2 <= len(doc.sentences) <= 5, doc.id
        assert {m.label for m in doc.mentions} <= LABELS[doc.meta["domain"]], doc.id


def test_no_sentence_and_no_id_occurs_twice(corpus: dict[str, list[Document]]) -> None:
    docs = [doc for part in PARTS for doc in corpus[part]]
    texts = Counter(s.text for doc in docs for s in doc)
    assert [text for text, n in texts.items() if n > 1] == []
    assert len({doc.id for doc in docs}) == len(docs)


def test_held_out_parts_have_names_that_training_has_not(corpus: dict[str, list[Document]]) -> None:
    """Between a third and two thirds of the held-out mentions are new: learning is neither trivial nor hopeless."""
    known = {doc.surface(m) for doc in corpus["train"] for m in doc.mentions}
    for part in ("dev", "test"):
        names = [doc.surface(m) for doc in corpus[part] for m in doc.mentions]
        assert 1 / 3 < sum(name not in known for name in names) / len(names) < 2 / 3


@pytest.mark.parametrize("part", PARTS)
def test_files_say_the_same_as_the_text(part: str) -> None:
    """Read without our own reader: offsets give the tokens, sentences tile them, mentions are within a sentence."""
    file = files("spanloom").joinpath("data", "sample", f"{part}.jsonl")
    for line in file.read_text(encoding="utf-8").splitlines():
        doc = json.loads(line)
        assert [doc["text"][start:end] for start, end in doc["offsets"]] == doc["tokens"]
        assert [i for first, last in doc["sentences"] for i in range(first, last)] == list(range(len(doc["tokens"])))
        assert len(doc["columns"]["pos"]) == len(doc["tokens"])
        assert set(doc["columns"]["pos"]) <= PENN
        seen = set()
        for mention in doc["mentions"]:
            (first, last), *_ = [s for s in doc["sentences"] if s[0] <= mention["parts"][0][0] < s[1]]
            edges = [edge for part in mention["parts"] for edge in part]
            assert first <= edges[0] < edges[-1] <= last
            assert all(a < b for a, b in pairwise(edges))
            seen.add((mention["label"], tuple(edges)))
        assert len(seen) == len(doc["mentions"])


@pytest.mark.parametrize("part", PARTS)
def test_default_tokenizer_and_splitter_agree(corpus: dict[str, list[Document]], part: str) -> None:
    """What a user types is cut as the sample is, so that a model trained on it fits."""
    for doc in corpus[part]:
        made = make_document(doc.text)
        assert made.spans == doc.spans
        assert [s.text for s in made] == [s.text for s in doc]


def test_a_name_has_one_label(corpus: dict[str, list[Document]]) -> None:
    labels: dict[str, set[str]] = {}
    for part in PARTS:
        for doc in corpus[part]:
            for mention in doc.mentions:
                labels.setdefault(doc.surface(mention), set()).add(mention.label)
    assert {name: found for name, found in labels.items() if len(found) > 1} == {}


def test_coordination_is_read_as_two_mentions(corpus: dict[str, list[Document]]) -> None:
    """``Anna and Erik Lindqvist`` are two people who share a surname, worked by hand."""
    [sentence] = [s for doc in corpus["train"] for s in doc if s.text.startswith("Anna and Erik Lindqvist opened")]
    assert sorted(sentence.mentions) == [
        Mention("LOC", ((9, 10),)),
        Mention("PER", ((0, 1), (3, 4))),
        Mention("PER", ((2, 4),)),
    ]


def test_domains_divide_a_part(corpus: dict[str, list[Document]]) -> None:
    ids = [[doc.id for doc in read(f"sample:dev?domain={domain}")] for domain in LABELS]
    assert [*ids[0], *ids[1]] == [doc.id for doc in corpus["dev"]]
    assert all(ids)


def test_unknown_parts_and_domains_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"no part 'tain'; write sample:train, sample:dev, sample:test"):
        list(read("sample:tain"))
    with pytest.raises(ParameterError, match="domain='sport'"):
        list(read("sample:dev?domain=sport"))
    with pytest.raises(ParameterError, match="can be read only"):
        write([], "sample:dev")
