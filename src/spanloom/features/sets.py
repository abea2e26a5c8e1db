"""Named sets of templates; ``FeatureSet.named`` takes them from here."""

from __future__ import annotations

from spanloom.features.mention_sets import SETS as MENTION_SETS
from spanloom.features.segment_sets import SETS as SEGMENT_SETS
from spanloom.features.separator_sets import SETS as SEPARATOR_SETS

DEFAULT = (
    "bias",
    "word[-2..2]",
    "lower(word)[-2..2]",
    "shape(word)[0]",
    "collapsed(word)[-2..2]",
    "prefix(word, 1..4)",
    "suffix(word, 1..4)",
    "suffix(lower(word), 3)[-1]",
    "suffix(lower(word), 3)[1]",
    "flags(word)",
    "squeezed(lower(word))",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "collapsed(word)[-1] & collapsed(word)[0]",
    "collapsed(word)[0] & collapsed(word)[1]",
    "collapsed(word)[-1] & collapsed(word)[0] & collapsed(word)[1]",
    "lower(word)[-1] & collapsed(word)[0]",
    "collapsed(word)[0] & lower(word)[1]",
)
"""A strong general set for any text: about 40 features a token, from words alone."""

DEFAULT_GAPS = (
    "bias",
    "word[-3..2]",
    "lower(word)[-3..2]",
    "shape(word)[-1..0]",
    "collapsed(word)[-3..2]",
    "prefix(word, 1..4)[-1..0]",
    "suffix(word, 1..4)[-1..0]",
    "suffix(lower(word), 3)[-2]",
    "suffix(lower(word), 3)[1]",
    "flags(word)[-1..0]",
    "squeezed(lower(word))[-1..0]",
    "word[-2] & word[-1]",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "collapsed(word)[-2] & collapsed(word)[-1]",
    "collapsed(word)[-1] & collapsed(word)[0]",
    "collapsed(word)[0] & collapsed(word)[1]",
    "collapsed(word)[-2] & collapsed(word)[-1] & collapsed(word)[0]",
    "collapsed(word)[-1] & collapsed(word)[0] & collapsed(word)[1]",
    "lower(word)[-2] & collapsed(word)[-1]",
    "lower(word)[-1] & collapsed(word)[0]",
    "collapsed(word)[-1] & lower(word)[0]",
    "collapsed(word)[0] & lower(word)[1]",
)
"""The same for gaps, which have a word on either side: what ``DEFAULT`` says of a token is said of both."""

DEFAULT_MENTIONS = (*DEFAULT_GAPS, *MENTION_SETS["mention-words"])
"""The same for models that see gaps and whole mentions."""

BY_SITES = {"gaps": {"default": "default-gaps"}, "mentions": {"default": "default-mentions"}}
"""What a set is for models whose sites are no tokens."""

CRFSUITE_LIKE = (
    "bias",
    "lower(word)[-1..1]",
    "suffix(word, 2..3)",
    "flags(word, both, all_caps, title_case)[-1..1]",
    "flags(word, both, all_digits)",
)
"""What the tutorial of python-crfsuite uses, without part of speech."""

CRFSUITE_LIKE_POS = (*CRFSUITE_LIKE, "pos[-1..1]", "prefix(pos, 2)[-1..1]")
"""What the tutorial of python-crfsuite uses; the data need a column ``pos``."""


def _window(view: str) -> tuple[str, ...]:
    """A view of the tokens from two before to two after, one by one and as pairs of neighbours."""
    return (f"{view}[-2..2]", *(f"{view}[{i}] & {view}[{i + 1}]" for i in range(-2, 2)))


CHO_BIO_POS = (
    "bias",
    *_window("word"),
    *_window("squeezed(word)"),
    *_window("pos"),
    "ngrams(word, 2..4)",
    "prefix(word, 1..4)",
    "suffix(word, 1..4)",
    "shape(word)",
    "collapsed(word)[-1..1]",
    "flags(word)[-1..1]",
)
"""The part of ``cho-bio`` that needs a column ``pos`` only."""

CHO_BIO = (
    *CHO_BIO_POS,
    *_window("lemma"),
    *(f"lemma[{i}] & pos[{i}]" for i in range(-2, 3)),
    "chunk[-2..2]",
    "chunk-last[0]",
    "chunk-the[0]",
)
"""Biomedical names after Cho et al. 2013; the data need ``pos``, ``lemma`` and ``chunk``, of which ``chunk-last`` and
``chunk-the`` are made (``spanloom.annotators.ChunkColumns``)."""

CHO_CONLL = (
    "bias",
    *_window("word"),
    "prefix(word, 1..4)",
    "suffix(word, 1..4)",
    "shape(word)[-2..2]",
    "collapsed(word)[-1..1]",
    *_window("pos"),
    *_window("chunk"),
    "flags(word)",
)
"""General names as in Cho et al. 2013, after Kazama & Torisawa 2007; the data need ``pos`` and ``chunk``."""

