"""INCEpTION's external recommender; give INCEpTION the URL ``http://HOST:PORT/inception/MODEL``.

Documents travel as UIMA CAS in XMI, which ``dkpro-cassis`` reads (``spanloom[inception]``). The tokens and sentences of
the CAS are used where it has any. A discontinuous mention cannot be a UIMA annotation: it is left out.
"""

from __future__ import annotations

import asyncio
import io
from itertools import pairwise
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need
from spanloom.corpus import Document, make_document
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord, as_int, as_list, as_object, as_string
from spanloom.formats.raw import from_text
from spanloom.formats.report import Report
from spanloom.serving.api import Answer, Endpoint, Service
from spanloom.serving.asking import found, safe_xml
from spanloom.serving.requests import json_object

TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
PREDICTED = "inception_internal_predicted"


async def _predict(service: Service, path: dict[str, str], body: bytes) -> Answer:
    record = json_object(body)
    layer, feature, window = _metadata(record)
    service.models[path["model"]]
    cas = await asyncio.to_thread(_cas, record, record.get("document"))
    document = _document(cas)
    (result,) = await found(service, path["model"], [document])
    return 200, {"document": await asyncio.to_thread(_answer, cas, result["mentions"], layer, feature, window)}


async def _train(service: Service, path: dict[str, str], body: bytes) -> Answer:
    if service.learner is None:
        return 403, {"error": "this server does not train; start it with --learn FOLDER"}
    record = json_object(body)
    layer, feature, _ = _metadata(record)
    entries = as_list(record.get("documents"), "documents")

    def read() -> list[Document]:
        return [_annotated(_cas(record, entry), layer, feature, f"document {k}") for k, entry in enumerate(entries)]

    service.learner.start(path["model"], await asyncio.to_thread(read))
    return 204, None


def _metadata(record: dict[str, Any]) -> tuple[str, str, tuple[int, int] | None]:
    metadata = as_object(record.get("metadata"), "metadata")
    window = metadata.get("range")
    if window is not None:
        entry = as_object(window, "range")
        window = (as_int(entry.get("begin"), "begin of range"), as_int(entry.get("end"), "end of range"))
    return as_string(metadata.get("layer"), "layer"), as_string(metadata.get("feature"), "feature"), window


def _cas(record: dict[str, Any], entry: Any) -> Any:
    """The CAS of a document, with the types of the request."""
    cassis = need("cassis", "inception")
    types = safe_xml(as_string(record.get("typeSystem"), "typeSystem"), "the type system")
    xmi = safe_xml(as_string(as_object(entry, "document").get("xmi"), "xmi"), "the document")
    try:
        system = cassis.load_typesystem(io.BytesIO(types.encode()))
        cas = cassis.load_cas_from_xmi(io.BytesIO(xmi.encode()), typesystem=system)
    except Exception as error:
        raise BadRecord(f"the CAS cannot be read: {error}") from None
    if cas.sofa_string is None:
        raise BadRecord("the CAS has no text")
    return cas


def _tokens(cas: Any) -> list[tuple[int, int]] | None:
    """The tokens of a CAS, if they are in order and disjoint."""
    if not cas.typesystem.contains_type(TOKEN):
        return None
    spans = [(int(token.begin), int(token.end)) for token in cas.select(TOKEN)]
    good = all(a < b for a, b in spans) and all(x[1] <= y[0] for x, y in pairwise(spans))
    return spans if spans and good else None


def _document(cas: Any) -> Document:
    spans = _tokens(cas)
    return (
        make_document(cas.sofa_string) if spans is None else make_document(cas.sofa_string, tokenizer=lambda _: spans)
    )


def _annotated(cas: Any, layer: str, feature: str, where: str) -> Document:
    """The document of a CAS with the mentions of a layer that people made."""
    if not cas.typesystem.contains_type(layer):
        raise CorpusError(f"the type system has no layer {layer!r}", where)
    mentions = [
        CharMention(str(label), ((int(one.begin), int(one.end)),), where=where)
        for one in cas.select(layer)
        if not getattr(one, PREDICTED, False) and (label := getattr(one, feature, None))
    ]
    report = Report()
    made = from_text(cas.sofa_string, mentions, report, where, id="", align_by="expand", spans=_tokens(cas), meta={})
    report.raise_errors()
    return made


def _answer(cas: Any, mentions: list[dict[str, Any]], layer: str, feature: str, window: tuple[int, int] | None) -> str:
    if not cas.typesystem.contains_type(layer):
        raise BadRecord(f"the type system has no layer {layer!r}")
    kind = cas.typesystem.get_type(layer)
    has_score = kind.get_feature(f"{feature}_score") is not None
    for mention in mentions:
        (start, end), *more = mention["chars"]
        if more or (window is not None and not (window[0] <= start and end <= window[1])):
            continue
        values = {feature: mention["label"], PREDICTED: True}
        if has_score and "prob" in mention:
            values[f"{feature}_score"] = mention["prob"]
        cas.add(kind(begin=start, end=end, **values))
    return str(cas.to_xmi())


_TAKES = {
    "type": "object",
    "properties": {"metadata": {"type": "object"}, "typeSystem": {"type": "string"}},
    "required": ["metadata", "typeSystem"],
}
ENDPOINTS = (
    Endpoint(
        "POST", "/inception/{model}/predict", _predict, "INCEpTION: predictions for a document.",
        takes=_TAKES,
        gives={"type": "object", "properties": {"document": {"type": "string"}}, "required": ["document"]},
        errors=(400, 404, 429, 503),
    ),
    Endpoint(
        "POST", "/inception/{model}/train", _train, "INCEpTION: learn from documents.",
        takes=_TAKES, status=204, errors=(400, 403, 429),
    ),
)  # fmt: skip
