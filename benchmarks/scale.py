"""Many documents on jobs, Dask and Spark; training on one process and on workers; training with bounded memory.

    python benchmarks/scale.py tag    [--data FOLDER] [--documents 200000] [--work FOLDER] [--only="--jobs 2"]
    python benchmarks/scale.py train  [--data FOLDER] [--times 20] [--iterations 6] [--only="workers 2"] [--blocks 64]
                                      [--gate FOLDER]
    python benchmarks/scale.py links
    python benchmarks/scale.py memory [--data FOLDER] [--times 10] [--iterations 3] [--limit 4] [--only="in files"]
    python benchmarks/scale.py table

Each writes what it measured to ``results/scale.json``, the last run of each way, and ``table`` makes
``results/scale.md`` of it.

``tag``: PubMed sentences, eight to a document, repeated until there are as many documents as wanted, in 16 files of
JSON lines; the model is ``chain`` of ten iterations on GENIA with five types. Every way writes ids and mentions. Wall
time is of the whole command, start included; start is the same with one document. Processor time is that of all
processes.

``train``: GENIA's sentences, drawn with replacement, times so many. Each way is a process of its own, prepared as for a
whole training, of which it does the first iterations; seconds and traffic are those of an evaluation of the objective
and the optimiser's step to it, from the second iteration on. With ``--gate``, each way makes the file ``ready``
in a folder after its first iteration, and goes on when there is a file ``go``: features can be compiled beside other
work, and the iterations timed without it.

``links``: what small tasks, a table that goes from worker to worker, and the sum of two tables take on this machine.

``memory``: the same under a limit of virtual memory (``ulimit -v``), with features in files and with all in memory.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from scale_table import lines
from scale_tagging import tag
from scale_training import links, memory, memory_child, train, train_child
from tables import RESULTS, commit

PLACE = RESULTS / "scale.json"
COMMIT = commit()
"""Of the code that runs: asked at the start, since a long run may see other commits come."""


def keep(name: str, measured: dict[str, Any]) -> None:
    """Put what was measured into the file of results, in place of what it has of the same name."""
    found = json.loads(PLACE.read_text(encoding="utf-8")) if PLACE.exists() else {}
    load = [round(x, 1) for x in os.getloadavg()]
    found[name] = {**measured, "load": load, "cores": os.cpu_count(), "commit": COMMIT}
    PLACE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(name, json.dumps(found[name]), flush=True)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tag", "train", "links", "memory", "table", "train-child", "memory-child"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/spanloom-scale"))
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--times", type=int, default=None)
    parser.add_argument("--iterations", type=int, default=None)
    parser.add_argument("--blocks", type=int, default=None, help="blocks of sentences for workers")
    parser.add_argument("--limit", type=int, default=4, help="GB of virtual memory")
    parser.add_argument("--only", help="one way of them")
    parser.add_argument("--gate", type=Path, help="a folder for the files ready and go")
    args = parser.parse_args()
    args.times = args.times or (10 if "memory" in args.what else 20)
    args.iterations = args.iterations or (3 if "memory" in args.what else 6)
    if args.what == "table":
        text = "\n".join(lines(json.loads(PLACE.read_text(encoding="utf-8")))).rstrip() + "\n"
        (RESULTS / "scale.md").write_text(text, encoding="utf-8")
    elif args.what.endswith("-child"):
        {"train-child": train_child, "memory-child": memory_child}[args.what](args)
    else:
        {"tag": tag, "train": train, "links": links, "memory": memory}[args.what](args, keep)


if __name__ == "__main__":
    main()
