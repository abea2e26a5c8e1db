"""FeatureExtractor: sentences to sparse rows, by a table of features that training fills and tagging only reads."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from spanloom._native import FeatureCounts as NativeCounts
from spanloom._native import FeatureRows, Lattices, SegmentLayout, SparseRows
from spanloom.base.errors import CorpusError, ModelFileError, NotFittedError, ParameterError
from spanloom.base.model_file import forget
from spanloom.corpus import Sentence
from spanloom.corpus.columns import missing_column
from spanloom.corpus.trees import heads_of
from spanloom.features.compiled import compile_templates
from spanloom.features.counts import FeatureCounts, fingerprint
from spanloom.features.feature_set import FeatureSet
from spanloom.features.groups import group_of
from spanloom.features.state import Arrays, array, pack_resources, setting, unpack_resources

Sites = Literal["tokens", "gaps", "segments", "mentions"]
SITES = ("tokens", "gaps", "segments", "mentions")
STATE_VERSION = 1
NONE = 2**32 - 1
"""What the native core calls no feature."""
ROOT = "<root>"
"""What stands for the head of a token that has none."""


class FeatureExtractor:
    """Turns sentences into features.

    Parameters
    ----------
    features
        What to look at.
    sites
        ``"tokens"``: one row a token. ``"gaps"``: one row before each token and one after the last;
        offset 0 is the token after the gap, offset -1 the one before it. ``"segments"``: the rows of lattices.
        ``"mentions"``: rows of gaps, for templates that name no end of a segment, and the rows of lattices.

    Examples
    --------
    >>> extractor = FeatureExtractor(FeatureSet(["word[-1..0]"]))
    >>> rows = extractor.fit([Sentence(["the", "gene"])])
    >>> extractor.names()
    ['word[-1]=<s>', 'word[0]=the', 'word[-1]=the', 'word[0]=gene']
    >>> rows.row_ptr.tolist(), rows.ids.tolist()
    ([0, 2, 4], [0, 1, 2, 3])
    >>> extractor.transform([Sentence(["a", "gene"])]).ids.tolist()
    [0, 3]
    """

    def __init__(self, features: FeatureSet, sites: Sites = "tokens") -> None:
        if sites not in SITES:
            raise ParameterError(f"sites must be one of {', '.join(SITES)}, got {sites!r}")
        self.features = features
        self.sites = sites
        self._templates = features.of_tokens()
        if not self._templates:
            raise ParameterError("a feature set needs a template that looks at tokens; 'bias' is the smallest")
        self._own = features.uses_own()
        if sites == "mentions" and not any(template.at_tokens for template in self._templates):
            raise ParameterError("this model needs a template that looks at gaps; 'bias' is the smallest")
        if sites in ("tokens", "gaps"):
            for template in self._templates:
                if not template.at_tokens:
                    raise ParameterError(
                        f"template {str(template)!r} speaks of segments, but this model looks at {sites}; "
                        "use it with the models semimarkov, dgm, dgm-s or segmental, or choose other features"
                    )
        self._native_sites: str = "segments" if sites == "mentions" else sites
        self._program, self._columns = compile_templates(
            self._templates, features.resources, features.min_count, at_gaps=sites == "mentions"
        )
        self._rows: FeatureRows | None = None

    @classmethod
    def empty(cls, features: FeatureSet) -> FeatureExtractor:
        """Return one that knows no feature, for a model whose parts have their own; any template may be in the set."""
        made = cls(features, "segments")
        made.fit([], lattices=Lattices.up_to(np.zeros(0, np.int64), 1, made.layout))
        return made

    @property
    def layout(self) -> SegmentLayout:
        """Which rows segments need: tokens counted from the left, from the right, and whether each by itself."""
        return self._program.layout

    def fit(
        self, sentences: Iterable[Sentence], threads: int | None = None, lattices: Lattices | None = None
    ) -> SparseRows:
        """Learn the features of training sentences, and return those sentences' rows.

        Feature ids go by descending frequency, ties by first occurrence. ``threads=None`` uses every core;
        the result is the same for any number of them. Segments need the ``lattices`` of the sentences.
        """
        columns, own = self._read(list(sentences))
        workers = _threads(threads)
        try:
            self._rows, rows = FeatureRows.fit(
                self._program, self._native_sites, self._columns, columns, own, workers, lattices
            )
        except ValueError as error:
            raise CorpusError(str(error)) from None
        return rows

    def count(
        self, sentences: Iterable[Sentence], threads: int | None = None, lattices: Lattices | None = None
    ) -> FeatureCounts:
        """Count the features of a part of the training sentences, for ``fit_counts``."""
        columns, own = self._read(list(sentences))
        workers = _threads(threads)
        try:
            counts = NativeCounts.count(
                self._program, self._native_sites, self._columns, columns, own, workers, lattices
            )
        except ValueError as error:
            raise CorpusError(str(error)) from None
        return FeatureCounts(counts.state(), self._fingerprint)

    def merge(self, parts: Iterable[FeatureCounts], threads: int | None = None) -> FeatureCounts:
        """Return the counts of all parts, given in the order of the corpus: those of ``count`` on all its sentences.

        Parts that follow each other may be merged first, and the results of that again.
        """
        return FeatureCounts(self._merge(parts, threads).state(), self._fingerprint)

    def fit_counts(self, parts: Iterable[FeatureCounts], threads: int | None = None) -> FeatureExtractor:
        """Learn the features of a corpus from the counts of its parts: what ``fit`` learns from the whole, to the byte.

        For a corpus in shards, which different processes may count. Give the parts in corpus order, whichever
        was counted first, since features of equal frequency are numbered by first occurrence. Where the corpus is cut
        into shards makes no difference. ``transform`` then gives the rows of each shard.

        Examples
        --------
        >>> shards = [[Sentence(["the", "gene"])], [Sentence(["a", "gene"])]]
        >>> parts = [FeatureExtractor(FeatureSet(["word"])).count(shard) for shard in shards]
        >>> extractor = FeatureExtractor(FeatureSet(["word"])).fit_counts(parts)
        >>> extractor.names()
        ['word[0]=gene', 'word[0]=the', 'word[0]=a']
        >>> [extractor.transform(shard).ids.tolist() for shard in shards]
        [[1, 0], [2, 0]]
        """
        self._rows = FeatureRows.from_counts(self._merge(parts, threads), self._native_sites)
        return self

    def _merge(self, parts: Iterable[FeatureCounts], threads: int | None) -> NativeCounts:
        native = []
        for number, part in enumerate(parts):
            if part.counted != self._fingerprint:
                raise ParameterError(
                    f"the counts of part {number} are of other features than this extractor has, or of other sites "
                    f"than {self.sites}; count every part with the same feature set and lookup tables"
                )
            try:
                native.append(part.native(self._program))
            except (ValueError, ModelFileError) as error:
                raise CorpusError(f"the counts of part {number} are damaged: {error}") from None
        if not native:
            raise ParameterError("there are no counts to learn features from; pass those of at least one part")
        try:
            return native[0] if len(native) == 1 else NativeCounts.merge(native, _threads(threads))
        except ValueError as error:
            raise CorpusError(str(error)) from None

    @functools.cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.features, self.sites)

    def transform(
        self, sentences: Iterable[Sentence], threads: int | None = None, lattices: Lattices | None = None
    ) -> SparseRows:
        """Return the rows of sentences; words and features that training did not keep are skipped."""
        fitted = self._fitted()
        columns, own = self._read(list(sentences))
        workers = _threads(threads)
        try:
            return fitted.rows(self._columns, columns, own, workers, lattices)
        except ValueError as error:
            raise CorpusError(str(error)) from None

    @property
    def size(self) -> int:
        """Number of features."""
        return self._fitted().size

    def name(self, feature: int) -> str:
        """Return a feature in words, e.g. ``"word[-1]=the & word[0]=gene"``."""
        if not 0 <= feature < self.size:
            raise ParameterError(f"there is no feature {feature}; ids are in 0..{self.size - 1}")
        return self._fitted().name(feature)

    def names(self) -> list[str]:
        """Return the names of all features by id."""
        return self._fitted().names()

    def group(self, feature: int) -> str:
        """Return the group that a feature belongs to by its template, e.g. ``"affixes"``; see ``features.groups``."""
        return self._groups[int(self._template_of[feature])]

    @functools.cached_property
    def _template_of(self) -> npt.NDArray[np.uint32]:
        return np.asarray(self._fitted().state()["template_of"])

    @functools.cached_property
    def _groups(self) -> list[str]:
        return [group_of(template, self.sites) for template in self._templates]

    def keep(self, features: Sequence[int] | npt.NDArray[np.integer[Any]]) -> FeatureExtractor:
        """Return an extractor of these features only, numbered in the order given.

        For a model most of whose weights are zero: ``smaller = extractor.keep(np.flatnonzero(weights.any(axis=1)))``.
        """
        ids = np.asarray(features)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ParameterError(f"features to keep must be a list of ids, got {ids.dtype} of {ids.ndim} dimensions")
        outside = ids[(ids < 0) | (ids >= self.size)]
        if outside.size:
            raise ParameterError(f"there is no feature {outside[0]}; ids are in 0..{self.size - 1}")
        if np.unique(ids).size != ids.size:
            raise ParameterError("a feature to keep is given twice")
        kept = FeatureExtractor(self.features, self.sites)
        kept._rows = self._fitted().keep(np.ascontiguousarray(ids, np.uint32))
        return kept

    def renumbered(self, numbers: npt.NDArray[np.uint32]) -> FeatureExtractor:
        """Return an extractor of the same features whose rows have ``numbers[f]`` for feature ``f``.

        For features that share a row of weights. What is known of features is not copied.
        """
        made = copy(self)
        made._rows = self._fitted().renumbered(numbers)
        forget(numbers)
        return made

    def numbers_in(self, other: FeatureExtractor) -> npt.NDArray[np.int64]:
        """Return for each feature the number of the one with its name in another extractor, -1 if that lacks it.

        Examples
        --------
        >>> one, two = (FeatureExtractor(FeatureSet(["word"])) for _ in range(2))
        >>> _ = one.fit([Sentence(["a", "gene"])]), two.fit([Sentence(["the", "gene"])])
        >>> one.numbers_in(two).tolist()
        [-1, 1]
        """
        if self.sites != other.sites:
            return np.full(self.size, -1, np.int64)
        found = self._fitted().numbers_in(other._fitted()).astype(np.int64)
        return np.where(found == NONE, -1, found)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return arrays and a JSON-able header from which ``from_state`` makes an equal extractor."""
        arrays: Arrays = dict(self._fitted().state())
        resources, resource_names = pack_resources(self.features.resources)
        header = {
            "version": STATE_VERSION,
            "name": self.features.name,
            "templates": list(self.features.templates),
            "min_count": self.features.min_count,
            "sites": self.sites,
            "resources": resource_names,
        }
        return arrays | resources, header

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> FeatureExtractor:
        """Make an extractor from what ``state`` returned.

        Raises
        ------
        ModelFileError
            If anything in it does not fit together.
        """
        version = setting(header, "version", int)
        if version != STATE_VERSION:
            raise ModelFileError(
                f"features have format version {version}; this spanloom reads version {STATE_VERSION}. Update spanloom."
            )
        resources = unpack_resources(arrays, setting(header, "resources", list))
        try:
            features = FeatureSet(
                setting(header, "templates", list),
                name=setting(header, "name", str),
                min_count=setting(header, "min_count", int),
                resources=resources,
            )
            extractor = cls(features, header["sites"])
            read = [array(arrays, name, dtype) for name, dtype in _STORED]
            extractor._rows = FeatureRows.from_state(extractor._program, extractor._native_sites, *read)
            for one in read:
                forget(one)
        except (ValueError, KeyError, OverflowError) as error:
            raise ModelFileError(f"the features of the model are damaged: {error}") from None
        return extractor

    def _fitted(self) -> FeatureRows:
        if self._rows is None:
            raise NotFittedError("this FeatureExtractor has no features yet; call fit with training sentences first")
        return self._rows

    def _read(self, sentences: Sequence[Sentence]) -> tuple[list[list[list[str]]], list[Any] | None]:
        columns = [[s.tokens for s in sentences]]
        for name in self._columns[1:]:
            try:
                if match := _AT_HEAD.fullmatch(name):
                    columns.append([_at_heads(s, match[1], i) for i, s in enumerate(sentences)])
                else:
                    columns.append([s.columns[name] for s in sentences])
            except KeyError:
                raise self._missing(match[1] if match else name, sentences) from None
        own = [s.features for s in sentences] if self._own else None
        if own is not None and sentences and all(features is None for features in own):
            raise CorpusError(
                "the template 'own' asks for features of your own, but no sentence has any; set Sentence.features "
                "to a list of strings or a dict for every token, or choose another feature set"
            )
        return columns, own

    def _missing(self, name: str, sentences: Sequence[Sentence]) -> CorpusError:
        template = next(t for t in self._templates if any(a.view.column == name for a in t.atoms))
        number, sentence = next((i, s) for i, s in enumerate(sentences) if name not in s.columns)
        return missing_column(name, sentence, number, f"template {str(template)!r} reads")


_STORED = (
    ("strings", np.uint8), ("string_ends", np.uint64), ("pool_sizes", np.uint64), ("template_of", np.uint32),
    ("keys", np.uint32),
)  # fmt: skip
_AT_HEAD = re.compile(r"head\((.*)\)")


def _at_heads(sentence: Sentence, column: str, number: int) -> list[str]:
    """Return for every token the value of a column at its head."""
    values = [ROOT, *sentence.column(column)]
    return [values[head] for head in heads_of(sentence, number).tolist()]


def _threads(threads: int | None) -> int:
    if threads is None:
        return 0
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1024:
        raise ParameterError(f"threads must be None or an integer in 1..1024, got {threads!r}")
    return threads
