"""What the bridges to other tools share: documents in, documents with mentions and probabilities out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from spanloom.corpus import Document
from spanloom.formats.checks import BadRecord
from spanloom.serving.api import Service
from spanloom.serving.engine import Asked
from spanloom.tagging import Plain

Found = dict[str, Any]
"""A document as in JSONL, with ``chars`` and ``prob`` of every mention."""


async def found(service: Service, model: str, items: Sequence[Plain | Document]) -> list[Found]:
    """Return what a model finds in texts or documents, with probabilities where it has any."""
    engine = service.models[model]
    future = engine.submit(items, Asked(probabilities=engine.recognizer.makes is None))
    lines = await asyncio.wait_for(asyncio.wrap_future(future), engine.seconds)
    service.metrics.tagged(texts=len(lines), characters=sum(len(item.text) for item in items))
    return [json.loads(line) for line in lines]


def safe_xml(text: str, what: str) -> str:
    """Return XML if it declares no entities, which could grow without bound or name files."""
    if "<!" in text and ("<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper()):
        raise BadRecord(f"{what} declares a document type or entities, which are not read")
    return text
