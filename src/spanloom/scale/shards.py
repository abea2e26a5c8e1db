"""Input files become shards: pieces that are tagged one by one, cut at record borders.

Where files are cut depends on the files and the size of shards only, never on the number of workers. A shard of a file
of lines has the lines that *begin* within a range of bytes (unpacked ones of a packed file), so that nobody has to read
a file to cut it. Parquet files are cut between row groups. Small files of other formats go together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Literal

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.extras import need
from spanloom.base.wording import spoken
from spanloom.formats.compression import reading_bytes
from spanloom.formats.reading import takes_folders
from spanloom.formats.reference import Reference, bare
from spanloom.formats.shards import files_of

SHARD_BYTES = 64 << 20
"""The usual size of a shard."""
PACKED_PIECES = 16
"""A packed file is cut into no more pieces than these: each has to unpack what comes before it."""

Kind = Literal["lines", "rows", "files"]


@dataclass(frozen=True, slots=True)
class Shard:
    """A piece of the input.

    Attributes
    ----------
    kind
        ``"lines"`` of one file, ``"rows"`` of one Parquet file, or whole ``"files"`` of any other format.
    format, options
        Those of the reference.
    paths
        The file; of ``"files"`` several.
    begin, end
        Bytes of lines, or numbers of row groups; ``end`` None: to the end of the file.
    size
        About how many bytes it has, for progress.
    name
        Of the output, without its ending: the path below the folder that all inputs share, and a number if the file is
        cut.
    """

    kind: Kind
    format: str
    options: tuple[tuple[str, str], ...]
    paths: tuple[str, ...]
    begin: int
    end: int | None
    size: int
    name: str

    def to_json(self) -> dict[str, Any]:
        """Return where it is as JSON, without what only progress needs."""
        record = asdict(self)
        del record["size"], record["name"]
        return {**record, "options": dict(self.options), "paths": list(self.paths)}


def plan(refs: Sequence[str], size: int = SHARD_BYTES) -> list[Shard]:
    """Return the shards of corpora, in the order of references, files and records.

    Parameters
    ----------
    refs
        Files, patterns, folders or references of formats whose files stand by themselves, not standard input.
    size
        Files with more bytes are cut; shards have about as many bytes, or more where records and row groups are larger.
    """
    if size < 1:
        raise ParameterError(f"the size of shards must be at least 1 byte, got {size}")
    found: list[tuple[Reference, str]] = []
    for text in refs:
        ref = _checked(text)
        found += [(ref, path) for path in files_of(ref)]
    twice = [path for path, same in groupby(sorted(os.path.realpath(p) for _, p in found)) if len(list(same)) > 1]
    if twice:
        raise ParameterError(f"{twice[0]} is named twice in the input; its documents would be counted twice")
    above = _shared_folder([path for _, path in found])
    shards: list[Shard] = []
    for ref, group in groupby(found, key=lambda pair: pair[0]):
        paths = [path for _, path in group]
        if ref.format == "jsonl":
            shards += [one for path in paths for one in _of_lines(ref, path, above, size)]
        elif ref.format == "parquet":
            shards += [one for path in paths for one in _of_rows(ref, path, above, size)]
        else:
            shards += _of_files(ref, paths, above, size)
    _check_names(shards)
    return shards


def is_cut(ref: Reference) -> bool:
    """Whether the documents of a reference are in files that stand by themselves."""
    return ref.path != "-" and not takes_folders(ref.format) and ref.format not in ("sample", "huggingface", "spacy")


def _checked(text: str) -> Reference:
    ref = Reference.parse(text)
    if ref.path == "-":
        way = spoken(", or one output file without --jobs and --resume", "")
        raise ParameterError(f"standard input cannot be cut into shards; give files{way}")
    if not is_cut(ref):
        raise ParameterError(
            f"{text}: documents of the format {ref.format} are not in files that stand by themselves; convert them "
            "first: spanloom convert FROM to.jsonl"
        )
    if ref.format in ("jsonl", "parquet") and not {"text", "id"}.issuperset(ref.options):
        other = next(name for name in ref.options if name not in ("text", "id"))
        raise ParameterError(f"{text}: of {ref.format}, shards take the options text and id, not {other!r}")
    return ref


def _of_lines(ref: Reference, path: str, above: Path, size: int) -> list[Shard]:
    length = os.path.getsize(path)
    cuts = [0]
    if length > size:
        if bare(path) != path:
            length = _unpacked(path)
            size = max(size, -(-length // PACKED_PIECES))
        cuts = list(range(0, length, size)) or [0]  # a packed file may hold nothing
    options = tuple(sorted(ref.options.items()))
    numbers = [""] if len(cuts) == 1 else [f".{k:05d}" for k in range(len(cuts))]
    return [
        Shard("lines", ref.format, options, (path,), begin, end, (end or length) - begin, _name(path, above) + number)
        for (begin, end), number in zip(pairwise([*cuts, None]), numbers, strict=True)
        if begin is not None
    ]


def _unpacked(path: str) -> int:
    """Return how many bytes a packed file has; it is read once."""
    length = 0
    with reading_bytes(path) as stream:
        while block := stream.read(1 << 20):
            length += len(block)
    return length


def _of_rows(ref: Reference, path: str, above: Path, size: int) -> list[Shard]:
    """Row groups together until they have so many bytes."""
    parquet = need("pyarrow.parquet", "parquet")
    try:
        metadata = parquet.ParquetFile(path).metadata
    except need("pyarrow", "parquet").ArrowException as error:
        raise CorpusError(f"not Parquet: {error}", path) from error
    sizes = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
    cuts, within = [0], 0
    for i, own in enumerate(sizes):
        if within and within + own > size:
            cuts.append(i)
            within = 0
        within += own
    bounds = list(pairwise([*cuts, len(sizes)]))
    options = tuple(sorted(ref.options.items()))
    return [
        Shard(
            "rows", ref.format, options, (path,), begin, end, sum(sizes[begin:end]),
            _name(path, above) + (f".{k:05d}" if len(bounds) > 1 else ""),
        )
        for k, (begin, end) in enumerate(bounds)
    ]  # fmt: skip


def _of_files(ref: Reference, paths: Sequence[str], above: Path, size: int) -> list[Shard]:
    """Whole files together until they have so many bytes."""
    groups: list[list[str]] = []
    within = size + 1
    for path in paths:
        own = os.path.getsize(path)
        if within + own > size:
            groups.append([])
            within = 0
        groups[-1].append(path)
        within += own
    options = tuple(sorted(ref.options.items()))
    place = _name(os.path.commonpath([os.path.abspath(os.path.dirname(p) or ".") for p in paths]) + "/all", above)
    shards = []
    for k, group in enumerate(groups):
        name = _name(group[0], above) if len(group) == 1 else f"{place}.{k:05d}"
        length = sum(map(os.path.getsize, group))
        shards.append(Shard("files", ref.format, options, tuple(group), 0, len(group), length, name))
    return shards


def _shared_folder(paths: Sequence[str]) -> Path:
    return Path(os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths]))


def _name(path: str, above: Path) -> str:
    """Return a path below a folder without the endings that tell format and compression."""
    inside = Path(bare(os.path.relpath(os.path.abspath(path), above)))
    return str(inside.with_suffix(""))


def _check_names(shards: Sequence[Shard]) -> None:
    first: dict[str, Shard] = {}
    for shard in shards:
        other = first.setdefault(shard.name, shard)
        if other is not shard:
            raise ParameterError(
                f"{other.paths[0]} and {shard.paths[0]} would both be written to {shard.name}; rename one of them"
            )
