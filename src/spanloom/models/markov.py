"""The maximum-entropy Markov tagger at work: its trellis, search and distribution; see ``models.memm``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spanloom._native import (
    ChainStructure,
    ChoiceStructure,
    FlatReading,
    MarkovSearch,
    markov_best,
    markov_mentions,
    markov_probabilities,
)
from spanloom.base.arrays import Floats, Floats32, Pointers, without_small
from spanloom.corpus.document import Sentence
from spanloom.features import FeatureExtractor
from spanloom.inference import Distribution, ReadChain, segment_reading
from spanloom.inference.batch import mention_places
from spanloom.inference.distribution import in_order
from spanloom.inference.readings import flat_reading
from spanloom.learning import Weights
from spanloom.models.base import Mentions
from spanloom.models.believing import gathered
from spanloom.models.contrast import (
    NORMALISATION,
    TRANSITIONS,
    Cell,
    Contrast,
    ContrastBuilder,
    Pair,
    Table,
    Weight,
    quoted,
)
from spanloom.models.tables import side_by_side
from spanloom.models.trained import Trained, WeightColumn, chunks, probable
from spanloom.models.warm import Wanted, carry
from spanloom.schemes import Segments
from spanloom.schemes.words import TOKEN

if TYPE_CHECKING:
    from spanloom.models.memm import Memm

CHUNK = 1 << 21
"""About so many scores are held at once when many sentences are tagged."""


class Markov(Trained):
    """A trained maximum-entropy Markov tagger.

    Parameters
    ----------
    features, histories
        ``[feature, label]`` weights of features, and of histories: single labels, the start, then pairs.
    pairs
        The codes of the pairs of labels that were seen in training.
    words
        The labels that a word may have, for words with such a rule.
    """

    model: Memm

    def __init__(
        self,
        model: Memm,
        segments: Segments,
        extractor: FeatureExtractor,
        features: Floats32,
        histories: Floats32,
        pairs: npt.NDArray[np.int64],
        words: Mapping[str, list[int]],
    ) -> None:
        self.model, self.segments, self.extractor, self.pairs, self.words = model, segments, extractor, pairs, words
        self.labels, self.size, self.penalty = segments.types, len(segments.labels), {}
        self._set_weights(features, histories)

    def _set_weights(self, features: Floats32, histories: Floats32) -> None:
        """Make the trellis: states are the pairs of labels seen in training, then the single labels."""
        size, start = self.size, self.size
        if features.shape[1:] != (size,) or histories.shape != (size + 1 + len(self.pairs), size):
            raise ValueError(
                f"weights {features.shape} and {histories.shape} do not fit {size} labels and {len(self.pairs)} pairs"
            )
        given = Weights(features, np.zeros(0))
        self._decoder, (one,) = side_by_side([ChoiceStructure(size)], [given])
        self.features, self.histories = one.features, histories
        single, paired = histories[: size + 1].astype(np.float64), histories[size + 1 :].astype(np.float64)
        number = {int(code): k for k, code in enumerate(self.pairs) if code % (size + 1) != start}
        states = [(code // (size + 1), code % (size + 1), k) for code, k in number.items()]
        at = {code: i for i, code in enumerate(number)}
        self.last = np.array([b for _, b, _ in states] + list(range(size)), np.int64)  # last[state]: its label
        # v[state, y], and where the state goes by y
        self.step = single[self.last]
        for i, (_, _, k) in enumerate(states):
            self.step[i] += paired[k]
        self.goes = np.array(
            [[at.get(c * (size + 1) + y, len(states) + y) for y in range(size)] for c in self.last.tolist()], np.int64
        )
        both = start * (size + 1) + start
        first = np.flatnonzero(self.pairs == both)
        self.first_step = single[start] + (paired[first[0]] if len(first) else 0.0)
        self.first_state = np.array([at.get(start * (size + 1) + y, len(states) + y) for y in range(size)], np.int64)
        legal, may_start, may_end = self._law()
        goes = np.where(legal[self.last], self.goes, -1)
        begins = np.where(may_start, self.first_state, -1)
        self._search = MarkovSearch(
            size,
            np.concatenate([self.step, self.first_step[None, :]]).ravel(),
            np.concatenate([goes, begins[None, :]]).astype(np.int32).ravel(),
            self.last.astype(np.int32),
            may_end[self.last].astype(np.uint8),
        )

    def _law(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which label may follow which, which may stand first, and which last."""
        if self.model.constrained:
            return self.segments.law()
        size = self.size
        return np.ones((size, size), np.bool_), np.ones(size, np.bool_), np.ones(size, np.bool_)

    def trellis(self) -> tuple[ChainStructure, Floats]:
        """Return the chain over states and its transition scores, for the engine; ``state_scores`` go with it."""
        count = len(self.goes)
        legal, may_start, may_end = self._law()
        allowed, transitions = np.zeros((count, count), np.uint8), np.zeros((count, count))
        for state in range(count):
            allowed[state, self.goes[state]] = legal[self.last[state]]
            transitions[state, self.goes[state]] = self.step[state]
        start = np.zeros(count, np.uint8)
        start[self.first_state] = may_start
        structure = ChainStructure(count, allowed.ravel(), start, may_end[self.last].astype(np.uint8))
        return structure, transitions.ravel()

    # Finding

    def local_scores(self, sentences: Sequence[Sentence], threads: int = 0, *, dictionary: bool = True) -> Floats:
        """Return w[y] · f(t) as ``[t, y]`` for the tokens of all sentences, −∞ for what the dictionary forbids."""
        scores = self._decoder.scores(self.extractor.transform(sentences, threads or None), threads)
        table: Floats = scores.reshape(-1, self.size)
        if self.words and dictionary:
            for t, word in enumerate(word for sentence in sentences for word in sentence.tokens):
                if word in self.words:
                    labels = self.words[word]
                    kept = table[t, labels]
                    table[t] = -np.inf
                    table[t, labels] = kept
        return table

    def believed_scores(self, sentences: Sequence[Sentence], threads: int = 0) -> Floats:
        """Return ``local_scores``; without the dictionary in sentences in which it leaves no legal sequence."""
        return self._relaxed(sentences, self.local_scores(sentences, threads), _bounds(sentences), threads)

    def _relaxed(self, sentences: Sequence[Sentence], local: Floats, bounds: Pointers, threads: int) -> Floats:
        if not self.words:
            return local
        _, labels = self._search.best(local.ravel(), bounds, 0, threads)
        for sentence, (a, b) in zip(sentences, pairwise(bounds.tolist()), strict=True):
            if (labels[a:b] < 0).any():
                local[a:b] = self.local_scores([sentence], 1, dictionary=False)
        return local

    def state_scores(self, local: Floats, bounds: Pointers | None = None) -> Floats:
        """Return the scores ``[t, state]`` that make the chain over states the model: log p is their sum.

        ``bounds``, if there are several sentences: sentence ``s`` has the tokens from ``bounds[s]`` on.
        """
        scores = np.take(local, self.last, axis=1)
        if not len(local):
            return scores
        starts = np.zeros(1, np.int64) if bounds is None else np.unique(bounds[:-1][np.diff(bounds) > 0])
        sums = _log_sums(local, self.step)
        sums[starts] = 0
        scores[:-1] -= sums[1:]
        scores[starts] += self.first_step[self.last] - _log_sums(local[starts], self.first_step[None, :])
        return scores

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        return self._found(sentences, threads, probabilities=False)

    def _found(self, sentences: Sequence[Sentence], threads: int | None, *, probabilities: bool) -> Mentions:
        done: Mentions = []
        types, reading = self._labels()
        for chunk in chunks(sentences, max(CHUNK // (len(self.last) if probabilities else self.size), 1)):
            given = (self.local_scores(chunk, threads or 0).ravel(), _bounds(chunk), self.model.beam or 0, threads or 0)
            ptr, places, probs, held = markov_best(self._search, reading, *given, probabilities=probabilities)
            found = gathered(types, ptr, places, probs if probabilities else None)
            for s in np.flatnonzero(held == 0).tolist():
                found[s] = self.segments.decode(self._at_any_cost(chunk[s]))
                if probabilities:
                    found[s] = self.probabilities([chunk[s]], [found[s]], 1)[0]
            done += found
        return done

    def _at_any_cost(self, sentence: Sentence) -> npt.NDArray[np.int32]:
        """The best labels without beam, or without dictionary if that leaves none, or outside if there are none."""
        bounds = np.array([0, len(sentence)], np.int64)
        for dictionary in (True, False):
            local = self.local_scores([sentence], 1, dictionary=dictionary)
            labels: npt.NDArray[np.int32] = self._search.best(local.ravel(), bounds)[1]
            if not (labels < 0).any():
                return labels
        return self.segments.encode([], len(sentence))

    def distribution(self, sentence: Sentence) -> Distribution:
        return next(self.distributions([sentence], 1))

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        chain = self._chain()
        for chunk in chunks(sentences, max(CHUNK // self.size, 1)):
            local, at = self.believed_scores(chunk, threads or 0), 0
            for sentence in chunk:
                own = local[at : at + len(sentence)]
                yield chain.trellis(self.state_scores(own).ravel())
                at += len(sentence)

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        done: Mentions = []
        for chunk in chunks(sentences, max(CHUNK // len(self.last), 1)):
            own = found[len(done) : len(done) + len(chunk)]
            done += self._judged(own, self.believed_scores(chunk, threads or 0), _bounds(chunk), threads)
        return done

    def find_with_probabilities(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        return self._found(sentences, threads, probabilities=True)

    def _judged(self, found: Mentions, local: Floats, bounds: Pointers, threads: int | None) -> Mentions:
        """Give mentions their probabilities; sentence ``s`` has the tokens from ``bounds[s]`` on."""
        types, reading = self._labels()
        places = mention_places(found, {label: i for i, label in enumerate(types)})
        given = (self._search, reading, local.ravel(), bounds, *places, threads or 0)
        probs, held = markov_probabilities(*given)
        each = iter(probs.tolist())
        done = [[probable(m, next(each)) for m in own] for own in found]
        for s, belief in self._not_held(held, local, bounds):
            done[s] = [probable(m, belief.prob(m)) for m in found[s]]
        return done

    def find_above(self, sentences: Sequence[Sentence], above: float, threads: int | None = None) -> Mentions:
        done: Mentions = []
        types, reading = self._labels()
        for chunk in chunks(sentences, max(CHUNK // len(self.last), 1)):
            local, bounds = self.believed_scores(chunk, threads or 0), _bounds(chunk)
            given = (self._search, reading, local.ravel(), bounds, above, threads or 0)
            ptr, places, probs, held = markov_mentions(*given)
            found = [in_order(own) for own in gathered(types, ptr, places, probs)]
            for s, belief in self._not_held(held, local, bounds):
                found[s] = belief.mentions(above)
            done += found
        return done

    def _not_held(
        self, held: npt.NDArray[np.uint8], local: Floats, bounds: Pointers
    ) -> Iterator[tuple[int, Distribution]]:
        """Yield the numbers of sentences that scaled doubles do not hold, and their distributions."""
        numbers = np.flatnonzero(held == 0).tolist()
        chain = self._chain() if numbers else None
        for s in numbers:
            if chain is not None:
                yield s, chain.trellis(self.state_scores(local[bounds[s] : bounds[s + 1]]).ravel())

    def _labels(self) -> tuple[tuple[str, ...], FlatReading]:
        """The types of mentions, and how labels are read as such."""
        return flat_reading(self.segments, np.arange(self.size, dtype=np.int32))

    def _chain(self) -> ReadChain:
        """The chain over states and how it is read."""
        reading = segment_reading(self.segments, unique=self.model.constrained, states=self.last.tolist())
        return ReadChain(*self.trellis(), reading)

    def contrasts(self, sentences: Sequence[Sentence], pairs: Sequence[Pair]) -> Iterator[Contrast]:
        """Beside weights of features and of histories, what each choice is normalised by."""
        table = Table(self.extractor.transform(sentences))
        size, start = self.size, len(self.extractor.names()) * self.size

        def weight(key: int) -> Weight:
            if key < start:
                return Weight(self.extractor.name(key // size), self.extractor.group(key // size))
            return Weight(f"after {self._history((key - start) // size)}", TRANSITIONS)

        for number, best, other in pairs:
            tokens = sentences[number].tokens
            local = self.believed_scores([sentences[number]], 1)
            steps = [self._steps(self.segments.encode(some, len(tokens)).tolist(), local) for some in (best, other)]
            found = ContrastBuilder()
            for t, choices in enumerate(zip(*steps, strict=True)):
                if choices[0] == choices[1]:
                    continue
                for (label, histories, norm), sign in zip(choices, (1, -1), strict=True):
                    site = ((t, t + 1),)
                    words = self.segments.words(label, quoted(tokens, site)[0])
                    cell = Cell(site, self.segments.labels[label], words, sign)
                    past = np.array(histories, np.int64)
                    found.add(cell, start + past * size + label, self.histories[past, label])
                    found.add_one(cell, -1, -norm, Weight("sum over all labels", NORMALISATION))
                    if choices[0][0] != choices[1][0]:
                        ids, values = table.row(number, t)
                        found.add(cell, ids * size + label, self.features[ids, label], values)
            yield found.build(weight)

    def _steps(self, labels: Sequence[int], local: Floats) -> list[tuple[int, list[int], float]]:
        """Of each token: its label, the rows of ``histories`` before it, and log Σ exp of the scores of all labels."""
        size = self.size
        codes = {int(code): size + 1 + k for k, code in enumerate(self.pairs)}
        before, last, found = size, size, []
        for t, label in enumerate(labels):
            pair = codes.get(before * (size + 1) + last)
            rows = [last] if pair is None else [last, pair]
            step = self.histories[rows].astype(np.float64).sum(axis=0)
            found.append((label, rows, float(np.logaddexp.reduce(local[t] + step))))
            before, last = last, label
        return found

    # Keeping

    def pruned(self, least: float) -> Trained:
        features = without_small(self.features, least)
        used = np.flatnonzero(features.any(axis=1))
        smaller = copy(self)
        smaller.extractor = self.extractor.keep(used)
        smaller._set_weights(np.ascontiguousarray(features[used]), self.histories)
        return smaller

    def weight_columns(self) -> Iterator[WeightColumn]:
        for y, label in enumerate(self.segments.labels):
            words = self.segments.words(y, TOKEN)
            yield WeightColumn(label, self.features[:, y], self.extractor.name, words)
            yield WeightColumn(f"{label} after", self.histories[:, y], self._history)

    def _history(self, number: int) -> str:
        return history_name(self.segments.labels, self.pairs, number)

    def start_for(self, wanted: Wanted, global_cells: int) -> Weights | None:
        labels = self.segments.labels
        names = {self._history(k): k for k in range(len(self.histories))}
        known = np.array([names.get(name, -1) for name in wanted.more], np.int64)
        features = carry(self.features, labels, wanted.known, wanted.columns)
        return Weights(
            np.concatenate([features, carry(self.histories, labels, known, wanted.columns)]), np.zeros(global_cells)
        )

    @property
    def weight_count(self) -> int:
        return self.features.size + self.histories.size

    def header(self) -> dict[str, Any]:
        return {
            "scheme": self.segments.scheme,
            "constrained": self.model.constrained,
            "order": self.model.order,
            "beam": self.model.beam,
            "labels": list(self.segments.labels),
            "words": dict(self.words),
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"model.features": self.features, "model.histories": self.histories, "model.pairs": self.pairs}


def history_name(labels: Sequence[str], pairs: npt.NDArray[np.int64], number: int) -> str:
    """Name the labels before: one, or two, the nearer one last."""
    names, size = [*labels, "<s>"], len(labels)
    if number <= size:
        return names[number]
    code = int(pairs[number - size - 1])
    return f"{names[code // (size + 1)]} {names[code % (size + 1)]}"


def _bounds(sentences: Sequence[Sentence]) -> Pointers:
    """Where the tokens of each sentence begin, and where the last ends."""
    bounds = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum([len(sentence) for sentence in sentences], out=bounds[1:])
    return bounds


def _log_sums(local: Floats, step: Floats) -> Floats:
    """log Σ_y exp(local[t, y] + step[h, y]) as ``[t, h]``: a product of matrices, as the sum falls into factors."""
    top, high = local.max(axis=1, keepdims=True), step.max(axis=1)
    sums: Floats = np.exp(local - top) @ np.exp(step - high[:, None]).T
    with np.errstate(divide="ignore"):
        np.log(sums, out=sums)
    sums += top
    sums += high
    if np.isneginf(sums.min(initial=0.0)):
        for t, h in np.argwhere(np.isneginf(sums)):  # too far apart for one factor each
            sums[t, h] = np.logaddexp.reduce(local[t] + step[h])
    return sums
