"""Learning in the background: train, suggest, score; one at a time, and it can be stopped."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spanloom.base.errors import SpanloomError
from spanloom.learning import Iteration
from spanloom.recognizer import Recognizer
from spanloom.workbench.database import Database
from spanloom.workbench.documents import Documents
from spanloom.workbench.errors import Conflict, Missing
from spanloom.workbench.fitting import cross_fitted_score, fit, held_out_score
from spanloom.workbench.gold import gold_documents
from spanloom.workbench.labels import settings
from spanloom.workbench.sheets import Sheets, now
from spanloom.workbench.suggestions import suggest

BATCH = 32
"""Documents whose suggestions are written at once."""
KEPT = 5
"""Model files that are kept, the newest."""
PAUSE = 0.3
"""Seconds in which pages fetch the suggestions of open documents; what comes after them keeps Python busy."""
RUNNING = ("learning", "suggesting", "scoring", "auditing")
PHASES = ("idle", *RUNNING, "done", "stopped", "failed")


class Stopped(Exception):
    """Somebody has stopped the training."""


@dataclass(frozen=True)
class Progress:
    """How far the learner is.

    Attributes
    ----------
    phase
        One of ``PHASES``.
    iteration, part, share
        Of training: the iteration, what is trained, and about how much of the phase is done, 0 to 1.
    model
        The number of the last model.
    seconds
        Since it began, until the new suggestions of open documents were there, and until all was done.
    error
        Why it failed.
    """

    phase: str = "idle"
    iteration: int = 0
    part: str = ""
    share: float = 0.0
    model: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""
    note: str = ""

    @property
    def running(self) -> bool:
        """Whether something is going on."""
        return self.phase in RUNNING

    def to_json(self) -> dict[str, Any]:
        """Return it as the page has it."""
        return {**self.__dict__, "running": self.running}


class Learner:
    """Trains a recogniser on what is known of a project, in a thread.

    Parameters
    ----------
    folder
        Where the models go: ``000001.loom`` and so on.
    threads
        Of training; None for all cores.

    Attributes
    ----------
    listeners
        Called with every new recogniser.
    """

    def __init__(
        self, db: Database, documents: Documents, sheets: Sheets, folder: Path, threads: int | None = None
    ) -> None:
        self.db, self.documents, self.sheets, self.folder, self.threads = db, documents, sheets, folder, threads
        self.ner: Recognizer | None = None
        self.listeners: list[Callable[[Recognizer], None]] = []
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.progress = Progress(model=int(db.value("SELECT max(id) FROM models") or 0))
        self._load()

    def start(self, first: Iterable[int] = ()) -> Progress:
        """Begin to learn; ``first``: documents whose suggestions are wanted first."""
        return self._begin(self._learn, list(first))

    def run(self, work: Callable[[], None], phase: str) -> Progress:
        """Do something else in the background that must not run beside training."""
        return self._begin(lambda _: work(), [], phase)

    def stop(self) -> Progress:
        """Ask a running training to stop; what was learned before stays."""
        self._stop.set()
        return self.progress

    def wait(self, seconds: float | None = None) -> Progress:
        """Wait for the end."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return self.progress

    def close(self) -> None:
        """Stop, and wait for it."""
        self.stop()
        self.wait()

    def recognizer(self) -> Recognizer:
        """Return the last model; raises ``Missing`` if there is none."""
        if self.ner is None:
            raise Missing("there is no model yet; let it learn first")
        return self.ner

    def curve(self) -> list[dict[str, Any]]:
        """Return the scores of all models against the number of corrections."""
        rows = self.db.rows(
            "SELECT models.id, at, corrections, sentences, seconds, how, precision, recall, f1 FROM models "
            "JOIN scores ON scores.model = models.id ORDER BY models.id"
        )
        return [dict(row) for row in rows]

    def check(self) -> None:
        """Raise ``Stopped`` if somebody has asked for it."""
        if self._stop.is_set():
            raise Stopped

    def _begin(self, work: Callable[[list[int]], None], first: list[int], phase: str = "learning") -> Progress:
        with self._turn:
            if self._thread is not None and self._thread.is_alive():
                raise Conflict("it is learning already; wait, or stop it")
            self._stop.clear()
            self.progress = Progress(phase, model=self.progress.model)
            self._thread = threading.Thread(target=self._guarded, args=(work, first), daemon=True, name="learner")
            self._thread.start()
            return self.progress

    def _guarded(self, work: Callable[[list[int]], None], first: list[int]) -> None:
        try:
            work(first)
            self._tell(phase="done", share=1.0)
        except Stopped:
            self._tell(phase="stopped")
        except (SpanloomError, OSError, ValueError) as error:
            self._tell(phase="failed", error=str(error))
        except BaseException as error:
            self._tell(phase="failed", error=f"{type(error).__name__}: {error}")
            raise

    def _tell(self, **news: Any) -> None:
        self.progress = replace(self.progress, **news)

    def _learn(self, first: list[int]) -> None:
        began = time.perf_counter()
        given = settings(self.db)
        corrections = self.sheets.corrections()
        docs = gold_documents(self.documents, self.sheets, held_out=False)
        done = fit(docs, given, self.ner, self._listen, self.threads)
        seconds = time.perf_counter() - began
        number = self._keep(done.ner, corrections, done.sentences, seconds)
        note = (
            f"left out: {done.ner.model_.name} learns from confirmed sentences only, {done.left_out} known in part"
            if done.left_out
            else ""
        )
        self._tell(phase="suggesting", share=0.0, model=number, note=note)
        self._suggest(done.ner, number, first, began)
        self._tell(phase="scoring", share=0.0, iteration=0)
        self._score(done.ner, number, docs, given)
        self._tell(seconds={**self.progress.seconds, "all": time.perf_counter() - began})

    def _listen(self, record: Iteration) -> None:
        self.check()
        # How many iterations are left is not known; half of the rest seems done after fifty more.
        inner = 1.0 - 0.5 ** (record.number / 50)
        share = (record.component + inner) / max(record.parts, record.component + 1)
        self._tell(iteration=record.number, part=record.part, share=share)

    def _keep(self, ner: Recognizer, corrections: int, sentences: int, seconds: float) -> int:
        facts = json.dumps(ner.training_, default=str)
        self.folder.mkdir(exist_ok=True)
        number = int(self.db.value("SELECT max(id) FROM models") or 0) + 1
        ner.save(self._file(number))
        with self.db.writing() as write:
            write.execute(
                "INSERT INTO models VALUES (?, ?, ?, ?, ?, ?)", (number, now(), corrections, sentences, seconds, facts)
            )
        self.ner = ner
        for listener in self.listeners:
            listener(ner)
        for old in sorted(self.folder.glob("*.loom"))[:-KEPT]:
            old.unlink()
        return number

    def _suggest(self, ner: Recognizer, number: int, first: list[int], began: float) -> None:
        """Suggest in open documents first, then where nobody has confirmed all, then in the rest."""
        rows = self.db.rows(
            "SELECT id FROM documents WHERE NOT held_out ORDER BY EXISTS (SELECT 1 FROM sheets "
            "WHERE document = documents.id AND "
            "(SELECT count(*) FROM confirmed WHERE sheet = sheets.id) = documents.sentences), id"
        )
        wanted = [row[0] for row in rows]
        ahead = [n for n in first if n in set(wanted)]
        rest = [n for n in wanted if n not in set(ahead)]
        groups = [ahead] if ahead else []
        groups += [rest[at : at + BATCH] for at in range(0, len(rest), BATCH)]
        for k, group in enumerate(groups):
            self.check()
            suggest(self.db, ner, number, group, [self.documents.get(n) for n in group])
            if not self.progress.seconds:
                self._tell(seconds={"suggestions": time.perf_counter() - began})
                if ahead:
                    self._stop.wait(PAUSE)
            self._tell(share=(k + 1) / len(groups))

    def _score(self, ner: Recognizer, number: int, docs: list[Any], given: dict[str, Any]) -> None:
        how = "held-out"
        score = held_out_score(ner, gold_documents(self.documents, self.sheets, held_out=True))
        if score is None:
            how = "cross-fitted"
            score = cross_fitted_score(docs, given, self._listen, self.threads)
        if score is not None:
            with self.db.writing() as write:
                values = (number, how, score.precision, score.recall, score.f1)
                write.execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", values)

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06}.loom"

    def _load(self) -> None:
        """Take the last model up again."""
        files = sorted(self.folder.glob("*.loom"))
        if files:
            self.ner = Recognizer.load(files[-1], threads=self.threads)
