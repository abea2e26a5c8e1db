"""Make the data of the three quick starts: ``python examples/make_data.py novels|tags|abstracts FOLDER``.

Everything is made up from patterns, so that anybody can run the quick starts; the patterns are too regular to say how
well a model does on real text.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

Piece = tuple[str, list[tuple[str, int, int]]]
"""A text, and its mentions: label, first character, last + 1."""

PLACES = ["Ashford", "Millbrook", "Harrow", "Thornfield", "Wexcombe", "Lyme", "Barton", "Elmsworth", "Kelby", "Norland"]
NAMES = ["Anne", "Edmund", "Harriet", "Charles", "Eliza", "Frederick", "Louisa", "George", "Marianne", "Henry"]
FAMILIES = ["Dashwell", "Tilney", "Grey", "Marlow", "Weston", "Crofton", "Hale", "Morland", "Vane", "Lisle"]
GENES = ["IL-2", "NF-kB", "p53", "BRCA1", "c-myc", "TNF-alpha", "STAT3", "GATA-1", "CD28", "HIV-1"]
CELLS = ["T", "B", "NK", "Jurkat", "HeLa", "dendritic", "epithelial"]


def join(*pieces: str | Piece, label: str = "") -> Piece:
    """Put pieces after each other, with their mentions; the whole is a mention too if it has a label."""
    text, mentions = "", []
    for piece in pieces:
        own, inner = (piece, []) if isinstance(piece, str) else piece
        mentions += [(name, a + len(text), b + len(text)) for name, a, b in inner]
        text += own
    return text, [(label, 0, len(text)), *mentions] if label else mentions


def novel_sentence(draw: random.Random) -> Piece:
    """A person may be named after a place, and a house after both."""
    place = join(draw.choice(PLACES), label="PLACE")
    person = draw.choice(
        [
            join(draw.choice(["Mr. ", "Mrs. ", "Miss "]), draw.choice(FAMILIES), label="PERSON"),
            join(draw.choice(["the Duke of ", "Lady ", "the vicar of "]), place, label="PERSON"),
            join(draw.choice(NAMES), " ", draw.choice(FAMILIES), label="PERSON"),
        ]
    )
    other = join(draw.choice(["the bishop of ", "the widow of "]), person, label="PERSON")
    house = join(join(draw.choice(PLACES), label="PLACE"), draw.choice([" Hall", " Abbey", " Park"]), label="HOUSE")
    return draw.choice(
        [
            join("In the spring ", person, " returned to ", house, "."),
            join("Nobody at ", house, " had seen ", other, " since the autumn."),
            join("It was said that ", person, " would marry, and leave ", place, " for good."),
            join(person, " wrote a letter to ", other, "; it was never answered."),
            join("The carriage from ", place, " arrived before dawn, and with it ", person, "."),
            join("Rain fell on the lawns, and the clock struck nine."),
        ]
    )


def abstract_sentence(draw: random.Random) -> Piece:
    """A gene is named after a protein, a cell line after a cell."""
    protein = join(draw.choice(GENES), label="protein")
    gene = join(protein, draw.choice([" gene", " promoter", " enhancer"]), label="DNA")
    cell = join(draw.choice(["human ", "murine ", ""]), draw.choice(CELLS), " cells", label="cell")
    return draw.choice(
        [
            join("Expression of the ", gene, " was induced in ", cell, "."),
            join(protein, " binds to the ", gene, " and activates transcription."),
            join("We found that ", cell, " secrete ", protein, " after stimulation (n=12)."),
            join("These results suggest a role of ", protein, " in the growth of ", cell, "."),
            join("No effect on proliferation was seen at 5 ng/ml."),
        ]
    )


def texts(sentence: Callable[[random.Random], Piece], sizes: range, count: int, seed: int) -> Iterator[Piece]:
    """Yield texts of several sentences each."""
    draw = random.Random(seed)
    for _ in range(count):
        made = [sentence(draw) for _ in range(draw.choice(sizes))]
        capital = [(text[0].upper() + text[1:], mentions) for text, mentions in made]
        yield join(capital[0], *(join(" ", piece) for piece in capital[1:]))


def novels(folder: Path) -> None:
    """Chapters in brat: forty with annotation, and one without to be tagged."""
    for part, count, seed in (("train", 40, 1), ("dev", 8, 2)):
        (folder / part).mkdir(parents=True)
        for number, (text, mentions) in enumerate(texts(novel_sentence, range(10, 16), count, seed), 1):
            notes = [f"T{k}\t{label} {a} {b}\t{text[a:b]}\n" for k, (label, a, b) in enumerate(mentions, 1)]
            (folder / part / f"chapter-{number:02}.txt").write_text(text, encoding="utf-8")
            (folder / part / f"chapter-{number:02}.ann").write_text("".join(notes), encoding="utf-8")
    ((text, _),) = texts(novel_sentence, range(20, 21), 1, 3)
    (folder / "new-chapter.txt").write_text(text, encoding="utf-8")


def tags(folder: Path) -> None:
    """Columns with two layers of tags, one token a line; hyphens do not cut."""
    folder.mkdir(parents=True)
    for part, count, seed in (("train", 300, 4), ("dev", 60, 5)):
        lines = []
        for text, mentions in texts(novel_sentence, range(1, 2), count, seed):
            places = [("PLACE", a, b) for label, a, b in mentions if label == "PLACE"]
            others = [m for m in mentions if m[0] != "PLACE"]
            outer = [m for m in others if not any(o != m and o[1] <= m[1] and m[2] <= o[2] for o in others)]
            at = 0
            for token in [*text.replace(",", " ,").replace(";", " ;").removesuffix(".").split(), "."]:
                start = text.index(token, at)
                at = start + len(token)
                lines.append(f"{token}\t{_tag(outer, start)}\t{_tag(places, start)}\n")
            lines.append("\n")
        (folder / f"{part}.conll").write_text("".join(lines), encoding="utf-8")


def _tag(mentions: list[tuple[str, int, int]], start: int) -> str:
    inside = [(label, a) for label, a, b in mentions if a <= start < b]
    return "O" if not inside else f"{'B' if inside[0][1] == start else 'I'}-{inside[0][0]}"


def abstracts(folder: Path, count: int = 10_000) -> None:
    """Two hundred annotated abstracts, and ten thousand to be tagged."""
    folder.mkdir(parents=True)
    for part, size, seed in (("train", 200, 6), ("dev", 40, 7)):
        with open(folder / f"{part}.jsonl", "w", encoding="utf-8") as out:
            for number, (text, mentions) in enumerate(texts(abstract_sentence, range(4, 8), size, seed)):
                spans = [{"label": label, "chars": [[a, b]]} for label, a, b in mentions]
                out.write(json.dumps({"id": f"{part}-{number}", "text": text, "mentions": spans}) + "\n")
    with gzip.open(folder / "abstracts.jsonl.gz", "wt", encoding="utf-8") as out:
        for number, (text, _) in enumerate(texts(abstract_sentence, range(5, 9), count, 8)):
            record = {"pmid": 10_000_000 + number, "title": "A made-up abstract", "abstract": text}
            out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    kinds = {"novels": novels, "tags": tags, "abstracts": abstracts}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(f"usage: make_data.py {'|'.join(kinds)} FOLDER")
    kinds[sys.argv[1]](Path(sys.argv[2]))
