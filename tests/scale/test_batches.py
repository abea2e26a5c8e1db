"""Batches: the same bytes whatever happens on the way, and nothing done twice."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from spanloom import Recognizer, read, write
from spanloom.base.errors import CorpusError, ParameterError, SpanloomError
from spanloom.learning import LBFGS
from spanloom.scale import BatchReport, TagSettings, tag_files
from spanloom.scale.manifests import Manifest, place_of
from spanloom.scale.pool import run_here
from spanloom.scale.shards import Shard
from spanloom.scale.work import Work, tag_shard

from .conftest import outputs, records

SIZE = 8 << 10


def here(work: Work, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Manifest, float]]:
    """An engine without processes, for tests that are not about them."""
    return ((shard, *tag_shard(work, shard)) for shard in shards)


def run(loom: Path, inputs: Path, out: Path, **given: Any) -> BatchReport:
    given = {"engine": None if "jobs" in given else here, "shard_bytes": SIZE} | given
    return tag_files(loom, [f"{inputs}/**/*.jsonl*"], out, **given)


@pytest.fixture
def undisturbed(loom: Path, inputs: Path, tmp_path: Path) -> dict[str, bytes]:
    run(loom, inputs, tmp_path / "undisturbed")
    return outputs(tmp_path / "undisturbed")


@pytest.mark.slow
def test_outputs_are_those_of_the_library_for_any_number_of_jobs(loom: Path, inputs: Path, tmp_path: Path) -> None:
    reports = [run(loom, inputs, tmp_path / f"out{jobs}", jobs=jobs) for jobs in (1, 3)]
    one, three = (outputs(tmp_path / f"out{jobs}") for jobs in (1, 3))
    assert one == three
    assert {"a.jsonl", "sub/a.jsonl", "packed.jsonl.gz", "big.00000.jsonl", "big.00001.jsonl"} <= set(one)
    names = [name for name in one if not name.startswith("_spanloom")]
    found = b"".join(gzip.decompress(one[n]) if n.endswith("gz") else one[n] for n in names)
    files = [str(inputs / n) for n in ("a.jsonl", "big.jsonl", "packed.jsonl.gz", "sub/a.jsonl")]
    docs = [doc for path in files for doc in read(path)]
    ner = Recognizer.load(loom, threads=1)
    write(ner.stream(docs), tmp_path / "expected.jsonl", chars="yes")
    assert found == (tmp_path / "expected.jsonl").read_bytes()
    tagged = ner.predict(docs)
    for report in reports:
        assert report.documents == len(docs)
        assert report.words == sum(len(s) for doc in docs for s in doc.sentences)
        assert sum(report.mentions.values()) == sum(len(doc.mentions) for doc in tagged)
        assert (report.tagged, report.kept, report.skipped) == (len(names), 0, 0)
        assert all(shard["seconds"] > 0 for shard in report.shards)


def test_resuming_does_what_is_missing_and_redoes_what_changed(
    loom: Path, inputs: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    out = tmp_path / "undisturbed"
    with pytest.raises(ParameterError, match=r"resume=True does what is missing.*overwrite=True begins anew"):
        run(loom, inputs, out)
    assert run(loom, inputs, out, resume=True).tagged == 0
    (out / "a.jsonl").unlink()  # missing
    (out / "big.00001.jsonl").write_bytes(b"damaged")  # another size
    data = bytearray((out / "packed.jsonl.gz").read_bytes())
    data[20] ^= 1
    (out / "packed.jsonl.gz").write_bytes(data)  # the same size
    place_of(out, "big.00002.jsonl").write_text("{")  # an output without a manifest that can be read
    report = run(loom, inputs, out, resume=True)
    assert report.tagged == 4
    assert outputs(out) == undisturbed
    lines = (inputs / "sub" / "a.jsonl").read_text(encoding="utf-8")
    (inputs / "sub" / "a.jsonl").write_text(lines.replace("gene", "genf"), encoding="utf-8")  # as long as before
    assert run(loom, inputs, out, resume=True).tagged == 1
    assert outputs(out) != undisturbed
    (inputs / "sub" / "a.jsonl").write_text(lines, encoding="utf-8")
    assert run(loom, inputs, out, resume=True).tagged == 1
    assert outputs(out) == undisturbed


def test_other_settings_and_other_models_are_other_outputs(
    loom: Path, inputs: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    out = tmp_path / "undisturbed"
    count = len([name for name in undisturbed if not name.startswith("_")])
    more = run(loom, inputs, out, resume=True, settings=TagSettings(penalty="20.0"))
    assert more.tagged == count
    plain = Recognizer.load(loom, threads=1)
    expected = Recognizer.load(loom, threads=1).set_mention_penalty(20.0)
    docs = list(read(inputs / "a.jsonl"))
    assert [d.mentions for d in read(out / "a.jsonl")] == [d.mentions for d in expected.predict(docs)]
    assert [d.mentions for d in plain.predict(docs)] != [d.mentions for d in expected.predict(docs)]
    other = tmp_path / "other.loom"
    expected.save(other)
    assert run(other, inputs, out, resume=True).tagged == count
    assert run(other, inputs, out, resume=True).tagged == 0
    assert run(other, inputs, out, overwrite=True).tagged == count


def test_outputs_whose_input_is_gone_are_removed(loom: Path, inputs: Path, tmp_path: Path) -> None:
    """They would be counted beside the others: a file that grew has other shards."""
    out = tmp_path / "out"
    run(loom, inputs, out)
    (inputs / "a.jsonl").write_text("".join(records(2)), encoding="utf-8")
    (inputs / "sub" / "a.jsonl").unlink()
    report = run(loom, inputs, out, resume=True)
    assert sorted(report.removed) == ["a.jsonl", "sub/a.jsonl"]
    run(loom, inputs, tmp_path / "fresh")
    assert outputs(out) == outputs(tmp_path / "fresh")


def workers_of(process: int) -> list[int]:
    """The workers that a process has started."""
    found = subprocess.run(["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process)], capture_output=True, text=True)
    assert not found.stderr, found.stderr
    return [int(line.split()[0]) for line in found.stdout.splitlines() if "spanloom.scale.worker" in line]


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_one_attempt(
    loom: Path, inputs: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    killed: list[int] = []
    lost: list[str] = []

    def kill(*_: int) -> None:
        children = [pid for pid in workers_of(os.getpid()) if pid not in killed]
        if len(killed) < 2 and children:
            killed.append(children[0])
            os.kill(killed[-1], signal.SIGKILL)

    report = run(
        loom, inputs, tmp_path / "out", jobs=2, progress=kill, lost=lambda shard, attempt: lost.append(shard.name)
    )
    assert len(killed) == 2
    assert outputs(tmp_path / "out") == undisturbed
    assert report.tagged == len(report.shards)


SCRIPT = """
from spanloom import Recognizer
from spanloom.scale import tag_files

