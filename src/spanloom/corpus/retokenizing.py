"""Which tokenizer reproduces the tokens of a corpus?

Text must be cut at tagging time as the training data were. Those come cut, often by a tool that nobody knows any more.
So our ways to cut are tried on their text, and the one that gives the most of their tokens is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.corpus.document import Sentence
from spanloom.corpus.spacing import Habits, is_spaced, rejoin
from spanloom.corpus.token_rules import DEFAULT_RULES, SWITCHES, TokenRules

SENTENCES = 3000
"""So many are looked at, taken evenly from the whole corpus."""
ENOUGH = 0.995
"""Below it, users are told."""
ALIKE = 0.9999
"""From here on, nothing else is tried."""
GAIN = 0.0002
"""A switch must gain that much."""
ABBREVIATIONS = 1000
"""At most so many are learned."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How well a tokenizer gives the tokens of a corpus.

    Attributes
    ----------
    rules
        The tokenizer.
    agreement
        The share of tokens that come out the same; learned abbreviations are tested on sentences that they were not
        learned from.
    spacing
        Whether the ``"text"`` was there, or was ``"guessed"`` from the tokens.
    examples
        The most frequent tokens that do not.
    """

    rules: TokenRules
    agreement: float
    spacing: str
    examples: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what a training record keeps."""
        examples = {"examples": list(self.examples)} if self.examples else {}
        return {"name": self.rules.name, "agreement": round(self.agreement, 5), "spacing": self.spacing} | examples


class _Sample:
    """Texts with their tokens."""

    def __init__(self, sentences: Sequence[Sentence], threads: int) -> None:
        spaced = is_spaced(sentences)
        self.spacing = "text" if spaced else "guessed"
        self.threads = threads
        if spaced:
            made = [(s.text, s.spans) for s in sentences]
        else:
            habits = Habits.of(s.tokens for s in sentences)
            made = [rejoin(s.tokens, habits) for s in sentences]
        self.texts = [text for text, _ in made]
        lengths = [len(text) + 1 for text in self.texts]
        self.starts = np.array(list(accumulate(lengths, initial=0))[:-1], np.int64)  # all texts one after the other
        counts = [len(spans) for _, spans in made]
        pairs = np.array(list(chain.from_iterable(spans for _, spans in made)), np.int64).reshape(-1, 2)
        self.gold = pairs + np.repeat(self.starts, counts)[:, None]  # [tokens, 2]
        # Words of a contraction that are not in the text as they are cannot be cut out of it.
        tokens = chain.from_iterable(s.tokens for s in sentences)
        written = (text[start:end] for text, spans in made for start, end in spans)
        self.there = np.fromiter((a == b for a, b in zip(tokens, written, strict=True)), bool, len(pairs))
        self.half = np.repeat(np.arange(len(made)) % 2, counts)  # [tokens]: which half its sentence is in

    def same(self, rules: TokenRules) -> npt.NDArray[np.bool_]:
        """Return for every token whether the rules give it."""
        from spanloom import _native

        cut = _native.TokenizedTexts(self.texts, self.threads, rules.native)
        counts = np.diff(cut.token_ptr[cut.sentence_ptr])
        shift = np.repeat(self.starts, counts)
        start, end = cut.start + shift, cut.end + shift
        place = np.minimum(np.searchsorted(start, self.gold[:, 0]), len(start) - 1)
        same = (start[place] == self.gold[:, 0]) & (end[place] == self.gold[:, 1])
        found: npt.NDArray[np.bool_] = same & self.there
        return found

    def agreement(self, rules: TokenRules) -> float:
        return float(self.same(rules).mean())


def choose_rules(sentences: Sequence[Sentence], threads: int | None = None) -> Reproduction:
    """Return the tokenizer that reproduces the tokens of a corpus best: ours, where none is better.

    Our own rules are taken with every switch that helps, switch after switch, the most helpful first; then with the
    abbreviations of the corpus, if they help. Beside them, white space, and white space and punctuation are tried.

    Examples
    --------
    >>> made = choose_rules([Sentence(["SID-huset", "er", "her", "."]), Sentence(["EF-lande", ",", "ja", "."])])
    >>> made.rules.name, made.agreement, made.spacing
    ('default,hyphens', 1.0, 'guessed')
    """
    sample, looked = _sample(sentences, threads)
    best, score = DEFAULT_RULES, sample.agreement(DEFAULT_RULES)
    if score >= ALIKE:
        return Reproduction(best, score, sample.spacing, ())
    alone = {name: sample.agreement(TokenRules("default", (name,))) for name in SWITCHES}
    for name in sorted(SWITCHES, key=lambda one: -alone[one]):
        tried = TokenRules("default", (*best.switches, name))
        if (reached := sample.agreement(tried)) > score + GAIN:
            best, score = tried, reached
    order = tuple(name for name in SWITCHES if name in best.switches)
    best = replace(best, switches=order)
    if score < ALIKE:
        halves = [replace(best, abbreviations=_abbreviations(looked[half::2])) for half in (0, 1)]
        if any(one.abbreviations for one in halves):
            # Those of one half are tested on the other.
            same = np.where(sample.half == 0, sample.same(halves[1]), sample.same(halves[0]))
            if (reached := float(same.mean())) > score + GAIN:
                best, score = replace(best, abbreviations=_abbreviations(sentences)), reached
    for base in ("punctuation", "space"):
        if (reached := sample.agreement(TokenRules(base))) > score + GAIN:
            best, score = TokenRules(base), reached
    return Reproduction(best, score, sample.spacing, _missed(sample, looked, best))


def compare_rules(sentences: Sequence[Sentence], rules: TokenRules, threads: int | None = None) -> Reproduction:
    """Say how well a given tokenizer reproduces the tokens of a corpus."""
    sample, looked = _sample(sentences, threads)
    return Reproduction(rules, sample.agreement(rules), sample.spacing, _missed(sample, looked, rules))


def _sample(sentences: Sequence[Sentence], threads: int | None) -> tuple[_Sample, Sequence[Sentence]]:
    full = [s for s in sentences if len(s)]
    step = -(-len(full) // SENTENCES)
    looked = full[::step] if step > 1 else full
    return _Sample(looked, threads or 0), looked


def _abbreviations(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Words that have their period in the same token more often than in the next one."""
    kept: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for sentence in sentences:
        for i, token in enumerate(sentence.tokens):
            if token == "." and i:
                ended[sentence.tokens[i - 1]] += 1
            elif len(token) > 1 and token[-1] == "." and token[-2].isalnum():
                kept[token[:-1]] += 1
    found = [word for word, n in kept.most_common() if n > ended[word] and any(map(str.isalpha, word))]
    return tuple(sorted(found[:ABBREVIATIONS]))


def _missed(sample: _Sample, looked: Sequence[Sentence], rules: TokenRules) -> tuple[str, ...]:
    tokens = list(chain.from_iterable(s.tokens for s in looked))
    counts = Counter(tokens[i] for i in np.flatnonzero(~sample.same(rules)))
    return tuple(token for token, _ in counts.most_common(5))
