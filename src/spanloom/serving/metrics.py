"""What a server counts, in the text form that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of seconds."""


class Metrics:
    """Counters of requests and texts, and a histogram of seconds.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.answered("/tag", 200, 0.02)
    >>> metrics.tagged(texts=1, characters=40)
    >>> print(metrics.text().splitlines()[1])
    # TYPE spanloom_requests_total counter
    >>> 'spanloom_requests_total{path="/tag",status="200"} 1' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._texts = self._characters = 0
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        """By name: what it is, and a function that returns its value now."""

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request; ``path`` is that of the route, so that there are few."""
        with self._lock:
            self._requests[path, status] += 1
            self._buckets[bisect_left(BUCKETS, seconds)] += 1
            self._seconds += seconds

    def tagged(self, *, texts: int, characters: int) -> None:
        """Count texts that were tagged."""
        with self._lock:
            self._texts += texts
            self._characters += characters

    def text(self) -> str:
        """Return everything in the text form of Prometheus."""
        with self._lock:
            requests = sorted(self._requests.items())
            counts, seconds = list(self._buckets), self._seconds
            texts, characters = self._texts, self._characters
        lines = _head("requests_total", "counter", "Requests by route and status.")
        lines += [
            f'spanloom_requests_total{{path="{_escaped(path)}",status="{status}"}} {n}'
            for (path, status), n in requests
        ]
        lines += _head("request_seconds", "histogram", "From the first byte of a request to the last of its answer.")
        total = 0
        for bound, n in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
            total += n
            lines.append(f'spanloom_request_seconds_bucket{{le="{bound}"}} {total}')
        lines += [f"spanloom_request_seconds_sum {seconds:.6f}", f"spanloom_request_seconds_count {total}"]
        for name, value, what in (
            ("texts_total", texts, "Texts tagged."),
            ("characters_total", characters, "Characters of texts tagged."),
        ):
            lines += [*_head(name, "counter", what), f"spanloom_{name} {value}"]
        for name, (what, now) in self.gauges.items():
            lines += [*_head(name, "gauge", what), f"spanloom_{name} {now():g}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, what: str) -> list[str]:
    return [f"# HELP spanloom_{name} {what}", f"# TYPE spanloom_{name} {kind}"]


def _escaped(value: Iterable[str]) -> str:
    return "".join(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