print("the script runs")
print("worker prints" if __name__ != "__main__" else "")
model = {model!r} if {jobs} == 1 else Recognizer.load({model!r})
report = tag_files(model, [{inputs!r}], {out!r}, jobs={jobs}, shard_bytes=8192)
print(report.tagged)
"""


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_plain_script_needs_no_guard(loom: Path, inputs: Path, tmp_path: Path, jobs: int) -> None:
    """Workers do not run the script that started them; one job has none. Recognisers in memory are sent to them."""
    given = {"model": str(loom), "inputs": f"{inputs}/**/*.jsonl*", "out": str(tmp_path / "out"), "jobs": jobs}
    (tmp_path / "script.py").write_text(SCRIPT.format(**given), encoding="utf-8")
    done = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    expected = run(loom, inputs, tmp_path / "expected")
    assert done.stdout.split() == ["the", "script", "runs", str(expected.tagged)]
    there, here = outputs(tmp_path / "out"), outputs(tmp_path / "expected")
    assert {k: v for k, v in there.items() if k[0] != "_"} == {k: v for k, v in here.items() if k[0] != "_"}


def test_errors_of_workers_are_raised_here(loom: Path, inputs: Path, tmp_path: Path) -> None:
    (inputs / "a.jsonl").write_text('{"text": "The IL-2 gene."}\n{"text": 7}\n', encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: ") as raised:
        run(loom, inputs, tmp_path / "out", jobs=2)
    assert "tag_shard" in str(raised.value.__cause__)
    assert workers_of(os.getpid()) == []


class Deadly(Shard):
    """A shard that ends the process that takes it."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return os._exit, (9,)


def test_a_shard_that_kills_every_worker_ends_the_run(
    loom: Path, inputs: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    lost: list[tuple[str, int]] = []

    def engine(work: Work, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Manifest, float]]:
        first, *rest = shards
        deadly = Deadly(**{field.name: getattr(first, field.name) for field in fields(first)})
        return run_here(work, [deadly, *rest], 1, lost=lambda shard, attempt: lost.append((shard.name, attempt)))

    with pytest.raises(SpanloomError, match=r"died 3 times.*try fewer jobs\. .*resume=True\."):
        run(loom, inputs, tmp_path / "out", engine=engine)
    assert [attempt for _, attempt in lost] == [1, 2, 3]
    assert len({name for name, _ in lost}) == 1
    run(loom, inputs, tmp_path / "out", resume=True)
    assert outputs(tmp_path / "out") == undisturbed


