"""The HTTP interface, by requests as programs and other tools make them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs

needs("starlette", "httpx2", "cassis")
pytestmark = pytest.mark.extras

from starlette.testclient import TestClient  # noqa: E402

from spanloom import Recognizer, read  # noqa: E402
from spanloom.formats.jsonl import to_dict  # noqa: E402
from spanloom.learning import LBFGS  # noqa: E402
from spanloom.serving.api import application  # noqa: E402
from spanloom.serving.bridges import BRIDGES  # noqa: E402
from spanloom.serving.models import Learner, Models  # noqa: E402

TEXT = "The IL-2 gene is expressed in T cells."


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=60)).fit(read("sample:train"))


@pytest.fixture
def client(ner: Recognizer, tmp_path: Path) -> Iterator[TestClient]:
    models = Models({"gene": ner})
    app = application(models, learner=Learner(models, tmp_path), largest=100_000, more=BRIDGES)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def mentions(ner: Recognizer, text: str = TEXT) -> list[tuple[str, str]]:
    doc = ner.predict(text)
    return [(m.label, doc.surface(m)) for m in doc.mentions]


def test_text_texts_and_documents(client: TestClient, ner: Recognizer) -> None:
    expected = mentions(ner)
    assert expected
    document = to_dict(ner.predict(TEXT))
    tokens = {"id": "t", "tokens": document["tokens"]}
    for body in ({"text": TEXT}, {"texts": [TEXT]}, {"documents": [{"text": TEXT}]}, {"documents": [tokens]}):
        answer = client.post("/tag", json=body)
        assert answer.status_code == 200, answer.text
        (one,) = answer.json()["documents"]
        assert [(m["label"], m["text"].replace(" - ", "-")) for m in one["mentions"]] == expected
    assert client.post("/tag", json={"documents": []}).json()["documents"] == []


def test_probabilities_and_best_sets(client: TestClient, ner: Recognizer) -> None:
    (one,) = client.post("/tag", json={"text": TEXT, "probabilities": True, "k": 3}).json()["documents"]
    doc = ner.predict(TEXT, probabilities=True)
    assert [m["prob"] for m in one["mentions"]] == pytest.approx([m.prob for m in doc.mentions])
    assert [entry["prob"] for entry in one["k_best"][0]] == pytest.approx(
        [p for p, _ in ner.k_best(doc.sentences[0], 3)]
    )
    (all_of_them,) = client.post("/tag", json={"text": TEXT, "above": 0.01}).json()["documents"]
    assert len(all_of_them["mentions"]) == len(ner.predict(TEXT, above=0.01).mentions)


@pytest.mark.parametrize(
    ("body", "status", "complaint"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "the body must be an object"),
        (b"\xff", 400, "not UTF-8"),
        (b'{"text": 7}', 400, "text must be a string, not 7"),
        (b'{"text": "a", "texts": []}', 400, "text and texts"),
        (b"{}", 400, "give one of text, texts, documents"),
        (b'{"text": "a", "above": 2}', 400, "above must be a number"),
        (b'{"text": "a", "k": 1000}', 400, "k must be within 0 and 100"),
        (b'{"text": "a", "speed": 1}', 400, "unknown field 'speed'"),
        (b'{"text": "\\ud800"}', 400, "surrogate"),
        (b'{"documents": [{"tokens": ["a"], "mentions": [{"label": "x", "parts": [[0, 9]]}]}]}', 400, "document 0"),
        (b'{"text": "a", "model": "nobody"}', 404, "there is no model 'nobody'; there are gene"),
        (b'{"text": "' + b"a" * 100_001 + b'"}', 413, "at most 100000 bytes"),
        (b"[" * 90_000, 400, "not JSON"),
    ],
)
def test_bad_requests_are_told_what_is_wrong(client: TestClient, body: bytes, status: int, complaint: str) -> None:
    answer = client.post("/tag", content=body)
    assert answer.status_code == status
    assert complaint in answer.json()["error"]


def test_models_health_metrics_and_description(client: TestClient) -> None:
    (model,) = client.get("/models").json()["models"]
    assert (model["name"], model["model"], model["probabilities"]) == ("gene", "edge", "exact")
    assert client.get("/health").json() == {"status": "UP", "models": ["gene"]}
    client.post("/tag", json={"texts": [TEXT, TEXT]})
    counts = client.get("/metrics").text
    assert 'spanloom_requests_total{path="/tag",status="200"} 1' in counts
    assert "spanloom_texts_total 2" in counts
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths["/tag"]["post"]["responses"]) == {"200", "400", "404", "413", "429", "503"}
    page = client.get("/docs")
    assert "POST /tag" in page.text
    assert "http" not in page.text.replace("HTTP", "")  # nothing from elsewhere
    assert client.get("/nowhere").json() == {"error": "Not Found"}


def wait(client: TestClient) -> dict[str, Any]:
    until = time.monotonic() + 60
    while (state := client.get("/train").json())["state"] == "training" and time.monotonic() < until:
        time.sleep(0.05)
    return dict(state)


def test_training_over_http_replaces_the_model(client: TestClient, tmp_path: Path) -> None:
    documents = [to_dict(doc) for doc in list(read("sample:train"))[:3]]
    for entry in documents:
        for mention in entry["mentions"]:
            mention["label"] = "thing"
    body = {"model": "gene", "documents": documents}
    assert client.post("/train", json=body).status_code == 202
    assert wait(client)["state"] == "done"
    assert client.get("/models").json()["models"][0]["labels"] == ["thing"]
    assert Recognizer.load(tmp_path / "gene.loom").labels_ == ("thing",)
    assert "nothing to learn from" in client.post("/train", json={"model": "a", "documents": []}).json()["error"]
    assert "has letters" in client.post("/train", json={"model": "../a", "documents": documents}).json()["error"]


CONFIG = (
    '<View><Labels name="ner" toName="t"><Label value="DNA"/><Label value="protein"/><Label value="cell_type"/>'
    "</Labels>"
    '<Text name="t" value="$body"/></View>'
)


def test_label_studio(client: TestClient, ner: Recognizer, tmp_path: Path) -> None:
    assert client.get("/labelstudio/gene/health").json()["status"] == "UP"
    assert client.post("/labelstudio/gene/setup", json={"project": "1", "schema": CONFIG}).json() == {
        "model_version": "gene"
    }
    body = {"tasks": [{"id": 7, "data": {"body": TEXT}}], "label_config": CONFIG, "project": "1"}
    (result,) = client.post("/labelstudio/gene/predict", json=body).json()["results"]
    assert [(r["value"]["labels"][0], r["value"]["text"]) for r in result["result"]] == mentions(ner)
    assert {(r["from_name"], r["to_name"], r["type"]) for r in result["result"]} == {("ner", "t", "labels")}
    assert all(TEXT[r["value"]["start"] : r["value"]["end"]] == r["value"]["text"] for r in result["result"])
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaa">]><View>&a;</View>'
    assert "entities" in client.post("/labelstudio/gene/setup", json={"schema": bomb}).json()["error"]
    event = {
        "action": "ANNOTATION_CREATED",
        "project": {"id": 1, "label_config": CONFIG},
        "task": {"id": 7, "data": {"body": TEXT}},
        "annotation": {
            "result": [{"type": "labels", "value": {"start": 4, "end": 13, "text": "IL-2 gene", "labels": ["DNA"]}}]
        },
    }
    assert client.post("/labelstudio/gene/webhook", json=event).status_code == 201
    assert client.post("/labelstudio/gene/webhook", json={"action": "START_TRAINING"}).status_code == 201
    assert wait(client)["state"] == "done"
    assert client.get("/models").json()["models"][0]["labels"] == ["DNA"]


def cas(layer: str, spans: list[tuple[int, int, str]]) -> tuple[str, str]:
    import cassis

    system = cassis.TypeSystem()
    kind = system.create_type(layer)
    system.create_feature(kind, "value", "uima.cas.String")
    system.create_feature(kind, "value_score", "uima.cas.Double")
    system.create_feature(kind, "inception_internal_predicted", "uima.cas.Boolean")
    made = cassis.Cas(system)
    made.sofa_string, made.sofa_mime = (
        "𝛼: " + TEXT,
        "text/plain",
    )  # a character beyond 16 bits: offsets are UTF-16 there
    for start, end, label in spans:
        made.add(kind(begin=start, end=end, value=label))
    return system.to_xml(), made.to_xmi()


def test_inception(client: TestClient, ner: Recognizer) -> None:
    import io

    import cassis

    system, xmi = cas("custom.Span", [])
    metadata = {"layer": "custom.Span", "feature": "value", "projectId": 1}
    body = {"metadata": metadata, "document": {"xmi": xmi, "documentId": 1, "userId": "a"}, "typeSystem": system}
    answer = client.post("/inception/gene/predict", json=body)
    assert answer.status_code == 200, answer.text
    types = cassis.load_typesystem(io.BytesIO(system.encode()))
    back = cassis.load_cas_from_xmi(io.BytesIO(answer.json()["document"].encode()), typesystem=types)
    found = [(one.value, one.get_covered_text()) for one in back.select("custom.Span")]
    assert sorted(found) == sorted(mentions(ner, "𝛼: " + TEXT))
    assert all(one.inception_internal_predicted and 0 < one.value_score <= 1 for one in back.select("custom.Span"))
    system, xmi = cas("custom.Span", [(7, 16, "gene")])
    train = {"metadata": metadata, "documents": [{"xmi": xmi}], "typeSystem": system}
    assert client.post("/inception/gene/train", json=train).status_code == 204
    assert wait(client)["state"] == "done"
    assert client.get("/models").json()["models"][0]["labels"] == ["gene"]
    assert client.post("/inception/gene/predict", json={**body, "document": {"xmi": "<a"}}).status_code == 400


def test_doccano(client: TestClient, ner: Recognizer) -> None:
    spans = client.post("/doccano/gene", json={"text": TEXT}).json()
    assert [(s["label"], TEXT[s["start_offset"] : s["end_offset"]]) for s in spans] == mentions(ner)


def test_without_leave_nobody_trains(ner: Recognizer) -> None:
    with TestClient(application(Models({"gene": ner})), base_url="http://127.0.0.1") as client:
        assert client.post("/train", json={"model": "gene", "documents": []}).status_code == 403


def test_answers_are_json_of_jsonl(client: TestClient, tmp_path: Path) -> None:
    lines = [json.dumps(one) for one in client.post("/tag", json={"texts": [TEXT, "", "T cells."]}).json()["documents"]]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert [doc.text for doc in read(tmp_path / "a.jsonl")] == [TEXT, "", "T cells."]
