"""BioC, XML or JSON by the file's ending, through the ``bioc`` package (``pip install 'spanloom[bioc]'``).

Passages stand at their offsets in the document's text. An annotation's label is its infon ``type`` (or another:
``label=…``), its other infons are attributes. Relations are kept in the document's meta ``relations``; annotations
of such a document keep their ids in the attribute ``id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need
from spanloom.corpus.document import Document
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord, as_int, as_list, as_object, as_string
from spanloom.formats.loss import Unwritten
from spanloom.formats.raw import from_text, padded
from spanloom.formats.report import Report
from spanloom.formats.writing import binary_target
from spanloom.formats.xml import declares_entities

keeps_probabilities = True


def read(path: str, report: Report, *, align: str = "strict", label: str = "type") -> Iterator[Document]:
    """Yield the documents of a BioC collection.

    Parameters
    ----------
    align
        What to do with mentions inside tokens: strict, expand, contract or split.
    label
        The infon that is the label.
    """
    for k, doc in enumerate(_documents(path)):
        where = f"{path}: document {doc.id or k}"
        try:
            _check(doc)
            text, placed = _text(doc, report, where)
        except BadRecord as error:
            report.broken(error.kind, where, str(error))
            continue
        relations = [_relation(r) for holder in (doc, *doc.passages) for r in holder.relations]
        mentions: list[CharMention] = []
        for start, holder in placed:
            for annotation in holder.annotations:
                mention = _mention(annotation, label, start - holder.offset, bool(relations), report, where)
                if mention is not None:
                    _check_surface(text, mention, annotation.text, report)
                    mentions.append(mention)
        meta = {str(key): str(value) for key, value in doc.infons.items()}
        if relations:
            meta["relations"] = relations  # type: ignore[assignment]
        yield from_text(text, mentions, report, where, id=str(doc.id or ""), align_by=align, meta=meta)


def write(docs: Iterable[Document], path: str, report: Report) -> None:
    """Write a BioC collection, one passage a document; mentions of several parts have several locations."""
    bioc = need("bioc", "bioc")
    unwritten = Unwritten("bioc")
    collection = bioc.BioCCollection()
    for k, doc in enumerate(docs):
        out = bioc.BioCDocument()
        out.id = doc.id
        for key, value in doc.meta.items():
            if isinstance(value, str):
                out.infons[key] = value
            elif key != "relations":
                unwritten.note("document meta that is not a string", True)
        passage = bioc.BioCPassage()
        passage.offset, passage.text = 0, doc.text
        spans = doc.spans
        for i, mention in enumerate(doc.mentions):
            annotation = bioc.BioCAnnotation()
            annotation.id = mention.attributes.get("id") or f"T{i + 1}"
            annotation.infons["type"] = mention.label
            annotation.infons.update(
                {key: value for key, value in mention.attributes.items() if key not in ("id", "type")}
            )
            if mention.prob is not None:
                annotation.infons["prob"] = repr(float(mention.prob))
            places = [(spans[s][0], spans[e - 1][1]) for s, e in mention.parts]
            annotation.text = " ".join(doc.text[s:e] for s, e in places)
            for s, e in places:
                annotation.add_location(bioc.BioCLocation(s, e - s))
            passage.add_annotation(annotation)
        out.add_passage(passage)
        for entry in doc.meta.get("relations", []):
            out.add_relation(_relation_back(bioc, entry))
        collection.add_document(out)
        for sentence in doc.sentences:
            unwritten.note("columns", sentence.columns)
            unwritten.note("own features", sentence.features is not None)
            unwritten.note("sentence meta", sentence.meta)
        if _has_control(doc.text) and not path.lower().endswith(".json"):
            raise CorpusError(f"document {doc.id or k}: its text has control characters, which XML cannot hold")
    try:
        content = need("bioc.biocjson" if path.lower().endswith(".json") else "bioc.biocxml", "bioc").dumps(collection)
    except (TypeError, ValueError) as error:
        raise CorpusError(f"cannot be written as BioC: {error}", path) from error
    with binary_target(path, report) as file:
        file.write(content.encode())
    unwritten.tell(report, path)


def _documents(path: str) -> Iterator[Any]:
    json = path.lower().endswith(".json")
    package = need("bioc.biocjson" if json else "bioc.biocxml", "bioc")
    if not json and declares_entities(path):
        raise CorpusError("declares XML entities, which may grow without bound or name files; they are not read", path)
    try:
        if json:
            with open(path, encoding="utf-8") as file:
                yield from package.load(file).documents
            return
        with package.iterparse(path) as reader:
            yield from reader
    except GeneratorExit:
        raise
    except Exception as error:  # the package lets through whatever its parsers raise
        line = getattr(error, "lineno", None) or 1
        raise CorpusError(f"not BioC: {type(error).__name__}: {error}", f"{path}:{line}") from error


def _check(doc: Any) -> None:
    """Raise ``BadRecord`` where the package has taken something of the wrong type from JSON."""
    as_object(doc.infons, "infons of the document")
    for passage in as_list(doc.passages, "passages"):
        for holder in (passage, *as_list(passage.sentences, "sentences")):
            if as_int(holder.offset, "offset of a passage or sentence") < 0:
                raise BadRecord(f"a passage begins at {holder.offset}; offsets count from 0")
            as_string(holder.text or "", "text of a passage or sentence")
            for annotation in as_list(holder.annotations, "annotations"):
                as_object(annotation.infons, "infons of an annotation")
                as_string(annotation.text or "", "text of an annotation")
                for place in as_list(annotation.locations, "locations"):
                    as_int(place.offset, "offset of a location"), as_int(place.length, "length of a location")
    for holder in (doc, *doc.passages):
        for relation in as_list(holder.relations, "relations"):
            as_object(relation.infons, "infons of a relation")


def _text(doc: Any, report: Report, where: str) -> tuple[str, list[tuple[int, Any]]]:
    """The text of a document, and where in it each passage and sentence begins."""
    text = ""
    placed: list[tuple[int, Any]] = []
    for holder in doc.passages:
        pieces = [holder] if holder.text else list(holder.sentences)
        if holder not in pieces:
            placed.append((holder.offset, holder))
        for piece in pieces:
            if piece.offset < len(text):
                report.warning("offsets", where, f"a passage at {piece.offset} begins before the one before it ends")
                text += "\n"
            elif piece.offset > len(text):
                text = padded(text + "\n", piece.offset)
            placed.append((len(text), piece))
            if piece is holder:
                placed.extend((len(text) + s.offset - holder.offset, s) for s in holder.sentences)
            text += piece.text or ""
    return text, placed


def _mention(annotation: Any, label: str, shift: int, keep: bool, report: Report, where: str) -> CharMention | None:
    place = f"{where}, annotation {annotation.id}"
    infons = {str(key): str(value) for key, value in annotation.infons.items()}
    name = infons.pop(label, "")
    if not name or not annotation.locations:
        report.broken("annotation", place, f"no infon {label!r}" if not name else "no location")
        return None
    prob: float | None = None
    try:
        prob = float(infons["prob"]) if 0 <= float(infons.get("prob", "nan")) <= 1 else None
    except ValueError:
        prob = None
    if prob is not None:
        del infons["prob"]
    if keep:
        infons["id"] = str(annotation.id)
    parts = tuple((loc.offset + shift, loc.offset + loc.length + shift) for loc in annotation.locations)
    return CharMention(name, parts, prob, infons, place)


def _check_surface(text: str, mention: CharMention, surface: str | None, report: Report) -> None:
    if surface and all(0 <= s < e <= len(text) for s, e in mention.chars):
        there = " ".join(text[s:e] for s, e in mention.chars)
        if "".join(there.split()) != "".join(surface.split()):
            report.error("text-mismatch", mention.where, f"said to be {surface!r}, but the text has {there!r}")


def _relation(relation: Any) -> dict[str, Any]:
    nodes = [[node.refid, node.role] for node in relation.nodes]
    return {"id": relation.id, "infons": dict(relation.infons), "nodes": nodes}


def _relation_back(bioc: Any, entry: dict[str, Any]) -> Any:
    relation = bioc.BioCRelation()
    relation.id = entry["id"]
    relation.infons.update(entry["infons"])
    for refid, role in entry["nodes"]:
        relation.add_node(bioc.BioCNode(refid, role))
    return relation


def _has_control(text: str) -> bool:
    return any(ord(char) < 32 and char not in "\t\n\r" for char in text) or "\r" in text
