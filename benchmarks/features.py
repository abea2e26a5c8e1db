"""Speed of feature extraction: compiled templates against a Python function per token, in one run.

    python benchmarks/features.py [--data FOLDER] [--threads 1 2] [--write]

Uses the words of UNER-EWT. The Python side makes the same features as a list of strings per token, as users of CRFsuite
do; where python-crfsuite is installed, its conversion of those lists is timed too. Times are the best of several runs;
what counts are the ratios. ``--write`` puts the table into ``benchmarks/results/features.md``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from spanloom import Sentence
from spanloom.features import FeatureExtractor, FeatureSet

ROOT = Path(__file__).resolve().parent.parent
DIGITS = re.compile(r"\d+")
ROMAN = re.compile("M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
REAL = re.compile(r"[+-]?\d+([.,]\d+)+")


def read_words(path: Path) -> list[Sentence]:
    """Read the second column of an .iob2 file."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    rows = ([line.split("\t") for line in block.split("\n") if line and line[0] != "#"] for block in blocks)
    return [Sentence([fields[1] for fields in lines]) for lines in rows if lines]


def shape(word: str) -> str:
    """Return X for capitals, x for small letters, 9 for digits."""
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)


def flags(word: str) -> list[str]:
    """Return the orthographic flags that hold, as one would write them by hand."""
    found = []
    if word.isupper():
        found.append("all_caps")
    if word.isdigit():
        found.append("all_digits")
    if word.isalnum():
        found.append("alphanumeric")
    if word.islower():
        found.append("all_lower")
    if any(map(str.isdigit, word)):
        found.append("has_digit")
    for name, mark in (("has_dot", "."), ("has_hyphen", "-"), ("has_slash", "/"), ("has_comma", ",")):
        if mark in word:
            found.append(name)
    if word[:1].isupper():
        found.append("initial_capital")
    if len(word) == 1:
        found.append("single_char")
    if word.istitle():
        found.append("title_case")
    if word and ROMAN.fullmatch(word):
        found.append("roman_numeral")
    if REAL.fullmatch(word):
        found.append("real_number")
    return found


def python_features(words: list[str]) -> list[list[str]]:
    """Return the features of the default set as strings, one list a token."""
    n = len(words)
    lowered = [word.lower() for word in words]
    shapes = [shape(word) for word in words]
    collapsed = ["".join(char for char, _ in itertools.groupby(s)) for s in shapes]

    def at(values: list[str], i: int) -> str:
        return values[i] if 0 <= i < n else ("<s>" if i < 0 else "</s>")

    rows = []
    for i, word in enumerate(words):
        row = ["bias", f"shape={shapes[i]}", f"squeezed={DIGITS.sub('0', lowered[i])}"]
        for k in range(-2, 3):
            row.append(f"word[{k}]={at(words, i + k)}")
            row.append(f"lower[{k}]={at(lowered, i + k)}")
            row.append(f"collapsed[{k}]={at(collapsed, i + k)}")
        row.extend(f"prefix={word[:k]}" for k in range(1, min(4, len(word)) + 1))
        row.extend(f"suffix={word[-k:]}" for k in range(1, min(4, len(word)) + 1))
        if i > 0:
            row.append(f"suffix[-1]={lowered[i - 1][-3:]}")
        if i + 1 < n:
            row.append(f"suffix[1]={lowered[i + 1][-3:]}")
        row.extend(f"flag={flag}" for flag in flags(word))
        row.append(f"word[-1]={at(words, i - 1)}&word[0]={word}")
        row.append(f"word[0]={word}&word[1]={at(words, i + 1)}")
        row.append(f"collapsed[-1]={at(collapsed, i - 1)}&collapsed[0]={collapsed[i]}")
        row.append(f"collapsed[0]={collapsed[i]}&collapsed[1]={at(collapsed, i + 1)}")
        row.append(f"collapsed={at(collapsed, i - 1)}&{collapsed[i]}&{at(collapsed, i + 1)}")
        row.append(f"lower[-1]={at(lowered, i - 1)}&collapsed[0]={collapsed[i]}")
        row.append(f"collapsed[0]={collapsed[i]}&lower[1]={at(lowered, i + 1)}")
        rows.append(row)
    return rows


def best(action: Callable[[], object], times: int) -> float:
    """Return the shortest of several runs, in seconds."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("SPANLOOM_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    train = read_words(args.data / "uner-ewt" / "en_ewt-ud-train.iob2")
    dev = read_words(args.data / "uner-ewt" / "en_ewt-ud-dev.iob2")
    tokens, dev_tokens = sum(map(len, train)), sum(map(len, dev))

    made = [python_features(s.tokens) for s in dev]
    per_token = sum(len(row) for rows in made for row in rows) / dev_tokens
    baseline = best(lambda: [python_features(s.tokens) for s in dev], 3)
    lines = [
        f"UNER-EWT: train {tokens:,} tokens, dev {dev_tokens:,}; set `default`. "
        f"The Python function makes {per_token:.1f} features a token.",
        "",
        "| what | seconds | tokens/s | times the Python function |",
        "|---|---|---|---|",
    ]

    def row(what: str, seconds: float, count: int) -> None:
        ratio = (count / seconds) / (dev_tokens / baseline)
        lines.append(f"| {what} | {seconds:.4f} | {count / seconds:,.0f} | {ratio:.1f} |")

    row("Python function, dev", baseline, dev_tokens)
    try:
        import pycrfsuite
    except ImportError:
        pass
    else:
        row(
            "Python function and pycrfsuite.ItemSequence, dev",
            best(lambda: [pycrfsuite.ItemSequence(python_features(s.tokens)) for s in dev], 2),
            dev_tokens,
        )
    extractor = FeatureExtractor(FeatureSet.named("default"))
    for threads in args.threads:
        many = f"{threads} thread{'s' * (threads > 1)}"
        row(f"fit on train, {many}", best(partial(extractor.fit, train, threads), 3), tokens)
        loaded = FeatureExtractor.from_state(*extractor.state())
        row(
            f"first transform of dev after loading, {many}",
            best(partial(loaded.transform, dev, threads), 1),
            dev_tokens,
        )
        row(f"transform of dev, {many}", best(partial(loaded.transform, dev, threads), 15), dev_tokens)
    rows = extractor.transform(dev)
    lines += ["", f"{extractor.size:,} features; {rows.entries / dev_tokens:.1f} known ones a dev token."]
    text = "\n".join(lines)
    print(text)
    if args.write:
        target = ROOT / "benchmarks" / "results" / "features.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"# Feature extraction\n\n`python benchmarks/features.py`\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
