"""``spanloom train``: from annotated text to a model file."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanloom.cli.console import make_console
from spanloom.cli.cutting import TOKENIZER
from spanloom.cli.dask_client import SCHEDULER, learner_on
from spanloom.cli.outputs import check_model_output
from spanloom.cli.problems import show_unread
from spanloom.cli.settings import parse_settings, parse_value
from spanloom.cli.summary import tell

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

DATA, MODEL, LEARNING, RUN = "Data", "Model", "Learning", "Run"


def train(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help="Annotated corpora, e.g. train.jsonl.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where the model goes.", rich_help_panel=DATA)
    ],
    dev: Annotated[
        str | None,
        typer.Option(metavar="CORPUS", help="Development corpus, scored as training goes.", rich_help_panel=DATA),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="CHOICE",
            help="Mentions that the model cannot hold together: longest, outermost or innermost stay; raise: an error "
            "(the default).",
            rich_help_panel=DATA,
        ),
    ] = None,
    annotate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REF",
            help="Makes columns that the data lack: pos.loom, udpipe:FILE, spacy:NAME, chunks, phrases, induced, "
            "document, english-rules; may be repeated. See docs/annotators.md.",
            rich_help_panel=DATA,
        ),
    ] = None,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="A list of names to look up; 'induced' for that of the training data. What is done to words before "
            "they are compared: genes=genes.tsv?normalise=lower,squeezed.",
            rich_help_panel=DATA,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Kind of model, see docs/choosing-a-model.md; auto (the default): multilabel where training mentions "
            "are discontinuous, else state.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    tokenizer: Annotated[str | None, typer.Option(metavar="NAME", help=TOKENIZER, rich_help_panel=DATA)] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Learn the values of a token column, e.g. pos, not mentions.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="NAME|FILE.toml", help="What the model sees.", rich_help_panel=MODEL)
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|PACKAGE",
            help="A network of the transformers library whose scores are added, see docs/encoders.md; nothing is "
            "downloaded.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Features that occur less often are left out: 2 halves a model.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    clusters: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATHS",
            help="Clusters, see spanloom cluster and spanloom vectors; may be repeated. Their features are added if "
            "there are none.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    repair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[parentheses|abbreviations|hyphens|punctuation]",
            help="What is done to found mentions; may be repeated.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    trainer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="lbfgs, sdca, adagrad, perceptron; for multilabel mira, perceptron, loglinear; adamw with an encoder. "
            "auto: the model's own.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    l2: Annotated[
        float | None,
        typer.Option(help="L2 penalty; 0.1, or what --model auto finds.", rich_help_panel=LEARNING),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Start from the weights of a model, e.g. the one before some corrections: same optimum, sooner.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(help="At most so many iterations; what is usual if not given.", rich_help_panel=LEARNING),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Stop when dev F1 has not risen for so many iterations.", rich_help_panel=LEARNING),
    ] = None,
    decide: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="best; f1, precision=0.95, recall=0.9: a threshold on the probability, chosen on --dev, else by "
            "cross-fitting; auto (the default with --dev): best, best with a mention penalty, or f1, by F1 on --dev.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    penalty: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|auto|auto-by-label",
            help="Mention penalty: above 0 for more mentions; auto (the default without --dev and --decide): chosen on "
            "--dev, else by cross-fitting on the training data; 0 for none.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting: model.scheme=BIES+, model.base=memm, trainer.tol=1e-6; the last part of the name "
            "is enough. May be repeated; a wrong name lists all.",
            rich_help_panel=RUN,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Settings from a file; options come after it.", rich_help_panel=RUN),
    ] = None,
    write_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Write the settings in use to a file.", rich_help_panel=RUN),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For everything random.", rich_help_panel=RUN)] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; all cores if not given. The model is the same.", rich_help_panel=RUN)
    ] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help=SCHEDULER, rich_help_panel=RUN)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the training record as one JSON object.", rich_help_panel=RUN)
    ] = False,
) -> None:
    """Learn a recogniser from annotated text.

    Ctrl-C (or SIGTERM) stops training and keeps the best model so far, as MODEL.interrupted.

    [bold]Examples:[/bold] spanloom train train.jsonl --dev dev.jsonl --l2 0.5 -o gene.loom

    spanloom train train.jsonl --model cascade --set model.base=memm --set order=1 -o gene.loom
    """
    from spanloom.cli.progress import TrainingProgress
    from spanloom.configuration import configure, read_config
    from spanloom.configuration import write_config as write_settings
    from spanloom.formats import Report, read

    check_model_output(output)
    lexicons = [name if name.partition("?")[0] == "induced" else f"lexicon:{name}" for name in lexicon or ()]
    options: dict[str, Any] = {
        "model": _model(model, target),
        "features": features,
        "clusters": clusters,
        "encoder": encoder,
        "min_count": min_count,
        "annotators": [*(annotate or ()), *lexicons] or None,
        "repairs": repair,
        "keep": keep,
        "tokenizer": tokenizer,
        "trainer": trainer,
        "trainer__l2": l2,
        "trainer__max_iter": max_iter,
        "trainer__patience": patience,
        "decide": decide,
        "decide__penalty": None if penalty is None else parse_value(penalty),
        "seed": seed,
        "threads": threads,
    }
    given = {name: value for name, value in options.items() if value is not None}
    wanted = {**({} if config is None else read_config(config)), **given, **parse_settings(settings or [])}
    wanted |= _by_itself(wanted, dev is not None)
    cut = {name: wanted.pop(name) for name in ("min_count",) if name in wanted}
    ner = configure(wanted)
    if write_config is not None:
        write_settings(ner, write_config, **cut)
    configure(cut, ner).check(dev is not None)
    report = Report(tokenizer=ner.token_rules())
    docs = list(chain.from_iterable(read(ref).stream(report) for ref in corpus))
    show_unread(report)  # before the work, which it may be worth stopping
    interrupted = False
    with learner_on(scheduler) as learner, TrainingProgress(max_iter) as progress:
        try:
            watched = None if dev is None else read(dev).stream(Report(tokenizer=ner.token_rules()))
            ner.fit(docs, dev=watched, listener=progress, start=start, learner=learner)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        output = output.with_name(f"{output.name}.interrupted")
        _offer(ner, output)
    ner.save(output)
    if as_json:
        print(json.dumps({"output": str(output), **ner.training_}, ensure_ascii=False))
    else:
        tell(make_console(), ner, output)
    if interrupted:
        raise typer.Exit(130)


REFINING = ("calibrate", "cross_fit", "exclusive")
"""Settings of a decision that leave open which one it is."""


def _by_itself(wanted: Mapping[str, Any], dev: bool) -> dict[str, Any]:
    """Return how to decide where nobody says it: what is best on development data, else a mention penalty.

    It costs little, and small data need it. Reductions would have to ask every part about every mention; without
    development data an encoder would have to be trained several times.
    """
    from spanloom.models import named
    from spanloom.models.reduction import Reduction

    parts = [name.replace(".", "__").split("__") for name in wanted]
    if any(part[-1] in ("decide", "penalty") or (part[0] == "decide" and part[-1] not in REFINING) for part in parts):
        return {}
    model = wanted.get("model", "auto")
    known = None if model == "auto" else named(model)
    if isinstance(known, Reduction):
        return {}
    if dev:
        return {} if known is not None and (known.makes is not None or not known.probabilistic) else {"decide": "auto"}
    penalised = known is None or known.penalised
    return {"decide__penalty": "auto"} if penalised and "encoder" not in wanted else {}


def _model(name: str | None, target: str | None) -> Any:
    if target is None:
        return name
    from spanloom.models import Tagger

    if name not in (None, "auto", "tagger"):
        raise typer.BadParameter(f"a column is learned by the model tagger, not by {name}", param_hint="--target")
    return Tagger(target)


def _offer(ner: Recognizer, output: Path) -> None:
    """After an interruption, ask whether to keep the model so far under another name, if there is one."""
    if not hasattr(ner, "training_"):
        print("spanloom: interrupted before there was a model to keep; none was written", file=sys.stderr)
        raise typer.Exit(130)
    done = len(ner.history_)
    print(f"spanloom: interrupted after {done} iterations; the model so far goes to {output}", file=sys.stderr)
    if (part := ner.training_.get("cross_fitting")) is not None:
        print(
            f"spanloom: it learned from {ner.training_['sentences']:,} of {part['sentences']:,} sentences only: it is "
            "one of the trainings that choose the mention penalty by cross-fitting, and the training on all data had "
            "not begun; --penalty 0 leaves them out, --dev needs none",
            file=sys.stderr,
        )
    if ner.training_["untrained"]:
        print(f"spanloom: nothing was learned yet of {', '.join(ner.training_['untrained'])}", file=sys.stderr)
    if sys.stdin.isatty() and not typer.confirm("Keep the best model so far?", default=True, err=True):
        raise typer.Exit(130)
