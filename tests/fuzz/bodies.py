"""Bodies of HTTP requests to ``spanloom serve`` and the workbench, without a socket: never an internal error.

An input is ``METHOD PATH`` and a query on the first line, and the body behind it.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import shutil
from functools import cache
from typing import Any
from urllib.parse import quote_from_bytes

from fuzz.places import folder
from fuzz.target import Run, Target

LEARNS = (b"/train", b"/learning", b"/webhook", b"/audit")
"""Parts of paths that would begin a training: seconds of work for one input."""


@cache
def loop() -> asyncio.AbstractEventLoop:
    """The event loop of all requests."""
    made = asyncio.new_event_loop()
    atexit.register(made.close)
    return made


def asking(app: Any) -> Run:
    """Return what asks an application; a status of 500 or a missing answer raises."""
    own = loop()
    logging.getLogger("spanloom").setLevel(logging.CRITICAL + 1)

    def run(raw: bytes) -> None:
        line, _, body = raw.partition(b"\n")
        method, _, target = line.partition(b" ")
        path, _, query = target.partition(b"?")
        if any(one in path for one in LEARNS) or not path.startswith(b"/"):
            return
        status = own.run_until_complete(ask(app, method.decode("latin-1"), path, query, body))
        if status == 500:
            raise AssertionError(f"internal error for {raw!r:.300}")

    return run


async def ask(app: Any, method: str, path: bytes, query: bytes, body: bytes) -> int:
    """Return the status of the answer to one request."""
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path.decode("utf-8", "replace"), "raw_path": path,
        "query_string": quote_from_bytes(query, "&=%+").encode(),
        "root_path": "", "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    await asyncio.wait_for(app(scope, receive, send), 20)
    return int(next(m["status"] for m in sent if m["type"] == "http.response.start"))


def serving() -> Run:
    """The server of models, with the words of other tools."""
    from fuzz.models import FIXTURES
    from spanloom import Recognizer
    from spanloom.serving.api import application
    from spanloom.serving.bridges import BRIDGES
    from spanloom.serving.models import Models

    models = Models({"m": Recognizer.load(FIXTURES / "chain.loom", threads=1)}, workers=1)
    return asking(application(models, more=BRIDGES))


def workbench() -> Run:
    """The server of a project, which begins anew after some thousands of requests."""
    from spanloom.corpus import make_document
    from spanloom.workbench.app import make_app
    from spanloom.workbench.project import Project

    held: list[Any] = []
    left = 0

    def run(raw: bytes) -> None:
        nonlocal left
        if not left:
            for project, place, _ in held:
                project.close()
                shutil.rmtree(place, ignore_errors=True)
            place = folder("workbench")
            project = Project(place / "p")
            project.add([make_document("XY-7 gene binds. It does.", "a"), make_document("Mara left.", "b")])
            held[:] = [(project, place, asking(make_app(project)))]
            left = 3000
        left -= 1
        held[0][2](raw)

    return run


_SERVED = (
    'POST /tag\n{"texts":["The IL-2 gene."],"probabilities":true,"above":0.5,"k":2}',
    'POST /tag\n{"documents":[{"id":"a","text":"XY-7 gene","tokens":["XY-7","gene"],"offsets":[[0,4],[5,9]],'
    '"mentions":[]}]}',
    'POST /labelstudio/m/setup\n{"project":"1","schema":"'
    '<View><Labels name=\\"l\\" toName=\\"t\\"><Label value=\\"DNA\\"/>'
    '</Labels><Text name=\\"t\\" value=\\"$text\\"/></View>"}',
    'POST /labelstudio/m/predict\n{"tasks":[{"id":1,"data":{"text":"XY-7 gene"}}],"label_config":"<View/>"}',
    'POST /inception/m/predict\n{"metadata":{"layer":"L","feature":"value","projectId":1},"document":{"xmi":"<xmi/>"},'
    '"typeSystem":"<typeSystemDescription/>"}',
    'POST /doccano/m\n{"text":"XY-7 gene"}',
    "GET /models\n",
    "GET /metrics\n",
)
_ACTION = '{"annotator":"a","page":"p","version":0,"kind":"add","change":{"add":[{"label":"X","parts":[[0,1]]}]}}'
_KEPT = (
    f"POST /api/documents/1/actions\n{_ACTION}",
    'POST /api/documents/1/open\n{"annotator":"a","page":"p","take":true}',
    'POST /api/documents/1/undo\n{"annotator":"a","page":"p","version":1}',
    'PUT /api/labels\n{"labels":[{"name":"X","color":"#aabbcc","key":"x"}]}',
    'PUT /api/guideline\n{"guideline":"# x"}',
    'PUT /api/settings\n{"model":"edge"}',
    'POST /api/pulse\n{"page":"p","annotator":"a","document":1}',
    'POST /documents?mentions=gold\n{"documents":[{"text":"a b","tokens":["a","b"],'
    '"mentions":[{"label":"x","parts":[[0,1]]}]}]}',
    "GET /api/documents?annotator=a&by=order&state=all&q=x&offset=0&limit=5\n",
    "GET /api/occurrences?document=1&parts=0-1\n",
    "GET /api/documents/1/compare?one=a&other=b\n",
    'POST /api/documents/1/adjudicate\n{"page":"p","version":0,"sentence":0,"mentions":[]}',
    "POST /api/import?name=a.conll&format=conll&mentions=gold\nMara B-PER\nleft O\n",
    "GET /api/export?format=jsonl&layer=a\n",
)
TARGETS = [
    Target("serving", serving, tuple(s.encode() for s in _SERVED), shape="request", needs="starlette"),
    Target(
        "workbench", workbench, tuple(s.encode() for s in _KEPT), shape="request",
        needs="starlette",
    ),
]  # fmt: skip
