"""Figures that were typed into the documentation by hand: found, and counted against what is still allowed.

A figure is a number with a unit of measurement (per cent, points, F1, words a second, seconds and their like, bytes,
times as much), a number with decimals, or a cell of a table that is a number. No figures are: what stands in code,
versions, and whatever is within a mark of ``experiments.figures``, a made or shown block, or

    <!-- given: Muis & Lu 2017, table 3 -->70.8<!-- /given -->

for what a paper says and what follows from a definition.

``typed.json`` says how many typed figures a page may have. The numbers only fall: ``python -m experiments docs`` lowers
them to what is there and never raises one; a page that is not in it may have none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

ALLOWED = Path(__file__).resolve().parent / "typed.json"
LEFT_OUT = re.compile(
    r"```.*?```"
    r"|<!-- (?P<mark>figure|table|older|given|made|shown)\b.*?<!-- /(?P=mark) -->"
    r"|<!--.*?-->"
    r"|`[^`\n]*`"
    r"|\]\([^)\s]*\)",
    re.DOTALL,
)
UNIT = (
    r"(?:%|per cent\b|points?\b|F1\b|words? (?:a|per) second|words/s|(?:milli)?seconds?\b|m?s\b|minutes?\b|hours?\b"
    r"|[kKMG]B\b|times\b|×|x\b)"
)
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
VERSIONED = r"(?:Python|spaCy|spacy|License|BY|C\+\+|UDPipe|brat|NumPy|numpy|pandas|Unicode|version|doi:) "
PROSE = re.compile(
    rf"(?<![\w.,/+-])(?<!v)(?:{NUMBER}(?: |-|\u00a0)?{UNIT}|(?:F1|p =|p <) {NUMBER}|\d+(?:,\d{{3}})*\.\d+(?![\w]|\.\d))"
)
CELL = re.compile(rf"[*~<>≈ ]*[-+−±]?{NUMBER} ?(?:{UNIT}|[*])*(?: \([^)]*\))?[* ]*")


def typed(page: str) -> Iterator[tuple[int, str]]:
    """Yield the number of a line, and a figure in it.

    Examples
    --------
    >>> list(typed("It has 72.6 F1\\nwith Python 3.10, `l2=0.5`, <!-- given: there -->70.8<!-- /given --> there."))
    [(1, '72.6 F1')]
    """
    plain = LEFT_OUT.sub(lambda found: "\u00b7" + "\n" * found[0].count("\n"), page)
    for number, line in enumerate(plain.splitlines(), 1):
        if line.startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                if CELL.fullmatch(cell):
                    yield number, cell.strip()
                else:
                    yield from ((number, text) for text in _prose(cell))
        else:
            yield from ((number, text) for text in _prose(line))


def _prose(text: str) -> Iterator[str]:
    for found in PROSE.finditer(text):
        if not re.search(VERSIONED + "$", text[: found.start()]):
            yield found[0]


def counts(pages: list[Path], root: Path) -> dict[str, int]:
    """Return how many typed figures each page has, of those that have any."""
    found = {path.relative_to(root).as_posix(): len(list(typed(path.read_text(encoding="utf-8")))) for path in pages}
    return {name: count for name, count in found.items() if count}


def allowed() -> dict[str, int]:
    """Return how many each page may have."""
    given: dict[str, int] = json.loads(ALLOWED.read_text(encoding="utf-8"))
    return given


def lower(now: dict[str, int]) -> None:
    """Allow no more than there are."""
    kept = {name: min(count, now[name]) for name, count in sorted(allowed().items()) if name in now}
    ALLOWED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
