"""From raw text to mentions and to JSON lines, without a Python object for each token or mention.

A batch of texts is cut, looked at, decoded and written in the native core; what comes back are arrays and bytes. The
mentions are those of ``Recognizer.predict``. It takes models of contiguous mentions over labels or separators whose
features read nothing but words; ``obstacle`` says what is in the way of others, which go through ``Recognizer.stream``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom import _native
from spanloom._native import TaggedTexts, TokenizedTexts
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.parameters import check_share
from spanloom.corpus import Document
from spanloom.formats.checks import BadRecord, as_object, decode, encode
from spanloom.formats.jsonl import parse, to_dict
from spanloom.formats.jsonl.records import mentions_only
from spanloom.formats.lines import lines
from spanloom.formats.report import Report
from spanloom.formats.tables import row_text
from spanloom.models.encoded import Encoded
from spanloom.models.structured import Structured
from spanloom.recognizer import Recognizer

BATCH_CHARACTERS = 1 << 20
"""Texts are tagged together until they have so many characters; a longer one is a batch of its own."""
BATCH_TEXTS = 4096
_PLAIN = frozenset({"id", "text", "meta"})


def obstacle(recognizer: Recognizer) -> str | None:
    """Say why a recogniser cannot go from text to mentions by the short way; None if it can.

    Examples
    --------
    >>> from spanloom import Recognizer, read
    >>> from spanloom.learning import LBFGS
    >>> ner = Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=2), repairs=["parentheses"])
    >>> obstacle(ner.fit(read("sample:dev")))
    'its mentions are repaired'
    """
    trained = recognizer._fitted()
    if not isinstance(trained, Structured):
        return f"the model {trained.model.name!r} has no components"
    if recognizer.makes is not None:
        return f"it tags the column {recognizer.makes!r}"
    if isinstance(trained, Encoded):
        return "it has an encoder"
    if trained.finder is None:
        return f"the model {trained.model.name!r} has neither labels of segments nor separators"
    if recognizer.pipeline_.annotators:
        return "it has annotators"
    if recognizer.rule_.thresholds is not None and recognizer.rule_.calibration is not None:
        return "its thresholds are on calibrated probabilities"
    if recognizer.repairs:
        return "its mentions are repaired"
    if recognizer.cuts_itself or recognizer._needs_tokenizer:
        return "it has a tokenizer or splitter of its own"
    features = trained.extractor.features
    others = sorted(set(features.columns()) - {"word"})
    if others or features.uses_own():
        return f"its features read {', '.join(others) or 'own features'}"
    return None


@dataclass(frozen=True, slots=True)
class TaggedBatch:
    """The mentions of some texts, as arrays with one number a mention.

    Attributes
    ----------
    labels
        What the numbers in ``label`` stand for.
    texts
        Sentences and tokens of the texts.
    found
        ``ptr`` (the mentions of each text), ``label``, ``start``, ``end`` (tokens), ``start_char``, ``end_char``.
    probs
        The probability of each mention, if it was asked for.
    """

    labels: tuple[str, ...]
    texts: TokenizedTexts
    found: TaggedTexts
    threads: int
    probs: npt.NDArray[np.float64] | None = None

    @property
    def document(self) -> npt.NDArray[np.intp]:
        """The text of each mention."""
        return np.repeat(np.arange(self.texts.documents), np.diff(self.found.ptr))

    def by_label(self) -> dict[str, int]:
        """Return how many mentions of each label there are; none of labels that were not found."""
        counts = np.bincount(self.found.label, minlength=len(self.labels)).tolist()
        return {label: count for label, count in zip(self.labels, counts, strict=True) if count}

    def json_lines(self, ids: Sequence[str], metas: Sequence[str] | None = None, *, whole: bool = True) -> bytes:
        """Return one line of JSON for each text, as ``formats.jsonl.write`` with ``chars="yes"`` does.

        Parameters
        ----------
        ids
            One for each text; an empty one is left out.
        metas
            JSON that goes into the field ``meta``; an empty one is left out.
        whole
            False for the id and the mentions only, each with its label, characters and text.
        """
        return b"".join(self.json_pieces(ids, metas, whole=whole))

    def json_pieces(self, ids: Sequence[str], metas: Sequence[str] | None = None, *, whole: bool = True) -> list[bytes]:
        """Return the same in pieces, to be written one after the other: a long line has several."""
        return self.found.json_pieces(
            self.labels, ids, [""] * len(ids) if metas is None else metas, whole=whole, threads=self.threads
        )


class TextTagger:
    """A recogniser at work on raw text.

    Parameters
    ----------
    recognizer
        A trained one. A mention penalty that it is given later counts here too.
    threads
        None for all cores. The result is the same for any number.

    Raises
    ------
    ParameterError
        If there is an ``obstacle``.

    Examples
    --------
    >>> from spanloom import Recognizer, read
    >>> from spanloom.learning import LBFGS
    >>> tagger = TextTagger(Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=5)).fit(read("sample:train")))
    >>> batch = tagger.tag(["IL-2 binds. It does."])
    >>> batch.texts.sentences, batch.texts.tokens
    (2, 8)
    >>> len(batch.found.start_char) == batch.found.size
    True
    """

    def __init__(self, recognizer: Recognizer, threads: int | None = None) -> None:
        reason = obstacle(recognizer)
        trained = recognizer._fitted()
        if reason is not None or not isinstance(trained, Structured) or trained.finder is None:
            raise ParameterError(f"this recogniser cannot tag text natively: {reason}; use Recognizer.stream")
        self.labels = tuple(trained.finder.labels)
        self._tagger = _native.TextTagger(trained.reader._fitted(), trained.finder.native)
        self._rules = recognizer.token_rules_.native
        self._wanted = recognizer.rule_.wanted(trained, self.labels)
        self.threads = threads or 0

    def tag(
        self, texts: Sequence[str] | TokenizedTexts, *, probabilities: bool = False, above: float | None = None
    ) -> TaggedBatch:
        """Find the mentions of texts; ``CorpusError`` if one is not valid Unicode.

        Parameters
        ----------
        texts
            Strings; or texts with tokens of their own, see ``TokenizedTexts.with_tokens``.
        probabilities
            Whether the batch has the probabilities of its mentions, those of ``Recognizer.predict``.
        above
            Every mention with at least this probability, whether or not it is in the best structure.
        """
        if above is not None:
            check_share("above", above)
        if not isinstance(texts, TokenizedTexts):
            try:
                texts = TokenizedTexts(texts, self.threads, self._rules)
            except ValueError as error:
                raise CorpusError(str(error)) from None
        found = self._tagger.tag(texts, self.threads, probabilities=probabilities, above=above or 0.0, **self._wanted)
        believed = probabilities or above is not None or self._wanted["thresholds"].size
        return TaggedBatch(self.labels, texts, found, self.threads, found.prob if believed else None)


@dataclass(frozen=True, slots=True)
class Plain:
    """A text that nothing is known of yet; ``meta`` is JSON, empty for none."""

    id: str
    text: str
    meta: str = ""


def json_records(path: str, report: Report) -> Iterator[Plain | Document]:
    """Yield what the lines of a JSONL file hold: plain texts, and documents where there is more.

    Parameters
    ----------
    path
        A JSONL file, ``-`` for standard input.
    report
        Takes lines that cannot be read; a strict one raises ``CorpusError`` with the line number.
    """
    return line_records(lines(path, report), "standard input" if path == "-" else path, report)


def line_records(
    numbered: Iterable[tuple[int, str]], name: str, report: Report, *, text: str = "", id: str = ""
) -> Iterator[Plain | Document]:
    """Yield what numbered lines of JSON hold, as :func:`json_records` does of a file.

    ``text`` and ``id`` are those of ``formats.jsonl.read``: the fields of records of any other shape.
    """
    for number, line in numbered:
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            record = decode(line)
            del line
            if text or id:
                plain: Plain | None = plain_row(as_object(record, "the record"), text, id, report, where)
            else:
                plain = plain_of(record, where)
            report.cut += plain is not None
            made = [plain or parse(record, report, where)]
            del record, plain  # a text may be long, and is not needed when it was cut
            yield made.pop()
        except BadRecord as error:
            report.broken(error.kind, where, str(error))


def plain_row(row: Mapping[str, Any], text: str, id: str, report: Report, where: str) -> Plain:
    """Return the text of a record of any shape, as ``formats.tables.row_document`` reads it."""
    own, content, meta = row_text(row, text or "text", id, report)
    return Plain(own, content, encode(meta, where)[:-1] if meta else "")


def tag_lines(
    recognizer: Recognizer,
    items: Iterable[Plain | Document],
    *,
    whole: bool = True,
    counts: Counter[str] | None = None,
    labels: Counter[str] | None = None,
    probabilities: bool = False,
    above: float | None = None,
) -> Iterator[bytes]:
    r"""Yield JSON lines with the mentions that a recogniser finds, some at a time; a long line comes in pieces.

    Texts go the short way; documents, which have tokens or mentions already, go through ``Recognizer.predict``.

    Parameters
    ----------
    recognizer
        A trained one without an ``obstacle``; its ``threads`` count.
    whole
        Whether lines have the whole documents; False for ids and mentions.
    counts
        Counts what the lines so far have: ``"documents"``, ``"words"`` (tokens) and ``"mentions"``. It changes with the
        last piece of some lines, which are then whole.
    labels
        Counts the mentions by label.
    probabilities, above
        As in ``Recognizer.predict``.

    Examples
    --------
    >>> from spanloom import Recognizer, read
    >>> ner = Recognizer("chain", keep="longest").fit(read("sample:train"))
    >>> print(*tag_lines(ner, [Plain("a", "The IL-2 gene.")], whole=False))
    b'{"id":"a","mentions":[{"label":"DNA","chars":[[4,13]],"text":"IL-2 gene"}]}\n'
    """
    tagger = TextTagger(recognizer, recognizer.threads)
    done: Counter[str] = Counter() if counts is None else counts
    by_label: Counter[str] = Counter() if labels is None else labels
    batch: list[Plain] = []
    size = 0

    def flush() -> Iterator[bytes]:
        nonlocal batch, size
        full, batch, size = batch, [], 0
        ids, metas = [one.id for one in full], [one.meta if whole else "" for one in full]
        texts = [[one.text for one in full]]
        del full
        tagged = tagger.tag(texts.pop(), probabilities=probabilities, above=above)
        more = {"documents": len(ids), "words": tagged.texts.tokens, "mentions": tagged.found.size}
        found = tagged.by_label()
        pieces = tagged.json_pieces(ids, metas, whole=whole)
        del tagged
        while pieces:
            if len(pieces) == 1:
                done.update(more)
                by_label.update(found)
            yield pieces.pop(0)

    for item in items:
        if isinstance(item, Plain):
            batch.append(item)
            size += len(item.text)
            del item
            if size >= BATCH_CHARACTERS or len(batch) == BATCH_TEXTS:
                yield from flush()
        else:
            if batch:
                yield from flush()
            record = to_dict(recognizer.predict(item, probabilities=probabilities, above=above), chars=True)
            done.update(documents=1, words=len(record["tokens"]), mentions=len(record["mentions"]))
            by_label.update(one["label"] for one in record["mentions"])
            yield encode(record if whole else mentions_only(record), f"document {item.id!r}").encode()
    if batch:
        yield from flush()


def plain_of(record: Any, where: str) -> Plain | None:
    """Return the text of a record of JSONL that has nothing but a text, an id and meta; None for others."""
    if not (
        type(record) is dict
        and _PLAIN.issuperset(record)
        and type(record.get("text")) is str
        and type(record.get("id", "")) is str
        and type(record.get("meta", {})) is dict
    ):
        return None
    meta = record.get("meta")
    return Plain(record.get("id", ""), record["text"], encode(meta, where)[:-1] if meta else "")
