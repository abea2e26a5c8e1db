"""Fine-tuning: batch by batch, scores to the structures' loss, its gradient by score back into network and features.

Each step depends on the data, the settings, the seed and its number alone, so that a training that was stopped and goes
on comes to the same weights as one that was not.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats, Floats32, below
from spanloom.encoders.batches import batches, portions
from spanloom.encoders.checkpoint import Checkpoint
from spanloom.encoders.network import Network, seeded
from spanloom.encoders.pieces import Numbers, Pieces
from spanloom.encoders.sites import SiteTable
from spanloom.encoders.sparse import SparseWeights
from spanloom.learning import AdamW, Interrupted, Iteration, Listener

FROZEN_EPOCHS = 15
TOLD = 1.0
"""Seconds between two records of progress within an epoch."""
_NUMBER = re.compile(r"\.(\d+)\.")

Loss = Callable[[Numbers, SiteTable, Floats, Floats], tuple[float, Floats, Floats]]
"""Of sentences, their sites, scores ``[site, column]`` and those of global cells: the loss, and its derivatives."""


@dataclass(frozen=True, slots=True)
class TuningProblem:
    """What to learn from: sentences as pieces, their sites and their loss, and features if there are any."""

    sentences: Sequence[Sequence[str]]
    sites: Callable[[Numbers], SiteTable]
    loss: Loss
    sparse: SparseWeights | None


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned: arrays of the network and its map; ``[feature, column]`` or None."""

    arrays: dict[str, npt.NDArray[Any]]
    table: Floats32 | None


