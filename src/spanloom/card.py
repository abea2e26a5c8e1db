"""A model as a folder to be shared: the model file, and a README that says what it is, as hubs show it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanloom.base.errors import ParameterError
from spanloom.base.files import whole_file
from spanloom.keeping import IN_FOLDER, KeptRecognizer

if TYPE_CHECKING:
    from spanloom.evaluation import Evaluation

README = "README.md"


@dataclass(frozen=True)
class Card:
    """What a README says beside what the model itself knows.

    Parameters
    ----------
    name
        The heading; the name of the folder without it.
    license
        As hubs write it: ``"apache-2.0"``, ``"cc-by-4.0"``.
    language
        Codes such as ``"en"``.
    data
        What it was trained on: a sentence or more, in Markdown.
    evaluated_on
        What the figures are of, such as ``"GENIA, test"``.
    notes
        What else users should know: for what it is meant, and for what not.
    """

    name: str = ""
    license: str = ""
    language: Sequence[str] = ()
    data: str = ""
    evaluated_on: str = "held-out text"
    notes: str = ""


def write_folder(
    ner: KeptRecognizer,
    folder: str | os.PathLike[str],
    card: Card | None = None,
    evaluation: Evaluation | None = None,
    *,
    weights: str = "float32",
) -> None:
    """Write a model and its README into a folder, which is made if it is not there.

    Parameters
    ----------
    card
        What the README says.
    evaluation
        Figures: what ``ner.score(test)`` returned.
    weights
        How they are stored, see ``Recognizer.save``.

    Raises
    ------
    ParameterError
        If there is a file of that name.
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise ParameterError(f"{place} is a file; a folder is needed for the model and its README")
    place.mkdir(parents=True, exist_ok=True)
    ner.save(place / IN_FOLDER, weights=weights)
    with whole_file(place / README) as out:
        out.write(readme(ner, card or Card(), evaluation, place.resolve().name))


def readme(ner: KeptRecognizer, card: Card, evaluation: Evaluation | None, folder: str = "model") -> str:
    """Return the README: metadata in YAML, what the model is, how to use it, data, figures."""
    name = card.name or folder
    trained, facts = ner.trained_, ner.training_
    trainer = ner.trainer if isinstance(ner.trainer, str) else ner.trainer.name
    lines = ["---", *_metadata(card, evaluation, name), "---", "", f"# {name}", ""]
    lines += [
        f"A [spanloom](https://pypi.org/project/spanloom/) model that finds mentions of {_listed(ner.labels_)}.",
        f"It holds {trained.model.holds}.",
        "",
    ]
    lines += [card.notes, ""] if card.notes else []
    lines += [
        "```python",
        "from spanloom import Recognizer",
        "",
        f'ner = Recognizer.load("{folder}")',
        'doc = ner.predict("…", probabilities=True)',
        "```",
        "",
        "## Data",
        "",
        card.data or "Not said.",
        "",
        f"{facts['sentences']:,} sentences, {facts['tokens']:,} tokens, {facts['mentions']:,} mentions.",
        f"License: {card.license or 'not said'}.",
        "",
        "## Figures",
        "",
    ]
    lines += _figures(evaluation, card) if evaluation is not None else _dev(facts)
    lines += [
        "",
        "## Training",
        "",
        "| | |",
        "|---|---|",
        f"| model | `{trained.model.name}` |",
        f"| trainer | `{trainer}`, {facts['iterations']} iterations |",
        f"| features | {trained.extractor.size:,} |",
        f"| share of training mentions that it can hold | {100 * facts['ceiling']:.1f} % |",
        f"| probabilities | {ner.belief_} |",
        f"| spanloom | {facts['spanloom']} |",
    ]
    return "\n".join(lines) + "\n"


def _metadata(card: Card, evaluation: Evaluation | None, name: str) -> list[str]:
    """YAML, in which every value is written as JSON, which YAML understands."""
    meta: dict[str, Any] = {"library_name": "spanloom", "pipeline_tag": "token-classification"}
    meta["tags"] = ["spanloom", "named-entity-recognition", "nested-entities"]
    if card.license:
        meta["license"] = card.license
    if card.language:
        meta["language"] = list(card.language)
    if evaluation is not None:
        figures = {"precision": evaluation.precision, "recall": evaluation.recall, "f1": evaluation.f1}
        meta["model-index"] = [
            {
                "name": name,
                "results": [
                    {
                        "task": {"type": "token-classification", "name": "mentions, exact"},
                        "dataset": {"type": "other", "name": card.evaluated_on},
                        "metrics": [{"type": kind, "value": round(value, 4)} for kind, value in figures.items()],
                    }
                ],
            }
        ]
    return [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in meta.items()]


def _figures(evaluation: Evaluation, card: Card) -> list[str]:
    rows = [("all", evaluation.micro), *evaluation.by_label.items()]
    return [
        f"Exact matches on {card.evaluated_on}.",
        "",
        "| label | precision | recall | F1 | gold mentions |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {_cell(label)} | {100 * s.precision:.1f} | {100 * s.recall:.1f} | {100 * s.f1:.1f} | {s.gold:,} |"
            for label, s in rows
        ),
    ]


def _dev(facts: dict[str, Any]) -> list[str]:
    if facts.get("dev_f1") is None:
        return ["None were given. `spanloom card MODEL --test CORPUS -o FOLDER` adds them."]
    return [f"F1 on the development data, which choices in training may have gone by: {100 * facts['dev_f1']:.1f}."]


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(f"`{_cell(label)}`" for label in labels) or "nothing"


def _cell(label: str) -> str:
    return label.replace("|", "\\|").replace("\n", " ").replace("`", "'")
