"""Comments of files of columns: ``# text = …``, ``# newdoc id = …`` and others before a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def name_and_value(comment: str) -> tuple[str, str] | None:
    """Return the two sides of a comment with an equals sign; None for others.

    Examples
    --------
    >>> name_and_value("# newdoc id = a"), name_and_value("# newdoc")
    (('newdoc id', 'a'), None)
    """
    name, mark, value = comment.partition("=")
    return (name[1:].strip(), value.lstrip()) if mark and name.startswith("#") else None


def newdoc(id: str) -> str:
    """Return the line that begins a document; one without id has no empty one.

    Examples
    --------
    >>> newdoc("a"), newdoc("")
    ('# newdoc id = a\\n', '# newdoc\\n')
    """
    return f"# newdoc id = {id}\n" if id else "# newdoc\n"


def sentence_comments(comments: Sequence[str], own: Callable[[str], bool]) -> tuple[str | None, dict[str, Any]]:
    """Return the text that comments give a sentence, or None, and the others as its metadata.

    Parameters
    ----------
    own
        Whether a name is one of the format's, which is no metadata.

    Examples
    --------
    >>> sentence_comments(["# text = A b", "# genre = news", "# checked"], lambda name: False)
    ('A b', {'genre': 'news', 'comments': ['checked']})
    """
    text = None
    meta: dict[str, Any] = {}
    for comment in comments:
        pair = name_and_value(comment)
        if pair is None and own(comment.lstrip("# ")):
            continue
        if pair is None:
            meta.setdefault("comments", []).append(comment.lstrip("# "))
        elif pair[0] == "text":
            text = pair[1]
        elif not own(pair[0]):
            meta[pair[0]] = pair[1]
    return text, meta
