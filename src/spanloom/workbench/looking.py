"""Look at what is there: why a mention is believed, where else its text occurs, counts, the report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.statistics import statistics
from spanloom.drawing.explanation import said, where
from spanloom.evaluation import evaluate
from spanloom.evaluation.page.build import page
from spanloom.workbench.api.call import Download
from spanloom.workbench.errors import Refused
from spanloom.workbench.exporting import layer
from spanloom.workbench.gold import complete, gold_document, gold_documents, token_starts

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

TOP = 12
"""Features of an explanation."""
PLACES = 100
"""Occurrences of a text that are shown."""
_AROUND = 6  # tokens on either side of an occurrence


def why(project: Project, document: int, mention: Mention) -> dict[str, Any]:
    """Return the features that speak for a mention and against it, in the last model."""
    doc = project.documents.get(document)
    if mention.end > len(doc):
        raise Refused(f"{mention.label} {mention.parts} ends after the last of {len(doc)} tokens")
    ner = project.learner.recognizer()
    told = ner.explain(doc, mention)
    places = [{"words": said(words, given), "contribution": value} for _, words, given, value in told.places()]
    features = [{"feature": name, "where": where(own), "contribution": c} for name, c, own in told.features()[:TOP]]
    return {**told.to_json(TOP), "belief": ner.belief_, "places": places, "features": features}


def occurrences(project: Project, document: int, parts: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    """Return where else the tokens of a mention stand one after the other, and what is annotated there."""
    doc = project.documents.get(document)
    if parts[-1][1] > len(doc):
        raise Refused(f"{parts} ends after the last of {len(doc)} tokens")
    tokens = doc.tokens
    wanted = [tokens[t].lower() for start, end in parts for t in range(start, end)]
    rows = project.db.rows("SELECT id, name FROM documents WHERE instr(lower(text), ?) ORDER BY id", wanted[0])
    labels: Counter[str] = Counter()
    places: list[dict[str, Any]] = []
    total = 0
    for number, name in rows:
        other = project.documents.get(number)
        hits = list(_hits(other, wanted))
        if not hits:
            continue
        gold = gold_document(other, project.sheets.of(number))
        starts = token_starts(other.sentences)
        for k, at in hits:
            total += 1
            here = Mention("x", ((at, at + len(wanted)),)).parts
            found = sorted(m.label for m in gold.sentences[k].mentions if m.parts == here)
            labels.update(found or ["none"])
            if len(places) < PLACES:
                context = _context(other.sentences[k], at, len(wanted))
                start = starts[k] + at
                places.append({"document": number, "name": name, "start": start, "labels": found, "context": context})
    return {"total": total, "labels": dict(labels.most_common()), "places": places}


def _hits(doc: Document, wanted: list[str]) -> Any:
    size = len(wanted)
    for k, sentence in enumerate(doc.sentences):
        lower = [token.lower() for token in sentence.tokens]
        for at in range(len(lower) - size + 1):
            if lower[at] == wanted[0] and lower[at : at + size] == wanted:
                yield k, at


def _context(sentence: Sentence, at: int, size: int) -> str:
    first, last = max(0, at - _AROUND), min(len(sentence), at + size + _AROUND)
    text = sentence.text[sentence.spans[first][0] : sentence.spans[last - 1][1]]
    return f"{'… ' if first else ''}{text}{' …' if last < len(sentence) else ''}"


def counts(project: Project) -> dict[str, Any]:
    """Return what is annotated, by label and kind, and what each annotator has done."""
    docs = gold_documents(project.documents, project.sheets)
    found = statistics(docs)
    strings: dict[str, Counter[str]] = {}
    for doc in docs:
        for sentence in doc.sentences:
            for mention in sentence.mentions:
                strings.setdefault(mention.label, Counter())[sentence.surface(mention).lower()] += 1
    rows = project.db.rows(
        "SELECT name, count(*) AS actions, count(DISTINCT document) AS documents FROM actions "
        "JOIN sheets ON sheets.id = sheet JOIN annotators ON annotators.id = annotator WHERE state = 'done' "
        "GROUP BY name ORDER BY actions DESC"
    )
    return {
        "documents": found.documents,
        "sentences": found.sentences,
        "complete": sum(s.known is None for doc in docs for s in doc.sentences),
        "mentions": found.mentions,
        "kinds": dict(found.kinds),
        "labels": [
            {"label": label, "mentions": n, "different": len(strings[label]), "top": strings[label].most_common(5)}
            for label, n in found.by_label.most_common()
        ],
        "annotators": [dict(row) for row in rows],
    }


def report(project: Project, gold: str, other: str) -> Download:
    """Return the page of an evaluation: of one layer against another, or of the last model on what is held out."""
    if other == "model":
        docs = complete(gold_documents(project.documents, project.sheets, held_out=True))
        if not docs:
            raise Refused("no held-out document has confirmed sentences, on which the model could be judged")
        made = evaluate(docs, project.learner.recognizer().predict(docs, probabilities=True))
        title = f"{project.name}: model {project.learner.progress.model} on held-out documents"
    else:
        left, right = (layer(project, name) for name in (gold, other))
        pairs = [
            (s, t)
            for one, two in zip(left, right, strict=True)
            for s, t in zip(one.sentences, two.sentences, strict=True)
            if s.known is None and t.known is None
        ]
        if not pairs:
            raise Refused(f"no sentence is confirmed in both {gold} and {other}")
        made = evaluate([s for s, _ in pairs], [t for _, t in pairs])
        title = f"{project.name}: {other} against {gold}"
    return Download(f"{project.name}-report.html", page(made, title=title).encode(), "text/html")
