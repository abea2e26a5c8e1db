"""Find annotation errors: where models that have not seen a document are sure that its annotation is wrong.

A model that finds a mention unlikely is no proof against it: annotators rarely mark what is nothing, while models miss
much. So the odds of an error weigh what the model believes by how often annotators make such an error at such a place;
how much a belief is worth is learned from the annotation, see ``tuning.odds``. Errors of a rate r among mentions are

    missing    r              the mention is real, and was overlooked
    label      r / (labels − 1) for each other label
    border     r / BORDERS for each other border
    extra      r · d          d: annotated mentions per possible one
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.configuration import configure
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.crossfit import cross_fit
from spanloom.drawing.audit import TOP, audit_html
from spanloom.models.holding import hold
from spanloom.recognizer import Recognizer
from spanloom.tuning.odds import SURE, Odds, Rates, against, alone, examples, logit

BORDERS = 10
"""So many other borders a mention might have been given by mistake."""
SPANS = 10
"""So many mentions of each label might begin at a token."""
FLOOR = 0.01
"""Mentions that are less probable are taken to have ``LEAST``."""


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
class Audit:
    """Suspects, the surest first.

    ``judged`` counts the annotated mentions, ``unheld`` those that the models cannot hold and say nothing about.
    """

    suspects: list[Suspect]
    judged: int
    unheld: int

    def _repr_html_(self) -> str:
        """Show the surest suspects in notebooks."""
        return audit_html(self.suspects[:TOP], len(self.suspects))


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
        Annotated documents. Each is judged by a model that was trained on other blocks of documents; of fewer documents
        than ``folds``, each sentence counts as one.
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
    documents, numbers = _units(list(corpus), folds)
    mentions = [m for document in documents for sentence in document.sentences for m in sentence.mentions]
    labels = max(len({m.label for m in mentions}), 1)
    density = len(mentions) / max(sum(map(len, documents)) * SPANS * labels, 1)
    rates = Rates(rate, rate / max(labels - 1, 1), rate / BORDERS, rate * density)
    given = {"keep": "longest", "threads": threads, **(settings or {})}

    def train(others: list[Document]) -> Recognizer | None:
        if not any(sentence.mentions for document in others for sentence in document.sentences):
            return None
        return configure(given).fit(others)

    names = sorted({m.label for m in mentions})

    def apply(ner: Recognizer, block: list[Document]) -> list[_Judged]:
        return [_judge(ner, document, above, names) for document in block]

    judged = cross_fit(documents, folds, train, apply)
    made = _by_kind(example for one in judged for example in one.examples)
    odds = Odds.learned(made, _by_kind(found[-2:] for one in judged for found in one.suspects), rates)
    suspects = [
        Suspect(doc.id, first + number, doc.sentences[number], kind, gold, instead, _log_odds(odds, rates, kind, x))
        for doc, first, one in zip(documents, numbers, judged, strict=True)
        for number, gold, instead, kind, x in one.suspects
    ]
    suspects.sort(key=lambda s: -s.log_odds)  # stable: ties in reading order
    return Audit(suspects, sum(one.judged for one in judged), sum(one.unheld for one in judged))


def _units(documents: list[Document], folds: int) -> tuple[list[Document], list[int]]:
    """Return what is judged together, and the number of its first sentence: documents, or sentences of too few."""
    if sum(bool(document.sentences) for document in documents) >= folds:
        return documents, [0] * len(documents)
    return (
        [Document([sentence], document.id) for document in documents for sentence in document.sentences],
        [number for document in documents for number in range(len(document.sentences))],
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A document: suspects (sentence, annotated mention, what stands instead, kind, what its curve sees), examples."""

    suspects: list[tuple[int, Mention | None, Mention | None, str, tuple[float, ...]]]
    examples: list[tuple[str, tuple[float, ...]]]
    judged: int
    unheld: int


def _by_kind(pairs: Iterable[tuple[str, tuple[float, ...]]]) -> dict[str, list[tuple[float, ...]]]:
    found: dict[str, list[tuple[float, ...]]] = {}
    for kind, seen in pairs:
        found.setdefault(kind, []).append(seen)
    return found


def _log_odds(odds: Odds, rates: Rates, kind: str, seen: tuple[float, ...]) -> float:
    return math.log(rates.extra) - seen[0] if kind == "extra" else odds(kind, seen)


def _judge(ner: Recognizer, document: Document, above: float, labels: Sequence[str]) -> _Judged:
    blank = document.with_sentences([s.with_mentions([]) for s in document.sentences])
    held = hold(ner.trained_.holder, document.sentences, "longest")
    misread = set(held.misread)
    done = _Judged([], [], 0, 0)
    judged = 0
    for number, (sentence, belief) in enumerate(zip(document.sentences, ner.distributions(blank), strict=True)):
        if sentence.believed is not None:
            continue
        known = [m for m in held.mentions[number] if m.label in ner.labels_ and (number, m) not in misread]
        judged += len(known)
        gold = [Mention(m.label, m.parts, belief.prob(m)) for m in known]
        likely = belief.mentions(min(FLOOR, above))
        believed = {m: m.prob or 0.0 for m in likely}
        counted = [g for g in gold if (g.prob or 0.0) >= above]
        done.examples.extend(examples(counted, sentence.mentions, believed, labels, len(sentence)))
        likely = [
            m for m in likely if (m.prob or 0.0) >= above and (sentence.known is None or sentence.known.covers(m))
        ]
        done.suspects.extend((number, *one) for one in _suspects(sentence, likely, gold))
    total = sum(len(set(s.mentions)) for s in document.sentences)
    return replace(done, judged=judged, unheld=total - judged)


def _suspects(
    sentence: Sentence, likely: Sequence[Mention], gold: Sequence[Mention]
) -> Iterator[tuple[Mention | None, Mention | None, str, tuple[float, ...]]]:
    """Yield the annotated mention, what stands instead, the kind of error, and what its curve sees.

    ``likely`` are the mentions that are probable enough, ``gold`` the annotated ones that can be judged, with
    probabilities.
    """
    replaced: set[Mention] = set()
    for mention in likely:
        if mention in sentence.mentions:
            continue
        sure = (mention.prob or 0.0) >= SURE
        doubted = [g for g in gold if sure and (g.prob or 0.0) < SURE and g not in replaced]
        same = next((g for g in doubted if g.parts == mention.parts), None)
        near = next((g for g in doubted if g.label == mention.label and g.overlaps(mention)), None)
        instead_of = same or near
        if instead_of is None:
            yield None, mention, "missing", alone(mention, sentence.mentions)
            continue
        replaced.add(instead_of)
        yield instead_of, mention, "label" if same else "border", against(mention.prob, instead_of.prob)
    for g in gold:
        if g not in replaced:
            yield g, None, "extra", (logit(g.prob),)


def _json(mention: Mention | None, sentence: Sentence) -> dict[str, Any] | None:
    if mention is None:
        return None
    parts = [list(part) for part in mention.parts]
    return {"label": mention.label, "parts": parts, "text": sentence.surface(mention), "prob": mention.prob}
