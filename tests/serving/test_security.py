"""Who gets an answer: the guard in front of a server, against a small application."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from spanloom.base.errors import ParameterError
from spanloom.serving.security import POLICY, Guard, check_bind

TOKEN = "correct-horse-battery"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def ask(guard: Guard, headers: dict[str, str], *chunks: bytes, method: str = "POST", path: str = "/tag") -> Any:
    sent: list[Any] = []
    left = [{"type": "http.request", "body": c, "more_body": i + 1 < len(chunks)} for i, c in enumerate(chunks)]

    async def receive() -> Any:
        return left.pop(0) if left else {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw}
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(m.get("body", b"") for m in sent[1:])


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:9", "[::1]:8000"])
def test_this_machine_is_served(host: str) -> None:
    status, headers, body = ask(Guard(echo), {"Host": host}, b"a", b"b")
    assert (status, body) == (200, b"ab")
    assert headers[b"content-security-policy"].decode() == POLICY


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:8000"])
def test_a_name_that_was_rebound_to_this_machine_is_not(host: str) -> None:
    assert ask(Guard(echo), {"Host": host}, b"")[0] == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_other_origins_are_refused(headers: dict[str, str], status: int) -> None:
    assert ask(Guard(echo), {"Host": "127.0.0.1:8000", **headers}, b"")[0] == status


def test_a_token_is_asked_for_but_for_health() -> None:
    guard = Guard(echo, hosts=None, token=TOKEN)
    assert ask(guard, {"Host": "gpu7"}, b"")[0] == 401
    assert ask(guard, {"Host": "gpu7", "Authorization": f"Bearer {TOKEN}x"}, b"")[0] == 401
    assert ask(guard, {"Host": "gpu7", "Authorization": f"Basic {TOKEN}"}, b"")[0] == 401
    assert ask(guard, {"Host": "gpu7", "Authorization": f"bearer {TOKEN}"}, b"")[0] == 200
    assert ask(guard, {"Host": "gpu7"}, b"", path="/health")[0] == 200


def test_long_bodies_are_refused_whether_or_not_they_say_so() -> None:
    guard = Guard(echo, largest=10)
    host = {"Host": "localhost"}
    assert ask(guard, {**host, "Content-Length": "10"}, b"0123456789")[0] == 200
    assert ask(guard, {**host, "Content-Length": "11"}, b"0123456789a")[0] == 413
    assert ask(guard, host, b"012345", b"6789a")[0] == 413
    assert ask(guard, {**host, "Content-Length": "-1"}, b"")[0] == 400
    assert ask(guard, {**host, "Content-Length": "9" * 5000}, b"")[0] == 400  # Python reads 4,300 digits


def test_a_path_is_not_longer_than_any_of_ours() -> None:
    guard = Guard(echo)
    assert ask(guard, {"Host": "localhost"}, b"", path="/" + 999 * "a")[0] == 200
    assert ask(guard, {"Host": "localhost"}, b"", path="/" + 1000 * "a")[0] == 414


def test_nobody_listens_to_the_world_without_a_secret() -> None:
    check_bind("127.0.0.1", None)
    check_bind("0.0.0.0", TOKEN)
    with pytest.raises(ParameterError, match=r"would listen on 0\.0\.0\.0"):
        check_bind("0.0.0.0", None)
    with pytest.raises(ParameterError, match="at least 16"):
        check_bind("0.0.0.0", "short")
