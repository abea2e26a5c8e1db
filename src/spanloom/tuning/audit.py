"""Find annotation errors: where models that have not seen a document are sure that its annotation is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.configuration import configure
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.crossfit import cross_fit
from spanloom.inference import Distribution
from spanloom.models.holding import hold
from spanloom.recognizer import Recognizer

SURE = 0.5
"""What stands instead of an annotated mention must be more likely than not."""
KINDS = ("missing", "label", "border", "extra")


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
    suspicion
        How sure the model is: P(instead), or 1 − P(gold).
    """

    document: str
    number: int
    sentence: Sentence
    kind: str
    gold: Mention | None
    instead: Mention | None
    suspicion: float

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


def audit(
    corpus: Iterable[Document],
    *,
    settings: Mapping[str, Any] | None = None,
    folds: int = 5,
    above: float = 0.1,
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
    threads
        None for all cores.
    """
    if folds < 2:
        raise ParameterError(f"folds must be at least 2, so that a model judges what it did not see; got {folds}")
    documents = list(corpus)
    given = {"keep": "longest", "threads": threads, **(settings or {})}

    def train(others: list[Document]) -> Recognizer | None:
        if not any(sentence.mentions for document in others for sentence in document.sentences):
            return None
        return configure(given).fit(others)

    def apply(ner: Recognizer, block: list[Document]) -> list[tuple[list[Suspect], int, int]]:
        return [_judge(ner, document, above) for document in block]

    judged = cross_fit(documents, folds, train, apply)
    suspects = [one for own, _, _ in judged for one in own]
    suspects.sort(key=lambda s: -s.suspicion)  # stable: ties in reading order
    return Audit(suspects, sum(count for _, count, _ in judged), sum(left for _, _, left in judged))


def _judge(ner: Recognizer, document: Document, above: float) -> tuple[list[Suspect], int, int]:
    blank = document.with_sentences([s.with_mentions([]) for s in document.sentences])
    held = hold(ner.trained_.holder, document.sentences, "longest")
    misread = set(held.misread)
    suspects: list[Suspect] = []
    judged = 0
    for number, (sentence, belief) in enumerate(zip(document.sentences, ner.distributions(blank), strict=True)):
        known = [m for m in held.mentions[number] if m.label in ner.labels_ and (number, m) not in misread]
        judged += len(known)
        suspects += _suspects(document.id, number, sentence, belief, known, above)
    total = sum(len(set(s.mentions)) for s in document.sentences)
    return suspects, judged, total - judged


def _suspects(
    document: str, number: int, sentence: Sentence, belief: Distribution, known: list[Mention], above: float
) -> list[Suspect]:
    annotated = set(sentence.mentions)
    gold = [Mention(m.label, m.parts, belief.prob(m)) for m in known]
    found: list[Suspect] = []
    replaced: set[Mention] = set()
    for mention in belief.mentions(above):
        if mention in annotated:
            continue
        sure = mention.prob or 0.0
        doubted = [g for g in gold if sure >= SURE and g not in replaced]
        same = next((g for g in doubted if g.parts == mention.parts), None)
        near = next((g for g in doubted if g.label == mention.label and g.overlaps(mention)), None)
        kind = "label" if same else "border" if near else "missing"
        partner = same or near
        if partner is not None:
            replaced.add(partner)
        found.append(Suspect(document, number, sentence, kind, partner, mention, sure))
    for g in gold:
        if g not in replaced:
            found.append(Suspect(document, number, sentence, "extra", g, None, 1.0 - (g.prob or 0.0)))
    return found


def _json(mention: Mention | None, sentence: Sentence) -> dict[str, Any] | None:
    if mention is None:
        return None
    parts = [list(part) for part in mention.parts]
    return {"label": mention.label, "parts": parts, "text": sentence.surface(mention), "prob": mention.prob}
