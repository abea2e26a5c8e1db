"""The records of a shard: texts or documents, and a digest of the bytes that they stand in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need
from spanloom.corpus import Document
from spanloom.formats import Corpus, Reference, read
from spanloom.formats.checks import BadRecord
from spanloom.formats.compression import reading_bytes
from spanloom.formats.jsonl import parse
from spanloom.formats.lines import utf8_lines, whole
from spanloom.formats.parquet import from_row, plain_value
from spanloom.formats.reading import way_out
from spanloom.formats.reference import bare
from spanloom.formats.report import Report
from spanloom.scale.shards import Shard
from spanloom.tagging import Plain, line_records, plain_row

_BLOCK = 1 << 20


class ShardReader:
    """Reads a shard once.

    Parameters
    ----------
    shard
        What to read.
    report
        Takes what cannot be read, with lines counted from the beginning of the shard; ``settle`` corrects that.

    Attributes
    ----------
    bytes
        How many bytes of records were read so far.
    """

    def __init__(self, shard: Shard, report: Report) -> None:
        self.shard, self.report = shard, report
        self.bytes = 0
        self._digest = hashlib.sha256()
        self._before: int | None = None
        report.ref = Reference(shard.format, shard.paths[0], dict(shard.options))

    def items(self) -> Iterator[Plain | Document]:
        """Yield texts, and documents where there is more than a text; errors have their place in the file."""
        options = dict(self.shard.options)
        path = self.shard.paths[0]
        try:
            if self.shard.kind == "lines":
                yield from line_records(utf8_lines(self._lines(), path, self.report), path, self.report, **options)
            elif self.shard.kind == "rows":
                yield from self._rows(path, options)
            else:
                for one in self.shard.paths:
                    yield from self._file(one, options)
        except CorpusError as error:
            if self.report.strict:
                raise CorpusError(error.what, self._placed(error.where)) from error
            self.report.error("unreadable", error.where or path, error.what)  # what came before it counts
        self.settle()
        if self.report.strict:
            self.report.raise_errors(way_out(self.report))

    def settle(self) -> None:
        """Let the problems in the report have their lines in the file."""
        problems = self.report.problems
        problems[:] = [replace(one, where=self._placed(one.where)) for one in problems]

    def digest(self) -> str:
        """Return the SHA-256 of what was read; of all, if ``items`` has come to its end."""
        return self._digest.hexdigest()

    def read_through(self) -> str:
        """Read the shard without looking at its records, and return its digest."""
        if self.shard.kind == "lines":
            for _ in self._lines():
                pass
        elif self.shard.kind == "rows":
            self._hash_rows(need("pyarrow.parquet", "parquet").ParquetFile(self.shard.paths[0]))
        else:
            for path in self.shard.paths:
                self._hash_file(path)
        return self.digest()

    def _take(self, data: bytes) -> None:
        self.bytes += len(data)
        self._digest.update(data)

    # Lines

    def _lines(self) -> Iterator[bytes]:
        """Yield the bytes of the lines that begin in the shard's range."""
        begin, end = self.shard.begin, self.shard.end
        path = self.shard.paths[0]
        with reading_bytes(path) as stream:
            at = 0
            if begin:
                if bare(path) == path:
                    stream.seek(begin - 1)
                else:
                    self._skip(stream, begin - 1)
                at = begin - 1 + len(stream.readline())
            while end is None or at < end:
                line = stream.readline()
                if not line:
                    break
                at += len(line)
                self._take(line)
                yield line

    @staticmethod
    def _skip(stream: Any, length: int) -> None:
        while length and (block := stream.read(min(length, _BLOCK))):
            length -= len(block)

    def _placed(self, where: str) -> str:
        """Return a place ``file:line`` with the line counted from the beginning of the file."""
        match = re.match(rf"{re.escape(self.shard.paths[0])}:(\d+)", where)
        if self.shard.kind != "lines" or not self.shard.begin or match is None:
            return where
        if self._before is None:  # counted only where somebody needs it
            self._before = _lines_before(self.shard.paths[0], self.shard.begin)
        return f"{self.shard.paths[0]}:{int(match[1]) + self._before}{where[match.end() :]}"

    # Rows

    def _rows(self, path: str, options: dict[str, str]) -> Iterator[Plain | Document]:
        text, id = options.get("text", ""), options.get("id", "")
        for number, row, ours in self.numbered_rows(path):
            where = f"{path}: row {number}"
            try:
                if text or id or not ours:
                    plain = {name: plain_value(value) for name, value in row.items()}
                    yield plain_row(plain, text, id, self.report, where)
                else:
                    yield parse(from_row(row), self.report, where)
            except BadRecord as error:
                self.report.broken(error.kind, where, str(error))

    def numbered_rows(self, path: str) -> Iterator[tuple[int, dict[str, Any], bool]]:
        """Yield rows with their numbers in the file, and whether they have the columns of our own files."""
        for first, batch in self.batches(path):
            ours = "tokens" in batch.schema.names
            for k, row in enumerate(batch.to_pylist()):
                yield first + k, row, ours

    def batches(self, path: str, rows: int = 1000) -> Iterator[tuple[int, Any]]:
        """Yield Arrow batches of the shard's row groups, each with the number of its first row, from 1."""
        arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
        try:
            file = parquet.ParquetFile(path)
            self._hash_rows(file)
            metadata = file.metadata
            first = 1 + sum(metadata.row_group(i).num_rows for i in range(self.shard.begin))
            for group in range(self.shard.begin, self.shard.end or 0):
                for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                    yield first, batch
                    first += batch.num_rows
        except arrow.ArrowException as error:
            raise CorpusError(f"not Parquet: {error}", path) from error

    def _hash_rows(self, file: Any) -> None:
        """Take the bytes of the row groups' columns, and the schema."""
        metadata = file.metadata
        self._digest.update(str(file.schema_arrow).encode())
        with open(self.shard.paths[0], "rb") as raw:
            for group in range(self.shard.begin, self.shard.end or 0):
                for column in range(metadata.num_columns):
                    chunk = metadata.row_group(group).column(column)
                    raw.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
                    left = chunk.total_compressed_size
                    while left and (block := raw.read(min(left, _BLOCK))):
                        self._take(block)
                        left -= len(block)

    # Files

    def _file(self, path: str, options: dict[str, str]) -> Iterator[Plain | Document]:
        self._hash_file(path)
        ref = Reference(self.shard.format, path, options)
        if self.shard.format == "text" and not options:
            yield Plain(Path(path).name, whole(path, report=self.report))
            return
        corpus: Corpus = read(ref)
        yield from corpus.stream(self.report)

    def _hash_file(self, path: str) -> None:
        self._digest.update(path.encode("utf-8", "surrogateescape"))
        with open(path, "rb") as raw:
            while block := raw.read(_BLOCK):
                self._take(block)


def _lines_before(path: str, begin: int) -> int:
    """Return how many lines begin before a byte."""
    count, at, last = 0, 0, b"\n"
    with reading_bytes(path) as stream:
        while at < begin and (block := stream.read(min(begin - at, _BLOCK))):
            count += block.count(b"\n")
            at += len(block)
            last = block[-1:]
    return count + (last != b"\n")
