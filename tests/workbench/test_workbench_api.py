"""The API of the workbench by requests: annotation, imports and exports, learning, comparing, and who is refused."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs

needs("starlette", "httpx2")
pytestmark = pytest.mark.extras

from starlette.testclient import TestClient  # noqa: E402

from spanloom.corpus import Document, Mention, Sentence, make_document  # noqa: E402
from spanloom.formats import read  # noqa: E402
from spanloom.workbench import importing  # noqa: E402
from spanloom.workbench.api import call  # noqa: E402
from spanloom.workbench.app import make_app  # noqa: E402
from spanloom.workbench.changes import Change  # noqa: E402
from spanloom.workbench.exporting import WRITTEN  # noqa: E402
from spanloom.workbench.project import Project  # noqa: E402

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = Project(tmp_path / "p")
    project.add([make_document("The IL-2 gene is here. It is.", "one")])
    yield project
    project.close()


@pytest.fixture
def client(project: Project) -> Iterator[TestClient]:
    with TestClient(make_app(project), base_url="http://127.0.0.1:8765") as client:
        yield client


def act(client: TestClient, version: int, change: dict[str, Any], **more: Any) -> Any:
    body = {"annotator": "ann", "page": "x", "version": version, "kind": "add", "change": change, **more}
    return client.post("/api/documents/1/actions", json=body)


DNA = {"label": "DNA", "parts": [[1, 3]]}


def test_a_change_is_stored_and_its_past_version_is_a_conflict(client: TestClient, project: Project) -> None:
    done = act(client, 0, {"add": [DNA]})
    assert done.json()["sheet"] == {
        "version": 1, "mentions": [DNA], "rejected": [], "confirmed": [], "undo": True, "redo": False,
    }  # fmt: skip
    again = act(client, 0, {"add": [{"label": "x", "parts": [[0, 1]]}]})
    assert (again.status_code, again.json()["sheet"]["version"]) == (409, 1)
    assert project.sheets.get(1, "ann").mentions == {Mention("DNA", ((1, 3),))}
    body = {"annotator": "ann", "page": "x", "version": 1}
    assert client.post("/api/documents/1/undo", json=body).json()["sheet"]["mentions"] == []
    assert client.post("/api/documents/1/redo", json={**body, "version": 2}).json()["sheet"]["mentions"] == [DNA]


@pytest.mark.parametrize("number", [0, 2, 10**15])
def test_what_is_asked_of_a_document_that_is_not_there_is_refused(
    client: TestClient, project: Project, number: int
) -> None:
    """Nothing is written, and nobody holds it."""
    body = {"annotator": "ann", "page": "x", "version": 0, "kind": "add", "change": {}, "sentence": 0, "mentions": []}
    for last in ("actions", "undo", "redo", "open", "adjudicate"):
        answer = client.post(f"/api/documents/{number}/{last}", json=body)
        assert (answer.status_code, answer.json()) == (404, {"error": f"there is no document {number}"}), last
    assert client.post("/api/pulse", json={**body, "document": number}).status_code == 404
    assert project.locks.busy() == {}
    assert project.db.value("SELECT count(*) FROM sheets") == 0


def test_numbers_that_python_does_not_read_are_refused(client: TestClient) -> None:
    assert client.get(f"/api/documents/{'9' * 900}?annotator=a").status_code == 404
    assert client.get(f"/api/documents/{'9' * 5000}?annotator=a").status_code == 414


def test_a_document_is_held_by_one_page(client: TestClient) -> None:
    def opened(page: str, **more: Any) -> bool:
        body = {"annotator": "ann", "page": page, **more}
        return bool(client.post("/api/documents/1/open", json=body).json()["mine"])

    assert (opened("x"), opened("y"), opened("x")) == (True, False, True)
    assert act(client, 0, {"add": [DNA]}, page="y").status_code == 423
    assert act(client, 0, {"add": [DNA]}, page="y", annotator="bea").status_code == 200
    assert opened("y", take=True)
    assert act(client, 0, {"add": [DNA]}, page="x").status_code == 423
    pulse = client.post("/api/pulse", json={"page": "x", "document": 1, "annotator": "ann"}).json()
    assert (pulse["mine"], pulse["busy"]) == (False, {"1": ["ann"]})  # a page holds one document
    client.post("/api/release", json={"page": "y"})
    assert opened("x")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "must be a JSON object"),
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b'{"page": NaN}', "is not JSON"),
        (b'{"change": ' + b"[" * 100 + b"]" * 100 + b"}", "nested deeper"),
        (b'{"change": ' + b"[" * 100_000, "is not JSON"),
        ({"change": {"add": [{"label": "", "parts": [[0, 1]]}]}}, "a label is 1 to 200"),
        ({"change": {"add": [{"label": "a\nb", "parts": [[0, 1]]}]}}, "printable"),
        ({"change": {"add": [{"label": "a", "parts": [[1, 0]]}]}}, "half-open"),
        ({"change": {"add": [{"label": "a", "parts": [[0, 10**30]]}]}}, "whole numbers"),
        ({"change": {"add": [{"label": "a", "parts": [[0, True]]}]}}, "whole numbers"),
        ({"change": {"add": [{"label": "a", "parts": []}]}}, "at least one part"),
        ({"change": {"sql": []}}, "has no field 'sql'"),
        ({"change": {"confirm": [9]}}, "no sentence 9"),
        ({"version": "0"}, "whole number"),
        ({"annotator": "imported"}, "cannot be changed"),
        ({"annotator": " "}, "has a name"),
        ({"kind": "drop"}, "there is no action 'drop'"),
    ],
)
def test_bad_requests_are_refused_and_change_nothing(
    client: TestClient, project: Project, body: Any, message: str
) -> None:
    if isinstance(body, dict):
        good = {"annotator": "ann", "page": "x", "version": 0, "kind": "add", "change": {"add": [DNA]}}
        body = json.dumps({**good, **body}).encode()
    answer = client.post("/api/documents/1/actions", content=body)
    assert answer.status_code == 400, answer.text
    assert message in answer.json()["error"]
    assert project.sheets.trail() == []


def test_what_is_not_there_is_404(client: TestClient) -> None:
    for path in ("/api/documents/9?annotator=a", "/api/documents/9/suggestions", "/page/nothing.js", "/api/nothing"):
        assert client.get(path).status_code == 404, path
    assert client.get("/api/documents/1/why?label=DNA&parts=[[0,1]]").status_code == 404  # no model yet
    assert client.get("/api/export?layer=nobody").status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "null"},
    ],
)
def test_other_sites_and_rebound_names_are_refused(client: TestClient, project: Project, headers: Any) -> None:
    body = {"annotator": "ann", "page": "x", "version": 0, "kind": "add", "change": {"add": [DNA]}}
    answer = client.post("/api/documents/1/actions", json=body, headers=headers)
    assert answer.status_code in (403, 421)
    assert project.sheets.trail() == []


def test_the_page_may_load_nothing_from_elsewhere(client: TestClient) -> None:
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    for name in ("main.js", "style.css", "icon.svg"):
        assert client.get(f"/page/{name}").headers["x-content-type-options"] == "nosniff"
    for path in ("/page/..%2fapp.py", "/page/%2e%2e/app.py", "/page/..\\app.py"):
        assert client.get(path).status_code == 404


def test_names_with_script_come_back_as_text(client: TestClient, project: Project) -> None:
    project.add([Document([Sentence([SCRIPT])], SCRIPT)])
    project.sheets.change(2, SCRIPT, 0, "add", Change(add=(Mention(SCRIPT, ((0, 1),)),)))
    answer = client.get("/api/documents?annotator=ann")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["documents"][1]["name"] == SCRIPT
    exported = client.get("/api/export", params={"layer": SCRIPT})
    assert exported.headers["content-disposition"].startswith("attachment; filename*=UTF-8''p-%3Cscript%3E")


def test_what_is_imported_comes_out_again(client: TestClient, tmp_path: Path) -> None:
    docs = list(read("sample:dev"))
    lines = "\n".join(
        json.dumps({"id": d.id, "tokens": d.tokens, "sentences": _ranges(d), "mentions": _mentions(d)}) for d in docs
    )
    answer = client.post("/api/import?name=dev.jsonl", content=lines.encode())
    assert answer.json() == {"added": len(docs), "known": 0, "notes": []}
    path = tmp_path / "out.jsonl"
    path.write_bytes(client.get("/api/export?format=jsonl&layer=gold").content)
    back = {d.id: d for d in read(path)}
    assert [set(back[d.id].mentions) for d in docs] == [set(d.mentions) for d in docs]
    assert all(s.known is None for d in docs for s in back[d.id].sentences)
    assert all(s.known is not None for s in back["one"].sentences)  # nobody has confirmed it


@pytest.mark.parametrize("format", WRITTEN)
def test_every_format_is_exported(client: TestClient, project: Project, format: str) -> None:
    if format in ("spacy", "parquet", "bioc"):
        needs({"spacy": "spacy", "parquet": "pyarrow", "bioc": "bioc"}[format])
    project.sheets.change(1, "ann", 0, "add", Change(add=(Mention("DNA", ((1, 3),)),)))
    answer = client.get(f"/api/export?format={format}&layer=ann")
    assert answer.status_code == 200, answer.text
    assert len(answer.content) > 20
    if format == "brat":
        names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
        assert sorted(name.rpartition(".")[2] for name in names if not name.endswith(".conf")) == ["ann", "txt"]


def _ranges(doc: Document) -> list[list[int]]:
    made, at = [], 0
    for sentence in doc.sentences:
        made.append([at, at + len(sentence)])
        at += len(sentence)
    return made


def _mentions(doc: Document) -> list[dict[str, Any]]:
    return [{"label": m.label, "parts": m.parts} for m in doc.mentions]


def _zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_an_archive_of_brat_files_is_read(client: TestClient) -> None:
    body = _zip({"a/x.txt": b"The IL-2 gene.", "a/x.ann": b"T1\tDNA 4 13\tIL-2 gene\n"})
    assert client.post("/api/import?name=x.zip&format=brat", content=body).json()["added"] == 1
    view = client.get("/api/documents/2?annotator=ann").json()
    assert view["text"]["sentences"][0]["words"] == ["The", "IL", "-", "2", "gene", "."]
    assert view["sheet"]["mentions"] == [{"label": "DNA", "parts": [[1, 5]]}]
    assert view["sheet"]["confirmed"] == [0]


def test_what_the_project_has_already_is_left_out(client: TestClient, project: Project) -> None:
    """With the same name, text and mentions; anything new comes in, under a name that is free in brat's folders too."""
    brat = {"x.txt": b"The IL-2 gene.", "x.ann": b"T1\tDNA 4 13\tIL-2 gene\n"}
    more = {**brat, "x.ann": brat["x.ann"] + b"T2\tprotein 4 8\tIL-2\n"}

    def add(files: dict[str, bytes]) -> tuple[int, int]:
        told = client.post("/api/import?name=x.zip&format=brat", content=_zip(files)).json()
        return told["added"], told["known"]

    assert [add(files) for files in (brat, brat, more)] == [(1, 0), (0, 1), (1, 0)]
    assert client.post("/api/import?name=x.txt", content=b"The IL-2 gene.").json()["added"] == 1
    names = [row[0] for row in project.db.rows("SELECT name FROM documents")]
    assert names == ["one", "x", "x (2)", "x.txt (2)"]
    assert client.get("/api/export?format=brat").status_code == 200


