"""Put a step of ``.ci/nightly`` into the table of its last results.

``python tools/nightly_table.py NAME WORDS RESULT SECONDS LOG``; the table is ``benchmarks/results/nightly.md``, made
from ``nightly.json`` beside it. A step that runs again replaces its row.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import RESULTS, commit  # noqa: E402

_TELLING = re.compile(
    r"^\d+ (passed|failed)|\d+ executions$|^no (leak|error) of|same bytes|mentions as expected|bad end|"
    r"\d+ tried, \d+ alive$"
)
"""Lines of a log that say what came out of a step."""


def said(log: str) -> str:
    """Return the last line of a log that says what came out; empty if there is none."""
    lines = [line.strip(" =\t") for line in log.splitlines()]
    found = [line for line in lines if _TELLING.search(line) and len(line) < 120]
    return found[-1] if found else ""


def page(steps: dict[str, dict[str, object]]) -> str:
    """Return the table of all steps."""
    lines = [
        "# Nightly",
        "",
        "`.ci/nightly`: the last result of each step.",
        "",
        "| step | what | result | minutes | it said | commit | day |",
        "|---|---|---|---:|---|---|---|",
    ]
    for name, row in steps.items():
        words = str(row["said"]).replace("|", "\\|")
        cells = (name, row["what"], row["result"], row["minutes"], words, row["commit"], row["day"])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Write the row that the command line gives."""
    name, words, result, seconds, log = sys.argv[1:]
    path = RESULTS / "nightly.json"
    steps = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    steps[name] = {
        "what": words,
        "result": result,
        "minutes": round(int(seconds) / 60),
        "said": said(Path(log).read_text(encoding="utf-8", errors="replace")),
        "commit": commit(),
        "day": datetime.now(timezone.utc).date().isoformat(),
    }
    path.write_text(json.dumps(steps, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(steps), encoding="utf-8")


if __name__ == "__main__":
    main()
