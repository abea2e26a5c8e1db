"""What the OpenAPI description tells of the workbench: one line for every route, words from its function."""

from __future__ import annotations

import inspect
from typing import Any

from spanloom.serving.description import BYTES, Operation
from spanloom.workbench.api import annotating, keeping, learning, looking, programs
from spanloom.workbench.exporting import WRITTEN
from spanloom.workbench.importing import UPLOADED
from spanloom.workbench.queue import ORDERS, STATES
from spanloom.workbench.sheets import KINDS

ROUTES = (*programs.ROUTES, *annotating.ROUTES, *learning.ROUTES, *looking.ROUTES, *keeping.ROUTES)
"""All routes of the workbench."""

_TEXT: dict[str, Any] = {"type": "string"}
_NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_ANY: dict[str, Any] = {"type": "object"}
_LIST: dict[str, Any] = {"type": "array"}
_PARTS: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": _COUNT},
}
_MENTION: dict[str, Any] = {
    "type": "object",
    "properties": {"label": _NAME, "parts": _PARTS},
    "required": ["label", "parts"],
}
_MENTIONS = {"type": "array", "items": _MENTION}
_NUMBERS = {"type": "array", "items": _COUNT}
_CHANGE: dict[str, Any] = {
    "type": "object",
    "description": "Mentions count the tokens of the document, sentences from 0.",
    "properties": {
        **dict.fromkeys(("add", "remove", "reject", "restore"), _MENTIONS),
        **dict.fromkeys(("confirm", "reopen"), _NUMBERS),
    },
    "additionalProperties": False,
}
_WHO = {"annotator": _NAME, "page": {"type": "string", "minLength": 1, "maxLength": 100}}
_MENTIONS_ARE = {"enum": ["auto", "gold", "suggestions", "none"]}
_DOCUMENTS = {"type": "array", "items": {"$ref": "#/components/schemas/Document"}}


def _object(needed: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(needed)}


def _has(*names: str) -> dict[str, Any]:
    """An answer with these fields."""
    return {"type": "object", "required": list(names)}


