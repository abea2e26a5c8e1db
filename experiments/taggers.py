"""Taggers of parts of speech, each trained once: on GENIA for biomedical text, on GUM for other text."""

from __future__ import annotations

from pathlib import Path

from experiments.runner import Context
from spanloom import Recognizer, Sentence, read
from spanloom.corpus.tokenizer import tokenize
from spanloom.features import FeatureSet
from spanloom.learning import Perceptron
from spanloom.models import Tagger

POS_FEATURES = (
    "bias",
    "word[-2..2]",
    "lower(word)[0]",
    "prefix(word, 1..4)",
    "suffix(word, 1..5)",
    "collapsed(word)[-1..1]",
    "flags(word)",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "suffix(word, 3)[-1]",
    "suffix(word, 3)[1]",
)


def pieces(sentence: Sentence) -> Sentence:
    """A sentence of a corpus's tokens in ours: every piece of a token has its part of speech."""
    tokens: list[str] = []
    pos: list[str] = []
    for token, tag in zip(sentence.tokens, sentence.columns["pos"], strict=True):
        for start, end in tokenize(token):
            tokens.append(token[start:end])
            pos.append(tag)
    return Sentence(tokens, columns={"pos": pos})


def tagger(context: Context, corpus: str = "genia") -> Path:
    """Return a tagger of parts of speech that has learned from ``genia`` or ``gum``."""
    path = context.work / f"pos-{corpus}{'.quick' if context.quick else ''}.loom"
    if not path.exists():
        docs = read(f"{corpus}:{context.data}/{corpus}?split=train")
        sentences = [pieces(s) for doc in docs for s in doc.sentences]
        if context.quick:
            sentences = sentences[:500]
        features = FeatureSet(POS_FEATURES, name="pos", min_count=2)
        made = Recognizer(Tagger("pos"), features=features, trainer=Perceptron(max_iter=8))
        made.fit(sentences).save(path)
    return path
