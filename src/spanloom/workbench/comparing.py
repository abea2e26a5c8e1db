"""Where annotators differ: agreement of each pair, and the sentences of a document side by side."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from spanloom.corpus.mention import Mention
from spanloom.workbench.agreement import agreement
from spanloom.workbench.changes import mention_json, sorted_mentions
from spanloom.workbench.documents import ADJUDICATED
from spanloom.workbench.errors import Missing
from spanloom.workbench.gold import token_starts
from spanloom.workbench.sheets import Sheet
from spanloom.workbench.views import text_view

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

Both = dict[int, tuple[Sheet, Sheet, set[int]]]


def layers(project: Project) -> list[str]:
    """Return everybody who has a sheet, and what was imported; not what was adjudicated."""
    rows = project.db.rows(
        "SELECT DISTINCT name FROM annotators JOIN sheets ON annotators.id = annotator WHERE name != ? ORDER BY name",
        ADJUDICATED,
    )
    return [row[0] for row in rows]


def in_common(project: Project, one: str, other: str) -> Both:
    """Return the documents of which both have confirmed sentences: their sheets and those sentences."""
    rows = project.db.rows(
        "SELECT document FROM sheets JOIN annotators ON annotators.id = annotator WHERE name IN (?, ?) "
        "GROUP BY document HAVING count(*) = 2 ORDER BY document",
        one, other,
    )  # fmt: skip
    found: Both = {}
    for (number,) in rows:
        a, b = project.sheets.get(number, one), project.sheets.get(number, other)
        if a.confirmed & b.confirmed:
            found[number] = (a, b, a.confirmed & b.confirmed)
    return found


def agreements(project: Project) -> list[dict[str, Any]]:
    """Return the agreement of each pair of annotators on what both have confirmed."""
    made = []
    for one, other in combinations(layers(project), 2):
        common = in_common(project, one, other)
        if not common:
            continue
        pairs = []
        differing: list[dict[str, Any]] = []
        for number, (a, b, sentences) in common.items():
            doc = project.documents.get(number)
            starts = [*token_starts(doc.sentences), len(doc)]
            ranges = [(starts[k], starts[k + 1]) for k in sentences]
            mine, theirs = _within(a.mentions, ranges), _within(b.mentions, ranges)
            pairs.append((mine, theirs, max(len(doc), 1)))
            if mine != theirs:
                differing.append({"document": number, "name": _name(project, number), "differ": len(mine ^ theirs)})
        count = sum(len(sentences) for _, _, sentences in common.values())
        differing.sort(key=lambda d: -d["differ"])
        made.append({"one": one, "other": other, "sentences": count, "differing": differing, **agreement(pairs)})
    return made


def side_by_side(project: Project, document: int, one: str, other: str) -> dict[str, Any]:
    """Return a document with two annotations, the sentences where they differ, and what was adjudicated."""
    for name in (one, other):
        if name not in layers(project):
            raise Missing(f"there is no annotator {name!r:.60}")
    doc = project.documents.get(document)
    a, b = project.sheets.get(document, one), project.sheets.get(document, other)
    final = project.sheets.get(document, ADJUDICATED) if ADJUDICATED in project.sheets.of(document) else Sheet()
    starts = [*token_starts(doc.sentences), len(doc)]
    sentences = []
    for k in sorted(a.confirmed & b.confirmed):
        place = [(starts[k], starts[k + 1])]
        mine, theirs = _within(a.mentions, place), _within(b.mentions, place)
        settled = k in final.confirmed
        if mine != theirs or settled:
            made = {
                "sentence": k,
                "one": _json(mine),
                "other": _json(theirs),
                "final": _json(_within(final.mentions, place)) if settled else None,
            }
            sentences.append(made)
    return {
        "document": document,
        "name": _name(project, document),
        "text": text_view(doc),
        "sentences": sentences,
        "version": project.sheets.get(document, ADJUDICATED).version,
        "sheet": project.sheets.get(document, ADJUDICATED).to_json(),
    }


def _within(mentions: set[Mention], ranges: list[tuple[int, int]]) -> set[Mention]:
    return {m for m in mentions if any(start <= m.start < end for start, end in ranges)}


def _json(mentions: set[Mention]) -> list[dict[str, Any]]:
    return [mention_json(m) for m in sorted_mentions(mentions)]


def _name(project: Project, document: int) -> str:
    return str(project.db.value("SELECT name FROM documents WHERE id = ?", document))
