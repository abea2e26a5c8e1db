"""What next: the documents of a project in the order in which they are worth reading."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from spanloom.evaluation.score import micro
from spanloom.workbench.documents import ADJUDICATED, IMPORTED

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

ORDERS = ("order", "uncertainty", "models", "annotators", "random")
"""As imported; by the entropy of the model; by how much its last two versions differ; by how much annotators differ."""
STATES = ("all", "open", "done")
_START = 90  # characters of a document that the list shows

_QUERY = """
SELECT documents.id, documents.name, substr(text, 1, ?) AS start, tokens, sentences, held_out, entropy, changed,
  (SELECT count(*) FROM confirmed WHERE confirmed.sheet = used.id) AS confirmed,
  (SELECT count(*) FROM mentions WHERE mentions.sheet = used.id AND NOT rejected) AS mentions,
  (SELECT count(*) FROM sheets AS others WHERE others.document = documents.id AND others.annotator NOT IN
    (SELECT id FROM annotators WHERE name IN (?, ?))) AS annotators
FROM documents
LEFT JOIN sheets AS used ON used.id = coalesce(
  (SELECT id FROM sheets WHERE document = documents.id AND annotator = (SELECT id FROM annotators WHERE name = ?)),
  (SELECT id FROM sheets WHERE document = documents.id AND annotator = (SELECT id FROM annotators WHERE name = ?)))
LEFT JOIN beliefs ON beliefs.document = documents.id
WHERE ? = '' OR instr(lower(text), lower(?)) OR instr(lower(documents.name), lower(?))
ORDER BY documents.id
"""


def queue(
    project: Project, annotator: str, *, by: str, state: str, search: str, offset: int, limit: int
) -> dict[str, Any]:
    """Return documents for an annotator, with how far each is, and how many there are in all."""
    rows = project.db.rows(
        _QUERY, _START, IMPORTED, ADJUDICATED, annotator, IMPORTED, search, search, search
    )  # fmt: skip
    found = [{**dict(row), "done": row["confirmed"] == row["sentences"]} for row in rows]
    counts = {"all": len(found), "done": sum(one["done"] for one in found)}
    counts["open"] = counts["all"] - counts["done"]
    if state != "all":
        found = [one for one in found if one["done"] == (state == "done")]
    if by == "uncertainty":
        found.sort(key=lambda one: -(one["entropy"] or 0.0))
    elif by == "models":
        found.sort(key=lambda one: -(one["changed"] or 0.0))
    elif by == "annotators":
        for one in found:
            one["disagreement"] = _differ(project, one["id"]) if one["annotators"] > 1 else 0.0
        found.sort(key=lambda one: -one["disagreement"])
    elif by == "random":
        found.sort(key=lambda one: hashlib.blake2b(f"{one['id']}".encode(), digest_size=8).digest())
    busy = project.locks.busy()
    page = [{**one, "busy": busy.get(one["id"], [])} for one in found[offset : offset + limit]]
    return {"documents": page, "total": len(found), "counts": counts}


def _differ(project: Project, document: int) -> float:
    """Return 1 minus the mean F1 of all pairs of annotators of a document."""
    sheets = [s for name, s in project.sheets.of(document).items() if name not in (IMPORTED, ADJUDICATED)]
    pairs = [(a, b) for i, a in enumerate(sheets) for b in sheets[i + 1 :] if a.mentions or b.mentions]
    if not pairs:
        return 0.0
    return 1.0 - sum(micro([a.mentions], [b.mentions]).f1 for a, b in pairs) / len(pairs)
