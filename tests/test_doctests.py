"""The examples in the docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
from types import ModuleType

import pytest

import spanloom
from spanloom.base.errors import SpanloomError

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(spanloom.__path__, "spanloom.", onerror=lambda name: None)  # of extras
    if not module.name.endswith(("._native", ".__main__"))
)


NEEDED = {"spanloom.scale.arrow": "pyarrow"}
"""Modules that can be imported without a package of extras, but whose examples need it."""


def imported(name: str) -> ModuleType:
    """Import a module; one that needs a package of extras is skipped where that is absent."""
    if name in NEEDED and os.environ.get("SPANLOOM_EXTRAS") != "required":
        pytest.importorskip(NEEDED[name])
    try:
        return importlib.import_module(name)
    except SpanloomError as error:
        if isinstance(error.__cause__, ImportError) and os.environ.get("SPANLOOM_EXTRAS") != "required":
            pytest.skip(str(error))
        raise


HEADING = "Examples\n    ----"


@pytest.mark.parametrize("name", ["spanloom", *MODULES])
def test_examples(name: str) -> None:
    module = imported(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize("name", ["spanloom", *MODULES])
def test_no_examples_are_empty(name: str) -> None:
    """What stands under Examples is an example: a result without a call would be checked by nobody."""
    for test in doctest.DocTestFinder(exclude_empty=False).find(imported(name)):
        assert not (HEADING in (test.docstring or "") and not test.examples), test.name


def test_there_are_examples() -> None:
    """The finder looks where the examples are."""
    finder = doctest.DocTestFinder()
    module = importlib.import_module("spanloom.corpus.mention")
    assert sum(len(test.examples) for test in finder.find(module)) >= 2
