"""What to annotate next: the sentences that a model is least sure of, without near-duplicates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus import Document, Mention, Sentence
from spanloom.inference import Distribution
from spanloom.recognizer import Recognizer

WAYS = ("entropy", "margin", "change", "disagreement", "random")
LEAST = 0.05
"""Mentions that are less probable count for nothing in ``change``."""
ALIKE = 0.5
"""Sentences that share more of their word pairs than this (Jaccard) are near-duplicates."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A sentence to annotate.

    Attributes
    ----------
    document, number
        The id of its document, and which of its sentences it is, from 0.
    sentence
        With what the model finds in it, to be corrected.
    score
        The higher, the more there is to learn.
    """

    document: str
    number: int
    sentence: Sentence
    score: float


def suggest(
    ner: Recognizer,
    corpus: Iterable[Document],
    n: int = 100,
    *,
    by: str = "entropy",
    other: Recognizer | None = None,
    seed: int = 1,
) -> list[Suggestion]:
    """Return the ``n`` sentences of a corpus to annotate next, the most useful first; fewer if there are fewer.

    Parameters
    ----------
    ner
        A model that was trained on what is annotated already.
    corpus
        Text without annotation; mentions in it are not looked at.
    by
        ``"entropy"``: of the distribution over structures, in nats per token. ``"margin"``: 1 − (P of the best mention
        set − P of the second). ``"change"``: how many mentions of the answer an annotator would change, as expected.
        ``"disagreement"``: with the model ``other``, 1 − |both find| / |one finds|. ``"random"``: to compare with.
    other
        The second model for ``"disagreement"``.
    seed
        For ``"random"``.
    """
    check_count("n", n)
    check_choice("by", by, WAYS)
    if (by == "disagreement") != (other is not None):
        raise ParameterError("a second model (other=…, --other on the command line) goes with by='disagreement'")
    documents = list(corpus)
    places = [(d, i) for d, document in enumerate(documents) for i, s in enumerate(document.sentences) if len(s)]
    found = [[s.mentions for s in document.sentences] for document in ner.predict(documents, probabilities=False)]
    if by == "random":
        scores = np.random.default_rng(seed).random(len(places)).tolist()
    elif by == "change":
        likely = [[s.mentions for s in document.sentences] for document in ner.predict(documents, above=LEAST)]
        scores = [change(found[d][i], likely[d][i]) for d, i in places]
    elif other is not None:
        second = [
            [s.mentions for s in document.sentences] for document in other.predict(documents, probabilities=False)
        ]
        scores = [disagreement(found[d][i], second[d][i]) for d, i in places]
    else:
        beliefs = (belief for document in documents for belief in ner.distributions(document))
        lengths = [len(s) for document in documents for s in document.sentences]
        measure = per_token if by == "entropy" else margin
        scores = [measure(belief, length) for belief, length in zip(beliefs, lengths, strict=True) if length]
    order = sorted(range(len(places)), key=lambda k: (-scores[k], k))
    chosen = diverse((documents[d].sentences[i] for d, i in (places[k] for k in order)), n)
    made = []
    for rank in chosen:
        d, i = places[order[rank]]
        sentence = documents[d].sentences[i].with_mentions(found[d][i])
        made.append(Suggestion(documents[d].id, i, sentence, float(scores[order[rank]])))
    return made


def per_token(belief: Distribution, length: int) -> float:
    """Return the entropy of a sentence per token, in nats."""
    return belief.entropy() / length


def margin(belief: Distribution, length: int) -> float:
    """Return 1 minus the distance of the two most probable mention sets."""
    best = [p for p, _ in belief.k_best(2)]
    return 1.0 - (best[0] - (best[1] if len(best) > 1 else 0.0))


def change(answer: Sequence[Mention], likely: Sequence[Mention]) -> float:
    """Return the expected number of mentions that are wrong or missing in an answer.

    Parameters
    ----------
    answer
        The mentions that were found.
    likely
        All mentions that are not too improbable, with their probabilities.

    Examples
    --------
    >>> a, b = Mention("X", ((0, 1),), prob=0.75), Mention("X", ((1, 2),), prob=0.25)
    >>> change([a], [a, b])
    0.5
    """
    probs = {mention: mention.prob or 0.0 for mention in likely}
    return sum(1 - probs.pop(mention, 0.0) for mention in answer) + sum(probs.values())


def disagreement(a: Sequence[Mention], b: Sequence[Mention]) -> float:
    """Return the share of mentions that one of two sets alone has.

    Examples
    --------
    >>> dna, rna = Mention("DNA", ((0, 1),)), Mention("RNA", ((0, 1),))
    >>> disagreement([dna], [dna]), disagreement([dna], [dna, rna]), disagreement([], [])
    (0.0, 0.5, 0.0)
    """
    either = set(a) | set(b)
    return 1.0 - len(set(a) & set(b)) / len(either) if either else 0.0


def diverse(sentences: Iterable[Sentence], n: int) -> list[int]:
    """Return the numbers of the first ``n`` sentences that are no near-duplicate of one before.

    Examples
    --------
    >>> diverse([Sentence("a b c d".split()), Sentence("A b c d".split()), Sentence("a b x y".split())], 2)
    [0, 2]
    """
    having: dict[tuple[str, str], list[int]] = defaultdict(list)
    sizes: list[int] = []
    chosen: list[int] = []
    for number, sentence in enumerate(sentences):
        if len(chosen) == n:
            break
        pairs = _pairs(sentence)
        shared = Counter(k for pair in pairs for k in having[pair])
        if any(both > ALIKE * (len(pairs) + sizes[k] - both) for k, both in shared.items()):
            continue
        for pair in pairs:
            having[pair].append(len(chosen))
        chosen.append(number)
        sizes.append(len(pairs))
    return chosen


def _pairs(sentence: Sentence) -> set[tuple[str, str]]:
    words = ["", *(token.lower() for token in sentence.tokens), ""]
    return set(pairwise(words))
