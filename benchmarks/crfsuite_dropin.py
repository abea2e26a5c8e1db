"""A sklearn-crfsuite script with one changed line, end to end: seconds, F1, agreement.

    python benchmarks/crfsuite_dropin.py --data ../shared/data [--quick]

The script is that of sklearn-crfsuite's tutorial: its features (word, suffixes, case, part of speech, neighbours), its
settings (``lbfgs``, c1 = c2 = 0.1, 100 iterations, all transitions), fit, predict, F1; the corpus is UNER-EWT instead
of CoNLL-2002, in IOB2; F1 is that of its development and test parts together. Once with
``from sklearn_crfsuite import CRF``, once with ``from spanloom.compat import CRF``; each in a process of its own, from
the import to the score. Reading the corpus is before the clock starts: it is the same code in both. The table
goes to ``benchmarks/results/crfsuite_dropin.md``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPEATS = 4
SIDES = {"sklearn-crfsuite": "sklearn_crfsuite", "spanloom": "spanloom.compat"}
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
    for offset, edge in ((-1, "BOS"), (1, "EOS")):
        if not 0 <= i + offset < len(sentence):
            found[edge] = True
            continue
        word, tag = sentence[i + offset]
        found |= {
            f"{offset:+d}:word.lower()": word.lower(),
            f"{offset:+d}:word.istitle()": word.istitle(),
            f"{offset:+d}:word.isupper()": word.isupper(),
            f"{offset:+d}:postag": tag,
            f"{offset:+d}:postag[:2]": tag[:2],
        }
    return found


def measure(module: str, data: str, share: float) -> dict[str, Any]:
    """Run the script with the CRF of a module."""
    train, dev, test = (tagged(f"uner:{data}/uner-ewt?split={part}") for part in ("train", "dev", "test"))
    test = dev + test
    train = train[: int(share * len(train))]
    seconds, last, begin = {}, time.perf_counter(), time.process_time()

    def lap(name: str) -> None:
        nonlocal last
        seconds[name], last = time.perf_counter() - last, time.perf_counter()

    CRF = importlib.import_module(module).CRF
    lap("import")
    X_train, y_train = [features(s) for s, _ in train], [y for _, y in train]
    X_test, y_test = [features(s) for s, _ in test], [y for _, y in test]
    lap("features")
    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
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
    theirs, ours = results.values()
    parts = ("import", "features", "fit", "predict")
    rows = [(part, theirs["seconds"][part], ours["seconds"][part]) for part in parts]
    whole = [sum(side["seconds"].values()) for side in (theirs, ours)]
    without = [total - side["seconds"]["features"] for total, side in zip(whole, (theirs, ours), strict=True)]
    pairs = [(a, b) for x, y in zip(theirs["labels"], ours["labels"], strict=True) for a, b in zip(x, y, strict=True)]
    same = sum(a == b for a, b in pairs) / len(pairs)
    cpu = theirs["cpu"] / ours["cpu"]
    f1 = 100 * (ours["f1"] - theirs["f1"])
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=HERE
    ).stdout.strip()
    lines = [
        "# A sklearn-crfsuite script with one changed line",
        "",
        f"`python benchmarks/crfsuite_dropin.py`: the tutorial's script on UNER-EWT, {ours['tokens'][0]:,} tokens to",
        f"learn from and {ours['tokens'][1]:,} to tag. Commit {commit}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; sklearn-crfsuite uses one.",
        f"The fastest of {repeats} runs of each side, in turn; load average before them {load:.1f}.",
        "",
        "| what | sklearn-crfsuite | spanloom.compat | ratio |",
        "|---|---:|---:|---:|",
        *(f"| {name} | {a:.2f} s | {b:.2f} s | {a / b:.1f}× |" for name, a, b in rows),
        f"| **end to end** | {whole[0]:.2f} s | {whole[1]:.2f} s | **{whole[0] / whole[1]:.1f}×** |",
        f"| without making features, the user's own Python | {without[0]:.2f} s | {without[1]:.2f} s | "
        f"{without[0] / without[1]:.1f}× |",
        f"| end to end, processor time | {theirs['cpu']:.2f} s | {ours['cpu']:.2f} s | {cpu:.1f}× |",
        f"| F1 (strict) | {100 * theirs['f1']:.2f} | {100 * ours['f1']:.2f} | {f1:+.2f} |",
        f"| objective | {theirs['loss']:.2f} | {ours['loss']:.2f} | |",
        f"| iterations | {theirs['iterations']} | {ours['iterations']} | |",
        f"| weights that are not 0 | {theirs['active']:,} | {ours['active']:,} | |",
        "",
        f"Labels agree on {100 * same:.2f} % of the test tokens. Both stop after 100 iterations, before the optimum.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure both sides, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE.parent.parent / "shared" / "data"))
    parser.add_argument("--quick", action="store_true", help="a tenth of the training data, and no result file")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(SIDES[options.side], options.data, 0.1 if options.quick else 1.0)))
        return
    load, repeats = os.getloadavg()[0], 1 if options.quick else REPEATS
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for side in [*SIDES] * repeats:
        command = [sys.executable, __file__, "--data", options.data, "--side", side]
        command += ["--quick"] if options.quick else []
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
