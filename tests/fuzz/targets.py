"""Fuzz targets, found by a name such as ``readers.jsonl``: the module of this folder, and the target in it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.target import Target

GUIDES: dict[str, tuple[str, ...]] = {
    "readers": ("spanloom.base", "spanloom.corpus", "spanloom.formats"),
    "models": ("spanloom",),
    "settings": (
        "spanloom.base",
        "spanloom.configuration",
        "spanloom.features",
        "spanloom.formats",
        "spanloom.annotators",
    ),
    "texts": ("spanloom.corpus", "spanloom.formats", "spanloom.tagging", "tokenizer_reference", "sentences_reference"),
    "bodies": ("spanloom.base", "spanloom.formats", "spanloom.serving", "spanloom.workbench"),
    "kernels": ("fuzz.kernels",),
}
"""Modules whose branches guide the fuzzer, by the first part of a name; these must not be imported before."""


def target(name: str) -> Target:
    """Return the target of a name."""
    module, _, own = name.partition(".")
    return next(one for one in importlib.import_module(f"fuzz.{module}").TARGETS if one.name == own)


def names() -> list[str]:
    """Return the names of all targets."""
    return [f"{module}.{one.name}" for module in GUIDES for one in importlib.import_module(f"fuzz.{module}").TARGETS]
