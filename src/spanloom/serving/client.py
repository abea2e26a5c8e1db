"""A client for programs: texts go to a server of ``spanloom serve``, documents with mentions come back."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from spanloom.base.errors import SpanloomError
from spanloom.corpus import Document
from spanloom.formats.checks import encode
from spanloom.formats.jsonl import to_dict
from spanloom.serving.requests import document


class ServerError(SpanloomError):
    """A server refuses a request or cannot be reached; ``status`` is None for the latter."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Asks a server.

    Parameters
    ----------
    url
        E.g. ``"http://127.0.0.1:8000"``.
    token
        What the server asks for, if anything.
    timeout
        Seconds for one request.
    patience
        Seconds to come again after a server that is busy; then ``ServerError``.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        patience: float = 30.0,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise SpanloomError(f"the URL of a server begins with http:// or https://, not {url!r}")
        self.url, self._token, self.timeout, self.patience = url.rstrip("/"), token, timeout, patience

    def models(self) -> list[dict[str, Any]]:
        """Return what models the server has."""
        return list(self._ask("/models")["models"])

    def tag(
        self,
        texts: str | Document | Sequence[str | Document],
        *,
        model: str | None = None,
        probabilities: bool = False,
        above: float | None = None,
    ) -> Any:
        """Return the document of a text, or of each of many, with the mentions that the server finds.

        The options are those of ``Recognizer.predict``.
        """
        if isinstance(texts, str | Document):
            return self.tag([texts], model=model, probabilities=probabilities, above=above)[0]
        return list(self.stream(texts, model=model, probabilities=probabilities, above=above))

    def stream(
        self,
        texts: Iterable[str | Document],
        *,
        model: str | None = None,
        probabilities: bool = False,
        above: float | None = None,
        batch: int = 256,
    ) -> Iterator[Document]:
        """Like ``tag`` on many, ``batch`` of them in each request, one result after the other."""
        options: dict[str, Any] = {"probabilities": probabilities}
        options |= {} if model is None else {"model": model}
        options |= {} if above is None else {"above": above}
        rest = iter(texts)
        while some := list(islice(rest, batch)):
            records = [{"text": one} if isinstance(one, str) else to_dict(one) for one in some]
            answer = self._ask("/tag", {"documents": records, **options})
            yield from (document(record, f"answer {k}") for k, record in enumerate(answer["documents"]))

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else encode(body, "request").encode()
        headers = {"content-type": "application/json"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        until, wait = time.monotonic() + self.patience, 0.05
        while True:
            request = urllib.request.Request(self.url + path, data, headers)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    return json.loads(answer.read())
            except urllib.error.HTTPError as error:
                if error.code not in (429, 503) or time.monotonic() + wait > until:
                    raise ServerError(_complaint(error), error.code) from None
            except OSError as error:
                raise ServerError(f"{self.url} does not answer: {error}") from None
            time.sleep(wait)
            wait = min(2 * wait, 2.0)


def _complaint(error: urllib.error.HTTPError) -> str:
    try:
        return f"the server answers {error.code}: {json.loads(error.read())['error']}"
    except (ValueError, KeyError, TypeError):
        return f"the server answers {error.code}"
