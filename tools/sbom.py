"""Write what is installed with spanloom as a bill of materials: ``python tools/sbom.py [EXTRA...] > sbom.json``.

CycloneDX 1.5, from the metadata of installed packages: spanloom, what it requires, and what those require, with
versions and licences. The same environment gives the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import datetime, timezone
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


def normal(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(package: Distribution, extras: set[str]) -> list[str]:
    """Names of what a package requires here: without an extra, or with one that is wanted, and if it is installed."""
    names = set()
    for line in package.requires or []:
        words, _, condition = line.partition(";")
        extra = EXTRA.search(condition)
        if extra is not None and extra[1] not in extras:
            continue
        match = NAME.match(words)
        if match is None:
            continue
        try:
            distribution(match[0])
        except PackageNotFoundError:  # for another system or version of Python
            continue
        names.add(normal(match[0]))
    return sorted(names)


def licence(package: Distribution) -> str:
    """The licence that a package states; empty if it states none."""
    meta = package.metadata
    stated = meta.get("License-Expression") or ""
    if not stated:
        found = [c.rpartition(" :: ")[2] for c in meta.get_all("Classifier") or [] if c.startswith("License ::")]
        stated = " and ".join(found) or (meta.get("License") or "").partition("\n")[0]
    return stated.strip()


def component(package: Distribution, kind: str = "library") -> dict[str, Any]:
    """One package as CycloneDX has it."""
    name = normal(package.metadata["Name"])
    made: dict[str, Any] = {
        "type": kind,
        "bom-ref": f"pkg:pypi/{name}@{package.version}",
        "name": name,
        "version": package.version,
        "purl": f"pkg:pypi/{name}@{package.version}",
    }
    if stated := licence(package):
        made["licenses"] = [{"license": {"name": stated}}]
    return made


def bill(root: str = "spanloom", extras: set[str] | None = None) -> dict[str, Any]:
    """Return the bill of a package and all that it needs."""
    wanted = set() if extras is None else extras
    found = {normal(root): distribution(root)}
    needs: dict[str, list[str]] = {}
    waiting = [normal(root)]
    while waiting:
        name = waiting.pop()
        needs[name] = required(found[name], wanted if name == normal(root) else set())
        for other in needs[name]:
            if other not in found:
                found[other] = distribution(other)
                waiting.append(other)
    refs = {name: component(package)["bom-ref"] for name, package in found.items()}
    when = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(found[normal(root)], "application"),
        },
        "components": [component(found[name]) for name in sorted(found) if name != normal(root)],
        "dependencies": [
            {"ref": refs[name], "dependsOn": [refs[other] for other in needs[name]]} for name in sorted(needs)
        ],
    }


if __name__ == "__main__":
    print(json.dumps(bill(extras=set(sys.argv[1:])), indent=1))
