"""Optional packages in tests."""

from __future__ import annotations

import importlib
import os

import pytest


def needs(*modules: str) -> None:
    """Skip the test module where optional packages are absent; under ``SPANLOOM_EXTRAS=required`` that is an error.

    To be called at the top of a test file, before the packages are imported.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            if os.environ.get("SPANLOOM_EXTRAS") == "required":
                raise
            pytest.skip(f"{module} is not installed ({error})", allow_module_level=True)
