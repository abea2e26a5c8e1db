"""Look: the trail, explanations, occurrences, counts, agreement, suspects, the report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from spanloom.corpus.mention import Mention, Parts
from spanloom.workbench.api.call import Answer, Call, Routes, as_page, as_version
from spanloom.workbench.auditing import dismiss, run_audit, suspects
from spanloom.workbench.changes import Change, as_label, as_parts
from spanloom.workbench.comparing import agreements, side_by_side
from spanloom.workbench.documents import ADJUDICATED
from spanloom.workbench.errors import Refused
from spanloom.workbench.looking import counts, occurrences, report, why

if TYPE_CHECKING:
    from spanloom.workbench.project import Project


def trail(project: Project, call: Call) -> Answer:
    """Return the last changes."""
    document = call.count("document", 0, 1 << 40) or None
    return {"trail": project.sheets.trail(document, call.count("limit", 200, 10_000))}


def explained(project: Project, call: Call) -> Answer:
    """Say why a mention is believed, or not."""
    return why(project, call.document, Mention(as_label(call.query.get("label"), "label"), _parts(call)))


def elsewhere(project: Project, call: Call) -> Answer:
    """Return where else the text of some tokens occurs."""
    return occurrences(project, call.count("document", 0, 1 << 40), _parts(call))


def statistics(project: Project, call: Call) -> Answer:
    """Return counts of what is annotated."""
    return counts(project)


def agreed(project: Project, call: Call) -> Answer:
    """Return the agreement of each pair of annotators."""
    return {"pairs": agreements(project)}


def compared(project: Project, call: Call) -> Answer:
    """Return a document with two annotations side by side."""
    return side_by_side(project, call.document, call.query.get("one", ""), call.query.get("other", ""))


def adjudicated(project: Project, call: Call) -> Answer:
    """Settle a sentence: its mentions are those given."""
    given = call.json()
    place = (call.document, ADJUDICATED)
    doc = project.documents.get(call.document)
    project.locks.check(place, as_page(given.get("page")))
    wanted = Change.from_json({"add": given.get("mentions", []), "confirm": [given.get("sentence")]})
    sheet = project.sheets.get(*place)
    (k,) = wanted.confirm
    if not 0 <= k < len(doc.sentences):
        raise Refused(f"there is no sentence {k}; the document has {len(doc.sentences)}")
    start = sum(len(s) for s in doc.sentences[:k])
    old = {m for m in sheet.mentions if start <= m.start < start + len(doc.sentences[k])}
    if any(not start <= m.start < start + len(doc.sentences[k]) for m in wanted.add):
        raise Refused(f"a mention is not in sentence {k}")
    new = set(wanted.add)
    change = Change(tuple(new - old), tuple(old - new), wanted.confirm)
    done = project.sheets.change(*place, as_version(given.get("version")), "adjudicate", change)
    return {"sheet": done.to_json()}


def audit(project: Project, call: Call) -> Answer:
    """Begin to look for annotation errors."""
    return {"learning": project.learner.run(lambda: run_audit(project), "auditing").to_json()}


def suspected(project: Project, call: Call) -> Answer:
    """Return what the last audit found."""
    return {"suspects": suspects(project, call.count("limit", 100, 1000))}


def dismissed(project: Project, call: Call) -> Answer:
    """Take a suspect from the list."""
    dismiss(project, call.number("number"))
    return {}


def reported(project: Project, call: Call) -> Answer:
    """Return a report as a file."""
    return report(project, call.query.get("gold", "gold"), call.query.get("other", "model"))


def _parts(call: Call) -> Parts:
    try:
        return as_parts(json.loads(call.query.get("parts", "")), "parts")
    except (ValueError, RecursionError):
        raise Refused("parts must be half-open token ranges as JSON: [[start, end], …]") from None


ROUTES: Routes = (
    ("GET", "/api/trail", trail),
    ("GET", "/api/documents/{document:int}/why", explained),
    ("GET", "/api/occurrences", elsewhere),
    ("GET", "/api/statistics", statistics),
    ("GET", "/api/agreement", agreed),
    ("GET", "/api/documents/{document:int}/compare", compared),
    ("POST", "/api/documents/{document:int}/adjudicate", adjudicated),
    ("POST", "/api/audit", audit),
    ("GET", "/api/suspects", suspected),
    ("DELETE", "/api/suspects/{number:int}", dismissed),
    ("GET", "/api/report", reported),
)
