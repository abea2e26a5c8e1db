"""Who may talk to a local server: the right host, no foreign pages, a token beyond loopback, bodies of bounded size."""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from spanloom.base.errors import ParameterError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LOCAL = ("127.0.0.1", "localhost", "::1")
"""The names of this machine that are served without a token."""
LONGEST_PATH = 1000
"""Characters of an address without its query: the longest of ours have a fifth of that, and Python reads no number of
more than 4,300 digits."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page of ours may load: nothing that is not ours, and nothing that stands in the page itself."""
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "192.168.1.5", "gpu7")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_bind(host: str, token: str | None) -> None:
    """Refuse to listen beyond this machine without a token, and tokens that are too short to be secret."""
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token):
        raise ParameterError(
            f"a token needs at least 16 printable ASCII characters without spaces, not {len(token)} "
            'characters; make one: python -c "import secrets; print(secrets.token_urlsafe())"'
        )
    if token is None and not is_loopback(host):
        raise ParameterError(
            f"the server would listen on {host}, where others can reach it; set a token in SPANLOOM_TOKEN or a file "
            "(--token-file), or listen on 127.0.0.1"
        )


class Guard:
    """ASGI middleware in front of every route.

    Parameters
    ----------
    app
        What answers.
    hosts
        The names that requests may give as their ``Host``, without port: a page that has rebound its own name to this
        machine (DNS rebinding) names itself. None for any, which is for servers that ask for a token.
    token
        Asked for as ``Authorization: Bearer TOKEN``; None for none.
    largest
        Bytes of a body.
    free
        Paths that need no token.

    A request that a page of another origin makes (``Origin``, ``Sec-Fetch-Site``) is refused.
    """

    def __init__(
        self,
        app: App,
        *,
        hosts: Collection[str] | None = LOCAL,
        token: str | None = None,
        largest: int = 16 << 20,
        free: Collection[str] = ("/health",),
    ) -> None:
        self.app = app
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self.token = None if token is None else token.encode()
        self.largest = largest
        self.free = frozenset(free)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refuse(send, *refusal)
            return
        body = _Body(receive, send, self.largest)
        try:
            await self.app(scope, body.receive, body.send)
        except TooLarge:
            if not body.answered:
                await refuse(send, *self._too_large())

    def _refusal(self, scope: Message, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self.hosts is not None and _name(host) not in self.hosts:
            return 421, f"this server does not answer for the host {host!r}"
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        foreign = bool(origin) and origin not in (f"http://{host}", f"https://{host}")
        site = headers.get(b"sec-fetch-site", b"")
        if foreign or (site in (b"cross-site", b"same-site") and scope["method"] not in ("GET", "HEAD")):
            return 403, f"requests of pages of another origin are refused ({origin or site.decode('latin-1')})"
        if self.token is not None and scope["path"] not in self.free:
            given = headers.get(b"authorization", b"")
            kind, _, value = given.partition(b" ")
            if kind.lower() != b"bearer" or not hmac.compare_digest(value.strip(), self.token):
                return 401, "this server asks for its token: Authorization: Bearer TOKEN"
        if len(scope["path"]) > LONGEST_PATH:
            return 414, f"the path of an address may have {LONGEST_PATH:,} characters, not {len(scope['path']):,}"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18:
            return 400, "Content-Length must be a whole number of at most 18 digits"
        return self._too_large() if int(length) > self.largest else None

    def _too_large(self) -> tuple[int, str]:
        return 413, f"a request may have at most {self.largest} bytes; send the documents in several requests"


class TooLarge(Exception):
    """A body is longer than allowed; its sender did not say so before."""


class _Body:
    """Counts what comes in and adds our headers to what goes out."""

    def __init__(self, receive: Receive, send: Send, largest: int) -> None:
        self._receive, self._send, self._left = receive, send, largest
        self.answered = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise TooLarge
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.answered = True
            own = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in own)]
        await self._send(message)


async def refuse(send: Send, status: int, error: str) -> None:
    """Answer with an error, in the form of all errors of the server: ``{"error": …}``."""
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *HEADERS]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
