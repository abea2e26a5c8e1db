"""Linear-chain conditional random field (Lafferty, McCallum & Pereira 2001): one label per token.

    score(y) = Σ_t w[y_t] · f(t) + Σ_t transition[y_{t-1}, y_t]

Sites are tokens, columns the labels of a segment representation, the graph a trellis in which illegal neighbours
(``O`` then ``I-protein``) do not exist. Holds flat, contiguous mentions. Training and decoding cost O(n L²).

With several representations (Cho et al. 2013), weights of coarser labels are learned too, through the maps g_l from the
main representation to them:

    w[y] = Σ_l w_l[g_l(y)],   transition[y, z] = Σ_l transition_l[g_l(y), g_l(z)]

A rare fine label leans on what is known of its coarser ones. What training returns are the sums: the trained model is
one of the main representation, with its size and speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom._native import ChainStructure
from spanloom._native import Trellis as NativeTrellis
from spanloom.base.arrays import Cells, Floats, Pointers, Tied
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention
from spanloom.inference import Distribution, Enumeration, ReadChain, segment_reading
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes, pair_names
from spanloom.models.structured import StructuredModel
from spanloom.schemes import Representations, Segments
from spanloom.schemes.labelling import Labelling, Labels, labelling
from spanloom.schemes.partial import Mask, allowed_labels
from spanloom.schemes.words import TOKEN


class ChainComponent(Component):
    """A trellis over the labels of one representation, whose weights may be sums over further ones."""

    def __init__(self, segments: Labels, constrained: bool, representations: Representations | None = None) -> None:
        self.segments = segments
        self.representations = representations
        self.columns = segments.labels
        self.types = segments.types
        # No dynamic program follows the mentions of BIOHD, which are read off the whole sentence.
        self._reading = segment_reading(segments, unique=constrained) if isinstance(segments, Segments) else None
        self.exact = self._reading is not None
        n = len(self.columns)
        legal = np.ones((n, n), np.uint8)
        start, end = np.ones(n, np.uint8), np.ones(n, np.uint8)
        if constrained:
            legal[:] = [[segments.allowed(a, b) for b in range(n)] for a in range(n)]
            start[:] = [segments.may_start(a) for a in range(n)]
            end[:] = [segments.may_end(a) for a in range(n)]
        self._structure = ChainStructure(n, legal.ravel(), start, end)

    @property
    def structure(self) -> ChainStructure:
        return self._structure

    def tying(self) -> tuple[Tied | None, Tied | None]:
        tying = None if self.representations is None else self.representations.tie(self.columns)
        return (None, None) if tying is None else (tying.sites, tying.globals)

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        labels = self.segments.encode(mentions, n)
        size = len(self.columns)
        sites = np.arange(n, dtype=np.int32) * np.int32(size) + labels
        pairs = np.int32(n * size) + labels[:-1] * np.int32(size) + labels[1:]
        return np.concatenate([sites, pairs])

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        return allowed_labels(self.segments, mentions, known, n)

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        return self.segments.decode(cells % len(self.columns))

    def decode_all(self, cells: Cells, ptr: Pointers, shapes: Shapes) -> list[list[Mention]]:
        return self.segments.decode_all(cells % len(self.columns), ptr)

    def chain(self, global_scores: Floats) -> ReadChain | None:
        return None if self._reading is None else ReadChain(self._structure, global_scores, self._reading)

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Distribution:
        chain = self.chain(global_scores)
        if chain is not None:
            return chain.trellis(scores)
        native = NativeTrellis(self.structure, scores, global_scores)
        return Enumeration.of(native, self.columns, self.segments.decode, self.types)

    def starts(self) -> list[str | None]:
        return self.segments.starts()

    def words(self, column: int, left: str = "", right: str = "") -> str:
        return self.segments.words(column, left or TOKEN)

    def global_names(self) -> list[str]:
        return pair_names(self.columns)


@dataclass(frozen=True)
class Chain(StructuredModel):
    """One chain over the labels of all types.

    Parameters
    ----------
    scheme
        The segment representation: IO, IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BI, IE, BIES, BIS, BB2IES or BB2B3IES;
        several at once: ``"BIES+"`` for all that it maps to, or a list, the finest first: ``["BIES", "IO"]``; or
        ``BIOHD``, which holds some discontinuous mentions too, see ``schemes.biohd``.
    constrained
        Whether only legal label sequences get probability, in training and decoding. ``False`` is what CRFsuite does.
    """

    scheme: str | Sequence[str] = "IOBES"
    constrained: bool = True

    name = "chain"
    flat = True

    def check(self) -> None:
        labelling(self.scheme)

    @property
    def labelling(self) -> Labelling:
        """How mentions become labels."""
        return labelling(self.scheme)

    @property
    def holds(self) -> str:
        return self.labelling.holds

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return self.labelling.misfit(mentions)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return self.labelling.reduce(mentions, keep)

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return self.labelling.misread(mentions)

    def components(self, gold: Mentions, lengths: Sequence[int]) -> list[Component]:
        own = self.labelling
        labels = own.learn(list(zip(gold, lengths, strict=True)))
        return [ChainComponent(labels, self.constrained, own.representations)]

    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        name = self.labelling.name
        return {"scheme": name, "constrained": self.constrained, "labels": list(components[0].columns)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Chain, list[Component]]:
        try:
            model = cls(header["scheme"], bool(header["constrained"]))
            labels = model.labelling.of([str(label) for label in header["labels"]])
            return model, [ChainComponent(labels, model.constrained)]
        except (KeyError, TypeError, ParameterError) as error:
            raise ModelFileError(f"the labels of the chain are damaged: {error}") from None