NERSUITE = (
    "bias",
    *_window("word"),
    *_window("lemma"),
    *_window("pos"),
    *_window("chunk"),
    *(f"lemma[{i}] & pos[{i}]" for i in range(-2, 3)),
    "ngrams(word, 2..4)",
    "shape(word)",
    "squeezed(word)",
    "flags(word)",
)
"""About what NERsuite sees: words, lemmas, parts of speech and chunks; the data need those columns."""

PAIRS = (
    "distance",
    "lower(word)[left] & lower(word)[right]",
    "collapsed(word)[left] & collapsed(word)[right]",
    "collapsed(word)[left] & collapsed(word)[right-1]",
    "lower(word)[between]",
    "collapsed(word)[between]",
)
"""What models of pairs look at, where a set says nothing about pairs."""

MCDONALD_WORDS = (
    "bias",
    "word[-1..1]",
    "lower(word)[-1..1]",
    "collapsed(word)[-1..1]",
    "flags(word)[-1..1]",
    "prefix(word, 2..4)[-1..1]",
    "suffix(word, 2..4)[-1..1]",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "distance",
    "word[left] & word[right]",
    "collapsed(word)[left] & collapsed(word)[right]",
    "collapsed(word)[left] & collapsed(word)[right-1]",
    "suffix(word, 3)[left] & suffix(word, 3)[right-1]",
    "word[left+1] & word[right-1]",
    "word[between]",
)
"""The predicates of McDonald, Crammer & Pereira (2005) without part of speech."""

MCDONALD = (
    *MCDONALD_WORDS,
    "pos[-1..1]",
    "pos[-1] & pos[0]",
    "pos[0] & pos[1]",
    "pos[-1] & pos[0] & pos[1]",
    "pos[left] & pos[right]",
    "pos[left] & pos[right-1]",
    "pos[left+1] & pos[right]",
    "pos[left] & word[left+1] & pos[right]",
    "pos[left] & pos[left+1] & pos[right-1] & pos[right]",
    "pos[between]",
    "segment(pos)[between]",
    "segment(pos)[left..right]",
)
"""Word, part of speech and orthography from the previous to the next token, at both ends of a step within a mention;
how far the step goes, and which words and parts of speech it skips (McDonald, Crammer & Pereira 2005). The data need a
column ``pos``."""

SHA_PEREIRA = (
    "bias",
    "word[-2..2]",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "pos[-2..2]",
    *(f"pos[{i}] & pos[{i + 1}]" for i in range(-2, 2)),
    *(f"pos[{i}] & pos[{i + 1}] & pos[{i + 2}]" for i in range(-2, 1)),
    "distance",
    "word[left] & word[right]",
    "pos[left] & pos[right]",
    "word[between]",
    "pos[between]",
)
"""The predicates of Sha & Pereira (2003) for noun phrases, and what McDonald, Crammer & Pereira (2005) always add for
pairs of tokens. The data need a column ``pos``."""

ALEX_GENIA = (
    "bias",
    "word[-2..2]",
    "lower(word)[-1..1]",
    "pos[-2..2]",
    "prefix(word, 1..4)",
    "suffix(word, 1..4)",
    "flags(word)",
    "shape(word)[-1..1]",
    "collapsed(word)[-2..2]",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "pos[-1] & pos[0]",
    "pos[0] & pos[1]",
    "collapsed(word)[-1] & collapsed(word)[0]",
    "collapsed(word)[0] & collapsed(word)[1]",
    "character[-1..1]",
    "headword",
    "abbreviation[-1..1]",
    "title",
    "wordcounter",
    "verb",
    "font",
)
"""Alex, Haddow & Grover (2007): the tagger of Curran & Clark (2003) and features for biomedical text. The data need a
column ``pos``; the others are made from the whole document, see ``spanloom.annotators.documents``."""

ALEX_GENIA_PAPER = (
    *(template for template in ALEX_GENIA if template not in ("abbreviation[-1..1]", "verb", "font")),
    "abbreviation-term[-1..1]",
    "verb-lemma",
)
"""The same by the paper's words: short forms of gazetteer terms (``abbreviation-term``, with lexicons), lemmas of
verbs, no fonts, which GENIA does not have."""

NAMED: dict[str, tuple[str, ...]] = {
    "default": DEFAULT,
    "default-gaps": DEFAULT_GAPS,
    "default-mentions": DEFAULT_MENTIONS,
    "crfsuite-like": CRFSUITE_LIKE,
    "crfsuite-like-pos": CRFSUITE_LIKE_POS,
    "cho-bio": CHO_BIO,
    "cho-bio-pos": CHO_BIO_POS,
    "cho-conll": CHO_CONLL,
    "nersuite": NERSUITE,
    "mcdonald": MCDONALD,
    "mcdonald-words": MCDONALD_WORDS,
    "sha-pereira": SHA_PEREIRA,
    "own": ("own",),
    **SEGMENT_SETS,
    **SEPARATOR_SETS,
    **MENTION_SETS,
    "alex-genia": ALEX_GENIA,
    "alex-genia-paper": ALEX_GENIA_PAPER,
}
