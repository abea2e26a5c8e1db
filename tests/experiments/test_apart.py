"""Calling a function in a process of its own."""

from __future__ import annotations

import os
import resource

import pytest

from experiments.apart import Failed, apart


def test_the_value_comes_back_from_another_process():
    """A closure works, and what it changes here stays unchanged."""
    seen = []
    assert apart(lambda a, b: (a + b, seen.append(1)), 2, 3) == (5, None)
    assert seen == []
    assert apart(os.getpid) != os.getpid()


def test_failures_and_deaths_are_told():
    """The traceback of an exception, and the exit code of a process that says nothing."""
    with pytest.raises(Failed, match="ZeroDivisionError"):
        apart(lambda: 1 // 0)
    with pytest.raises(Failed, match="exit code 3"):
        apart(lambda: os._exit(3))


def test_peak_memory_is_that_of_the_call():
    """A call after one that took 300 MB does not see them."""

    def peak(size):
        block = bytearray(size)
        return len(block) and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    large = apart(peak, 300 * 2**20)
    assert apart(peak, 1) < large - 200 * 2**10
