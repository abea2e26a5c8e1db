"""The paper's templates and ours: what they say, and that they work on gaps and on tokens."""

from __future__ import annotations

import re

import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.annotators import PhraseColumns
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.features.separator_sets import muis_lu
from spanloom.learning import LBFGS

CLUSTERS = {"brown": {"gene": ["0110"], "p53": ["0111"]}}
WORDS = Sentence(["the", "p53", "gene"], [Mention("DNA", ((1, 3),))], {"pos": ["DT", "NN", "NN"]})


def test_ngrams_cover_the_token():
    """Two bigrams, three trigrams and four 4-grams cover a token, whichever it is."""
    for at in (0, -1):
        found = [text for text in muis_lu(at) if text.startswith("word[") and "&" in text]
        assert len(found) == 2 + 3 + 4
        assert all(f"word[{at}]" in text for text in found)
        assert found[2] == f"word[{at - 2}] & word[{at - 1}] & word[{at}]"


def test_the_papers_set_on_a_token():
    """Words, tags, shapes and cluster prefixes around, n-grams, a bag, thirteen flags, affixes, a bias."""
    extractor = FeatureExtractor(FeatureSet.named("muis-lu-genia", CLUSTERS))
    rows = extractor.fit([WORDS])
    names = [extractor.name(f) for f in rows.ids[rows.row_ptr[1] : rows.row_ptr[2]]]
    clusters = [name for name in names if "brown" in name]
    assert len(names) == 1 + 3 + 3 + 9 + 9 + 1 + 13 + 3 + 2 + 3 + 3 + len(clusters)
    assert {name.rsplit("=", 1)[1] for name in clusters} == {"0111", "0110"}


def test_the_set_for_gaps_is_the_other_one_gap_earlier():
    """What ``muis-lu-genia`` sees at a token, ``muis-lu-genia-gaps`` sees at the gap after it."""
    seen = []
    for name, sites, first in (("muis-lu-genia", "tokens", 0), ("muis-lu-genia-gaps", "gaps", 1)):
        extractor = FeatureExtractor(FeatureSet.named(name, CLUSTERS), sites=sites)
        rows = extractor.fit([WORDS])
        at = range(first, first + 3)
        values = [[extractor.name(f) for f in rows.ids[rows.row_ptr[r] : rows.row_ptr[r + 1]]] for r in at]
        seen.append([sorted(re.sub(r"\[-?\d\]|-?\d\.\.-?\d", "", name) for name in row) for row in values])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["muis-lu-genia", "muis-lu-genia-gaps", "genia-rich"])
def test_sets_train_a_model(name, tmp_path):
    """Through the Recognizer, with clusters from a file and phrases from part of speech; also after loading."""
    (tmp_path / "paths").write_text("0110\tgene\t3\n0111\tp53\t2\n")
    ner = Recognizer(
        "edge", features=name, clusters=tmp_path / "paths", annotators=["phrases"], trainer=LBFGS(l2=0.001, max_iter=40)
    )
    ner.fit([WORDS] * 2)
    ner.save(tmp_path / "m.loom")
    plain = Sentence(WORDS.tokens, columns=WORDS.columns)
    for model in (ner, Recognizer.load(tmp_path / "m.loom")):
        assert model.predict(plain).mentions == WORDS.mentions


def test_clusters_must_be_given():
    """The message names the resource."""
    with pytest.raises(ParameterError, match="brown"):
        FeatureSet.named("muis-lu-genia")


def test_phrases_of_a_sentence():
    """Runs with a noun are phrases; their head is the last noun; hyphens join; adjectives alone are none."""
    tokens = ["the", "IL", "-", "2", "receptor", "is", "high", "in", "activated", "T", "cells"]
    tags = ["DT", "NN", "HYPH", "CD", "NN", "VBZ", "JJ", "IN", "VBN", "NN", "NNS"]
    made = PhraseColumns().columns([Sentence(tokens, columns={"pos": tags})])[0]
    assert made["phrase"] == [*list("BIIIE"), "O", "O", "O", *list("BIE")]
    assert made["phrase-head"] == ["receptor"] * 5 + ["O"] * 3 + ["cells"] * 3
    with pytest.raises(CorpusError, match="'pos'"):
        PhraseColumns().annotate([Document([Sentence(["a"])])])
