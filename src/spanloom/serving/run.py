"""Start a server and end it gracefully."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.recognizer import Recognizer
from spanloom.serving.api import application
from spanloom.serving.bridges import BRIDGES
from spanloom.serving.models import Learner, Models
from spanloom.serving.security import LOCAL, check_bind, is_loopback


def load_models(paths: Sequence[Path], **limits: Any) -> Models:
    """Open model files; their names without ending are those of requests."""
    names = [path.name.removesuffix(".loom") for path in paths]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ParameterError(f"two models would have the name {min(twice)!r}; rename a file")
    return Models({name: Recognizer.load(path, threads=1) for name, path in zip(names, paths, strict=True)}, **limits)


def end_quietly() -> None:
    """Leave out the traceback of a request that was cut off because it took longer than the end of the server waits."""
    cut = asyncio.CancelledError
    logging.getLogger("uvicorn.error").addFilter(lambda record: not (record.exc_info and record.exc_info[0] is cut))


def secret(token_file: Path | None) -> str | None:
    """Return the token of a file, or of ``SPANLOOM_TOKEN``; None for none."""
    if token_file is not None:
        return token_file.read_text().strip()
    return os.environ.get("SPANLOOM_TOKEN") or None


def serve(
    models: Models,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    token: str | None = None,
    names: Sequence[str] = (),
    largest: int = 16 << 20,
    learn: Path | None = None,
) -> None:
    """Answer until SIGTERM or Ctrl-C; what was taken is answered first.

    Parameters
    ----------
    names
        Further names of this machine that requests may give as their host.
    largest
        Bytes of a body.
    learn
        Where models are kept that are trained over HTTP; None: they cannot be.
    """
    check_bind(host, token)
    uvicorn = need("uvicorn", "serve")
    hosts = (*LOCAL, host, *names) if is_loopback(host) or names else None  # a token keeps rebound names out
    learner = None if learn is None else Learner(models, learn)
    app = application(models, learner=learner, hosts=hosts, token=token, largest=largest, more=BRIDGES)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=30,
    )  # fmt: skip
    end_quietly()
    uvicorn.Server(config).run()
