"""The kernels for processors without AVX2 pass the tests that hold the others to their oracles."""

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
