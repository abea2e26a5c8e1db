"""Threads that are kept between loops: the same results from several callers at once, and after a fork."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest

from spanloom.compat import CRF

X = [[{"word": str((7 * s + t) % 31), "even": t % 2 == 0} for t in range(40)] for s in range(300)]
Y = [["ab"[(s + t) % 3 == 0] for t in range(40)] for s in range(300)]


def weights(threads: int = 2) -> dict[tuple[str, str], float]:
    """What a few iterations come to; 12,000 items are several tasks of every loop."""
    found = CRF(max_iterations=4, threads=threads).fit(X, Y).state_features_
    assert found
    return found


def test_callers_at_the_same_time_do_not_disturb_each_other() -> None:
    expected = weights(1)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lambda _: weights(), range(8)))


def test_more_threads_than_before_and_fewer() -> None:
    assert weights(2) == weights(5) == weights(3) == weights(1)


@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """Those of its parent do not run there: to wait for them would be for ever."""
    expected = weights()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(weights, [2, 2, 3]).get(60) == [expected] * 3
    assert weights() == expected
