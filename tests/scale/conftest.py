"""What the tests of scale share: a small model and small shards."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from spanloom import Recognizer, read
from spanloom.learning import LBFGS


@pytest.fixture(scope="session")
def loom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file."""
    path = tmp_path_factory.mktemp("model") / "m.loom"
    Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=30), threads=1).fit(read("sample:train")).save(path)
    return path


def records(repeat: int = 1) -> list[str]:
    """Lines of JSON with the texts of the sample."""
    texts = [sentence.text for doc in read("sample:train") for sentence in doc.sentences]
    return [
        json.dumps({"id": f"{i}", "text": text, "meta": {"n": i}}, ensure_ascii=False) + "\n"
        for i, text in enumerate(texts * repeat)
    ]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder of four files, one of them packed, one large enough to be cut into shards of 8 kB."""
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    lines = records()
    (folder / "a.jsonl").write_text("".join(lines[:20]), encoding="utf-8")
    (folder / "big.jsonl").write_text("".join(records(4)), encoding="utf-8")
    (folder / "sub" / "a.jsonl").write_text("".join(lines[20:40]), encoding="utf-8")
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress("".join(lines[40:]).encode(), mtime=0))
    return folder


def outputs(out: Path) -> dict[str, bytes]:
    """Everything in a folder of outputs but what has to do with the clock."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in ("times.jsonl", "report.json", "lock")
    }
