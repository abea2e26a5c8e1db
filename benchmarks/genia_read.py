"""Reading GENIA, against the straightforward way: ``xml.etree``, and alignment character by character in Python.

    python benchmarks/genia_read.py ../shared/data/genia [--write]

Both read the five classes with whole coordinations and give the same sentences, tokens, tags and mentions, which is
checked; the few articles that differ are those whose POS text has words without tags or other sentence breaks, which
the straightforward way does not see. ``--write`` puts the table into ``benchmarks/results/genia_read.md``.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

from spanloom import Document, Mention, Sentence, read

FIVE = ("protein", "DNA", "RNA", "cell_line", "cell_type")


def label_of(sem: str) -> str:
    """The label of a class in the scheme of five."""
    leaf = next(atom for atom in sem.replace("(", " ").replace(")", " ").split() if atom.startswith("G#"))[2:]
    label = leaf.split("_")[0] if leaf.startswith(("protein_", "DNA_", "RNA_")) else leaf
    return label if label in FIVE else ""


def walk(element: ET.Element, at: int, chars: list[str], terms: list[tuple[ET.Element, int, int]]) -> int:
    """Collect the text and the terms of an element."""
    text = element.text or ""
    chars.append(text)
    at += len(text)
    for child in element:
        slot = len(terms)
        start = at
        sem = child.get("sem")
        if sem and label_of(sem):
            terms.append((child, 0, 0))
        at = walk(child, at, chars, terms)
        if sem and label_of(sem):
            terms[slot] = (child, start, at)
        tail = child.tail or ""
        chars.append(tail)
        at += len(tail)
    return at


def read_pos(folder: Path) -> list[list[tuple[str, str]]]:
    """All articles' tagged words."""
    articles: list[list[tuple[str, str]]] = []
    for name in ("GENIAtrain.pos", "GENIAtest.pos"):
        with open(folder / name, encoding="utf-8") as lines:
            for line in lines:
                pieces = line.split()
                if pieces and pieces[0] == "UI/LS":
                    articles.append([])
                    continue
                if pieces and pieces[0] in ("TI/LS", "AB/LS"):
                    pieces = pieces[2:]
                pending = ""
                for piece in pieces:
                    if "/" not in piece:
                        pending += piece
                        continue
                    word, tag = piece.rsplit("/", 1)
                    articles[-1].append((pending + word, tag))
                    pending = ""
    return articles


def straightforward(folder: Path) -> list[Document]:
    """What one would write in an afternoon: walk the tree, walk the characters, look every edge up."""
    found: list[Document] = []
    root = ET.parse(folder / "GENIAcorpus3.02.xml").getroot()
    for article, words in zip(root.findall("article"), read_pos(folder), strict=True):
        # One tag and one word number per character of the POS text.
        owner = [(number, tag) for number, (word, tag) in enumerate(words) for _ in word]
        taken = 0
        title = set(article.find("title").iter("sentence"))
        sentences: list[Sentence] = []
        for element in article.iter("sentence"):
            chars: list[str] = []
            terms: list[tuple[ET.Element, int, int]] = []
            walk(element, 0, chars, terms)
            text = "".join(chars)
            edges = {edge for _, start, end in terms for edge in (start, end)}
            tokens: list[str] = []
            tags: list[str] = []
            spans: list[tuple[int, int]] = []
            last = -1
            for i, char in enumerate(text):
                if char.isspace():
                    last = -1
                    continue
                number, tag = owner[min(taken, len(owner) - 1)]
                taken += 1
                fresh = number != last or i in edges or char in "-/" or text[i - 1] in "-/"
                if fresh:
                    spans.append((i, i + 1))
                    tags.append(tag)
                else:
                    spans[-1] = (spans[-1][0], i + 1)
                last = number
            tokens = [text[s:e] for s, e in spans]
            mentions = []
            for term, start, end in terms:
                first = next(k for k, (s, _) in enumerate(spans) if s == start)
                stop = next(k for k, (_, e) in enumerate(spans) if e == end) + 1
                attributes = {"lex": term.get("lex", ""), "sem": term.get("sem", "")}
                mentions.append(Mention(label_of(attributes["sem"]), ((first, stop),), None, attributes))
            meta = {"section": "title"} if element in title else {}
            sentences.append(Sentence(tokens, mentions, {"pos": tags}, text, spans, meta=meta))
        found.append(Document(sentences, article.findtext("articleinfo/bibliomisc", "")))
    return found


def ours(folder: Path) -> list[Document]:
    """The reader of the package."""
    return list(read(f"genia:{folder}?classes=5"))


def seconds(function: Callable[[Path], list[Document]], folder: Path) -> tuple[float, list[Document]]:
    """CPU time of one run."""
    gc.collect()
    begin = time.process_time()
    result = function(folder)
    return time.process_time() - begin, result


def main() -> None:
    """Run both in turn and print the ratio."""
    folder = Path(sys.argv[1])
    slow, fast = [], []
    same = 0
    for turn in range(5):
        a, theirs = seconds(straightforward, folder)
        if turn:
            del theirs
        b, mine = seconds(ours, folder)
        if not turn:
            same = sum(x.sentences == y.sentences for x, y in zip(theirs, mine, strict=True))
            del theirs
        articles = len(mine)
        del mine
        slow.append(a)
        fast.append(b)
    ratio = statistics.median(x / y for x, y in zip(slow, fast, strict=True))
    table = (
        f"{articles:,} articles, {same:,} of them read alike by both; processor time on one core, median of "
        f"{len(slow)} turns in which both ran one after the other, and the median of the ratios of the turns.\n\n"
        "| | seconds | ratio |\n|---|---:|---:|\n"
        f"| `xml.etree`, alignment in Python | {statistics.median(slow):.2f} | {ratio:.1f} |\n"
        f"| spanloom | {statistics.median(fast):.2f} | 1 |\n"
    )
    print(table)
    if "--write" in sys.argv:
        target = Path(__file__).parent / "results" / "genia_read.md"
        target.write_text(
            f"# Reading GENIA\n\n`python benchmarks/genia_read.py DIR --write`\n\n{table}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
