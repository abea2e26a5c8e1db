"""Where commands print: words, labels and paths of the user are shown as they are, never read as markup."""

from __future__ import annotations

from rich.console import Console


def make_console(stderr: bool = False, *, soft_wrap: bool = False) -> Console:
    """Return a console that takes strings as they are; what is to be bold is given as ``rich.text.Text``.

    Examples
    --------
    >>> make_console().print("[person] :dna: [/person]")
    [person] :dna: [/person]
    """
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=soft_wrap)
