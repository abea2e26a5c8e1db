"""A change of one annotator's annotation of one document, and its inverse."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from spanloom.corpus.mention import Mention, Parts
from spanloom.workbench.errors import Refused

LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class Change:
    """What is added, and what goes. Mentions count the tokens of the document.

    Parameters
    ----------
    add, remove
        Mentions.
    confirm, reopen
        Numbers of sentences whose annotation is complete, or no longer.
    reject, restore
        Suggestions that are none, or may be one again.

    Examples
    --------
    >>> relabel = Change(add=(Mention("RNA", ((0, 2),)),), remove=(Mention("DNA", ((0, 2),)),))
    >>> relabel.inverse().add
    (Mention(label='DNA', parts=((0, 2),), prob=None),)
    """

    add: tuple[Mention, ...] = ()
    remove: tuple[Mention, ...] = ()
    confirm: tuple[int, ...] = ()
    reopen: tuple[int, ...] = ()
    reject: tuple[Mention, ...] = ()
    restore: tuple[Mention, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def inverse(self) -> Change:
        """Return the change that takes this one back."""
        return Change(self.remove, self.add, self.reopen, self.confirm, self.restore, self.reject)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without what is empty."""
        made: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value:
                numbers = field.name in ("confirm", "reopen")
                made[field.name] = list(value) if numbers else [mention_json(m) for m in value]
        return made

    @classmethod
    def from_json(cls, record: Any) -> Change:
        """Read a change of a request; raises ``Refused`` with the place of what is wrong."""
        if not isinstance(record, Mapping):
            raise Refused(f"a change must be an object, not {type(record).__name__}")
        known = [field.name for field in fields(cls)]
        made: dict[str, Any] = {}
        for name, value in record.items():
            if name not in known:
                raise Refused(f"a change has no field {name!r:.60}; it has {', '.join(known)}")
            if not isinstance(value, list):
                raise Refused(f"{name} must be a list, not {type(value).__name__}")
            if name in ("confirm", "reopen"):
                if any(type(number) is not int for number in value):
                    raise Refused(f"{name} must be a list of numbers of sentences")
                made[name] = tuple(dict.fromkeys(value))
            else:
                made[name] = tuple(dict.fromkeys(as_mention(one, f"{name}[{i}]") for i, one in enumerate(value)))
        return cls(**made)


def mention_json(mention: Mention) -> dict[str, Any]:
    """Return a mention as the page has it."""
    made: dict[str, Any] = {"label": mention.label, "parts": [list(part) for part in mention.parts]}
    if mention.prob is not None:
        made["prob"] = mention.prob
    if mention.attributes:
        made["attributes"] = dict(mention.attributes)
    return made


def as_mention(record: Any, where: str) -> Mention:
    """Read a mention of a request."""
    if not isinstance(record, Mapping) or not {"label", "parts"} <= record.keys() <= {"label", "parts", "attributes"}:
        raise Refused(f"{where} must be an object with label and parts (and attributes), not {record!r:.60}")
    attributes = record.get("attributes", {})
    if not isinstance(attributes, Mapping) or not all(isinstance(value, str) for value in attributes.values()):
        raise Refused(f"{where}.attributes must be an object of strings")
    return Mention(as_label(record["label"], where), as_parts(record["parts"], where), None, dict(attributes))


def as_label(label: Any, where: str) -> str:
    """Read a label: a short printable string."""
    if not isinstance(label, str) or not label.strip() or len(label) > LONGEST_LABEL or not label.isprintable():
        raise Refused(f"{where}: a label is 1 to {LONGEST_LABEL} printable characters, not {label!r:.60}")
    return label


def as_parts(parts: Any, where: str) -> Parts:
    """Read half-open ranges of tokens."""
    try:
        pairs = tuple((start, end) for start, end in parts)
        if any(type(x) is not int or x > 1 << 40 for pair in pairs for x in pair):
            raise ValueError("borders must be whole numbers")
        return Mention("x", pairs).parts
    except (TypeError, ValueError) as error:
        raise Refused(f"{where}: parts must be half-open token ranges [[start, end], …]: {error}") from None


def stored_parts(mention: Mention) -> str:
    """Return the parts of a mention as the tables have them."""
    return json.dumps([list(part) for part in mention.parts], separators=(",", ":"))


def as_json(change: Change) -> str:
    """Return a change as the trail has it."""
    return json.dumps(change.to_json(), ensure_ascii=False, separators=(",", ":"))


def from_row(row: sqlite3.Row, prob: float | None = None) -> Mention:
    """Return the mention of a row."""
    parts = tuple((start, end) for start, end in json.loads(row["parts"]))
    stored = row["attributes"] if "attributes" in row.keys() else "{}"  # noqa: SIM118, of sqlite3.Row
    attributes = {} if stored == "{}" else json.loads(stored)
    return Mention(row["label"], parts, prob, attributes)


def sorted_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions in reading order."""
    return sorted(mentions, key=lambda m: (m.parts, m.label))
