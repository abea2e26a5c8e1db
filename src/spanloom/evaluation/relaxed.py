"""Scores that forgive something: the label, the boundaries, or a part of them.

Each is a one-to-one matching inside a sentence, and the best one there is, so that the order of annotations and
predictions never matters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from spanloom.corpus import Mention, Sentence
from spanloom.evaluation.score import Mentions, Score, distinct

Credit = Callable[[Mention, Mention], float]


def boundaries(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> Score:
    """Score the parts and forget the labels. Mentions of one sentence that differ in label only become one.

    Examples
    --------
    >>> boundaries([[Mention("DNA", ((0, 2),))]], [[Mention("RNA", ((0, 2),))]]).f1
    1.0
    """
    n_gold = n_predicted = n_both = 0
    for g, p in zip(gold, predicted, strict=True):
        gs, ps = {m.parts for m in g}, {m.parts for m in p}
        n_gold, n_predicted, n_both = n_gold + len(gs), n_predicted + len(ps), n_both + len(gs & ps)
    return Score(n_gold, n_predicted, n_both, n_both)


def labels(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> Score:
    """Score the labels and forget the places: how many mentions of each label a sentence has.

    Examples
    --------
    >>> labels([[Mention("DNA", ((0, 2),))]], [[Mention("DNA", ((5, 9),))]]).f1
    1.0
    """
    return _keyed(gold, predicted, lambda i, m: m.label)


def heads(sentences: Sequence[Sentence], predicted: Sequence[Mentions]) -> Score:
    """Score the label and the head word. A prediction takes at most one gold mention with the same label and head.

    The head of a mention is :func:`head_of` it.

    Examples
    --------
    >>> sentence = Sentence(["the", "IL-2", "gene"], [Mention("DNA", ((1, 3),))])
    >>> heads([sentence], [[Mention("DNA", ((0, 3),))]]).f1
    1.0
    """
    gold = [s.mentions for s in sentences]
    return _keyed(gold, predicted, lambda i, m: (m.label, head_of(sentences[i], m)))


def head_of(sentence: Sentence, mention: Mention) -> int:
    """Return the token that heads a mention.

    If the sentence has a ``head`` column (1-based, 0 is the root, as in CoNLL-U), it is the last token of the mention
    whose own head lies outside the mention; otherwise the last token, as English noun phrases mostly have it.

    Examples
    --------
    >>> words, heads = ["president", "of", "France"], ["0", "3", "1"]
    >>> head_of(Sentence(words, columns={"head": heads}), Mention("PER", ((0, 3),)))
    0
    >>> head_of(Sentence(words), Mention("PER", ((0, 3),)))
    2
    """
    column = sentence.columns.get("head")
    if column:
        inside = set(mention.tokens)
        outer = [i for i in mention.tokens if not column[i].isdigit() or int(column[i]) - 1 not in inside]
        if outer:
            return outer[-1]
    return mention.end - 1


def partial(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> Score:
    """Give each pair of the same label credit for the share of tokens that it has in common.

    The credit of a pair is ``|gold ∩ predicted| / |gold ∪ predicted|`` in tokens, 1 for an exact match. Every mention
    is in at most one pair, and the pairs are those with the largest sum. Precision is that sum over the number
    of predicted mentions, recall over the number of gold mentions.

    Examples
    --------
    >>> partial([[Mention("DNA", ((0, 4),))]], [[Mention("DNA", ((0, 3),))]]).f1
    0.75
    """
    return _matched(gold, predicted, shared)


def overlapping(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> Score:
    """Count a pair of the same label as a full match if it shares a token; as many pairs as possible.

    Examples
    --------
    >>> overlapping([[Mention("DNA", ((0, 4),))]], [[Mention("DNA", ((3, 9),))]]).f1
    1.0
    """
    return _matched(gold, predicted, lambda g, p: float(g.overlaps(p)))


def shared(one: Mention, other: Mention) -> float:
    """Return the share of tokens that two mentions have in common: 1 if equal, 0 if disjoint."""
    if len(one.parts) == len(other.parts) == 1:
        both = min(one.end, other.end) - max(one.start, other.start)
    else:
        both = len(set(one.tokens) & set(other.tokens))
    return both / (len(one) + len(other) - both) if both > 0 else 0.0


def best_pairs(gold: Sequence[Mention], predicted: Sequence[Mention], credit: Credit) -> list[tuple[int, int, float]]:
    """Return the one-to-one pairs ``(gold index, predicted index, credit)`` with the largest sum of credits.

    Pairs without credit are left out. Of several best pairings, the one that does not depend on the order of the
    mentions as given: ties are settled by their sorted order.
    """
    if not gold or not predicted:
        return []
    if len(gold) == 1 or len(predicted) == 1:
        # The single one takes its best partner; most sentences come to this.
        pairs = ((i, j) for i in range(len(gold)) for j in range(len(predicted)))
        top, _, _, i, j = min((-credit(gold[i], predicted[j]), gold[i], predicted[j], i, j) for i, j in pairs)
        return [(i, j, -top)] if top else []
    from scipy.optimize import linear_sum_assignment  # here: it takes long to import, and few need it

    rows = sorted(range(len(gold)), key=lambda i: gold[i])
    columns = sorted(range(len(predicted)), key=lambda j: predicted[j])
    table = np.array([[credit(gold[i], predicted[j]) for j in columns] for i in rows])
    found = zip(*linear_sum_assignment(table, maximize=True), strict=True)
    return [(rows[r], columns[c], float(table[r, c])) for r, c in found if table[r, c] > 0]


def token_accuracy(sentences: Sequence[Sentence], predicted: Sequence[Mentions]) -> float:
    """Return the share of tokens whose tag is right, as chunking is often scored.

    A token's tag is the set of ``B-label`` (the mention starts here) and ``I-label`` (it goes on) of every mention that
    it belongs to. On flat mentions this is the accuracy of IOB2 tags.

    Examples
    --------
    >>> sentence = Sentence(["the", "IL-2", "gene", "is"], [Mention("DNA", ((1, 3),))])
    >>> token_accuracy([sentence], [[Mention("DNA", ((2, 3),))]])
    0.5
    """
    total = sum(map(len, sentences))
    wrong = 0
    for sentence, p in zip(sentences, predicted, strict=True):
        if {(m.label, m.parts) for m in sentence.mentions} != {(m.label, m.parts) for m in p}:
            wrong += len({i for i, _, _ in _tags(sentence.mentions) ^ _tags(p)})
    return (total - wrong) / total if total else 0.0


def _tags(mentions: Iterable[Mention]) -> set[tuple[int, str, bool]]:
    return {(i, m.label, i == m.start) for m in mentions for i in m.tokens}


def _keyed(gold: Sequence[Mentions], predicted: Sequence[Mentions], key: Callable[[int, Mention], Hashable]) -> Score:
    """Match mentions with equal keys; the best matching takes as many of a key as both sides have."""
    n_gold = n_predicted = n_both = 0
    for i, (g, p) in enumerate(zip(gold, predicted, strict=True)):
        gs, ps = [key(i, m) for m in distinct(g)], [key(i, m) for m in distinct(p)]
        n_gold += len(gs)
        n_predicted += len(ps)
        for k in ps:
            if k in gs:
                gs.remove(k)
                n_both += 1
    return Score(n_gold, n_predicted, n_both, n_both)


def _matched(gold: Sequence[Mentions], predicted: Sequence[Mentions], credit: Credit) -> Score:
    n_gold = n_predicted = 0
    total = 0.0
    for g, p in zip(gold, predicted, strict=True):
        gs, ps = {(m.label, m.parts): m for m in g}, {(m.label, m.parts): m for m in p}
        n_gold += len(gs)
        n_predicted += len(ps)
        exact = gs.keys() & ps.keys()
        if len(exact) == len(gs) or len(exact) == len(ps):
            total += len(exact)
            continue
        if credit is shared:
            # Exact pairs can be taken first: 1 − |a∩b|/|a∪b| is a distance, and by its triangle inequality giving an
            # exact pair (s, s) up for (g, s) and (s, p) gains nothing: credit(g, p) ≥ credit(g, s) + credit(s, p) − 1.
            total += len(exact)
            for k in exact:
                del gs[k], ps[k]
        for label in sorted({label for label, _ in gs} & {label for label, _ in ps}):
            rows, columns = ([m for m in side.values() if m.label == label] for side in (gs, ps))
            total += sum(c for _, _, c in best_pairs(rows, columns, credit))
    return Score(n_gold, n_predicted, total, total)
