"""The network with its map to scores: vectors of tokens, scores of sites, arrays for a file.

    h[site] = gelu(A v[left] + B v[right] + L[length]),   score[site, column] = h[site] · w[:, column]

``v`` are the vectors of the encoder's layer, one for each word, and two of their own for what is before and after a
sentence. A gap has the words on both sides, a segment its first and last word and its length, a token itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats32
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.extras import need
from spanloom.encoders.folder import make_network, open_folder
from spanloom.encoders.pieces import Numbers, Pieces, PieceTokenizer
from spanloom.encoders.settings import Encoder
from spanloom.encoders.sites import SPAN, TOKEN, SiteTable
from spanloom.encoders.windows import Filled, fill, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 512
"""Pieces that are read at once, if the settings leave it open and the network takes as many."""
READ = 1 << 13
"""Pieces of a batch when tagging."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the map to scores looks like: kinds of sites, columns of all components, lengths that are told apart."""

    kinds: tuple[str, ...]
    columns: int
    global_cells: int
    lengths: int

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "kinds": list(self.kinds), "columns": self.columns, "global_cells": self.global_cells,
            "lengths": self.lengths,
        }  # fmt: skip

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Shape:
        """Undo ``to_json``."""
        numbers = (int(stored[name]) for name in ("columns", "global_cells", "lengths"))
        return cls(tuple(map(str, stored["kinds"])), *numbers)


class Network:
    """A network at work.

    Parameters
    ----------
    settings
        What it was made by.
    shape
        Of the map to scores.
    module
        The network of the transformers library.
    config
        Its configuration.
    tokenizer
        Of its pieces.
    """

    def __init__(
        self, settings: Encoder, shape: Shape, module: Any, config: dict[str, Any], tokenizer: PieceTokenizer
    ) -> None:
        self.settings, self.shape, self.config, self.tokenizer = settings, shape, config, tokenizer
        self.torch = need("torch", "encoder")
        self.module = module.eval()
        self.width = int(_setting(module.config, "hidden_size", "d_model", "dim"))
        self.head = self._make_head()
        special = len(tokenizer.before) + len(tokenizer.after)
        takes = _positions(module.config)
        self.window = settings.window or min(MOST, takes) - special
        if self.window + special > takes:
            raise ParameterError(
                f"window={self.window} pieces and {special} special ones are more than the {takes} that the network "
                "takes at once"
            )
        self.context = self.window // 4 if settings.context is None else settings.context
        if 2 * self.context >= self.window:
            raise ParameterError(
                f"context={self.context} pieces on both sides leave nothing of a window of {self.window}"
            )

    @classmethod
    def from_folder(cls, settings: Encoder, shape: Shape, seed: int) -> Network:
        """Read the folder of the settings; the map to scores starts by the seed."""
        opened = open_folder(settings)
        with seeded(seed):
            return cls(settings, shape, opened.network, opened.config, PieceTokenizer(opened.tokenizer))

    def _make_head(self) -> Any:
        nn = self.torch.nn
        wide = self.settings.hidden or self.shape.columns
        parts: dict[str, Any] = {}
        for kind in self.shape.kinds:
            parts[f"{kind}_left"] = nn.Linear(self.width, wide)
            if kind != TOKEN:
                parts[f"{kind}_right"] = nn.Linear(self.width, wide, bias=False)
            if kind == SPAN:
                parts["span_length"] = nn.Embedding(self.shape.lengths, wide)
                nn.init.zeros_(parts["span_length"].weight)
            if self.settings.hidden:
                parts[f"{kind}_scores"] = nn.Linear(wide, self.shape.columns)
                nn.init.zeros_(parts[f"{kind}_scores"].bias)
        head = nn.ModuleDict(parts)
        head.register_parameter("edges", nn.Parameter(self.torch.zeros(2, self.width)))
        head.register_parameter("global_cells", nn.Parameter(self.torch.zeros(self.shape.global_cells)))
        return head.eval()

    # From words to scores

    def filled(self, pieces: Pieces, sentences: Sequence[int] | Numbers) -> Filled:
        """Return the windows of sentences as one table."""
        windows = plan(pieces, sentences, self.window, self.context)
        before, after, pad = self.tokenizer.before, self.tokenizer.after, self.tokenizer.pad
        return fill(pieces, sentences, windows, before, after, pad, self.settings.pool == "mean")

    def vectors(self, filled: Filled) -> Any:
        """Return the vectors of words ``[word, dimension]``, a tensor."""
        torch = self.torch
        if not filled.words:
            return torch.zeros(0, self.width)
        ids, seen = torch.from_numpy(filled.ids), torch.from_numpy(filled.seen)
        out = self.module(input_ids=ids, attention_mask=seen).last_hidden_state.reshape(-1, self.width)
        own = out.index_select(0, torch.from_numpy(filled.at))
        if self.settings.pool == "first":
            return own
        words = torch.from_numpy(filled.word)
        sums = own.new_zeros(filled.words, self.width).index_add(0, words, own)
        counts = torch.from_numpy(np.bincount(filled.word, minlength=filled.words).astype(np.float32))
        return sums / counts[:, None]

    def scores(self, vectors: Any, table: SiteTable) -> Any:
        """Return the scores of sites ``[site, column]``, a tensor."""
        torch, head, hidden = self.torch, self.head, self.settings.hidden
        dropped = torch.nn.functional.dropout(vectors, self.settings.dropout, training=head.training)
        rows = torch.cat([head.edges, dropped])
        parts = []
        for group in table.groups:
            kind = group.kind
            left, right = torch.from_numpy(group.left), torch.from_numpy(group.right)
            # The map of each token once, not once for each site that looks at it.
            made = head[f"{kind}_left"](rows).index_select(0, left)
            if kind != TOKEN:
                made = made + head[f"{kind}_right"](rows).index_select(0, right)
            if kind == SPAN:
                made = made + head["span_length"](torch.from_numpy(group.length).clamp(max=self.shape.lengths - 1))
            if hidden:
                made = torch.nn.functional.dropout(
                    torch.nn.functional.gelu(made), self.settings.dropout, training=head.training
                )
                made = head[f"{kind}_scores"](made)
            parts.append(made)
        total = int(table.ptr[-1])
        if len(parts) == 1 and len(table.groups[0].rows) == total:
            return parts[0]
        places = torch.from_numpy(np.concatenate([group.rows for group in table.groups]))
        return parts[0].new_zeros(total, self.shape.columns).index_add(0, places, torch.cat(parts))

    def read(self, sentences: Sequence[Sequence[str]], threads: int | None = None) -> Floats32:
        """Return the vectors of the words of sentences ``[word, dimension]``; sentences of like lengths together."""
        pieces = self.tokenizer.cut(sentences)
        made = np.zeros((int(pieces.sentence_ptr[-1]), self.width), np.float32)
        with self.at_work(threads), self.torch.inference_mode():
            for batch in by_length(pieces.sizes, READ):
                found = self.vectors(self.filled(pieces, batch)).numpy()
                counts = pieces.sentence_ptr[batch + 1] - pieces.sentence_ptr[batch]
                shift = np.repeat(pieces.sentence_ptr[batch] - (np.cumsum(counts) - counts), counts)
                made[shift + np.arange(len(found))] = found
        return made

    def score(self, sentences: Sequence[Sequence[str]], table: SiteTable, threads: int | None = None) -> Floats32:
        """Return the scores of the sites of sentences ``[site, column]``, without dropout."""
        vectors = self.torch.from_numpy(self.read(sentences, threads))
        with self.at_work(threads), self.torch.inference_mode():
            return np.ascontiguousarray(self.scores(vectors, table).numpy())

    @contextmanager
    def at_work(self, threads: int | None) -> Iterator[None]:
        """Use so many threads meanwhile; None: as many as torch takes."""
        before = self.torch.get_num_threads()
        if threads:
            self.torch.set_num_threads(threads)
        try:
            yield
        finally:
            self.torch.set_num_threads(before)

    # Keeping

    def parameters(self) -> dict[str, Any]:
        """Return everything that can be learned by name: ``network.…`` and ``head.…``."""
        own = {f"network.{name}": one for name, one in self.module.named_parameters()}
        return own | {f"head.{name}": one for name, one in self.head.named_parameters()}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of everything that was learned, by name."""
        return {name: one.detach().numpy().astype(np.float32, copy=True) for name, one in self.parameters().items()}

    def fill_in(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take what ``arrays`` returned; ``ModelFileError`` if it does not fit."""
        own = self.parameters()
        if own.keys() != arrays.keys():
            odd = sorted(own.keys() ^ arrays.keys())
            raise ModelFileError(f"the weights of the encoder do not fit its configuration: {', '.join(odd[:3])}")
        with self.torch.no_grad():
            for name, one in own.items():
                if tuple(one.shape) != arrays[name].shape:
                    raise ModelFileError(f"the weights {name!r} have the shape {arrays[name].shape}")
                one.copy_(self.torch.from_numpy(np.array(arrays[name], np.float32)))

    @classmethod
    def from_arrays(
        cls, settings: Encoder, shape: Shape, config: dict[str, Any], tokenizer: str, arrays: Mapping[str, Any]
    ) -> Network:
        """Make a network of what a file holds; the folder that it once came from is not needed."""
        with seeded(0):
            made = cls(settings, shape, make_network(config), config, PieceTokenizer(tokenizer))
        made.fill_in(arrays)
        return made


