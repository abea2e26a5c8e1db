"""The description of the HTTP interface: OpenAPI for programs, a page without scripts for people."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spanloom import __version__

if TYPE_CHECKING:
    from spanloom.serving.api import Endpoint

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
    404: "There is no such model.",
    413: "The body is too long.",
    429: "Too much at once; come again.",
    503: "Not answered in time.",
}


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI description of endpoints."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        answers: dict[str, Any] = {str(endpoint.status): {"description": _WORDS[endpoint.status]}}
        if endpoint.gives is not None:
            answers[str(endpoint.status)]["content"] = _json(endpoint.gives)
        for status in (*endpoint.errors, 413) if endpoint.takes is not None else endpoint.errors:
            answers[str(status)] = {
                "description": _WORDS[status],
                "content": _json({"$ref": "#/components/schemas/Error"}),
            }
        operation: dict[str, Any] = {"summary": endpoint.summary, "responses": answers}
        names = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
        if names:
            operation["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
        if endpoint.takes is not None:
            operation["requestBody"] = {"required": True, "content": _json(endpoint.takes)}
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "spanloom", "version": __version__, "description": "Mentions of texts, over HTTP."},
        "paths": paths,
        "components": {"schemas": _SCHEMAS},
    }


def page(endpoints: Sequence[Endpoint]) -> str:
    """Return the description as a page that loads nothing."""
    rows = []
    for endpoint in endpoints:
        rows.append(f"<h2><code>{endpoint.method} {html.escape(endpoint.path)}</code></h2>")
        rows.append(f"<p>{html.escape(endpoint.summary)}</p>")
        for title, schema in (("Takes", endpoint.takes), (f"Answers {endpoint.status}", endpoint.gives)):
            if schema is not None:
                shown = html.escape(json.dumps(_resolved(schema), indent=2))
                rows.append(f"<details><summary>{title}</summary><pre>{shown}</pre></details>")
        if endpoint.errors:
            rows.append("<ul>" + "".join(f"<li>{s}: {_WORDS[s]}</li>" for s in endpoint.errors) + "</ul>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>spanloom: HTTP interface</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>'
        f'<body><main><h1>spanloom {__version__}</h1><p>For programs: <a href="openapi.json">openapi.json</a>; counts: '
        f'<a href="metrics">metrics</a>.</p>{"".join(rows)}</main></body></html>'
    )


def _json(schema: dict[str, Any]) -> dict[str, Any]:
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
