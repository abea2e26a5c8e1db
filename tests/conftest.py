"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Examples may take as long as they need: on a busy machine, time says nothing about the code.
settings.register_profile("spanloom", deadline=None)
settings.load_profile("spanloom")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora: ``$SPANLOOM_DATA``, or ``../shared/data`` beside the project."""
    folder = Path(os.environ.get("SPANLOOM_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the corpora are not at {folder}; set SPANLOOM_DATA to their folder")
    return folder
