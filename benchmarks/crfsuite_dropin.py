"""A sklearn-crfsuite script with one changed line, end to end: seconds, F1, agreement.

    python benchmarks/crfsuite_dropin.py --data ../shared/data [--quick]

The script is that of sklearn-crfsuite's tutorial: its features (word, suffixes, case, part of speech, neighbours), its
settings (``lbfgs``, c1 = c2 = 0.1, 100 iterations, all transitions), fit, predict, F1; the corpus is UNER-EWT instead
of CoNLL-2002, in IOB2; F1 is that of its development and test parts together. Once with
``from sklearn_crfsuite import CRF``, once with ``from spanloom.compat import CRF``, and once more with ``threads=1``;
each in a process of its own, from the import to the predictions. Sentences come as JSON, read before the clock starts,
so that neither library is imported by then. The table goes to ``benchmarks/results/crfsuite_dropin.md``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPEATS = 4
SIDES: dict[str, tuple[str, dict[str, Any]]] = {
    "sklearn-crfsuite": ("sklearn_crfsuite", {}),
    "spanloom.compat": ("spanloom.compat", {}),
    "spanloom.compat, one thread": ("spanloom.compat", {"threads": 1}),
}
Sentence = list[tuple[str, str]]


def tagged(reference: str) -> list[tuple[Sentence, list[str]]]:
    """Return of each sentence its (word, part of speech) pairs, and its labels."""
    from spanloom import read
    from spanloom.corpus.tags import to_tags

    out = []
    for s in read(reference).sentences():
        spans = [(m.label, m.start, m.end) for m in s.mentions]
        out.append((list(zip(s.tokens, s.columns["pos"], strict=True)), to_tags(spans, len(s), "IOB2")))
    return out


def features(sentence: Sentence) -> list[dict[str, Any]]:
    """The items of a sentence, as the tutorial makes them."""
    return [_item(sentence, i) for i in range(len(sentence))]


def _item(sentence: Sentence, i: int) -> dict[str, Any]:
    # Names are constants, as in the tutorial's script: names put together for each item would cost both sides as much
    # again.
    word, tag = sentence[i]
    found: dict[str, Any] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    if i > 0:
        word, tag = sentence[i - 1]
        found.update(
            {
                "-1:word.lower()": word.lower(),
                "-1:word.istitle()": word.istitle(),
                "-1:word.isupper()": word.isupper(),
                "-1:postag": tag,
                "-1:postag[:2]": tag[:2],
            }
        )
    else:
        found["BOS"] = True
    if i + 1 < len(sentence):
        word, tag = sentence[i + 1]
        found.update(
            {
                "+1:word.lower()": word.lower(),
                "+1:word.istitle()": word.istitle(),
                "+1:word.isupper()": word.isupper(),
                "+1:postag": tag,
                "+1:postag[:2]": tag[:2],
            }
        )
    else:
        found["EOS"] = True
    return found


def measure(side: str, sentences: Path) -> dict[str, Any]:
    """Run the script with the CRF of one side."""
    module, settings = SIDES[side]
    train, test = json.loads(sentences.read_text(encoding="utf-8"))
    seconds, last, begin = {}, time.perf_counter(), time.process_time()

    def lap(name: str) -> None:
        nonlocal last
        seconds[name], last = time.perf_counter() - last, time.perf_counter()

    CRF = importlib.import_module(module).CRF
    lap("import")
    X_train, y_train = [features(s) for s, _ in train], [y for _, y in train]
    X_test, y_test = [features(s) for s, _ in test], [y for _, y in test]
    lap("features")
    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True, **settings)
    crf.fit(X_train, y_train)
    lap("fit")
    y_pred = [list(labels) for labels in crf.predict(X_test)]
    lap("predict")
    cpu = time.process_time() - begin
    from seqeval.metrics import f1_score
    from seqeval.scheme import IOB2

    f1 = float(f1_score(y_test, y_pred, mode="strict", scheme=IOB2))
    last_iteration = crf.training_log_.last_iteration
    return {
        "seconds": seconds,
        "cpu": cpu,
        "f1": f1,
        "loss": last_iteration["loss"],
        "iterations": last_iteration["num"],
        "active": last_iteration["active_features"],
        "labels": y_pred,
        "tokens": [sum(len(s) for s, _ in part) for part in (train, test)],
    }


def table(results: dict[str, dict[str, Any]], load: float, repeats: int) -> str:
    """Return the result file."""
    theirs, ours, single = sides = list(results.values())
    whole = [sum(side["seconds"].values()) for side in sides]
    without = [total - side["seconds"]["features"] for total, side in zip(whole, sides, strict=True)]
    pairs = [(a, b) for x, y in zip(theirs["labels"], ours["labels"], strict=True) for a, b in zip(x, y, strict=True)]
    same = sum(a == b for a, b in pairs) / len(pairs)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=HERE
    ).stdout.strip()

    def times(name: str, seconds: list[float], mark: str = "") -> str:
        a, b, c = seconds
        return f"| {name} | {a:.2f} s | {b:.2f} s | {mark}{a / b:.1f}×{mark} | {c:.2f} s | {a / c:.1f}× |"

    def values(name: str, texts: list[str], differences: list[str]) -> str:
        a, b, c = texts
        return f"| {name} | {a} | {b} | {differences[0]} | {c} | {differences[1]} |"

    f1 = [100 * side["f1"] for side in sides]
    equal = "the same" if ours["labels"] == single["labels"] else "different"
    lines = [
        "# A sklearn-crfsuite script with one changed line",
        "",
        f"`python benchmarks/crfsuite_dropin.py`: the tutorial's script on UNER-EWT, {ours['tokens'][0]:,} tokens to",
        f"learn from and {ours['tokens'][1]:,} to tag. Commit {commit}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores. sklearn-crfsuite uses one core, `spanloom.compat` all, with `threads=1` one.",
        f"The fastest of {repeats} runs of each side, in turn; load average before them {load:.1f}.",
        "",
        "| what | sklearn-crfsuite | spanloom.compat | ratio | one thread | ratio, one thread |",
        "|---|---:|---:|---:|---:|---:|",
        *(times(part, [s["seconds"][part] for s in sides]) for part in ("import", "features", "fit", "predict")),
        times("**end to end**", whole, "**"),
        times("without making features, the user's own Python", without),
        times("end to end, processor time", [side["cpu"] for side in sides]),
        values("F1 (strict)", [f"{score:.2f}" for score in f1], [f"{score - f1[0]:+.2f}" for score in f1[1:]]),
        values("objective", [f"{side['loss']:.2f}" for side in sides], ["", ""]),
        values("iterations", [str(side["iterations"]) for side in sides], ["", ""]),
        values("weights that are not 0", [f"{side['active']:,}" for side in sides], ["", ""]),
        "",
        f"Labels agree on {100 * same:.2f} % of the test tokens; with one thread and with all they are {equal}. "
        "Both libraries stop after 100 iterations, before the optimum.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure all sides, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE.parent.parent / "shared" / "data"))
    parser.add_argument("--quick", action="store_true", help="a tenth of the training data, and no result file")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--sentences", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(options.side, options.sentences)))
        return
    load, repeats = os.getloadavg()[0], 1 if options.quick else REPEATS
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        sentences = Path(folder) / "sentences.json"
        train, dev, test = (tagged(f"uner:{options.data}/uner-ewt?split={part}") for part in ("train", "dev", "test"))
        train = train[: len(train) // 10] if options.quick else train
        sentences.write_text(json.dumps([train, dev + test]), encoding="utf-8")
        for side in [*SIDES] * repeats:
            command = [sys.executable, __file__, "--side", side, "--sentences", str(sentences)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            runs[side].append(json.loads(done.stdout.splitlines()[-1]))
    results = {side: min(of, key=lambda run: sum(run["seconds"].values())) for side, of in runs.items()}
    for side, of in runs.items():
        results[side]["cpu"] = min(run["cpu"] for run in of)
    text = table(results, load, repeats)
    print(text)
    if not options.quick:
        (HERE / "results" / "crfsuite_dropin.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
