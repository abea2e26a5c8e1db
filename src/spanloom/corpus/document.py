"""Sentence and Document: tokens, their place in the text, columns, mentions.

Coordinates: a ``Sentence`` counts its own tokens from 0, and its character ``spans`` are positions in its own ``text``.
A ``Document`` counts tokens over all its sentences, and characters in its whole ``text``;
``document.mentions`` are in document tokens, ``sentence.mentions`` in sentence tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.corpus.known import Believed, Known
from spanloom.corpus.mention import Mention, Part, Parts

OwnFeatures = Sequence[Any]
"""Per token: a list of strings, or a dict from string to number, string or bool (as CRFsuite users have)."""


@dataclass(slots=True)
class Sentence:
    """One sentence: what the models work on.

    Parameters
    ----------
    tokens
        The words.
    mentions
        Gold or predicted mentions, in this sentence's token indices.
    columns
        Further values per token by name, e.g. ``{"pos": [...], "lemma": [...]}``; as long as ``tokens``.
    text, spans
        The sentence as it was written, and each token's half-open character range in it.
        Left out, the text is the tokens joined by spaces.
    features
        The user's own features per token, used by templates that say ``own``.
    meta
        What the source says about the sentence, e.g. its ``sent_id``.
    known
        What of the sentence is annotated; None: all of it.
    """

    tokens: list[str]
    mentions: list[Mention] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)
    text: str = ""
    spans: list[Part] = field(default_factory=list)
    features: OwnFeatures | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    known: Known | None = None

    def __post_init__(self) -> None:
        given: object = self.tokens
        if type(given) is str:
            raise ValueError(
                f"tokens must be a list of words, not the string {given!r:.60}; a text is cut into sentences by "
                "spanloom.corpus.make_document(text)"
            )
        if type(self.mentions) is not list:
            self.mentions = list(self.mentions)
        for mention in self.mentions:
            if mention.parts[-1][1] > len(self.tokens):
                raise ValueError(
                    f"mention {mention.label} {mention.parts} ends after the last of {len(self.tokens)} tokens; parts "
                    "are half-open ranges in tokens of the sentence"
                )
        if not self.spans and self.tokens:
            if not self.text:
                self.text = " ".join(self.tokens)
            self.spans = find_tokens(self.text, self.tokens)
            if (i := len(self.spans)) < len(self.tokens):
                at = self.spans[-1][1] if self.spans else 0
                raise ValueError(f"token {i} {self.tokens[i]!r} does not occur in the text after character {at}")
        if len(self.spans) != len(self.tokens):
            raise ValueError(f"{len(self.tokens)} tokens but {len(self.spans)} character spans")
        for name, values in self.columns.items():
            if len(values) != len(self.tokens):
                raise ValueError(f"column {name!r} has {len(values)} values for {len(self.tokens)} tokens")
        if self.features is not None and len(self.features) != len(self.tokens):
            raise ValueError(f"features are given for {len(self.features)} of {len(self.tokens)} tokens")
        if self.known is not None and self.known.ranges and self.known.ranges[-1][1] > len(self.tokens):
            raise ValueError(f"known range {self.known.ranges[-1]} ends after the last of {len(self.tokens)} tokens")
        if self.believed is not None:
            last = max((m.parts[-1][1] for _, own in self.believed.sets for m in own), default=0)
            if last > len(self.tokens):
                raise ValueError(f"a believed mention ends at token {last}, and there are {len(self.tokens)} tokens")

    @property
    def believed(self) -> Believed | None:
        """What a teacher believes of the sentence, of which then nothing is annotated."""
        return None if self.known is None else self.known.believed

    def __len__(self) -> int:
        return len(self.tokens)

    def judgeable(self, found: Sequence[Mention]) -> Sequence[Mention]:
        """Return what was found without what the annotation leaves open, which is neither right nor wrong."""
        known = self.known
        return found if known is None else [m for m in found if known.covers(m) or m in self.mentions]

    def column(self, name: str) -> list[str]:
        """Return the values of one column; ``"word"`` is the tokens themselves."""
        return self.tokens if name == "word" else self.columns[name]

    def with_mentions(self, mentions: list[Mention]) -> Sentence:
        """Return a sentence that shares everything but the mentions."""
        other = object.__new__(Sentence)  # what is shared was checked when this sentence was made
        other.tokens, other.columns, other.text, other.spans = self.tokens, self.columns, self.text, self.spans
        other.features, other.meta, other.known = self.features, self.meta, self.known
        other.mentions = mentions
        return other

    def with_columns(self, columns: Mapping[str, list[str]]) -> Sentence:
        """Return a sentence that shares everything and has these columns beside or instead of its own."""
        both = {**self.columns, **columns}
        return Sentence(self.tokens, self.mentions, both, self.text, self.spans, self.features, self.meta, self.known)

    def chars(self, mention: Mention) -> Parts:
        """Return the mention's character ranges in this sentence's text."""
        return tuple((self.spans[s][0], self.spans[e - 1][1]) for s, e in mention.parts)

    def surface(self, mention: Mention) -> str:
        """Return the mention as written; parts are joined by ``" … "``."""
        return surface(self.text, self.chars(mention))

    def to_html(self) -> str:
        """Return the sentence with its mentions drawn, as HTML to be put into any page."""
        from spanloom.drawing.html import sentence_html, style

        return f"<style>{style()}</style>{sentence_html(self)}"

    def _repr_html_(self) -> str:
        """Show the drawing in notebooks."""
        return self.to_html()


@dataclass(slots=True)
class Document:
    """A text with its sentences.

    Parameters
    ----------
    sentences
        In reading order.
    id
        Unique within a corpus.
    text, starts
        The whole text, and where in it each sentence's text begins. Left out, sentences are joined by newlines.
    meta
        What the source says about the document, e.g. its genre.
    """

    sentences: list[Sentence]
    id: str = ""
    text: str = ""
    starts: list[int] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.starts and self.sentences:
            if self.text:
                self.starts = _find_starts(self.text, self.sentences)
            else:
                self.text = "\n".join([s.text for s in self.sentences])
                self.starts = [0, *accumulate(len(s.text) + 1 for s in self.sentences[:-1])]
        if len(self.starts) != len(self.sentences):
            raise ValueError(f"{len(self.sentences)} sentences but {len(self.starts)} starts")

    def __len__(self) -> int:
        """Return the number of tokens."""
        return sum(map(len, self.sentences))

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @property
    def tokens(self) -> list[str]:
        """The words of all sentences."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @property
    def spans(self) -> list[Part]:
        """Every token's half-open character range in ``text``."""
        return [
            (s + start, e + start)
            for start, sentence in zip(self.starts, self.sentences, strict=True)
            for s, e in sentence.spans
        ]

    @property
    def mentions(self) -> list[Mention]:
        """The mentions of all sentences, in document token indices."""
        shift = 0
        found: list[Mention] = []
        for sentence in self.sentences:
            found.extend(m.shifted(shift) if shift else m for m in sentence.mentions)
            shift += len(sentence)
        return found

    def with_sentences(self, sentences: list[Sentence]) -> Document:
        """Return a document that shares everything but the sentences, which have the same texts."""
        return _unchecked(sentences, self.id, self.text, self.starts, self.meta)

    def chars(self, mention: Mention) -> Parts:
        """Return a document mention's character ranges in ``text``."""
        spans = self.spans
        return tuple((spans[s][0], spans[e - 1][1]) for s, e in mention.parts)

    def surface(self, mention: Mention) -> str:
        """Return a document mention as written; parts are joined by ``" … "``."""
        return surface(self.text, self.chars(mention))

    def to_html(self) -> str:
        """Return the text with its mentions drawn, as HTML to be put into any page; ``write`` makes whole pages.

        Examples
        --------
        >>> doc = Document([Sentence(["IL-2", "gene"], [Mention("DNA", ((0, 2),), prob=0.9)])])
        >>> 'title="DNA 0.900"' in doc.to_html()
        True
        """
        from spanloom.drawing.html import document_html, style

        return f"<style>{style()}</style>{document_html(self)}"

    def _repr_html_(self) -> str:
        """Show the drawing in notebooks."""
        return self.to_html()


