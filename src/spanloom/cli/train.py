"""``spanloom train``: from annotated text to a model file."""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from spanloom.cli.choices import (
    Algorithm,
    BaseName,
    Direction,
    ModelName,
    Overlap,
    Support,
)
from spanloom.cli.outputs import check_output
from spanloom.cli.sources import ParserOption

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer


def train(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help="Annotated corpora, e.g. train.jsonl.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where the model goes.")],
    dev: Annotated[
        str | None, typer.Option(metavar="CORPUS", help="Development corpus, scored as training goes.")
    ] = None,
    model: Annotated[
        ModelName,
        typer.Option(
            help="Kind of model; auto: multilabel where training mentions break into parts, edge where they overlap, "
            "chain where they do neither."
        ),
    ] = "auto",
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Learn the values of a token column, e.g. pos, not mentions.")
    ] = None,
    annotate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REF",
            help="Makes columns that the data lack: pos.loom, udpipe:FILE, spacy:NAME, chunks (of chunk), phrases (of "
            "pos), induced (a lexicon of the training mentions) or document (document context: what a first recogniser "
            "finds for the same words elsewhere in the document); may be repeated.",
        ),
    ] = None,
    base: Annotated[
        BaseName, typer.Option(help="The flat model of innermost, outermost, layered, cascade and joined.")
    ] = "chain",
    direction: Annotated[Direction, typer.Option(help="Of layered: how layers are counted.")] = "inside-out",
    layers: Annotated[int | None, typer.Option(help="Of layered: at most so many.")] = None,
    groups: Annotated[
        str, typer.Option(help="Of cascade: by-frequency, by-performance, all+LABEL+…, or groups: A,B;C.")
    ] = "by-frequency",
    guesses: Annotated[
        bool, typer.Option(help="Of cascade: whether later models see the guesses of earlier ones.")
    ] = True,
    folds: Annotated[
        int, typer.Option(help="Of cascade: blocks of the training data, to make guesses and find the best order.")
    ] = 5,
    rare: Annotated[int, typer.Option(help="Of joined: labels that occur less often back off.")] = 1,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="A list of names to look up; 'induced' for that of the training data. What is done to words before "
            "they are compared: genes=genes.tsv?normalise=lower,squeezed.",
        ),
    ] = None,
    order: Annotated[int, typer.Option(help="Of memm: how many labels before are seen, 1 or 2.")] = 2,
    dictionary: Annotated[
        int | None, typer.Option(help="Of memm: words seen so often get only labels that they were seen with.")
    ] = None,
    beam: Annotated[
        int | None, typer.Option(help="Of memm: states that go on from a token to the next; all if not given.")
    ] = None,
    scheme: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Segment representation of chain, chains and memm: IO, IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BI, IE, "
            "BIES, BIS, BB2IES, BB2B3IES; several: BIES+, or the finest first: BIES,IO. Of chain also BIOHD.",
        ),
    ] = "IOBES",
    features: Annotated[str, typer.Option(metavar="NAME|FILE.toml", help="What the model sees.")] = "default",
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="PATHS", help="Brown clusters, see spanloom cluster; their features are added if there are none."
        ),
    ] = None,
    algorithm: Annotated[
        Algorithm, typer.Option(help="auto: the model's own; mira and loglinear are multilabel's.")
    ] = "auto",
    l1: Annotated[float, typer.Option(help="L1 penalty.")] = 0.0,
    l2: Annotated[float, typer.Option(help="L2 penalty.")] = 0.1,
    support: Annotated[
        Support, typer.Option(help="Weights for all (feature, label) pairs, or the observed ones.")
    ] = "all",
    max_iter: Annotated[
        int | None, typer.Option(help="At most so many iterations; what is usual for the model if not given.")
    ] = None,
    tol: Annotated[
        float, typer.Option(help="Stop when ten iterations lower the objective by less than this share.")
    ] = 1e-5,
    patience: Annotated[int | None, typer.Option(help="Stop when dev F1 has not risen for so many iterations.")] = None,
    mention_penalty: Annotated[
        str, typer.Option(metavar="NUMBER|auto|auto-by-label", help="Above 0: more mentions; auto: chosen on --dev.")
    ] = "0",
    longest: Annotated[
        int | None,
        typer.Option(help="Segment models: how many tokens a mention may have; the longest one's if not given."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", help="Of multilabel: best subsets to look at; as many as tokens if not given.")
    ] = None,
    max_gap: Annotated[
        int | None, typer.Option(help="Of multilabel: the widest gap in a mention; that of the data if not given.")
    ] = None,
    restriction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[contiguous|no_overlap|no_embedding|no_self_embedding|none]",
            help="Of multilabel; may be repeated. What the data keep if not given.",
        ),
    ] = None,
    company: Annotated[
        bool,
        typer.Option(
            "--company",
            help="Of multilabel: look again at broken mentions beside the other candidates; twice the training time.",
        ),
    ] = False,
    threshold: Annotated[
        str,
        typer.Option(metavar="NUMBER|global|label", help="Of multilabel: the least score, or how --dev chooses it."),
    ] = "global",
    aggressiveness: Annotated[
        float, typer.Option(help="Of multilabel: how far a sentence may move the weights.")
    ] = 1.0,
    parser: ParserOption = None,
    repair: Annotated[
        list[str] | None,
        typer.Option(metavar="[parentheses|abbreviations]", help="What is done to found mentions; may be repeated."),
    ] = None,
    overlap: Annotated[
        Overlap, typer.Option(help="Mentions that the model cannot hold together: raise an error, or which to keep.")
    ] = "raise",
    seed: Annotated[int, typer.Option(help="For everything random.")] = 1,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if not given. The model is the same.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the training record as one JSON object.")] = False,
) -> None:
    """Learn a recogniser from annotated text.

    Ctrl-C stops training and offers the best model so far.

    [bold]Example:[/bold] spanloom train train.jsonl --dev dev.jsonl --l2 0.5 -o gene.loom
    """
    from spanloom.base.errors import UntakenError
    from spanloom.cli.progress import TrainingProgress
    from spanloom.cli.settings import parse_value
    from spanloom.formats import read
    from spanloom.recognizer import Recognizer

    check_output(output)
    ner = Recognizer(
        model,
        target=target,
        annotators=[
            *(annotate or ()),
            *(name if name.partition("?")[0] == "induced" else f"lexicon:{name}" for name in lexicon or ()),
        ],
        base=base,
        direction=direction,
        layers=layers,
        groups=groups,
        guesses=guesses,
        folds=folds,
        rare=rare,
        order=order,
        dictionary=dictionary,
        beam=beam,
        scheme=scheme,
        features=features,
        clusters=clusters,
        algorithm=algorithm,
        l1=l1,
        l2=l2,
        support=support,
        max_iter=max_iter,
        tol=tol,
        patience=patience,
        mention_penalty=parse_value(mention_penalty),
        longest=longest,
        k=k,
        max_gap=max_gap,
        restrictions="auto" if restriction is None else [name for name in restriction if name != "none"],
        company=company,
        threshold=parse_value(threshold),
        aggressiveness=aggressiveness,
        parser=parser,
        repairs=repair or (),
        overlap=overlap,
        seed=seed,
        threads=threads,
    )
    docs = chain.from_iterable(read(ref) for ref in corpus)
    interrupted = False
    with TrainingProgress(max_iter) as progress:
        try:
            ner.fit(docs, dev=None if dev is None else read(dev), listener=progress)
        except KeyboardInterrupt:
            interrupted = True
        except UntakenError as error:
            name = {"restrictions": "restriction"}.get(error.parameter, error.parameter)
            raise error.named(f"--{name.replace('_', '-')}") from None
    if interrupted:
        _offer(ner)
    ner.save(output)
    if as_json:
        print(json.dumps({"output": str(output), **ner.training_}, ensure_ascii=False))
    else:
        _tell(Console(), ner, output)
    if interrupted:
        raise typer.Exit(130)


