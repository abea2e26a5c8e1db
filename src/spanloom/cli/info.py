"""``spanloom info``: what is in a model file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanloom.cli.console import make_console
from spanloom.cli.tables import plain_table

if TYPE_CHECKING:
    from spanloom.models.base import WeightColumn
    from spanloom.recognizer import Recognizer


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that spanloom train wrote.")],
    top: Annotated[int, typer.Option(metavar="N", help="Show the N strongest features of every column.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a model is, how it was trained, how large it is, and what it goes by.

    [bold]Example:[/bold] spanloom info gene.loom --top 10
    """
    from spanloom.recognizer import Recognizer

    ner = Recognizer.load(model)
    facts = _facts(ner, model)
    weights = _top_weights(ner, top)
    if as_json:
        print(json.dumps({**facts, "top_weights": weights}, ensure_ascii=False))
        return
    console = make_console()
    table = plain_table(str(model))
    table.show_header = False
    table.add_column(style="bold")
    table.add_column()
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _readable(value))
    console.print(table)
    strongest = plain_table("What it goes by")
    for heading in ("column", "for", "against"):
        strongest.add_column(heading)
    for column, sides in weights.items():
        strongest.add_row(column, *("\n".join(f"{w:+.2f} {name}" for name, w in side) for side in sides.values()))
    console.print(strongest)


def _facts(ner: Recognizer, path: Path) -> dict[str, Any]:
    from spanloom.taken import learning, settings_taken

    columns = list(_columns(ner))
    taken = settings_taken(type(ner.model_), ner.base) | {"algorithm", "max_iter", "tol", "overlap", "seed"}
    if learning(type(ner.model_), ner.base, ner.algorithm)[1]:
        taken |= {"l1", "l2"}
    settings = {name: value for name, value in ner.get_params().items() if name in taken}
    training = {name: value for name, value in ner.training_.items() if name != "penalty_curve"}
    return {
        "model": ner.model_.name,
        "holds": ner.model_.holds,
        "chosen": ner.model_.facts(),
        "labels": list(ner.labels_),
        "columns": len(columns),
        "features": sum(part.extractor_.size for part in ner.parts_),
        "feature_set": ner.extractor_.features.name,
        "weights": sum(c.weights.size for _, c in columns)
        + sum(w.globals.size for part in ner.parts_ for w in part.weights_),
        "bytes": path.stat().st_size,
        "annotators": [one.kind for one in ner.annotators_],
        "mention_penalty": ner.mention_penalty_,
        "settings": settings,
        "training": training,
    }


def _top_weights(ner: Recognizer, top: int) -> dict[str, dict[str, list[tuple[str, float]]]]:
    found: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for number, column in _columns(ner):
        values = column.weights
        order = values.argsort(kind="stable")
        sides = {"for": order[::-1][:top], "against": order[:top]}
        name = column.name if len(ner.parts_) == 1 else f"{number}: {column.name}"
        found[name] = {
            side: [
                (column.feature(int(f)), round(float(values[f]), 4))
                for f in ids
                if (values[f] > 0) == (side == "for") and values[f] != 0
            ]
            for side, ids in sides.items()
        }
    return found


def _columns(ner: Recognizer) -> Iterator[tuple[int, WeightColumn]]:
    """Every column of weights, with the number of the part that has it."""
    from spanloom.models import Standalone
    from spanloom.models.base import WeightColumn

    for number, part in enumerate(ner.parts_, 1):
        if isinstance(part.model_, Standalone):
            yield from ((number, column) for column in part.model_.weight_columns())
        for component, weights in zip(part.model_.components, part.weights_, strict=True):
            several = len(part.model_.components) > 1  # whose columns may have the same names
            prefix = f"{'/'.join(sorted(component.types))}: " if several else ""
            for k, name in enumerate(component.columns):
                yield number, WeightColumn(prefix + name, weights.features[:, k], part.extractor_.name)


def _readable(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_readable(v)}" for k, v in value.items() if v is not None)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
