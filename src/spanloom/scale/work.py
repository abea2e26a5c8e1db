"""One shard from input to output, in whatever process: what every engine runs."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import spanloom
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.extras import need
from spanloom.corpus import Document
from spanloom.formats.checks import decode, encode
from spanloom.formats.compression import packing
from spanloom.formats.jsonl import to_dict
from spanloom.formats.jsonl.records import mentions_only
from spanloom.formats.parquet import write as write_parquet
from spanloom.formats.reading import choice
from spanloom.formats.report import Report
from spanloom.formats.writing import binary_target
from spanloom.recognizer import Recognizer
from spanloom.scale.arrow import COLUMN, ColumnTagger, mention_type
from spanloom.scale.loading import ModelSource, file_digest
from spanloom.scale.manifests import Manifest, is_intact, read_manifest, write_manifest
from spanloom.scale.reading import ShardReader
from spanloom.scale.shards import Shard
from spanloom.tagging import Plain, obstacle, tag_lines
from spanloom.tagging_files import k_best_lines

FORMATS = ("jsonl", "mentions", "parquet")
GROUP_ROWS = 8192
"""Row groups of outputs have no more rows, so that memory is bounded."""

Progress = Callable[[int, int], None]
"""Called with the words and the bytes of a shard that are done."""


@dataclass(frozen=True, slots=True)
class TagSettings:
    """What the outputs depend on besides input and model.

    Parameters
    ----------
    format
        ``"jsonl"``, ``"mentions"`` (JSON lines of ids and mentions only) or ``"parquet"``; empty: Parquet of Parquet,
        else JSON lines.
    packed
        The ending that says how JSON lines are compressed, such as ``".gz"``; None: as the input is.
    penalty, threshold
        Set in the recogniser, as JSON; None for its own.
    probabilities, above, k
        As in ``spanloom tag``.
    parser
        An annotator that is run after those of the model, or None.
    tokenizer
        The name of the tokenizer of texts, if not the model's own.
    skip
        Whether a record that cannot be read is left out; otherwise it is an error.
    """

    format: str = ""
    packed: str | None = None
    penalty: str | None = None
    threshold: str | None = None
    probabilities: bool | None = None
    above: float | None = None
    k: int | None = None
    parser: str | None = None
    tokenizer: str | None = None
    skip: bool = False

    def __post_init__(self) -> None:
        choice("format", self.format, ("", *FORMATS))
        if self.above is not None and self.probabilities is False:
            raise ParameterError("above goes by probabilities, and mentions get theirs; leave out probabilities=False")

    def output(self, shard: Shard) -> str:
        """Return the name of a shard's output."""
        if self.format == "parquet" or (not self.format and shard.kind == "rows"):
            return f"{shard.name}.parquet"
        ending = Path(shard.paths[0]).suffix.lower() if shard.kind == "lines" else ""
        packed = self.packed if self.packed is not None else ending if ending in (".gz", ".zst") else ""
        return f"{shard.name}.jsonl{packed}"


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker gets beside a shard; the same for all of them."""

    model: ModelSource
    settings: TagSettings
    out: str
    resume: bool = False

    def source(self, shard: Shard) -> Manifest:
        """Return what a manifest says of where an output comes from, but for the input's digest."""
        return {
            "input": shard.to_json(),
            "model": self.model.digest,
            "settings": asdict(self.settings),
            "spanloom": spanloom.__version__,
        }


def tag_shard(work: Work, shard: Shard, progress: Progress | None = None, threads: int = 1) -> tuple[Manifest, float]:
    """Tag a shard, or with ``resume`` see that it is done; return its manifest and the seconds that tagging took.

    The output is written whole or not at all, and its manifest after it.
    """
    out, name = Path(work.out), work.settings.output(shard)
    if work.resume and (old := read_manifest(out, name)) is not None and _is_done(work, shard, out, old):
        return old, 0.0
    begun = time.perf_counter()
    ner = _recognizer(work.model, work.settings, threads)
    report = Report(strict=not work.settings.skip, tokenizer=ner.token_rules_, replaced=True)
    reader = ShardReader(shard, report)
    sink = _Sink(ner, work.settings, reader, progress)
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    sink.write(str(path))
    manifest = work.source(shard) | {
        "output": name,
        "input_sha256": reader.digest(),
        "sha256": file_digest(path),
        "bytes": path.stat().st_size,
        "documents": sink.counts["documents"],
        "words": sink.counts["words"],
        "mentions": dict(sorted(sink.labels.items())),
        "skipped": report.errors,
        "skipped_records": [asdict(problem) for problem in report.problems if problem.severity == "error"],
    }
    write_manifest(out, manifest)
    return manifest, time.perf_counter() - begun


def seems_done(work: Work, shard: Shard) -> bool:
    """Whether a shard has an output with a manifest that fits; files are not read for it, as with ``resume``."""
    out, name = Path(work.out), work.settings.output(shard)
    old = read_manifest(out, name)
    try:
        return old is not None and _fits(work, shard, old) and (out / name).stat().st_size == old.get("bytes")
    except OSError:
        return False


def _fits(work: Work, shard: Shard, old: Manifest) -> bool:
    """Whether an output was made from the same files, by the same model and with the same settings."""
    same = json.loads(json.dumps(work.source(shard)))
    if not old.get("skipped") and isinstance(settings := old.get("settings"), dict):
        same["settings"]["skip"] = settings.get("skip")  # where nothing had to be skipped, it does not matter
    return all(old.get(key) == value for key, value in same.items())


def _is_done(work: Work, shard: Shard, out: Path, old: Manifest) -> bool:
    """Whether an output is what it would be if it were made now."""
    if not _fits(work, shard, old) or not is_intact(out, old):
        return False
    try:
        return ShardReader(shard, Report()).read_through() == old.get("input_sha256")
    except CorpusError:
        return False


