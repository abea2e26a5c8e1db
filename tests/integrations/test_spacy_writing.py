"""What the spaCy component writes to docs is what spaCy's own methods write."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras import needs

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]  # spaCy and its libraries warn at import
needs("spacy")

import spacy  # noqa: E402
from spacy.tokens import Doc, Span  # noqa: E402

from spanloom import Mention  # noqa: E402
from spanloom.integrations.spacy.writing import Found, Writing  # noqa: E402


@given(docs=st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), max_size=4), min_size=1, max_size=4))
def test_entities_are_spacys_own_whether_few_or_many_tokens_are_in_mentions(docs: list[list[tuple[int, int]]]) -> None:
    """Docs have 1 to 40 tokens; gaps and lengths of mentions are random."""
    nlp, mentions, made = spacy.blank("en"), [], []
    for gaps in docs:
        ends = np.cumsum([gap + length for gap, length in gaps]).tolist()
        own = [(end - length, end) for end, (_, length) in zip(ends, gaps, strict=True)]
        mentions.append([Mention("AB"[start % 2], ((start, end),)) for start, end in own])
        made.append(Doc(nlp.vocab, words=["w"] * (own[-1][1] + len(gaps) if own else 1)))
    writing = Writing(made, Found.of(mentions, False), "sc", "flat")
    for number, (doc, found) in enumerate(zip(made, mentions, strict=True)):
        writing.to(doc, number)
        other = Doc(nlp.vocab, words=[t.text for t in doc])
        other.set_ents([Span(other, m.start, m.end, label=m.label) for m in found])
        assert [(t.ent_iob_, t.ent_type_) for t in doc] == [(t.ent_iob_, t.ent_type_) for t in other]