def test_formats_take_their_options(client: TestClient, project: Project) -> None:
    """As typed in the page; none reads another file of the machine."""
    text = "Crème brûlée.".encode("cp1252")
    assert "encoding" in client.post("/api/import?name=a.txt", content=text).json()["error"]
    sent = {"name": "a.txt", "options": "encoding=cp1252"}
    assert client.post("/api/import", params=sent, content=text).json()["added"] == 1
    assert project.documents.get(2).text == "Crème brûlée."
    for wrong in ("encoding", "iob2=/etc/passwd", "colour=red"):
        refused = client.post("/api/import", params={"name": "b.conllu", "options": wrong}, content=b"1\ta\n\n")
        assert refused.status_code == 400
    nested = Change(add=(Mention("A", ((0, 1),)), Mention("B", ((0, 2),))))
    project.sheets.change(1, "ann", 0, "add", nested)
    asked = {"format": "conll", "layer": "ann"}
    assert "layers=2" in client.get("/api/export", params=asked).json()["error"]
    assert client.get("/api/export", params={**asked, "options": "layers=2"}).status_code == 200


def test_an_ann_file_alone_says_what_is_missing(client: TestClient) -> None:
    assert ".zip" in client.post("/api/import?name=x.ann", content=b"T1\tX 0 1\ta\n").json()["error"]


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("../../etc/passwd.jsonl", b'{"tokens": ["a"]}', None),
        ("x.zip", _zip({"../../x.txt": b"a"}), "outside of itself"),
        ("x.zip", _zip({"/tmp/x.txt": b"a"}), "outside of itself"),
        ("x.zip", b"PK nothing", "cannot be unpacked"),
        ("x.jsonl", b"", "is empty"),
        ("x.jsonl", b"{}", "x.jsonl:1"),
        ("x.jsonl", b"\xff\xfe\x00", "x.jsonl"),
        ("x.html", b"<p>a</p>", "cannot be uploaded"),
        ("x", b"plain text", None),
    ],
)
def test_imports_stay_where_they_are_put(
    client: TestClient, project: Project, name: str, body: bytes, message: str | None
) -> None:
    answer = client.post("/api/import", params={"name": name}, content=body)
    if message is None:
        assert answer.json()["added"] == 1
    else:
        assert answer.status_code == 400
        assert message in answer.json()["error"]
        assert "/tmp" not in answer.json()["error"].replace("'/tmp/x.txt'", "")
        assert project.documents.numbers() == [1]


