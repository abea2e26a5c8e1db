"""The multilabel model at work: subsets of the tokens with their scores; see ``models.multilabel``."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spanloom._native import SubsetFinder
from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention, Parts
from spanloom.decisions.rescoring import LOOKED_AT, LOWEST, Rescoring, Surface
from spanloom.decisions.thresholds import best_threshold
from spanloom.features import FeatureExtractor, PairFeatures
from spanloom.inference import Distribution, Independent
from spanloom.inference.distribution import in_order
from spanloom.learning import SubsetWeights
from spanloom.learning.online import ROLES, native_restrictions
from spanloom.models.base import Mentions
from spanloom.models.contrast import Cell, Contrast, ContrastBuilder, Pair, Table, Weight, quoted
from spanloom.models.trained import Trained, WeightColumn
from spanloom.schemes.subsets import decode_subset, widest_gap
from spanloom.schemes.words import article

if TYPE_CHECKING:
    from spanloom.models.multilabel import Multilabel

TABLE = ("strings", "string_ends", "pool_sizes", "template_of", "keys")
"""The arrays of the table of pair features."""
DISTANCES = ("2", "3", "4", "5", "6..7", "8..10", "11..15", "16..25", "26..")
"""The ranges of the distance between the ends of a skip that have a weight."""

DISTANCE_STARTS = (2, 3, 4, 5, 6, 8, 11, 16, 26)
"""Where they begin."""
ROLE_WORDS = {
    "start": "{} is the first token of {}",
    "end": "{} is the last token of {}",
    "next_left": "{} is followed by the next token of {}",
    "next_right": "{} follows the token before it in {}",
    "skip_left": "after {}, {} skips tokens",
    "skip_right": "at {}, {} goes on after a gap",
}

LARGEST = 36.0
"""Log-odds above which a probability is 1 as a double."""

Scored = list[tuple[float, Mention]]


class Subsets(Trained):
    """Scores of subsets.

    Parameters
    ----------
    types
        The labels, in the order of their columns.
    gap
        The widest gap within a mention.
    restrictions
        Which mentions may stand together.
    probabilities
        Whether a score is the log-odds of the mention.
    """

    model: Multilabel

    def __init__(
        self,
        model: Multilabel,
        types: Sequence[str],
        extractor: FeatureExtractor,
        pairs: PairFeatures,
        weights: SubsetWeights,
        *,
        gap: int,
        restrictions: Sequence[str],
        probabilities: bool,
    ) -> None:
        self.model, self.types, self.labels, self.extractor = model, types, frozenset(types), extractor
        self.gap, self.restrictions, self.has_odds = gap, restrictions, probabilities
        self.weights, self._pairs, self.penalty = weights, pairs, {}
        self.rescoring: Rescoring | None = None
        self.thresholds = np.zeros(len(types))
        self._finder = SubsetFinder(
            pairs.program,
            len(types),
            gap,
            np.ascontiguousarray(weights.tokens).ravel(),
            weights.distances,
            **{name: weights.table[name] for name in TABLE},
            pair_weights=np.ascontiguousarray(weights.pairs).ravel(),
        )

    def set_threshold(self, threshold: float | Mapping[str, float]) -> None:
        """Take mentions that score above this from now on; a mapping changes the labels that it names."""
        by_label = dict.fromkeys(self.types, threshold) if not isinstance(threshold, Mapping) else threshold
        for label, value in by_label.items():
            if label not in self.labels:
                raise ParameterError(f"there is no label {label!r} to set a threshold for; labels: {list(self.types)}")
            if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
                raise ParameterError(f"a threshold must be a finite number, got {value!r} for {label!r}")
        before = dict(zip(self.types, self.thresholds.tolist(), strict=True))
        self.thresholds = np.array([float(by_label.get(label, before[label])) for label in self.types])

    def tune_threshold(self, dev: Sequence[Sentence], threads: int | None) -> bool:
        if not isinstance(self.model.threshold, str):
            return False
        gold, scored = [s.mentions for s in dev], self.candidates(dev, threads=threads)
        if self.model.threshold == "global":
            self.set_threshold(best_threshold(scored, gold))
            return True
        self.set_threshold(
            {
                label: best_threshold(
                    [[pair for pair in some if pair[1].label == label] for some in scored],
                    [[m for m in mentions if m.label == label] for mentions in gold],
                )
                for label in self.types
            }
        )
        return True

    # Finding

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        if self.rescoring is None:
            found = self._best(sentences, self.model.k or 0, self.thresholds, 0.0, self.restrictions, threads)
            return [sorted(m for _, m in subsets) for subsets in found]
        return [sorted(m for _, m in subsets) for subsets in self._rescored(sentences, self.thresholds, threads)]

    def find_with_probabilities(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        if self.rescoring is None:
            found = self._best(sentences, self.model.k or 0, self.thresholds, 0.0, self.restrictions, threads)
        else:
            found = self._rescored(sentences, self.thresholds, threads)
        return [sorted(self._believed(subsets)) for subsets in found]

    def find_above(self, sentences: Sequence[Sentence], above: float, threads: int | None = None) -> Mentions:
        if self.rescoring is not None:
            return super().find_above(sentences, above, threads)
        # A little less than what is asked for, as both ways to it are rounded.
        least = _log_odds(min(above, 1.0)) - 1e-6 if above < 1 else LARGEST
        found = self._best(sentences, self.model.k or 0, self._even, least, self.restrictions, threads)
        return [in_order(m for m in self._believed(scored) if (m.prob or 0.0) >= above) for scored in found]

    @property
    def _even(self) -> Floats:
        """The score with even odds, by type: 0 where a score is the log-odds, else the threshold."""
        return np.zeros(len(self.types)) if self.has_odds else self.thresholds

    def _believed(self, scored: Scored) -> Iterator[Mention]:
        """The mentions with the probabilities of ``distribution``."""
        even = dict(zip(self.types, self._even.tolist(), strict=True))
        for score, m in scored:
            yield m if m.prob is not None else Mention(m.label, m.parts, _probability(score - even[m.label]))

    def candidates(
        self, sentences: Sequence[Sentence], k: int | None = None, *, threads: int | None = None
    ) -> list[Scored]:
        """Return the ``k`` best subsets of each sentence with their scores, whatever the threshold."""
        if k is not None:
            check_count("k", k)
        if self.rescoring is None:
            nothing = np.zeros(len(self.types))
            return self._best(sentences, k or self.model.k or 0, nothing, -math.inf, self.restrictions, threads)
        return [scored[:k] for scored in self._rescored(sentences, np.zeros(0), threads)]

    def _rescored(self, sentences: Sequence[Sentence], above: Floats, threads: int | None) -> list[Scored]:
        """Return candidates after rescoring, above a score for each type; ``above`` is empty for all."""
        if self.rescoring is None:
            raise ValueError("this model does not rescore")
        surface = Surface.of(sentences)
        found = self._finder.find_rescored(
            self.extractor.transform(sentences, threads),
            self._pairs.columns,
            self._pairs.read(sentences),
            LOOKED_AT,
            LOWEST,
            self.rescoring.native(self.types),
            *surface.arrays,
            surface.tagged,
            native_restrictions(self.restrictions),
            above,
            threads or 0,
        )
        return [[(score, self._mention(odds, t, tokens)) for score, t, tokens, odds in subsets] for subsets in found]

    def unrestricted(self, sentences: Sequence[Sentence], k: int, above: float, threads: int | None) -> list[Scored]:
        """Return the best subsets, whatever may stand together."""
        return self._best(sentences, k, np.zeros(len(self.types)), above, (), threads)

    def _best(
        self,
        sentences: Sequence[Sentence],
        k: int,
        thresholds: Floats,
        above: float,
        restrictions: Sequence[str],
        threads: int | None,
    ) -> list[Scored]:
        rows = self.extractor.transform(sentences, threads)
        found = self._finder.find(
            rows,
            self._pairs.columns,
            self._pairs.read(sentences),
            k,
            thresholds,
            above,
            native_restrictions(restrictions),
            threads or 0,
        )
        return [[(score, self._mention(score, t, tokens)) for score, t, tokens in subsets] for subsets in found]

    def _mention(self, odds: float, type_: int, tokens: list[int]) -> Mention:
        prob = None
        if self.has_odds:
            prob = _probability(odds)
        return decode_subset(self.types[type_], tokens, prob)

    def distribution(self, sentence: Sentence) -> Distribution:
        return next(self.distributions([sentence], 1))

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        """Every candidate for itself; what else there is has no probability.

        The log-odds are the score where it was learned as such. Otherwise a margin has even odds at the threshold.
        """
        even = dict(zip(self.types, self._even.tolist(), strict=True))
        if self.rescoring is None:  # the most probable, which is not always the one with the highest score
            k, least = self.model.k or 0, -math.inf
            candidates = self._best(sentences, k, self._even, least, self.restrictions, threads)
        else:
            candidates = self.candidates(sentences, threads=threads)
        for scored in candidates:
            odds = [
                score - even[mention.label] if mention.prob is None else _log_odds(mention.prob)
                for score, mention in scored
            ]
            yield Independent([mention for _, mention in scored], odds, exact=False)

    @property
    def belief(self) -> str:
        return "candidates" if self.has_odds else "scores"

    def rivals(self, sentence: Sentence, mention: Mention) -> tuple[float, list[Mention], list[Mention]]:
        """Compare one mention with none: decisions do not depend on each other, and every subset has a score."""
        if self.rescoring is not None:
            raise ParameterError(
                "this model rescores mentions by what stands beside them, so that a mention has no score of its own to "
                "explain; train with Multilabel(rescore=False)"
            )
        if widest_gap(mention) > self.gap:
            raise ParameterError(
                f"the mention {mention.label!r} {mention.parts} skips {widest_gap(mention)} tokens, and the model "
                f"looks at subsets that skip at most {self.gap}"
            )
        (contrast,) = self.contrasts([sentence], [(0, [mention], [])])
        return math.fsum(contrast.contributions), [mention], []

    def contrasts(self, sentences: Sequence[Sentence], pairs: Sequence[Pair]) -> Iterator[Contrast]:
        """Compare the scores of the mentions that only one of two sets has, above their thresholds."""
        table = Table(self.extractor.transform(sentences))
        columns, read = self._pairs.columns, self._pairs.read(sentences)
        weights, types = self.weights, len(self.types)
        width, bounds = len(ROLES) * types, [weights.tokens.size, weights.tokens.size + weights.pairs.size]

        def weight(key: int) -> Weight:
            if key >= bounds[0]:
                return Weight(self._finder.pair_feature((key - bounds[0]) // types), "skipped tokens")
            return Weight(self.extractor.name(key // width), self.extractor.group(key // width))

        for number, best, other in pairs:
            tokens, found = sentences[number].tokens, ContrastBuilder()
            for mention in sorted(set(best) ^ set(other)):
                sign, type_ = 1 if mention in set(best) else -1, self.types.index(mention.label)
                for t, role in _roles(mention.tokens):
                    site: Parts = ((t, t + 1),)
                    words = ROLE_WORDS[role].format(quoted(tokens, site)[0], article(mention.label))
                    ids, values = table.row(number, t)
                    column = ROLES.index(role) * types + type_
                    cell = Cell(site, f"{mention.label} {role}", words, sign)
                    found.add(cell, ids * width + column, weights.tokens[ids, column], values)
                for j, i in pairwise(mention.tokens):
                    if i == j + 1:
                        continue
                    site = ((j, j + 1), (i, i + 1))
                    cell = Cell(site, f"{mention.label} skip", f"{quoted(tokens, site)[0]} is one step", sign)
                    ids = self._finder.pair_ids(columns, read, number, j, i).astype(np.int64)
                    found.add(cell, bounds[0] + ids * types + type_, weights.pairs[ids, type_])
                    if weights.distances.size:
                        length = min(bisect_right(DISTANCE_STARTS, i - j) - 1, len(DISTANCES) - 1)
                        value, name = float(weights.distances[length * types + type_]), f"distance {DISTANCES[length]}"
                        found.add_one(cell, bounds[1] + length, value, Weight(name, "skipped tokens"))
                threshold = -float(self.thresholds[type_])
                whole = Cell(mention.parts, mention.label, f"the threshold of {mention.label}", sign)
                found.add_one(whole, -1, threshold, Weight("threshold", "threshold"))
            yield found.build(weight)

    # Keeping

    def weight_columns(self) -> Iterator[WeightColumn]:
        weights, types = self.weights, len(self.types)
        for t, label in enumerate(self.types):
            for r, role in enumerate(ROLES):
                yield WeightColumn(f"{label} {role}", weights.tokens[:, r * types + t], self.extractor.name)
            yield WeightColumn(f"{label} skip", weights.pairs[:, t], self._finder.pair_feature)
            if weights.distances.size:
                yield WeightColumn(f"{label} distance", weights.distances[t::types], DISTANCES.__getitem__)

    @property
    def weight_count(self) -> int:
        return self.weights.tokens.size + self.weights.pairs.size + self.weights.distances.size

    def facts(self) -> dict[str, Any]:
        return {
            "max_gap": self.gap,
            "restrictions": list(self.restrictions),
            "threshold": dict(zip(self.types, self.thresholds.round(4).tolist(), strict=True)),
            "rescore": self.rescoring is not None,
        }

    def header(self) -> dict[str, Any]:
        return {
            "labels": list(self.types),
            "k": self.model.k,
            "gap": self.gap,
            "restrictions": list(self.restrictions),
            "thresholds": self.thresholds.tolist(),
            "company": None if self.rescoring is None else self.rescoring.to_json(),
            "probabilities": self.has_odds,
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        weights = self.weights
        own: dict[str, npt.NDArray[Any]] = {name: weights.table[name] for name in TABLE}
        own |= {"tokens": weights.tokens, "distances": weights.distances, "pairs": weights.pairs}
        return {f"model.{name}": array for name, array in own.items()}


def _probability(odds: float) -> float:
    """As ``Independent`` has it, to the last bit."""
    small = math.exp(-abs(odds))  # never overflows
    return (1.0 if odds >= 0 else small) / (1.0 + small)


def _log_odds(p: float) -> float:
    return math.log(p) - math.log1p(-p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


def _roles(tokens: Sequence[int]) -> list[tuple[int, str]]:
    """The roles of the tokens of a subset: its ends, and both ends of each step."""
    roles = [(tokens[0], "start"), (tokens[-1], "end")]
    for j, i in pairwise(tokens):
        kind = "next" if i == j + 1 else "skip"
        roles += [(j, f"{kind}_left"), (i, f"{kind}_right")]
    return roles
