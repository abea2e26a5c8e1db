"""Learn, stop, see how well it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.workbench.api.call import Answer, Call, Routes

if TYPE_CHECKING:
    from spanloom.workbench.project import Project


def learn(project: Project, call: Call) -> Answer:
    """Begin to learn; suggestions of the documents that are open now come first."""
    project.finished = 0
    return {"learning": project.learner.start(project.locks.busy()).to_json()}


def stop(project: Project, call: Call) -> Answer:
    """Stop learning; the last model stays."""
    return {"learning": project.learner.stop().to_json()}


def progress(project: Project, call: Call) -> Answer:
    """Return how far learning is, and the scores of all models."""
    return {"learning": project.learner.progress.to_json(), "curve": project.learner.curve()}


ROUTES: Routes = (
    ("GET", "/api/learning", progress),
    ("POST", "/api/learning", learn),
    ("POST", "/api/learning/stop", stop),
)
