"""Open documents, change them, take changes back; hold them while a page is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanloom.workbench.api.call import Answer, Call, Routes, as_number, as_page, as_version
from spanloom.workbench.changes import Change
from spanloom.workbench.documents import check_annotator
from spanloom.workbench.labels import settings
from spanloom.workbench.queue import ORDERS, STATES, queue
from spanloom.workbench.sheets import Sheet

if TYPE_CHECKING:
    from spanloom.workbench.project import Project


def listed(project: Project, call: Call) -> Answer:
    """Return documents in the order of a queue."""
    return queue(
        project,
        call.annotator(),
        by=call.choice("by", ORDERS),
        state=call.choice("state", STATES),
        search=call.query.get("q", ""),
        offset=call.count("offset", 0, 10_000_000),
        limit=call.count("limit", 50, 1000),
    )


def opened(project: Project, call: Call) -> Answer:
    """Return a document and hold it, unless another page has it; ``take`` takes it from that page."""
    given = call.json()
    annotator, page = check_annotator(given.get("annotator")), as_page(given.get("page"))
    view = project.view(call.document, annotator)
    mine = project.locks.take((call.document, annotator), page, given.get("take") is True)
    project.locks.release(page, but=(call.document, annotator))
    return {**view, "mine": mine}


def shown(project: Project, call: Call) -> Answer:
    """Return a document without holding it."""
    return project.view(call.document, call.annotator())


def changed(project: Project, call: Call) -> Answer:
    """Make a change; it is on the disk when this returns. The answer is the sheet, or (``brief``) what has changed."""
    given = call.json()
    annotator = _holding(project, call.document, given)
    change = Change.from_json(given.get("change"))
    version = as_version(given.get("version"))
    before = project.sheets.get(call.document, annotator).confirmed
    sheet = project.sheets.change(call.document, annotator, version, str(given.get("kind")), change)
    after = sheet.confirmed
    if len(before) < len(after) == len(project.documents.get(call.document).sentences):
        _learn_by_itself(project, call.document)
    return _told(sheet, given)


def _holding(project: Project, document: int, given: dict[str, Any]) -> str:
    """Return who writes; from now on the page holds the document, which must be there."""
    annotator, page = check_annotator(given.get("annotator")), as_page(given.get("page"))
    project.documents.get(document)
    project.locks.check((document, annotator), page)
    return annotator


def _told(sheet: Sheet, given: dict[str, Any]) -> Answer:
    return {"news": sheet.news()} if given.get("brief") is True else {"sheet": sheet.to_json()}


def _learn_by_itself(project: Project, document: int) -> None:
    """Begin to learn if so many documents were finished as the project wants."""
    every = settings(project.db)["every"]
    project.finished += 1
    if every and project.finished >= every and not project.learner.progress.running:
        project.finished = 0
        project.learner.start([document, *project.locks.busy()])


def undone(project: Project, call: Call) -> Answer:
    """Take the last change back."""
    return _step(project, call, "undo")


def redone(project: Project, call: Call) -> Answer:
    """Make the last change again that was taken back."""
    return _step(project, call, "redo")


def _step(project: Project, call: Call, way: str) -> Answer:
    given = call.json()
    annotator = _holding(project, call.document, given)
    step = project.sheets.undo if way == "undo" else project.sheets.redo
    return _told(step(call.document, annotator, as_version(given.get("version"))), given)


def pulse(project: Project, call: Call) -> Answer:
    """Say that a page is still there; return what may have changed meanwhile."""
    given = call.json()
    page = as_page(given.get("page"))
    answer: dict[str, Any] = {"learning": project.learner.progress.to_json()}
    document = given.get("document")
    if type(document) is int:
        annotator = check_annotator(given.get("annotator"))
        project.documents.get(as_number(document, "document"))
        answer["mine"] = project.locks.take((document, annotator), page)
        answer["version"] = project.sheets.get(document, annotator).version
        answer["model"] = project.db.value("SELECT model FROM beliefs WHERE document = ?", document) or 0
    answer["busy"] = project.locks.busy()
    return answer


def released(project: Project, call: Call) -> Answer:
    """Let go of what a page holds."""
    project.locks.release(as_page(call.json().get("page")))
    return {}


def suggested(project: Project, call: Call) -> Answer:
    """Return the suggestions of a document."""
    project.documents.get(call.document)
    return project.suggested(call.document)


ROUTES: Routes = (
    ("GET", "/api/documents", listed),
    ("GET", "/api/documents/{document:int}", shown),
    ("POST", "/api/documents/{document:int}/open", opened),
    ("POST", "/api/documents/{document:int}/actions", changed),
    ("POST", "/api/documents/{document:int}/undo", undone),
    ("POST", "/api/documents/{document:int}/redo", redone),
    ("GET", "/api/documents/{document:int}/suggestions", suggested),
    ("POST", "/api/pulse", pulse),
    ("POST", "/api/release", released),
)
