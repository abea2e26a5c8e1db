"""The description of the HTTP interface: OpenAPI for programs, a page without scripts for people."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spanloom import __version__

BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Operation:
    """What is told of one path and method.

    Parameters
    ----------
    takes, gives
        JSON schemas of the body and of the answer; None for none, ``BYTES`` for a file.
    status, errors
        The status of the answer, and what else it may be.
    query
        Schemas of the parameters after the question mark; those in ``needed`` must be there.
    """

    method: str
    path: str
    summary: str
    takes: dict[str, Any] | str | None = None
    gives: dict[str, Any] | str | None = None
    status: int = 200
    errors: tuple[int, ...] = ()
    query: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    needed: tuple[str, ...] = ()


_MENTION = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "minLength": 1},
        "parts": {"type": "array", "description": "Half-open ranges of tokens; several if it is discontinuous."},
        "chars": {"type": "array", "description": "The same as characters of the text."},
        "text": {"type": "string"},
        "prob": {"type": "number"},
        "attributes": {"type": "object"},
    },
    "required": ["label"],
}
_SCHEMAS: dict[str, Any] = {
    "Mention": _MENTION,
    "Document": {
        "type": "object",
        "description": "A document as in a line of spanloom's JSONL: an id, a text, or tokens, and mentions.",
        "properties": {
            "id": {"type": "string"},
            "text": {"type": "string"},
            "tokens": {"type": "array", "items": {"type": "string"}},
            "mentions": {"type": "array", "items": {"$ref": "#/components/schemas/Mention"}},
            "meta": {"type": "object"},
        },
    },
    "TagRequest": {
        "type": "object",
        "description": "One of text, texts and documents.",
        "properties": {
            "text": {"type": "string"},
            "texts": {"type": "array", "items": {"type": "string"}},
            "documents": {"type": "array", "items": {"$ref": "#/components/schemas/Document"}},
            "model": {"type": "string", "description": "Its name; the first model if it is left out."},
            "probabilities": {"type": "boolean", "description": "Whether mentions get their probability."},
            "above": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": 1,
                "description": "Every mention with at least this probability.",
            },
            "k": {"type": "integer", "minimum": 0, "maximum": 100, "description": "Best sets of each sentence."},
        },
        "additionalProperties": False,
    },
    "Model": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "model": {"type": "string"},
            "labels": {"type": "array", "items": {"type": "string"}},
            "probabilities": {"type": "string"},
            "trained": {"type": ["string", "null"]},
        },
        "required": ["name", "model", "labels", "probabilities"],
    },
    "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
}
_WORDS = {
    200: "The answer.",
    201: "Taken.",
    202: "Taken.",
    204: "Taken.",
    400: "The body cannot be read; the error says where.",
    403: "Not allowed here.",
    404: "There is no such model or document.",
    409: "The annotation has changed since, or it is learning already.",
    413: "The body is too long.",
    423: "Another page holds the document.",
    429: "Too much at once; come again.",
    503: "Not answered in time.",
}


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI description; of two operations of one path and method the later counts."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        answers: dict[str, Any] = {str(one.status): {"description": _WORDS[one.status]}}
        if one.gives is not None:
            answers[str(one.status)]["content"] = _content(one.gives)
        for status in (*one.errors, 413) if one.takes is not None else one.errors:
            answers[str(status)] = {
                "description": _WORDS[status],
                "content": _content({"$ref": "#/components/schemas/Error"}),
            }
        told: dict[str, Any] = {"summary": one.summary, "responses": answers}
        parts = [part[1:-1].split(":") for part in one.path.split("/") if part.startswith("{")]
        parameters = [{"name": name, "in": "path", "required": True, "schema": _kind(kind)} for name, *kind in parts]
        parameters += [
            {"name": name, "in": "query", "required": name in one.needed, "schema": schema}
            for name, schema in one.query.items()
        ]
        if parameters:
            told["parameters"] = parameters
        if one.takes is not None:
            told["requestBody"] = {"required": True, "content": _content(one.takes)}
        paths.setdefault(one.path.replace(":int}", "}"), {})[one.method.lower()] = told
    return {
        "openapi": "3.1.0",
        "info": {"title": "spanloom", "version": __version__, "description": "Mentions of texts, over HTTP."},
        "paths": paths,
        "components": {"schemas": _SCHEMAS},
    }


def page(operations: Sequence[Operation]) -> str:
    """Return the description as a page that loads nothing."""
    rows = []
    for one in {(one.path, one.method): one for one in operations}.values():
        shown = one.path.replace(":int}", "}") + ("?" + "&".join(f"{name}=" for name in one.query) if one.query else "")
        rows.append(f"<h2><code>{one.method} {html.escape(shown)}</code></h2>")
        rows.append(f"<p>{html.escape(one.summary)}</p>")
        for title, schema in (("Takes", one.takes), (f"Answers {one.status}", one.gives)):
            if isinstance(schema, str):
                rows.append(f"<p>{title}: a file.</p>")
            elif schema is not None:
                listing = html.escape(json.dumps(_resolved(schema), indent=2))
                rows.append(f"<details><summary>{title}</summary><pre>{listing}</pre></details>")
        if one.errors:
            rows.append("<ul>" + "".join(f"<li>{s}: {_WORDS[s]}</li>" for s in one.errors) + "</ul>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>spanloom: HTTP interface</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>'
        f'<body><main><h1>spanloom {__version__}</h1><p>For programs: <a href="openapi.json">openapi.json</a>; counts: '
        f'<a href="metrics">metrics</a>.</p>{"".join(rows)}</main></body></html>'
    )


def _kind(named: Sequence[str]) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1} if list(named) == ["int"] else {"type": "string"}


def _content(schema: dict[str, Any] | str) -> dict[str, Any]:
    if isinstance(schema, str):
        return {schema: {"schema": {"type": "string", "format": "binary"}}}
    return {"application/json": {"schema": schema}}


def _resolved(schema: Any) -> Any:
    """A schema with what it refers to in its place."""
    if isinstance(schema, list):
        return [_resolved(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolved(_SCHEMAS[schema["$ref"].rpartition("/")[2]])
    return {name: _resolved(value) for name, value in schema.items()}
