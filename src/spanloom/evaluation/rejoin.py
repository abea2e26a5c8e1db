"""Gold and predictions that cut the same text differently: another tokenizer, other sentences.

Both are laid over the characters of the text, white space left out. Gold tokens are cut where a predicted mention
begins or ends inside of them, and gold sentences are joined where a predicted mention runs over their border; so every
mention of both sides has its place, and equal stretches of text are equal mentions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.mention import Parts


def rejoin(gold: Document, predicted: Document) -> tuple[list[Sentence], list[list[Mention]]]:
    """Return the gold sentences, cut and joined where needed, and the predictions for each.

    Examples
    --------
    >>> gold = Document([Sentence(["IL-2", "gene"], [Mention("DNA", ((0, 2),))])])
    >>> other = Document([Sentence(["IL", "-", "2", "gene"], [Mention("DNA", ((0, 4),)), Mention("RNA", ((0, 1),))])])
    >>> sentences, found = rejoin(gold, other)
    >>> sentences[0].tokens, [m.parts for m in sentences[0].mentions], [m.parts for m in found[0]]
    (['IL', '-2', 'gene'], [((0, 3),)], [((0, 3),), ((0, 1),)])
    """
    _check_text(gold, predicted)
    theirs = _edges(predicted.tokens)
    found = [_with_parts(m, tuple((theirs[s], theirs[e]) for s, e in m.parts)) for m in predicted.mentions]
    cuts = sorted({edge for m in found for part in m.parts for edge in part})
    ours = _edges(gold.tokens)
    borders = [ours[i] for i in accumulate((len(s) for s in gold.sentences), initial=0)]
    sentences: list[Sentence] = []
    lists: list[list[Mention]] = []
    for first, last in _runs(borders, found):
        low, high = borders[first], borders[last]
        joined = _joined(gold, first, last)
        sentence, places = _cut(joined, [c - low for c in cuts if low < c < high])
        sentences.append(sentence)
        inside = (m for m in found if low <= m.start and m.end <= high)
        lists.append([_with_parts(m, tuple((places[s - low], places[e - low]) for s, e in m.parts)) for m in inside])
    return sentences, lists


def _check_text(gold: Document, predicted: Document) -> None:
    ours, theirs = (_solid("".join(d.tokens)) for d in (gold, predicted))
    if ours == theirs:
        return
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    name = f"document {gold.id!r}" if gold.id else "a document"
    raise CorpusError(
        f"{name} has another text in the prediction: after {ours[max(0, at - 20) : at]!r} the gold goes on "
        f"{ours[at : at + 20]!r} and the prediction {theirs[at : at + 20]!r}"
    )


def _solid(text: str) -> str:
    return "".join(text.split())


def _edges(tokens: Sequence[str]) -> list[int]:
    """Return where each token begins, counting characters that are not white space; at the end, where all ends."""
    return list(accumulate((len(_solid(t)) for t in tokens), initial=0))


def _runs(borders: list[int], mentions: Iterable[Mention]) -> list[tuple[int, int]]:
    """Return the half-open runs of sentences that no mention leaves."""
    ends = set(range(1, len(borders)))
    for m in mentions:
        a, b = bisect_right(borders, m.start), bisect_right(borders, m.end - 1)
        ends -= set(range(a, b))
    stops = sorted(ends)
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _joined(document: Document, first: int, last: int) -> Sentence:
    """Make one sentence of the sentences ``first`` up to ``last``."""
    sentences = document.sentences[first:last]
    if len(sentences) == 1:
        return sentences[0]
    origin = document.starts[first]
    text = document.text[origin : document.starts[last - 1] + len(sentences[-1].text)]
    shifts = accumulate((len(s) for s in sentences), initial=0)
    tokens: list[str] = []
    spans, mentions, others = [], [], []
    for s, start, shift in zip(sentences, document.starts[first:last], shifts, strict=False):
        tokens += s.tokens
        spans += [(a + start - origin, b + start - origin) for a, b in s.spans]
        mentions += [m.shifted(shift) for m in s.mentions]
        others += [m.shifted(shift) for m in s.meta.get("alternatives", ())]
    names = [name for name in sentences[0].columns if all(name in s.columns for s in sentences)]
    columns = {name: [value for s in sentences for value in s.columns[name]] for name in names}
    meta = {**sentences[0].meta, **({"alternatives": others} if others else {})}
    return Sentence(tokens, mentions, columns, text, spans, meta=meta)


def _cut(sentence: Sentence, cuts: list[int]) -> tuple[Sentence, dict[int, int]]:
    """Cut tokens at some characters (white space not counted).

    Returns the sentence, and for each character where one of its tokens begins, and the end, the number of the token.
    """
    edges = _edges(sentence.tokens)
    tokens: list[str] = []
    spans, sources = [], []  # sources[i]: the old token of new token i
    places: dict[int, int] = {}
    for i, (token, (a, b)) in enumerate(zip(sentence.tokens, sentence.spans, strict=True)):
        solid = [k for k, char in enumerate(token) if not char.isspace()]
        inner = cuts[bisect_right(cuts, edges[i]) : bisect_left(cuts, edges[i + 1])]
        at = [0, *(solid[c - edges[i]] for c in inner), len(token)]
        for edge, p, q in zip([edges[i], *inner], at, at[1:], strict=False):
            places.setdefault(edge, len(tokens))
            tokens.append(token[p:q])
            # Where the text writes the token otherwise, its pieces share its place.
            spans.append((a + p, a + q) if b - a == len(token) else (a, b))
            sources.append(i)
    places.setdefault(edges[-1], len(tokens))
    columns = {name: [values[i] for i in sources] for name, values in sentence.columns.items()}
    meta = dict(sentence.meta)
    if "alternatives" in meta:
        meta["alternatives"] = [_moved(m, edges, places) for m in meta["alternatives"]]
    mentions = [_moved(m, edges, places) for m in sentence.mentions]
    return Sentence(tokens, mentions, columns, sentence.text, spans, meta=meta), places


def _moved(mention: Mention, edges: list[int], places: dict[int, int]) -> Mention:
    return _with_parts(mention, tuple((places[edges[s]], places[edges[e]]) for s, e in mention.parts))


def _with_parts(mention: Mention, parts: Parts) -> Mention:
    return Mention(mention.label, parts, mention.prob, mention.attributes)
