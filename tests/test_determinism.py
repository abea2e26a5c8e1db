"""The same data, settings and seed give the same bytes for any number of threads, and the same mentions everywhere.

Weights are the same to the bit for any number of threads, with and without AVX2 (``SPANLOOM_NARROW=1`` takes the narrow
kernels). The C library's logarithms and exponentials differ between versions, so the table has mentions only. If a
change of training or decoding is meant, ``python tools/digests.py`` prints the new table.
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


def found(model: str, **environment: str) -> list[dict[str, str]]:
    command = [sys.executable, str(SCRIPT), *([model] if model else [])]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("model", ["chain", "edge"])
def test_the_narrow_kernels_give_the_same_bytes(model: str) -> None:
    narrow = found(model, SPANLOOM_NARROW="1")
    assert narrow == [{"model": model, **script().digests(model, 1)}]


@pytest.mark.slow
def test_the_narrow_kernels_give_the_same_bytes_for_every_model() -> None:
    narrow = found("", SPANLOOM_NARROW="1")
    assert narrow == [{"model": model, **script().digests(model, 1)} for model in MENTIONS]


@pytest.mark.slow
def test_mentions_are_the_same_with_the_c_library_for_processors_without_fused_products() -> None:
    """glibc takes other code for exp and log there, whose last bits may differ."""
    old = found("", SPANLOOM_NARROW="1", GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F")
    assert {line["model"]: line["mentions"] for line in old} == MENTIONS
