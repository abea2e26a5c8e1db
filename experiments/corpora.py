"""What is in the corpora: counts beside those of their descriptions and of Muis & Lu's table 1, kinds, ceilings."""

from __future__ import annotations

from experiments.runner import Context, Experiment, Result, Run
from spanloom.corpus.statistics import statistics
from spanloom.formats import Reference, Report, read
from spanloom.models.base import MODELS
from spanloom.models.ceilings import Ceilings
from spanloom.models.tagger import Tagger
from spanloom.schemes.separators import LOST

GENIA = "genia:genia?classes=5"
SEPARATORS = [f"separators: {what}" for what in (*LOST, "invented")]
CEILINGS = [f"ceiling_{model}" for model in MODELS if model != Tagger.name]


def _run(name: str, ref: str, **paper: float) -> Run:
    return Run(name, {"ref": ref}, paper)


RUNS = [
    _run(
        "GENIA train",
        f"{GENIA}&split=train",
        sentences=14836,
        mentions=46473,
        with_overlap=3199,
        overlapping=8337,
        overlapping_same_type=4613,
    ),
    _run(
        "GENIA dev",
        f"{GENIA}&split=dev",
        sentences=1855,
        mentions=5014,
        with_overlap=366,
        overlapping=915,
        overlapping_same_type=479,
    ),
    _run(
        "GENIA test",
        f"{GENIA}&split=test",
        sentences=1855,
        mentions=5600,
        with_overlap=448,
        overlapping=1217,
        overlapping_same_type=634,
    ),
    _run("GENIA 22 classes", "genia:genia?classes=22", sentences=18546, mentions=92722, embedded=17.3),
    _run("GENIA 5 classes, expanded", "genia:genia?classes=5&coordination=expand", sentences=18546),
    _run("GENIA leaf, expanded", "genia:genia?classes=leaf&coordination=expand", sentences=18546, discontinuous=1900),
    _run("GUM train", "gum:gum?split=train", sentences=10224, mentions=49649, embedded=37, valid_span=98.7),
    _run("GUM dev", "gum:gum?split=dev", sentences=1575, mentions=7897),
    _run("GUM test", "gum:gum?split=test", sentences=1464, mentions=7927),
    _run("GUM test2 (GENTLE)", "gum:gum?split=test2", sentences=1334, mentions=5680),
    _run(
        "UNER-EWT train", "uner:uner-ewt?split=train", sentences=12543, mentions=7005, valid_span=99.0, single_arc=96.9
    ),
    _run("UNER-EWT dev", "uner:uner-ewt?split=dev", sentences=2001, mentions=966),
    _run("UNER-EWT test", "uner:uner-ewt?split=test", sentences=2077, mentions=1088),
    _run("BC2GM train", "biocreative:bc2gm/train", sentences=15000, mentions=18265),
    _run("BC2GM test", "biocreative:bc2gm/test", sentences=5000, mentions=6331),
]


def execute(run: Run, context: Context) -> Result:
    """Read one corpus and count."""
    parsed = Reference.parse(run.settings["ref"])
    ref = Reference(parsed.format, str(context.data / parsed.path), parsed.options)
    report = Report()
    measured = Ceilings()
    docs = measured.watch(read(ref).stream(report))
    if context.quick:
        docs = (doc for doc, _ in zip(docs, range(50), strict=False))
    counts = statistics(docs)
    found = counts.to_json()
    kinds = {kind: entry["share"] for kind, entry in found["kinds"].items()}
    return {
        **{key: found[key] for key in ("documents", "sentences", "tokens", "mentions")},
        "labels": len(found["by_label"]),
        "with_overlap": found["muis_lu"]["with overlap"]["count"],
        "overlapping": found["muis_lu"]["overlapping"]["count"],
        "overlapping_same_type": found["muis_lu"]["overlapping, same type"]["count"],
        **{kind: kinds[kind] for kind in ("flat", "embedded", "containing", "same_type_nested", "same_span")},
        "crossing": found["kinds"]["crossing"]["count"],
        "discontinuous": found["kinds"]["discontinuous"]["count"],
        "unresolved": report.counts["coordination"] if ref.options.get("coordination") == "expand" else None,
        "depth": max(map(int, found["depth"]), default=0),
        "valid_span": found["trees"].get("valid_span"),
        "single_arc": found["trees"].get("single_arc"),
        **{f"separators: {what}": count for what, count in measured.readings().items()},
        **{f"ceiling_{model}": share for model, share in measured.shares().items()},
        "patterns": found["patterns"],
        "problems": dict(report.counts),
    }


EXPERIMENT = Experiment(
    title="The corpora",
    runs=RUNS,
    execute=execute,
    columns=(
        "documents",
        "sentences",
        "tokens",
        "mentions",
        "labels",
        "with_overlap",
        "overlapping",
        "overlapping_same_type",
        "flat",
        "embedded",
        "containing",
        "same_type_nested",
        "same_span",
        "crossing",
        "discontinuous",
        "unresolved",
        "depth",
        "valid_span",
        "single_arc",
        *SEPARATORS,
        *CEILINGS,
    ),
    percent=(
        "flat",
        "embedded",
        "containing",
        "same_type_nested",
        "same_span",
        "valid_span",
        "single_arc",
        *CEILINGS,
    ),
    about=(
        "Counts of every corpus and split as the readers give them. The figures of the paper are, for the splits of "
        "GENIA, those of Muis & Lu (2017), table 1; for others those of the corpora's descriptions (for the expanded "
        "coordinations: a floor). Unresolved are those of the 3,461 members of coordinations whose tokens were not "
        "found. In the overlap columns, as in that table, a term that is given twice on the same "
        "tokens (two protein classes that become one label, say) overlaps itself; in the columns of kinds it does not. "
        "The columns of separators count the mentions that are lost, by reason, and invented when those in one piece "
        "are written as separators and read again (`spanloom.schemes.separators`)."
    ),
)
