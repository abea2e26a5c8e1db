"""From JSON lines of text to JSON lines of mentions: words a second by stage, and against the way through objects.

    python benchmarks/text_to_file.py --data FOLDER [--rounds 3] [--write]

Models are trained on GENIA with five types and the default features: ``chain`` (the longest of overlapping mentions)
and ``edge``, ten iterations each, since speed does not go by how good the weights are. Texts are PubMed sentences,
eight to a document. Every step runs in a process of its own: processor time on one thread without loading the model,
the best of the rounds, which take turns. Peak memory is that of the whole process, with model and Python. The long
document is 20 MB of the same text in one line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from tables import rounds_and_write, write

from spanloom import Recognizer, _native, read
from spanloom import write as write_corpus
from spanloom.decisions.rule import NO_THRESHOLDS
from spanloom.formats.checks import decode
from spanloom.formats.lines import lines
from spanloom.formats.report import Report
from spanloom.learning import LBFGS
from spanloom.tagging import TextTagger, json_records, tag_lines

MODELS = ("chain", "edge")
DOCUMENT = 8  # sentences
LONG = 20_000_000
SLICE = 400  # documents: as many as a batch of tag_lines has, about
Seconds = dict[str, float]


def objects(ner: Recognizer, source: str, target: str) -> Seconds:
    """Documents, sentences and mentions as Python objects: what ``Recognizer.stream`` gives."""
    start = time.process_time()
    write_corpus(ner.stream(read(source), batch=64), target, chars="yes")
    return {"objects": time.process_time() - start}


def native(ner: Recognizer, source: str, target: str, whole: bool = True) -> Seconds:
    """Batches of text through the native core, written as they come."""
    start = time.process_time()
    with Path(target).open("wb") as out:
        for piece in tag_lines(ner, json_records(source, Report()), whole=whole, probabilities=True):
            out.write(piece)
    return {"native" if whole else "mentions": time.process_time() - start}


def mentions(ner: Recognizer, source: str, target: str) -> Seconds:
    """The same with ids and mentions only."""
    return native(ner, source, target, whole=False)


def two(ner: Recognizer, source: str, target: str) -> Seconds:
    """Whole documents on two threads, by the clock: processor time would count both."""
    start = time.perf_counter()
    native(ner, source, target)
    return {"two": time.perf_counter() - start}


def load(ner: Recognizer, source: str, target: str) -> Seconds:
    """Nothing but the model."""
    return {}


def stages(ner: Recognizer, source: str, target: str) -> Seconds:
    """Each stage by itself."""
    tagger = TextTagger(ner, 1)
    features, decoder = ner.trained_.reader._fitted(), ner.trained_.decoder  # type: ignore[attr-defined]
    seconds: Seconds = defaultdict(float)
    clock = time.process_time()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.process_time()
        seconds[name] += now - clock
        clock = now

    source_lines = lines(source, Report())
    with Path(target).open("wb") as out:
        while records := [decode(line) for _, line in islice(source_lines, SLICE)]:
            texts, ids = [r["text"] for r in records], [r["id"] for r in records]
            lap("read JSON")
            cut = _native.TokenizedTexts(texts, 1)
            lap("tokens and sentences")
            rows = cut.rows(features, 1)
            lap("features")
            decoder.best(rows, 1)
            lap("decode")
            found = tagger._tagger.tag(cut, 1, thresholds=NO_THRESHOLDS)
            lap("features, decode and read off, by shards")
            lines_of = found.json_pieces(tagger.labels, ids, [""] * len(ids), whole=True, threads=1)
            lap("make JSON")
            out.writelines(lines_of)
            lap("write the file")
    return seconds


STEPS: dict[str, Callable[[Recognizer, str, str], Seconds]] = {
    "objects": objects,
    "native": native,
    "mentions": mentions,
    "two": two,
    "stages": stages,
    "load": load,
}


def child(step: str, model: str, source: str, target: str) -> None:
    """Run one step and print its seconds and the peak of its memory in megabytes."""
    ner = Recognizer.load(model, threads=2 if step == "two" else 1)
    seconds = STEPS[step](ner, source, target)
    # VmHWM begins anew with the process; ru_maxrss would begin with the peak of the parent.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([dict(seconds), int(peak[1]) * 1024 / 1e6 if peak else None]))


def run(step: str, model: Path, source: Path) -> tuple[Seconds, float]:
    """Run one step in a process of its own."""
    command = [sys.executable, __file__, "--child", step, str(model), str(source), str(source) + ".out.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


def main() -> None:
    """Train, run the steps in turns, and print the tables."""
    args = rounds_and_write(__doc__, 3)
    sentences = (args.data / "pubmed" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    texts = [" ".join(sentences[i : i + DOCUMENT]) for i in range(0, len(sentences), DOCUMENT)]
    words = _native.TokenizedTexts(texts, 1).tokens
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, twice, long = folder / "corpus.jsonl", folder / "twice.jsonl", folder / "long.jsonl"
        records = [json.dumps({"id": str(i), "text": text}, ensure_ascii=False) + "\n" for i, text in enumerate(texts)]
        corpus.write_text("".join(records), encoding="utf-8")
        twice.write_text("".join(records * 2), encoding="utf-8")
        whole_text = "\n".join(sentences)
        whole_text = (whole_text * (LONG // len(whole_text) + 1))[:LONG]
        long.write_text(json.dumps({"id": "long", "text": whole_text}, ensure_ascii=False) + "\n", encoding="utf-8")
        for kind in MODELS:
            model = folder / f"{kind}.loom"
            train = [s for doc in read(f"genia:{args.data}/genia?classes=5&split=train") for s in doc.sentences]
            ner = Recognizer(kind, keep="longest", trainer=LBFGS(max_iter=10), threads=1).fit(train)
            ner.save(model)
            best: Seconds = {}
            peaks: dict[str, float] = {}
            for _ in range(args.rounds):
                for step in STEPS:
                    seconds, peaks[step] = run(step, model, corpus)
                    best |= {stage: min(took, best.get(stage, took)) for stage, took in seconds.items()}
            _, peaks["twice"] = run("native", model, twice)
            took, peaks["long"] = run("native", model, long)
            rates = {stage: f"{words / seconds:,.0f}" for stage, seconds in best.items()}
            table += [
                f"## `{kind}`, {ner.extractor_.size:,} features, {model.stat().st_size / 1e6:.0f} MB of model",
                "",
                f"{words:,} words in {len(texts):,} documents.",
                "",
                "| way | words/s | times the first | peak memory, MB |",
                "|---|---:|---:|---:|",
                *(
                    f"| {label} | {rates[step]} | {best['objects'] / best[step]:.1f} | {peaks[step]:.0f} |"
                    for step, label in (
                        ("objects", "through objects (`Recognizer.stream`, `write`)"),
                        ("native", "native, whole documents"),
                        ("mentions", "native, ids and mentions only"),
                        ("two", "native, whole documents, two threads, by the clock"),
                    )
                ),
                "",
                f"Memory of the model alone: {peaks['load']:.0f} MB; with twice the input: {peaks['twice']:.0f} MB. "
                f"One document of {LONG / 1e6:.0f} MB: {took['native']:.1f} s, {peaks['long']:.0f} MB: "
                f"{peaks['long'] * 1e6 / LONG:.1f} times its size.",
                "",
                "| stage | words/s |",
                "|---|---:|",
                *(f"| {stage} | {rate} |" for stage, rate in rates.items() if stage not in STEPS),
                "",
            ]
            print("\n".join(table), flush=True)
    if args.write:
        title = "From text to file"
        write("text_to_file", title, args.rounds, "processor time, best of the rounds, one process a step", table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
