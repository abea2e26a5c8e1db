"""spaCy (``pip install 'spanloom[spacy]'``): a component that finds mentions and learns to, and mentions of a ``Doc``.

``nlp.add_pipe("spanloom", config={"model": "gene.loom"})`` finds it by its entry point, without an import.
"""

from spanloom.formats.spacy_docs import get_mentions, part_spans, parts_key, set_mentions
from spanloom.integrations.spacy.component import SpanloomPipe
from spanloom.integrations.spacy.factory import make_spanloom
from spanloom.integrations.spacy.scoring import MentionScorer, make_mention_scorer

__all__ = [
    "MentionScorer",
    "SpanloomPipe",
    "get_mentions",
    "make_mention_scorer",
    "make_spanloom",
    "part_spans",
    "parts_key",
    "set_mentions",
]
