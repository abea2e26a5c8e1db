"""Structured multilabel segmentation (McDonald, Crammer & Pereira 2005): every mention is any subset of the tokens.

    score(mention) = Σ w · g(i_{m−1}, i_m)   over its tokens i_1 < i_2 < …, with a start before and an end after them

where g looks at both ends of a step and at what it skips. The k best subsets are looked at, k being the length of the
sentence unless given, and those with a score above a threshold are the mentions. Holds everything: nested, crossing and
broken mentions, and several labels on the same tokens. Costs O(n · gap · k · types) with the widest gap of the training
data. Learning is online: see ``spanloom.learning.online``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import SubsetFinder
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_choice, check_count, check_number
from spanloom.corpus.blocks import blocks, without
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.decisions.rescoring import FOLDS, LOOKED_AT, LOWEST, Company
from spanloom.decisions.thresholds import best_threshold
from spanloom.features import FeatureExtractor, PairFeatures
from spanloom.learning import Iteration, SubsetWeights, learn_subsets
from spanloom.learning.online import ROLES
from spanloom.models.base import Lesson, Standalone, WeightColumn
from spanloom.schemes.flat import ORDERS
from spanloom.schemes.subsets import (
    RESTRICTIONS,
    conflict,
    decode_subset,
    encode_subsets,
    kept_restrictions,
    widest_gap,
)

TABLE = ("strings", "string_ends", "pool_sizes", "template_of", "keys")


class Multilabel(Standalone):
    """One score for every typed subset of the tokens.

    Parameters
    ----------
    k
        How many best subsets of a sentence to look at; None for as many as it has tokens.
    max_gap
        The widest gap within a mention, in tokens; None for the widest of the training data.
    restrictions
        Some of ``spanloom.schemes.subsets.RESTRICTIONS``, or ``"auto"`` for those that the training data keep. Of what
        may not stand together, the highest score stays.
    threshold
        A score, or a score by label; or how to choose it on development data: one for all (``"global"``) or one for
        each label (``"label"``). Without such data it is 0.
    company
        Whether broken mentions are looked at again together with the other candidates of their sentence and the words
        around; see ``spanloom.decisions.rescoring``. It is learned from candidates that models of the other half of the
        training data find, so that training takes twice the time. Restrictions count after that, and not in learning.
    aggressiveness
        How much one sentence may change the weights, relative to what is usual for the algorithm.
    """

    name = "multilabel"
    holds = "any set of mentions"
    algorithms = ("mira", "perceptron", "loglinear")
    iterations = 10

    def __init__(
        self,
        k: int | None = None,
        max_gap: int | None = None,
        restrictions: str | Sequence[str] = "auto",
        threshold: float | Mapping[str, float] | str = "global",
        company: bool = False,
        aggressiveness: float = 1.0,
    ) -> None:
        if k is not None:
            check_count("k", k)
        if max_gap is not None:
            check_count("max_gap", max_gap, low=0)
        if isinstance(restrictions, str):
            check_choice("restrictions", restrictions, ("auto",))
        else:
            for name in restrictions:
                check_choice("restrictions", name, RESTRICTIONS)
        if isinstance(threshold, str):
            check_choice("threshold", threshold, ("global", "label"))
        check_number("aggressiveness", aggressiveness, low=0)
        self.k, self.max_gap, self.restrictions, self.threshold = k, max_gap, restrictions, threshold
        self.company = company
        self.aggressiveness = aggressiveness

    # The shape

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        mentions = [m for m, _ in sentences]
        counts: dict[str, int] = {}
        for m in (m for some in mentions for m in some):
            counts[m.label] = counts.get(m.label, 0) + 1
        self.labels = sorted(counts, key=lambda label: (-counts[label], label))
        self.types = frozenset(self.labels)
        self.kept = kept_restrictions(mentions) if self.restrictions == "auto" else tuple(self.restrictions)
        widest = max((widest_gap(m) for some in mentions for m in some), default=0)
        self.gap = 0 if "contiguous" in self.kept else widest if self.max_gap is None else self.max_gap
        self.probabilities = False
        self.second: Company | None = None
        self._learned_second: Company | None = None
        self.thresholds = np.zeros(len(self.labels))
        self.set_threshold(0.0 if isinstance(self.threshold, str) else self.threshold)

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        # With a second look, restrictions count in tagging only: learning holds all.
        asked = () if self.company or self.restrictions == "auto" else tuple(self.restrictions)
        limit = 0 if self.restrictions != "auto" and "contiguous" in self.restrictions else self.max_gap
        for i, mention in enumerate(mentions):
            if limit is not None and widest_gap(mention) > limit:
                return i, f"has a gap of {widest_gap(mention)} tokens, and at most {limit} were asked for"
            for j, other in enumerate(mentions[:i]):
                name = conflict(mention, other, asked)
                if name is not None:
                    return i, f"breaks the restriction {name!r} with mention {j}: {other.label} {other.parts}"
        return None

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        if not self.company or self.restrictions == "auto":
            return []
        kept: list[Mention] = []
        for mention in sorted(mentions, key=ORDERS["longest"]):
            if all(conflict(mention, other, self.restrictions) is None for other in kept):
                kept.append(mention)
        return sorted(set(mentions) - set(kept))

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        kept: list[Mention] = []
        for mention in sorted(mentions, key=ORDERS[keep]):
            if self.misfit([*kept, mention]) is None:
                kept.append(mention)
        return sorted(kept), sorted(set(mentions) - set(kept))

    def set_threshold(self, threshold: float | Mapping[str, float]) -> None:
        """Take mentions that score above this from now on; a mapping changes the labels that it names."""
        by_label = dict.fromkeys(self.labels, threshold) if not isinstance(threshold, Mapping) else threshold
        for label, value in by_label.items():
            if label not in self.types:
                raise ParameterError(f"there is no label {label!r} to set a threshold for; labels: {self.labels}")
            if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
                raise ParameterError(f"a threshold must be a finite number, got {value!r} for {label!r}")
        before = dict(zip(self.labels, self.thresholds.tolist(), strict=True))
        self.thresholds = np.array([float(by_label.get(label, before[label])) for label in self.labels])

    # Learning

    def train(self, lesson: Lesson) -> Iterator[tuple[Iteration, Callable[[], SubsetWeights]]]:
        self.second = self._learned_second = None
        if self.company and self.gap > 0:
            scored = self._candidates_apart(lesson)
            self._learned_second = Company.learn(scored, lesson.sentences, lesson.gold)
        yield from self._learn(lesson)

    def _candidates_apart(self, lesson: Lesson) -> list[list[tuple[float, Mention]]]:
        """The candidates of each sentence, by a model that has learned from the other block."""
        sentences, scored = lesson.sentences, []
        for block in blocks(len(sentences), FOLDS):
            others = replace(lesson, sentences=without(sentences, block), gold=without(lesson.gold, block))
            double = copy(self)
            *_, (_, learned) = double._learn(others)
            double.install(learned())
            own = sentences[block.start : block.stop]
            scored += double._all(own, LOOKED_AT, LOWEST, lesson.settings.threads or 0)
        return scored

    def _learn(self, lesson: Lesson) -> Iterator[tuple[Iteration, Callable[[], SubsetWeights]]]:
        rows = self.see(lesson)
        self._pairs = PairFeatures(lesson.features)
        self.probabilities = lesson.algorithm == "loglinear"
        number = {label: i for i, label in enumerate(self.labels)}
        yield from learn_subsets(
            rows,
            (self._pairs.columns, self._pairs.read(lesson.sentences)),
            self._pairs.program,
            [encode_subsets(mentions, number) for mentions in lesson.gold],
            lesson.settings,
            types=len(self.labels),
            max_gap=self.gap,
            rule=lesson.algorithm,
            limit=LIMITS[lesson.algorithm] * self.aggressiveness,
            k=self.k or 0,
            # A second look needs candidates that learning has seen, also those that may not stand together.
            restrictions=() if self.company else self.kept,
            seed=lesson.seed,
        )

    def install(self, learned: SubsetWeights) -> None:
        self._set(replace(learned, tokens=self.keep_used(learned.tokens)))

    def finish(self, dev: Sequence[Sentence] | None, threads: int) -> None:
        if dev is not None and isinstance(self.threshold, str):
            gold, scored = [s.mentions for s in dev], self.candidates(dev, threads=threads)
            if self.threshold == "global":
                self.set_threshold(best_threshold(scored, gold))
            else:
                self.set_threshold({label: best_threshold(*_of_label(label, scored, gold)) for label in self.labels})
        if self._learned_second is not None:
            thresholds = dict(zip(self.labels, self.thresholds.tolist(), strict=True))
            self.second = replace(self._learned_second, thresholds=thresholds)

    # Finding

    def find(self, sentences: Sequence[Sentence], threads: int) -> list[list[Mention]]:
        if self.second is None:
            found = self._best(sentences, self.k or 0, self.thresholds, 0.0, self.kept, threads)
            return [sorted(m for _, m in subsets) for subsets in found]
        least = dict(zip(self.labels, self.thresholds.tolist(), strict=True))
        scored = self.candidates(sentences, threads=threads)
        return [sorted(m for score, m in subsets if score > least[m.label]) for subsets in scored]

    def candidates(
        self, sentences: Sequence[Sentence], k: int | None = None, *, threads: int = 0
    ) -> list[list[tuple[float, Mention]]]:
        """Return the ``k`` best subsets of each sentence with their scores, whatever the threshold."""
        if k is not None:
            check_count("k", k)
        if self.second is None:
            nothing = np.zeros(len(self.labels))
            return self._best(sentences, k or self.k or 0, nothing, -math.inf, self.kept, threads)
        found = []
        everything = self._all(sentences, LOOKED_AT, LOWEST, threads)
        for subsets, sentence in zip(everything, sentences, strict=True):
            kept: list[tuple[float, Mention]] = []
            for score, mention in self.second.rescore(subsets, sentence, probabilities=self.probabilities):
                if all(conflict(mention, other, self.kept) is None for _, other in kept):
                    kept.append((score, mention))
            found.append(kept[:k])
        return found

    def _all(
        self, sentences: Sequence[Sentence], k: int, above: float, threads: int
    ) -> list[list[tuple[float, Mention]]]:
        """The best subsets, whatever may stand together."""
        return self._best(sentences, k, np.zeros(len(self.labels)), above, (), threads)

    def _best(
        self,
        sentences: Sequence[Sentence],
        k: int,
        thresholds: npt.NDArray[np.float64],
        above: float,
        restrictions: Sequence[str],
        threads: int,
    ) -> list[list[tuple[float, Mention]]]:
        rows = self.extractor.transform(sentences, threads or None)
        found = self._finder.find(
            rows,
            self._pairs.columns,
            self._pairs.read(sentences),
            k,
            thresholds,
            above,
            "no_overlap" in restrictions,
            "no_embedding" in restrictions,
            "no_self_embedding" in restrictions,
            threads,
        )
        return [[(score, self._mention(score, t, tokens)) for score, t, tokens in subsets] for subsets in found]

    def _mention(self, score: float, type_: int, tokens: list[int]) -> Mention:
        prob = None
        if self.probabilities:
            prob = 1 / (1 + math.exp(-score)) if score > -700 else 0.0
        return decode_subset(self.labels[type_], tokens, prob)

    def _set(self, weights: SubsetWeights) -> None:
        self.weights = weights
        self._finder = SubsetFinder(
            self._pairs.program,
            len(self.labels),
            self.gap,
            np.ascontiguousarray(weights.tokens).ravel(),
            weights.distances,
            **{name: weights.table[name] for name in TABLE},
            pair_weights=np.ascontiguousarray(weights.pairs).ravel(),
        )

    def weight_columns(self) -> Iterator[WeightColumn]:
        weights, types = self.weights, len(self.labels)
        for t, label in enumerate(self.labels):
            for r, role in enumerate(ROLES):
                yield WeightColumn(f"{label} {role}", weights.tokens[:, r * types + t], self.extractor.name)
            yield WeightColumn(f"{label} skip", weights.pairs[:, t], self._finder.pair_feature)
            if weights.distances.size:
                yield WeightColumn(f"{label} distance", weights.distances[t::types], DISTANCES.__getitem__)

    # Keeping

    def facts(self) -> dict[str, Any]:
        return {
            "max_gap": self.gap,
            "restrictions": list(self.kept),
            "threshold": dict(zip(self.labels, self.thresholds.round(4).tolist(), strict=True)),
            "company": self.second is not None,
        }

    def header(self) -> dict[str, Any]:
        return {
            "labels": self.labels,
            "k": self.k,
            "gap": self.gap,
            "restrictions": list(self.kept),
            "thresholds": self.thresholds.tolist(),
            "company": None if self.second is None else self.second.to_json(),
            "probabilities": self.probabilities,
        }

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Multilabel:
        try:
            model = cls(header["k"], header["gap"], header["restrictions"])
            model.labels = [str(label) for label in header["labels"]]
            model.types = frozenset(model.labels)
            model.kept, model.gap = tuple(header["restrictions"]), int(header["gap"])
            model.probabilities = bool(header["probabilities"])
            model.second = None if header["company"] is None else Company.from_json(header["company"])
            model.thresholds = np.zeros(len(model.labels))
            model.set_threshold(dict(zip(model.labels, header["thresholds"], strict=True)))
        except (KeyError, TypeError, ValueError, AttributeError, ParameterError) as error:
            raise ModelFileError(f"the labels of the multilabel model are damaged: {error}") from None
        return model

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        weights = self.weights
        arrays: dict[str, npt.NDArray[Any]] = {name: weights.table[name] for name in TABLE}
        return arrays | {"tokens": weights.tokens, "distances": weights.distances, "pairs": weights.pairs}

    def restore(self, extractor: FeatureExtractor, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.take_over(extractor, arrays["tokens"])
        self._pairs = PairFeatures(extractor.features)
        self._set(
            SubsetWeights(
                arrays["tokens"], arrays["distances"], arrays["pairs"], {name: arrays[name] for name in TABLE}
            )
        )


DISTANCES = ("2", "3", "4", "5", "6..7", "8..10", "11..15", "16..25", "26..")
"""The ranges of the distance between the ends of a skip that have a weight."""

LIMITS = {"mira": 0.01, "perceptron": 1.0, "loglinear": 0.1}
"""By algorithm: what ``aggressiveness=1`` means."""


def _of_label(
    label: str, scored: Sequence[Sequence[tuple[float, Mention]]], gold: Sequence[Sequence[Mention]]
) -> tuple[list[list[tuple[float, Mention]]], list[list[Mention]]]:
    return (
        [[pair for pair in some if pair[1].label == label] for some in scored],
        [[m for m in mentions if m.label == label] for mentions in gold],
    )
