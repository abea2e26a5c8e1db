"""Kernels for processors without AVX2 pass the tests that hold the others to their oracles, and give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ORACLES = (
    "test_chain_kernel.py::test_many_labels_equal_the_engine",
    "test_chain_kernel.py::test_kernel_and_engine_equal_enumeration",
    "test_chain_kernel.py::test_long_sentences_with_large_scores_equal_the_engine",
    "test_separator_structures.py::test_edge_equals_enumeration",
    "test_separator_structures.py::test_long_sentences_stay_exact",
    "test_masks.py::test_masked_chain",
    "test_masks.py::test_masked_edge",
    "test_likelihood.py::test_one_word_sentences_are_logistic_regression",
    "test_likelihood.py::test_lbfgs_finds_the_optimum_that_scipy_finds",
    "test_segment_kernel.py::test_kernel_and_engine_equal_enumeration",
)


@pytest.mark.slow
def test_narrow_vectors():
    """The choice is made when the core is loaded, so in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(str(HERE / test) for test in ORACLES)],
        env={**os.environ, "SPANLOOM_NARROW": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


SUMS = """
import hashlib, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/native"]
from test_likelihood import free_chain, np, problem
from spanloom._native import Lbfgs, Likelihood
for labels in (1, 2, 4, 5, 8, 9, 16, 17, 24, 25, 32, 33, 41):
    for valued in (False, True):
        x, _, ptr, cells = problem(labels, labels=labels, features=40, lengths=(3, 0, 1, 30), valued=valued)
        objective = Likelihood(x, free_chain(labels), ptr, cells, threads=1)
        optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.1, threads=1)
        for _ in range(5):
            optimiser.iterate()
        value, gradient = objective.evaluate(3 * optimiser.x())
        print(labels, valued, value.hex(), hashlib.sha256(gradient.tobytes() + optimiser.x().tobytes()).hexdigest())
"""
"""Sums over all paths, products with a matrix and dot products, for rows of every width that kernels have."""


def test_wide_and_narrow_vectors_give_the_same_bytes():
    """Sums along a row are taken of every fourth number in both, and no product is fused with a sum."""
    plain = {name: value for name, value in os.environ.items() if name != "SPANLOOM_NARROW"}
    wide, narrow = (
        subprocess.run(
            [sys.executable, "-c", SUMS, str(HERE.parent)], env=env, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for env in (plain, {**plain, "SPANLOOM_NARROW": "1"})
    )
    assert len(wide) == 26
    assert wide == narrow