@pytest.mark.parametrize(
    ("name", "called"), [("notes.txt", "notes.txt"), ("..\\..\\etc/my notes.TXT", "my notes.txt"), ("", "upload.txt")]
)
def test_a_text_is_called_as_its_file(client: TestClient, project: Project, name: str, called: str) -> None:
    client.post("/api/import", params={"name": name}, content=b"plain text")
    assert project.documents.get(2).id == called


def test_a_zip_bomb_is_not_unpacked(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "LARGEST", 1 << 20)
    bomb = _zip({"a.txt": b"0" * (2 << 20)})
    assert len(bomb) < 10_000
    answer = client.post("/api/import?name=a.zip", content=bomb)
    assert "more than 1,048,576 bytes" in answer.json()["error"]


def test_other_bombs_are_not_unpacked_either(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compressed file that grows, an archive of very many files, and one within the other."""
    lines = b'{"tokens": ["a"]}\n' * 100
    added = client.post("/api/import?name=a.jsonl.gz", content=gzip.compress(lines))
    assert added.json()["added"] == 100
    monkeypatch.setattr(importing, "LARGEST", 1000)
    monkeypatch.setattr(importing, "MOST", 3)
    many = _zip({f"{k}.txt": b"a" for k in range(4)})
    for name, body, message in (
        ("a.jsonl.gz", gzip.compress(lines), "more than 1,000 bytes"),
        ("a.jsonl.gz", b"nothing", "the file"),
        ("a.zip", many, "the archive has 4 files"),
        ("a.zip", _zip({"a.jsonl.gz": gzip.compress(lines)}), "a compressed file"),
    ):
        answer = client.post("/api/import", params={"name": name, "format": "jsonl"}, content=body)
        assert (answer.status_code, message in answer.json()["error"]) == (400, True), answer.text
        assert "/tmp" not in answer.text


def test_long_bodies_of_json_are_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "LARGEST", 1000)
    answer = act(client, 0, {"add": [{"label": "a" * 1000, "parts": [[0, 1]]}]})
    assert (answer.status_code, "at most 1,000 bytes" in answer.json()["error"]) == (413, True)


@pytest.mark.parametrize("ref", ["/etc/passwd", "http://x/y", "huggingface:squad"])
def test_the_page_cannot_make_us_read_files(client: TestClient, ref: str) -> None:
    assert client.post("/api/import", params={"sample": ref}).status_code == 400
    assert client.post("/api/import", params={"name": "x", "format": ref}, content=b"x").status_code == 400
    assert client.put("/api/settings", json={"features": f"{ref}.toml"}).status_code == 400


def test_labels_guideline_and_settings(client: TestClient) -> None:
    label = {"name": "DNA", "key": "d", "color": "#123456", "description": "genes", "examples": ["IL-2 gene"]}
    assert client.put("/api/labels", json={"labels": [label]}).json()["labels"] == [{**label, "count": 0}]
    for bad in ({"key": "a"}, {"color": "red"}, {"name": ""}, {"examples": "x"}, {"description": 1}):
        assert client.put("/api/labels", json={"labels": [{**label, **bad}]}).status_code == 400
    assert client.put("/api/labels", json={"labels": [label, label]}).status_code == 400
    assert client.put("/api/guideline", json={"guideline": SCRIPT}).json() == {"guideline": SCRIPT}
    assert client.put("/api/settings", json={"model": "edge", "every": 2}).json()["settings"]["every"] == 2
    for bad in ({"every": 1.5}, {"above": "x"}, {"model": "none"}, {"model": 3}, {"threads": 2}, {"above": True}):
        assert client.put("/api/settings", json=bad).status_code == 400
    about = client.get("/api/project").json()
    assert (about["labels"][0]["key"], about["settings"]["model"]) == ("d", "edge")


def test_programs_tag_with_the_last_model(client: TestClient, project: Project) -> None:
    text = "Anna Lindqvist was elected mayor of Tarnby."
    assert client.post("/tag", json={"texts": [text]}).status_code == 404  # nothing was learned yet
    project.read("sample:train?domain=news")
    client.put("/api/settings", json={"model": "edge"})
    client.post("/api/learning")
    assert project.learner.wait().phase == "done"
    (document,) = client.post("/tag", json={"texts": [text]}).json()["documents"]
    found = {(m["label"], tuple(map(tuple, m["parts"]))) for m in document["mentions"]}
    assert found == {(m.label, m.parts) for m in project.learner.recognizer().predict(text).mentions}
    assert [one["name"] for one in client.get("/models").json()["models"]] == ["current"]
    assert client.get("/health").json()["status"] == "UP"


def test_numbers_that_the_file_cannot_hold_are_not_there(client: TestClient) -> None:
    far = 10**25
    assert client.get(f"/api/trail?document={far}").status_code == 400
    assert client.get(f"/api/documents/{far}?annotator=a").status_code == 404
    assert client.delete(f"/api/suspects/{far}").status_code == 404
    pulse = {"page": "x", "document": far, "annotator": "ann"}
    assert client.post("/api/pulse", json=pulse).status_code == 404


def test_a_brief_answer_has_what_changed(client: TestClient) -> None:
    """Who has the version before can make the sheet from it."""
    told = act(client, 0, {"add": [DNA]}, brief=True).json()
    assert told == {"news": {"version": 1, "undo": True, "redo": False, "change": {"add": [DNA]}}}
    assert act(client, 1, {"add": [DNA]}, brief=True).json()["news"] == {**told["news"], "change": {}}
    back = client.post("/api/documents/1/undo", json={"annotator": "ann", "page": "x", "version": 1, "brief": True})
    assert back.json() == {"news": {"version": 2, "undo": False, "redo": True, "change": {"remove": [DNA]}}}


def test_programs_put_documents_in_get_them_out_and_train(client: TestClient, project: Project) -> None:
    text = "Anna Lindqvist was elected mayor of Tarnby."
    gold = [{"label": "PER", "chars": [[0, 14]]}]
    assert client.post("/documents", json={"documents": [{"id": "a", "text": text, "mentions": gold}]}).json() == {
        "added": 1,
        "known": 0,
    }
    got = client.get("/documents").json()
    assert (got["total"], got["documents"][1]["mentions"][0]["text"]) == (2, "Anna Lindqvist")
    assert client.get("/documents?layer=nobody").status_code == 404
    assert "document 0" in client.post("/documents", json={"documents": [{"tokens": 3}]}).json()["error"]
    assert client.post("/documents", json={"documents": []}).status_code == 400
    assert client.get("/train").json()["state"] == "idle"
    assert client.post("/train").json()["state"] == "training"
    project.learner.wait()
    assert client.get("/train").json()["state"] == "done"
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/documents", "/train", "/models", "/tag", "/api/documents/{document}/actions"} <= set(paths)
    assert "POST /api/import" in client.get("/docs").text
