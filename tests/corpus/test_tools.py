"""Formats of annotation tools and data libraries: files of their documented shapes, round trips, and nonsense."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, Report, Sentence, read, write
from tests.formats.random_documents import documents, everything

TEXT = "XY-7 gene binds zin."
CHARS = [("DNA", "XY-7 gene"), ("protein", "XY-7"), ("protein", "zin")]


def surfaces(doc: Document) -> list[tuple[str, str]]:
    return sorted((m.label, doc.surface(m)) for m in doc.mentions)


def one(folder: Path, name: str, content: str, ref: str, **options: str) -> Document:
    (folder / name).write_text(content, encoding="utf-8")
    (doc,) = read(f"{ref}:{folder / name}", **options)
    return doc


def test_prodigy(tmp_path: Path) -> None:
    record = {
        "text": TEXT,
        "_input_hash": 1,
        "_task_hash": 2,
        "tokens": [
            {"text": "XY-7", "start": 0, "end": 4, "id": 0, "ws": True},
            {"text": "gene", "start": 5, "end": 9, "id": 1, "ws": True},
            {"text": "binds", "start": 10, "end": 15, "id": 2, "ws": True},
            {"text": "zin", "start": 16, "end": 19, "id": 3, "ws": False},
            {"text": ".", "start": 19, "end": 20, "id": 4, "ws": False},
        ],
        "spans": [
            {"start": 0, "end": 9, "token_start": 0, "token_end": 1, "label": "DNA"},
            {"start": 0, "end": 4, "token_start": 0, "token_end": 0, "label": "protein", "source": "rules"},
            {"start": 16, "end": 19, "label": "protein"},
        ],
        "meta": {"id": "p1"},
        "answer": "accept",
    }
    doc = one(tmp_path, "a.jsonl", json.dumps(record), "prodigy")
    assert doc.tokens == ["XY-7", "gene", "binds", "zin", "."]
    assert surfaces(doc) == CHARS
    assert doc.mentions[1].attributes == {"source": "rules"}
    assert doc.id == "p1"
    record["answer"] = "reject"
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    assert list(read(f"prodigy:{tmp_path}/a.jsonl", answers="accept")) == []


@pytest.mark.parametrize(
    "record",
    [
        {"id": 7, "text": TEXT, "label": [[0, 9, "DNA"], [0, 4, "protein"], [16, 19, "protein"]]},
        {
            "id": 7,
            "text": TEXT,
            "entities": [
                {"id": 1, "label": "DNA", "start_offset": 0, "end_offset": 9},
                {"id": 2, "label": "protein", "start_offset": 0, "end_offset": 4},
                {"id": 3, "label": "protein", "start_offset": 16, "end_offset": 19},
            ],
            "relations": [{"id": 4, "from_id": 1, "to_id": 3, "type": "binds"}],
        },
    ],
)
def test_doccano(tmp_path: Path, record: dict[str, Any]) -> None:
    doc = one(tmp_path, "a.jsonl", json.dumps(record), "doccano")
    assert surfaces(doc) == CHARS
    assert doc.id == "7"
    if "relations" in record:
        assert doc.meta["relations"] == record["relations"]
        assert doc.mentions[0].attributes == {"id": "1"}


def test_labelstudio_array_with_cancelled_annotation_and_two_labels(tmp_path: Path) -> None:
    def region(start: int, end: int, *labels: str) -> dict[str, Any]:
        value = {"start": start, "end": end, "text": TEXT[start:end], "labels": list(labels)}
        return {"id": f"{start}", "from_name": "label", "to_name": "text", "type": "labels", "value": value}

    tasks = [
        {
            "id": 9,
            "data": {"text": TEXT, "source": "x"},
            "annotations": [
                {"was_cancelled": True, "result": [region(10, 15, "bad")]},
                {"result": [region(0, 9, "DNA"), region(0, 4, "protein"), region(16, 19, "protein", "drug")]},
            ],
        }
    ]
    doc = one(tmp_path, "a.json", json.dumps(tasks, indent=1), "labelstudio")
    assert surfaces(doc) == sorted([*CHARS, ("drug", "zin")])
    assert doc.meta == {"source": "x"}


PUBTATOR = f"""12|t|{TEXT}
12|a|All of XY-7 was lost.
12\t0\t9\tXY-7 gene\tDNA\tD001
12\t0\t4\tXY-7\tprotein
12\t16\t19\tzin\tprotein
12\t28\t32\tXY-7\tprotein\tP1
12\tbinds\tD001\tP1

