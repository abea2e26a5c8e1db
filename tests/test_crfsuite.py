"""CRFsuite as an oracle: on the same features and penalty both find the same optimum and the same labels."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence, read
from spanloom._native import Decoder
from spanloom.corpus.tags import to_tags
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS
from spanloom.models import Chain

pycrfsuite = pytest.importorskip("pycrfsuite")

TEMPLATES = ["bias", "word[0]", "lower(word)[-1]", "lower(word)[1]", "shape(word)[0]", "suffix(word, 3)[0]"]


def tags(sentence: Sentence) -> list[str]:
    return to_tags([(m.label, m.start, m.end) for m in sentence.mentions], len(sentence), "IOBES")


def compare(train: list[Sentence], dev: list[Sentence], l2: float, path: str) -> tuple[float, float, float]:
    """Train both; return both objectives and the share of dev tokens with equal labels."""
    extractor = FeatureExtractor(FeatureSet(TEMPLATES))
    extractor.fit(train)

    def strings(sentence: Sentence) -> list[list[str]]:
        rows = extractor.transform([sentence])
        return [[str(f) for f in part] for part in np.split(rows.ids, rows.row_ptr[1:-1])]

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in train:
        trainer.append(strings(sentence), tags(sentence))
    trainer.select("lbfgs")
    options = {"c1": 0, "c2": l2, "delta": 1e-6, "max_iterations": 1000}
    trainer.set_params({**options, "feature.possible_states": True, "feature.possible_transitions": True})
    trainer.train(path)
    theirs = trainer.logparser.last_iteration["loss"]

    ner = Recognizer(Chain(constrained=False), features=TEMPLATES, trainer=LBFGS(l2=l2, tol=1e-5, max_iter=1000)).fit(
        train
    )
    component, weights = ner.trained_.components[0], ner.trained_.weights[0]
    decoder = Decoder(component.structure, weights.features.ravel(), weights.globals)
    ((_, cells),) = decoder.best(ner.extractor_.transform(dev))
    ours = [component.columns[c] for c in cells % len(component.columns)]
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    expected = [tag for sentence in dev for tag in tagger.tag(strings(sentence))]
    return ner.history_[-1].objective, theirs, float(np.mean([a == b for a, b in zip(ours, expected, strict=True)]))


@pytest.mark.slow
def test_the_same_optimum_on_the_sample_corpus(tmp_path):
    """On the outermost mentions of the bundled corpus: objective to 1e-4, the same labels."""
    from spanloom.schemes import flatten

    def flat(part: str) -> list[Sentence]:
        return [s.with_mentions(flatten(s.mentions, "outermost")[0]) for s in read(part).sentences()]

    ours, theirs, same = compare(flat("sample:train"), flat("sample:test"), 0.5, str(tmp_path / "m"))
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert same >= 0.995


@pytest.mark.corpus
@pytest.mark.slow
def test_the_same_optimum_on_real_text(shared_data, tmp_path):
    """UNER-EWT: objective to 1e-4 relative, identical labels on at least 99.9 % of the development tokens."""
    train, dev = (list(read(f"uner:{shared_data}/uner-ewt?split={part}").sentences()) for part in ("train", "dev"))
    ours, theirs, same = compare(train, dev, 1.0, str(tmp_path / "m"))
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert same >= 0.999


def test_mentions_become_the_tags_that_crfsuite_is_given():
    """The helper above writes IOBES."""
    assert tags(Sentence(["a", "b", "c"], [Mention("X", ((0, 2),))])) == ["B-X", "E-X", "O"]
