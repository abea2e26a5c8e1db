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
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import ChainStructure
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention
from spanloom.models.base import Cells, Component, Model, Shapes
from spanloom.schemes import Representations, Segments, first_misfit
from spanloom.schemes.biohd import BIOHD, Biohd, lost
from spanloom.schemes.flat import ORDERS
from spanloom.schemes.maps import Tied
from spanloom.schemes.partial import Mask, allowed_labels


class ChainComponent(Component):
    """A trellis over the labels of one representation, whose weights may be sums over further ones."""

    def __init__(self, segments: Segments | Biohd, constrained: bool, others: Sequence[str] = ()) -> None:
        self.segments = segments
        self.representations = None if isinstance(segments, Biohd) else Representations(segments.scheme, tuple(others))
        self.columns = segments.labels
        self.types = segments.types
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

    def decode_all(self, cells: Cells, ptr: npt.NDArray[np.int64], shapes: Shapes) -> list[list[Mention]]:
        return self.segments.decode_all(cells % len(self.columns), ptr)

    def starts(self) -> list[str | None]:
        return self.segments.starts()

    def global_names(self) -> list[str]:
        return [f"{a} → {b}" for a in self.columns for b in self.columns]


def merged(mentions: Sequence[Mention]) -> list[Mention]:
    """Return mentions that follow one of their own label at once: without marks of borders they are read as one.

    Examples
    --------
    >>> [m.parts for m in merged([Mention("a", ((0, 1),)), Mention("a", ((1, 3),)), Mention("b", ((3, 4),))])]
    [((0, 1),), ((1, 3),)]
    """
    starts = {(m.label, m.start) for m in mentions}
    ends = {(m.label, m.end) for m in mentions}
    return [m for m in mentions if (m.label, m.end) in starts or (m.label, m.start) in ends]


class Chain(Model):
    """One chain over the labels of all types.

    Parameters
    ----------
    scheme
        The segment representation, see ``spanloom.corpus.tags``; or several, see ``schemes.Representations``; or
        ``BIOHD``, which holds some broken mentions too, see ``schemes.biohd``.
    constrained
        Whether only legal label sequences get probability, in training and decoding. ``False`` is what CRFsuite does.
    """

    name = "chain"
    sites = "tokens"
    holds = "contiguous mentions that do not overlap"
    flat = True

    def __init__(self, scheme: str | Sequence[str] = "IOBES", constrained: bool = True) -> None:
        self.representations = None if scheme == BIOHD else Representations.parse(scheme)
        if self.representations is None:
            self.holds = "mentions that do not overlap, and broken ones that BIOHD can tell apart"
        self.scheme = BIOHD if self.representations is None else self.representations.main
        self.constrained = constrained

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return merged(mentions) if self.scheme == "IO" else []

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        if self.representations is None:
            self.components = [ChainComponent(Biohd.learn(sentences), self.constrained)]
        else:
            segments = Segments.learn(self.scheme, sentences)
            self.components = [ChainComponent(segments, self.constrained, self.representations.others)]

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        if self.representations is not None:
            return first_misfit(mentions)
        gone = lost(mentions)
        return (mentions.index(gone[0]), f"does not come back from its {BIOHD} labels") if gone else None

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        if self.representations is not None:
            return super().reduce(mentions, keep)
        kept: list[Mention] = []
        for mention in sorted(mentions, key=ORDERS[keep]):
            if not lost(sorted([*kept, mention])):
                kept.append(mention)
        return sorted(kept), sorted(set(mentions) - set(kept))

    def header(self) -> dict[str, Any]:
        return {"scheme": self.scheme, "constrained": self.constrained, "labels": list(self.components[0].columns)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Chain:
        try:
            model = cls(header["scheme"], bool(header["constrained"]))
            labels = [str(label) for label in header["labels"]]
            segments = Biohd(labels) if model.scheme == BIOHD else Segments(model.scheme, labels)
            model.components = [ChainComponent(segments, model.constrained)]
        except (KeyError, TypeError, ParameterError) as error:
            raise ModelFileError(f"the labels of the chain are damaged: {error}") from None
        return model
