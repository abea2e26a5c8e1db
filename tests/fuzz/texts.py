"""Any text: cut by the native core and by its rules in Python, tagged by the short way and through objects."""

from __future__ import annotations

import unicodedata

from fuzz.target import Run, Target
from spanloom import Recognizer, _native
from spanloom.corpus import make_document, split_sentences, tokenize
from spanloom.corpus.token_rules import BASES, SWITCHES, TokenRules
from spanloom.formats.checks import encode
from spanloom.formats.jsonl import to_dict
from spanloom.tagging import Plain, tag_lines

NAMES = tuple(SWITCHES)


def cut() -> Run:
    """By any rules: ascending, disjoint tokens within the text, and sentences that hold each token once."""

    def run(raw: bytes) -> None:
        base, switches = BASES[raw[0] % 3 if raw else 0], int.from_bytes(raw[1:3], "little")
        text = raw[3:].decode("utf-8", "surrogatepass" if raw[:1] < b"\x80" else "replace") if _decodes(raw) else ""
        rules = TokenRules(base, tuple(name for k, name in enumerate(NAMES) if switches >> k & 1), ("mill", "kr"))
        spans = rules(text)
        at = 0
        for start, end in spans:
            if not at <= start < end <= len(text):
                raise AssertionError(f"token {start, end} of {text!r} by {rules.name}")
            at = end
        sentences = rules.split(text, spans)
        if [n for first, last in sentences for n in range(first, last)] != list(range(len(spans))):
            raise AssertionError(f"sentences {sentences} of {len(spans)} tokens of {text!r}")

    return run


def _decodes(raw: bytes) -> bool:
    try:
        raw[3:].decode("utf-8", "surrogatepass" if raw[:1] < b"\x80" else "replace")
    except UnicodeDecodeError:
        return False
    return True


def rules_in_python() -> Run:
    """Tokens and sentences of the native core are those of the same rules as regular expressions."""
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parent.parent / "corpus"))
    import sentences_reference
    import tokenizer_reference

    if unicodedata.unidata_version != _native.unicode_version():
        return lambda raw: None  # this Python knows other characters than the tables

    def run(raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        spans = tokenize(text)
        if spans != tokenizer_reference.tokenize(text):
            raise AssertionError(f"tokens of {text!r}: {spans}")
        if split_sentences(text, spans) != sentences_reference.split_sentences(text, spans):
            raise AssertionError(f"sentences of {text!r}")

    return run


def tagging() -> Run:
    """Lines of the native path are those of the way through objects, to the byte."""
    from fuzz.models import FIXTURES

    both = [Recognizer.load(FIXTURES / f"{name}.loom", threads=1) for name in ("chain", "edge")]

    def run(raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        for ner in both:
            whole = encode(to_dict(ner.predict(make_document(text), probabilities=False), chars=True), "here")
            (piece,) = tag_lines(ner, [Plain("", text)], probabilities=False)
            if bytes(piece).decode() != whole:
                raise AssertionError(f"the native path writes {piece!r}, the other {whole!r}")

    return run


_TEXTS = (
    "IL-2 (3.5 ng/ml) doesn't bind E. coli. Dr. J. Smith et al. said so!\n\nNext: http://a.b/(c)?d x@y.org 1,000.5e-3",
    "Ünïcode β 細胞 👨‍👩‍👧 🇩🇪 \u0301 \u200b “quoted” … e.g. U.S. Ph.D. O'Brien 1. Intro",
)
_PIECES = (
    "n't",
    "'s",
    "e.g.",
    "Dr.",
    "Fig.",
    "et al.",
    "http://",
    "www.",
    "a@b.c",
    "\n\n",
    "(",
    ")",
    "...",
    "U.S.",
    "1,000",
    "E. coli",
)
TARGETS = [
    Target("cut", cut, tuple(b"\0\0\0" + t.encode() for t in _TEXTS), _PIECES),
    Target("rules", rules_in_python, tuple(t.encode() for t in _TEXTS), _PIECES),
    Target("tagging", tagging, tuple(t.encode() for t in _TEXTS), _PIECES),
]
