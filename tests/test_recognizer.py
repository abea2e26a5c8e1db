"""The class that most people use: learning, finding, keeping, scikit-learn's manners, bad input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from oracles import chain_structures, log_z
from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.base.errors import CorpusError, EncodingError, ModelFileError, NotFittedError, ParameterError
from spanloom.compat import CRF
from spanloom.configuration import configure
from spanloom.decisions import Best
from spanloom.features import FeatureSet
from spanloom.learning import LBFGS, Auto, Perceptron
from spanloom.models import Chain, named


@pytest.fixture(scope="module")
def train():
    return list(read("sample:train"))


@pytest.fixture(scope="module")
def test():
    return list(read("sample:test"))


@pytest.fixture(scope="module")
def ner(train):
    return Recognizer("chain", trainer=Auto(max_iter=60), keep="longest", seed=1).fit(train)


def simple(*words, mentions=()):
    return Sentence(list(words), [Mention(label, (part,)) for label, part in mentions])


TOY = [
    simple("the", "lacZ", "gene", mentions=[("DNA", (1, 3))]),
    simple("a", "p53", "gene", "works", mentions=[("DNA", (1, 3))]),
    simple("nothing", "here"),
]


def test_it_learns_from_the_sample_corpus(ner, test):
    """The sample corpus is learnable: what a flat model predicts is nearly always right."""
    report = ner.score(test)
    assert report.precision > 0.85
    assert report.f1 > 0.6


def test_history_has_a_record_per_iteration(train):
    """Objectives fall, times rise, dev F1 is in the first records when there is a dev corpus."""
    heard = []
    ner = Recognizer("chain", trainer=Auto(max_iter=8), keep="longest").fit(
        train, dev=read("sample:dev"), listener=heard.append
    )
    assert heard == ner.history_
    assert [r.number for r in heard] == list(range(1, 9))
    assert all(b.objective < a.objective and b.seconds >= a.seconds for a, b in itertools.pairwise(heard))
    assert all(0 <= r.dev_f1 <= 1 for r in heard)
    assert heard[-1].dev_f1 == pytest.approx(ner.score(read("sample:dev")).f1)


def test_dev_data_are_scored_now_and_then_unless_patience_needs_every_score(train):
    """After ten iterations in every fifth, and in the last: scoring may take as long as the iteration."""
    dev = list(read("sample:dev"))
    for patience in (None, 20):
        trainer = Auto(max_iter=17, patience=patience)
        ner = Recognizer("chain", trainer=trainer, features=["word"], keep="longest").fit(train, dev=dev)
        scored = [r.number for r in ner.history_ if r.dev_f1 is not None]
        assert scored == (list(range(1, 18)) if patience else [*range(1, 11), 15, 17])
        if patience is None:
            assert ner.history_[-1].dev_f1 == pytest.approx(ner.score(dev).f1)


def test_feature_dicts_and_tags_are_told_the_way_out():
    """As sklearn-crfsuite takes them; what the message names is there and takes them."""
    x, y = [[{"word": "Anna"}, {"word": "sings"}]], [["B-PER", "O"]]
    with pytest.raises(ParameterError, match=r"from_tags\(tokens, tags\).*spanloom\.compat\.CRF\(\)\.fit\(X, y\)"):
        Recognizer("chain").fit(x, y)
    assert [list(tags) for tags in CRF().fit(x, y).predict(x)] == y


def test_patience_takes_the_best_weights(train):
    """Training stops when dev F1 has not risen for two iterations; the model is that of the best one."""
    dev = list(read("sample:dev"))
    ner = Recognizer("chain", trainer=Auto(patience=2, max_iter=100), keep="longest").fit(train, dev=dev)
    scores = [r.dev_f1 for r in ner.history_]
    assert len(scores) < 100
    assert ner.score(dev).f1 == pytest.approx(max(scores))
    assert scores.index(max(scores)) == len(scores) - 3


@pytest.mark.parametrize("settings", [{}, {"trainer": Perceptron(max_iter=3)}, {"trainer": LBFGS(l1=1.0, max_iter=15)}])
def test_same_bytes_for_any_number_of_threads(settings, tmp_path, train):
    """Two trainings with the same seed write the same file, whatever the threads."""
    files = []
    for threads in (1, 2):
        ner = Recognizer("chain", **{"trainer": Auto(max_iter=10), **settings}, keep="longest", threads=threads).fit(
            train
        )
        ner.save(tmp_path / "m.loom")
        files.append((tmp_path / "m.loom").read_bytes())
    assert files[0] == files[1]


def test_seeds_matter_to_the_perceptron(train):
    """Another seed visits sentences in another order."""
    weights = [
        Recognizer("chain", trainer=Perceptron(max_iter=1), keep="longest", seed=s)
        .fit(train)
        .trained_.weights[0]
        .features
        for s in (1, 1, 2)
    ]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_input_comes_back_in_its_own_form(ner, test):
    """str → Document, Sentence → Sentence, Document → Document, many → list; the input is left alone."""
    text = "IL-2 gene expression requires NF-kappa B. It needs T cells."
    doc = ner.predict(text)
    assert isinstance(doc, Document)
    assert doc.text == text
    assert len(doc.sentences) == 2
    for mention in doc.mentions:
        assert doc.surface(mention) in text
    gold = [s.mentions for s in test[0].sentences]
    again = ner.predict(test[0])
    assert isinstance(again, Document)
    assert again.id == test[0].id
    assert [s.mentions for s in test[0].sentences] == gold
    assert ner.predict(test[0].sentences[0]) == again.sentences[0]
    assert ner.predict([text, test[0], test[0].sentences[0]]) == [doc, again, again.sentences[0]]
    assert list(ner.stream(iter([text] * 5), batch=2)) == [doc] * 5


def test_edges_of_the_input(ner):
    """No text, no token, a single token, ten thousand tokens."""
    assert ner.predict("").sentences == []
    assert ner.predict(Sentence([])).mentions == []
    assert isinstance(ner.predict(Sentence(["p53"])), Sentence)
    assert len(ner.predict(Sentence(["gene"] * 10_000))) == 10_000
    assert ner.predict([]) == []


def test_beliefs_are_asked_of_what_predict_takes(ner):
    text = "The IL-2 gene is expressed."
    document = ner.predict(text)
    (sentence,) = document.sentences
    for given in (text, document):
        assert ner.k_best(given, 3) == ner.k_best(sentence, 3)
        assert ner.sample(given, 2, seed=1) == ner.sample(sentence, 2, seed=1)
        assert (ner.marginals(given).probs == ner.marginals(sentence).probs).all()
        assert ner.distribution(given).log_z == ner.distribution(sentence).log_z
        assert len(ner.distributions(given)) == 1
    mention = Mention("DNA", ((1, 5),))
    assert ner.explain(text, mention).log_odds == ner.explain(sentence, mention).log_odds
    with pytest.raises(ParameterError, match=r"a distribution is of one sentence, not of 2: 'IL-2 binds\. It does\.'"):
        ner.k_best("IL-2 binds. It does.", 3)
    for ask in (ner.distribution, ner.distributions, ner.marginals, ner.sample, lambda one: ner.k_best(one, 1)):
        with pytest.raises(ParameterError, match="not of NoneType: None"):
            ask(None)


@pytest.mark.parametrize("given", [None, 7, b"IL-2", {"text": "The IL-2 gene."}])
def test_what_is_no_text_is_refused(ner, given):
    with pytest.raises(ParameterError, match=f"predict takes a text, .* not {type(given).__name__}: "):
        ner.predict(given)


def test_k_best_probabilities_are_exact():
    """Against enumeration of all label sequences: probability and order of the mention sets."""
    ner = Recognizer("chain", features=["word[0]", "word[-1]"], trainer=LBFGS(l2=0.01, max_iter=30)).fit(TOY)
    sentence = simple("the", "p53", "gene")
    segments = ner.trained_.components[0].segments
    rows = ner.extractor_.transform([sentence])
    weights = ner.trained_.weights[0]
    scores = np.array(
        [weights.features[rows.ids[a:b]].sum(0) for a, b in zip(rows.row_ptr, rows.row_ptr[1:], strict=False)]
    )
    size = len(segments.labels)
    listed = chain_structures(
        scores.astype(float),
        weights.globals.reshape(size, size),
        segments.allowed,
        segments.may_start,
        segments.may_end,
    )
    total = log_z(listed)
    wanted = {}
    for score, cells in listed:
        key = tuple(segments.decode([c % size for c in cells[:3]]))
        wanted[key] = wanted.get(key, 0) + math.exp(score - total)
    found = ner.k_best(sentence, 1000)
    assert sum(p for p, _ in found) == pytest.approx(1)
    assert [p for p, _ in found] == sorted((p for p, _ in found), reverse=True)
    assert {tuple(m): p for p, m in found} == pytest.approx(wanted)
    assert found[0][1] == ner.predict(sentence).mentions


def test_a_saved_model_predicts_the_same(ner, test, tmp_path):
    """Same mentions, same settings, same file again."""
    ner.save(tmp_path / "a.loom")
    loaded = Recognizer.load(tmp_path / "a.loom")
    assert loaded.predict(test) == ner.predict(test)
    assert loaded.labels_ == ner.labels_
    assert loaded.training_ == {name: value for name, value in ner.training_.items() if name != "seconds"}
    same = {k: v for k, v in ner.get_params().items() if k not in ("model", "decide", "features", "threads")}
    assert {k: loaded.get_params()[k] for k in same} == same
    assert named(loaded.model) == named(ner.model)
    assert loaded.decide == Best()
    loaded.save(tmp_path / "b.loom")
    assert (tmp_path / "a.loom").read_bytes() == (tmp_path / "b.loom").read_bytes()


def test_own_tokenizers_are_asked_for_again(tmp_path):
    """A model file holds no code: the user's tokenizer must be given to ``load``, or only tokens are read."""

    def words(text):
        return [(0, len(text))]

    ner = Recognizer(trainer=Auto(max_iter=3), tokenizer=words).fit(TOY)
    assert ner.predict("a b").tokens == ["a b"]
    ner.save(tmp_path / "m.loom")
    loaded = Recognizer.load(tmp_path / "m.loom")
    assert loaded.predict(TOY[0]).tokens == TOY[0].tokens
    with pytest.raises(ParameterError, match=r"Recognizer\.load\(\.\.\., tokenizer="):
        loaded.predict("a b")
    assert Recognizer.load(tmp_path / "m.loom", tokenizer=words).predict("a b").tokens == ["a b"]


