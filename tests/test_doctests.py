"""The examples in the docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import spanloom

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(spanloom.__path__, "spanloom.")
    if not module.name.endswith(("._native", ".__main__"))
)

HEADING = "Examples\n    ----"


@pytest.mark.parametrize("name", ["spanloom", *MODULES])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize("name", ["spanloom", *MODULES])
def test_no_examples_are_empty(name: str) -> None:
    """What stands under Examples is an example: a result without a call would be checked by nobody."""
    for test in doctest.DocTestFinder(exclude_empty=False).find(importlib.import_module(name)):
        assert not (HEADING in (test.docstring or "") and not test.examples), test.name


def test_there_are_examples() -> None:
    """The finder looks where the examples are."""
    finder = doctest.DocTestFinder()
    module = importlib.import_module("spanloom.corpus.mention")
    assert sum(len(test.examples) for test in finder.find(module)) >= 2
