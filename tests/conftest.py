"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

# Examples may take as long as they need: on a busy machine, time says nothing about the code.
settings.register_profile("spanloom", deadline=None)
settings.load_profile("spanloom")

FEW = 20
"""So many random examples a test at most, unless ``SPANLOOM_EXAMPLES=all``: the run before a commit must be quick."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take few examples; ``.ci/nightly`` takes as many as the tests say."""
    if os.environ.get("SPANLOOM_EXAMPLES") == "all":
        return
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        if test is not None and is_hypothesis_test(test):
            own = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(own, max_examples=min(own.max_examples, FEW))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """The default run takes all cores; files that are named, and other marks, run in one process."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and "not slow" in config.option.markexpr
    return (os.cpu_count() or 1) if whole else 0


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora: ``$SPANLOOM_DATA``, or ``../shared/data`` beside the project."""
    folder = Path(os.environ.get("SPANLOOM_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the corpora are not at {folder}; set SPANLOOM_DATA to their folder")
    return folder
