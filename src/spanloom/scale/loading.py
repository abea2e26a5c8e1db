"""The one loader of workers: a model is opened once per process, from its file or from bytes that were sent to it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from spanloom.base.errors import SpanloomError
from spanloom.bundled import existing_model
from spanloom.recognizer import Recognizer

KEPT = 4
"""So many models stay open in a process."""

_deposited: dict[str, bytes] = {}


def model(path: str | os.PathLike[str], threads: int | None = 1) -> Recognizer:
    """Open a model file, once per process: later calls return the same recogniser.

    The file is mapped into memory, so that workers of one machine share its pages. A file that was replaced is opened
    anew. Functions that are sent to Dask or Spark workers call this and need not send the model.

    Parameters
    ----------
    path
        A file that ``Recognizer.save`` wrote, where the worker sees it.
    threads
        For each call of ``predict``. Engines start one worker for each core, so one is enough.

    Examples
    --------
    >>> import tempfile
    >>> from spanloom import Mention, Sentence
    >>> ner = Recognizer("chain").fit([Sentence(["the", "lacZ", "gene"], [Mention("DNA", ((1, 3),))])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ner.save(folder + "/dna.loom")
    ...     model(folder + "/dna.loom") is model(folder + "/dna.loom")
    True
    """
    real = os.path.realpath(existing_model(path))
    found = os.stat(real)
    return _opened(real, (found.st_ino, found.st_size, found.st_mtime_ns), threads)


@lru_cache(KEPT)
def _opened(path: str, version: tuple[int, int, int], threads: int | None) -> Recognizer:
    return Recognizer.load(path, threads=threads)


def deposit(data: bytes) -> str:
    """Keep bytes, such as those of a model, in this process; return their digest, by which they are found."""
    digest = hashlib.sha256(data).hexdigest()
    _deposited[digest] = data
    return digest


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a worker finds a model: small, so that it can go with every task.

    Parameters
    ----------
    digest
        SHA-256 of the model file's bytes.
    path
        The model file; empty for bytes that :func:`deposit` was given in the worker.
    """

    digest: str
    path: str = ""

    @classmethod
    def of(cls, given: str | os.PathLike[str] | Recognizer) -> ModelSource:
        """Return the source of a model file; or of a recogniser, whose bytes are deposited in this process."""
        if isinstance(given, Recognizer):
            return cls(deposit(given.to_bytes()))
        path = existing_model(given)
        return cls(file_digest(path), os.path.realpath(path))

    def data(self) -> bytes:
        """Return the bytes of the model file."""
        return Path(self.path).read_bytes() if self.path else deposited(self.digest)

    def open(self, threads: int | None = 1) -> Recognizer:
        """Return the recogniser, opened once per process."""
        return model(self.path, threads) if self.path else _of_bytes(self.digest, threads)


@lru_cache(KEPT)
def _of_bytes(digest: str, threads: int | None) -> Recognizer:
    return Recognizer.from_bytes(deposited(digest), threads=threads)


def deposited(digest: str) -> bytes:
    """Return what :func:`deposit` was given in this process."""
    try:
        return _deposited[digest]
    except KeyError:
        raise SpanloomError(
            f"the data {digest[:12]} were not sent to this worker; if it is a model, save it where all workers see it "
            "and give its path"
        ) from None


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
