"""A process that tags shards: a fresh interpreter, which never imports the program that started it.

Messages go through its standard input and output, each a pickle after its length. It ends with its input, and so with
its parent, also if that is killed. What it prints goes to standard error.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
import traceback
from contextlib import suppress
from typing import IO, Any, cast

from spanloom.base.errors import SpanloomError

TELL_SECONDS = 0.1
_LENGTH = struct.Struct("<Q")


def send(to: IO[bytes], message: Any) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    to.write(_LENGTH.pack(len(data)) + data)
    to.flush()


def receive(from_: IO[bytes]) -> bytes | None:
    """Return the pickle of the next message; None at the end.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> send(file, ("done", 7))
    >>> _ = file.seek(0)
    >>> pickle.loads(receive(file)), receive(file)
    (('done', 7), None)
    """
    head = _exactly(from_, _LENGTH.size)
    return None if head is None else _exactly(from_, _LENGTH.unpack(head)[0])


def _exactly(from_: IO[bytes], size: int) -> bytes | None:
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        count = cast(io.RawIOBase, from_).readinto(view[done:])  # all binary files have it
        if not count:
            return None
        done += count
    return bytes(data)


def serve() -> None:
    """Tag what comes in, until nothing comes any more: threads, bytes of a model and modules first, then tasks."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # as an exception, so that unfinished files are removed
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Not buffered: a thread that waits in it would hold a lock that the end of the process needs.
    tasks = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115  read to the end of the process
    waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    working = threading.Event()

    def listen() -> None:
        message: bytes | None = b""
        try:
            while message is not None:
                message = receive(tasks)
                if message is None and working.is_set():
                    os._exit(1)  # the parent is gone
                waiting.put(message)
        except BaseException:  # such as no memory for a model: the parent must hear of it
            traceback.print_exc()
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    threads = None
    try:
        while (data := waiting.get()) is not None:
            if threads is None:
                threads = _prepare(*pickle.loads(data))
                continue
            working.set()
            answer = _answer(data, threads, answers)
            working.clear()
            _send_answer(answers, answer)
    except BrokenPipeError:
        os._exit(1)


def _prepare(threads: int, model: bytes | None, modules: tuple[str, ...]) -> int:
    from spanloom.scale.loading import deposit

    for name in modules:  # where somebody's own models and annotators are defined
        with suppress(ImportError):
            importlib.import_module(name)
    if model is not None:
        deposit(model)
    return threads


def _answer(data: bytes, threads: int, answers: IO[bytes]) -> tuple[Any, ...]:
    from spanloom.scale.work import tag_shard

    told = time.monotonic()

    def progress(words: int, size: int) -> None:
        nonlocal told
        if time.monotonic() >= told + TELL_SECONDS:
            told = time.monotonic()
            send(answers, ("progress", words, size))

    try:
        work, shard = pickle.loads(data)
        return "done", *tag_shard(work, shard, progress, threads)
    except BrokenPipeError:
        raise
    except Exception as error:  # whatever it is, the parent raises it
        return "failed", error, traceback.format_exc()


def _send_answer(answers: IO[bytes], answer: tuple[Any, ...]) -> None:
    try:
        pickle.loads(pickle.dumps(answer))
    except Exception:  # an error of a class that cannot be pickled
        kind = SpanloomError if isinstance(answer[1], SpanloomError) else RuntimeError
        answer = "failed", kind(str(answer[1])), answer[2]
    send(answers, answer)
