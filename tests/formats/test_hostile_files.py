"""Files from strangers take time and memory in proportion to their size, or are refused with a reason."""

from __future__ import annotations

import gzip
import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from spanloom import CorpusError, read
from spanloom.base.errors import ParameterError
from spanloom.features.grammar import parse_template
from spanloom.formats import compression
from spanloom.formats.huggingface import from_dataset
from spanloom.formats.raw import MOST_BLANKS

BLANKS = " " * 100_000


def processor_seconds(ref: str) -> float:
    """How long reading takes, whether or not it ends with an error."""
    began = time.process_time()
    with suppress(CorpusError):
        list(read(ref))
    return time.process_time() - began


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.conllu", f"#{BLANKS}\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"),
        ("a.conll", f"#{BLANKS}x\nMara B-PER\n"),
        ("a.conllu", f"# global.Entity = GRP-etype\n1\ta\t_\t_\t_\t_\t0\troot\t_\tEntity={'a' * 100_000}\n\n"),
    ],
    ids=["comment of blanks", "comment of blanks in columns", "brackets that never open"],
)
def test_long_lines_take_linear_time(tmp_path: Path, name: str, content: str) -> None:
    """Each took minutes when it was searched by a pattern that tries every way to share out the blanks."""
    (tmp_path / name).write_text(content)
    assert processor_seconds(str(tmp_path / name)) < 1


@pytest.mark.parametrize(
    "inside",
    [
        "<sentence>" * 20_000,
        f"<bibliomisc>{BLANKS}x<sentence>a</sentence>",
        f"<sentence><cons{BLANKS}>a</cons></sentence>",
    ],
    ids=["sentences that never end", "an id of blanks", "an element of blanks"],
)
def test_markup_takes_linear_time(tmp_path: Path, inside: str) -> None:
    (tmp_path / "GENIAcorpus3.02.xml").write_text(f"<set><article>{inside}</article></set>")
    assert processor_seconds(f"genia:{tmp_path}") < 1


@pytest.mark.parametrize(("format", "field"), [("jsonl", "meta"), ("prodigy", "meta"), ("doccano", "x")])
def test_deep_json_is_refused(tmp_path: Path, format: str, field: str) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"text": "a", "{field}": {"[" * 200}1{"]" * 200}}}\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl:1: not JSON that can be read: nested deeper than 100 levels"):
        list(read(f"{format}:{tmp_path / 'a.jsonl'}"))


def test_json_of_a_hundred_levels_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"text": "a", "meta": {{"x": {"[" * 98}1{"]" * 98}}}}}\n')
    (doc,) = read(tmp_path / "a.jsonl")
    assert str(doc.meta["x"]).count("[") == 98


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are lowered, so that the bomb may be small; a text that grows as usual is read."""
    monkeypatch.setattr(compression, "ROOM", 1 << 16)
    path = tmp_path / f"a.jsonl{ending}"
    packed = {"bomb": b" " * (1 << 22), "text": "".join(f'{{"text":"{n} {n * n}"}}\n' for n in range(999)).encode()}
    for name, content in packed.items():
        if ending == ".gz":
            path.write_bytes(gzip.compress(content))
        else:
            path.write_bytes(pytest.importorskip("zstandard").compress(content))
        if name == "bomb":
            with pytest.raises(CorpusError, match=r"a\.jsonl\.\w+: the file has .* bytes and unpacks to more than"):
                list(read(path))
        else:
            assert len(list(read(path))) == 999


def test_xml_entities_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("bioc")
    inner = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9)
    )
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / "a.xml").write_text(f"<!DOCTYPE collection [{inner}]><collection>&j;</collection>", encoding)
        with pytest.raises(CorpusError, match="declares XML entities"):
            list(read(f"bioc:{tmp_path / 'a.xml'}"))


@pytest.mark.parametrize("offset", [MOST_BLANKS + 2, 10**13])
def test_a_passage_far_away_is_refused(tmp_path: Path, offset: int) -> None:
    """Its offset alone would make a text of so many blanks."""
    passage = {"id": "p", "type": "t", "text": ["a"], "offsets": [[offset, offset + 1]]}
    with pytest.raises(CorpusError, match="a passage at character"):
        list(from_dataset([{"id": "1", "document_id": "d", "passages": [passage], "entities": []}]))
    pytest.importorskip("bioc")
    record = {"offset": offset, "infons": {}, "text": "a", "sentences": [], "annotations": [], "relations": []}
    document = {"id": "1", "infons": {}, "passages": [record], "annotations": [], "relations": []}
    collection = {"source": "", "date": "", "key": "", "infons": {}, "documents": [document]}
    (tmp_path / "a.json").write_text(json.dumps(collection))
    with pytest.raises(CorpusError, match="a passage at character"):
        list(read(f"bioc:{tmp_path / 'a.json'}"))


def test_a_template_may_not_be_endless() -> None:
    with pytest.raises(ParameterError, match="has 20005 characters; at most 10000 are allowed"):
        parse_template("word[" + " " * 20_000)
