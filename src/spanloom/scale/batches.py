"""Many files from text to mentions, resumable: plan shards, tag what is missing or changed, say what was done."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from spanloom.base.counted import counted
from spanloom.base.errors import ParameterError, SpanloomError
from spanloom.base.files import check_apart, whole_file
from spanloom.base.parts import sweep
from spanloom.base.wording import spoken
from spanloom.recognizer import Recognizer
from spanloom.scale.loading import ModelSource
from spanloom.scale.manifests import FOLDER, Manifest, all_names, remove
from spanloom.scale.pool import Done, run_here, run_in_process
from spanloom.scale.shards import SHARD_BYTES, Shard, plan
from spanloom.scale.work import TagSettings, Work, seems_done

Engine = Callable[[Work, Sequence[Shard]], Iterator[Done]]
"""Tags shards in any order, and yields each when it is done."""


@dataclass(slots=True)
class BatchReport:
    """What a run did, and what the outputs have in all.

    Attributes
    ----------
    documents, words, skipped
        Of all outputs, those of earlier runs included.
    mentions
        By label.
    shards
        Of each output its ``name``, ``documents``, ``words``, ``skipped``, and ``seconds`` of tagging (None if not
        known).
    tagged, kept
        How many shards this run tagged, and how many it found done.
    removed
        Outputs of earlier runs that belong to no shard any more.
    seconds
        Of this run.
    """

    documents: int = 0
    words: int = 0
    skipped: int = 0
    mentions: dict[str, int] = field(default_factory=dict)
    shards: list[dict[str, Any]] = field(default_factory=list)
    tagged: int = 0
    kept: int = 0
    removed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    problems: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return all but the problems as plain JSON."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "problems"}


def tag_files(
    model: str | os.PathLike[str] | Recognizer,
    refs: Sequence[str],
    out: str | os.PathLike[str],
    *,
    settings: TagSettings | None = None,
    jobs: int = 1,
    threads: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    shard_bytes: int = SHARD_BYTES,
    engine: Engine | None = None,
    progress: Callable[[int, int, int, int, int], None] | None = None,
    lost: Callable[[Shard, int], None] | None = None,
) -> BatchReport:
    """Tag files into a folder, shard by shard, each output whole or not at all.

    Order and bytes of outputs depend on input, model and settings, and on nothing else.

    Parameters
    ----------
    model
        A model file that all workers see, or a recogniser.
    refs
        Files, patterns, folders or references.
    out
        The folder of outputs; ``_spanloom`` in it has a manifest for each, and the report.
    settings
        What to write; see :class:`TagSettings`.
    jobs, threads
        How many processes, and threads of each. One job is done in this process. Workers do not import the program
        that calls this, so that a script needs no ``if __name__ == "__main__"``.
    resume
        Tag what is missing, changed or damaged, and keep the rest.
    overwrite
        Replace what is there.
    shard_bytes
        Larger files are cut.
    engine
        Who tags, if not processes of this machine.
    progress
        Called with words and bytes tagged, bytes to tag, shards done and of all. Bytes to tag become fewer as shards
        are found done.
    lost
        Called with a shard whose worker died, and the number of the attempt; it is tried again.

    Examples
    --------
    >>> import tempfile
    >>> from spanloom import read
    >>> folder = Path(tempfile.mkdtemp())
    >>> Recognizer("chain", keep="longest").fit(read("sample:train")).save(folder / "m.loom")
    >>> _ = (folder / "a.jsonl").write_text('{"text": "The IL-2 gene."}\\n')
    >>> report = tag_files(folder / "m.loom", [f"{folder}/a.jsonl"], folder / "out")
    >>> report.documents, report.mentions
    (1, {'DNA': 1})
    """
    begun = time.monotonic()
    if jobs < 1:
        raise ParameterError(f"jobs must be at least 1, got {jobs}")
    settings = settings or TagSettings()
    shards = plan(refs, shard_bytes)
    work = Work(ModelSource.of(model), settings, os.path.abspath(out), resume)
    target = Path(work.out)
    target.mkdir(parents=True, exist_ok=True)
    with _alone(target):
        report = BatchReport()
        names = [settings.output(shard) for shard in shards]
        known = list(all_names(target))
        inputs = [path for shard in shards for path in shard.paths]
        check_apart((target / name for name in {*names, *known}), inputs)
        if known and not resume and not overwrite:
            raise ParameterError(
                f"{out} has {counted(len(known), 'output')} of an earlier run; {spoken('--resume', 'resume=True')} "
                f"does what is missing and redoes what changed, {spoken('--overwrite', 'overwrite=True')} begins anew"
            )
        if not resume:
            _times(target).unlink(missing_ok=True)
        wanted = set(names)
        for name in known:  # what belongs to no shard would be counted beside the shards
            if name not in wanted or not resume:
                remove(target, name)
                report.removed += [name] if name not in wanted else []
        state = _State(shards, progress)
        state.under_way(0, 0)
        if engine is None and jobs == 1:
            engine = partial(run_in_process, threads=threads, watch=state.under_way)
        elif engine is None:
            engine = partial(run_here, jobs=jobs, threads=threads, watch=state.under_way, lost=lost)
        done: dict[str, Manifest] = {}
        with _times(target).open("a", encoding="utf-8") as times, state.counted_if_stopped(work):
            for shard, manifest, seconds in engine(work, shards):
                done[manifest["output"]] = manifest
                report.tagged += seconds > 0
                if seconds > 0:
                    times.write(json.dumps({"name": manifest["output"], "seconds": round(seconds, 3)}) + "\n")
                    times.flush()
                state.finished(shard, manifest["words"], kept=not seconds)
        for folder in {(target / name).parent for name in names}:
            sweep(folder)  # what workers that died have left; those that took their shards may have swept before
        report.kept = len(shards) - report.tagged
        _sum_up(report, [done[name] for name in names], _read_times(target))
        report.seconds = round(time.monotonic() - begun, 3)
        with whole_file(target / FOLDER / "report.json") as file:
            json.dump(report.to_json(), file, ensure_ascii=False, indent=1)
            file.write("\n")
    return report


def _sum_up(report: BatchReport, manifests: Sequence[Manifest], times: dict[str, float]) -> None:
    mentions: Counter[str] = Counter()
    for one in manifests:
        counts = {name: one[name] for name in ("documents", "words", "skipped")}
        report.documents += counts["documents"]
        report.words += counts["words"]
        report.skipped += counts["skipped"]
        mentions.update(one["mentions"])
        report.problems += one["skipped_records"]
        report.shards.append({"name": one["output"], **counts, "seconds": times.get(one["output"])})
    report.mentions = dict(sorted(mentions.items()))


class _State:
    """How far a run is, over all shards."""

    def __init__(self, shards: Sequence[Shard], tell: Callable[[int, int, int, int, int], None] | None) -> None:
        self.shards, self.total = shards, sum(shard.size for shard in shards)
        self.count, self.tell = len(shards), tell
        self.words = self.size = self.done = 0

    def finished(self, shard: Shard, words: int, *, kept: bool) -> None:
        if kept:  # it took no time: the time that is left must not follow from it
            self.total -= shard.size
        else:
            self.words += words
            self.size += shard.size
        self.done += 1
        self.under_way(0, 0)

    def under_way(self, words: int, size: int) -> None:
        if self.tell is not None:
            self.tell(self.words + words, min(self.size + size, self.total), self.total, self.done, self.count)

    @contextmanager
    def counted_if_stopped(self, work: Work) -> Iterator[None]:
        """Where the block ends early, tell how many shards are done: others than the engine gave may be, too."""
        try:
            yield
        except BaseException:
            self.done = sum(seems_done(work, shard) for shard in self.shards)
            self.under_way(0, 0)
            raise


def _times(out: Path) -> Path:
    """Where the seconds of each shard are: apart from manifests, which are the same in every run."""
    (out / FOLDER).mkdir(exist_ok=True)
    return out / FOLDER / "times.jsonl"


def _read_times(out: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in _times(out).read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            found[record["name"]] = record["seconds"]
        except (ValueError, KeyError, TypeError):
            continue  # a line that a kill cut short
    return found


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Hold the folder of outputs: two runs in it would remove each other's work. A killed run holds nothing."""
    (out / FOLDER).mkdir(exist_ok=True)
    with open(out / FOLDER / "lock", "a") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except OSError:
            raise SpanloomError(f"another run is writing to {out}; wait for it, or choose another folder") from None
        yield
