"""Precision, recall and F1 of mentions, discontinuous ones as wholes, under the names that spaCy's spancat has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spanloom.base.extras import need
from spanloom.formats.spacy_docs import KEY, get_entities, get_mentions, parts_key
from spanloom.integrations.spacy.examples import char_mention


def is_annotated(doc: Any, key: str = KEY) -> bool:
    """Whether a doc has the groups of a key, even if they are empty."""
    return key in doc.spans or parts_key(key) in doc.spans


@dataclass(frozen=True)
class MentionScorer:
    """Compares found mentions with gold ones: ``spans_sc_p``, ``spans_sc_r``, ``spans_sc_f``, ``spans_sc_per_type``.

    Gold mentions are those of ``doc.spans[key]``, and those of ``doc.ents`` in docs without that group. For contiguous
    mentions the numbers are those of spaCy's ``Scorer.score_spans``. A discontinuous mention counts as one, and is
    right if all its parts are.
    """

    key: str = KEY

    def __call__(self, examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        """Score examples."""
        make = need("spacy.scorer", "spacy").PRFScore
        total = make()
        by_type: dict[str, Any] = {}
        for example in examples:
            gold_doc, doc = example.reference, example.predicted
            gold = get_mentions(gold_doc, self.key) if is_annotated(gold_doc, self.key) else get_entities(gold_doc)
            wanted = {char_mention(gold_doc, m) for m in gold}
            found = {char_mention(doc, m) for m in get_mentions(doc, self.key)}
            total.score_set(found, wanted)
            for label in {m[0] for m in found | wanted}:
                own = by_type.setdefault(label, make())
                own.score_set({m for m in found if m[0] == label}, {m for m in wanted if m[0] == label})
        name = f"spans_{self.key}"
        if not by_type:
            return {f"{name}_{part}": None for part in ("p", "r", "f", "per_type")}
        return {
            f"{name}_p": total.precision,
            f"{name}_r": total.recall,
            f"{name}_f": total.fscore,
            f"{name}_per_type": {label: one.to_dict() for label, one in sorted(by_type.items())},
        }


def make_mention_scorer(spans_key: str = KEY) -> MentionScorer:
    """Make the scorer that configurations call ``spanloom.mention_scorer.v1``."""
    return MentionScorer(spans_key)
