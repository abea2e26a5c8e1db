"""A simulated annotator at the workbench: F1 against the number of actions, with suggestions and without.

The annotator knows the gold mentions and works through pieces of ten sentences in a project. Actions are keys and
drags as in the page:

    a mention by hand        one drag for each part, and the key of its label
    accept all suggestions   1
    a suggestion that is none, or has another label     2: choose it, press a key
    a suggestion with other borders                     1 to choose it, 1 for each token that it grows or shrinks
    confirm the piece        1

A wrong suggestion is mended in whichever way takes fewer actions. The model learns again when half as many pieces are
done as it has learned from; suggestions are those of the last model.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Mention, read
from spanloom.base.extras import need
from spanloom.drawing.pictures import COLORS
from spanloom.evaluation import evaluate
from spanloom.evaluation.plots import save
from spanloom.workbench.changes import Change
from spanloom.workbench.fitting import fit
from spanloom.workbench.gold import gold_documents
from spanloom.workbench.project import Project
from spanloom.workbench.suggestions import suggest, suggestions

CORPORA = {
    "GENIA": ("genia:{data}/genia?classes=5&split=train", "genia:{data}/genia?classes=5&split=dev"),
    "GUM": ("gum:{data}/gum?split=train", "gum:{data}/gum?split=dev"),
}
WAYS = {
    "by hand": "no suggestions, random order",
    "suggestions": "suggestions are corrected, random order",
    "uncertain first": "suggestions are corrected, the piece with the highest entropy per token is next",
}
SHOWN = 0.5
SIZE = 10
BUDGETS = (250, 500, 1000, 2000, 4000)


def pieces(ref: str, most: int, seed: int) -> list[Document]:
    """Return a corpus in pieces of ten sentences, in random order."""
    made = []
    for doc in read(ref):
        for at in range(0, len(doc.sentences), SIZE):
            made.append(Document(doc.sentences[at : at + SIZE], f"{doc.id}-{at}"))
    random.Random(seed).shuffle(made)
    return made[:most]


def by_hand(mention: Mention) -> int:
    """Return the actions that a new mention takes."""
    return len(mention.parts) + 1


def actions(gold: set[Mention], shown: set[Mention]) -> int:
    """Return the actions from suggestions to the gold mentions."""
    wrong, missing = sorted(shown - gold), gold - shown
    total = 1 if shown else 0
    for one in wrong:
        best, used = 2, None  # reject it
        for other in sorted(missing):
            saved = by_hand(other)
            if other.parts == one.parts:
                cost = 2
            elif other.label == one.label and len(one.parts) == len(other.parts) == 1 and one.overlaps(other):
                cost = 1 + abs(one.start - other.start) + abs(one.end - other.end)
            else:
                continue
            if cost - saved < best - (by_hand(used) if used else 0):
                best, used = cost, other
        total += best
        if used is not None:
            missing = missing - {used}
    return total + sum(map(by_hand, missing))


def execute(run: Run, context: Context) -> Result:
    """Annotate until the pieces or the actions are used up; score every model on the development part."""
    s = run.settings
    train, dev = (ref.format(data=context.data) for ref in CORPORA[s["corpus"]])
    pool = pieces(train, 40 if context.quick else s["pool"], s["seed"])
    test = pieces(dev, 10 if context.quick else s["dev"], s["seed"])
    budgets = BUDGETS[:2] if context.quick else BUDGETS
    curve: list[tuple[int, float]] = []
    with _project(context.work / "workbench" / run.name.replace(" ", "-")) as project:
        project.add(pool, "none")
        left = list(range(1, len(pool) + 1))
        used = done = learned = 0
        ner = None
        while left and used < budgets[-1]:
            number = left.pop(0)
            gold = set(pool[number - 1].mentions)
            offered = suggestions(project.db, number) if s["way"] != "by hand" else []
            shown = {m for m in offered if (m.prob or 0) >= SHOWN}
            used += actions(gold, shown) + 1
            everything = tuple(range(len(pool[number - 1].sentences)))
            project.sheets.change(number, "simulated", 0, "add", Change(add=tuple(sorted(gold)), confirm=everything))
            done += 1
            if done - learned < max(2, learned / 2) and left and used < budgets[-1]:
                continue
            ner = fit(gold_documents(project.documents, project.sheets), s, ner, None, 1).ner
            learned = done
            curve.append((used, evaluate(test, ner.predict([_blank(d) for d in test])).f1))
            if s["way"] != "by hand":  # in a fixed order, no more than will be read before it learns again
                soon = left if s["way"] == "uncertain first" else left[: int(max(2, learned / 2)) + 1]
                suggest(project.db, ner, len(curve), soon, [project.documents.get(n) for n in soon])
            if s["way"] == "uncertain first":
                rows = project.db.rows("SELECT document, entropy FROM beliefs")
                doubt = {row["document"]: row["entropy"] for row in rows}
                left.sort(key=lambda n: -doubt.get(n, 0.0))
    at = {f"F1 at {n:,}": ([0.0] + [f1 for spent, f1 in curve if spent <= n])[-1] for n in budgets}
    return {
        "pieces": done,
        "actions": used,
        **at,
        "curve": " ".join(f"{spent}:{100 * f1:.1f}" for spent, f1 in curve),
    }


def _blank(doc: Document) -> Document:
    return doc.with_sentences([sentence.with_mentions([]) for sentence in doc.sentences])


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw F1 against actions, one panel a corpus."""
    figure = need("matplotlib.figure", "plot").Figure(figsize=(8.4, 3.4), layout="constrained")
    for ax, corpus in zip(figure.subplots(1, len(CORPORA)), CORPORA, strict=True):
        for way, color in zip(WAYS, (COLORS[7], COLORS[0], COLORS[1]), strict=True):
            done = results.get(f"{corpus}, {way}", {"curve": ""})
            points = [point.split(":") for point in done["curve"].split()]
            ax.plot([int(n) for n, _ in points], [float(f1) for _, f1 in points], "o-", ms=3, color=color, label=way)
        ax.set(title=f"{corpus}, edge", xlabel="actions (keys and drags)", ylabel="F1 % on development text", xlim=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        ax.legend(loc="lower right")
    save(figure, folder / "workbench.png")


class _project:
    """A new project in a folder that is emptied before and after."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Project:
        self._empty()
        self.project = Project(self.folder)
        return self.project

    def __exit__(self, *error: object) -> None:
        self.project.close()
        self._empty()

    def _empty(self) -> None:
        for path in sorted(self.folder.glob("*")) if self.folder.is_dir() else ():
            path.unlink()


def _runs(names: Sequence[str]) -> list[Run]:
    given = {"model": "edge", "features": "default", "pool": 200, "dev": 60, "seed": 1}
    return [Run(f"{name}, {way}", {**given, "corpus": name, "way": way}) for name in names for way in WAYS]


EXPERIMENT = Experiment(
    title="A simulated annotator at the workbench",
    runs=_runs(list(CORPORA)),
    execute=execute,
    columns=["pieces", "actions", *(f"F1 at {n:,}" for n in BUDGETS), "curve"],
    percent=tuple(f"F1 at {n:,}" for n in BUDGETS),
    finish=draw,
    about=(
        "F1 of the last model after so many actions (keys and drags), on 60 pieces of the development part. "
        + "; ".join(f"{way}: {words}" for way, words in WAYS.items())
        + ". Pieces have ten sentences; `pieces` were done when the actions were used up; `curve` is actions:F1 of "
        "every model (workbench.png). What an action is, `experiments/workbench.py` says. The simulated annotator "
        "makes no errors."
    ),
)
