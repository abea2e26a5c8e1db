"""``CRF`` and ``Recognizer`` among scikit-learn's estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from compat.crf_data import sequences
from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import NotFittedError
from spanloom.compat import CRF, cross_val_predict, metrics, scorers
from spanloom.learning import LBFGS

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
]
"""scikit-learn's own checks that need no arrays of numbers; the others give estimators such arrays."""

X, Y = sequences(40, 4)


@pytest.mark.parametrize("check", WITHOUT_DATA)
@pytest.mark.parametrize("kind", [CRF, Recognizer])
def test_the_checks_of_scikit_learn(check, kind):
    getattr(estimator_checks, check)(kind.__name__, kind())


def test_fit_changes_no_parameter_and_no_data_and_forgets_what_was_before():
    crf = CRF(c1=0.1, max_iterations=10)
    before, items = crf.get_params(), pickle.dumps((X, Y))
    assert crf.fit(X, Y) is crf
    assert crf.get_params() == before
    assert pickle.dumps((X, Y)) == items
    first = crf.state_features_
    assert crf.fit(X[:5], Y[:5]).state_features_ != first
    assert crf.fit(X, Y).state_features_ == first
    assert clone(crf).get_params() == before
    assert clone(crf).tagger_ is None


def test_an_estimator_that_has_learned_nothing_says_so():
    with pytest.raises(NotFittedError, match="fit"):
        CRF().predict(X)
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(CRF())
    check_is_fitted(CRF(max_iterations=2).fit(X, Y))


