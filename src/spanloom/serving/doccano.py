"""doccano's automatic labelling: a *Custom REST Request* with the text in its body.

In doccano: URL ``http://HOST:PORT/doccano/MODEL``, method POST, body ``{"text": "{{ text }}"}``, mapping template
``{{ input | tojson }}`` (the answer has doccano's form already). doccano drops nested spans when it merges.
"""

from __future__ import annotations

from spanloom.formats.checks import as_string
from spanloom.serving.api import Answer, Endpoint, Service
from spanloom.serving.asking import found
from spanloom.serving.requests import json_object
from spanloom.tagging import Plain


async def _label(service: Service, path: dict[str, str], body: bytes) -> Answer:
    text = as_string(json_object(body).get("text"), "text")
    (document,) = await found(service, path["model"], [Plain("", text)])
    return 200, [
        {"label": mention["label"], "start_offset": start, "end_offset": end}
        for mention in document["mentions"]
        for start, end in mention["chars"]
    ]


ENDPOINTS = (
    Endpoint(
        "POST", "/doccano/{model}", _label, "Label a text for doccano's automatic labelling.",
        takes={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        gives={"type": "array", "items": {"type": "object"}},
        errors=(400, 404, 429, 503),
    ),
)  # fmt: skip