def test_own_features_as_crfsuite_users_have_them():
    """Lists of strings and dicts with real values, without any template of ours."""

    def given(sentence):
        return Sentence(
            sentence.tokens,
            sentence.mentions,
            features=[{"w": t, "long": len(t) / 10} if i % 2 else [f"w={t}"] for i, t in enumerate(sentence.tokens)],
        )

    ner = Recognizer(features="own", trainer=LBFGS(l2=0.001)).fit([given(s) for s in TOY])
    assert [s.mentions for s in ner.predict([given(s) for s in TOY])] == [s.mentions for s in TOY]


def test_scikit_learn_can_clone_and_search():
    """clone and GridSearchCV work, with documents as X and no y."""
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    ner = Recognizer(features=["word[0]"], trainer=LBFGS(l2=0.5, max_iter=5))
    copy = clone(ner)
    assert copy is not ner
    assert copy.get_params() == ner.get_params()
    search = GridSearchCV(ner, {"trainer__l2": [0.01, 100.0]}, cv=2, scoring=lambda model, X, y=None: model.score(X).f1)
    search.fit(TOY * 4)
    assert search.best_params_["trainer__l2"] == 0.01
    assert search.best_estimator_.labels_ == ("DNA",)
    plain = GridSearchCV(ner, {"trainer__l2": [0.01]}, cv=2).fit(TOY * 4)
    assert 0 <= plain.best_score_ <= 1