def test_wrong_input_is_refused():
    for given, labels, complaint in [
        (X, Y[:-1], "40 sequences and y has 39"),
        ("text", Y, "list of sequences"),
        ([[["a"]]], [["x", "y"]], "differ"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            CRF().fit(given, labels)
    with pytest.raises(ValueError, match="no parameter 'l2'; it has algorithm"):
        CRF().set_params(l2=1)
    with pytest.raises(ValueError, match="Parameter not found: c1"):
        CRF("ap", c1=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        CRF().fit(X, Y, X)


def test_pickle_and_joblib_keep_the_model(tmp_path):
    import joblib

    crf = CRF(max_iterations=10).fit(X, Y)
    joblib.dump(crf, tmp_path / "crf.joblib")
    for again in (pickle.loads(pickle.dumps(crf)), joblib.load(tmp_path / "crf.joblib")):
        assert again.get_params() == crf.get_params()
        assert again.state_features_ == crf.state_features_
        assert again.predict_marginals_single(X[0]) == crf.predict_marginals_single(X[0])
        assert len(again.training_log_.iterations) == len(crf.training_log_.iterations)


def test_predictions_are_arrays_of_lists_as_in_sklearn_crfsuite():
    crf = CRF(max_iterations=10).fit(X, Y)
    found = crf.predict(X)
    assert found.dtype == object
    assert found.shape == (40,)
    assert found[0] == crf.predict_single(X[0])
    marginals = crf.predict_marginals(X)
    assert marginals[3] == crf.predict_marginals_single(X[3])
    for row in marginals[3]:
        assert sum(row.values()) == pytest.approx(1)
        assert set(row) == set(crf.classes_)


def test_a_file_name_is_written_by_fit_and_read_without(tmp_path):
    for name in ("m.crfsuite", "m.loom"):
        crf = CRF(max_iterations=10, model_filename=str(tmp_path / name)).fit(X, Y)
        other = CRF(model_filename=str(tmp_path / name))
        assert other.state_features_ == crf.state_features_
        assert other.score(X, Y) == crf.score(X, Y)


def test_verbose_output_has_a_line_for_each_iteration(capsys):
    crf = CRF(max_iterations=3, verbose=True).fit(X, Y, X[:9], Y[:9])
    lines = capsys.readouterr().out.splitlines()
    written = [line for line in lines if line.startswith("Iter ")]
    assert len(written) == len(crf.training_log_.iterations) == 3
    last = crf.training_log_.last_iteration
    assert f"loss={last['loss']:.2f}" in written[-1]
    assert f"F1={last['avg_f1']:0.3f}" in written[-1]
    assert any(line.startswith("Label") for line in lines)
    CRF(max_iterations=3).fit(X, Y)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_grids_and_scores_work_on_sequences():
    groups = [number // 4 for number in range(len(X))]
    search = GridSearchCV(CRF(max_iterations=5), {"c1": [0, 0.1], "c2": [0.1, 10.0]}, cv=GroupKFold(3), n_jobs=2)
    search.fit(X, Y, groups=groups)
    assert search.best_params_["c2"] == 0.1
    assert search.predict(X).shape == (40,)
    scored = {"flat": scorers.flat_accuracy, "whole": scorers.sequence_accuracy}
    scores = cross_validate(CRF(max_iterations=5), X, Y, groups=groups, cv=GroupKFold(3), scoring=scored)
    assert np.array_equal(
        scores["test_flat"], cross_val_score(CRF(max_iterations=5), X, Y, groups=groups, cv=GroupKFold(3))
    )
    assert (scores["test_whole"] <= scores["test_flat"]).all()


def test_cross_val_predict_never_predicts_what_it_has_learned_from():
    """With attributes that name the group, a model cannot know the label of another group's items."""
    own = [[{"group": str(g), "bias": 1}] for g in range(6) for _ in range(3)]
    labels = [[f"L{g}"] for g in range(6) for _ in range(3)]
    groups = [g for g in range(6) for _ in range(3)]
    found = cross_val_predict(CRF(), own, labels, groups=groups, cv=GroupKFold(6))
    assert all(f != g for f, g in zip(found, labels, strict=True))
    mixed = cross_val_predict(CRF(), own, labels, cv=3, n_jobs=2)
    assert len(mixed) == len(own)
    again = cross_val_predict(CRF(max_iterations=5), X, Y, cv=4)
    assert [len(labels) for labels in again] == [len(labels) for labels in Y]
    with pytest.raises(ValueError, match="every sequence once"):
        cross_val_predict(CRF(), own, labels, cv=ShuffleSplit(2))


def test_pipelines_make_the_attributes():
    words = [["rain", "falls"], ["sun", "shines"], ["rain"], ["sun"]]
    labels = [["wet", "is"], ["dry", "is"], ["wet"], ["dry"]]

    def attributes(sentences):
        return [[{"word": word, "title": word.istitle()} for word in sentence] for sentence in sentences]

    pipe = make_pipeline(FunctionTransformer(attributes), CRF(c2=0.01)).fit(words, labels)
    assert pipe.predict([["sun", "falls"]]).tolist() == [["dry", "is"]]
    assert pipe.set_params(crf__c2=0.5).get_params()["crf__c2"] == 0.5
    assert pipe.fit(words, labels).score(words, labels) == 1.0


def test_a_recogniser_is_cross_validated_by_document():
    """Sentences of one document stay together; the mentions found are those of models that have not seen it."""
    train = [Sentence(["the", w, "gene"], [Mention("DNA", ((1, 3),))]) for w in ("lacZ", "sonic", "p53", "BRCA1")] * 3
    groups = [number // 2 for number in range(len(train))]
    ner = Recognizer("chain", trainer=LBFGS(max_iter=5))
    scores = cross_val_score(ner, train, groups=groups, cv=GroupKFold(3))
    assert scores.shape == (3,)
    found = cross_val_predict(ner, train, groups=groups, cv=GroupKFold(3))
    assert [sentence.tokens for sentence in found] == [sentence.tokens for sentence in train]
    assert np.mean([f.mentions == g.mentions for f, g in zip(found, train, strict=True)]) == pytest.approx(1.0)


def test_metrics_by_hand():
    """The example of sklearn-crfsuite's documentation: 3 of 5 items, no whole sequence."""
    gold, found = [["x", "z", "y"], ["x", "x"]], [["y", "z", "y"], ["x", "y"]]
    assert metrics.flat_accuracy_score(gold, found) == 3 / 5
    assert metrics.flat_precision_score(gold, found, average="micro") == 3 / 5
    assert metrics.flat_f1_score(gold, found, average="macro") == pytest.approx(2 / 3)
    assert metrics.flat_fbeta_score(gold, found, beta=1, average="macro") == pytest.approx(2 / 3)
    assert metrics.flat_recall_score(gold, found, average="micro") == 3 / 5
    assert "precision" in metrics.flat_classification_report(gold, found, digits=3)
    assert metrics.sequence_accuracy_score(gold, found) == 0
    with pytest.raises(ValueError, match="5 labels and 4"):
        metrics.flat_accuracy_score(gold, [["y", "z"], ["x", "y"]])


def test_the_representation_names_what_differs():
    assert repr(CRF("pa", c=2)) == "CRF(algorithm='pa', c=2)"
    assert repr(CRF()) == "CRF()"


@pytest.mark.parametrize(("X", "y"), [([], []), ([[]], [[]])])
def test_nothing_to_learn_from_is_refused(X, y):
    """sklearn-crfsuite fits such data, and its process ends when it predicts."""
    with pytest.raises(ValueError, match="nothing to learn from"):
        CRF().fit(X, y)
