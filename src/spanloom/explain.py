"""Why a mention was found, or why not: log-odds, and the features that make the difference.

For a mention m, with y ranging over the structures of the sentence:

    log-odds           = log Σ_{y with m} exp score(y) − log Σ_{y without m} exp score(y)      all structures count
    score difference   = max_{y with m} score(y) − max_{y without m} score(y)                  the best two only

The score difference is a sum of weights, and the contributions are its terms: they add up to it exactly.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.mention import Parts
from spanloom.models.contrast import Contrast
from spanloom.models.holding import hold
from spanloom.models.trained import Seen, Trained

SUPPORT = 5
"""So many training mentions are shown."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """One feature at one place.

    Attributes
    ----------
    site
        Where: a token ``((t, t + 1),)``, a gap ``((g, g),)``, a candidate.
    column, words
        The output symbol there, and what it means.
    with_mention
        Whether the symbol belongs to the structure with the mention; else to its rival, and speaks against.
    feature, group
        What is seen there, and the kind of feature.
    weight, contribution
        The weight of the model, and what it adds to the score difference.
    """

    site: Parts
    column: str
    words: str
    with_mention: bool
    feature: str
    group: str
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Support:
    """A training mention that has features in common with the explained one.

    ``shared`` is what the common features contribute there, ``features`` the strongest of them.
    """

    document: str
    sentence: Sentence
    mention: Mention
    shared: float
    features: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a mention is believed, or not.

    Attributes
    ----------
    sentence, mention
        What was asked about.
    prob, log_odds
        Of the mention; exact where the model's distribution is.
    best, rival
        The best mention set with it, and the best without it.
    contributions
        Terms of the score difference between the two, the largest first.
    support
        Training mentions that share the strongest features, if a corpus was given.
    note
        What these figures do not count.
    """

    sentence: Sentence
    mention: Mention
    log_odds: float
    best: list[Mention]
    rival: list[Mention]
    contributions: list[Contribution]
    support: list[Support] = field(default_factory=list)
    note: str = ""

    @property
    def prob(self) -> float:
        """P(mention) = 1 / (1 + exp(−log-odds))."""
        if self.log_odds < 0:
            return math.exp(self.log_odds) / (1 + math.exp(self.log_odds))
        return 1 / (1 + math.exp(-self.log_odds))

    @property
    def score_difference(self) -> float:
        """Of the best structure with the mention and the best without it."""
        return math.fsum(c.contribution for c in self.contributions)

    def groups(self) -> dict[str, float]:
        """Return what each group of features contributes, the largest first."""
        sums: dict[str, float] = defaultdict(float)
        for one in self.contributions:
            sums[one.group] += one.contribution
        return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))

    def places(self) -> list[tuple[Parts, str, bool, float]]:
        """Return site, words, whether that is with the mention, and contribution of each cell, in reading order."""
        sums: dict[tuple[Parts, str, bool], float] = defaultdict(float)
        for one in self.contributions:
            sums[one.site, one.words, one.with_mention] += one.contribution
        return sorted((*key, value) for key, value in sums.items())

    def features(self) -> list[tuple[str, float, list[Contribution]]]:
        """Return each feature, what it contributes at all places together, and there; the largest sum first."""
        places: dict[str, list[Contribution]] = defaultdict(list)
        for one in self.contributions:
            places[one.feature].append(one)
        sums = [(name, math.fsum(c.contribution for c in own), own) for name, own in places.items()]
        return sorted(sums, key=lambda item: -abs(item[1]))

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """Return the explanation as JSON; ``top`` limits the contributions, and the others are one sum."""
        shown = self.contributions[:top]
        return {
            "text": self.sentence.text,
            "mention": _json(self.mention, self.sentence),
            "prob": self.prob,
            "log_odds": self.log_odds,
            "score_difference": self.score_difference,
            "best": [_json(m, self.sentence) for m in self.best],
            "rival": [_json(m, self.sentence) for m in self.rival],
            "groups": self.groups(),
            "contributions": [
                {
                    "site": [list(part) for part in c.site],
                    "column": c.column,
                    "words": c.words,
                    "with_mention": c.with_mention,
                    "feature": c.feature,
                    "group": c.group,
                    "weight": c.weight,
                    "contribution": c.contribution,
                }
                for c in shown
            ],
            "others": math.fsum(c.contribution for c in self.contributions[len(shown) :]),
            "support": [
                {
                    "document": s.document,
                    "text": s.sentence.text,
                    "mention": _json(s.mention, s.sentence),
                    "shared": s.shared,
                    "features": list(s.features),
                }
                for s in self.support
            ],
            "note": self.note,
        }

    def __str__(self) -> str:
        from spanloom.drawing.explanation import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from spanloom.drawing.explanation import as_html

        return as_html(self)