def _unchecked(sentences: list[Sentence], id: str, text: str, starts: list[int], meta: dict[str, Any]) -> Document:
    """Return a document of what was checked before."""
    document = object.__new__(Document)
    document.sentences, document.id, document.text = sentences, id, text
    document.starts, document.meta = starts, meta
    return document


TAGGED = (
    "; tokens and their tags become sentences by spanloom.corpus.from_tags(tokens, tags); lists of features and tags, "
    "as sklearn-crfsuite takes them, are learned by spanloom.compat.CRF().fit(X, y)"
)
"""The way out for those who come with lists."""


def as_documents(corpus: Iterable[Sentence | Document]) -> list[Document]:
    """Return documents as they are, and sentences as documents of one.

    Examples
    --------
    >>> [doc.text for doc in as_documents([Sentence(["a", "gene"]), Document([Sentence(["b"]), Sentence(["c"])])])]
    ['a gene', 'b\\nc']
    """
    documents: list[Document] = []
    for item in corpus:
        if isinstance(item, Document):
            documents.append(item)
        elif isinstance(item, Sentence):
            documents.append(_unchecked([item], "", item.text, [0], {}))
        else:
            raise ParameterError(
                f"a corpus is made of Documents or Sentences, not of {type(item).__name__}: {item!r:.60}"
                f"{_way_out(item)}"
            )
    return documents


