"""What SECURITY.md states is what the code does."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

from spanloom.base import model_file, strict_json
from spanloom.features import templates
from spanloom.formats import compression, raw
from spanloom.models import trained
from spanloom.serving import requests, security
from spanloom.workbench import app, importing
from spanloom.workbench.api import call

ROOT = Path(__file__).parent.parent
LIMITS = {
    "base/model_file.py": [model_file._TABLE_LIMIT],
    "base/strict_json.py": [strict_json.DEEPEST, strict_json._LONGEST_NUMBER],
    "models/trained.py": [trained.MOST_NAMES],
    "formats/compression.py": [compression.GROWTH, compression.ROOM],
    "formats/raw.py": [raw.MOST_BLANKS],
    "features/templates.py": [templates.MAX_CHARACTERS, templates.MAX_TEMPLATES],
    "serving/security.py": [inspect.signature(security.Guard).parameters["largest"].default, security.LONGEST_PATH],
    "serving/requests.py": [requests.MOST_TEXTS, requests.MOST_SETS],
    "workbench/api/call.py": [call.DEEPEST, call.LARGEST],
    "workbench/app.py": [app.LARGEST],
    "workbench/importing.py": [importing.LARGEST, importing.MOST],
}


def test_the_limits_are_those_of_the_code() -> None:
    told: dict[str, list[int]] = {}
    for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\|[^|]*\| ([\d,]+) \| `([\w/.]+)` \|", line):
            told.setdefault(match[2], []).append(int(match[1].replace(",", "")))
    assert told == LIMITS


def test_the_dependencies_are_those_of_the_package() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("## What we depend on")[2]
    listed = re.findall(r"^\| ([a-z]+) \| [\w-]+ \|", text, re.MULTILINE)
    assert [re.split(r"[>=; ]", name)[0] for name in wanted] == [name for name in listed if name != "package"]


def test_a_bill_of_materials_has_all_that_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "tools" / "sbom.py")
    assert spec is not None
    assert spec.loader is not None
    sbom = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sbom)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    made = sbom.bill()
    assert made["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert made["metadata"]["component"]["name"] == "spanloom"
    names = {one["name"] for one in made["components"]}
    assert {"numpy", "scipy", "typer", "rich"} <= names
    refs = {one["bom-ref"] for one in [made["metadata"]["component"], *made["components"]]}
    assert {ref for one in made["dependencies"] for ref in [one["ref"], *one["dependsOn"]]} == refs
    assert json.dumps(made) == json.dumps(sbom.bill())
