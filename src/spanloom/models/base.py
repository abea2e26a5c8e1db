"""What every model is: sites where features fire, columns, a structure over them, and a scheme that reads it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from spanloom._native import Graph, Lattices, SparseRows, Structure
from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Iteration, Settings
from spanloom.schemes import flatten
from spanloom.schemes.maps import Tied
from spanloom.schemes.partial import Mask

if TYPE_CHECKING:
    from typing_extensions import Self

Floats32 = npt.NDArray[np.float32]
Cells = npt.NDArray[np.int32]
"""Positions in a sentence's score vector: site cells ``site * columns + column``, then the global cells."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """What models need to know of sentences besides features: their numbers of tokens and, for segments, lattices."""

    lengths: list[int]
    lattices: Lattices | None = None


@dataclass(frozen=True, slots=True)
class WeightColumn:
    """The weights of one output symbol, and what each is the weight of."""

    name: str
    weights: Floats32
    feature: Callable[[int], str]


class Component(ABC):
    """One trained structure. A model has one or several, which share features but no weights.

    Attributes
    ----------
    columns
        The output symbols at a site.
    types
        The labels of the mentions that it finds.
    """

    columns: Sequence[str]
    types: frozenset[str]

    @property
    @abstractmethod
    def structure(self) -> Structure:
        """How the cells of a sentence go together; for segments, without the sentences."""

    def structure_for(self, shapes: Shapes) -> Structure:
        """Return the structure for sentences of these shapes, which are told apart by their numbers."""
        return self.structure

    @abstractmethod
    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        """Return the cells, site and global ones, of the structure that stands for the mentions of ``n`` tokens."""

    def encode_all(self, gold: Sequence[Sequence[Mention]], shapes: Shapes) -> list[Cells]:
        """Encode sentence after sentence."""
        return [self.encode(mentions, n) for mentions, n in zip(gold, shapes.lengths, strict=True)]

    @abstractmethod
    def decode(self, cells: Cells, n: int) -> list[Mention]:
        """Return the mentions that a structure stands for, given its site cells in ascending order."""

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        """Return the choices that are allowed where a sentence of ``n`` tokens is annotated in part.

        ``[site, column]``, for segments ``[candidate, column]``; see ``spanloom.schemes.partial``.
        """
        raise ParameterError(f"{type(self).__name__} does not learn from partial annotation; leave such sentences out")

    def allowed_in(self, mentions: Sequence[Mention], known: Known, shapes: Shapes, number: int) -> Mask:
        """Return what ``allowed`` does for sentence ``number`` of these shapes."""
        return self.allowed(mentions, known, shapes.lengths[number])

    def tying(self) -> tuple[Tied | None, Tied | None]:
        """Return how parameters add up to the scores of columns and of global cells; None: a parameter for each."""
        return None, None

    def decode_all(self, cells: Cells, ptr: npt.NDArray[np.int64], shapes: Shapes) -> list[list[Mention]]:
        """Decode many sentences at once; the site cells of sentence ``s`` are ``cells[ptr[s]:ptr[s + 1]]``."""
        bounds = ptr.tolist()
        return [self.decode(cells[bounds[s] : bounds[s + 1]], n) for s, n in enumerate(shapes.lengths)]

    def starts(self) -> Sequence[str | None]:
        """For each column, the label of the mention that starts where it is used, or None; mention penalties need it.

        A structure uses exactly one such column for every place where mentions of a label start.
        """
        return [None] * len(self.columns)

    def global_names(self) -> Sequence[str]:
        """Name the global cells, in order, for explanations."""
        return ()


class Model(ABC):
    """The shape of a recogniser: which components it has, where they look, and what it can hold.

    ``learn`` sees the training mentions and makes the components; ``header`` and ``from_header`` take them through a
    file.
    """

    name: ClassVar[str]
    sites: ClassVar[Literal["tokens", "gaps", "segments"]] = "tokens"
    holds: str
    """What mention sets the model can hold, in words, for messages."""
    flat: ClassVar[bool] = False
    """Whether the mentions that it finds never overlap, so that reductions can be built on it."""
    algorithms: ClassVar[tuple[str, ...]] = ("lbfgs", "adagrad", "perceptron")
    """How it can learn; the first is the default."""
    iterations: ClassVar[int] = 500
    """At most so many, unless told otherwise."""
    choice: ClassVar[str | None] = None
    """What it keeps, whatever ``overlap`` says, of mentions that it cannot hold together; None: as ``overlap`` says."""

    components: Sequence[Component]

    @abstractmethod
    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        """Make the components from the (mentions, number of tokens) pairs of the training data."""

    @abstractmethod
    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        """Return the index of the first mention that the model cannot hold beside the others, and why; or None."""

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        """Split mentions into those that the model holds together and the rest; ``keep`` is as in ``flatten``."""
        return flatten(mentions, keep)

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        """Return the mentions that the model cannot find in this sentence whatever stands beside them, and why."""
        return []

    def shapes(self, sentences: Sequence[Sentence], layout: tuple[int, int, bool]) -> Shapes:
        """Return what the components need to know of sentences; ``layout`` is that of the ``FeatureExtractor``."""
        return Shapes([len(s) for s in sentences])

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        """Return those of the mentions that the model can be trained on, but would read as something else."""
        return []

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """Return what ``from_header`` needs, as JSON."""

    @classmethod
    @abstractmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Make the model with its components from what ``header`` returned; ``ModelFileError`` if it makes no sense."""

    def facts(self) -> dict[str, Any]:
        """Return what was chosen from the data, for people to see."""
        return {}

    def unite(self, found: Sequence[Sequence[Mention]]) -> list[Mention]:
        """Put together what the components found in one sentence, in reading order."""
        return sorted((m for mentions in found for m in mentions), key=reading_order)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a model learns from by itself, and how.

    ``gold`` has the mentions of each sentence that the model can hold.
    """

    sentences: Sequence[Sentence]
    gold: Sequence[Sequence[Mention]]
    features: FeatureSet
    settings: Settings
    algorithm: str
    seed: int


