"""Lemmas and base phrases of English by rule, from words and Penn tags, where no lemmatiser or chunker is at hand."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from spanloom.annotators.base import Annotator, Columns
from spanloom.annotators.noun_phrases import ENDING
from spanloom.annotators.verb_lemmas import verb_lemma
from spanloom.corpus import Sentence

_NOUNS = """
mice mouse|men man|women woman|children child|feet foot|teeth tooth|nuclei nucleus|loci locus|foci focus
stimuli stimulus|bacteria bacterium|mitochondria mitochondrion|criteria criterion|phenomena phenomenon|people person
analyses analysis|bases base
hypotheses hypothesis|syntheses synthesis|metastases metastasis|diagnoses diagnosis|lives life|halves half|series series
species species
"""
NOUNS = {pair.split()[0]: pair.split()[1] for pair in _NOUNS.strip().replace("\n", "|").split("|")}
"""Plurals that no rule finds."""

_VERBAL = re.compile(r"(?<!A)A*(?:MA*)?V(?:[VA]*V)?|M")  # may have been, may bind, rapidly binds, to bind


class EnglishRules(Annotator):
    """Makes ``lemma`` and ``chunk`` from a column ``pos`` of Penn tags.

    Plural nouns and inflected verbs get a lemma by rule, other words their lower case. Chunks are noun phrases, verb
    groups and prepositions: ``B-NP``, ``I-VP``, ``B-PP`` and so on, elsewhere ``O``. A trained tagger knows more; see
    ``UDPipe``, and ``spanloom train --target chunk``.

    Examples
    --------
    >>> tags = ["DT", "NNS", "VBD", "VBN", "IN", "NN"]
    >>> sentence = Sentence("The kinases were induced by insulin".split(), columns={"pos": tags})
    >>> made = EnglishRules().columns([sentence])[0]
    >>> made["lemma"], made["chunk"]
    (['the', 'kinase', 'be', 'induce', 'by', 'insulin'], ['B-NP', 'I-NP', 'B-VP', 'I-VP', 'B-PP', 'B-NP'])
    """

    kind = "english-rules"
    requires = ("pos",)
    provides = ("lemma", "chunk")

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return [
            {
                "lemma": list(map(lemma, sentence.tokens, sentence.columns["pos"])),
                "chunk": chunks(sentence.tokens, sentence.columns["pos"]),
            }
            for sentence in sentences
        ]


def lemma(word: str, tag: str) -> str:
    """Return the lemma of a word with a Penn tag."""
    if tag.startswith("VB"):
        return verb_lemma(word, tag)
    return singular(word) if tag in ("NNS", "NNPS") else word.lower()


@functools.lru_cache(maxsize=1 << 16)
def singular(word: str) -> str:
    """Return a plural noun in the singular, lower case.

    Examples
    --------
    >>> [singular(word) for word in ("genes", "antibodies", "viruses", "boxes", "Mice", "IL-2s", "kinases")]
    ['gene', 'antibody', 'virus', 'box', 'mouse', 'il-2', 'kinase']
    """
    word = word.lower()
    if word in NOUNS:
        return NOUNS[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:ss|sh|ch|x|zz|[^aeo]us)es$", word):
        return word[:-2]
    return word[:-1] if re.search(r"[^sui]s$", word) and len(word) > 2 else word


def chunks(tokens: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags of base phrases."""
    made = ["O"] * len(tags)
    letters = "".join(map(_letter, tags))
    groups = [("VP", match.span()) for match in _VERBAL.finditer(letters)]
    groups += [("NP", part) for part in ENDING.phrases(tokens, tags)]  # the last word on what both claim
    groups += [("NP", (t, t + 1)) for t, tag in enumerate(tags) if tag in ("PRP", "EX", "WP")]
    groups += [("PP", (t, t + 1)) for t, letter in enumerate(letters) if letter == "P"]
    for name, (start, end) in groups:
        made[start:end] = [f"B-{name}", *[f"I-{name}"] * (end - start - 1)]
    for t, tag in enumerate(made):  # a group whose beginning another took
        if tag.startswith("I-") and (t == 0 or made[t - 1][2:] != tag[2:]):
            made[t] = f"B-{tag[2:]}"
    return made


def _letter(tag: str) -> str:
    if tag.startswith("VB"):
        return "V"
    return {"MD": "M", "TO": "A", "RB": "A", "IN": "P"}.get(tag, "x")
