"""A request, taken apart and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spanloom.base.strict_json import is_deep
from spanloom.workbench.documents import check_annotator
from spanloom.workbench.errors import Missing, Refused, TooLong

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

DEEPEST = 40
"""Levels of a JSON body."""
LARGEST = 16 << 20
"""Bytes of a JSON body; imported files may be larger."""


@dataclass
class Call:
    """What a function of the API gets.

    Attributes
    ----------
    path, query
        Values of the address.
    body
        The bytes of the request.
    """

    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> dict[str, Any]:
        """Return the body, which must be a JSON object."""
        if len(self.body) > LARGEST:
            raise TooLong(f"a request may have at most {LARGEST:,} bytes of JSON; send it in several")
        try:
            value = json.loads(self.body.decode() or "{}", parse_constant=_no_constant)
            if b"\\u" in self.body:
                json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is no text
        except (ValueError, RecursionError) as error:
            raise Refused(f"the body is not JSON: {str(error)[:100]}") from None
        if not isinstance(value, dict):
            raise Refused(f"the body must be a JSON object, not {type(value).__name__}")
        if is_deep(value, DEEPEST):
            raise Refused(f"the body is nested deeper than {DEEPEST} levels")
        return value

    @property
    def document(self) -> int:
        """The number of the document in the address."""
        return self.number("document")

    def number(self, name: str) -> int:
        """Return a number of the address."""
        return as_number(int(self.path[name]), name)

    def annotator(self) -> str:
        """Return the name of the annotator in the query."""
        return check_annotator(self.query.get("annotator"))

    def count(self, name: str, default: int, most: int) -> int:
        """Return a number of the query."""
        text = self.query.get(name, str(default))
        if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) > most:
            raise Refused(f"{name} must be a number from 0 to {most:,}, not {text!r:.60}")
        return int(text)

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """Return a word of the query; the first allowed one if it is not given."""
        value = self.query.get(name, allowed[0])
        if value not in allowed:
            raise Refused(f"{name} must be one of {', '.join(allowed)}, not {value!r:.60}")
        return value


@dataclass(frozen=True)
class Download:
    """An answer that is a file."""

    name: str
    content: bytes
    kind: str = "application/octet-stream"


Answer = Mapping[str, Any] | Download
Function = Callable[["Project", Call], Answer]
Routes = tuple[tuple[str, str, Function], ...]
"""Method, path and function."""


def as_number(value: int, what: str) -> int:
    """Return the number of a document or of something else that the file of the project counts."""
    if value >= 1 << 62:
        raise Missing(f"there is no {what} {value}")
    return value


def as_version(value: Any) -> int:
    """Return the version that a page has seen."""
    if type(value) is not int or value < 0:
        raise Refused(f"version must be the version that you saw, a whole number, not {value!r:.60}")
    return int(value)


def as_page(value: Any) -> str:
    """Return the name that a page has given itself."""
    if not isinstance(value, str) or not 1 <= len(value) <= 100:
        raise Refused("page must be a text of 1 to 100 characters that names your page or program")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
