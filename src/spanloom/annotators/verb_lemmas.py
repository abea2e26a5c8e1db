"""Lemmas of English verbs by rule, from the word and its Penn tag, where no lemmatiser is at hand.

Inflected forms lose their ending; a stem gets its *e* back where its end asks for one, and loses a doubled consonant.
Irregular verbs are in a table. It is right for the verbs of scientific prose and no dictionary: use a column ``lemma``
from UDPipe or spaCy where there is one.
"""

from __future__ import annotations

import functools
import re

_FORMS = """
be am is are was were been being 's 'm 're|have has had having 've|do does did done|find found|bind bound
lead led|make made
give gave given|know knew known|see saw seen|take took taken|become became|begin began begun|hold held|keep kept
lose lost|meet met|rise rose risen|arise arose arisen|undergo underwent undergone|go went gone goes|grow grew grown
fall fell fallen|bring brought|build built|choose chose chosen|draw drew drawn|drive drove driven|feel felt
get got gotten|leave left|seek sought|send sent|spend spent|understand understood|write wrote written|say said
think thought|tell told|come came|run ran running|feed fed|breed bred|break broke broken|speak spoke spoken
strike struck|swell swollen|show shown|prove proven|stand stood|withdraw withdrew withdrawn|overcome overcame
lie lay lain lied lying|die died dying|wear wore worn|tie tied tying|hear heard|win won|buy bought|mean meant|pay paid
teach taught|catch caught|sell sold|sit sat|shrink shrank shrunk|freeze froze frozen freezing
undertake undertook undertaken|throw threw thrown|create created creating|lay laid|control controlled controlling
"""
IRREGULAR = {
    form: forms[0]
    for line in _FORMS.strip().replace("\n", "|").split("|")
    for forms in [line.split()]
    for form in forms[1:]
}
SAME = frozenset(
    {"cut", "put", "set", "split", "spread", "let", "read", "need", "feed", "exceed", "proceed", "bring", "s"}
)
"""Forms that only look as if they had an ending."""

_VERB = re.compile(r"[aeiouy].*[a-z]|[a-z].*[aeiouy]")  # what is left by an ending has a vowel and another letter
_DOUBLED = re.compile(r"[^aeiou]*[aeiou].*([bdgkmnprt])\1$")
_SHORT = re.compile(r"[^aeiou]+[aeiou][^aeiouwxy]$")
_WITH_E = re.compile(
    r"(?:[^eo]at|[iyau][sz]|[^s]{2}s|[cvu]|[bdpgtkfcz]l|[^ao]in|[^aeo]ir|[^ei]ar|[^o]ur|(?:pl|st|gn|sc)or|um|[^a]im"
    r"|[^o]ut|(?:c|v|un)it|(?:l|cr)et|(?:m|n|v)ot|[^ao]id|ud|[^eo]ad|[^o]od|ced|[^o]ok|yp|hap|ib|[ae]n?g|r?dg|rg|qu|re|[ei]en|[sv]en)$"
)


@functools.lru_cache(maxsize=1 << 16)
def verb_lemma(word: str, tag: str) -> str:
    """Return the lemma of a verb, lower case.

    Parameters
    ----------
    word
        As it stands in the text.
    tag
        Of the Penn Treebank: VBZ, VBD, VBN and VBG have endings.

    Examples
    --------
    >>> [verb_lemma(*verb) for verb in (("activates", "VBZ"), ("induced", "VBN"), ("binding", "VBG"), ("was", "VBD"))]
    ['activate', 'induce', 'bind', 'be']
    """
    word = word.lower()
    if word in IRREGULAR or word in SAME:
        return IRREGULAR.get(word, word)
    if tag == "VBZ":
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        if re.search(r"(?:ss|sh|ch|x|zz)es$", word):
            return word[:-2]
        return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    if tag in ("VBD", "VBN") and word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for tags, ending in ((("VBD", "VBN"), "ed"), (("VBG",), "ing")):
        if tag in tags and word.endswith(ending) and _VERB.search(stem := word.removesuffix(ending)):
            return _whole(stem)
    return word


def _whole(stem: str) -> str:
    """Return the verb of a stem that was left by an ending."""
    if len(stem) > 3 and _DOUBLED.match(stem):
        return stem[:-1]
    return stem + "e" if _WITH_E.search(stem) or _SHORT.match(stem) else stem
