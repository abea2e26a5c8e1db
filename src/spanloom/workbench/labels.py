"""The labels of a project: colours, keys, descriptions; and its guideline and settings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from spanloom.drawing.picture import distinct_styles
from spanloom.workbench.changes import as_label
from spanloom.workbench.database import Database
from spanloom.workbench.errors import Refused

KEYS = "123456789bcdfhiklmqtuv"
"""Given to labels that have no key of their own; all others mean commands."""
LONGEST_TEXT = 100_000

SETTINGS: dict[str, Any] = {"model": "auto", "features": "default", "every": 0, "above": 0.5, "held_out": 0}
"""What a project can be set to, and the values to begin with.

``every``: learn after so many confirmed documents, 0 for the button alone. ``above``: the least probability of a
suggestion that is shown. ``held_out``: of imported documents, one in so many is kept for scores, 0 for none.
"""


class Labels:
    """What the project says of its labels."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def all(self) -> list[dict[str, Any]]:
        """Return the labels, those of the guideline first, then all that are used, by frequency."""
        given = read_setting(self.db, "labels", [])
        names = {one["name"] for one in given}
        used = Counter({row[0]: row[1] for row in self.db.rows("SELECT label, count(*) FROM mentions GROUP BY label")})
        used.update({row[0]: 0 for row in self.db.rows("SELECT DISTINCT label FROM suggestions")})
        made = [*given, *({"name": name} for name, _ in used.most_common() if name not in names)]
        free = [key for key in KEYS if key not in {one.get("key") for one in made}]
        colors = distinct_styles(one["name"] for one in made)
        return [
            {
                "name": one["name"],
                "color": one.get("color") or colors[one["name"]],
                "key": one.get("key") or (free.pop(0) if free else ""),
                "description": one.get("description", ""),
                "examples": one.get("examples", []),
                "count": used[one["name"]],
            }
            for one in made
        ]

    def put(self, labels: Any) -> None:
        """Keep labels as the guideline has them."""
        if not isinstance(labels, list) or len(labels) > 1000:
            raise Refused("labels must be a list of at most 1,000 objects")
        kept = [_checked(one, f"labels[{i}]") for i, one in enumerate(labels)]
        names, keys = ([one[field] for one in kept if one.get(field)] for field in ("name", "key"))
        for what, values in (("label", names), ("key", keys)):
            twice = [value for value, count in Counter(values).items() if count > 1]
            if twice:
                raise Refused(f"the {what} {twice[0]!r} is there twice")
        write_setting(self.db, "labels", kept)

    def add(self, names: Iterable[str]) -> None:
        """Add labels that are not there yet."""
        have = {one["name"] for one in self.all()}
        given = read_setting(self.db, "labels", [])
        write_setting(self.db, "labels", [*given, *({"name": name} for name in names if name not in have)])


def _checked(one: Any, where: str) -> dict[str, Any]:
    if not isinstance(one, Mapping):
        raise Refused(f"{where} must be an object, not {type(one).__name__}")
    kept: dict[str, Any] = {"name": as_label(one.get("name"), where)}
    color = one.get("color") or ""
    if color:
        if not isinstance(color, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", color):
            raise Refused(f"{where}.color must be written #rrggbb, not {color!r:.60}")
        kept["color"] = color
    key = one.get("key") or ""
    if key:
        if not isinstance(key, str) or key not in KEYS:
            raise Refused(f"{where}.key must be one of {KEYS}, not {key!r:.60}; other keys mean commands")
        kept["key"] = key
    text = one.get("description") or ""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise Refused(f"{where}.description must be a text of at most {LONGEST_TEXT:,} characters")
    examples = one.get("examples") or []
    if not isinstance(examples, list) or not all(isinstance(e, str) and len(e) < 1000 for e in examples):
        raise Refused(f"{where}.examples must be a list of short texts")
    return {**kept, "description": text, "examples": examples[:50]}


def settings(db: Database) -> dict[str, Any]:
    """Return the settings of the project."""
    return {**SETTINGS, **read_setting(db, "settings", {})}


def put_settings(db: Database, given: Any) -> dict[str, Any]:
    """Change settings; returns all of them."""
    if not isinstance(given, Mapping):
        raise Refused("settings must be an object")
    for name, value in given.items():
        if name not in SETTINGS:
            raise Refused(f"there is no setting {name!r:.60}; there are {', '.join(SETTINGS)}")
        if isinstance(SETTINGS[name], str):
            if not isinstance(value, str):
                raise Refused(f"{name} must be a text, not {value!r:.60}")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1_000_000:
            raise Refused(f"{name} must be a number from 0 to 1,000,000, not {value!r:.60}")
        if name in ("every", "held_out") and type(value) is not int:
            raise Refused(f"{name} must be a whole number, not {value!r:.60}")
    if "model" in given or "features" in given:
        _check_model({**settings(db), **given})
    write_setting(db, "settings", {**settings(db), **given})
    return settings(db)


def _check_model(given: Mapping[str, Any]) -> None:
    from spanloom.base.errors import SpanloomError
    from spanloom.features import FeatureSet
    from spanloom.recognizer import Recognizer

    try:
        FeatureSet.named(given["features"])  # by name: a page does not make us read files
        Recognizer(given["model"]).check(False)
    except SpanloomError as error:
        raise Refused(str(error)) from None


def guideline(db: Database) -> str:
    """Return the text of the guideline."""
    return str(read_setting(db, "guideline", ""))


def put_guideline(db: Database, text: Any) -> None:
    """Keep the text of the guideline."""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise Refused(f"the guideline must be a text of at most {LONGEST_TEXT:,} characters")
    write_setting(db, "guideline", text)


def read_setting(db: Database, name: str, default: Any) -> Any:
    """Return a stored value."""
    stored = db.value("SELECT value FROM settings WHERE name = ?", name)
    return default if stored is None else json.loads(stored)


def write_setting(db: Database, name: str, value: Any) -> None:
    """Store a value."""
    with db.writing() as write:
        write.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value, ensure_ascii=False)))
