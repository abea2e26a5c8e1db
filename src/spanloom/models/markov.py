"""The maximum-entropy Markov tagger at work: its trellis, search and distribution; see ``models.memm``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spanloom._native import ChainStructure, ChoiceStructure, Decoder, MarkovSearch
from spanloom.base.arrays import Floats, Floats32
from spanloom.corpus.document import Sentence
from spanloom.features import FeatureExtractor
from spanloom.inference import Distribution, Reading, Trellis, segment_reading
from spanloom.inference.batch import chain_batch
from spanloom.models.base import Mentions
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
from spanloom.models.trained import Trained, WeightColumn, chunks, probable
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
        self.features, self.histories = features, histories
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
        self._decoder = Decoder(ChoiceStructure(size), features.ravel(), np.zeros(0))
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
        size = self.size
        legal, may_start, may_end = np.ones((size, size), np.bool_), np.ones(size, np.bool_), np.ones(size, np.bool_)
        if self.model.constrained:
            legal[:] = [[self.segments.allowed(a, b) for b in range(size)] for a in range(size)]
            may_start[:] = [self.segments.may_start(a) for a in range(size)]
            may_end[:] = [self.segments.may_end(a) for a in range(size)]
        return legal, may_start, may_end

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

    def state_scores(self, local: Floats) -> Floats:
        """Return the scores ``[t, state]`` that make the chain over states the model: log p is their sum."""
        scores = local[:, self.last]
        if not len(local):
            return scores
        scores[:-1] -= _log_sums(local[1:], self.step)
        scores[0] += self.first_step[self.last] - _log_sums(local[:1], self.first_step[None, :])[0]
        return scores

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        found: Mentions = []
        for chunk in chunks(sentences, max(CHUNK // self.size, 1)):
            bounds = np.zeros(len(chunk) + 1, np.int64)
            np.cumsum([len(sentence) for sentence in chunk], out=bounds[1:])
            local = self.local_scores(chunk, threads or 0).ravel()
            _, labels = self._search.best(local, bounds, self.model.beam or 0, threads or 0)
            for sentence, own in zip(chunk, np.split(labels, bounds[1:-1]), strict=True):
                found.append(self.segments.decode(own if not (own < 0).any() else self._at_any_cost(sentence)))
        return found

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
        structure, transitions, reading = self._chain()
        for chunk in chunks(sentences, max(CHUNK // self.size, 1)):
            local, at = self.local_scores(chunk, threads or 0), 0
            for sentence in chunk:
                own = local[at : at + len(sentence)]
                yield Trellis.of(structure, self.state_scores(own).ravel(), transitions, reading)
                at += len(sentence)

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        structure, transitions, reading = self._chain()
        done: Mentions = []
        for chunk in chunks(sentences, max(CHUNK // len(self.last), 1)):
            own = found[len(done) : len(done) + len(chunk)]
            ptr = np.zeros(len(chunk) + 1, np.int64)
            np.cumsum([len(sentence) for sentence in chunk], out=ptr[1:])
            local = self.local_scores(chunk, threads or 0)
            scores = np.concatenate([self.state_scores(local[a:b]) for a, b in pairwise(ptr.tolist())]).ravel()
            probs = chain_batch(structure, reading, scores, ptr, transitions, own, threads or 0)
            done += [[*map(probable, *pair)] for pair in zip(own, probs, strict=True)]
        return done

    def _chain(self) -> tuple[ChainStructure, Floats, Reading]:
        """The chain over states and how it is read."""
        reading = segment_reading(self.segments, unique=self.model.constrained, states=self.last.tolist())
        return *self.trellis(), reading

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
            local = self.local_scores([sentences[number]], 1)
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

    def weight_columns(self) -> Iterator[WeightColumn]:
        for y, label in enumerate(self.segments.labels):
            words = self.segments.words(y, TOKEN)
            yield WeightColumn(label, self.features[:, y], self.extractor.name, words)
            yield WeightColumn(f"{label} after", self.histories[:, y], self._history)

    def _history(self, number: int) -> str:
        """Name the labels before: one, or two, the nearer one last."""
        names = [*self.segments.labels, "<s>"]
        if number <= self.size:
            return names[number]
        code = int(self.pairs[number - self.size - 1])
        return f"{names[code // (self.size + 1)]} {names[code % (self.size + 1)]}"

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


def _log_sums(local: Floats, step: Floats) -> Floats:
    """log Σ_y exp(local[t, y] + step[h, y]) as ``[t, h]``: a product of matrices, as the sum falls into factors."""
    top, high = local.max(axis=1, keepdims=True), step.max(axis=1)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(local - top) @ np.exp(step - high[:, None]).T) + top + high
    for t, h in np.argwhere(np.isneginf(sums)):  # too far apart for one factor each
        sums[t, h] = np.logaddexp.reduce(local[t] + step[h])
    return np.asarray(sums, np.float64)
