"""The server of the workbench: one ASGI application for the page and its API."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need
from spanloom.serving.api import application, handlers
from spanloom.serving.bridges import BRIDGES
from spanloom.serving.models import Models
from spanloom.serving.security import Guard
from spanloom.workbench.api.call import Call, Download, Function
from spanloom.workbench.api.description import ROUTES, operations
from spanloom.workbench.errors import Refused

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer
    from spanloom.workbench.project import Project

MODEL = "current"
"""The name of the last model for programs."""
LARGEST = 256 << 20
"""Bytes of an uploaded file."""
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def make_app(project: Project) -> Any:
    """Return the application of a project.

    Beside the page and its API it has the paths of ``spanloom serve`` (``/tag``, ``/models``, ``/docs`` and so on),
    where the last model answers under the name ``current``.

    Every answer is JSON, a file of the page or a download. Errors are ``{"error": …}``.
    """
    applications = need("starlette.applications", "workbench")
    routing = need("starlette.routing", "workbench")
    routes = [routing.Route(path, _endpoint(project, run), methods=[method]) for method, path, run in ROUTES]
    routes += [routing.Route("/", _file("index.html")), routing.Route("/page/{name}", _page_file)]
    models = Models({}, workers=1)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        models.close()

    def serve(ner: Recognizer) -> None:
        models.put(MODEL, ner)

    project.learner.listeners.append(serve)
    if project.learner.ner is not None:
        serve(project.learner.ner)
    tagging = application(models, more=BRIDGES, told=operations())
    routes.append(routing.Mount("/", tagging))
    app = applications.Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers())
    return Guard(app, largest=LARGEST)


def _endpoint(project: Project, run: Function) -> Callable[[Any], Any]:
    responses = need("starlette.responses", "workbench")
    concurrency = need("starlette.concurrency", "workbench")

    async def answer(request: Any) -> Any:
        call = Call(request.path_params, dict(request.query_params), await request.body())
        try:
            made = await concurrency.run_in_threadpool(run, project, call)
        except Refused as error:
            return responses.JSONResponse({"error": str(error), **error.details}, error.status)
        except SpanloomError as error:
            return responses.JSONResponse({"error": str(error)}, 400)
        except Exception as error:  # a mistake of ours: said to the page, told in full in the terminal
            logging.getLogger(__name__).exception("an answer failed: %s", request.url.path)
            return responses.JSONResponse({"error": f"internal error: {type(error).__name__}"}, 500)
        if isinstance(made, Download):
            headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(made.name, safe='')}"}
            return responses.Response(made.content, media_type=made.kind, headers=headers)
        return responses.JSONResponse(made, headers={"cache-control": "no-store"})

    return answer


def _file(name: str) -> Callable[[Any], Any]:
    async def answer(request: Any) -> Any:
        return _page(name)

    return answer


async def _page_file(request: Any) -> Any:
    return _page(request.path_params["name"])


def _page(name: str) -> Any:
    responses = need("starlette.responses", "workbench")
    folder = resources.files("spanloom.workbench").joinpath("page")
    if name not in {one.name for one in folder.iterdir()}:
        return responses.JSONResponse({"error": "there is no such file"}, 404)
    kind = KINDS[name.rpartition(".")[2]]
    text = folder.joinpath(name).read_text(encoding="utf-8")
    return responses.Response(text, media_type=kind, headers={"cache-control": "no-cache"})
