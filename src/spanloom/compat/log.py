"""What training has said: the text, and the same in numbers; what python-crfsuite calls its log parser."""

from __future__ import annotations

from typing import Any


class TrainingLog:
    """The record of a training, made while it runs.

    Attributes
    ----------
    log
        Every message.
    events
        ``(event, first message, last + 1)``.
    iterations, last_iteration
        Of each iteration a dict: ``num``, ``loss``, ``time``, ``feature_norm``, with held-out data ``avg_f1``,
        ``item_accuracy``, ``scores`` by label and more.
    featgen_num_features, featgen_seconds, training_seconds, storing_seconds
        Numbers of the parts.
    """

    def __init__(self) -> None:
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.featgen_percent = 0
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None

    @property
    def last_log(self) -> str:
        """The text of the last event."""
        _, first, last = self.events[-1]
        return "".join(self.log[first:last])

    def end_event(self, event: str, info: dict[str, Any]) -> None:
        """Close an event whose messages are in the log."""
        self.events.append((event, self.events[-1][2] if self.events else 0, len(self.log)))
        if event == "iteration":
            self.last_iteration = info
            self.iterations.append(info)
        elif event == "featgen_progress":
            self.featgen_percent = info["percent"]
        elif event == "featgen_end":
            self.featgen_num_features, self.featgen_seconds = info["features"], info["seconds"]
        elif event == "optimization_end":
            self.training_seconds = info["seconds"]
        elif event == "end":
            self.storing_seconds = info.get("seconds")
