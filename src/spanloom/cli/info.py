"""``spanloom info``: what is in a model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import JsonOption, ModelArgument
from spanloom.cli.tables import plain_table

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer


def info(
    model: ModelArgument,
    top: Annotated[int, typer.Option(metavar="N", help="Show the N strongest features of every column.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Say what a model is, how it was trained, how large it is, and which features weigh most.

    [bold]Example:[/bold] spanloom info gene.loom --top 10
    """
    from spanloom.bundled import model_path
    from spanloom.recognizer import Recognizer

    model = model_path(model)
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
        if shown := readable(value):
            table.add_row(name.replace("_", " "), shown)
    console.print(table)
    strongest = plain_table("What it goes by")
    for heading in ("column", "for", "against"):
        strongest.add_column(heading)
    words = {column.name: column.words for column in ner.trained_.weight_columns()}
    for column, sides in weights.items():
        strongest.add_row(
            words[column] or column, *("\n".join(f"{w:+.2f} {name}" for name, w in side) for side in sides.values())
        )
    console.print(strongest)


def _facts(ner: Recognizer, path: Path) -> dict[str, Any]:
    from spanloom.annotators import Lexicon
    from spanloom.base.settings import Settings

    trained = ner.trained_
    settings = ner.get_params(deep=False)
    stored = ("trainer", "decide", "repairs", "keep", "seed")
    training = {name: value for name, value in ner.training_.items() if name != "penalty_curve"}
    return {
        "model": trained.model.name,
        "holds": trained.model.holds,
        "chosen": trained.facts(),
        "labels": list(ner.labels_),
        "columns": sum(1 for _ in trained.weight_columns()),
        "features": sum(part.extractor.size for part in trained.parts),
        "feature_set": trained.extractor.features.name,
        "weights": trained.weight_count,
        "bytes": path.stat().st_size,
        "annotators": [one.kind for one in ner.pipeline_.annotators],
        "lexicons": [one.name for one in ner.pipeline_.annotators if isinstance(one, Lexicon)],
        "mention_penalty": trained.penalty_in_use,
        "settings": {
            "model": trained.model.to_json(),
            **{k: v.to_json() if isinstance(v := settings[k], Settings) else v for k in stored},
            **({} if ner.encoder is None else {"encoder": settings["encoder"].to_json()}),
        },
        "training": training,
    }


def _top_weights(ner: Recognizer, top: int) -> dict[str, dict[str, list[tuple[str, float]]]]:
    found: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for column in ner.trained_.weight_columns():
        values = column.weights
        order = values.argsort(kind="stable")
        sides = {"for": order[::-1][:top], "against": order[:top]}
        found[column.name] = {
            side: [
                (column.feature(int(f)), round(float(values[f]), 4))
                for f in ids
                if (values[f] > 0) == (side == "for") and values[f] != 0
            ]
            for side, ids in sides.items()
        }
    return found


def readable(value: Any) -> str:
    """Return a value in words: numbers rounded, settings by their name, nothing that is empty or not set.

    Examples
    --------
    >>> readable({"name": "lbfgs", "l2": 0.1, "objective": 10.5374343, "lost": 0, "untrained": [], "dev_f1": None})
    'lbfgs (l2 0.1, objective 10.54, lost 0)'
    """
    if isinstance(value, dict):
        named = {k.replace("_", " "): shown for k, v in value.items() if k != "name" and (shown := readable(v))}
        inner = ", ".join(f"{k} {shown}" for k, shown in named.items())
        name = value.get("name")
        return inner if name is None else f"{name} ({inner})" if inner else str(name)
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(readable, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
