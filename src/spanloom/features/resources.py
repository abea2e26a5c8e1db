"""Tables that views look words up in: clusters, gazetteer classes."""

from __future__ import annotations

import os
from pathlib import Path

from spanloom.base.errors import CorpusError, ParameterError

FORMATS = ("tsv", "brown")


def read_resource(path: str | os.PathLike[str], format: str = "tsv") -> dict[str, list[str]]:
    """Read a table from a file.

    Parameters
    ----------
    path
        A UTF-8 text file.
    format
        ``"tsv"``: a word, then its values, separated by tabs; lines with the same word add up.
        ``"brown"``: the ``paths`` file of Brown clustering: bit string, word, count.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "paths")
    ...     _ = path.write_text("0110\\tgene\\t12\\n0111\\tprotein\\t9\\n")
    ...     read_resource(path, "brown")
    {'gene': ['0110'], 'protein': ['0111']}
    """
    if format not in FORMATS:
        raise ParameterError(f"the format of a resource must be one of {', '.join(FORMATS)}, got {format!r}")
    table: dict[str, list[str]] = {}
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}: not UTF-8 at byte {error.start}") from None
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.rstrip("\r").split("\t")
        if fields == [""]:
            continue
        if format == "brown":
            if len(fields) != 3 or not fields[0] or set(fields[0]) - {"0", "1"}:
                raise CorpusError(f"{path}:{number}: expected bits, word and count separated by tabs, got {line!r}")
            key, values = fields[1], [fields[0]]
        else:
            key, values = fields[0], fields[1:]
            if not values:
                raise CorpusError(f"{path}:{number}: expected a word and its values separated by tabs, got {line!r}")
        known = table.setdefault(key, [])
        known.extend(value for value in dict.fromkeys(values) if value not in known)
    return table
