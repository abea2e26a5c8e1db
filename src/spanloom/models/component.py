"""Component: one trained structure, its columns, and how mentions are read off it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from spanloom._native import Decoder, Lattices, SparseRows, Structure
from spanloom.base.arrays import Cells, Floats, Pointers, Tied
from spanloom.base.errors import ParameterError
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference import Batch, Distribution, ReadChain, Reader
from spanloom.schemes.partial import Mask
from spanloom.schemes.words import TOKEN


@dataclass(frozen=True, slots=True)
class Shapes:
    """What models need to know of sentences besides features: their numbers of tokens and, for segments, lattices."""

    lengths: list[int]
    lattices: Lattices | None = None


class Component(ABC):
    """One trained structure. A model has one or several, which share features but no weights.

    Attributes
    ----------
    columns
        The output symbols at a site.
    types
        The labels of the mentions that it finds.
    exact
        Whether its probabilities are exact for every sentence; False: lower bounds for some.
    """

    columns: Sequence[str]
    types: frozenset[str]
    exact: bool = True

    @property
    @abstractmethod
    def structure(self) -> Structure:
        """How the cells of a sentence go together; for segments, without the sentences."""

    def structure_for(self, shapes: Shapes) -> Structure:
        """Return the structure for sentences of these shapes; a sentence is known by its number."""
        return self.structure

    @abstractmethod
    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        """Return the cells, site and global ones, of the structure that stands for the mentions of ``n`` tokens."""

    def encode_all(self, gold: Sequence[Sequence[Mention]], shapes: Shapes) -> list[Cells]:
        """Encode sentence after sentence."""
        return [self.encode(mentions, n) for mentions, n in zip(gold, shapes.lengths, strict=True)]

    def located(self, mentions: Sequence[Mention], shapes: Shapes, number: int) -> list[tuple[int, Parts]]:
        """Encode one sentence; return every cell with what its site covers, global cells with where they join.

        Sites are tokens here, and the k-th global cell joins tokens k and k + 1.
        """
        n = shapes.lengths[number]
        size = n * len(self.columns)
        cells = self.encode(mentions, n).tolist()
        sites = [c for c in cells if c < size]
        joints = [c for c in cells if c >= size]
        tokens = [(c, ((c // len(self.columns), c // len(self.columns) + 1),)) for c in sites]
        return [*tokens, *((c, ((g, g),)) for g, c in enumerate(joints, 1))]

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

    def decode_all(self, cells: Cells, ptr: Pointers, shapes: Shapes) -> list[list[Mention]]:
        """Decode many sentences at once; the site cells of sentence ``s`` are ``cells[ptr[s]:ptr[s + 1]]``."""
        bounds = ptr.tolist()
        return [self.decode(cells[bounds[s] : bounds[s + 1]], n) for s, n in enumerate(shapes.lengths)]

    def starts(self) -> Sequence[str | None]:
        """For each column, the label of the mention that starts where it is used, or None; mention penalties need it.

        A structure uses exactly one such column for every place where mentions of a label start.
        """
        return [None] * len(self.columns)

    def words(self, column: int, left: str = "", right: str = "") -> str:
        """Say what a column means at a site between two tokens, or, if it is no gap, at ``left``.

        Without a sentence at hand, ``left`` and ``right`` are empty.
        """
        return f"{left or TOKEN} is {self.columns[column]}"

    def global_names(self) -> Sequence[str]:
        """Name the global cells, in order, for explanations."""
        return ()

    def chain(self, global_scores: Floats) -> ReadChain | None:
        """Return a chain with the same columns, for these scores of global cells; None if there is none."""
        return None

    def reader(self, global_scores: Floats) -> Reader | None:
        """Return how its structures are read natively, for these scores of global cells; None if they cannot be.

        Mentions of such components are found and judged in one pass.
        """
        chain = self.chain(global_scores)
        return None if chain is None else chain.reader()

    def believed(
        self, decoder: Decoder, rows: SparseRows, shapes: Shapes, threads: int, above: float = 0
    ) -> list[list[Mention]] | None:
        """Return the mentions of each sentence with probabilities, by a decoder of this component alone, in one pass.

        Those of the best structure; with ``above``, every one with at least this probability, in reading order. None
        if there is no such pass.
        """
        return None

    @abstractmethod
    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Distribution:
        """Return what the component believes of one sentence.

        Parameters
        ----------
        scores
            ``[site * column]`` of the sentence, without mention penalty.
        global_scores
            Of the global cells.
        shapes, number
            Of the sentences at hand, and which of them it is.
        """

    def probabilities(self, batch: Batch, shapes: Shapes) -> list[list[float]]:
        """Return the probabilities of the mentions of many sentences; natively if there is a reader."""
        reader = self.reader(batch.global_scores)
        if reader is not None:
            return batch.by_reader(reader)
        found: list[list[float]] = []
        for number, own in enumerate(batch.mentions):
            scores = batch.scores_of(number, len(self.columns))
            one = self.distribution(scores, batch.global_scores, shapes, number) if own else None
            found.append([one.prob(mention) for mention in own] if one is not None else [])
        return found


def pair_names(names: Sequence[str]) -> list[str]:
    """Name the transitions between columns.

    Examples
    --------
    >>> pair_names(["O", "I"])
    ['O → O', 'O → I', 'I → O', 'I → I']
    """
    return [f"{a} → {b}" for a in names for b in names]
