"""Draw the pictures of docs/gallery.md: ``python tools/gallery.py [FOLDER]``; docs/gallery if none is given.

They are drawn from mentions that stand here, not from a model, so that they are the same everywhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

from spanloom import Document, Mention, Sentence, write
from spanloom.corpus import tokenize

PICTURES: dict[str, tuple[str, list[tuple[str, float | None, tuple[str, ...]]]]] = {
    "novel": (
        "Nobody at Ashford Hall had seen the widow of the Duke of Norland since the autumn.",
        [
            ("HOUSE", None, ("Ashford Hall",)),
            ("PLACE", None, ("Ashford",)),
            ("PERSON", None, ("the widow of the Duke of Norland",)),
            ("PERSON", None, ("the Duke of Norland",)),
            ("PLACE", None, ("Norland",)),
        ],
    ),
    "biomedical": (
        "Activation of the IL-2 gene promoter in human T cells requires NF-kappa B.",
        [
            ("DNA", 0.97, ("IL-2 gene promoter",)),
            ("DNA", 0.71, ("IL-2 gene",)),
            ("protein", 0.94, ("IL-2",)),
            ("cell_type", 0.98, ("human T cells",)),
            ("cell_type", 0.55, ("T cells",)),
            ("protein", 0.99, ("NF-kappa B",)),
        ],
    ),
    "discontinuous": (
        "Expression of the IL-4 and IL-5 genes was high in human T and B lymphocytes.",
        [
            ("DNA", None, ("IL-4", "genes")),
            ("DNA", None, ("IL-5 genes",)),
            ("cell_type", None, ("human T", "lymphocytes")),
            ("cell_type", None, ("human", "B lymphocytes")),
        ],
    ),
    "crossing": (
        "The Bank of England governor general met the press in Kuala Lumpur city centre.",
        [
            ("ORG", None, ("Bank of England",)),
            ("LOC", None, ("England",)),
            ("TITLE", None, ("England governor general",)),
            ("LOC", None, ("Kuala Lumpur city",)),
            ("LOC", None, ("city centre",)),
        ],
    ),
}
"""By name: a sentence, and its mentions as label, probability and parts."""


def document(name: str) -> Document:
    """Return the document of a picture."""
    text, wanted = PICTURES[name]
    spans = tokenize(text)
    starts, ends = {s: i for i, (s, _) in enumerate(spans)}, {e: i + 1 for i, (_, e) in enumerate(spans)}
    mentions = []
    for label, prob, parts in wanted:
        at, tokens = 0, []
        for part in parts:
            at = text.index(part, at)
            tokens.append((starts[at], ends[at + len(part)]))
            at += len(part)
        mentions.append(Mention(label, tuple(tokens), prob))
    return Document([Sentence([text[s:e] for s, e in spans], mentions, text=text, spans=spans)], id=name)


def main(folder: Path) -> None:
    """Write all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        write([document(name)], f"svg:{folder / name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "gallery")
