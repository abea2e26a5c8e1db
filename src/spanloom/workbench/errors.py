"""What the workbench refuses, each with the status of its answer."""

from __future__ import annotations

from typing import Any

from spanloom.base.errors import SpanloomError


class Refused(SpanloomError):
    """A request that is not granted.

    Attributes
    ----------
    status
        Of the HTTP answer.
    details
        More fields of the answer.
    """

    status = 400

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class Missing(Refused):
    """There is no such document, annotator or model."""

    status = 404


class Conflict(Refused):
    """The annotation has changed since the page saw it."""

    status = 409


class Locked(Refused):
    """Somebody else works on the document."""

    status = 423


class TooLong(Refused):
    """A body is longer than allowed."""

    status = 413


class NotStored(Refused):
    """The file of the project cannot be read or written: a full disk, a damaged one."""

    status = 507
