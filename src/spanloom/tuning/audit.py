"""Find annotation errors: where models that have not seen a document are sure that its annotation is wrong.

A model that finds a mention unlikely is no proof against it: annotators rarely mark what is nothing, while models miss
much. So the odds of an error weigh what the model believes by how often annotators make such an error at such a place.
With the rate r of errors among mentions and p the probability of the model for a mention, less some doubt (``DOUBT``):

    missing    r · p / (1 − p)                         the mention is real, and was overlooked
    label      r / (labels − 1) · p(instead) / p(gold)
    border     r / BORDERS · p(instead) / p(gold)
    extra      r · d · (1 − p) / p                     d: annotated mentions per possible one
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.configuration import configure
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.crossfit import cross_fit
from spanloom.inference import Distribution
from spanloom.models.holding import hold
from spanloom.recognizer import Recognizer

BORDERS = 10
"""So many other borders a mention might have been given by mistake."""
SPANS = 10
"""So many mentions of each label might begin at a token."""
SURE = 0.5
"""What stands instead of an annotated mention must be more likely than not."""
DOUBT = 0.01
"""How often a model is taken to be wrong where it is quite sure: p becomes DOUBT + (1 − 2 · DOUBT) · p."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where the annotation may be wrong.

    Attributes
    ----------
    document, number, sentence
        The id of the document, which of its sentences, and the sentence as it is annotated.
    kind
        ``"missing"``: a mention that is not annotated. ``"label"``, ``"border"``: an annotated mention for which the
        model has another label or other borders. ``"extra"``: one for which it has nothing.
    gold, instead
        The annotated mention, and what the model would have; ``prob`` of each is the model's.
    log_odds
        Of an error.
    """

    document: str
    number: int
    sentence: Sentence
    kind: str
    gold: Mention | None
    instead: Mention | None
    log_odds: float

    @property
    def suspicion(self) -> float:
        """The probability of an error."""
        return 1.0 / (1.0 + math.exp(-self.log_odds)) if self.log_odds > -700 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "document": self.document,
            "sentence": self.number,
            "text": self.sentence.text,
            "kind": self.kind,
            "suspicion": self.suspicion,
            "gold": _json(self.gold, self.sentence),
            "instead": _json(self.instead, self.sentence),
        }


@dataclass(frozen=True, slots=True)
class Rates:
    """How often annotators make an error where they could."""

    missing: float
    label: float
    border: float
    extra: float


@dataclass(frozen=True, slots=True)
class Audit:
    """Suspects, the surest first.

    ``judged`` counts the annotated mentions, ``unheld`` those that the models cannot hold and say nothing about.
    """

    suspects: list[Suspect]
    judged: int
    unheld: int


def audit(
    corpus: Iterable[Document],
    *,
    settings: Mapping[str, Any] | None = None,
    folds: int = 5,
    above: float = 0.1,
    rate: float = 0.05,
    threads: int | None = None,
) -> Audit:
    """Judge every annotated mention, and every other one that is likely enough, by models that did not see it.

    Parameters
    ----------
    corpus
        Annotated documents. Each is judged by a model that was trained on other blocks of documents.
    settings
        Of the ``Recognizer``, by name, e.g. ``{"model": "edge", "l2": 0.1}``; ``keep`` is ``"longest"`` if not given.
    folds
        Into how many blocks the documents are cut.
    above
        The least probability of a mention that is not annotated.
    rate
        The share of errors among mentions that you expect; the order hardly depends on it.
    threads
        None for all cores.
    """
    check_count("folds", folds, low=2)
    if not 0 < rate < 1:
        raise ParameterError(f"The 'rate' parameter must be a number in the range (0, 1). Got {rate!r} instead.")
    documents = list(corpus)
    mentions = [m for document in documents for sentence in document.sentences for m in sentence.mentions]
    labels = max(len({m.label for m in mentions}), 1)
    density = len(mentions) / max(sum(map(len, documents)) * SPANS * labels, 1)
    rates = Rates(rate, rate / max(labels - 1, 1), rate / BORDERS, rate * density)
    given = {"keep": "longest", "threads": threads, **(settings or {})}

    def train(others: list[Document]) -> Recognizer | None:
        if not any(sentence.mentions for document in others for sentence in document.sentences):
            return None
        return configure(given).fit(others)

    def apply(ner: Recognizer, block: list[Document]) -> list[tuple[list[Suspect], int, int]]:
        return [_judge(ner, document, above, rates) for document in block]

    judged = cross_fit(documents, folds, train, apply)
    suspects = [one for own, _, _ in judged for one in own]
    suspects.sort(key=lambda s: -s.log_odds)  # stable: ties in reading order
    return Audit(suspects, sum(count for _, count, _ in judged), sum(left for _, _, left in judged))


def _judge(ner: Recognizer, document: Document, above: float, rates: Rates) -> tuple[list[Suspect], int, int]:
    blank = document.with_sentences([s.with_mentions([]) for s in document.sentences])
    held = hold(ner.trained_.holder, document.sentences, "longest")
    misread = set(held.misread)
    suspects: list[Suspect] = []
    judged = 0
    for number, (sentence, belief) in enumerate(zip(document.sentences, ner.distributions(blank), strict=True)):
        known = [m for m in held.mentions[number] if m.label in ner.labels_ and (number, m) not in misread]
        judged += len(known)
        for kind, gold, instead, odds in _suspects(sentence, belief, known, above, rates):
            suspects.append(Suspect(document.id, number, sentence, kind, gold, instead, odds))
    total = sum(len(set(s.mentions)) for s in document.sentences)
    return suspects, judged, total - judged


def _suspects(
    sentence: Sentence, belief: Distribution, known: list[Mention], above: float, rates: Rates
) -> Iterator[tuple[str, Mention | None, Mention | None, float]]:
    """Yield kind, annotated mention, what stands instead, and log-odds of an error."""
    gold = [Mention(m.label, m.parts, belief.prob(m)) for m in known]
    replaced: set[Mention] = set()
    for mention in belief.mentions(above):
        if mention in sentence.mentions:
            continue
        sure = _log(mention.prob)
        likely = (mention.prob or 0.0) >= SURE
        doubted = [g for g in gold if likely and (g.prob or 0.0) < SURE and g not in replaced]
        same = next((g for g in doubted if g.parts == mention.parts), None)
        near = next((g for g in doubted if g.label == mention.label and g.overlaps(mention)), None)
        if same is not None:
            replaced.add(same)
            yield "label", same, mention, math.log(rates.label) + sure - _log(same.prob)
        elif near is not None:
            replaced.add(near)
            yield "border", near, mention, math.log(rates.border) + sure - _log(near.prob)
        else:
            yield "missing", None, mention, math.log(rates.missing) + sure - _log1m(mention.prob)
    for g in gold:
        if g not in replaced:
            yield "extra", g, None, math.log(rates.extra) + _log1m(g.prob) - _log(g.prob)


def _log(p: float | None) -> float:
    return math.log(DOUBT + (1 - 2 * DOUBT) * (p or 0.0))


def _log1m(p: float | None) -> float:
    return _log(1.0 - (p or 0.0))


def _json(mention: Mention | None, sentence: Sentence) -> dict[str, Any] | None:
    if mention is None:
        return None
    parts = [list(part) for part in mention.parts]
    return {"label": mention.label, "parts": parts, "text": sentence.surface(mention), "prob": mention.prob}
