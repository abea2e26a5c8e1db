"""For programs: documents in and out as in JSONL, and learning, under the paths of the server's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.base.errors import SpanloomError
from spanloom.formats.checks import BadRecord
from spanloom.formats.jsonl import to_dict
from spanloom.serving.requests import document
from spanloom.workbench.api.call import Answer, Call, Routes
from spanloom.workbench.api.learning import learn
from spanloom.workbench.errors import Refused
from spanloom.workbench.exporting import layer

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

MOST = 10_000
"""Documents of one request."""


def documents(project: Project, call: Call) -> Answer:
    """Return documents with their annotation: what counts (``gold``), or one annotator's."""
    docs = layer(project, call.query.get("layer", "gold"))
    offset, limit = call.count("offset", 0, 10_000_000), call.count("limit", 1000, MOST)
    return {"documents": [to_dict(doc, chars=True) for doc in docs[offset : offset + limit]], "total": len(docs)}


def add_documents(project: Project, call: Call) -> Answer:
    """Add documents; their mentions are gold, suggestions to check, or not wanted (``none``)."""
    mentions = call.choice("mentions", ("auto", "gold", "suggestions", "none"))
    given = call.json().get("documents")
    if not isinstance(given, list) or not 0 < len(given) <= MOST:
        raise Refused(f'the body must be {{"documents": [...]}} with 1 to {MOST:,} documents')
    made = []
    for k, record in enumerate(given):
        try:
            made.append(document(record, f"document {k}"))
        except BadRecord as error:
            raise Refused(f"document {k}: {error}") from None
        except SpanloomError as error:  # says the place itself
            raise Refused(str(error)) from None
    return project.add(made, mentions)._asdict()


def training(project: Project, call: Call) -> Answer:
    """Say how learning goes, in the words of ``spanloom serve``."""
    now = project.learner.progress
    state = "training" if now.running else now.phase if now.phase in ("done", "failed") else "idle"
    return {"state": state, "model": "current", "iteration": now.iteration, "error": now.error or None}


def train(project: Project, call: Call) -> Answer:
    """Begin to learn from what is annotated."""
    learn(project, call)
    return training(project, call)


ROUTES: Routes = (
    ("GET", "/documents", documents),
    ("POST", "/documents", add_documents),
    ("GET", "/train", training),
    ("POST", "/train", train),
)
