"""Training that was stopped goes on where it was: everything that a step depends on, in one file that runs nothing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.base.model_file import load_arrays, save_arrays

KIND = "checkpoint"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a training is: arrays by name, and plain values."""

    arrays: Mapping[str, npt.NDArray[Any]]
    values: Mapping[str, Any]

    def save(self, path: str | os.PathLike[str], identity: Mapping[str, str]) -> None:
        """Write it, whole or not at all."""
        save_arrays(path, dict(self.arrays), {"kind": KIND, "identity": dict(identity), "values": dict(self.values)})


def open_checkpoint(path: str | os.PathLike[str], identity: Mapping[str, str]) -> Checkpoint | None:
    """Return the checkpoint of a file; None if there is none.

    ``ParameterError`` if it is of another training: other data, settings or weights.
    """
    if not os.path.exists(path):
        return None
    arrays, header = load_arrays(path)
    if header.get("kind") != KIND:
        raise ParameterError(f"{os.fspath(path)}: not a checkpoint of a training; give another file")
    known = header["identity"]
    other = sorted(name for name in {*known, *identity} if known.get(name) != identity.get(name))
    if other:
        raise ParameterError(
            f"{os.fspath(path)}: the checkpoint is of a training with another {', '.join(other)}; remove it to start "
            "anew, or give another file"
        )
    return Checkpoint(arrays, header["values"])


def digest(parts: Iterable[Any]) -> str:
    """Return a short fingerprint of plain values."""
    made = hashlib.sha256()
    for part in parts:
        made.update(json.dumps(part, ensure_ascii=True, sort_keys=True).encode())
        made.update(b"\n")
    return made.hexdigest()[:16]


def digest_of_arrays(arrays: Sequence[npt.NDArray[Any]]) -> str:
    """Return a short fingerprint of arrays."""
    made = hashlib.sha256()
    for array in arrays:
        made.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return made.hexdigest()[:16]