def test_a_bad_record_stops_or_is_skipped(loom: Path, inputs: Path, tmp_path: Path) -> None:
    lines = (inputs / "big.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    good = list(lines)
    at = len(lines) - 5
    lines[at] = '{"text": 7}\n'
    (inputs / "big.jsonl").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"big\.jsonl:{at + 1}: "):
        run(loom, inputs, tmp_path / "out")
    report = run(loom, inputs, tmp_path / "out", resume=True, settings=TagSettings(skip=True))
    assert report.skipped == 1
    assert [one["where"] for one in report.problems] == [f"{inputs}/big.jsonl:{at + 1}"]
    assert report.kept > 0  # what was done before is the same with and without skipping
    again = run(loom, inputs, tmp_path / "out", resume=True, settings=TagSettings(skip=True))
    assert (again.tagged, again.skipped, again.problems) == (0, 1, report.problems)
    del good[at]
    tag_files(
        loom, [f"{inputs}/big.jsonl"], tmp_path / "part", shard_bytes=SIZE, settings=TagSettings(skip=True), engine=here
    )
    found = b"".join(path.read_bytes() for path in sorted((tmp_path / "part").glob("big*")))
    (tmp_path / "good.jsonl").write_text("".join(good), encoding="utf-8")
    tag_files(loom, [f"{tmp_path}/good.jsonl"], tmp_path / "whole", engine=here)
    assert found == (tmp_path / "whole" / "good.jsonl").read_bytes()


def test_no_probabilities_and_a_least_one_exclude_each_other() -> None:
    with pytest.raises(ParameterError, match="leave out probabilities=False"):
        TagSettings(above=0.2, probabilities=False)


