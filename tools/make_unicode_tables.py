"""Write what the native core knows of every code point, from Python's unicodedata.

    python tools/make_unicode_tables.py            # write the files
    python tools/make_unicode_tables.py --check    # fail if a file differs from what would be written

Two-stage tables: ``stage1[c >> 7]`` picks a block of 128, ``stage2[block][c & 127]`` an index into the few distinct
records. For features, a record is (class, Greek or not, distance to the lower case); for the tokenizer and the sentence
splitter, (symbol in the skeleton, properties by which Python's ``str`` goes).
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "native" / "src" / "text"
BLOCK = 128
CLASSES = {"Lu": "upper", "Lt": "upper", "Ll": "lower", "Lo": "letter", "Lm": "letter", "Nd": "digit", "Pd": "dash"}
MAJOR = {"N": "number", "M": "mark", "P": "punctuation", "S": "symbol", "Z": "space", "C": "other"}


def record(code: int) -> tuple[str, bool, int]:
    """Return class, Greek letter or not, and lower case minus code point."""
    char = chr(code)
    category = unicodedata.category(char)
    kind = CLASSES.get(category) or MAJOR[category[0]]
    greek = category[0] == "L" and unicodedata.name(char, "").startswith("GREEK ")
    low = char.lower()
    if len(low) != 1 and code != 0x130:
        raise ValueError(f"U+{code:04X} has a lower case of {len(low)} characters; only U+0130 is provided for")
    return kind, greek, ord(low[0]) - code


# Scripts written without spaces: each character is a token.
LONE = (
    (0x0E00, 0x0E80), (0x0E80, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x2E80, 0x2FE0), (0x3040, 0x3130),
    (0x3400, 0xA4D0), (0xF900, 0xFB00), (0xFF66, 0xFFA0), (0x1B000, 0x1B170), (0x20000, 0x323B0),
)  # fmt: skip
DASHES, APOSTROPHES = "‐‑‒–—―−", "’＇"
PROPERTIES = ("isalpha", "isalnum", "isdigit", "isspace", "isupper", "islower", "istitle")


def symbol(code: int) -> str:
    """Return what stands for a code point in the skeleton: an ASCII character for itself, else its class."""
    char = chr(code)
    category = unicodedata.category(char)
    if char.isspace() or category == "Cc" or code in (0x200B, 0xFEFF):
        return str(ord(" "))
    if code < 128:
        return str(ord("0") if category == "Nd" else code)
    if char in DASHES:
        return str(ord("-"))
    if char in APOSTROPHES:
        return str(ord("'"))
    if code == 0x200D:
        return "kJoiner"
    if category[0] == "M" or category == "Cf" or 0x1F3FB <= code <= 0x1F3FF:  # also the skin tones of emoji
        return "kMark"
    if category in ("Lo", "Lm", "Nl", "So") and any(low <= code < high for low, high in LONE):
        return "kLone"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "kFlag"
    if category == "So":
        return "kEmoji"
    if category == "Nd":
        return str(ord("0"))
    if category in ("Lu", "Lt"):
        return "kUpper"
    return "kLetter" if category[0] in "LN" else "kOther"


def text_record(code: int) -> tuple[str, int]:
    """Return the symbol of a code point, and a bit for each property that holds."""
    char = chr(code)
    return symbol(code), sum(1 << bit for bit, name in enumerate(PROPERTIES) if getattr(char, name)())


def stages(record_of: Callable[[int], Hashable], show: Callable[[Any], str], kind: str) -> list[str]:
    """Return the lines of a two-stage table of records, each written by ``show``."""
    records: dict[Hashable, int] = {}
    blocks: dict[tuple[int, ...], int] = {}
    stage1: list[int] = []
    for start in range(0, 0x110000, BLOCK):
        block = tuple(records.setdefault(record_of(c), len(records)) for c in range(start, start + BLOCK))
        stage1.append(blocks.setdefault(block, len(blocks)))
    if len(records) > 256:
        raise ValueError(f"{len(records)} distinct records do not fit one byte")
    return [
        f"constexpr {kind} kRecords[] = {{",
        *(f"    {show(record)}," for record in records),
        "};",
        f"constexpr std::uint16_t kStage1[] = {{{','.join(map(str, stage1))}}};",
        f"constexpr std::uint8_t kStage2[][{BLOCK}] = {{",
        *(f"    {{{','.join(map(str, block))}}}," for block in blocks),
        "};",
    ]


def feature_table() -> list[str]:
    """Return the lines of the table for features."""
    lines = stages(record, lambda r: f"{{CharClass::{r[0]}, {str(r[1]).lower()}, {r[2]}}}", "CharInfo")
    return [f'constexpr char kUnicodeVersion[] = "{unicodedata.unidata_version}";', *lines]


def text_table() -> list[str]:
    """Return the lines of the table for tokens and sentences."""
    return stages(text_record, lambda r: f"{{{r[0]}, {r[1]}}}", "Character")


TARGETS = {"unicode_tables.inc": feature_table, "character_tables.inc": text_table}


def main() -> int:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    same = True
    for name, lines in TARGETS.items():
        text = "\n".join(["// Generated by tools/make_unicode_tables.py; do not edit.", *lines()]) + "\n"
        target = SOURCES / name
        if check:
            matches = target.read_text(encoding="utf-8") == text
            print(f"{name} is {'up to date' if matches else 'not what this Python would write'}")
            same = same and matches
        else:
            target.write_text(text, encoding="utf-8")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