def test_parameters_change_by_their_nested_names():
    """``set_params`` reaches into the model and the trainer, checks names and values, and makes a shorthand whole."""
    ner = Recognizer("chain").set_params(trainer__l2=0.3, model__scheme="BIES")
    assert (ner.trainer, ner.model) == (LBFGS(l2=0.3), Chain(scheme="BIES"))
    with pytest.raises(ParameterError, match=r"the 'lbfgs' settings have no parameter 'l3'; they have max_iter, .*l2"):
        ner.set_params(trainer__l3=1)
    with pytest.raises(ParameterError, match="a Recognizer has no parameter 'l2' of its own; it has 'trainer__l2'"):
        ner.set_params(l2=1)
    with pytest.raises(ParameterError, match="the settings of a Recognizer have no parameter 'l9'; they have model, "):
        ner.set_params(l9=1)
    with pytest.raises(ParameterError, match=r"'l2' parameter must be a number in the range \[0, inf\). Got -1"):
        ner.set_params(trainer__l2=-1)
    assert ner.trainer == LBFGS(l2=0.3), "what is refused changes nothing"
    assert repr(Recognizer(trainer=LBFGS(l2=0.3))).startswith("Recognizer(trainer=LBFGS(")


def test_parameters_of_the_recogniser_are_only_stored_until_fit():
    """As scikit-learn wants it: the constructor checks nothing."""
    ner = Recognizer("magic", keep="some")
    assert ner.set_params(keep="longest", model="chain", trainer=Auto(max_iter=2)).fit(TOY).labels_ == ("DNA",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "magic"}, "'model' parameter must be one of .*chain.* Got 'magic'"),
        ({"model": "chain", "scheme": "BIOX"}, "scheme must be one of .*IOBES.*'BIOX'"),
        ({"features": "rich"}, "'rich'"),
        ({"features": "no.toml"}, "no.toml"),
        ({"l2": -1}, r"'l2' parameter must be a number in the range \[0, inf\). Got -1"),
        ({"l1": float("nan")}, "'l1'"),
        ({"max_iter": 0}, "'max_iter' parameter must be an integer of at least 1. Got 0"),
        ({"keep": "some"}, "'keep' parameter must be one of raise, longest, outermost, innermost. Got 'some'"),
        ({"threads": 0}, "'threads'"),
        ({"seed": -1}, "'seed'"),
        ({"trainer": "sgd"}, "'trainer' parameter must be one of auto, lbfgs, sdca, adagrad, perceptron.*Got 'sgd'"),
        ({"decide": "worst"}, "must be one of best, auto, f1, precision=0.95, recall=0.9. Got 'worst'"),
    ],
)
def test_bad_settings_say_what_is_allowed(settings, message):
    """One line with the name, the rule and the value."""
    with pytest.raises((ParameterError, CorpusError, OSError), match=message):
        configure(settings).fit(TOY)