def by_length(sizes: Numbers, most: int) -> Iterator[Numbers]:
    """Yield the numbers of sentences in batches of about ``most`` pieces, each of like lengths."""
    order = np.argsort(sizes, kind="stable")
    start, widest = 0, 0
    for i, number in enumerate(order.tolist()):
        widest = max(widest, int(sizes[number]))
        if i > start and widest * (i + 1 - start) > most:
            yield np.sort(order[start:i])
            start, widest = i, int(sizes[number])
    if start < len(order):
        yield np.sort(order[start:])


@contextmanager
def seeded(*seed: int) -> Iterator[None]:
    """Let torch draw from a seed meanwhile, and go on as before."""
    torch = need("torch", "encoder")
    state = torch.get_rng_state()
    torch.manual_seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) >> 1)
    try:
        yield
    finally:
        torch.set_rng_state(state)


def _setting(config: Any, *names: str) -> Any:
    for name in names:
        if getattr(config, name, None) is not None:
            return getattr(config, name)
    raise ParameterError(f"the configuration of the encoder has none of {', '.join(names)}")


def _positions(config: Any) -> int:
    """How many pieces a network takes at once; those after RoBERTa count from behind the padding's number."""
    most = getattr(config, "max_position_embeddings", None)
    if not isinstance(most, int) or most <= 0:
        return MOST
    shifted = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "roberta-prelayernorm", "mpnet", "longformer")
    return most - (int(config.pad_token_id or 0) + 1 if config.model_type in shifted else 0)
