"""From raw text to a document: tokens by rules over character classes.

The rules are in the native core (``native/src/text``). A text is first mapped, character by character, to a *skeleton*
of the same length that keeps ASCII letters and punctuation and replaces everything else by the class it belongs to. So
the rules hold for every script. No rule looks back over more than its own token: the time is linear in the text. The
classes are those of one version of Unicode, so that a text is cut the same way under every Python.

Sentences are found by :func:`spanloom.corpus.sentences.split_sentences`; both are defaults of :func:`make_document`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Part
from spanloom.corpus.sentences import split_sentences
from spanloom.corpus.token_rules import DEFAULT_RULES

__all__ = ["Splitter", "Tokenizer", "make_document", "split_sentences", "tokenize"]

Tokenizer = Callable[[str], Sequence[Part]]
"""From a text to its tokens' half-open character ranges."""
Splitter = Callable[[str, Sequence[Part]], Sequence[Part]]
"""From a text and its tokens to its sentences' half-open token ranges."""


def tokenize(text: str) -> list[Part]:
    """Split a text into tokens and return their half-open character ranges.

    Every character that is not blank (white space, control characters, zero-width space) belongs to exactly one token.
    Hyphens, slashes and other punctuation are tokens of their own; URLs, e-mail addresses, numbers with their decimal
    point or thousands separators, acronyms with periods and common abbreviations stay whole; English clitics are split
    off (``do|n't``, ``John|'s``); scripts that are written without spaces give one token per character; combining
    marks stay with their base.

    Parameters
    ----------
    text
        Any string.

    Returns
    -------
    list of (start, end)
        Ascending, disjoint, never empty.

    Examples
    --------
    >>> text = "IL-2 (3.5 ng/ml) doesn't bind E. coli."
    >>> [text[start:end] for start, end in tokenize(text)]
    ['IL', '-', '2', '(', '3.5', 'ng', '/', 'ml', ')', 'does', "n't", 'bind', 'E.', 'coli', '.']
    """
    return DEFAULT_RULES(text)


def make_document(
    text: str, id: str = "", tokenizer: Tokenizer = tokenize, splitter: Splitter = split_sentences
) -> Document:
    """Make a document without mentions out of raw text.

    Parameters
    ----------
    text
        Any string; the document keeps it as it is.
    id
        The document's name.
    tokenizer, splitter
        Your own functions in place of the defaults. Tokens must be ascending, disjoint and not empty; sentences must
        hold every token once.

    Raises
    ------
    ParameterError
        If ``tokenizer`` or ``splitter`` returns ranges that break these rules.

    Examples
    --------
    >>> document = make_document("IL-2 binds. It acts on T cells.")
    >>> [sentence.text for sentence in document]
    ['IL-2 binds.', 'It acts on T cells.']
    >>> document.sentences[1].tokens
    ['It', 'acts', 'on', 'T', 'cells', '.']
    """
    spans = [(int(start), int(end)) for start, end in tokenizer(text)]
    at = 0
    for i, (start, end) in enumerate(spans):
        if not at <= start < end <= len(text):
            raise ParameterError(
                f"tokenizer returned ({start}, {end}) for token {i}; "
                f"it must be a half-open character range within ({at}, {len(text)}), after the token before it"
            )
        at = end
    sentences: list[Sentence] = []
    starts: list[int] = []
    at = 0
    for i, (first, last) in enumerate(splitter(text, spans)):
        if first != at or not first < last <= len(spans):
            raise ParameterError(
                f"splitter returned ({first}, {last}) for sentence {i}; "
                f"it must be a half-open token range that begins at {at} and ends within ({at}, {len(spans)}]"
            )
        begin, end = spans[first][0], spans[last - 1][1]
        own = [(s - begin, e - begin) for s, e in spans[first:last]]
        sentences.append(Sentence([text[s:e] for s, e in spans[first:last]], text=text[begin:end], spans=own))
        starts.append(begin)
        at = last
    if at != len(spans):
        raise ParameterError(f"splitter returned sentences for {at} of {len(spans)} tokens; it must place every token")
    return Document(sentences, id=id, text=text, starts=starts)
