"""XML from strangers: entities could grow a small file into gigabytes, or name other files."""

from __future__ import annotations

_DECLARATION = "<!ENTITY"
_ENCODINGS = ("ascii", "utf-16-le", "utf-16-be")


def declares_entities(path: str) -> bool:
    """Whether a file declares entities anywhere, in any encoding that XML parsers take without being told.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bomb, plain = pathlib.Path(folder, "a.xml"), pathlib.Path(folder, "b.xml")
    ...     _ = bomb.write_text('<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'), plain.write_text("<a>&lt;</a>")
    ...     declares_entities(str(bomb)), declares_entities(str(plain))
    (True, False)
    """
    wanted = [_DECLARATION.encode(encoding) for encoding in _ENCODINGS]
    longest = max(map(len, wanted))
    end = b""
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            seen = end + piece
            if any(one in seen for one in wanted):
                return True
            end = seen[-longest:]
    return False
