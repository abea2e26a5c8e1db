"""The HTTP interface: one table of endpoints, from which the routes and their OpenAPI description are made."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need
from spanloom.formats.checks import BadRecord, encode
from spanloom.serving.description import Operation, describe, page
from spanloom.serving.engine import Busy, Late
from spanloom.serving.metrics import Metrics
from spanloom.serving.models import Learner, Models, UnknownModel
from spanloom.serving.requests import document, json_object, tag_request
from spanloom.serving.security import LOCAL, Guard

log = logging.getLogger("spanloom.serving")
LARGE = 1 << 16
"""Bodies of more bytes are read in a thread, so that others need not wait."""

Answer = tuple[int, bytes | dict[str, Any] | list[Any] | None]
"""Status, and JSON as bytes or as an object; None for no content."""
Handler = Callable[["Service", "dict[str, str]", bytes], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path and method.

    Parameters
    ----------
    handler
        Called with the service, the parameters of the path and the body.
    takes, gives
        JSON schemas of the body and of the answer; None for none.
    errors
        Statuses that it may answer beside ``status``.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    takes: dict[str, Any] | None = None
    gives: dict[str, Any] | None = None
    status: int = 200
    errors: tuple[int, ...] = ()

    @property
    def operation(self) -> Operation:
        """What is told of it."""
        return Operation(self.method, self.path, self.summary, self.takes, self.gives, self.status, self.errors)


@dataclass(slots=True)
class Service:
    """What handlers work with; ``learner`` is None where the server may not train."""

    models: Models
    metrics: Metrics
    learner: Learner | None = None

    async def tagged(self, body: bytes) -> bytes:
        """Return the answer to the body of ``POST /tag``."""
        asked = await _aside(tag_request, body)
        engine = self.models[asked.model]
        future = engine.submit(asked.items, asked.asked)
        try:
            lines = await asyncio.wait_for(asyncio.wrap_future(future), engine.seconds)
        except asyncio.TimeoutError:
            raise Late(f"the request took more than {engine.seconds:g} seconds") from None
        self.metrics.tagged(texts=len(lines), characters=sum(len(item.text) for item in asked.items))
        name = asked.model or self.models.names[0]
        return b'{"model":"' + name.encode() + b'","documents":[' + b",".join(lines) + b"]}"


async def _tag(service: Service, path: dict[str, str], body: bytes) -> Answer:
    return 200, await service.tagged(body)


async def _models(service: Service, path: dict[str, str], body: bytes) -> Answer:
    return 200, {"models": [service.models.describe(name) for name in service.models.names]}


async def _health(service: Service, path: dict[str, str], body: bytes) -> Answer:
    return 200, {"status": "UP", "models": service.models.names}


async def _train(service: Service, path: dict[str, str], body: bytes) -> Answer:
    if service.learner is None:
        return 403, {"error": "this server does not train; start it with --learn FOLDER"}

    def read(raw: bytes) -> tuple[str, list[Any]]:
        record = json_object(raw)
        name, entries = record.get("model"), record.get("documents")
        if set(record) - {"model", "documents"} or not isinstance(name, str) or not isinstance(entries, list):
            raise BadRecord('the body must be {"model": NAME, "documents": [...]}')
        return name, [document(entry, f"document {k}") for k, entry in enumerate(entries)]

    name, documents = await _aside(read, body)
    return 202, service.learner.start(name, documents)


async def _training(service: Service, path: dict[str, str], body: bytes) -> Answer:
    if service.learner is None:
        return 403, {"error": "this server does not train; start it with --learn FOLDER"}
    return 200, service.learner.state()


async def _aside(function: Callable[[bytes], Any], body: bytes) -> Any:
    """Call a function with a body; in a thread, if that takes long."""
    return function(body) if len(body) <= LARGE else await asyncio.to_thread(function, body)


_STATE = {
    "type": "object",
    "properties": {
        "state": {"enum": ["idle", "training", "done", "failed"]},
        "model": {"type": ["string", "null"]},
        "iteration": {"type": "integer"},
        "error": {"type": ["string", "null"]},
    },
    "required": ["state", "model", "iteration", "error"],
}
_DOCUMENTS = {"type": "array", "items": {"$ref": "#/components/schemas/Document"}}
ENDPOINTS = (
    Endpoint(
        "POST", "/tag", _tag, "Find the mentions of texts or documents.",
        takes={"$ref": "#/components/schemas/TagRequest"},
        gives={
            "type": "object",
            "properties": {"model": {"type": "string"}, "documents": _DOCUMENTS},
            "required": ["model", "documents"],
        },
        errors=(400, 404, 429, 503),
    ),
    Endpoint(
        "GET", "/models", _models, "List the models.",
        gives={
            "type": "object",
            "properties": {"models": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}},
            "required": ["models"],
        },
    ),
    Endpoint(
        "POST", "/train", _train, "Train a model of this name from documents with mentions, in the background.",
        takes={
            "type": "object",
            "properties": {"model": {"type": "string"}, "documents": _DOCUMENTS},
            "required": ["model", "documents"],
            "additionalProperties": False,
        },
        gives=_STATE, status=202, errors=(400, 403, 429),
    ),
    Endpoint("GET", "/train", _training, "Say how the training goes.", gives=_STATE, errors=(403,)),
    Endpoint(
        "GET", "/health", _health, "Say whether the server is up.",
        gives={
            "type": "object",
            "properties": {"status": {"enum": ["UP"]}, "models": {"type": "array", "items": {"type": "string"}}},
            "required": ["status", "models"],
        },
    ),
)  # fmt: skip


def application(
    models: Models,
    *,
    learner: Learner | None = None,
    hosts: Sequence[str] | None = LOCAL,
    token: str | None = None,
    largest: int = 16 << 20,
    more: Sequence[Endpoint] = (),
    told: Sequence[Operation] = (),
) -> Any:
    """Return the ASGI application.

    Parameters
    ----------
    hosts, token, largest
        See ``security.Guard``.
    more
        Endpoints of other tools.
    told
        What else the description shall have: paths that are answered before this application is asked.
    """
    starlette = need("starlette.applications", "serve")
    responses, routing = need("starlette.responses", "serve"), need("starlette.routing", "serve")
    metrics = Metrics()
    metrics.gauges["busy_requests"] = ("Requests that wait or are worked on.", lambda: models.busy)
    service = Service(models, metrics, learner)
    endpoints = (*ENDPOINTS, *more)
    operations = [*(endpoint.operation for endpoint in endpoints), *told]
    description = encode(describe(operations), "description").encode()

    def answering(endpoint: Endpoint) -> Callable[[Any], Awaitable[Any]]:
        async def answer(request: Any) -> Any:
            began = time.perf_counter()
            body = await request.body()
            status, content = await _answer(service, endpoint, dict(request.path_params), body)
            metrics.answered(endpoint.path, status, time.perf_counter() - began)
            headers = {"retry-after": "1"} if status in (429, 503) else None
            if content is None:
                return responses.Response(status_code=status, headers=headers)
            raw = content if isinstance(content, bytes) else encode(content, endpoint.path).encode()
            return responses.Response(raw, status, headers, "application/json")

        return answer

    async def show_metrics(request: Any) -> Any:
        return responses.PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    async def show_description(request: Any) -> Any:
        return responses.Response(description, media_type="application/json")

    async def show_page(request: Any) -> Any:
        return responses.HTMLResponse(page(operations))

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        if learner is not None:
            await asyncio.to_thread(learner.close)
        await asyncio.to_thread(models.close)

    routes = [routing.Route(e.path, answering(e), methods=[e.method]) for e in endpoints]
    routes += [
        routing.Route("/metrics", show_metrics),
        routing.Route("/openapi.json", show_description),
        routing.Route("/docs", show_page),
    ]
    app = starlette.Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers())
    return Guard(app, hosts=hosts, token=token, largest=largest)


def handlers() -> dict[Any, Any]:
    """Return what makes errors of the framework look like ours: ``{"error": …}``."""
    responses, errors = need("starlette.responses", "serve"), need("starlette.exceptions", "serve")

    async def failed(request: Any, error: Any) -> Any:
        return responses.JSONResponse({"error": error.detail}, error.status_code, error.headers)

    return {errors.HTTPException: failed}


async def _answer(service: Service, endpoint: Endpoint, path: dict[str, str], body: bytes) -> Answer:
    """Call a handler, and turn what it raises into an answer."""
    try:
        return await endpoint.handler(service, path, body)
    except Busy as error:
        return 429, {"error": str(error)}
    except Late as error:
        return 503, {"error": str(error)}
    except UnknownModel as error:
        return 404, {"error": str(error)}
    except (BadRecord, SpanloomError) as error:
        return 400, {"error": str(error)}
    except MemoryError:
        return 503, {"error": "there is not enough memory for this request; send the texts in several"}
    except Exception:
        log.exception("%s %s failed", endpoint.method, endpoint.path)
        return 500, {"error": "internal error; the server's log says more"}
