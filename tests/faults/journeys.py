"""What is done while faults happen: training, tagging, converting, and annotating in the workbench.

A journey says what lies in its folder before, what to do, and how to tell that the outcome is whole.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import SpanloomError
from spanloom.corpus import make_document

TEXTS = ("The IL-2 gene binds NF-kappa B.", "Mara Lund left Oslo.", "It does.")
OLD = b"what was there before\n"


@dataclass(frozen=True)
class Journey:
    """One command under faults.

    Attributes
    ----------
    prepare
        Fills a new folder.
    run
        Does the work; called in a process of its own, with the folder.
    outputs
        Files that must be as before or as an undisturbed run leaves them.
    whole
        Says what is wrong with the folder afterwards; nothing if all is well. Given the folder, and whether the work
        said that it was done.
    """

    name: str
    prepare: Callable[[Path], None]
    run: Callable[[Path], None]
    outputs: tuple[str, ...] = ()
    whole: Callable[[Path, bool], str] = lambda folder, done: ""


def command(*words: str) -> None:
    """Run a command line of spanloom."""
    from spanloom.cli import main

    sys.argv = ["spanloom", *words]
    main()


def corpus(folder: Path) -> None:
    """Documents to learn from and to convert."""
    docs = [
        Document([Sentence(["The", f"XY-{k}", "gene", "binds", "."], [Mention("DNA", ((1, 3),))])], id=f"d{k}")
        for k in range(6)
    ]
    write(docs, folder / "train.jsonl")
    (folder / "texts.txt").write_text("\n".join(TEXTS))


def _train_before(folder: Path) -> None:
    corpus(folder)
    (folder / "m.loom").write_bytes(OLD)


def _train(folder: Path) -> None:
    settings = ("--model", "chain", "--set", "max_iter=2", "--penalty", "0", "--threads", "1")
    command("train", str(folder / "train.jsonl"), "-o", str(folder / "m.loom"), *settings)


def _tag_before(folder: Path) -> None:
    corpus(folder)
    from spanloom.learning import LBFGS

    ner = Recognizer("chain", trainer=LBFGS(max_iter=2), decide="best", threads=1)
    ner.fit(read(folder / "train.jsonl")).save(folder / "m.loom")
    (folder / "out.jsonl").write_bytes(OLD)


def _tag(folder: Path) -> None:
    output = str(folder / "out.jsonl")
    command("tag", str(folder / "m.loom"), str(folder / "texts.txt"), "-o", output, "--threads", "1")


def _convert_before(folder: Path) -> None:
    corpus(folder)
    (folder / "out.conll").write_bytes(OLD)


def _convert(folder: Path) -> None:
    command("convert", str(folder / "train.jsonl"), str(folder / "out.conll"), "--overwrite")


def _brat_before(folder: Path) -> None:
    corpus(folder)
    (folder / "brat").mkdir()
    for k in range(6):
        for ending in ("txt", "ann"):
            (folder / "brat" / f"d{k}.{ending}").write_bytes(OLD)


def _brat(folder: Path) -> None:
    command("convert", str(folder / "train.jsonl"), f"brat:{folder / 'brat'}", "--overwrite")


def _project_before(folder: Path) -> None:
    from spanloom.workbench.project import Project

    project = Project(folder / "p")
    project.add([make_document(text, f"t{k}") for k, text in enumerate(TEXTS)])
    project.close()


def _project(folder: Path) -> None:
    """Three changes; what is told on standard output as stored must be there afterwards."""
    from spanloom.workbench.api.annotating import ROUTES
    from spanloom.workbench.api.call import Call
    from spanloom.workbench.project import Project

    act = next(run for _, path, run in ROUTES if path.endswith("/actions"))
    try:
        project = Project(folder / "p")
        for k in range(3):
            change = {"add": [{"label": "X", "parts": [[k, k + 1]]}]}
            body = {"annotator": "a", "page": "p", "version": k, "kind": "add", "change": change}
            act(project, Call({"document": 1}, {}, json.dumps(body).encode()))
            print(f"stored {k}", flush=True)
        project.close()
    except SpanloomError as error:  # as the command line and the server tell it
        sys.exit(str(error))


def _project_after(folder: Path, done: bool) -> str:
    """The file opens, is sound, and has every change that was told as stored."""
    from spanloom.workbench.project import Project

    told = (folder / "said").read_text().count("stored")
    try:
        project = Project(folder / "p")
    except Exception as error:  # whatever it is, the project is lost to its user
        return f"the project does not open: {error!r}"
    try:
        state = project.db.value("PRAGMA integrity_check")
        kept = len(project.view(1, "a")["sheet"]["mentions"])
    except (sqlite3.Error, KeyError) as error:
        return f"the project cannot be read: {error!r}"
    finally:
        project.close()
    if state != "ok":
        return f"integrity: {state}"
    return "" if told <= kept <= told + 1 else f"{told} changes were told as stored, {kept} are there"


JOURNEYS = (
    Journey("train", _train_before, _train, ("m.loom",)),
    Journey("tag", _tag_before, _tag, ("out.jsonl",)),
    Journey("convert", _convert_before, _convert, ("out.conll",)),
    Journey("convert to brat", _brat_before, _brat, tuple(f"brat/d{k}.{e}" for k in range(6) for e in ("txt", "ann"))),
    Journey("workbench", _project_before, _project, whole=_project_after),
)