def explain(
    trained: Trained,
    sentence: Sentence,
    mention: Mention,
    corpus: Sequence[tuple[str, Sentence]] = (),
) -> Explanation:
    """Explain a mention of a sentence that has all required columns, as ``Recognizer.explain`` makes them.

    Parameters
    ----------
    corpus
        Training sentences, each with the name of its document, among which support is looked for.
    """
    if mention.end > len(sentence):
        raise ParameterError(
            f"the mention {mention.label!r} {mention.parts} ends after the last of {len(sentence)} tokens"
        )
    if mention.label not in trained.labels:
        known = ", ".join(sorted(trained.labels))
        raise ParameterError(
            f"the model finds no {mention.label!r}, so that there is nothing to explain; it finds {known}"
        )
    part, seen = trained.responsible(sentence, mention)
    (own,) = seen([sentence])
    log_odds, best, rival = part.rivals(own, mention)
    (contrast,) = part.contrasts([own], [(0, best, rival)])
    return Explanation(
        sentence,
        mention,
        log_odds,
        best,
        rival,
        _contributions(contrast),
        _support(part, seen, contrast, mention, corpus),
        _note(trained, mention),
    )


def _contributions(contrast: Contrast) -> list[Contribution]:
    made = contrast.contributions
    found = []
    for entry in np.argsort(-np.abs(made), kind="stable").tolist():
        cell, weight = contrast.cells[int(contrast.cell[entry])], contrast.weight(entry)
        value = float(made[entry])
        if value:
            found.append(
                Contribution(
                    cell.site,
                    cell.column,
                    cell.words,
                    cell.count > 0,
                    weight.feature,
                    weight.group,
                    float(contrast.weights[entry]),
                    value,
                )
            )
    return found


def _note(trained: Trained, mention: Mention) -> str:
    value = trained.penalty.get(mention.label, 0.0)
    return f"a mention penalty of {value:+g} decides too, and is not in these figures" if value else ""


def _support(
    part: Trained, seen: Seen, contrast: Contrast, mention: Mention, corpus: Sequence[tuple[str, Sentence]]
) -> list[Support]:
    """The training mentions whose own features include most of what speaks for the mention."""
    made = contrast.contributions
    counts = np.array([cell.count for cell in contrast.cells])
    strong: dict[tuple[int, bool], float] = defaultdict(float)
    named: dict[tuple[int, bool], str] = {}
    for entry in np.flatnonzero((made > 0) & (contrast.keys >= 0)).tolist():
        key = int(contrast.keys[entry]), bool(counts[contrast.cell[entry]] > 0)
        strong[key] += float(made[entry])
        named[key] = contrast.weight(entry).feature
    chosen = [(name, s) for name, s in corpus if any(m.label == mention.label for m in s.mentions)]
    if not strong or not chosen:
        return []
    sentences = seen([s for _, s in chosen])
    kept = hold(part.holder, sentences, "longest").mentions
    pairs = [
        (number, own, [m for m in own if m != one])
        for number, own in enumerate(kept)
        for one in own
        if one.label == mention.label
    ]
    found = []
    for (number, own, without), other in zip(pairs, part.contrasts(sentences, pairs), strict=True):
        signs = np.array([cell.count for cell in other.cells]) > 0
        keys = set(zip(other.keys.tolist(), signs[other.cell].tolist(), strict=True)) if len(other.cell) else set()
        shared = sorted(
            ((strong[key], named[key]) for key in keys & strong.keys()), key=lambda pair: (-pair[0], pair[1])
        )
        if shared:
            (one,) = set(own) - set(without)
            found.append((sum(value for value, _ in shared), number, one, tuple(name for _, name in shared[:3])))
    found.sort(key=lambda item: (-item[0], item[1], item[2]))
    return [
        Support(chosen[number][0], chosen[number][1], one, total, features)
        for total, number, one, features in found[:SUPPORT]
    ]


def _json(mention: Mention, sentence: Sentence) -> dict[str, Any]:
    return {
        "label": mention.label,
        "parts": [list(part) for part in mention.parts],
        "text": sentence.surface(mention),
    }


def numbered(documents: Iterable[Document]) -> list[tuple[str, Sentence]]:
    """Return the sentences of documents, each with the id of its document."""
    return [(document.id, sentence) for document in documents for sentence in document.sentences]
