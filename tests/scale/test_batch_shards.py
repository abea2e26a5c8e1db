"""Shards have every record once, in order, wherever files are cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.formats.report import Report
from spanloom.scale.reading import ShardReader
from spanloom.scale.shards import plan

LINES = st.lists(st.text(alphabet="aü\r", max_size=30), max_size=30)


@given(LINES, st.integers(1, 70), st.booleans(), st.booleans())
@example(lines=[], size=1, packed=True, ends=False)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_line_is_in_one_shard(tmp_path: Path, lines: list[str], size: int, packed: bool, ends: bool) -> None:
    data = "\n".join(lines).encode() + (b"\n" if ends else b"")
    path = tmp_path / ("x.jsonl.gz" if packed else "x.jsonl")
    path.write_bytes(gzip.compress(data) if packed else data)
    shards = plan([str(path)], size)
    found = [list(ShardReader(shard, Report())._lines()) for shard in shards]
    assert b"".join(line for own in found for line in own) == data
    assert [line for own in found for line in own] == data.splitlines(keepends=True) or b"\r" in data
    assert shards[-1].end is None
    if not packed:
        assert all(sum(map(len, own)) <= size + 60 for own in found)


def test_names_tell_files_apart(tmp_path: Path) -> None:
    for name in ("a/x.jsonl", "b/x.jsonl.gz", "b/y.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(b"{}\n") if name.endswith("gz") else b"{}\n" * 10)
    assert [s.name for s in plan([f"{tmp_path}/*/*"], 25)] == [
        "a/x.00000",
        "a/x.00001",
        "b/x",
        "b/y.00000",
        "b/y.00001",
    ]
    assert [s.name for s in plan([f"{tmp_path}/b/y.jsonl"])] == ["y"]


def test_small_files_of_other_formats_go_together(tmp_path: Path) -> None:
    for k in range(5):
        (tmp_path / f"{k}.txt").write_text("x" * 10)
    shards = plan([f"{tmp_path}/*.txt"], 25)
    assert [[Path(p).name for p in shard.paths] for shard in shards] == [
        ["0.txt", "1.txt"],
        ["2.txt", "3.txt"],
        ["4.txt"],
    ]
    assert [s.name for s in shards] == ["all.00000", "all.00001", "4"]


@pytest.mark.parametrize(
    ("refs", "message"),
    [
        (["-"], "standard input|cannot tell"),
        (["jsonl:-"], "standard input cannot be cut"),
        (["sample:dev"], "convert them first"),
        (["jsonl:x.jsonl?align=expand"], "options text and id, not 'align'"),
        (["x.jsonl", "./x.jsonl"], "is named twice"),
        (["x.jsonl", "x.jsonl.gz"], "would both be written to x"),
    ],
)
def test_what_cannot_be_cut_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refs: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").write_text("{}\n")
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(ParameterError, match=message):
        plan(refs)


def test_places_of_errors_are_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a b"}\n' * 7 + "nonsense\n" + '{"text": "a"}\n' * 3)
    last = plan([str(path)], 50)
    bad = next(shard for shard in last if b"nonsense\n" in list(ShardReader(shard, Report())._lines()))
    assert bad.begin > 0
    with pytest.raises(CorpusError, match=r"x\.jsonl:8: not JSON"):
        list(ShardReader(bad, Report()).items())
    report = Report(strict=False)
    list(ShardReader(bad, report).items())
    assert [problem.where for problem in report.problems] == [f"{path}:8"]
