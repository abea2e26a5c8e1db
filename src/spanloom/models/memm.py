"""Maximum-entropy Markov tagger, as in C&C (Curran & Clark 2003): each label is chosen given those before it.

    p(y) = Π_t p(y_t | t, h_t),   p(y | t, h) = exp(w[y] · f(t) + v[h, y]) / Z_t(h),   v[h, y] = v₁[y₋₁, y] + v₂[h, y]

where the history h is the label before, y₋₁ (``order=1``), or the two before (``order=2``), and Σ_y p(y | t, h) = 1.
Holds flat, contiguous mentions. Training is one multinomial regression over tokens with their gold histories, with no
sum over label sequences: it takes O(n L) where the chain takes O(n L²). A Gaussian prior is the penalty ``l2``.

Finding is exact by default. Of the pairs of labels, only those of the training data have weights v₂; all others act
alike, as the last label alone. So the states of the trellis are the pairs seen and the single labels, and the best
sequence takes O(n S L) for S states. With ``beam=k``, only the k best states go on from a token to the next, O(n k L).

    log p(y) = Σ_t w[y_t] · f(t) + v[h_t, y_t] − log Z_t(h_t)

is a chain over these states, as log Z_t(h_t) belongs to the state at t − 1: on the engine's graphs (``trellis``) it is
normalised as it stands (Z = 1).

Known weakness, the *label bias* (Lafferty, McCallum & Pereira 2001): a history's probability mass must go on to the
next token whatever that is, so what is seen later cannot make an early choice less probable. A chain does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import ChainStructure, ChoiceStructure, Decoder, MarkovSearch, SparseRows
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.features import FeatureExtractor
from spanloom.learning import Iteration, Weights, compress, maximise_likelihood, stochastic_likelihood
from spanloom.models.base import Lesson, Standalone, WeightColumn, best_sets
from spanloom.schemes import Representations, Segments, first_misfit

Floats = npt.NDArray[np.float64]
CHUNK = 1 << 21
"""About so many scores are held at once when many sentences are tagged."""


class MaximumEntropyMarkov(Standalone):
    """Labels one after the other, each given one or two before it.

    Parameters
    ----------
    scheme
        The segment representation, or several; see ``Chain``.
    constrained
        Whether only legal label sequences are found. Training gives all of them probability.
    order
        How many labels before are seen: 1 or 2.
    dictionary
        Words that the training data have at least so often get only labels that they have there; None for no such
        rule. Where it leaves no legal sequence, it is not applied.
    beam
        How many states go on from a token to the next; None for all of them. Where a beam ends in no legal sequence,
        all go on.
    """

    name = "memm"
    holds = "contiguous mentions that do not overlap"
    flat = True
    algorithms = ("lbfgs", "adagrad")

    def __init__(
        self,
        scheme: str | Sequence[str] = "IOBES",
        constrained: bool = True,
        order: int = 2,
        dictionary: int | None = None,
        beam: int | None = None,
    ) -> None:
        check_choice("order", str(order), ("1", "2"))
        if dictionary is not None:
            check_count("dictionary", dictionary)
        if beam is not None:
            check_count("beam", beam)
        self.representations = Representations.parse(scheme)
        self.constrained, self.order, self.dictionary, self.beam = constrained, order, dictionary, beam
        self.words: dict[str, list[int]] = {}

    # The shape

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        self._set_labels(Segments.learn(self.representations.main, sentences))

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_misfit(mentions)

    def _set_labels(self, segments: Segments) -> None:
        self.segments = segments
        self.types = segments.types
        self.size = len(segments.labels)

    # Learning

    def train(self, lesson: Lesson) -> Iterator[tuple[Iteration, Callable[[], Weights]]]:
        rows, sentences, settings = self.see(lesson), lesson.sentences, lesson.settings
        labelled = [self.segments.encode(m, len(s)) for m, s in zip(lesson.gold, sentences, strict=True)]
        labels = np.concatenate(labelled)
        if self.dictionary is not None:
            self.words = _seen(sentences, labelled, self.dictionary)
        previous = [_before(y, self.size, 1) for y in labelled]
        histories = [np.concatenate(previous)]
        self.pairs = np.zeros(0, np.int64)
        if self.order == 2:
            second = np.concatenate([_before(y, self.size, 2) for y in labelled])
            codes = second * (self.size + 1) + histories[0]
            self.pairs, numbers = np.unique(codes, return_inverse=True)
            histories.append(self.size + 1 + numbers.astype(np.int64))
        width = rows.width + self.size + 1 + len(self.pairs)
        tokens = _with_more(rows, [rows.width + h for h in histories], width)
        tie = self.representations.tie(self.segments.labels)
        first = np.repeat(rows.group_ptr[:-1], np.diff(rows.group_ptr))  # of each token's sentence
        cells = rows.group_ptr, ((np.arange(len(labels)) - first) * self.size + labels).astype(np.int32)
        structure = ChoiceStructure(self.size)
        if lesson.algorithm == "adagrad":
            if tie is not None:
                raise ParameterError('several representations are learned by algorithm="lbfgs"')
            yield from stochastic_likelihood(tokens, structure, cells, settings, seed=lesson.seed)
        else:
            tying = None if tie is None else tie.sites
            yield from maximise_likelihood(compress(tokens, settings), structure, cells, settings, site_tying=tying)

    def install(self, learned: Weights) -> None:
        count = len(learned.features) - (self.size + 1 + len(self.pairs))
        self._set_weights(self.keep_used(learned.features[:count]), learned.features[count:].copy())

    def _set_weights(self, features: npt.NDArray[np.float32], histories: npt.NDArray[np.float32]) -> None:
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
        if self.constrained:
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
        scores[:-1] -= _log_sums(local[1:], self.step)
        scores[0] += self.first_step[self.last] - _log_sums(local[:1], self.first_step[None, :])[0]
        return scores

    def find(self, sentences: Sequence[Sentence], threads: int) -> list[list[Mention]]:
        found: list[list[Mention]] = []
        for chunk in _chunks(sentences, max(CHUNK // self.size, 1)):
            bounds = np.zeros(len(chunk) + 1, np.int64)
            np.cumsum([len(sentence) for sentence in chunk], out=bounds[1:])
            _, labels = self._search.best(self.local_scores(chunk, threads).ravel(), bounds, self.beam or 0, threads)
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

    def k_best(self, sentence: Sentence, k: int) -> list[tuple[float, list[Mention]]]:
        structure, transitions = self.trellis()
        scores = np.concatenate([self.state_scores(self.local_scores([sentence], 1)).ravel(), transitions])
        count, sites = len(self.last), len(sentence) * len(self.last)
        return best_sets(
            structure.graph(len(sentence)),
            scores,
            k,
            lambda cells: self.segments.decode(self.last[cells[cells < sites] % count]),
        )

    def weight_columns(self) -> Iterator[WeightColumn]:
        for y, label in enumerate(self.segments.labels):
            yield WeightColumn(label, self.features[:, y], self.extractor.name)
            yield WeightColumn(f"{label} after", self.histories[:, y], self._history)

    def _history(self, number: int) -> str:
        """Name the labels before: one, or two, the nearer one last."""
        names = [*self.segments.labels, "<s>"]
        if number <= self.size:
            return names[number]
        code = int(self.pairs[number - self.size - 1])
        return f"{names[code // (self.size + 1)]} {names[code % (self.size + 1)]}"

    # Keeping

    def header(self) -> dict[str, Any]:
        return {
            "scheme": self.segments.scheme,
            "constrained": self.constrained,
            "order": self.order,
            "beam": self.beam,
            "labels": list(self.segments.labels),
            "words": self.words,
        }

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> MaximumEntropyMarkov:
        try:
            model = cls(header["scheme"], bool(header["constrained"]), header["order"], beam=header["beam"])
            model._set_labels(Segments(header["scheme"], [str(label) for label in header["labels"]]))
            model.words = {str(word): [int(y) for y in labels] for word, labels in header["words"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, ParameterError) as error:
            raise ModelFileError(f"the labels of the maximum-entropy Markov model are damaged: {error}") from None
        if any(not 0 <= y < model.size for labels in model.words.values() for y in labels):
            raise ModelFileError("the dictionary of the maximum-entropy Markov model speaks of labels that it lacks")
        return model

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"features": self.features, "histories": self.histories, "pairs": self.pairs}

    def restore(self, extractor: FeatureExtractor, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.take_over(extractor, arrays["features"])
        self.pairs = arrays["pairs"]
        codes = (self.size + 1) ** 2
        if self.pairs.dtype != np.int64 or ((self.pairs < 0) | (self.pairs >= codes)).any():
            raise ValueError("the pairs of labels are damaged")
        self._set_weights(arrays["features"], arrays["histories"])


def _chunks(sentences: Sequence[Sentence], tokens: int) -> Iterator[Sequence[Sentence]]:
    """Cut into runs of about so many tokens."""
    start, size = 0, 0
    for i, sentence in enumerate(sentences):
        size += len(sentence)
        if size >= tokens:
            yield sentences[start : i + 1]
            start, size = i + 1, 0
    if start < len(sentences):
        yield sentences[start:]


def _before(labels: npt.NDArray[np.int32], start: int, steps: int) -> npt.NDArray[np.int64]:
    """The label so many tokens before each token; ``start`` before the sentence."""
    shifted = np.full(len(labels), start, np.int64)
    shifted[steps:] = labels[: max(len(labels) - steps, 0)]
    return shifted


def _with_more(rows: SparseRows, extra: Sequence[npt.NDArray[np.int64]], width: int) -> SparseRows:
    """The rows with one more feature for each of ``extra``."""
    n, more = rows.rows, len(extra)
    ptr = rows.row_ptr + more * np.arange(n + 1, dtype=np.int64)
    ids = np.empty(len(rows.ids) + more * n, np.uint32)
    values = None if rows.values is None else np.ones(len(ids), np.float32)
    places = np.arange(len(rows.ids)) + more * np.repeat(np.arange(n), np.diff(rows.row_ptr))
    ids[places] = rows.ids
    if values is not None and rows.values is not None:
        values[places] = rows.values
    for k, numbers in enumerate(extra):
        ids[ptr[1:] - more + k] = numbers
    return SparseRows(rows.group_ptr, ptr, ids, width, values)


def _log_sums(local: Floats, step: Floats) -> Floats:
    """log Σ_y exp(local[t, y] + step[h, y]) as ``[t, h]``: a product of matrices, as the sum falls into factors."""
    top, high = local.max(axis=1, keepdims=True), step.max(axis=1)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(local - top) @ np.exp(step - high[:, None]).T) + top + high
    for t, h in np.argwhere(np.isneginf(sums)):  # too far apart for one factor each
        sums[t, h] = np.logaddexp.reduce(local[t] + step[h])
    return np.asarray(sums, np.float64)


def _seen(sentences: Sequence[Sentence], labelled: Sequence[npt.NDArray[np.int32]], least: int) -> dict[str, list[int]]:
    """The labels of every word that occurs at least so often."""
    counts: dict[str, int] = {}
    labels: dict[str, set[int]] = {}
    for sentence, numbers in zip(sentences, labelled, strict=True):
        for word, y in zip(sentence.tokens, numbers.tolist(), strict=True):
            counts[word] = counts.get(word, 0) + 1
            labels.setdefault(word, set()).add(y)
    return {word: sorted(labels[word]) for word in sorted(labels) if counts[word] >= least}
