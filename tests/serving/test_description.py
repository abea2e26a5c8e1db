"""The OpenAPI descriptions, held against what is really answered: schemathesis makes requests from them.

Bounded and the same in every run. No answer may be a server error, and status, kind and form must be as described.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from extras import needs

needs("starlette", "httpx2", "cassis", "schemathesis")
pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of packages below schemathesis
]

import schemathesis  # noqa: E402
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from spanloom import Recognizer, read  # noqa: E402
from spanloom.learning import LBFGS  # noqa: E402
from spanloom.serving.api import application  # noqa: E402
from spanloom.serving.bridges import BRIDGES  # noqa: E402
from spanloom.serving.models import Learner, Models  # noqa: E402
from spanloom.workbench.api.description import ROUTES  # noqa: E402
from spanloom.workbench.app import make_app  # noqa: E402
from spanloom.workbench.changes import Change  # noqa: E402
from spanloom.workbench.project import Project  # noqa: E402

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 5


def local(app: Any) -> Any:
    """Return an application that is asked under the name of this machine."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            kept = [(name, value) for name, value in scope["headers"] if name != b"host"]
            scope = {**scope, "headers": [*kept, (b"host", b"127.0.0.1")]}
        await app(scope, receive, send)

    return answer


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=15)).fit(read("sample:train?domain=news"))


@pytest.fixture
def server(ner: Recognizer, tmp_path: Path) -> Iterator[Any]:
    models = Models({"gene": ner})
    learner = Learner(models, tmp_path)
    yield local(application(models, learner=learner, more=BRIDGES))
    learner.close()
    models.close()


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Any]:
    project = Project(tmp_path / "p")
    project.add(list(read("sample:train?domain=news"))[:4])
    for name in ("ann", "bea"):
        project.sheets.change(1, name, 0, "confirm", Change(reopen=(0,)))
    project.learner.start()
    project.learner.wait()
    yield local(make_app(project))
    project.close()


def hold(app: Any, least: int) -> None:
    """Make requests of every operation, and check the answers."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    logging.getLogger("spanloom").setLevel(logging.CRITICAL)  # errors are told by the checks
    count = 0
    statuses: Counter[int] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()
        count += 1
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            def ask(case: Any) -> None:
                answer = case.call()
                statuses[answer.status_code] += 1
                case.validate_response(answer, checks=CHECKS)

            with suppress(SkipTest, Unsatisfiable):  # a request without parameters cannot be wrong
                ask()
    assert count >= least
    assert {200, 400, 404} <= set(statuses)


def test_the_server_answers_as_it_says(server: Any) -> None:
    hold(server, 10)


def test_the_workbench_answers_as_it_says(workbench: Any) -> None:
    hold(workbench, 10 + len(ROUTES) - 2)  # /train is there twice
