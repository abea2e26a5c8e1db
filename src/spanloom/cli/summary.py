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
SEEN, FEW = 0.5, 100
"""A share of development sentences that are training sentences, and a number of mentions, that are pointed out."""
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
    curve, decided = ner.penalty_curve_, t.get("decision", {})
    if t["dev_f1"] is not None:
        console.print(f"dev F1 {100 * t['dev_f1']:.2f}{_caution(ner, t)}")
        if t["dev_known"] > SEEN:
            console.print(
                f"{100 * t['dev_known']:.0f} % of the development sentences are training sentences: dev F1 says little "
                "about new text",
                style="yellow",
            )
    if decided and ("tried" not in decided or len(decided["tried"]) > 1):
        console.print(_decision(decided, curve))
    if ner.get_params().get("decide__penalty") == "auto" and curve is None and ner.model_.penalised:
        why = (
            "training was stopped"
            if t.get("interrupted")
            else "there is too little training data to hold some of it out"
        )
        console.print(f"no mention penalty was chosen: {why}")
    if curve is not None and decided.get("chosen", "penalty") == "penalty":
        if not decided:
            console.print(_penalty(curve, t["dev_f1"]))
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


def _caution(ner: Recognizer, facts: Mapping[str, Any]) -> str:
    """Say on how much the decision was chosen, if it was on the data that are scored."""
    curve = ner.penalty_curve_
    if "decision" in facts:
        mentions = facts["decision"]["gold"]
    elif curve is not None and ner.get_params().get("decide__penalty") in ("auto", "auto-by-label"):
        mentions = curve.at(0.0).gold
    else:
        return ""
    few = ", which is little" if mentions < FEW else ""
    return f", where the decision was chosen on {counted(mentions, 'mention')}{few}; new text may have less"


def _penalty(curve: Curve, dev_f1: float | None) -> str:
    """Say what a mention penalty gives on the data that it was chosen on."""
    where = "training data, cross-fitted" if dev_f1 is None else "dev"
    without, score = curve.at(0.0), curve.at(curve.chosen or 0.0)
    figures = f"F1 {100 * score.f1:.2f} (P {100 * score.precision:.2f}, R {100 * score.recall:.2f})"
    before = "" if dev_f1 is None or abs(dev_f1 - score.f1) < 5e-5 else ", before mentions exclude each other"
    named = f"mention penalty {curve.chosen or 0:g} for all labels"
    return f"{named}: {figures} on {where}{before}, without {100 * without.f1:.2f}"


def _calibration(facts: Mapping[str, Any]) -> str:
    """Say how far probabilities were from shares of right answers, and what was done about it."""
    if facts["kind"] == "none":
        return f"calibration none: error {100 * facts['error']:.1f} % on {facts['measured_on']}; no curve is better"
    return (
        f"calibration {facts['kind']}: error {100 * facts['error']:.1f} % → {100 * facts['error_calibrated']:.1f} % on "
        f"{facts['measured_on']}"
    )


_ELSEWHERE = " on fifths of these data, each by thresholds that the others chose"


def _decision(chosen: Mapping[str, Any], curve: Curve | None) -> str:
    """Say what the decision gives on the data that it was chosen on, and what others gave."""
    penalty = f"mention penalty {0.0 if curve is None else curve.chosen or 0.0:g}"
    words = {"best": "best structure", "penalty": penalty, "f1": "thresholds on probabilities"}
    how = chosen.get("chosen", chosen["name"])
    score = f"F1 {100 * chosen['f1']:.2f}, P {100 * chosen['precision']:.2f}, R {100 * chosen['recall']:.2f}"
    tried = {words[name]: f1 for name, f1 in chosen.get("tried", {}).items() if name != how or name == "f1"}
    others = [f"{name}: F1 {100 * f1:.2f}{_ELSEWHERE if name == words['f1'] else ''}" for name, f1 in tried.items()]
    if "tried" in chosen and curve is not None and "penalty" not in chosen["tried"]:
        others.append("no mention penalty is better than none")
    named = words.get(how, f"{chosen.get('what', '')} {chosen.get('asked', '')}")
    at = f" ({_thresholds(chosen['thresholds'])})" if "thresholds" in chosen else ""
    said = [f"decision {named}{at}: {score} on {chosen['chosen_on']}", *others]
    if "asked" in chosen:
        word = "reached" if chosen["reached"] else "not reached"
        said.append(
            f"what was asked for is {word}: the lower bound of the {chosen['what']} is {chosen['lower_bound']:.3f}"
        )
    return "; ".join(said)


def _thresholds(by_label: Mapping[str, float]) -> str:
    """Write thresholds, one number where all are the same."""
    values = {f"{value:.3g}" for value in by_label.values()}
    return f"from {values.pop()}" if len(values) == 1 else ", ".join(f"{k} {v:.3g}" for k, v in by_label.items())
