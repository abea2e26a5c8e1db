"""Named sets of templates; ``FeatureSet.named`` takes them from here."""

from __future__ import annotations

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

NAMED: dict[str, tuple[str, ...]] = {
    "default": DEFAULT,
    "crfsuite-like": CRFSUITE_LIKE,
    "crfsuite-like-pos": CRFSUITE_LIKE_POS,
    "own": ("own",),
}
