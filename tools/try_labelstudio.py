"""Let a real Label Studio use the machine-learning backend: connect, predict, annotate, train.

    pip install label-studio        in an environment of its own
    ML_BLOCK_LOCAL_IP=false SSRF_PROTECTION_ENABLED=false LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true \\
        label-studio start --no-browser --port 8099 --data-dir DIR --username a@example.org --password PASSWORD \\
        --user-token TOKEN
    spanloom serve gene.loom --port 8098 --learn FOLDER      learned from sample:train
    python tools/try_labelstudio.py TOKEN

Label Studio refuses backends on the same machine without the first variable.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from typing import Any

STUDIO, SERVER = "http://127.0.0.1:8099", "http://127.0.0.1:8098"
CONFIG = (
    '<View><Labels name="ner" toName="t"><Label value="DNA"/><Label value="protein"/><Label value="cell_type"/>'
    '</Labels><Text name="t" value="$body"/></View>'
)
TEXTS = ["The IL-2 gene is expressed in T cells.", "Transcription of the IL-4 gene is blocked in resting T cells."]


def ask(token: str, method: str, path: str, body: Any = None) -> Any:
    """Return the answer of Label Studio."""
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(STUDIO + path, data, headers, method=method)) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def training() -> dict[str, Any]:
    """Return how the training of our server goes."""
    with urllib.request.urlopen(f"{SERVER}/train") as answer:
        return dict(json.loads(answer.read()))


def main(token: str) -> None:
    """Go through all of it; an answer that is not as expected is an error."""
    project = ask(token, "POST", "/api/projects", {"title": "genes", "label_config": CONFIG})["id"]
    ask(token, "POST", f"/api/projects/{project}/import", [{"body": text} for text in TEXTS])
    backend = ask(token, "POST", "/api/ml", {"project": project, "url": f"{SERVER}/labelstudio/gene", "title": "x"})
    assert backend["readable_state"] == "Connected", backend
    wanted = {"selectedItems": {"all": True, "excluded": []}, "project": project}
    ask(token, "POST", f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}", wanted)
    predictions = ask(token, "GET", f"/api/predictions?project={project}")
    assert len(predictions) == len(TEXTS), predictions
    for one in predictions:
        print(one["model_version"], [(r["value"]["labels"][0], r["value"]["text"]) for r in one["result"]])
    task = ask(token, "GET", f"/api/tasks?project={project}")["tasks"][0]["id"]
    value = {"start": 4, "end": 13, "text": "IL-2 gene", "labels": ["DNA"]}
    mark = {"type": "labels", "from_name": "ner", "to_name": "t", "value": value}
    ask(token, "POST", f"/api/tasks/{task}/annotations", {"result": [mark]})
    time.sleep(2)  # Label Studio sends what was annotated by itself
    ask(token, "POST", f"/api/ml/{backend['id']}/train", {})
    for _ in range(60):
        if training()["state"] in ("done", "failed"):
            break
        time.sleep(1)
    print("training:", training())
    assert training()["state"] == "done"


if __name__ == "__main__":
    main(sys.argv[1])