class FineTuning:
    """One training.

    Parameters
    ----------
    network
        Learns.
    problem
        From this.
    trainer
        So.
    seed, threads
        As in ``Recognizer``.
    """

    def __init__(
        self, network: Network, problem: TuningProblem, trainer: AdamW, seed: int, threads: int | None
    ) -> None:
        self.network, self.problem, self.trainer, self.seed, self.threads = network, problem, trainer, seed, threads
        self.tuned = network.settings.tune
        self.epochs = trainer.max_iter or (trainer.usual if self.tuned else FROZEN_EPOCHS)
        self.pieces: Pieces = network.tokenizer.cut(problem.sentences)
        self.step = 0
        self.summed = 0.0  # the losses of the epoch so far
        self.seconds = 0.0
        self.history: list[Iteration] = []
        self.best: Learned | None = None
        self.best_f1, self.waited = -1.0, 0
        self._vectors: Floats32 | None = None
        for name, one in network.parameters().items():
            one.requires_grad_(self.tuned or name.startswith("head."))
        self._learning = {name: one for name, one in network.parameters().items() if one.requires_grad}
        self._base = self._rates()
        self.optimiser = self._optimiser()
        self.per_epoch = len(self._batches(0))
        self.steps_in_all = self.per_epoch * self.epochs

    def _batches(self, epoch: int) -> list[Numbers]:
        return batches(self.pieces.sizes, self.trainer.batch, self.seed, epoch)

    def _rates(self) -> dict[str, float]:
        """The learning rate of each parameter: that of its layer."""
        trainer = self.trainer
        depth = {name: _depth(name) for name in self._learning if name.startswith("network.")}
        top = max((one for one in depth.values() if one is not None), default=0)
        rates = {}
        for name in self._learning:
            if name.startswith("head."):
                rates[name] = trainer.head_rate
                continue
            below = 0 if "embed" in name else top if depth[name] is None else depth[name]
            rates[name] = trainer.rate * trainer.layer_decay ** (top - (below or 0))
        return rates

    def _optimiser(self) -> Any:
        trainer = self.trainer
        kinds: dict[tuple[float, float], list[Any]] = {}
        for name, one in self._learning.items():
            decay = trainer.weight_decay if one.ndim > 1 and "embed" not in name and name != "head.edges" else 0.0
            kinds.setdefault((self._base[name], decay), []).append(one)
        groups = [
            {"params": some, "lr": rate, "base": rate, "weight_decay": decay} for (rate, decay), some in kinds.items()
        ]
        return self.network.torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-8, fused=True)

    # A step

    def gradients(self, batch: Numbers, *, dropout: bool = True) -> tuple[float, tuple[Numbers, Floats32] | None]:
        """Leave the gradient of the mean loss of a batch in the parameters; return the sum of losses, and the gradient
        by the weights of features: their numbers, and rows."""
        network, sparse = self.network, self.problem.sparse
        torch = network.torch
        network.module.train(dropout and self.tuned)
        network.head.train(dropout)
        self.optimiser.zero_grad(set_to_none=True)
        total, found = 0.0, []
        parts = portions(batch, self.pieces.sizes, self.trainer.accumulate, self.trainer.at_once)
        for number, part in enumerate(parts):
            with seeded(self.seed, self.step, number):
                vectors = self._read(part)
                table = self.problem.sites(part)
                dense = network.scores(vectors, table)
            scores = dense.detach().double().numpy()
            own = None if sparse is None else sparse.part(part)
            used = self._with_features(table, number) if dropout else 1.0
            if sparse is not None and own is not None:
                scores += used * sparse.scores(own)
            cells = network.head.global_cells
            value, by_score, by_global = self.problem.loss(part, table, scores, cells.detach().double().numpy())
            mean = by_score / len(batch)
            dense.backward(torch.from_numpy(mean).to(dense.dtype))
            change = torch.from_numpy(by_global / len(batch)).to(cells.dtype)
            cells.grad = change if cells.grad is None else cells.grad + change
            if sparse is not None and own is not None:
                found.append((own.features, sparse.gradient(own, (used * mean).astype(np.float32))))
            total += value
        network.module.eval()
        network.head.eval()
        return total, _added(found)

    def _with_features(self, table: SiteTable, number: int) -> Floats32:
        """By site of a part: 1 if its sentence is learned from with its features, 0 if without."""
        random = np.random.default_rng([self.seed, self.step, number])
        kept = random.random(len(table.ptr) - 1) >= self.trainer.feature_dropout
        return np.repeat(kept.astype(np.float32), np.diff(table.ptr))[:, None]

    def _read(self, batch: Numbers) -> Any:
        """The vectors of the words of a batch, which are kept where the network does not learn."""
        if self.tuned:
            return self.network.vectors(self.network.filled(self.pieces, batch))
        if self._vectors is None:
            self._vectors = self.network.read(self.problem.sentences, self.threads)
        ptr = self.pieces.sentence_ptr
        rows = np.concatenate([np.arange(ptr[s], ptr[s + 1]) for s in batch])
        return self.network.torch.from_numpy(self._vectors[rows])

    def advance(self, batch: Numbers) -> float:
        """Make one step; return the sum of losses before it."""
        total, found = self.gradients(batch)
        factor = self.trainer.factor(self.step, self.steps_in_all)
        torch = self.network.torch
        if self.trainer.clip:
            torch.nn.utils.clip_grad_norm_(list(self._learning.values()), self.trainer.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = group["base"] * factor
        self.optimiser.step()
        if found is not None and self.problem.sparse is not None:
            self.problem.sparse.step(*found, factor)
        self.step += 1
        return total

    # All of them

    def train(
        self,
        dev_f1: Callable[[Learned], float] | None,
        listener: Listener | None,
        save: Callable[[Checkpoint], None] | None,
    ) -> tuple[Learned, list[Iteration]]:
        """Train to the end, or until ``trainer.patience`` is over; return what was learned, and each epoch's record.

        ``Interrupted`` if the user stops it after the first epoch.
        """
        patience = self.trainer.patience if dev_f1 is not None else None
        try:
            while self.step < self.steps_in_all and (patience is None or self.waited < patience):
                record = self._epoch(listener, save)
                if dev_f1 is not None:
                    learned = self.learned()
                    record = replace(record, dev_f1=dev_f1(learned))
                    if patience is not None and (record.dev_f1 or 0.0) > self.best_f1:
                        self.best, self.best_f1, self.waited = learned, record.dev_f1 or 0.0, 0
                    else:
                        self.waited += 1
                self.history.append(record)
                if save is not None:
                    save(self.checkpoint())
                if listener is not None:
                    listener(record)
        except KeyboardInterrupt:
            if not self.history:
                raise
            raise Interrupted(self.best or self.learned(), self.history) from None
        return self.best or self.learned(), self.history

    def _epoch(self, listener: Listener | None, save: Callable[[Checkpoint], None] | None) -> Iteration:
        """Go on to the end of the epoch."""
        start = time.perf_counter() - self.seconds
        saved = told = time.perf_counter()
        epoch, within = divmod(self.step, self.per_epoch)
        try:
            with self.network.at_work(self.threads):
                for batch in self._batches(epoch)[within:]:
                    self.summed += self.advance(batch)
                    now = time.perf_counter()
                    self.seconds = now - start
                    if listener is not None and now - told > TOLD and self.step % self.per_epoch:
                        told = now
                        listener(self._record(epoch))
                    if save is not None and now - saved > 60 * self.trainer.save_every:
                        save(self.checkpoint())
                        saved = time.perf_counter()
        except KeyboardInterrupt:
            if save is not None and self.step % self.per_epoch:
                save(self.checkpoint())
            raise
        record = self._record(epoch)
        self.summed = 0.0
        return record

    def _record(self, epoch: int) -> Iteration:
        done = self.step - epoch * self.per_epoch
        part = "" if done == self.per_epoch else f"epoch {epoch + 1} of {self.epochs}"
        share = self.step / self.steps_in_all
        mean = self.summed * self.per_epoch / max(done, 1)
        return Iteration(epoch + 1, 0, mean, 0.0, 0.0, 1, self.seconds, part=part, share=share)

    def learned(self) -> Learned:
        """Return copies of what is learned so far."""
        sparse = self.problem.sparse
        return Learned(self.network.arrays(), None if sparse is None else sparse.table.copy())

    def checkpoint(self) -> Checkpoint:
        """Return everything that the next step depends on."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, one in self._learning.items():
            arrays[f"weights.{name}"] = one.detach().numpy()
            for kind, value in self.optimiser.state.get(one, {}).items():
                arrays[f"{kind}.{name}"] = value.numpy()
        if self.problem.sparse is not None:
            arrays |= {"sparse.table": self.problem.sparse.table, "sparse.squares": self.problem.sparse.squares}
        if self.best is not None:
            arrays |= {f"best.{name}": one for name, one in self.best.arrays.items()}
            arrays |= {} if self.best.table is None else {"best table": self.best.table}
        own = ("step", "summed", "seconds", "best_f1", "waited")
        return Checkpoint(
            arrays, {name: getattr(self, name) for name in own} | {"history": [asdict(one) for one in self.history]}
        )

    def resume(self, found: Checkpoint) -> None:
        """Go on where a training was."""
        torch, values = self.network.torch, dict(found.values)
        arrays = {name: np.array(one) for name, one in found.arrays.items()}
        self.history = [Iteration(**one) for one in values.pop("history")]
        for name, value in values.items():
            setattr(self, name, value)
        with torch.no_grad():
            for name, one in self._learning.items():
                one.copy_(torch.from_numpy(arrays[f"weights.{name}"]))
                state = {kind: arrays.get(f"{kind}.{name}") for kind in ("step", "exp_avg", "exp_avg_sq")}
                if all(value is not None for value in state.values()):
                    self.optimiser.state[one] = {kind: torch.from_numpy(value) for kind, value in state.items()}
        if self.problem.sparse is not None:
            self.problem.sparse.table[:] = arrays["sparse.table"]
            self.problem.sparse.squares[:] = arrays["sparse.squares"]
        best = below(arrays, "best.")
        self.best = Learned(best, arrays.get("best table")) if best else None


def _depth(name: str) -> int | None:
    """The layer of a parameter, from 1; None for those of none."""
    found = _NUMBER.search(name)
    return None if found is None else int(found[1]) + 1


def _added(found: Sequence[tuple[Numbers, Floats32]]) -> tuple[Numbers, Floats32] | None:
    """Sum the gradients of parts by feature."""
    if len(found) < 2:
        return found[0] if found else None
    features, local = np.unique(np.concatenate([ids for ids, _ in found]), return_inverse=True)
    rows = np.zeros((len(features), found[0][1].shape[1]), np.float32)
    np.add.at(rows, local.reshape(-1), np.concatenate([values for _, values in found]))
    return features, rows
