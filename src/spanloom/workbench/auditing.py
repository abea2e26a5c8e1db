"""Annotation errors first: where models that have not seen a sentence are sure that its annotation is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spanloom.corpus.document import Document, surface
from spanloom.corpus.mention import Mention
from spanloom.tuning.audit import audit
from spanloom.workbench.changes import mention_json
from spanloom.workbench.errors import Missing, Refused
from spanloom.workbench.gold import gold_document, token_starts
from spanloom.workbench.labels import settings

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

FOLDS = 5
_PLACE = "workbench"
MOST = 500
"""Suspects that are kept, the surest."""


def run_audit(project: Project) -> None:
    """Judge all sentences that are known completely, and keep what is suspicious."""
    docs = []
    for (number,) in project.db.rows("SELECT DISTINCT document FROM sheets ORDER BY document"):
        doc = gold_document(project.documents.get(number), project.sheets.of(number))
        kept = [
            replace(sentence, meta={**sentence.meta, _PLACE: (number, k)})
            for k, sentence in enumerate(doc.sentences)
            if sentence.known is None
        ]
        if kept:
            docs.append(Document(kept, doc.id))
    if len(docs) < FOLDS:
        raise Refused(f"the audit needs {FOLDS} documents with confirmed sentences; there are {len(docs)}")
    given = settings(project.db)
    chosen = {"model": given["model"], "features": given["features"]}
    found = audit(docs, settings=chosen, folds=FOLDS, threads=project.learner.threads)
    rows = []
    for one in found.suspects[:MOST]:
        number, k = one.sentence.meta[_PLACE]
        start = token_starts(project.documents.get(number).sentences)[k]
        pair = [None if m is None else json.dumps(_told(m, start)) for m in (one.gold, one.instead)]
        rows.append((number, k, one.kind, one.suspicion, *pair))
    with project.db.writing() as write:
        write.execute("DELETE FROM suspects")
        write.executemany(
            "INSERT INTO suspects (document, sentence, kind, suspicion, gold, instead) VALUES (?, ?, ?, ?, ?, ?)", rows
        )


def suspects(project: Project, limit: int) -> list[dict[str, Any]]:
    """Return what the last audit found, the surest first."""
    rows = project.db.rows(
        "SELECT suspects.*, documents.name FROM suspects JOIN documents ON documents.id = document "
        "ORDER BY suspicion DESC, suspects.id LIMIT ?",
        limit,
    )
    made = []
    for row in rows:
        doc = project.documents.get(row["document"])
        one = dict(row)
        for side in ("gold", "instead"):
            if one[side] is not None:
                told = json.loads(one[side])
                told["text"] = surface(doc.text, doc.chars(Mention("x", tuple(map(tuple, told["parts"])))))
                one[side] = told
        made.append(one)
    return made


def dismiss(project: Project, number: int) -> None:
    """Take a suspect from the list: somebody has looked at it."""
    with project.db.writing() as write:
        if not write.execute("DELETE FROM suspects WHERE id = ?", (number,)).rowcount:
            raise Missing(f"there is no suspect {number}")


def _told(mention: Mention, start: int) -> dict[str, Any]:
    return mention_json(mention.shifted(start))
