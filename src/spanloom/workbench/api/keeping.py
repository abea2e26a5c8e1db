"""The project itself: labels, guideline, settings, import, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.workbench.api.call import Answer, Call, Download, Routes
from spanloom.workbench.documents import RESERVED
from spanloom.workbench.exporting import WRITTEN, export
from spanloom.workbench.importing import UPLOADED, upload
from spanloom.workbench.labels import guideline, put_guideline, put_settings, settings

if TYPE_CHECKING:
    from spanloom.workbench.project import Project


def about(project: Project, call: Call) -> Answer:
    """Return what a page needs to know of the project."""
    names = [row[0] for row in project.db.rows("SELECT name FROM annotators ORDER BY name")]
    return {
        "name": project.name,
        "labels": project.labels.all(),
        "annotators": [name for name in names if name not in RESERVED],
        "layers": names,
        "settings": settings(project.db),
        "guideline": guideline(project.db),
        "documents": project.db.value("SELECT count(*) FROM documents"),
        "corrections": project.sheets.corrections(),
        "exports": list(WRITTEN),
        "imports": list(UPLOADED),
        "learning": project.learner.progress.to_json(),
    }


def set_labels(project: Project, call: Call) -> Answer:
    """Keep labels as given."""
    project.labels.put(call.json().get("labels"))
    return {"labels": project.labels.all()}


def set_guideline(project: Project, call: Call) -> Answer:
    """Keep the text of the guideline."""
    put_guideline(project.db, call.json().get("guideline"))
    return {"guideline": guideline(project.db)}


def set_settings(project: Project, call: Call) -> Answer:
    """Change settings."""
    return {"settings": put_settings(project.db, call.json())}


def imported(project: Project, call: Call) -> Answer:
    """Add the documents of an uploaded file, or of the sample corpus (``sample=train``)."""
    mentions = call.choice("mentions", ("auto", "gold", "suggestions", "none"))
    if "sample" in call.query:
        part = call.choice("sample", ("train", "dev", "test"))
        return project.read(f"sample:{part}", mentions)._asdict()
    held_out = True if call.query.get("held_out") == "1" else None
    name, format, options = (call.query.get(what, "") for what in ("name", "format", "options"))
    docs, notes = upload(name, format, call.body, options)
    return {**project.add(docs, mentions, held_out)._asdict(), "notes": notes}


def exported(project: Project, call: Call) -> Download:
    """Return the annotation as a file: of one layer, or what all agree on (``gold``)."""
    format, layer = call.query.get("format", "jsonl"), call.query.get("layer", "gold")
    return export(project, format, layer, call.query.get("options", ""))


ROUTES: Routes = (
    ("GET", "/api/project", about),
    ("PUT", "/api/labels", set_labels),
    ("PUT", "/api/guideline", set_guideline),
    ("PUT", "/api/settings", set_settings),
    ("POST", "/api/import", imported),
    ("GET", "/api/export", exported),
)