_STEP = _object(("annotator", "page", "version"), **_WHO, version=_COUNT, brief={"type": "boolean"})
_TOLD: dict[tuple[str, str], dict[str, Any]] = {
    ("GET", "/documents"): {
        "query": {"layer": _TEXT, "offset": _COUNT, "limit": _COUNT},
        "gives": _object(("documents", "total"), documents=_DOCUMENTS, total=_COUNT),
    },
    ("POST", "/documents"): {
        "query": {"mentions": _MENTIONS_ARE},
        "takes": _object(("documents",), documents={**_DOCUMENTS, "minItems": 1}),
        "gives": _object(("added", "known"), added=_COUNT, known=_COUNT),
    },
    ("GET", "/train"): {"gives": _has("state", "model", "iteration", "error")},
    ("POST", "/train"): {"gives": _has("state", "model", "iteration", "error")},
    ("GET", "/api/documents"): {
        "query": {"annotator": _NAME, "by": {"enum": list(ORDERS)}, "state": {"enum": list(STATES)}, "q": _TEXT,
                  "offset": _COUNT, "limit": {**_COUNT, "maximum": 1000}},
        "needed": ("annotator",),
        "gives": _has("documents", "total", "counts"),
    },
    ("GET", "/api/documents/{document:int}"): {
        "query": {"annotator": _NAME}, "needed": ("annotator",), "gives": _has("id", "text", "sheet", "suggestions"),
    },
    ("POST", "/api/documents/{document:int}/open"): {
        "takes": _object(("annotator", "page"), **_WHO, take={"type": "boolean"}), "gives": _has("sheet", "mine"),
    },
    ("POST", "/api/documents/{document:int}/actions"): {
        "takes": _object(
            ("annotator", "page", "version", "kind", "change"), **_WHO, version=_COUNT, brief={"type": "boolean"},
            kind={"enum": list(KINDS)}, change=_CHANGE,
        ),
        "gives": _ANY,
    },
    ("POST", "/api/documents/{document:int}/undo"): {"takes": _STEP, "gives": _ANY},
    ("POST", "/api/documents/{document:int}/redo"): {"takes": _STEP, "gives": _ANY},
    ("GET", "/api/documents/{document:int}/suggestions"): {"gives": _has("suggestions", "model")},
    ("POST", "/api/pulse"): {
        "takes": _object(("page",), **_WHO, document=_COUNT), "gives": _has("learning", "busy"),
    },
    ("POST", "/api/release"): {"takes": _object(("page",), page=_WHO["page"]), "gives": _ANY},
    ("GET", "/api/learning"): {"gives": _has("learning", "curve")},
    ("POST", "/api/learning"): {"gives": _has("learning")},
    ("POST", "/api/learning/stop"): {"gives": _has("learning")},
    ("GET", "/api/trail"): {"query": {"document": _COUNT, "limit": _COUNT}, "gives": _has("trail")},
    ("GET", "/api/documents/{document:int}/why"): {
        "query": {"label": _NAME, "parts": _TEXT}, "needed": ("label", "parts"), "gives": _ANY,
    },
    ("GET", "/api/occurrences"): {
        "query": {"document": _COUNT, "parts": _TEXT}, "needed": ("document", "parts"),
        "gives": _has("total", "labels", "places"),
    },
    ("GET", "/api/statistics"): {"gives": _has("documents", "mentions", "labels")},
    ("GET", "/api/agreement"): {"gives": _has("pairs")},
    ("GET", "/api/documents/{document:int}/compare"): {
        "query": {"one": _TEXT, "other": _TEXT}, "needed": ("one", "other"), "gives": _has("text", "sentences"),
    },
    ("POST", "/api/documents/{document:int}/adjudicate"): {
        "takes": _object(
            ("page", "version", "sentence", "mentions"), page=_WHO["page"], version=_COUNT, sentence=_COUNT,
            mentions=_MENTIONS,
        ),
        "gives": _has("sheet"),
    },
    ("POST", "/api/audit"): {"gives": _has("learning")},
    ("GET", "/api/suspects"): {"query": {"limit": {**_COUNT, "maximum": 1000}}, "gives": _has("suspects")},
    ("DELETE", "/api/suspects/{number:int}"): {"gives": _ANY},
    ("GET", "/api/report"): {"query": {"gold": _TEXT, "other": _TEXT}, "gives": "text/html"},
    ("GET", "/api/project"): {"gives": _has("name", "labels", "annotators", "settings", "documents")},
    ("PUT", "/api/labels"): {"takes": _object(("labels",), labels=_LIST), "gives": _has("labels")},
    ("PUT", "/api/guideline"): {"takes": _object(("guideline",), guideline=_TEXT), "gives": _has("guideline")},
    ("PUT", "/api/settings"): {"takes": _ANY, "gives": _has("settings")},
    ("POST", "/api/import"): {
        "query": {"name": _TEXT, "format": {"enum": list(UPLOADED)}, "options": _TEXT, "mentions": _MENTIONS_ARE,
                  "held_out": {"enum": ["0", "1"]}, "sample": {"enum": ["train", "dev", "test"]}},
        "takes": BYTES, "gives": _has("added", "known"),
    },
    ("GET", "/api/export"): {
        "query": {"format": {"enum": list(WRITTEN)}, "layer": _TEXT, "options": _TEXT}, "gives": BYTES,
    },
}  # fmt: skip
_ERRORS = (400, 404, 409, 423)


def operations() -> list[Operation]:
    """Return what is told of every route."""
    made = []
    for method, path, run in ROUTES:
        words = (inspect.getdoc(run) or "").partition("\n")[0].replace("``", "")
        made.append(Operation(method, path, words, errors=_ERRORS, **_TOLD[method, path]))
    return made