def test_nothing_to_learn_is_an_error():
    """Empty corpora, no tokens, no mentions, things that are no sentences."""
    for empty in ([], [Document([])], [Sentence([])]):
        with pytest.raises(CorpusError, match="no tokens"):
            Recognizer().fit(empty)
    with pytest.raises(CorpusError, match="none of the 1 training sentences has a mention"):
        Recognizer().fit([simple("a", "b")])
    with pytest.raises(ParameterError, match="not of str"):
        Recognizer().fit(["raw text"])


@pytest.mark.parametrize(
    ("mentions", "why"),
    [
        ([("a", ((0, 2),)), ("b", ((0, 3),))], "nested"),
        ([("a", ((0, 2),)), ("b", ((1, 3),))], "crosses mention 0"),
        ([("a", ((0, 1), (2, 3)))], "has 2 parts"),
    ],
)
def test_mentions_that_the_model_cannot_hold(mentions, why):
    """The error names sentence, mention, reason and way out; with a policy the loss is counted."""
    sentence = Sentence(["x", "y", "z"], [Mention(label, parts) for label, parts in mentions])
    with pytest.raises(EncodingError, match=rf"sentence 1 .*{why}.*keep=\"longest\""):
        Recognizer("chain").fit([TOY[0], sentence])
    ner = Recognizer("chain", trainer=Auto(max_iter=3), keep="longest").fit([TOY[0], sentence])
    assert len(ner.lost_) == 1
    assert ner.lost_[0][0] == 1
    assert ner.ceiling_ == pytest.approx(len(mentions) / (len(mentions) + 1))


def test_mentions_beyond_the_sentence():
    """A mention that ends after the last token is not silently cut."""
    with pytest.raises(ValueError, match=r"mention a \(\(1, 9\),\) ends after the last of 2 tokens"):
        simple("x", "y", mentions=[("a", (1, 9))])
    sentence = simple("x", "y").with_mentions([Mention("a", ((1, 9),))])
    with pytest.raises(EncodingError, match=r"sentence 0: mention a \(\(1, 9\),\) ends after the last of 2 tokens"):
        Recognizer().fit([sentence])


