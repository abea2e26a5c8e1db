"""Files of models over ready attributes: CRFsuite's, and ours in the safetensors layout."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError
from spanloom.base.files import whole_file
from spanloom.base.model_file import load_arrays, save_arrays
from spanloom.compat import crfsuite_file
from spanloom.compat.model import ChainModel

KIND = "attributes"
"""What the header of our files says of a model over ready attributes."""

ARRAYS = ("ptr", "columns", "weights", "sources", "targets", "transitions")


def save(
    model: ChainModel,
    path: str | os.PathLike[str],
    settings: Mapping[str, Any] | None = None,
    *,
    crfsuite: bool = False,
) -> None:
    """Write a model: as ours if the name ends in ``.loom``, else, or if asked, as CRFsuite's. Whole or not at all."""
    if Path(path).suffix == ".loom" and not crfsuite:
        save_arrays(path, *to_arrays(model, settings or {}))
        return
    data = crfsuite_file.pack(model)
    with whole_file(path, "wb") as out:
        out.write(data)


def load(path: str | os.PathLike[str]) -> tuple[ChainModel, dict[str, Any]]:
    """Open a file of either kind; return the model and the settings that it was trained with, if the file has them."""
    with open(path, "rb") as file:
        start = file.read(len(crfsuite_file.MAGIC))
        try:
            if start == crfsuite_file.MAGIC:
                return crfsuite_file.unpack(start + file.read()), {}
        except ModelFileError as error:
            raise ModelFileError(f"{path}: {error}") from None
    arrays, header = load_arrays(path)
    try:
        return from_arrays(arrays, header)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None


def to_arrays(model: ChainModel, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a file of ours holds: arrays by name, and JSON."""
    text = "".join(model.attributes).encode()
    ends = np.cumsum([len(name.encode()) for name in model.attributes], dtype=np.int64)
    arrays = {name: getattr(model, name) for name in ARRAYS}
    arrays |= {"names": np.frombuffer(text, np.uint8), "ends": ends.astype(np.int64)}
    return arrays, {"kind": KIND, "labels": model.labels, "settings": dict(settings)}


def from_arrays(arrays: Arrays, header: Mapping[str, Any]) -> tuple[ChainModel, dict[str, Any]]:
    """Return the model and its settings from what :func:`to_arrays` gave."""
    if header.get("kind") != KIND:
        raise ModelFileError("a recogniser, not a model over ready attributes: open it with spanloom.Recognizer.load")
    try:
        parts = {name: np.asarray(arrays[name]) for name in ARRAYS}
        text, ends = arrays["names"].tobytes(), arrays["ends"].tolist()
        names = [text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
        model = ChainModel(list(header["labels"]), names, **parts)
        model.tagger  # noqa: B018 (it checks that the arrays fit together)
        return model, dict(header["settings"])
    except (KeyError, TypeError, ValueError, IndexError, UnicodeDecodeError) as error:
        raise ModelFileError(f"damaged: {error}") from None
