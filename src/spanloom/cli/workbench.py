"""``spanloom workbench``: annotate in a page, with a recogniser that learns meanwhile."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from spanloom.base.counted import counted
from spanloom.cli.console import make_console


def workbench(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="The folder of the project; made if new.")],
    corpus: Annotated[
        list[str] | None, typer.Argument(metavar="[REF]...", help="Corpora whose documents are added.")
    ] = None,
    mentions: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What the corpora's mentions are: gold, suggestions to check, none (not wanted), or auto: gold in "
            "documents that have any.",
        ),
    ] = "auto",
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Keep these documents for scores: no suggestions, no learning.")
    ] = False,
    labels: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Labels to begin with, besides those of the corpora.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 for any free one.")] = 8765,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Annotate text in a page, with a recogniser that learns from it in seconds.

    Everything stays on this machine: the page is served on 127.0.0.1 and loads nothing from the network.

    [bold]Example:[/bold] spanloom workbench my-project sample:train --labels protein,DNA
    """
    from spanloom.base.errors import ParameterError
    from spanloom.base.extras import need
    from spanloom.workbench.project import FILE, Project
    from spanloom.workbench.run import serve

    for module in ("starlette", "uvicorn"):
        need(module, "workbench")  # before anything is imported into the project
    console = make_console()
    if project.is_file():
        raise ParameterError(f"{project} is a file, a project is a folder: spanloom workbench my-project {project}")
    made, new = not project.exists(), not (project / FILE).exists()
    beside = not made and any(project.iterdir())
    opened = Project(project)
    try:
        for ref in corpus or []:
            added, known = opened.read(ref, mentions, True if held_out else None)
            left = f", {known:,} left out: the project has the same already" if known else ""
            console.print(f"{ref}: {counted(added, 'document')} added{left}", markup=False)
    except BaseException:
        opened.close()
        if made:
            shutil.rmtree(project)
        raise
    if new and beside:
        console.print(f"{project} has other files; the project is {FILE} beside them", markup=False)
    if labels:
        opened.labels.add([name.strip() for name in labels.split(",") if name.strip()])
    serve(opened, port, open_page=open_page, ready=lambda address: console.print(f"{address}  (Ctrl-C stops)"))