13|t|Next.
"""


def test_pubtator(tmp_path: Path) -> None:
    path = tmp_path / "a.pubtator"
    path.write_text(PUBTATOR)
    first, second = read(path)
    assert first.text == f"{TEXT}\nAll of XY-7 was lost."
    assert surfaces(first) == sorted([*CHARS, ("protein", "XY-7")])
    assert first.mentions[0].attributes == {"id": "D001"}
    assert first.meta == {"relations": ["binds\tD001\tP1"]}
    assert (second.id, second.text) == ("13", "Next.")
    write([first, second], tmp_path / "b.pubtator")
    assert (tmp_path / "b.pubtator").read_text().split() == PUBTATOR.split()


BIOC = f"""<?xml version='1.0' encoding='utf-8' standalone='yes'?>
<collection><source>s</source><date>d</date><key>k</key><document><id>b1</id>
<passage><infon key="section">title</infon><offset>0</offset><text>{TEXT}</text>
<annotation id="T1"><infon key="type">DNA</infon><location offset="0" length="9"/><text>XY-7 gene</text></annotation>
<annotation id="T2"><infon key="type">protein</infon><infon key="db">x</infon><location offset="0" length="4"/>
<text>XY-7</text></annotation></passage>
<passage><offset>21</offset><text>Both bind zin now.</text>
<annotation id="T3"><infon key="type">pair</infon><location offset="21" length="4"/><location offset="31" length="3"/>
<text>Both zin</text></annotation></passage>
<relation id="R1"><infon key="type">of</infon><node refid="T1" role="a"/><node refid="T2" role="b"/></relation>
</document></collection>"""


def test_bioc(tmp_path: Path) -> None:
    pytest.importorskip("bioc")
    doc = one(tmp_path, "a.xml", BIOC, "bioc")
    assert doc.id == "b1"
    assert doc.text == f"{TEXT}\nBoth bind zin now."
    assert surfaces(doc) == [("DNA", "XY-7 gene"), ("pair", "Both … zin"), ("protein", "XY-7")]
    assert doc.mentions[1].attributes == {"db": "x", "id": "T2"}
    for name in ("b.xml", "b.json"):
        write([doc], f"bioc:{tmp_path / name}")
        assert everything(list(read(f"bioc:{tmp_path / name}"))) == everything([doc])


# name: (file, package that it needs, holds discontinuous mentions, keeps tokens and everything else)
TOOLS = {
    "prodigy": ("a.jsonl", None, False, False),
    "doccano": ("a.jsonl", None, False, False),
    "labelstudio": ("a.jsonl", None, False, False),
    "pubtator": ("a.pubtator", None, False, False),
    "bioc": ("a.xml", "bioc", True, False),
    "spacy": ("a.spacy", "spacy", True, False),
    "parquet": ("a.parquet", "pyarrow", True, True),
}


def characters(docs: list[Document]) -> list[object]:
    return [(d.id, d.text, sorted((m.label, d.chars(m)) for m in d.mentions)) for d in docs]


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_round_trip_or_refusal(tool: str, data: st.DataObject) -> None:
    name, package, discontinuous, whole = TOOLS[tool]
    if package:
        pytest.importorskip(package)
    docs = data.draw(documents("any", rich=whole, gap=None if whole else " "))
    fits = discontinuous or not any(m.discontinuous for d in docs for m in d.mentions)
    with tempfile.TemporaryDirectory() as folder:
        ref = f"{tool}:{folder}/{name}"
        if not fits:
            with pytest.raises(CorpusError, match="lossy=contiguous"):
                write(docs, ref)
            assert not Path(folder, name).exists()
            return
        write(docs, ref)
        options = {"align": "split"} if tool in ("prodigy", "doccano", "labelstudio", "pubtator", "bioc") else {}
        again = list(read(ref, **options))
        assert characters(again) == characters(docs)
        if whole:
            assert everything(again) == everything(docs)


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=st.binary(max_size=60))
def test_any_bytes_give_documents_or_a_corpus_error_with_its_place(tool: str, content: bytes) -> None:
    name, package, _, _ = TOOLS[tool]
    if package:
        pytest.importorskip(package)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        message = name
        try:
            list(read(f"{tool}:{path}"))
        except CorpusError as error:
            message = str(error)
        assert name in message


VALUES = (
    st.none()
    | st.integers(-2, 9)
    | st.text(max_size=3)
    | st.lists(st.integers(-1, 9) | st.text(max_size=2), max_size=3)
)
OBJECTS = st.dictionaries(
    st.sampled_from(
        [
            "text",
            "label",
            "labels",
            "spans",
            "entities",
            "tokens",
            "data",
            "annotations",
            "result",
            "value",
            "start",
            "end",
        ]
    ),
    st.recursive(
        VALUES,
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["start", "end", "label", "labels", "text", "result", "value"]), inner, max_size=4
            )
        ),
        max_leaves=6,
    ),
    max_size=5,
)


@pytest.mark.parametrize("tool", ["prodigy", "doccano", "labelstudio"])
@settings(max_examples=50, deadline=None)
@given(record=OBJECTS)
def test_any_record_gives_a_document_or_a_corpus_error(tool: str, record: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_text(json.dumps(record))
        message = "a.jsonl:1"
        try:
            list(read(f"{tool}:{path}"))
        except CorpusError as error:
            message = str(error)
        assert "a.jsonl:1" in message


@pytest.mark.parametrize(
    ("ref", "content", "message"),
    [
        (
            "prodigy",
            '{"text": "ab", "spans": [{"start": 0, "label": "x"}]}',
            "end of span 0 must be a whole number, not null",
        ),
        ("doccano", '{"text": "ab", "label": [[0, 1]]}', r"label 0 must be \[start, end, label\]"),
        ("labelstudio", '{"data": {}}', "data.text must be a string"),
        ("pubtator", "1|t|ab\n1\t0\t5\tab\tx\n", r":2: x \(0, 5\) is not a range of a text of 2"),
        ("pubtator", "1|t|ab cd\n1\t0\t2\tcd\tx\n", ":2: said to be 'cd', but the text has 'ab'"),
    ],
)
def test_bad_records(tmp_path: Path, ref: str, content: str, message: str) -> None:
    (tmp_path / "a").write_text(content)
    with pytest.raises(CorpusError, match=message):
        list(read(f"{ref}:{tmp_path / 'a'}"))


def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spanloom.base import extras
    from spanloom.base.errors import SpanloomError

    def absent(name: str) -> Any:
        raise ImportError(name)

    (tmp_path / "a.spacy").write_bytes(b"")
    monkeypatch.setattr(extras.importlib, "import_module", absent)
    with pytest.raises(SpanloomError, match=r"needs spacy: pip install 'spanloom\[spacy\]'"):
        extras.need("spacy.tokens", "spacy")


def test_report_of_what_tools_cannot_keep(tmp_path: Path) -> None:
    sentence = Sentence(["a"], [Mention("x", ((0, 1),), 0.5, {"k": "v"})], {"pos": ["NN"]}, features=[["f"]])
    report: Report = write([Document([sentence])], f"doccano:{tmp_path}/a.jsonl")
    assert report.counts == {"unwritten": 3}  # attributes, columns and own features; the probability has a place


@pytest.mark.parametrize("tool", ["prodigy", "doccano", "labelstudio"])
def test_meta_never_takes_the_place_of_the_text(tool: str, tmp_path: Path) -> None:
    doc = Document([Sentence(["a"], [Mention("x", ((0, 1),))])], meta={"text": "other", "source": "s"})
    report = write([doc], f"{tool}:{tmp_path}/a.jsonl")
    (again,) = read(f"{tool}:{tmp_path}/a.jsonl")
    assert (again.text, again.meta) == ("a", {"source": "s"})
    assert [p.message for p in report.problems] == [f"{tool} has no place for meta named 'text' (1 times)"]


@pytest.mark.parametrize("tool", ["prodigy", "doccano", "labelstudio"])
def test_what_json_cannot_hold_is_an_error_that_names_the_document(tool: str, tmp_path: Path) -> None:
    doc = Document([Sentence(["a"])], "d7", meta={"score": float("nan")})
    with pytest.raises(CorpusError, match="document d7 has a value that JSON cannot hold"):
        write([doc], f"{tool}:{tmp_path}/a.jsonl")
    assert list(tmp_path.iterdir()) == []
