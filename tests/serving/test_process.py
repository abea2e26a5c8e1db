"""A real server in a process of its own, asked by the client."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from extras import needs

needs("starlette", "uvicorn")
pytestmark = pytest.mark.extras

from spanloom import Document, Recognizer, read  # noqa: E402
from spanloom.learning import LBFGS  # noqa: E402
from spanloom.serving.client import Client, ServerError  # noqa: E402

TEXT = "The IL-2 gene is expressed in T cells."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "gene.loom"
    Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=40)).fit(read("sample:train")).save(path)
    return path


def start(model: Path, *options: str, token: str = "") -> tuple[subprocess.Popen[str], Client]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "spanloom", "serve", str(model), "--port", str(port), *options]
    environment = {**os.environ, "SPANLOOM_TOKEN": token}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    client = Client(f"http://127.0.0.1:{port}", token=token or None, patience=5)
    for _ in range(200):
        try:
            client.models()
            break
        except ServerError as error:
            if error.status is not None or process.poll() is not None:
                break
            time.sleep(0.1)
    return process, client


@pytest.fixture
def server(model: Path) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    process, client = start(model)
    yield process, client
    process.kill()
    process.communicate()


def test_the_client_gets_what_predict_gives(server: tuple[subprocess.Popen[str], Client], model: Path) -> None:
    ner, client = Recognizer.load(model), server[1]
    expected = ner.predict(TEXT, probabilities=True)
    found = client.tag(TEXT, probabilities=True)
    assert isinstance(found, Document)
    assert [(m.label, m.parts) for m in found.mentions] == [(m.label, m.parts) for m in expected.mentions]
    assert [m.prob for m in found.mentions] == pytest.approx([m.prob for m in expected.mentions])
    documents = list(read("sample:dev"))
    got = list(client.stream([doc.with_sentences([s.with_mentions([]) for s in doc]) for doc in documents], batch=7))
    assert [doc.mentions for doc in got] == [doc.mentions for doc in ner.predict(documents)]
    with pytest.raises(ServerError, match="there is no model 'nobody'"):
        client.tag(TEXT, model="nobody")


def test_sigterm_answers_what_was_taken_and_ends(server: tuple[subprocess.Popen[str], Client]) -> None:
    process, client = server
    answers: list[int] = []

    def ask() -> None:
        answers.append(len(list(client.stream([TEXT] * 5000, batch=5000))))  # one request

    def taken() -> int:
        """Requests that the server works on, or has answered; those that it has not taken it may refuse."""
        with urllib.request.urlopen(f"{client.url}/metrics") as page:
            lines = page.read().decode().splitlines()
        (busy,) = (line.split()[-1] for line in lines if line.startswith("spanloom_busy_requests "))
        return int(float(busy)) + len(answers)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    while taken() < 4 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join(60)
    assert answers == [5000] * 4
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors, errors


def test_a_token_is_needed_where_one_is_set(model: Path) -> None:
    process, client = start(model, token="correct-horse-battery")
    try:
        assert client.models()[0]["name"] == "gene"
        with pytest.raises(ServerError, match="asks for its token"):
            Client(client.url).models()
    finally:
        process.kill()
        process.communicate()


def test_listening_to_the_world_without_a_token_is_refused(model: Path) -> None:
    command = [sys.executable, "-m", "spanloom", "serve", str(model), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SPANLOOM_TOKEN": ""}, timeout=60)
    assert done.returncode == 2
    assert "set a token in SPANLOOM_TOKEN" in done.stderr
