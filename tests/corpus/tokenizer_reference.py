"""The tokenizer's rules as one regular expression over character classes, to hold the native one to.

The text is first mapped, character by character, to a *skeleton* of the same length that keeps ASCII letters and
punctuation and replaces everything else by the class it belongs to. The rules then hold for every script, and
positions in the skeleton are positions in the text. No rule backtracks over more than its own token, so the time is
linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from spanloom.corpus.mention import Part

# What the skeleton is made of, beside ASCII letters and punctuation, which stand for themselves.
UPPER, LETTER, DIGIT, LONE, EMOJI, FLAG, OTHER = "À", "à", "0", "\u5b57", "\u263a", "\u2691", "§"
MARK, JOINER, BLANK = "\u0302", "\u200d", " "
_WORD = f"A-Za-z{UPPER}{LETTER}{DIGIT}{MARK}{JOINER}"
_LETTERS = f"A-Za-z{UPPER}{LETTER}"
_MARKS = f"[{MARK}{JOINER}]"

# Scripts written without spaces: each character is a token.
_LONE_STARTS = (0x0E00, 0x0E80, 0x1000, 0x1780, 0x2E80, 0x3040, 0x3400, 0xF900, 0xFF66, 0x1B000, 0x20000)
_LONE_ENDS = (0x0E80, 0x0F00, 0x10A0, 0x1800, 0x2FE0, 0x3130, 0xA4D0, 0xFB00, 0xFFA0, 0x1B170, 0x323B0)

_DASHES = "‐‑‒–—―−"
_APOSTROPHES = "’＇"

_ABBREVIATIONS = (
    "[Dd]r|[Mm]rs?|[Mm]s|Mmes?|Messrs|[Pp]rof|Hon|Rev|[Ff]r|[Ss]t|[Ss]ts|Gen|Col|Capt|Lt|Sgt|Maj|Cmdr|Adm|Sen|Reps?|Gov|Pres|Supt"
    "|[Ff]igs?|[Ee]qs?|[Ee]qns?|[Rr]efs?|[Tt]ab|[Cc]h|[Ss]ec|[Ss]ect|[Vv]ols?|[Pp]p|[Ee]ds|[Ss]uppl|[Aa]rt"
    "|[Vv]s|[Cc]f|[Vv]iz|[Aa]pprox|[Rr]esp|[Ee]sp|[Ii]ncl|[Ee]xcl|[Ee]tc|[Aa]ka|[Cc]a"
    "|[Ss]pp|[Ss]p|[Ss]ubsp|[Vv]ar|[Cc]v|[Nn]ov|[Gg]en|[Uu]niv|[Dd]ept|[Ii]nst|[Aa]ssn|[Ll]ab"
    "|Inc|Ltd|Corp|Co|Bros|Jr|Sr|Esq|Ph\\.D|[Tt]el|[Ee]xt|[Aa]ve|[Bb]lvd|[Rr]d|[Mm]t|[Ff]t"
    "|Jan|Feb|Mar|Apr|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thurs?|Fri"
)
_CLITICS = "(?i:s|re|ll|ve|d|m)"

_TOKEN = re.compile(
    rf"""(?:
    [{_LETTERS}]{_MARKS}*\.(?:[{_LETTERS}]{_MARKS}*\.)+        # U.S.  e.g.  a.k.a.
  | [{_LETTERS}]+?(?=n't(?![{_WORD}'])|N'T(?![{_WORD}']))      # do|n't
  | (?:n't|N'T)(?![{_WORD}'])
  | (?:{_ABBREVIATIONS})\.(?!\.)                               # Fig.  Dr.  vs.
  | (?<=[Ee]t[ ])al\.(?!\.)
  | [Nn]os?\.(?=[ ]?{DIGIT})                                   # No. 5, but not "said no."
  | [A-Z{UPPER}]\.(?=[ ][a-z{LETTER}])                         # E. coli
  | (?:{DIGIT}{{1,3}}(?:,{DIGIT}{{3}})+(?!{DIGIT})|{DIGIT}+)   # 1,000
    (?:\.{DIGIT}+)*(?:[eE][-+]{DIGIT}+(?![{_WORD}]))?[{_WORD}]*  # 3.5  1e-5  2nd
  | (?<![{_WORD}.])\.{DIGIT}+[{_WORD}]*                        # .05
  | [{_WORD}_]+(?:(?<=[{_LETTERS}])'(?!{_CLITICS}(?![{_WORD}]))(?=[{_LETTERS}])[{_WORD}]+)*  # O'Brien
  | (?<=[{_WORD}])'{_CLITICS}(?![{_WORD}])                     # John|'s
  | {FLAG}{_MARKS}*{FLAG}?{_MARKS}*                            # two regional indicators are one flag
  | {EMOJI}{MARK}*(?:{JOINER}{EMOJI}{MARK}*)*{JOINER}*
  | ([-.*=~#])\1+ | [!?]+ | `` | ''
  | [^ ]
    ){_MARKS}*""",
    re.VERBOSE,
)

_URL = re.compile(r"(?:https?://|ftp://|www\.)(?=[^\W_])[^\s<>\"“”«»]+", re.IGNORECASE)
_HOST = re.compile(r"[^\W_](?:[^\W_]|-){0,62}(?:\.[^\W_](?:[^\W_]|-){0,62}){1,8}")
_LOCAL_LENGTH = 64  # RFC 5321, 4.5.3.1.1: the longest name before the @


def tokenize(text: str) -> list[Part]:
    """Return the tokens of a text as half-open character ranges."""
    skeleton = text.translate(_SKELETON)
    spans: list[Part] = []
    at = 0
    for start, end in _addresses(text):
        spans.extend(match.span() for match in _TOKEN.finditer(skeleton, at, start))
        spans.append((start, end))
        at = end
    spans.extend(match.span() for match in _TOKEN.finditer(skeleton, at))
    return spans


class _Skeleton(dict[int, str]):
    """A translation table that classifies a character when it is first met."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _classify(code)
        return kind


def _classify(code: int) -> str:
    char = chr(code)
    category = unicodedata.category(char)
    if char.isspace() or category == "Cc" or code in (0x200B, 0xFEFF):
        return BLANK
    if code < 128:
        return DIGIT if category == "Nd" else char
    if char in _DASHES:
        return "-"
    if char in _APOSTROPHES:
        return "'"
    if category[0] == "M" or 0x1F3FB <= code <= 0x1F3FF:  # also the skin tones of emoji
        return MARK
    if code == 0x200D:
        return JOINER
    if category == "Cf":
        return MARK
    place = bisect_right(_LONE_STARTS, code) - 1
    if category in ("Lo", "Lm", "Nl", "So") and place >= 0 and code < _LONE_ENDS[place]:
        return LONE
    if 0x1F1E6 <= code <= 0x1F1FF:
        return FLAG
    if category == "So":
        return EMOJI
    if category == "Nd":
        return DIGIT
    if category in ("Lu", "Lt"):
        return UPPER
    return LETTER if category[0] in "LN" else OTHER


_SKELETON = _Skeleton()


def _addresses(text: str) -> list[Part]:
    """Find URLs and e-mail addresses. Each character is looked at a bounded number of times."""
    found: list[Part] = []
    if "://" in text or "www." in text.lower():
        found = [(match.start(), _without_tail(text, *match.span())) for match in _URL.finditer(text)]
    at = text.find("@")
    if at < 0:
        return found
    urls, found, seen = found, [], 0
    for start, end in [*urls, (len(text), len(text))]:
        found.extend(_emails(text, seen, start))
        if start < end:
            found.append((start, end))
        seen = end
    return found


def _emails(text: str, low: int, high: int) -> list[Part]:
    found: list[Part] = []
    at = text.find("@", low, high)
    while at >= 0:
        start = at
        while start > max(low, at - _LOCAL_LENGTH) and (text[start - 1].isalnum() or text[start - 1] in "._%+-"):
            start -= 1
        while start < at and not text[start].isalnum():
            start += 1
        host = _HOST.match(text, at + 1, high)
        if start < at and host:
            found.append((start, host.end()))
            low = host.end()
        at = text.find("@", max(at + 1, low), high)
    return found


def _without_tail(text: str, start: int, end: int) -> int:
    """Return the end of a URL without the punctuation that belongs to the sentence around it."""
    surplus = {
        close: text.count(close, start, end) - text.count(open_, start, end) for open_, close in ("()", "[]", "{}")
    }
    while True:
        last = text[end - 1]
        if last in surplus and surplus[last] > 0:
            surplus[last] -= 1
        elif last not in ".,;:!?'’*_-":
            return end
        end -= 1
