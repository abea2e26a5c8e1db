"""The open lists of names under ``lexicons`` of the data, as files that annotators read."""

from __future__ import annotations

import gzip

from experiments.runner import Context
from spanloom.base.files import whole_file

FILES = {
    "gene": "Gene_or_gene_product",
    "family": "Family",
    "cell-type": "CellType",
    "cell-line": "CellLine",
    "species": "Species",
}
"""Names of lexicons, and of their files."""


def references(names: list[str], context: Context) -> list[str]:
    """Return annotators for some lexicons; their entries are unpacked once, without comments."""
    made = []
    for name in names:
        path = context.work / "lexicons" / f"{name}.txt"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            source = context.data / "lexicons" / f"{FILES[name]}.tsv.gz"
            with gzip.open(source, "rt", encoding="utf-8") as lines, whole_file(path) as out:
                out.writelines(line for line in lines if line.strip() and not line.startswith("#"))
        made.append(f"lexicon:{name}={path}")
    return made