class Standalone(Model):
    """A model that learns and searches by itself instead of through components.

    For models whose learning is no likelihood over one structure. They get sentences and a feature set, and keep what
    they have learned; everything else (watching development data, patience, files, tagging in batches) is as for all.
    """

    components: Sequence[Component] = ()

    types: frozenset[str]
    """The labels of the mentions that it finds."""
    extractor: FeatureExtractor
    """The features of tokens that it goes by, once it has learned."""
    _seen: FeatureExtractor
    """All features of the training tokens."""

    @abstractmethod
    def train(self, lesson: Lesson) -> Iterator[tuple[Iteration, Callable[[], Any]]]:
        """Yield each iteration's record and a function that returns what is learned by then, for ``install``."""

    @abstractmethod
    def install(self, learned: Any) -> None:
        """Find mentions by this from now on."""

    def see(self, lesson: Lesson) -> SparseRows:
        """Return the features of the training tokens; for ``train``."""
        self._seen = FeatureExtractor(lesson.features)
        return self._seen.fit(lesson.sentences, lesson.settings.threads)

    def keep_used(self, weights: Floats32) -> Floats32:
        """Go by those features from now on that have a weight, and return their rows of ``weights``; for ``install``.

        Parameters
        ----------
        weights
            ``[feature, column]``: what was learned of the features that ``see`` found.
        """
        used = weights.any(axis=1)
        self.extractor = self._seen.keep(np.flatnonzero(used))
        return np.ascontiguousarray(weights[used])

    def take_over(self, extractor: FeatureExtractor, weights: Floats32) -> None:
        """Go by these features, for which ``weights`` must have a row each; for ``restore``."""
        if weights.ndim != 2 or len(weights) != extractor.size:
            raise ValueError(f"there are weights {weights.shape} for {extractor.size} features")
        self.extractor = extractor

    @abstractmethod
    def weight_columns(self) -> Iterator[WeightColumn]:
        """Yield everything that was learned, column by column, to be looked at."""

    def finish(self, dev: Sequence[Sentence] | None, threads: int) -> None:
        """Do what is left after training, such as choices on development data if there are any: nothing here."""

    @abstractmethod
    def find(self, sentences: Sequence[Sentence], threads: int) -> list[list[Mention]]:
        """Return the mentions of each sentence; ``threads=0`` for all cores."""

    def k_best(self, sentence: Sentence, k: int) -> list[tuple[float, list[Mention]]] | None:
        """Return the ``k`` most probable mention sets; None for models without a distribution over sets."""
        return None

    @abstractmethod
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was learned, for a file."""

    @abstractmethod
    def restore(self, extractor: FeatureExtractor, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Undo ``arrays``, on a model from ``from_header``; ``ModelFileError`` or ``ValueError`` if they do not fit."""


def reading_order(mention: Mention) -> tuple[int, int, str]:
    """By start, the longest first."""
    return mention.start, -mention.end, mention.label


def best_sets(
    graph: Graph, scores: npt.NDArray[np.float64], k: int, read: Callable[[Cells], list[Mention]]
) -> list[tuple[float, list[Mention]]]:
    """Return the mention sets of the ``k`` best structures with their probabilities, best first.

    ``read`` gets the cells of a structure in ascending order. Structures that read as the same set are added up.
    """
    log_z = graph.log_partition(scores)
    sets: dict[tuple[Mention, ...], float] = {}
    for score, edges in graph.k_best(scores, k):
        key = tuple(sorted(read(np.sort(graph.cells_of(edges))), key=reading_order))
        sets[key] = sets.get(key, 0.0) + float(np.exp(score - log_z))
    return sorted(((prob, list(key)) for key, prob in sets.items()), key=lambda pair: -pair[0])
