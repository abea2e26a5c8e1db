"""A lexicon of a million entries: memory, and tokens a second.

    python benchmarks/lexicon.py [--write]

``--write`` puts the line into ``benchmarks/results/lexicon.md``.
"""

from __future__ import annotations

import itertools
import random
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from spanloom.annotators import Lexicon
from spanloom.corpus import Sentence

ENTRIES = 1_000_000


def resident() -> float:
    """The memory of this process in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    """Print one line of figures."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(400_000)]
    rare = words[5_000:]  # names are not made of the most frequent words

    def entry() -> list[str]:
        return rng.choices(rare, k=rng.choice((1, 2, 2, 3, 3, 4)))

    zipf = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(words))))  # as in any text
    texts = [rng.choices(words, cum_weights=zipf, k=28) for _ in range(20_000)]
    for text in texts[::3]:  # a third of the sentences hold the beginning of an entry, and a sixth a whole one
        text[5:8] = entry()[:2] + text[7:8]
    before = resident()
    lexicon = Lexicon("x", [["none"]])
    while len(lexicon) < ENTRIES:  # in parts, so that only the lexicon itself is left in memory
        lexicon._trie.add([entry() for _ in range(10_000)], np.zeros(10_000, np.uint32))
    memory = resident() - before
    sentences = [Sentence(tokens) for tokens in texts]
    seconds = []
    for _ in range(5):
        start = time.process_time()
        found = lexicon.find(sentences)
        seconds.append(time.process_time() - start)
    tokens = sum(map(len, texts))
    line = (
        f"{len(lexicon):,} entries take {memory:.0f} MB; {tokens:,} tokens, where {sum(map(len, found)):,} are found, "
        f"are read at {tokens / statistics.median(seconds) / 1e6:.1f} M tokens a second of processor time (median of 5)"
    )
    print(line)
    if "--write" in sys.argv:
        target = Path(__file__).parent / "results" / "lexicon.md"
        target.write_text(f"# Lexicons\n\n`python benchmarks/lexicon.py --write`\n\n{line}.\n", encoding="utf-8")


if __name__ == "__main__":
    main()
