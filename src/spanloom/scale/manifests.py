"""What a shard's output was made of. An output counts as done only if its manifest fits."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spanloom.base.files import whole_file
from spanloom.scale.loading import file_digest

FOLDER = "_spanloom"
"""Where manifests and the report are, in the folder of outputs; readers of Spark and Arrow leave out such names."""

Manifest = dict[str, Any]


def place_of(out: Path, name: str) -> Path:
    """Return the path of the manifest of an output."""
    return out / FOLDER / "manifests" / f"{name}.json"


def write_manifest(out: Path, manifest: Manifest) -> None:
    """Write a manifest, whole or not at all; to be called when its output is in place."""
    place = place_of(out, manifest["output"])
    place.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(place) as file:
        json.dump(manifest, file, ensure_ascii=False, indent=1, sort_keys=True)
        file.write("\n")


def read_manifest(out: Path, name: str) -> Manifest | None:
    """Return the manifest of an output; None if there is none that can be read."""
    try:
        found = json.loads(place_of(out, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("output") == name else None


def all_names(out: Path) -> Iterator[str]:
    """Yield the names of the outputs that have manifests."""
    folder = out / FOLDER / "manifests"
    for path in sorted(folder.rglob("*.json")):
        yield str(path.relative_to(folder)).removesuffix(".json")


def is_intact(out: Path, manifest: Manifest) -> bool:
    """Whether an output has the bytes that its manifest says."""
    path = out / manifest["output"]
    try:
        return bool(os.path.getsize(path) == manifest["bytes"] and file_digest(path) == manifest["sha256"])
    except OSError:
        return False


def remove(out: Path, name: str) -> None:
    """Remove an output and its manifest, the manifest first: without it, the output is not done."""
    place_of(out, name).unlink(missing_ok=True)
    (out / name).unlink(missing_ok=True)
