"""``spanloom serve``: mentions over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanloom.cli.console import make_console


def serve(
    model: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Files that spanloom train wrote.")],
    host: Annotated[str, typer.Option(help="Where to listen. Beyond this machine a token is needed.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where to listen.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Threads that tag.")] = 2,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Requests that may wait at once; more are answered with 429.")
    ] = 200,
    seconds: Annotated[float, typer.Option(min=0.1, metavar="S", help="Longest time for one request.")] = 30.0,
    largest: Annotated[float, typer.Option(min=0.01, metavar="MB", help="Longest body of a request.")] = 16.0,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Holds the token to ask for; else SPANLOOM_TOKEN, if it is set.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="HOST", help="Another name of this machine that requests may use."),
    ] = None,
    learn: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Allow training over HTTP; models are kept in this folder.")
    ] = None,
) -> None:
    """Answer requests for mentions over HTTP, also those of Label Studio, INCEpTION and doccano.

    The page /docs describes the requests, /openapi.json does so for programs, /metrics counts for Prometheus.

    [bold]Example:[/bold] spanloom serve gene.loom --port 8000
    """
    from spanloom.serving.run import load_models, secret
    from spanloom.serving.run import serve as run
    from spanloom.serving.security import check_bind

    token = secret(token_file)
    check_bind(host, token)
    if learn is not None:
        learn.mkdir(parents=True, exist_ok=True)
    models = load_models(model, workers=workers, limit=limit, seconds=seconds)
    out = make_console(stderr=True, soft_wrap=True)
    out.print(f"{', '.join(models.names)} at http://{host}:{port}/docs; Ctrl-C ends it.", highlight=False)
    run(models, host, port, token=token, names=name or (), largest=int(largest * 1e6), learn=learn)
