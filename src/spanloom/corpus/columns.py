"""One message for a column that a sentence lacks."""

from __future__ import annotations

from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Sentence

_TAGS = (
    "let an annotator make it, which a model keeps from its training on (spanloom train --annotate udpipe:FILE or "
    "pos.loom, a tagger of your own; in Python annotators=['udpipe:FILE'])"
)
_TREES = (
    "Read a corpus with trees (conllu, gum, uner), or let a parser make them: --parser on the command line, "
    "e.g. --parser udpipe:FILE, Recognizer(annotators=['udpipe:FILE']), or `spanloom parse`."
)
_MAKERS = {
    "pos": _TAGS,
    "upos": _TAGS,
    "lemma": _TAGS,
    "chunk": "let a chunker make it (spanloom train --target chunk -o chunk.loom, then --annotate chunk.loom)",
}


def missing_column(name: str, sentence: Sentence, number: int | None, reader: str, *, remedy: str = "") -> CorpusError:
    """Return the error for a column that is read and that a sentence lacks.

    Parameters
    ----------
    name
        The column.
    sentence, number
        The first sentence that lacks it, and its number; None if ``reader`` names the sentence.
    reader
        Subject and verb: who reads the column.
    remedy
        A sentence with the way out, if it is not to add or make the column.

    Examples
    --------
    >>> print(missing_column("font", Sentence(["a"]), 3, "template 'font[0]' reads"))
    template 'font[0]' reads the column 'font', which sentence 3 lacks; it has: word. Add the column to the data, let \
an annotator make it (spanloom train --annotate REF, docs/annotators.md), or use features without it.
    """
    has = ", ".join(["word", *sentence.columns])
    made = _MAKERS.get(name, "let an annotator make it (spanloom train --annotate REF, docs/annotators.md)")
    usual = _TREES if name in ("head", "deprel") else f"Add the column to the data, {made}, or use features without it."
    where = "" if number is None else f", which sentence {number} lacks"
    return CorpusError(f"{reader} the column {name!r}{where}; it has: {has}. {remedy or usual}")
