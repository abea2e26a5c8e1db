"""BioCreative's rule: the gold offers alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.corpus import Mention, Sentence
from spanloom.evaluation.score import Mentions, Score


def with_alternatives(sentences: Sequence[Sentence], predicted: Sequence[Mentions]) -> Score:
    """Score by the rule of BioCreative II gene mention (Smith et al. 2008).

    A gold mention is found if a prediction equals it, or equals an alternative that overlaps it. A prediction is false
    if it equals no gold mention and no alternative. A further prediction that equals another alternative of a
    mention already found is neither right nor false, so that ``predicted`` here is the number of found gold mentions
    plus the number of false predictions, as the official script has it.

    Parameters
    ----------
    sentences
        Gold sentences; the alternatives are the mentions in ``sentence.meta["alternatives"]``.
    predicted
        The predicted mentions of each sentence.

    Examples
    --------
    >>> words = "the human insulin gene".split()
    >>> gold, other = Mention("GENE", ((1, 4),)), Mention("GENE", ((2, 3),))
    >>> with_alternatives([Sentence(words, [gold], meta={"alternatives": [other]})], [[other]]).f1
    1.0
    """
    n_gold = n_found = n_false = 0
    for sentence, p in zip(sentences, predicted, strict=True):
        gs, ps = set(sentence.mentions), set(p)
        others: set[Mention] = set(sentence.meta.get("alternatives", ()))
        said = others & ps
        n_gold += len(gs)
        n_found += sum(g in ps or any(a.label == g.label and a.overlaps(g) for a in said) for g in gs)
        n_false += len(ps - gs - others)
    return Score(n_gold, n_found + n_false, n_found, n_found)