def _offer(ner: Recognizer) -> None:
    """After an interruption: keep what there is, if the user wants it and there is something."""
    if not hasattr(ner, "training_"):
        print("spanloom: interrupted before there was a model to keep; none was written", file=sys.stderr)
        raise typer.Exit(130)
    done = len(ner.history_)
    print(f"spanloom: interrupted after {done} iterations", file=sys.stderr)
    if ner.training_["untrained"]:
        print(f"spanloom: nothing was learned yet of {', '.join(ner.training_['untrained'])}", file=sys.stderr)
    if sys.stdin.isatty() and not typer.confirm("Keep the best model so far?", default=True, err=True):
        raise typer.Exit(130)


def _tell(console: Console, ner: Recognizer, output: Path) -> None:
    t: dict[str, Any] = ner.training_
    features = sum(part.extractor_.size for part in ner.parts_)
    console.print(
        f"[bold]{output}[/bold]  {output.stat().st_size / 1e6:.1f} MB, {features:,} features, {len(ner.labels_)} labels"
    )
    console.print(
        f"{t['sentences']:,} sentences, {t['tokens']:,} tokens, {t['mentions']:,} mentions; "
        f"{t['iterations']} iterations in {t['seconds']:.1f} s"
    )
    if ner.history_ and ner.history_[-1].dev_f1 is not None:
        best = max(r.dev_f1 or 0.0 for r in ner.history_)
        console.print(f"dev F1 {100 * ner.history_[-1].dev_f1:.2f} at the end, {100 * best:.2f} at best")
    if ner.penalty_curve_ is not None:
        score = ner.penalty_curve_.at(ner.penalty_curve_.chosen or 0.0)
        console.print(
            f"mention penalty {ner.penalty_curve_.chosen or 0:g} for all labels gives dev F1 {100 * score.f1:.2f} "
            f"(P {100 * score.precision:.2f}, R {100 * score.recall:.2f})"
        )
        if ner.mention_penalty == "auto-by-label":
            chosen = ", ".join(f"{label} {ner.mention_penalty_.get(label, 0):g}" for label in ner.labels_)
            console.print(f"mention penalties in use: {chosen}", markup=False)
    ceiling = t["dev_ceiling"]
    if ceiling is not None and ceiling < 1:
        console.print(f"[yellow]of the development mentions, the model can find at most {100 * ceiling:.1f} %[/yellow]")
    if ner.ceiling_ < 1:
        what = []
        if t["lost"]:
            what.append(f"{t['lost']:,} mentions were left out, which the model cannot hold")
        if t["misread"]:
            what.append(f"{t['misread']:,} would be read as others")
        console.print(
            f"[yellow]{', '.join(what)}: its recall on such data is at most {100 * ner.ceiling_:.1f} %[/yellow]"
        )
