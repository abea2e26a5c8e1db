"""Random small documents with every kind of mention, for round trips."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from spanloom import Document, Mention, Sentence

WORDS = ["IL", "-", "2", "gene", "NF", "κB", "of", "the", "(", ")", "«naïve»", "T", "cell", ".", "細胞", "😀"]
LABELS = ["protein", "DNA", "cell_type"]


@st.composite
def mentions(draw: st.DrawFn, length: int, kind: str, rich: bool) -> list[Mention]:
    """Mentions of one sentence, each label and token set once: ``flat``, ``nested`` (no crossing) or ``any``."""
    found: dict[Mention, Mention] = {}
    for _ in range(draw(st.integers(0, 5))):
        if kind == "any":
            tokens = draw(st.sets(st.integers(0, length - 1), min_size=1, max_size=5))
        else:
            a, b = sorted((draw(st.integers(0, length - 1)), draw(st.integers(0, length - 1))))
            tokens = set(range(a, b + 1))
        prob = draw(st.none() | st.floats(0, 1)) if rich else None
        attributes = (
            draw(st.dictionaries(st.sampled_from(["id", "Negation"]), st.sampled_from(["x", "y é"]))) if rich else {}
        )
        mention = Mention(draw(st.sampled_from(LABELS)), tuple((t, t + 1) for t in sorted(tokens)), prob, attributes)
        if kind == "flat" and any(mention.overlaps(o) for o in found):
            continue
        if kind == "nested" and any(mention.crosses(o) for o in found):
            continue
        found.setdefault(mention, mention)
    return list(found.values())


@st.composite
def sentences(draw: st.DrawFn, kind: str, rich: bool, spaced: bool) -> Sentence:
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
    text = tokens[0]
    spans = [(0, len(text))]
    for token in tokens[1:]:
        text += " " if spaced else draw(st.sampled_from(["", " ", "  "]))
        spans.append((len(text), len(text) + len(token)))
        text += token
    columns: dict[str, list[str]] = {}
    features: Any = None
    meta: dict[str, Any] = {}
    if rich:
        tags = st.lists(st.sampled_from(["NN", "JJ", ""]), min_size=len(tokens), max_size=len(tokens))
        columns = draw(st.fixed_dictionaries({}, optional={"pos": tags, "lemma": tags}))
        own = st.lists(st.just("bias") | st.just("cap"), max_size=2)
        features = draw(st.none() | st.lists(own, min_size=len(tokens), max_size=len(tokens)))
        meta = draw(st.dictionaries(st.sampled_from(["sent_id"]), st.sampled_from(["s1", "é"])))
    return Sentence(tokens, draw(mentions(len(tokens), kind, rich)), columns, text, spans, features, meta)


@st.composite
def documents(
    draw: st.DrawFn, kind: str = "any", rich: bool = True, spaced: bool = False, gap: str | None = None
) -> list[Document]:
    """A corpus of up to three documents. ``rich``: with columns, own features, probabilities, attributes and meta."""
    docs = []
    for k in range(draw(st.integers(0, 3))):
        inside = draw(st.lists(sentences(kind, rich, spaced), min_size=1, max_size=3))
        text, starts = "", []
        for sentence in inside:
            if starts:
                text += draw(st.sampled_from(["\n", " ", "\n\n"])) if gap is None else gap
            starts.append(len(text))
            text += sentence.text
        meta = (
            draw(st.dictionaries(st.sampled_from(["genre", "year"]), st.sampled_from(["news", 1999]))) if rich else {}
        )
        docs.append(Document(inside, f"d{k}", text, starts, meta))
    return docs


def everything(docs: list[Document]) -> list[Any]:
    """What equality of mentions leaves out, too: probabilities and attributes."""
    return [
        (
            doc.id,
            doc.text,
            doc.starts,
            doc.meta,
            [
                (
                    s.tokens,
                    s.text,
                    s.spans,
                    s.columns,
                    s.features,
                    s.meta,
                    sorted((m.label, m.parts, m.prob or -1, sorted(m.attributes.items())) for m in s.mentions),
                )
                for s in doc.sentences
            ],
        )
        for doc in docs
    ]
