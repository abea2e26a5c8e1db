"""A corpus of a gigabyte streams in constant memory: reading, converting and tagging JSONL.

    python benchmarks/streaming.py [--megabytes 10 100 1000] [--write]

The files repeat the documents of the sample corpus, with ids of their own, in a temporary folder. Every step runs in a
process of its own, whose peak of resident memory the system counts. Converting and tagging run on files of up to
100 MB; their memory is what is shown. ``--write`` puts the table into ``benchmarks/results/streaming.md``.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from spanloom import Recognizer, read
from spanloom.cli import main as spanloom
from spanloom.formats.jsonl import to_dict

MEGABYTE = 1_000_000


def make_file(path: Path, size: int) -> None:
    """Write the sample again and again until the file has so many bytes."""
    lines = [json.dumps({**to_dict(doc), "id": f"{{}}-{doc.id}"}, ensure_ascii=False) for doc in read("sample:train")]
    parts = [line.encode().split(b"{}", 1) for line in lines]
    written = turn = 0
    with path.open("wb") as out:
        while written < size:
            number = str(turn).encode()
            written += out.write(b"".join(before + number + after + b"\n" for before, after in parts))
            turn += 1


def run_read(source: Path, _: Path, __: Path) -> None:
    """Go through all documents."""
    for doc in read(source):
        len(doc.mentions)


def run_convert(source: Path, folder: Path, _: Path) -> None:
    """``spanloom convert``."""
    sys.argv = ["spanloom", "convert", str(source), f"jsonl:{folder / 'converted'}"]
    spanloom()


def run_tag(source: Path, folder: Path, model: Path) -> None:
    """``spanloom tag``."""
    sys.argv = ["spanloom", "tag", str(model), str(source), "-o", f"jsonl:{folder / 'tagged'}", "--threads", "1"]
    spanloom()


STEPS: dict[str, Callable[[Path, Path, Path], None]] = {"read": run_read, "convert": run_convert, "tag": run_tag}


def child(step: str, source: str, folder: str, model: str) -> None:
    """Run one step and print its processor time and the peak of its memory in megabytes."""
    start = time.process_time()
    try:
        STEPS[step](Path(source), Path(folder), Path(model))
    except SystemExit as done:  # how commands end
        if done.code:
            raise
    seconds = time.process_time() - start
    # VmHWM begins anew with the process; ru_maxrss would begin with the peak of the parent.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([seconds, int(peak[1]) * 1024 / MEGABYTE if peak else None]))


def main() -> None:
    """Make the files one after the other, run the steps, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "m.loom"
        Recognizer("chain", keep="longest", threads=1).fit(read("sample:train")).save(model)
        for megabytes in args.megabytes:
            source = folder / "corpus.jsonl"
            make_file(source, megabytes * MEGABYTE)
            size = source.stat().st_size / MEGABYTE
            for step in STEPS:
                if step != "read" and megabytes > 100:
                    continue
                command = [sys.executable, __file__, "--child", step, str(source), name, str(model)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds, peak = json.loads(done.stdout.splitlines()[-1])
                rows.append(f"| {step} | {size:,.0f} | {peak:.0f} | {size / seconds:.1f} |")
                print(rows[-1], flush=True)
                for made in ("converted", "tagged"):
                    (folder / made).unlink(missing_ok=True)
            source.unlink()
    table = "| step | MB of JSONL | peak memory, MB | MB/s |\n|---|---:|---:|---:|\n" + "\n".join(rows) + "\n"
    if args.write:
        target = Path(__file__).parent / "results" / "streaming.md"
        head = (
            "# Streaming\n\n`python benchmarks/streaming.py --write`\n\nDocuments of the sample corpus over and over, "
            "one process a line; peak of resident memory, and megabytes a second of processor time on one core.\n\n"
        )
        target.write_text(head + table, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
