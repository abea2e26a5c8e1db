"""What ``spanloom train`` says when it is done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from spanloom.base.counted import counted
from spanloom.cli.cutting import reproduces_badly, tokenizer_words

if TYPE_CHECKING:
    from spanloom.evaluation.calibration import Curve
    from spanloom.recognizer import Recognizer

UNSURE = 0.05
"""A penalty that finds mentions of a lower probability is pointed out."""
FAR, UNTOLD = 0.1, 10.0
"""An objective that may be so far above its optimum, relatively, is not called near; a larger number says nothing."""


def tell(console: Console, ner: Recognizer, output: Path) -> None:
    """Print what a training gave: the model, its data and figures, what it cannot find."""
    from spanloom.cli.info import readable

    t: dict[str, Any] = ner.training_
    features = sum(part.extractor.size for part in ner.parts_)
    console.print(
        Text(str(output), "bold"),
        f"{output.stat().st_size / 1e6:.1f} MB, {features:,} features, {counted(len(ner.labels_), 'label')}",
    )
    if ner.model == "auto" and ner.model_.name == "multilabel":
        lacks = "" if ner.gives_probabilities() else "have no probabilities (--trainer loglinear gives them), and "
        console.print(
            f"multilabel was taken because some training mentions are discontinuous: its mentions {lacks}are not "
            "learned from partial annotation; --keep longest leaves discontinuous ones out instead, for a model that "
            "takes it"
        )
    trainer = {name: value for name, value in t["trainer"].items() if name in ("name", "l2")}
    console.print(f"model {readable(ner.model_.to_json())}, trainer {readable(trainer)}")
    console.print(
        f"{t['sentences']:,} sentences, {t['tokens']:,} tokens, {t['mentions']:,} mentions; "
        f"{t['iterations']} iterations in {t['seconds']:.1f} s"
    )
    if t["gap"] is not None:
        if t["gap"] < FAR:
            console.print(f"the objective, {t['objective']:,.2f}, is within {100 * t['gap']:.2g} % of its optimum")
        else:
            how = f"up to {100 * t['gap']:,.0f} % above it" if t["gap"] < UNTOLD else "too few iterations to tell"
            console.print(f"the objective, {t['objective']:,.2f}, may be far from its optimum ({how})")
    if "start" in t:
        console.print(f"{100 * t['start']:.1f} % of the features were known to the model that it started from")
    if t["dev_f1"] is not None:
        console.print(f"dev F1 {100 * t['dev_f1']:.2f}")
    curve, decided = ner.penalty_curve_, t.get("decision", {})
    if decided and ("tried" not in decided or len(decided["tried"]) > 1):
        console.print(_decision(decided, 0.0 if curve is None else curve.chosen or 0.0))
    if curve is not None and decided.get("chosen", "penalty") == "penalty":
        if not decided:
            console.print(_penalty(curve, "training data, cross-fitted" if t["dev_f1"] is None else "dev"))
        low = 1 / (1 + math.exp(curve.chosen or 0.0))
        if low < UNSURE:
            console.print(
                f"at this penalty, mentions with a probability of {low:.2g} are found, too; for surer ones, tag with "
                "--above 0.5, or train with --penalty 0",
                style="yellow",
            )
        if ner.get_params().get("decide__penalty") == "auto-by-label":
            chosen = ", ".join(f"{label} {ner.mention_penalty_.get(label, 0):g}" for label in ner.labels_)
            console.print(f"mention penalties in use: {chosen}")
    if ner.get_params().get("decide__calibrate", "none") != "none" and "kind" in t.get("calibration", {}):
        console.print(_calibration(t["calibration"]))
    if "tokenizer" in t and t["tokenizer"]["agreement"] < 1:
        console.print(tokenizer_words(t["tokenizer"]), style="yellow" if reproduces_badly(ner) else None)
    ceiling = t["dev_ceiling"]
    if ceiling is not None and ceiling < 1:
        console.print(f"of the development mentions, the model can find at most {100 * ceiling:.1f} %", style="yellow")
    if ner.ceiling_ < 1:
        what = []
        if t["lost"]:
            what.append(f"{t['lost']:,} mentions were left out, which the model cannot hold")
        if t["misread"]:
            what.append(f"{t['misread']:,} are read back as other mentions")
        recall = f"its recall on such data is at most {100 * ner.ceiling_:.1f} %"
        console.print(f"{', '.join(what)}: {recall}", style="yellow")


def _penalty(curve: Curve, where: str) -> str:
    """Say what a mention penalty gives on the data that it was chosen on, before mentions exclude each other."""
    without, score = curve.at(0.0), curve.at(curve.chosen or 0.0)
    figures = f"F1 {100 * score.f1:.2f} (P {100 * score.precision:.2f}, R {100 * score.recall:.2f})"
    return f"mention penalty {curve.chosen or 0:g} for all labels: {figures} on {where}, without {100 * without.f1:.2f}"


def _calibration(facts: Mapping[str, Any]) -> str:
    """Say how far probabilities were from shares of right answers, and what was done about it."""
    if facts["kind"] == "none":
        return f"calibration none: error {100 * facts['error']:.1f} % on {facts['measured_on']}; no curve is better"
    return (
        f"calibration {facts['kind']}: error {100 * facts['error']:.1f} % → {100 * facts['error_calibrated']:.1f} % on "
        f"{facts['measured_on']}"
    )


TRIED = {"best": "the best structure", "penalty": "mention penalty {}", "f1": "thresholds on probabilities"}


def _decision(chosen: Mapping[str, Any], penalty: float) -> str:
    """Say what the decision gives on the data that it was chosen on, and what others gave."""
    how = chosen.get("chosen", chosen["name"])
    score = f"F1 {100 * chosen['f1']:.2f}, P {100 * chosen['precision']:.2f}, R {100 * chosen['recall']:.2f}"
    missed = "" if chosen.get("reached", True) else "; what was asked for is not reached"
    words = {name: said.format(f"{penalty:g}") for name, said in TRIED.items()}
    others = [f"{words[name]} {100 * f1:.2f}" for name, f1 in chosen.get("tried", {}).items() if name != how]
    rest = f" ({', '.join(others)})" if others else ""
    named = words[how] if "tried" in chosen else how
    return f"decision {named}: {score} on {chosen['chosen_on']}{rest}{missed}"
