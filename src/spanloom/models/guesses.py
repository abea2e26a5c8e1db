"""GUESS features: what earlier models of a cascade found, for later ones (Alex, Haddow & Grover 2007).

At tagging time, guesses have mistakes; a model that learned from gold ones, or from guesses on the very text that the
earlier model was trained on, would trust them too much. So the guesses for training come from cross-fitting: the text
is cut into blocks, and each is tagged by a model that was trained on the other blocks (``corpus.crossfit``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import OUTSIDE, to_tags

TEMPLATE = "own"
"""The template by which a model sees guesses: they are features of one's own."""
WINDOW = (-1, 0, 1)
"""How far around a token guesses are seen."""


def with_guesses(sentence: Sentence, layers: Sequence[Sequence[Mention]], own: bool) -> Sentence:
    """Return a sentence whose own features say what each of several models found at and beside every token.

    Parameters
    ----------
    layers
        For each model, the flat mentions that it found.
    own
        Whether to keep the features that the sentence has already.

    Examples
    --------
    >>> with_guesses(Sentence(["IL-2", "gene"]), [[Mention("protein", ((0, 1),))]], own=False).features
    [['guess[0]=B-protein'], ['guess[-1]=B-protein']]
    """
    n = len(sentence)
    guesses: list[list[str]] = [[] for _ in range(n)]
    for layer in layers:
        tags = to_tags([(m.label, m.start, m.end) for m in layer], n, "IOB2")
        for t, tag in enumerate(tags):
            if tag != OUTSIDE:
                for offset in WINDOW:
                    if 0 <= t - offset < n:
                        guesses[t - offset].append(f"guess[{offset}]={tag}")
    features = sentence.features if own and sentence.features is not None else [()] * n
    found = sentence.with_mentions(sentence.mentions)
    found.features = [_merged(mine, more) for mine, more in zip(features, guesses, strict=True)]
    return found


def _merged(mine: Any, guesses: list[str]) -> Any:
    if isinstance(mine, Mapping):
        return {**mine, **dict.fromkeys(guesses, 1.0)}
    return [*mine, *guesses]