def judgeable(sentences: Sequence[Sentence], found: Sequence[Sequence[Mention]]) -> list[list[Mention]]:
    """Return what was found in each sentence without what its annotation leaves open."""
    return [list(s.judgeable(own)) for s, own in zip(sentences, found, strict=True)]


def to_choose_on(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that are annotated completely, on which settings are chosen; all, if these have no mention.

    Never those that only a teacher speaks of.

    Examples
    --------
    >>> some, dna = Sentence(["a"], known=Known(labels=("DNA",))), Mention("DNA", ((0, 1),))
    >>> len(to_choose_on([Sentence(["b"], [dna]), some])), len(to_choose_on([Sentence(["b"]), some]))
    (1, 2)
    """
    told = [s for s in sentences if s.believed is None]
    whole = [s for s in told if s.known is None]
    return whole if any(s.mentions for s in whole) else told


def _way_out(item: object) -> str:
    return TAGGED if isinstance(item, list | tuple | dict) else ""


def map_sentences(
    function: Callable[[list[Sentence]], Iterable[Sentence]], documents: Sequence[Document]
) -> list[Document]:
    """Call a function once with the sentences of all documents; return the documents with its results.

    Examples
    --------
    >>> one, two = Document([Sentence(["a"])], "one"), Document([Sentence(["b"]), Sentence(["c"])], "two")
    >>> done = map_sentences(lambda all: [s.with_columns({"number": [str(i)]}) for i, s in enumerate(all)], [one, two])
    >>> [(doc.id, [s.columns["number"] for s in doc]) for doc in done]
    [('one', [['0']]), ('two', [['1'], ['2']])]
    """
    made = list(function([sentence for document in documents for sentence in document.sentences]))
    ends = accumulate((len(document.sentences) for document in documents), initial=0)
    return [doc.with_sentences(made[a:b]) for doc, (a, b) in zip(documents, pairwise(ends), strict=True)]


def surface(text: str, chars: Iterable[Part]) -> str:
    """Return what a text has at character ranges; several are joined by ``" … "``.

    Examples
    --------
    >>> surface("alpha- and beta-globin", [(0, 6), (16, 22)])
    'alpha- … globin'
    """
    return " … ".join(text[s:e] for s, e in chars)


def find_tokens(text: str, tokens: Sequence[str]) -> list[Part]:
    """Return where tokens stand in a text, looked for from left to right, up to the first that is not there.

    Examples
    --------
    >>> find_tokens("a gene, a", ["a", "gene", "a"]), find_tokens("a gene", ["a", "b", "gene"])
    ([(0, 1), (2, 6), (8, 9)], [(0, 1)])
    """
    spans: list[Part] = []
    at = 0
    for token in tokens:
        start = text.find(token, at)
        if start < 0:
            break
        at = start + len(token)
        spans.append((start, at))
    return spans


def _find_starts(text: str, sentences: list[Sentence]) -> list[int]:
    starts: list[int] = []
    at = 0
    for i, sentence in enumerate(sentences):
        start = text.find(sentence.text, at)
        if start < 0:
            raise ValueError(f"the text of sentence {i} does not occur in the document after character {at}")
        starts.append(start)
        at = start + len(sentence.text)
    return starts