@lru_cache(2)
def _recognizer(source: ModelSource, settings: TagSettings, threads: int) -> Recognizer:
    """Open the model once per process, with the settings of the run."""
    ner = source.open(threads)
    if all(value is None for value in (settings.penalty, settings.threshold, settings.parser, settings.tokenizer)):
        return ner
    annotators = [settings.parser] if settings.parser else []
    own = Recognizer.from_bytes(source.data(), threads=threads, annotators=annotators, tokenizer=settings.tokenizer)
    if settings.penalty is not None:
        own.set_mention_penalty(decode(settings.penalty))
    if settings.threshold is not None:
        own.set_threshold(decode(settings.threshold))
    return own


class _Sink:
    """Tags what a reader gives and writes it."""

    def __init__(self, ner: Recognizer, settings: TagSettings, reader: ShardReader, progress: Progress | None) -> None:
        self.ner, self.settings, self.reader, self.progress = ner, settings, reader, progress
        self.counts: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()

    def write(self, path: str) -> None:
        report = Report()
        if not path.endswith(".parquet"):
            with binary_target(path, report) as raw, packing(path, raw) as out:
                for piece in self._told(self._lines()):
                    out.write(piece)
        elif self.reader.shard.kind == "rows" and not self._has_tokens():
            self._write_rows(path, report)
        else:
            documents = self._counted(self._stream(self.reader.items()))
            write_parquet(self._told(documents), path, report)

    def _told(self, pieces: Iterable[Any]) -> Iterator[Any]:
        for piece in pieces:
            if self.progress is not None:
                self.progress(self.counts["words"], self.reader.bytes)
            yield piece

    # JSON lines

    def _lines(self) -> Iterator[bytes]:
        settings, items = self.settings, self.reader.items()
        whole = settings.format != "mentions"
        probable = self.ner.gives_probabilities(settings.probabilities, settings.above)
        if settings.k is not None:
            yield from k_best_lines(self.ner, self._counted(self._stream(items)), settings.k, Counter())
        elif obstacle(self.ner) is None and not (probable and self.ner.belief_ != "exact"):
            yield from tag_lines(
                self.ner,
                items,
                whole=whole,
                counts=self.counts,
                labels=self.labels,
                probabilities=probable,
                above=settings.above,
            )
        else:
            for document in self._counted(self._stream(items)):
                record = to_dict(document, chars=True)
                yield encode(record if whole else mentions_only(record), f"document {document.id!r}").encode()

    def _stream(self, items: Iterator[Plain | Document]) -> Iterator[Document]:
        """The way through objects."""
        documents = (_document(self.ner, one) if isinstance(one, Plain) else one for one in items)
        return self.ner.stream(documents, 64, probabilities=self.settings.probabilities, above=self.settings.above)

    def _counted(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            found = document.mentions
            words = sum(len(sentence) for sentence in document.sentences)
            self.counts.update(documents=1, words=words, mentions=len(found))
            self.labels.update(mention.label for mention in found)
            yield document

    # Tables

    def _has_tokens(self) -> bool:
        """Whether a Parquet file is one of our own, with tokens."""
        names = need("pyarrow.parquet", "parquet").ParquetFile(self.reader.shard.paths[0]).schema_arrow.names
        return "tokens" in names and not self.reader.shard.options

    def _write_rows(self, path: str, report: Report) -> None:
        """Write the rows as they are, row group by row group, with a column of mentions."""
        arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
        probable = self.ner.gives_probabilities(self.settings.probabilities, self.settings.above)
        tagger = ColumnTagger(self.ner, probabilities=probable, above=self.settings.above)
        self.counts, self.labels = tagger.counts, tagger.labels
        names = dict(self.reader.shard.options).get("text", "text").split(",")
        with binary_target(path, report) as raw:
            writer = None
            for rows in self._told(self._tables(arrow, parquet)):
                texts = _texts(rows, names, self.reader.shard.paths[0])
                table = rows.drop_columns([n for n in (COLUMN,) if n in rows.column_names])
                if len(names) > 1:
                    table = table.drop_columns([n for n in ("text",) if n in table.column_names])
                    table = table.append_column("text", arrow.array(texts, arrow.string()))
                table = table.append_column(COLUMN, arrow.chunked_array([tagger.tag(texts)], mention_type()))
                writer = writer or parquet.ParquetWriter(raw, table.schema)
                if table.num_rows:
                    writer.write_table(table)
            if writer is not None:
                writer.close()

    def _tables(self, arrow: Any, parquet: Any) -> Iterator[Any]:
        path = self.reader.shard.paths[0]
        yield parquet.ParquetFile(path).schema_arrow.empty_table()  # so that a file without rows has its columns
        for _, batch in self.reader.batches(path, GROUP_ROWS):
            yield arrow.Table.from_batches([batch])


def _texts(rows: Any, names: list[str], path: str) -> list[str]:
    """Return the texts of rows; those of several columns are put below each other, as ``row_document`` does."""
    for name in names:
        if name not in rows.column_names:
            raise CorpusError(
                f"no column {name!r}; there are {', '.join(rows.column_names)}. Say which is the text: "
                f"'parquet:{path}?text={rows.column_names[-1]}'",
                path,
            )
        if not str(rows.schema.field(name).type).endswith("string"):
            raise CorpusError(f"column {name!r} must be text, not {rows.schema.field(name).type}", path)
    columns = [rows.column(name).to_pylist() for name in names]
    return ["\n".join(value for value in values if value) for values in zip(*columns, strict=True)]


def _document(ner: Recognizer, plain: Plain) -> Document:
    return replace(ner._of_text(plain.text), id=plain.id, meta=decode(plain.meta) if plain.meta else {})
