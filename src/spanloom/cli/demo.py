"""``spanloom demo``: the whole walk on the bundled sample corpus, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from spanloom.cli.console import make_console
from spanloom.cli.outputs import check_model_output
from spanloom.cli.tables import percent, score_table

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

NESTED = "Activation of the IL-2 gene promoter in human T cells requires NF-kappa B."
BROKEN = "Expression of the IL-4 and IL-5 genes was high in human T and B lymphocytes."


def demo(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="MODEL", help="Keep the second model in this file.")
    ] = None,
) -> None:
    """Train on the bundled sample corpus, score on held-out sentences, and tag two sentences.

    [bold]Example:[/bold] spanloom demo -o demo.loom
    """
    from spanloom.recognizer import Recognizer

    if output is not None:
        check_model_output(output)
    console = make_console()
    console.print(Text("Mentions inside mentions", "bold"), "- the model edge, exact and linear in the text")
    _walk(console, Recognizer("edge", keep="longest"), NESTED, table=True)
    console.print(
        Text("Mentions that cross or break into parts", "bold"), "- the model multilabel, which holds them all"
    )
    ner = Recognizer("multilabel")
    _walk(console, ner, BROKEN, table=False)
    if output is not None:
        ner.save(output)
    model = output or Path("demo.loom")
    console.print(Text("Try next", "bold"))
    train_line = "spanloom train sample:train --dev sample:dev --model multilabel -o demo.loom"
    lines = [
        *([] if output else [train_line]),
        f'echo "The IL-4 promoter binds STAT6." | spanloom tag {model}',
        f"spanloom evaluate {model} sample:test --show 3",
        *(["spanloom train YOUR.jsonl --dev DEV.jsonl -o YOUR.loom"] if output else []),
    ]
    for line in lines:
        console.print(f"   {line}", soft_wrap=True)


def _walk(console: Console, ner: Recognizer, text: str, *, table: bool) -> None:
    """Train, score, tag, and tell about it."""
    from spanloom.cli.progress import TrainingProgress
    from spanloom.drawing import draw
    from spanloom.formats import read

    train, test = list(read("sample:train")), list(read("sample:test"))
    with TrainingProgress(None) as progress:
        ner.fit(train, listener=progress)
    t = ner.training_
    console.print(
        f"   trained on {t['sentences']} sentences in {t['seconds']:.1f} s: "
        f"{ner.extractor_.size:,} features, {len(ner.labels_)} labels"
    )
    if t["lost"]:
        console.print(
            f"   {t['lost']} discontinuous mentions, which it cannot hold, were left out of training", style="yellow"
        )
    report = ner.score(test)
    console.print(
        f"   on {report.counts['sentences']} held-out sentences: F1 {percent(report.f1)}, "
        f"precision {percent(report.precision)}, recall {percent(report.recall)}"
    )
    if table:
        console.print(score_table("", "label", report.by_label))
    else:
        console.print()
    for sentence in ner.predict(text).sentences:
        console.print(draw(sentence, width=console.width))
        console.print()