def test_labels_unseen_in_training_are_just_missed(ner):
    """Scoring data with another label counts it as not found."""
    report = ner.score([simple("a", "b", mentions=[("UNSEEN", (0, 1))])])
    assert report.micro.gold == 1
    assert report.recall == 0


def test_a_parameter_by_its_last_part_is_told_its_whole_name():
    """As grids give it; the names of others are listed."""
    with pytest.raises(ParameterError, match=r"no parameter 'l2' of its own; it has 'trainer__l2'"):
        Recognizer("edge").set_params(l2=0.1)
    with pytest.raises(ParameterError, match=r"no parameter 'lx'; they have model"):
        Recognizer("edge").set_params(lx=0.1)


def test_use_before_fit():
    """Every use says what to do first."""
    for use in (lambda n: n.predict("x"), lambda n: n.save("x"), lambda n: n.score(TOY), lambda n: n.k_best(TOY[0], 2)):
        with pytest.raises(NotFittedError, match="call fit"):
            use(Recognizer())


def test_an_interruption_keeps_what_was_learned():
    """KeyboardInterrupt in the third iteration: raised, but the recogniser works with what it has."""

    def stop(record):
        if record.number == 3:
            raise KeyboardInterrupt

    ner = Recognizer("chain", trainer=Auto(max_iter=10))
    with pytest.raises(KeyboardInterrupt):
        ner.fit(TOY, listener=stop)
    assert len(ner.history_) == 3
    assert ner.training_["interrupted"]
    short = Recognizer("chain", trainer=Auto(max_iter=3)).fit(TOY)
    for one, other in zip(ner.trained_.weights, short.trained_.weights, strict=True):
        assert one.features.any()
        np.testing.assert_array_equal(one.features, other.features)
        np.testing.assert_array_equal(one.globals, other.globals)


def test_files_that_are_no_models(tmp_path):
    """One clear error for a foreign file, and for arrays that do not fit the header."""
    from spanloom.base.model_file import load_arrays, save_arrays

    (tmp_path / "x.loom").write_text("hello")
    with pytest.raises(ModelFileError):
        Recognizer.load(tmp_path / "x.loom")
    Recognizer("chain", trainer=Auto(max_iter=2)).fit(TOY).save(tmp_path / "m.loom")
    arrays, header = load_arrays(tmp_path / "m.loom")
    for change in (
        {"component.0.features": np.zeros((1, 2), np.float32)},
        {"component.0.globals": np.zeros(3)},
        {"component.0.features": np.full_like(arrays["component.0.features"], np.nan)},
    ):
        save_arrays(tmp_path / "bad.loom", {**arrays, **change}, header)
        with pytest.raises(ModelFileError, match=r"bad\.loom"):
            Recognizer.load(tmp_path / "bad.loom")
    for broken in (
        {**header, "model": {"name": "oracle"}},
        {**header, "model": {**header["model"], "labels": ["O", "B-DNA", "B-DNA"]}},
        {**header, "model": {**header["model"], "labels": 7}},
        {k: v for k, v in header.items() if k != "features"},
        {**header, "settings": []},
    ):
        save_arrays(tmp_path / "bad.loom", dict(arrays), broken)
        with pytest.raises(ModelFileError):
            Recognizer.load(tmp_path / "bad.loom")


def test_feature_sets_can_be_given_in_every_form(tmp_path):
    """A name, a list of templates, a FeatureSet, a TOML file."""
    (tmp_path / "f.toml").write_text('name = "mine"\ntemplates = ["word[0]"]\n')
    forms = [["word[0]"], FeatureSet(["word[0]"]), str(tmp_path / "f.toml")]
    sizes = {Recognizer("chain", features=form, trainer=Auto(max_iter=2)).fit(TOY).extractor_.size for form in forms}
    assert sizes == {8}


def test_auto_takes_what_holds_the_data():
    """state for contiguous mentions, multilabel for discontinuous ones unless they may be left out."""
    nested = Sentence(["a", "b", "c"], [Mention("X", ((0, 1),)), Mention("X", ((0, 2),))])
    apart = Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))])
    chosen = [
        Recognizer(trainer=Auto(max_iter=2), keep=keep).fit([*TOY, sentence]).model_.name
        for sentence, keep in ((TOY[0], "raise"), (nested, "raise"), (apart, "raise"), (apart, "longest"))
    ]
    assert chosen == ["state", "state", "multilabel", "state"]
