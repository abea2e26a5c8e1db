"""Numbers of things in messages."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "document"), counted(1200, "mention")
    ('1 document', '1,200 mentions')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