def test_a_damaged_input_shard_can_be_mended(
    loom: Path, inputs: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    whole = (inputs / "packed.jsonl.gz").read_bytes()
    (inputs / "packed.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=r"packed\.jsonl\.gz: cannot be unpacked"):
        run(loom, inputs, tmp_path / "out")
    skipping = run(loom, inputs, tmp_path / "other", settings=TagSettings(skip=True))
    assert skipping.skipped >= 1
    assert len(gzip.decompress((tmp_path / "other" / "packed.jsonl.gz").read_bytes())) > 0
    (inputs / "packed.jsonl.gz").write_bytes(whole)
    run(loom, inputs, tmp_path / "out", resume=True)
    assert outputs(tmp_path / "out") == undisturbed


def test_two_runs_do_not_share_a_folder(loom: Path, inputs: Path, tmp_path: Path) -> None:
    def meddle(*_: int) -> None:
        with pytest.raises(SpanloomError, match="another run is writing"):
            run(loom, inputs, tmp_path / "out", resume=True)

    run(loom, inputs, tmp_path / "out", progress=meddle)


def test_what_is_found_done_does_not_shorten_the_time_that_is_left(loom: Path, inputs: Path, tmp_path: Path) -> None:
    """Bytes are of what this run tags: one of the shards."""
    report = run(loom, inputs, tmp_path / "out")
    (tmp_path / "out" / "a.jsonl").unlink()
    told: list[tuple[int, ...]] = []
    again = run(loom, inputs, tmp_path / "out", resume=True, progress=lambda *numbers: told.append(numbers))
    words = next(shard["words"] for shard in report.shards if shard["name"] == "a.jsonl")
    size, shards = (inputs / "a.jsonl").stat().st_size, len(report.shards)
    assert (again.tagged, again.kept) == (1, shards - 1)
    assert told[-1] == (words, size, size, shards, shards)


def test_shards_that_were_done_beside_a_failing_one_are_counted(loom: Path, inputs: Path, tmp_path: Path) -> None:
    """As in processes: three outputs are there, one was given when another shard failed. The next run finds three."""
    told: list[tuple[int, ...]] = []

    def engine(work: Work, shards: Sequence[Shard]) -> Iterator[tuple[Shard, Manifest, float]]:
        done = [(shard, *tag_shard(work, shard)) for shard in shards[:3]]
        yield done[0]
        raise CorpusError("not JSON")

    with pytest.raises(CorpusError, match="not JSON"):
        run(loom, inputs, tmp_path / "out", engine=engine, progress=lambda *numbers: told.append(numbers))
    assert told[-1][3] == 3
    assert run(loom, inputs, tmp_path / "out", resume=True).kept == 3


def test_progress_is_over_all_shards(loom: Path, inputs: Path, tmp_path: Path) -> None:
    told: list[tuple[int, ...]] = []
    report = run(loom, inputs, tmp_path / "out", jobs=1, progress=lambda *numbers: told.append(numbers))
    words, size, total, done, count = told[-1]
    assert (words, size, done) == (report.words, total, count)
    assert [row[0] for row in told if row[3]] == sorted(row[0] for row in told if row[3])


@pytest.mark.parametrize("settings", [TagSettings("mentions"), TagSettings(probabilities=True), TagSettings(k=2)])
def test_other_outputs_are_those_of_the_command(
    loom: Path, inputs: Path, tmp_path: Path, settings: TagSettings
) -> None:
    ner = Recognizer.load(loom, threads=1)
    docs = list(read(inputs / "a.jsonl"))
    report = tag_files(loom, [f"{inputs}/a.jsonl"], tmp_path / "out", settings=settings, engine=here)
    found = [json.loads(line) for line in (tmp_path / "out" / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    expected = ner.predict(docs, probabilities=settings.probabilities)
    assert [len(record["mentions"]) for record in found] == [len(doc.mentions) for doc in expected]
    assert report.words == sum(len(s) for doc in docs for s in doc.sentences)
    for record, doc in zip(found, expected, strict=True):
        if settings.format == "mentions":
            assert set(record) == {"id", "mentions"}
        elif settings.k:
            assert [s[0]["prob"] for s in record["k_best"]] == [ner.k_best(s, 1)[0][0] for s in doc.sentences]
        else:
            assert [m["prob"] for m in record["mentions"]] == [m.prob for m in doc.mentions]


def test_records_of_any_shape(loom: Path, tmp_path: Path) -> None:
    rows = [{"pmid": 7, "title": "IL-2", "abstract": "The IL-2 gene.", "year": 1999}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    tag_files(loom, [f"jsonl:{tmp_path}/a.jsonl?text=title,abstract&id=pmid"], tmp_path / "out", engine=here)
    (doc,) = read(tmp_path / "out" / "a.jsonl")
    assert (doc.id, doc.text, doc.meta) == ("7", "IL-2\nThe IL-2 gene.", {"year": 1999})


def test_text_files_become_documents(loom: Path, tmp_path: Path) -> None:
    for k in range(3):
        (tmp_path / f"{k}.txt").write_text(f"The IL-{k} gene.", encoding="utf-8")
    report = tag_files(loom, [f"{tmp_path}/*.txt"], tmp_path / "out", engine=here)
    found = list(read(tmp_path / "out" / "all.00000.jsonl"))
    assert [doc.id for doc in found] == ["0.txt", "1.txt", "2.txt"]
    assert report.documents == 3


@pytest.mark.parametrize("probabilities", [False, True])
def test_texts_are_cut_as_the_model_cuts_them(tmp_path: Path, probabilities: bool) -> None:
    """By the tokenizer of the model, or the one of the command, on the short way and through objects."""
    docs = list(read("sample:train"))
    ner = Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=3), tokenizer="space", threads=1).fit(docs)
    ner.save(tmp_path / "space.loom")
    text = "The IL-2-dependent gene (p53)."
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    for number, tokenizer in enumerate((None, "default")):
        settings = TagSettings(tokenizer=tokenizer, k=1 if probabilities else None)
        tag_files(
            tmp_path / "space.loom", [f"{tmp_path}/a.jsonl"], tmp_path / f"{number}", settings=settings, engine=here
        )
        record = json.loads((tmp_path / f"{number}" / "a.jsonl").read_text(encoding="utf-8"))
        loaded = Recognizer.load(tmp_path / "space.loom", tokenizer=tokenizer, threads=1)
        assert record["tokens"] == loaded.predict(text).tokens
        assert (record["tokens"] == text.split()) == (tokenizer is None)


def test_workers_know_models_of_other_modules(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of somebody's own, in a module beside the script, and a recogniser that is in no file."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom spanloom.models import Chain\n\n\n"
        "@dataclass(frozen=True)\nclass Mine(Chain):\n    name = 'mine'\n"
    )
    script = (
        "from mine import Mine\nfrom spanloom import Recognizer, read\nfrom spanloom.scale import tag_files\n"
        "from spanloom.learning import LBFGS\n"
        "ner = Recognizer(Mine(), keep='longest', trainer=LBFGS(max_iter=2)).fit(read('sample:train?domain=news'))\n"
        f"print(tag_files(ner, [{str(inputs)!r}], {str(tmp_path / 'out')!r}, jobs=2).documents)\n"
    )
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
