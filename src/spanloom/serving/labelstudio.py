"""Label Studio's machine-learning backend; give Label Studio the URL ``http://HOST:PORT/labelstudio/MODEL``.

Predictions have a score. Label Studio has no region of several ranges: the parts of a discontinuous mention become
regions that relations (``part of``) join. Annotations that its webhook sends are kept in the folder of ``--learn``, and
``START_TRAINING`` learns from them.
"""

from __future__ import annotations

import asyncio
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document
from spanloom.formats.checks import BadRecord, as_list, as_object, as_string
from spanloom.formats.labelstudio import task_document
from spanloom.formats.report import Report
from spanloom.serving.api import Answer, Endpoint, Service
from spanloom.serving.asking import Found, found, safe_xml
from spanloom.serving.models import check_name
from spanloom.serving.requests import json_object
from spanloom.tagging import Plain


@dataclass(frozen=True, slots=True)
class Config:
    """What of a labelling configuration matters: its names, where the text is, and which labels there are."""

    from_name: str = "label"
    to_name: str = "text"
    field: str = "text"
    labels: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> Config:
        """Read the XML of a labelling configuration; an empty one gives Label Studio's usual names.

        Examples
        --------
        >>> labels = '<Labels name="ner" toName="t"><Label value="DNA"/></Labels>'
        >>> Config.read(f'<View>{labels}<Text name="t" value="$body"/></View>')
        Config(from_name='ner', to_name='t', field='body', labels=('DNA',))
        """
        if not text.strip():
            return cls()
        try:
            root = ElementTree.fromstring(safe_xml(text, "the labelling configuration"))
        except ElementTree.ParseError as error:
            raise BadRecord(f"the labelling configuration is not XML: {error}") from None
        control = next((e for e in root.iter() if e.tag in ("Labels", "HyperTextLabels")), None)
        if control is None:
            raise BadRecord("the labelling configuration has no Labels for text")
        to_name = control.get("toName", "text")
        target = next((e for e in root.iter() if e.get("name") == to_name), None)
        value = "$text" if target is None else target.get("value", "$text")
        labels = tuple(e.get("value", "") for e in control.iter("Label"))
        return cls(control.get("name", "label"), to_name, value.lstrip("$"), labels)


async def _health(service: Service, path: dict[str, str], body: bytes) -> Answer:
    service.models[path["model"]]
    return 200, {"status": "UP", "model_class": "spanloom"}


async def _setup(service: Service, path: dict[str, str], body: bytes) -> Answer:
    Config.read(as_string(json_object(body).get("schema", ""), "schema"))
    service.models[path["model"]]
    return 200, {"model_version": path["model"]}


async def _predict(service: Service, path: dict[str, str], body: bytes) -> Answer:
    record = json_object(body)
    config = Config.read(as_string(record.get("label_config") or "", "label_config"))
    tasks = [as_object(task, f"task {k}") for k, task in enumerate(as_list(record.get("tasks"), "tasks"))]
    texts = [
        Plain("", as_string(as_object(task.get("data"), f"data of task {k}").get(config.field), f"data.{config.field}"))
        for k, task in enumerate(tasks)
    ]
    documents = await found(service, path["model"], texts)
    return 200, {"results": [_prediction(one, config, path["model"]) for one in documents]}


def _prediction(document: Found, config: Config, version: str) -> dict[str, Any]:
    regions: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    probs: list[float] = []
    for k, mention in enumerate(document["mentions"]):
        if config.labels and mention["label"] not in config.labels:
            continue
        score = {"score": mention["prob"]} if "prob" in mention else {}
        probs.extend(score.values())
        for i, (start, end) in enumerate(mention["chars"]):
            value = {"start": start, "end": end, "text": document["text"][start:end], "labels": [mention["label"]]}
            regions.append(
                {
                    "id": f"m{k}p{i}",
                    "from_name": config.from_name,
                    "to_name": config.to_name,
                    "type": "labels",
                    "value": value,
                    **score,
                }
            )
            if i:
                relations.append(
                    {
                        "type": "relation",
                        "from_id": f"m{k}p{i - 1}",
                        "to_id": f"m{k}p{i}",
                        "direction": "right",
                        "labels": ["part of"],
                    }
                )
    score = {"score": min(probs)} if probs else {}
    return {"result": regions + relations, "model_version": version, **score}


async def _webhook(service: Service, path: dict[str, str], body: bytes) -> Answer:
    record = json_object(body)
    action = as_string(record.get("action"), "action")
    if service.learner is None:
        return 403, {"error": "this server does not train; start it with --learn FOLDER"}
    name = check_name(path["model"])
    log = service.learner.folder / f"labelstudio-{name}.jsonl"
    if action in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED"):
        document(record, "the annotation")  # complain now, not when it is to be learned from
        await asyncio.to_thread(_append, log, body)
    elif action in ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED"):
        await asyncio.to_thread(_append, log, body)
    elif action == "START_TRAINING":
        service.learner.start(name, await asyncio.to_thread(_kept, log))
    return 201, {"result": "ok", "status": "ok"}


def document(record: dict[str, Any], where: str) -> Document:
    """Return the document of an event with ``task`` and ``annotation``; raises ``BadRecord`` or ``CorpusError``."""
    task = as_object(record.get("task"), "task")
    project = as_object(record.get("project") or {}, "project")
    config = Config.read(as_string(project.get("label_config") or "", "label_config of project"))
    task = {**task, "annotations": [as_object(record.get("annotation"), "annotation")]}
    report = Report()
    made = task_document(task, report, where, align="expand", text=config.field)
    report.raise_errors()
    return made


def _append(log: Any, body: bytes) -> None:
    line = json.dumps(json.loads(body), ensure_ascii=False) + "\n"
    with open(log, "a", encoding="utf-8") as file:
        file.write(line)


def _kept(log: Any) -> list[Document]:
    """The last annotation of every task."""
    if not log.exists():
        raise CorpusError("Label Studio has sent no annotations yet", str(log))
    latest: dict[str, Document] = {}
    for number, line in enumerate(log.read_text(encoding="utf-8").splitlines(), 1):
        record = json.loads(line)
        key = str(as_object(record.get("task") or {}, "task").get("id", ""))
        if "DELETED" in record["action"]:
            latest.pop(key, None)
        else:
            latest[key] = document(record, f"{log}:{number}")
    return list(latest.values())


_ANY = {"type": "object"}
ENDPOINTS = (
    Endpoint(
        "GET", "/labelstudio/{model}/health", _health, "Label Studio: is the model there?", gives=_ANY, errors=(404,)
    ),
    Endpoint(
        "POST", "/labelstudio/{model}/setup", _setup, "Label Studio: check a labelling configuration.",
        takes={"type": "object", "properties": {"schema": {"type": "string"}}},
        gives={"type": "object", "properties": {"model_version": {"type": "string"}}, "required": ["model_version"]},
        errors=(400, 404),
    ),
    Endpoint(
        "POST", "/labelstudio/{model}/predict", _predict, "Label Studio: predictions for tasks.",
        takes={
            "type": "object",
            "properties": {"tasks": {"type": "array"}, "label_config": {"type": ["string", "null"]}},
            "required": ["tasks"],
        },
        gives={"type": "object", "properties": {"results": {"type": "array"}}, "required": ["results"]},
        errors=(400, 404, 429, 503),
    ),
    Endpoint(
        "POST", "/labelstudio/{model}/webhook", _webhook, "Label Studio: annotations, and the wish to train.",
        takes={"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]},
        gives=_ANY, status=201, errors=(400, 403, 404, 429),
    ),
)  # fmt: skip
