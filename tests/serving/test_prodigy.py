"""The recipe's tasks have Prodigy's form, with the least certain first."""

from __future__ import annotations

from pathlib import Path

from spanloom import Recognizer, read
from spanloom.learning import LBFGS
from spanloom.serving.prodigy import correct


def test_tasks_hold_what_the_model_finds(tmp_path: Path) -> None:
    Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=40)).fit(read("sample:train")).save(tmp_path / "m.loom")
    recipe = correct("answers", str(tmp_path / "m.loom"), "sample:dev")
    tasks = list(recipe["stream"])
    assert (recipe["view_id"], recipe["dataset"]) == ("spans_manual", "answers")
    assert len(tasks) == len(list(read("sample:dev")))
    surest = [min((span["score"] for span in task["spans"]), default=1.0) for task in tasks[:100]]
    assert surest == sorted(surest)
    assert surest[0] < surest[-1]
    for task in tasks:
        for span in task["spans"]:
            first, last = task["tokens"][span["token_start"]], task["tokens"][span["token_end"]]
            assert (first["start"], last["end"]) == (span["start"], span["end"])
            assert span["label"] in recipe["config"]["labels"]
