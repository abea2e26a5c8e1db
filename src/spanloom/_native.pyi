"""spanloom's native core."""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


class SparseRows:
    """The features active at every site, sentence after sentence."""

    def __init__(self, group_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    @property
    def groups(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def entries(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def group_ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def row_ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def ids(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), writable=False)] | None: ...

class Graph:
    """
    A directed acyclic hypergraph whose edges carry cells; the last node is the root.
    """

    def __init__(self, edge_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tail_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_count: int) -> None: ...

    @staticmethod
    def from_edges(nodes: Sequence[Sequence[tuple[Sequence[int], Sequence[int]]]], cell_count: int) -> Graph:
        """One list per node, in topological order, of (tails, cells) pairs."""

    @property
    def nodes(self) -> int: ...

    @property
    def edges(self) -> int: ...

    @property
    def cell_count(self) -> int: ...

    @property
    def cell_ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def cells(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    def cells_of(self, edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The cells that these edges use, in their order."""

    def log_partition(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

    def expectations(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Return (log Z, expected number of uses of every cell)."""

    def best(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Return (score, edges) of the best structure."""

    def k_best(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int) -> list[tuple[float, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]]:
        """Return (score, edges) of the k best structures, best first."""

    def count(self) -> float: ...

    def sample(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int, seed: int) -> list[tuple[float, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]]:
        """Draw n structures from exp(score) / Z."""

def valid_spans(heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], longest: int, *, single: bool) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """Start, end, start, end … of the spans that a tree allows."""

class SegmentLayout:
    """Which rows of features segments read."""

    def __init__(self, left: int = 1, right: int = 1, *, inside: bool = False, gaps: bool = False) -> None:
        """
        Tokens that are told apart counted from the left, from the right; whether each token, and each gap, is by itself.
        """

    @property
    def left(self) -> int: ...

    @property
    def right(self) -> int: ...

    @property
    def inside(self) -> bool: ...

    @property
    def gaps(self) -> bool: ...

    def __eq__(self, other: object) -> bool: ...

class Lattices:
    """
    The candidate segments of sentences, and which rows of features each reads.
    """

    @staticmethod
    def up_to(lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], longest: int, layout: SegmentLayout) -> Lattices:
        """All segments of at most `longest` tokens."""

    @staticmethod
    def guided(lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], longest: int, layout: SegmentLayout, *, single: bool) -> Lattices:
        """The spans that the sentences' trees allow."""

    def __len__(self) -> int: ...

    @property
    def segments(self) -> int:
        """Number of candidate segments of all sentences."""

    @property
    def tokens(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def layout(self) -> SegmentLayout: ...

    def rows_in(self, sentence: int) -> int:
        """The number of rows of a sentence."""

    def spans(self, sentence: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Start, end, start, end … of a sentence's candidate segments."""

    def rows_of(self, sentence: int, start: int, end: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The rows that a segment reads, from 0 within its sentence."""

    def encode(self, sentence: int, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        The cells of the path through these segments in reading order, single words of column 0 between them.
        """

    def encode_set(self, sentence: int, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The cells of segments that may overlap."""

    def decode_sets(self, cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, first: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        Where the segments of each sentence begin that its cells came from, and their start, end, column …; without columns below `first`.
        """

class Structure:
    """How the cells of a sentence go together, whatever their scores."""

    @property
    def columns(self) -> int: ...

    @property
    def global_cells(self) -> int: ...

    @property
    def stride(self) -> int: ...

    def choices(self, sites: int, number: int = 0) -> int:
        """How many rows of `columns` choices a mask has."""

    def graph(self, sites: int, number: int = 0, mask: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Graph:
        """
        The structure for this many sites as an explicit graph, with nothing but what the mask allows.
        """

    def expectations(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int = 0, mask: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return (log Z, expected uses of every cell) for scores [sites * columns] of one sentence. A mask [choices * columns] has 0 for what no structure may use; choices are sites, or candidate segments. For sets of segments it may have 2 for what every structure must use.
        """

    def best(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int = 0, mask: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[float, Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """Return (score, site cells) of the best structure of one sentence."""

class ChainStructure(Structure):
    """A linear chain with one label per site."""

    def __init__(self, labels: int, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class ChoiceStructure(Structure):
    """One column at every site, each chosen for itself."""

    def __init__(self, columns: int) -> None: ...

class SegmentStructure(Structure):
    """Segmentations along the lattices of sentences."""

    def __init__(self, columns: int, lattices: Lattices) -> None: ...

class SpanStructure(Structure):
    """Sets of segments, each chosen for itself."""

    def __init__(self, columns: int, lattices: Lattices) -> None: ...

class SegmentalStructure(Structure):
    """
    Sets of segments: starts that see the furthest end before them, a chain of ends for each.
    """

    def __init__(self, lattices: Lattices) -> None: ...

class TreeStructure(Structure):
    """Sets of segments of which no two cross, as trees."""

    def __init__(self, columns: int, lattices: Lattices, next: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """next[context * columns + column]: the context within such a mention."""

class EdgeStructure(Structure):
    """Mention separators as edges between two nodes per token."""

    def __init__(self) -> None: ...

class HypergraphStructure(Structure):
    """The mention hypergraph of one type."""

    def __init__(self) -> None: ...

class GraphStructure(Structure):
    """A graph for each number of sites."""

    def __init__(self, columns: int, global_cells: int) -> None: ...

    def set(self, sites: int, graph: Graph) -> None: ...

    def has(self, sites: int) -> bool: ...

def weight_table(rows: int, width: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
    """
    Zeros in memory for tables that are read in random order, see memory.hpp.
    """

class Decoder:
    """
    Structures with their weights: from features to best structures and scores.
    """

    def __init__(self, structure: Structure, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], global_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @staticmethod
    def joined(parts: Sequence[tuple[Structure, Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]]) -> Decoder:
        """
        One decoder for several (structure, weights, global weights): features are looked up once.
        """

    @staticmethod
    def over(parts: Sequence[tuple[Structure, Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Decoder:
        """
        One decoder for several (structure, global weights) over a table that it does not copy: the columns of each, padded to its stride, side by side.
        """

    @property
    def size(self) -> int:
        """Number of structures."""

    def set_offsets(self, part: int, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add offsets[k] to the score of column k of one structure at every site, for trees at the rows of segments.
        """

    def best(self, rows: SparseRows, threads: int = 0, structures: Sequence[Structure] = [], masks: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None] = []) -> list[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]]:
        """
        Return (ptr, cells) for each structure: the site cells of each sentence's best choice. Masks, if there are any, are (ptr, values) for each structure, or None; a sentence without values has no mask.
        """

    def scores(self, rows: SparseRows, threads: int = 0, part: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score table [sites * columns] of all sentences, without offsets."""

    def all_scores(self, rows: SparseRows, threads: int = 0) -> list[Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """The score tables of every structure, at the price of one."""

class FlatReading:
    """One label per token; a mention goes on where there is no border."""

    def __init__(self, types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], borders: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class SeparatorReading:
    """One separator per gap, read as nested."""

    def __init__(self, separators: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Trellis:
    """What a chain believes of one sentence, as a Markov chain."""

    def __init__(self, structure: ChainStructure, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def log_z(self) -> float: ...

    @property
    def sites(self) -> int: ...

    def marginals(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def entropy(self) -> float: ...

    def sample(self, n: int, seed: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The columns [n * sites] of paths drawn at random."""

    def k_best(self, k: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        Return the log-probabilities and columns [k * sites] of the best paths.
        """

    def set_probability(self, reading: FlatReading, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """The probability of being read as exactly these mentions."""

    @overload
    def probabilities(self, reading: FlatReading, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @overload
    def probabilities(self, reading: SeparatorReading, starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The probability of each mention."""

    @overload
    def mentions(self, reading: FlatReading, above: float) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    @overload
    def mentions(self, reading: SeparatorReading, above: float) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return start, end, type … of the mentions with at least this probability, and it.
        """

    @overload
    def clamp(self, reading: FlatReading, start: int, end: int, type: int, *, must: bool) -> Trellis: ...

    @overload
    def clamp(self, reading: SeparatorReading, start: int, end: int, type: int, *, must: bool) -> Trellis:
        """
        The paths whose reading holds a mention, or does not; log_z is -inf if there is none.
        """

class MentionReader:
    """
    How mentions are read off the structures of one component, and what is believed of them.
    """

    def probabilities(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], site_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mention_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        The probabilities of given mentions of many sentences; scores are [site * column].
        """

def chain_reader(structure: ChainStructure, transitions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reading: FlatReading | SeparatorReading) -> MentionReader:
    """A chain whose columns are read as mentions."""

def hypergraph_reader() -> MentionReader:
    """
    The mention hypergraph of one type, as a distribution over mention sets.
    """

@overload
def find_segments(decoder: Decoder, structure: SegmentStructure, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: SparseRows, threads: int = 0, *, probabilities: bool = False, above: float = 0.0) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def find_segments(decoder: Decoder, structure: SpanStructure, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: SparseRows, threads: int = 0, *, probabilities: bool = False, above: float = 0.0) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def find_segments(decoder: Decoder, structure: SegmentalStructure, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: SparseRows, threads: int = 0, *, probabilities: bool = False, above: float = 0.0) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

@overload
def find_segments(decoder: Decoder, structure: TreeStructure, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: SparseRows, threads: int = 0, *, probabilities: bool = False, above: float = 0.0) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Return (ptr, places, probabilities) as MentionFinder.find does, for a decoder of one structure over segments; labels has the label of each column, -1 for what is no mention.
    """

@overload
def segment_probabilities(structure: SegmentStructure, global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], site_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mention_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def segment_probabilities(structure: SpanStructure, global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], site_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mention_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def segment_probabilities(structure: SegmentalStructure, global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], site_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mention_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def segment_probabilities(structure: TreeStructure, global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], site_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mention_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The probabilities of given segments with columns, of many sentences."""

@overload
def segment_scores(structure: SegmentStructure, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def segment_scores(structure: SpanStructure, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def segment_scores(structure: SegmentalStructure, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def segment_scores(structure: TreeStructure, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The scores [segments * columns] of the segments of one sentence."""

class MentionFinder:
    """From features to mentions and their probabilities, in one pass."""

    def __init__(self, decoder: Decoder, parts: Sequence[tuple[MentionReader, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]]]) -> None:
        """
        Parts are (reader, the label of each of its types), one for each structure.
        """

    def find(self, rows: SparseRows, threads: int = 0, *, probabilities: bool = False, above: float = 0.0, exclusive: bool = False, flat: bool = False, flat_types: bool = False, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return (ptr, places, probabilities): sentence s has the mentions ptr[s] to ptr[s + 1], each with start, end and label. Those of the best structures; if above is more than 0, every one with that probability; if there are thresholds, one for each label, every one with that of its label. Without above: with exclusive, of those with the same tokens only the most probable one; with flat, of those that share a token; with flat_types, of those of one label that do.
        """

def markov_probabilities(search: MarkovSearch, reading: FlatReading, local: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mention_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Return (probabilities of given mentions, held): held is 0 for sentences that nothing is said of.
    """

def markov_mentions(search: MarkovSearch, reading: FlatReading, local: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], above: float, threads: int = 0) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Return (ptr, places, probabilities, held): every mention with at least a probability, as MentionFinder.find; held is 0 for sentences that nothing is said of.
    """

def markov_best(search: MarkovSearch, reading: FlatReading, local: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], beam: int = 0, threads: int = 0, *, probabilities: bool = False) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Return (ptr, places, probabilities, held) as markov_mentions does, for the best sequences; held is 0 also for sentences without one.
    """

class Objective:
    """
    A smooth function to be minimised. A subclass in Python calls `super().__init__(size)` and has a method `evaluate(x)` that returns (value, gradient); with `single=True`, x and the gradient are float32 there.
    """

    def __init__(self, size: int, *, single: bool = False) -> None: ...

    @property
    def size(self) -> int: ...

    def evaluate(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Return (value, gradient)."""

class CompressedRows:
    """
    Training rows with equal feature columns merged, by row and column. With bundles, columns that come along with others are added up once for all rows that share them.
    """

    def __init__(self, rows: SparseRows, *, merge: bool = True, bundles: bool = True, keys: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, threads: int = 0) -> None:
        """
        keys: one a feature; only features with the same key are merged. The result is the same for any number of threads.
        """

    @property
    def classes(self) -> int:
        """Number of distinct feature columns."""

    @property
    def bundles(self) -> int:
        """Number of bundles of columns."""

    @property
    def entries(self) -> int:
        """
        What is added up to score all rows: classes and bundles of rows, members of bundles.
        """

    @property
    def class_of(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """[features]: the class of each feature."""

class Supervision:
    """
    What is known of each sentence: one structure, soft targets or a mask; and its weight.
    """

    def __init__(self, ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, masks: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Cells of sentence s are cells[ptr[s]:ptr[s + 1]], site cells before global ones. Values are soft targets, one a cell. Masks are (ptr, numbers), see Structure.expectations; a sentence with a mask has no cells.
        """

    def __len__(self) -> int: ...

    @property
    def ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def cells(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    def mask(self, sentence: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))] | None:
        """The mask of a sentence, or None."""

class StructuredLoss:
    """
    The loss of score tables, and its derivatives by score: what an encoder needs.
    """

    def __init__(self, structure: Structure, supervision: Supervision, threads: int = 0) -> None: ...

    def evaluate(self, site_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], global_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return (loss, its derivatives by score, by global score) for scores [sites * columns] of all sentences; sentence s has the sites site_ptr[s] to site_ptr[s + 1].
        """

class Tying:
    """
    How parameters add up to scores: score s is the sum of those of ptr[s] .. ptr[s + 1].
    """

    def __init__(self, ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], params: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """params: numbers below width; values: what each counts, 1 if not given."""

class Likelihood(Objective):
    """Negative log-likelihood of what is known of sentences."""

    @overload
    def __init__(self, rows: CompressedRows, structure: Structure, supervision: Supervision, site_tying: Tying | None = None, global_tying: Tying | None = None, *, observed: bool = False, threads: int = 0) -> None: ...

    @overload
    def __init__(self, rows: SparseRows, structure: Structure, supervision: Supervision, site_tying: Tying | None = None, global_tying: Tying | None = None, *, merge: bool = True, observed: bool = False, threads: int = 0) -> None: ...

    @overload
    def __init__(self, rows: CompressedRows, structure: Structure, gold_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gold_cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], site_tying: Tying | None = None, global_tying: Tying | None = None, *, observed: bool = False, threads: int = 0) -> None: ...

    @overload
    def __init__(self, rows: SparseRows, structure: Structure, gold_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gold_cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], site_tying: Tying | None = None, global_tying: Tying | None = None, *, merge: bool = True, observed: bool = False, threads: int = 0) -> None: ...

    @property
    def classes(self) -> int:
        """Number of distinct feature columns."""

    @property
    def features(self) -> int: ...

    @property
    def convex(self) -> bool:
        """Whether its only minimum is the lowest: all but for masks."""

    @property
    def sparse_classes(self) -> int:
        """Of the classes, how many are kept as cells."""

    def weights(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The score weights of every feature: [features * columns]."""

    def parameters(self, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], global_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        The x nearest to weights [features * parameter columns] and global parameters.
        """

    def pair_weights(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The weights of given or observed pairs, feature after feature."""

    def global_weights(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class LbfgsStep:
    @property
    def value(self) -> float: ...

    @property
    def gradient_norm(self) -> float: ...

    @property
    def x_norm(self) -> float: ...

    @property
    def step_length(self) -> float: ...

    @property
    def evaluations(self) -> int: ...

    @property
    def moved(self) -> bool: ...

    @property
    def lower_bound(self) -> float:
        """Of the minimum of a convex objective; needs l2."""

class Lbfgs:
    """L-BFGS, or OWL-QN when l1 > 0, one iteration a call."""

    def __init__(self, objective: Objective, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: float = 0.0, l2: float = 0.0, memory: int = 6, threads: int = 0, max_evaluations: int = 20) -> None: ...

    @property
    def state(self) -> LbfgsStep: ...

    def iterate(self) -> LbfgsStep: ...

    def x(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A copy of x."""

class Adagrad:
    """Stochastic likelihood with a step for every weight."""

    @overload
    def __init__(self, rows: SparseRows, structure: Structure, supervision: Supervision, l2: float, rate: float, damping: float, seed: int) -> None: ...

    @overload
    def __init__(self, rows: SparseRows, structure: Structure, gold_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gold_cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: float, rate: float, damping: float, seed: int) -> None: ...

    def epoch(self) -> float:
        """
        Visit every sentence once; return the sum of their losses, each before its step.
        """

    def weights(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Return ([features * columns], [global cells])."""

class DualAscent:
    """
    Stochastic dual coordinate ascent on the likelihood of problems over the same rows, with an L2 penalty; with share > 0 their weights have something in common.
    """

    def __init__(self, rows: CompressedRows, structures: Sequence[Structure], supervisions: Sequence[Supervision], l2: float, seed: int, *, share: float = 0.0) -> None: ...

    def round(self) -> float:
        """Make several passes; return a lower bound of the minimum."""

    def pull(self, strength: float, towards: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """From now on minimise with strength * |w - towards|^2 more."""

    @property
    def steps(self) -> int:
        """How many sentences were visited since the beginning."""

    def x(self, problem: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The weights of a problem, as the parameters of Likelihood."""

class Perceptron:
    """Averaged structured perceptron."""

    @overload
    def __init__(self, rows: SparseRows, structure: Structure, supervision: Supervision, seed: int) -> None: ...

    @overload
    def __init__(self, rows: SparseRows, structure: Structure, gold_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gold_cells: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> None: ...

    def epoch(self) -> int:
        """Visit every sentence once; return the number of wrong ones."""

    def averaged(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Return ([features * columns], [global cells])."""

class SharedRows:
    """
    How the parameters of a block's classes follow from shared ones: row own_rows[i] has factors[i] times the shared row rows[i], and derivatives go to row gradient_rows[i].
    """

    def __init__(self, classes: int, own_rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient_rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def evaluate(self, likelihood: Likelihood, x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> float:
        """
        The likelihood at x, shared rows and then global parameters. Adds its derivatives to `gradient`.
        """

def add_rows(rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], other_rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], other_values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
    """
    The sum of two tables that have some rows each, numbers of rows ascending: (rows, values).
    """

class MarkovSearch:
    """Search in a trellis where each label is chosen given those before it."""

    def __init__(self, labels: int, step: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], goes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], may_end: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def labels(self) -> int: ...

    @property
    def states(self) -> int: ...

    def best(self, local: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], beam: int = 0, threads: int = 0) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        Return (log-probability of each sentence's best labels, the labels of all sites); -1 where there are none.
        """

def unicode_version() -> str:
    """Unicode version of the native tables."""

def flag_names() -> list[str]:
    """Names of the orthographic flags."""

class ProgramAtom:
    """
    A view read at a distance from the site, or from the last token of a segment.
    """

    def __init__(self, view: int, offset: int, *, from_last: bool = False) -> None: ...

class ProgramTemplate:
    """What becomes of the values of atoms."""

    def __init__(self, kind: str, atoms: Sequence[ProgramAtom], labels: Sequence[str], *, min_count: int = 1, part: str = 'inside', index: int = 0) -> None:
        """
        The part of a segment that it belongs to and, for left and right, which token of it from 1.
        """

class FeatureProgram:
    """Views and templates, compiled."""

    def __init__(self, columns: int, views: Sequence[tuple[int, Sequence[tuple[str, Sequence[int]]]]], templates: Sequence[ProgramTemplate], resources: Sequence[Sequence[tuple[str, Sequence[str]]]]) -> None: ...

    @property
    def layout(self) -> SegmentLayout:
        """Which rows segments need."""

    def values(self, view: int, text: str) -> list[str]:
        """What a view makes of one string."""

class FeatureRows:
    """A frozen feature table and the loop that fills rows from it."""

    @staticmethod
    def fit(program: FeatureProgram, sites: str, names: Sequence[str], columns: object, own: object | None, threads: int, lattices: Lattices | None = None) -> tuple[FeatureRows, SparseRows]: ...

    @staticmethod
    def from_counts(counts: FeatureCounts, sites: str) -> FeatureRows: ...

    @staticmethod
    def from_state(program: FeatureProgram, sites: str, strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], string_ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], pool_sizes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], template_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> FeatureRows: ...

    def rows(self, names: Sequence[str], columns: object, own: object | None, threads: int, lattices: Lattices | None = None) -> SparseRows: ...

    def keep(self, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> FeatureRows: ...

    def renumbered(self, numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> FeatureRows:
        """The same features, with numbers[f] for f in rows; the table is shared."""

    def numbers_in(self, other: FeatureRows) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        For each feature the number of the one with its name in another table, or 2**32 - 1.
        """

    @property
    def size(self) -> int: ...

    def name(self, id: int) -> str: ...

    def names(self) -> list[str]: ...

    def state(self) -> dict: ...

class FeatureCounts:
    """How often each feature occurs in some sentences, and where first."""

    @staticmethod
    def count(program: FeatureProgram, sites: str, names: Sequence[str], columns: object, own: object | None, threads: int, lattices: Lattices | None = None) -> FeatureCounts: ...

    @staticmethod
    def from_state(program: FeatureProgram, *, rows: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], string_ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], pool_sizes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], key_sizes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_row: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> FeatureCounts: ...

    @staticmethod
    def merge(parts: Sequence[FeatureCounts], threads: int) -> FeatureCounts:
        """The counts of all parts, one after the other."""

    def state(self) -> dict:
        """As arrays by name, for from_state."""

def brown_clusters(tokens: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], line_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: int, clusters: int, progress: object | None = None, threads: int = 0) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], list[str]]:
    """Return (cluster of each word, path of each cluster)."""

def join_tagged_terms(markup: list[str], tagged: list[str], label: Callable[[str], str], *, inner: bool) -> list[list[tuple[str, list[str], list[tuple[int, int]], list[str], list[tuple[str, tuple[tuple[int, int], ...], dict[str, str]]]]] | None]:
    """
    Return for every article its sentences: text, tokens, their ranges, their tags, and terms as (label, parts, attributes); None for an article that is out of the ordinary.
    """

class Restrictions:
    """Which subsets of a sentence do not go together."""

    def __init__(self, *, no_overlap: bool = False, no_embedding: bool = False, no_self_embedding: bool = False) -> None: ...

    @property
    def no_overlap(self) -> bool: ...

    @property
    def no_embedding(self) -> bool: ...

    @property
    def no_self_embedding(self) -> bool: ...

class SkipLattice:
    """All typed subsets of n tokens with gaps up to a bound, as a graph."""

    def __init__(self, types: int, max_gap: int) -> None: ...

    def cells(self, n: int) -> int: ...

    def start(self, n: int, i: int) -> int: ...

    def end(self, n: int, i: int) -> int: ...

    def step(self, n: int, j: int, i: int) -> int: ...

    def graph(self, n: int) -> Graph: ...

    def best(self, n: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, above: float, restrictions: Restrictions = ...) -> list[tuple[float, int, list[int]]]:
        """
        Return (score, type, tokens) of the k best subsets, without those that a better one forbids.
        """

class PairProgram:
    """
    Templates over pairs of tokens; sides are 0 left, 1 right, 2 between, 3 whole.
    """

    def __init__(self, program: FeatureProgram, sides: Sequence[Sequence[int]], *, distance: bool) -> None: ...

def describe_candidates(candidates: Sequence[tuple[float, int, Sequence[int]]], word: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ending: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], outline: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pos: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, tagged: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The numbers of the discontinuous ones of (score, type, tokens), one after the other.
    """

class Rescoring:
    """New scores for discontinuous candidates."""

    def __init__(self, mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], spread: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bias: float, least: float, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def rescore(self, candidates: Sequence[tuple[float, int, Sequence[int]]], word: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ending: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], outline: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pos: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], restrictions: Restrictions, above: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, tagged: bool) -> list[tuple[float, int, list[int], float]]:
        """
        The (score, type, tokens) of a sentence as (score, type, tokens, log-odds), the best first.
        """

def hildreth(gram: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: float, tolerance: float = 1e-09, max_sweeps: int = 10000) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The dual variables of the smallest change d with a_i . d >= b_i; gram[i, j] = a_i . a_j.
    """

def soft_hildreth(gram: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: float, tolerance: float = 1e-09, max_sweeps: int = 10000) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The same for the smallest change with log loss upper * log(1 + exp(b_i - a_i . d)).
    """

def ranking_hildreth(gram: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], right: int, upper: float, tolerance: float = 1e-09, max_sweeps: int = 10000) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The same for the smallest change after which the first ones score 1 more than all others; summed by vector.
    """

class SubsetEpoch:
    @property
    def loss(self) -> float: ...

    @property
    def wrong(self) -> int: ...

    @property
    def scoring(self) -> float: ...

    @property
    def searching(self) -> float: ...

    @property
    def solving(self) -> float: ...

    @property
    def updating(self) -> float: ...

class SubsetLearner:
    """Online learning of subset scores."""

    def __init__(self, rows: SparseRows, names: Sequence[str], columns: object, pairs: PairProgram, types: int, max_gap: int, gold: Sequence[Sequence[tuple[int, Sequence[int]]]], rule: str, limit: float, k: int, restrictions: Restrictions, seed: int) -> None: ...

    def epoch(self) -> SubsetEpoch: ...

    def weights(self, averaged: bool) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], dict, Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """
        Return (token weights, distance weights, state of the pair features, pair weights).
        """

class SubsetFinder:
    """Trained subset scores at work."""

    def __init__(self, pairs: PairProgram, types: int, max_gap: int, tokens: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], string_ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], pool_sizes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], template_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], pair_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def pair_features(self) -> int: ...

    def pair_feature(self, id: int) -> str: ...

    def scores(self, rows: SparseRows, names: Sequence[str], columns: object, sentence: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The scores of a sentence's cells, see SkipLattice."""

    def pair_ids(self, names: Sequence[str], columns: object, sentence: int, j: int, i: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The known features of a pair of tokens."""

    def find(self, rows: SparseRows, names: Sequence[str], columns: object, k: int, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], above: float, restrictions: Restrictions, threads: int) -> list[list[tuple[float, int, list[int]]]]:
        """
        Of each sentence, (score, type, tokens) of its subsets, the best first.
        """

    def find_rescored(self, rows: SparseRows, names: Sequence[str], columns: object, k: int, least: float, rescoring: Rescoring, word: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ending: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], outline: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pos: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], tagged: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], restrictions: Restrictions, above: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> list[list[tuple[float, int, list[int], float]]]:
        """
        Of each sentence, (score, type, tokens, log-odds) of its candidates after rescoring, the best first.
        """

class TokenTrie:
    """Entries of one or more tokens, found in text from left to right."""

    def __init__(self, normalise: Sequence[str]) -> None: ...

    @staticmethod
    def from_state(normalise: Sequence[str], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], tokens: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], kinds: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> TokenTrie: ...

    def add(self, entries: Sequence, kinds: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Add entries, each a list of tokens, with their kinds."""

    @property
    def entries(self) -> int: ...

    def state(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """Return (bytes, ends, parents, tokens, kinds)."""

    def match(self, sentences: Sequence, threads: int = 0) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """Return (ptr, [start, end, kind] one after the other) of all sentences."""

class TokenRules:
    """How texts are cut into tokens."""

    def __init__(self, base: str = 'default', switches: Sequence[str] = [], abbreviations: Sequence[str] = []) -> None: ...

    switch_names: Final[list[str]] = ...
    """(arg: object, /) -> list[str]"""

    def tokenize(self, text: str) -> list[tuple[int, int]]:
        """Return the tokens of a text as half-open ranges of characters."""

    def split_sentences(self, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the sentences of a text, given its tokens by these rules."""

def split_sentences(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    Return the sentences of a text, given its tokens, as half-open ranges of tokens.
    """

class WordTable:
    """Words that another program knows by 64-bit keys."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def unknown(self, words: numpy.typing.NDArray[numpy.uint64]) -> numpy.typing.NDArray[numpy.uint64]:
        """
        The keys that are not known, each once. Words are rows as in TokenizedTexts.of_words.
        """

    def add(self, key: int, word: str, *, blank: bool) -> None:
        """Add a word; blank: whether it is white space, and no token."""

class TokenizedTexts:
    """Documents cut into sentences and tokens, without an object for each."""

    def __init__(self, texts: Sequence[str], threads: int = 0, rules: TokenRules = ...) -> None: ...

    @staticmethod
    def with_tokens(texts: object, ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, threads: int = 0) -> TokenizedTexts:
        """
        Texts whose tokens are known: those of text d are ptr[d] to ptr[d + 1], with half-open ranges of characters; first says where sentences begin, which are found without it.
        """

    @staticmethod
    def of_words(table: WordTable, ptr: numpy.typing.NDArray[numpy.int64], words: numpy.typing.NDArray[numpy.uint64]) -> tuple[TokenizedTexts, numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]:
        """
        Texts made of words of a table, and (ptr, place) of their tokens, which are the words but white space: place is the number of the word within its text. words: [words, 3] of key; whether a blank follows; 1 where a sentence begins, 0 where that is not known.
        """

    @staticmethod
    def of_utf8(data: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int64], threads: int = 0, rules: TokenRules = ...) -> TokenizedTexts:
        """
        Texts that follow each other in UTF-8, as Arrow has them: text d is data[offsets[d]:offsets[d + 1]]. Nothing is copied.
        """

    @property
    def documents(self) -> int: ...

    @property
    def sentences(self) -> int: ...

    @property
    def tokens(self) -> int: ...

    @property
    def sentence_ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """[documents + 1]: the sentences of each document."""

    @property
    def token_ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """[sentences + 1]: the tokens of each sentence."""

    @property
    def start(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """[tokens]: the first character of each token, in its document."""

    @property
    def end(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """[tokens]: one past the last character."""

    def rows(self, features: FeatureRows, threads: int = 0, first: int = 0, last: int | None = None) -> SparseRows:
        """
        The features of sentences first to last, of all without them; they must read words alone.
        """

class TaggedTexts:
    """The mentions of documents, as arrays with one number a mention."""

    @property
    def size(self) -> int: ...

    @property
    def ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """[documents + 1]: the mentions of each document."""

    @property
    def label(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def start(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The first token, in the document."""

    @property
    def end(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """One past the last token."""

    @property
    def start_char(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The first character, in the document."""

    @property
    def end_char(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """One past the last character."""

    @property
    def prob(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their probabilities, if they were asked for."""

    def surfaces(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Return (bytes in UTF-8, offsets): mention m is written as bytes[offsets[m]:offsets[m + 1]].
        """

    def json_pieces(self, labels: Sequence[str], ids: Sequence[str], metas: Sequence[str], *, whole: bool, threads: int = 0) -> list[bytes]:
        """
        One line for each document; an empty id or meta (JSON) is left out. A long line has several pieces.
        """

class TextTagger:
    """Features, and what finds mentions by them: from texts to mentions."""

    def __init__(self, features: FeatureRows, finder: MentionFinder) -> None: ...

    def tag(self, texts: TokenizedTexts, threads: int = 0, *, probabilities: bool = False, above: float = 0.0, exclusive: bool = False, flat: bool = False, flat_types: bool = False, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> TaggedTexts:
        """As MentionFinder.find."""

def jenkins_hash(text: bytes) -> int:
    """Bob Jenkins' lookup3 hash of bytes."""

class ItemSequence:
    """Items with their attributes, read from Python objects once."""

    def __init__(self, items: object) -> None: ...

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def items(self) -> list[dict[str, float]]:
        """The attributes of every item, with their values."""

class AttributeSequences:
    """Sequences of items with numbered attributes."""

    @property
    def groups(self) -> int:
        """Number of sequences."""

    @property
    def items(self) -> int:
        """Number of items of all sequences."""

    @property
    def group_ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def labels(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    def rows(self, width: int) -> SparseRows:
        """The attributes as rows for training."""

class AttributeCorpus:
    """Labelled sequences to be learned from."""

    def __init__(self) -> None: ...

    def append(self, xseq: object, yseq: object, group: int = 0) -> None: ...

    def clear(self) -> None: ...

    @property
    def attributes(self) -> int: ...

    @property
    def labels(self) -> int: ...

    def attribute_names(self) -> list[str]: ...

    def label_names(self) -> list[str]: ...

    @property
    def groups(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def sequences(self) -> AttributeSequences:
        """All of them; they change with the corpus."""

    def select(self, sequences: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> AttributeSequences:
        """Some of the sequences, with their labels."""

class ChainFeatures:
    """Which pairs of attribute and label, and of labels, have a weight."""

    def __init__(self, data: AttributeSequences, attributes: int, labels: int, min_freq: float = 0.0, *, all_states: bool = False, all_transitions: bool = False) -> None: ...

    def __len__(self) -> int: ...

    @property
    def transitions(self) -> int:
        """How many pairs of labels have a weight."""

    @property
    def ptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def labels(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    def label_sets(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        A number for each attribute; attributes with weights for the same labels have the same.
        """

    @property
    def transition_of(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    def best(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: AttributeSequences, threads: int = 0) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The label of every item in the best sequences under these weights."""

def paired_likelihood(rows: CompressedRows, structure: Structure, supervision: Supervision, pairs: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], global_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, threads: int = 0) -> Likelihood:
    """
    A likelihood in which only given pairs (ptr, columns) of feature and column have a weight, and of the global cells those with a number of at least 0.
    """

class OnlineChain:
    """Weights of chain features, learned one sequence after the other."""

    def __init__(self, data: AttributeSequences, features: ChainFeatures, seed: int) -> None: ...

    @property
    def sequences(self) -> int: ...

    def reset(self, variance: float = 1.0) -> None:
        """Forget everything but the order of the sequences."""

    def shuffle(self) -> None:
        """Draw a new order of the sequences."""

    def perceptron(self) -> float: ...

    def passive_aggressive(self, type: int = 1, c: float = 1.0, *, error_sensitive: bool = True) -> float: ...

    def arow(self, gamma: float = 1.0) -> float: ...

    def descend(self, count: int, lambda_: float, t0: float, seen: float = 0.0) -> float: ...

    def loss(self, count: int) -> float: ...

    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def averaged(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class AttributeTagger:
    """A first-order chain over ready attributes at work."""

    def __init__(self, attributes: Sequence[str], labels: Sequence[str], ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transitions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def read(self, sequences: object) -> AttributeSequences:
        """
        Look attributes up, those of each item of each sequence; unknown ones are left out.
        """

    def best(self, data: AttributeSequences, threads: int = 0) -> list[list[str]]: ...

    def marginals(self, data: AttributeSequences, threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """P(label) of every item: [items * labels]."""

    def log_probability(self, data: AttributeSequences, labels: Sequence[str]) -> float:
        """The log-probability of these labels for a single sequence."""
