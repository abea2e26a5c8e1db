"""``spanloom demo``: the whole walk on the bundled sample corpus, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanloom.cli.tables import percent, score_table

SENTENCES = (
    "Activation of the IL-2 gene promoter in human T cells requires NF-kappa B.",
    "The mayor of Port Ellis met engineers of the Harrow University Press on Monday.",
)


def demo(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="MODEL", help="Keep the trained model in this file.")
    ] = None,
) -> None:
    """Train on the bundled sample corpus, score on held-out sentences, and tag two sentences.

    [bold]Example:[/bold] spanloom demo -o demo.loom
    """
    from spanloom.cli.progress import TrainingProgress
    from spanloom.corpus import read
    from spanloom.drawing import draw
    from spanloom.recognizer import Recognizer

    console = Console()
    ner = Recognizer(overlap="longest", max_iter=200)
    train, test = list(read("sample:train")), list(read("sample:test"))
    console.print(f"[bold]1. Train[/bold] on {sum(len(d.sentences) for d in train)} annotated sentences")
    with TrainingProgress(ner.max_iter) as progress:
        ner.fit(train, listener=progress)
    t = ner.training_
    console.print(
        f"   {ner.extractor_.size:,} features, {len(ner.labels_)} labels, "
        f"{t['iterations']} iterations in {t['seconds']:.1f} s\n"
    )
    report = ner.score(test)
    console.print(
        f"[bold]2. Score[/bold] on {report.counts['sentences']} held-out sentences: "
        f"[bold]F1 {percent(report.f1)}[/bold], precision {percent(report.precision)}, recall {percent(report.recall)}"
    )
    console.print(score_table("", "label", report.by_label))
    console.print("[bold]3. Tag[/bold] new text\n")
    for text in SENTENCES:
        for sentence in ner.predict(text).sentences:
            console.print(draw(sentence, width=console.width))
            console.print()
    if output is not None:
        ner.save(output)
    model = output or Path("demo.loom")
    console.print("[bold]Try next[/bold]")
    train_line = "spanloom train sample:train --dev sample:dev --overlap longest -o demo.loom"
    lines = [
        *([] if output else [train_line]),
        f'echo "The IL-4 promoter binds STAT6." | spanloom tag {model}',
        f"spanloom info {model}",
        *(["spanloom train YOUR.jsonl --dev DEV.jsonl -o YOUR.loom"] if output else []),
    ]
    for line in lines:
        console.print(f"   {line}", highlight=False, markup=False, soft_wrap=True)
