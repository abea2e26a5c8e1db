"""``spanloom parse`` and ``spanloom parser train``: trees, parts of speech and lemmas for text that has none."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanloom.cli.apart import apart
from spanloom.cli.console import make_console
from spanloom.cli.options import JsonOption, SourceArgument
from spanloom.cli.outputs import Lossy, Overwrite, check_output, output_reference
from spanloom.cli.problems import show_problems
from spanloom.cli.skipping import OnError, OnErrorOption, SkippingReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanloom.annotators import Attachment
    from spanloom.corpus import Document, Sentence
    from spanloom.formats import Reference

parser_app = typer.Typer(name="parser", help="Learn dependency parsers and taggers.", no_args_is_help=True)


def parse(
    source: SourceArgument,
    target: Annotated[str, typer.Argument(metavar="REF", help="Corpus to write, e.g. parsed.conllu.")],
    parser: Annotated[str, typer.Option(help="udpipe:MODEL or spacy:PIPELINE.")],
    again: Annotated[bool, typer.Option(help="Also parse sentences that have a tree.")] = False,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep trees here, to parse nothing twice.")
    ] = None,
    lossy: Lossy = None,
    overwrite: Overwrite = False,
    on_error: OnErrorOption = OnError.stop,
    as_json: JsonOption = False,
) -> None:
    """Give every sentence a dependency tree.

    With --again on a corpus that has trees, the attachment scores against them are told.

    [bold]Example:[/bold] spanloom parse notes.jsonl parsed.conllu --parser udpipe:english.udpipe
    """
    from spanloom.annotators import attachment, with_trees
    from spanloom.annotators import parser as make_parser
    from spanloom.corpus.document import map_sentences
    from spanloom.formats import write

    output = output_reference(target, overwrite=overwrite, lossy=lossy)
    engine = make_parser(parser).parser
    with SkippingReader([source], on_error, output.path) as corpus:
        docs = list(corpus)
    given = _sentences(docs)
    parsed = map_sentences(lambda sentences: with_trees(sentences, engine, again=again, cache=cache), docs)
    show_problems(write(parsed, output).problems)
    result: dict[str, Any] = {"documents": len(docs), "sentences": len(given)}
    pairs = [(old, new) for old, new in zip(given, _sentences(parsed), strict=True) if "deprel" in old.columns]
    if again and pairs:
        score = attachment(*zip(*pairs, strict=True))
        result |= {"uas": score.uas, "las": score.las}
    _tell(result, target, as_json)
    corpus.finish()


@parser_app.command("train")
@apart
def train_parser(
    corpus: Annotated[str, typer.Argument(metavar="REF", help="Corpus to learn from, e.g. train.conllu.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where the model goes.")],
    test: Annotated[str | None, typer.Option(metavar="REF", help="Another such corpus to measure it on.")] = None,
    iterations: Annotated[int, typer.Option(help="Passes over the corpus.")] = 10,
    tagger: Annotated[
        bool, typer.Option(help="Learn to tag, and lemmas if the corpus has them, for text without parts of speech.")
    ] = True,
    parser: Annotated[bool, typer.Option(help="Learn to parse; without, the corpus needs no trees.")] = True,
    jackknife: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Also write the corpus with trees by parsers that have not seen them."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Into how many blocks of documents --jackknife cuts the corpus.")] = 5,
    overwrite: Overwrite = False,
    as_json: JsonOption = False,
) -> None:
    """Learn a UDPipe parser and tagger from a corpus with trees, or with --no-parser a tagger alone.

    A recogniser that is to work with this parser must learn from its trees, not from gold ones, nor from those that it
    gives to its own training text, which are too good: --jackknife writes the corpus with trees for that. Unless there
    is no tagger, its parts of speech are predicted too, and so are those of --test.

    [bold]Example:[/bold] spanloom parser train train.conllu --test dev.conllu -o english.udpipe
    """
    from spanloom.annotators import train_udpipe, train_udpipe_tagger
    from spanloom.base.errors import CorpusError, ParameterError
    from spanloom.base.parameters import check_count
    from spanloom.formats import read

    if not parser and (jackknife is not None or not tagger):
        other = "--no-tagger" if not tagger else "--jackknife"
        raise ParameterError(
            f"--no-parser learns a tagger alone, so that {other} makes no sense; leave one of them out"
        )
    check_output(output)
    docs = list(read(corpus))
    sentences = _sentences(docs)
    tested = None if test is None else _sentences(read(test))
    target = None
    if jackknife is not None:
        check_count("folds", folds, low=2)
        target = output_reference(jackknife, overwrite=overwrite)
    if tested is not None and parser and not all("deprel" in s.columns for s in tested if len(s)):
        raise CorpusError(f"{test} has sentences without trees, so that no parser can be measured on it")
    result: dict[str, Any] = {"sentences": len(sentences), "tokens": sum(map(len, sentences))}
    if parser:
        train_udpipe(sentences, output, tagger=tagger, iterations=iterations)
    else:
        train_udpipe_tagger(sentences, output, iterations=iterations)
    if tested is not None:
        result |= _measured(output, tested, tagger, parser)
    if target is not None:
        score = _jackknifed(docs, target, folds, {"tagger": tagger, "iterations": iterations})
        result |= {"jackknifed_uas": score.uas, "jackknifed_las": score.las}
    _tell(result, str(output), as_json)


def _measured(model: Path, gold: Sequence[Sentence], tagger: bool, parser: bool) -> dict[str, Any]:
    """Return the scores of a model: of its trees, and of each column that it makes."""
    from spanloom.annotators import UDPipe, attachment, with_trees

    result: dict[str, Any] = {}
    udpipe = UDPipe(model)
    if parser:
        score = attachment(gold, with_trees(gold, udpipe, again=True, retag=tagger))
        result |= {"uas": score.uas, "las": score.las}
    if tagger:
        made = udpipe.columns(gold)
        names = made[0] if made else ()
        result["accuracy"] = {
            name: _accuracy(gold, made, name) for name in names if any(name in s.columns for s in gold)
        }
    return result


def _accuracy(gold: Sequence[Sentence], made: Sequence[dict[str, list[str]]], name: str) -> float:
    """Return the share of tokens for which a column was made right."""
    pairs = [p for s, m in zip(gold, made, strict=True) for p in zip(s.columns.get(name, ()), m[name], strict=False)]
    return sum(a == b for a, b in pairs) / max(len(pairs), 1)


def _jackknifed(docs: Sequence[Document], target: Reference, folds: int, options: dict[str, Any]) -> Attachment:
    """Write documents with trees by parsers that have not seen them; return their scores."""
    import tempfile

    from spanloom.annotators import attachment, cross_fit_trees, train_udpipe
    from spanloom.formats import write

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fold.udpipe"
        learn = functools.partial(train_udpipe, path=path, **options)
        parsed = cross_fit_trees(docs, learn, folds=folds, retag=options["tagger"])
    write(parsed, target)
    return attachment(_sentences(docs), _sentences(parsed))


def _sentences(corpus: Any) -> Sequence[Sentence]:
    return [s for doc in corpus for s in doc.sentences]


def _tell(result: dict[str, Any], target: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"output": target, **result}))
        return
    console = make_console()
    console.print(f"{target}: " + ", ".join(f"{v:,} {k}" for k, v in result.items() if isinstance(v, int)))
    for kind, prefix in (("attachment", ""), ("attachment by jackknifing", "jackknifed_")):
        if f"{prefix}uas" in result:
            uas, las = (100 * result[f"{prefix}{name}"] for name in ("uas", "las"))
            console.print(f"{kind}: {uas:.2f} % unlabelled, {las:.2f} % labelled")
    if "accuracy" in result:
        shares = (f"{name} {100 * share:.2f} %" for name, share in result["accuracy"].items())
        console.print(f"tagged right: {', '.join(shares)}")
