"""How a server stands up to many clients: seconds of an answer, the request too many, and memory over many requests.

A server in a process of its own is asked by clients in this one, over connections that stay open, with one abstract a
request. Beside it are the same texts tagged in this process, one call each, which is what a program without a server
would pay. Both share the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tables

from spanloom import Recognizer, read
from spanloom.learning import LBFGS


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """Send a request, read its answer, return the status."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    await reader.readexactly(int(length[1]) if length else 0)
    return int(head[9:12])


def request_of(text: str, **options: object) -> bytes:
    """Return the bytes of ``POST /tag`` for one text."""
    body = json.dumps({"text": text, **options}).encode()
    return b"POST /tag HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body


async def load(
    port: int, texts: list[str], clients: int, each: int, **options: object
) -> tuple[list[float], dict[int, int]]:
    """Let clients ask at once; return the seconds of the answers with status 200, and the statuses."""
    seconds: list[float] = []
    statuses: dict[int, int] = {}

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        for k in range(each):
            start = time.perf_counter()
            status = await ask(reader, writer, request_of(texts[(number * each + k) % len(texts)], **options))
            statuses[status] = statuses.get(status, 0) + 1
            if status == 200:
                seconds.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return seconds, statuses


def in_process(ner: Recognizer, texts: list[str]) -> list[float]:
    """Return the seconds of one call after the other."""
    seconds = []
    for text in texts:
        start = time.perf_counter()
        ner.predict(text)
        seconds.append(time.perf_counter() - start)
    return seconds


def resident(pid: int) -> float:
    """Return the megabytes that a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


def row(name: str, seconds: list[float], total: float) -> str:
    """Return a line of the table."""
    ranked = sorted(seconds)
    p50, p99 = statistics.median(ranked), ranked[int(0.99 * (len(ranked) - 1))]
    return f"| {name} | {len(seconds):,} | {1e3 * p50:.1f} | {1e3 * p99:.1f} | {len(seconds) / total:,.0f} |"


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--requests", type=int, default=100_000, help="for the memory")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    docs = [doc for doc, _ in zip(read(f"genia:{given.data}/genia?classes=5&split=train"), range(600), strict=False)]
    texts = [doc.text for doc in docs]
    ner = Recognizer("edge", trainer=LBFGS(max_iter=40), keep="longest", threads=1).fit(docs[:200])
    lines = ["| | answers | p50 ms | p99 ms | answers/s |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        ner.save(Path(folder) / "gene.loom")
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "spanloom", "serve", f"{folder}/gene.loom", "--port", str(port)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            start = time.perf_counter()
            alone = in_process(ner, texts)
            lines.append(row("in this process, one after the other", alone, time.perf_counter() - start))
            for clients in (1, 20, 200):
                start = time.perf_counter()
                seconds, statuses = asyncio.run(load(port, texts, clients, 4000 // clients))
                lines.append(row(f"{clients} clients at once", seconds, time.perf_counter() - start))
                if set(statuses) != {200}:
                    raise SystemExit(f"{clients} clients: statuses {statuses}")
            _, statuses = asyncio.run(load(port, texts, 400, 2, k=5))
            refused = "400 clients who ask for the five best sets, which takes longer; at most 200 at once: "
            refused += ", ".join(f"{n:,} answers with status {status}" for status, n in sorted(statuses.items())) + "."
            before = resident(process.pid)
            asyncio.run(load(port, texts, 50, given.requests // 50))
            after = resident(process.pid)
            memory = f"Memory of the server: {before:.0f} MB, after {given.requests:,} more requests {after:.0f} MB."
        finally:
            process.terminate()
            process.wait()
    lines += ["", refused, "", memory]
    print("\n".join(lines))
    if given.write:
        head = [
            "# A server and many clients",
            "",
            f"`python benchmarks/serving.py --data FOLDER --requests {given.requests} --write`; one abstract of GENIA "
            "a request, `edge` with five labels, two tagging threads; clients and server share two cores; commit "
            f"{tables.commit()}.",
            "",
        ]
        (tables.RESULTS / "serving.md").write_text("\n".join(head + lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
