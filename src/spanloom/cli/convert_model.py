"""``spanloom convert-model``: model files of CRFsuite to ours and back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.outputs import check_model_output, check_output

PREFIX = "crfsuite:"
CRFSUITE = re.compile(rb"lCRF")
"""How such files begin."""
SHOWN = 12


def convert_model(
    source: Annotated[
        str, typer.Argument(metavar="MODEL", help="crfsuite:FILE, or a .loom file over ready attributes.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="FILE.loom, or crfsuite:FILE.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object about the model.")] = False,
) -> None:
    """Convert a CRFsuite model to a .loom file, or back. It finds the same labels, with the same probabilities.

    The model goes by attributes that your own code makes, so spanloom.compat.CRF.load opens it, not spanloom tag.

    [bold]Example:[/bold] spanloom convert-model crfsuite:ner.crfsuite -o ner.loom
    """
    from spanloom.base.errors import ParameterError
    from spanloom.compat import stored

    target = Path(output.removeprefix(PREFIX))
    if not output.startswith(PREFIX) and target.suffix != ".loom":
        raise ParameterError(f"{output!r} says no format: write FILE.loom, or {PREFIX}{output}")
    if output.startswith(PREFIX):
        check_output(target, CRFSUITE, "model of CRFsuite")
    else:
        check_model_output(target)
    model, settings = stored.load(source.removeprefix(PREFIX))
    stored.save(model, target, settings, crfsuite=output.startswith(PREFIX))
    families = model.families()
    facts = {
        "labels": len(model.labels),
        "attributes": len(model.attributes),
        "weights": model.features,
        "families": dict(families.most_common()),
        "templates": model.has_templates(),
    }
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    console = make_console(stderr=True, soft_wrap=True)
    counts = ", ".join(f"{facts[name]:,} {name}" for name in ("labels", "attributes", "weights"))
    console.print(f"{counts} written to {target}", markup=False)
    shown = ", ".join(f"{name} ({count:,})" for name, count in families.most_common(SHOWN))
    more = f" and {len(families) - SHOWN} more kinds" if len(families) > SHOWN else ""
    console.print(f"its attributes: {shown}{more}", markup=False)
    if facts["templates"]:
        console.print(
            "they have the form of CRFsuite's templates: templates of spanloom can say the same, see "
            "docs/crfsuite-users.md",
            markup=False,
        )
