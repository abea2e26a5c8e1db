"""The same data, settings and seed give the same bytes for any number of threads, and the same mentions everywhere.

Weights are the same to the bit for any number of threads. Processors with and without AVX2 add up in another order:
there the last bits of weights differ, and mentions do not (``SPANLOOM_NARROW=1`` takes the narrow kernels). If a change
of training or decoding is meant, ``python tools/digests.py`` prints the new table.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "tools" / "digests.py"
MENTIONS = {
    "chain": "ffad59f856beb810",
    "chain-l1": "28e56a93aa4e1898",
    "edge": "ca9bbfaa78c1dc47",
    "state": "46ab19ec9872d39f",
    "hypergraph": "ab6316a8a85ed742",
    "semimarkov": "51815d53a084521b",
    "spans": "8d30808f09a4ed12",
    "memm": "b09017866f695ea1",
    "multilabel": "1e23417ce4eff0f2",
    "adagrad": "c7c0b744e8bf32ed",
    "perceptron": "2d70303627bc1c02",
    "sdca": "5911a21385114900",
}
"""What each model finds in the test part of the sample corpus."""


def script() -> Any:
    spec = importlib.util.spec_from_file_location("digests", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_model_of_the_script_is_here() -> None:
    assert list(script().SETTINGS) == list(MENTIONS)


@pytest.mark.parametrize("model", MENTIONS)
def test_mentions_are_the_expected_ones_and_weights_the_same_on_three_threads(model: str) -> None:
    digests = script().digests
    one = digests(model, 1)
    assert one["mentions"] == MENTIONS[model]
    assert digests(model, 3) == one


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 8])
def test_weights_are_the_same_on_other_numbers_of_threads(threads: int) -> None:
    digests = script().digests
    for model in MENTIONS:
        assert digests(model, threads) == digests(model, 1), model


@pytest.mark.slow
def test_mentions_are_the_same_without_wide_vectors() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], env={**os.environ, "SPANLOOM_NARROW": "1"}, capture_output=True, text=True
    )
    found = {line["model"]: line["mentions"] for line in map(json.loads, done.stdout.splitlines())}
    assert found == MENTIONS
