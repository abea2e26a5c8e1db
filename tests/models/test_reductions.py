"""Reductions through the Recognizer: what they learn, hold, leave out, find and keep."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.base.errors import EncodingError, ModelFileError, ParameterError
from spanloom.cli.app import app
from spanloom.configuration import configure
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Auto
from spanloom.models import MODELS, Innermost, Joined, Layered, Memm
from spanloom.models.layered import LayeredParts
from spanloom.models.reduction import Reduction
from toy import genes, sentence

NESTED = genes(("lacZ", "p53", "BRCA1", "IL2", "TNF"))
NEW = sentence("the xyz1 mRNA levels rise", ("protein", 1, 2), ("RNA", 1, 3), ("other", 1, 4))
SETTINGS = {"features": ["word[-1..1]", "collapsed(word)[-1..2]", "word[2]"], "max_iter": 40, "l2": 0.01}
REDUCTIONS = sorted(name for name, kind in MODELS.items() if issubclass(kind, Reduction))
HOLDING = {"layered": {}, "layered outside-in": {"direction": "outside-in"}, "joined": {}}


def make(name, **settings):
    return configure({"model": name.split()[0], **SETTINGS, **HOLDING.get(name, {}), **settings})


@pytest.mark.parametrize("name", HOLDING)
def test_nested_mentions_are_learned_and_survive_the_file(name, tmp_path):
    """Three levels of nesting around a gene that was never seen; the same from the file."""
    ner = make(name).fit(NESTED)
    assert sorted(ner.predict(NEW).mentions) == sorted(NEW.mentions)
    assert (ner.ceiling_, ner.lost_) == (1.0, [])
    assert ner.labels_ == ("RNA", "other", "protein")
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.predict(NESTED) == ner.predict(NESTED)
    assert again.model == ner.model
    again.save(tmp_path / "again.loom")
    assert (tmp_path / "again.loom").read_bytes() == (tmp_path / "m.loom").read_bytes()


@pytest.mark.parametrize(("name", "label", "lost"), [("innermost", "protein", 15), ("outermost", "other", 15)])
def test_simple_tagging_takes_its_layer_and_says_what_it_leaves(name, label, lost):
    """Of 30 mentions, 10 triples and pairs are flattened: the baselines of the paper, without raising."""
    ner = make(name).fit(NESTED)
    assert [m.label for m in ner.predict(NEW).mentions] == [label]
    assert len(ner.lost_) == lost
    assert ner.ceiling_ == pytest.approx(1 - lost / 30)


def test_a_layered_model_has_a_part_for_each_layer():
    """Records of training are numbered by part."""
    heard = []
    ner = make("layered", max_iter=5).fit(NESTED, dev=NESTED, listener=heard.append)
    assert len(ner.parts_) == 3
    assert Counter(r.component for r in heard) == {0: 5, 1: 5, 2: 5}
    assert heard == ner.history_
    assert all(r.dev_f1 is not None for r in heard)


def test_layers_may_be_limited():
    with pytest.raises(EncodingError, match="is in layer 3, and 2 were asked for"):
        make("layered", layers=2).fit(NESTED)
    ner = make("layered", layers=2, keep="longest").fit(NESTED)
    assert len(ner.parts_) == 2
    assert {m.label for _, m in ner.lost_} == {"other"}


def test_discontinuous_mentions_do_not_fit():
    odd = [*NESTED, Sentence(["a", "b", "c"], [Mention("x", ((0, 1), (2, 3)))])]
    for name in ("layered", "joined"):
        with pytest.raises(EncodingError, match="has 2 parts"):
            make(name).fit(odd)
        assert [m.label for _, m in make(name, keep="longest", max_iter=2).fit(odd).lost_] == ["x"]


@pytest.mark.parametrize("base", ["chain", "memm", "semimarkov"])
@pytest.mark.parametrize("name", ["layered", "joined"])
def test_reductions_take_any_flat_model(name, base):
    features = (
        SETTINGS["features"] if base != "semimarkov" else ["first(word)[-1]", "last(word)[1]", "last(word)", "size"]
    )
    ner = make(name, base=base, features=features).fit(NESTED)
    assert sorted(ner.predict(NEW).mentions) == sorted(NEW.mentions)


class ByHeart:
    """A tagger of somebody's own: a word is a mention if it was always one."""

    def fit(self, corpus, *, dev=None, listener=None):
        self.known = {s.tokens[m.start]: m.label for s in corpus for m in s.mentions}
        return self

    def predict(self, corpus):
        return [
            s.with_mentions([Mention(self.known[w], ((t, t + 1),)) for t, w in enumerate(s.tokens) if w in self.known])
            for s in corpus
        ]


def test_taggers_of_ones_own(tmp_path):
    """Anything with fit and predict is reduced to; only its file cannot be written."""
    ner = Recognizer(Layered(base=ByHeart)).fit([sentence("a b", ("x", 0, 1), ("y", 0, 2))])
    assert ner.predict(sentence("c a")).mentions == [Mention("x", ((1, 2),)), Mention("y", ((1, 2),))]
    with pytest.raises(ParameterError, match="taggers of your own"):
        ner.save(tmp_path / "m.loom")


def test_rare_joined_labels_back_off():
    """`B-x+B-y` occurs once: y is given up in that sentence, and nothing else is."""
    odd = sentence("the odd one", ("protein", 1, 2), ("strange", 1, 3))
    ner = make("joined", rare=2, max_iter=5).fit([*NESTED, odd])
    assert ner.lost_ == [(len(NESTED), Mention("strange", ((1, 3),)))]
    assert ner.ceiling_ == pytest.approx(31 / 32)
    assert all("strange" not in label for label in ner.trained_.joined.known)


def test_joined_labels_that_were_never_seen_are_out_of_reach():
    """B-protein+B-other was not in training: the outermost mention with it is given up."""
    model = make("joined", max_iter=1).fit(NESTED).trained_
    assert model.reachable(NEW.mentions, 5) == sorted(NEW.mentions)
    inner, outer = Mention("protein", ((0, 1),)), Mention("other", ((0, 2),))
    assert model.reachable([inner, outer], 2) == [inner]


def test_what_joined_labels_can_reach_of_the_development_data_is_told():
    unseen = sentence("the p53 mRNA levels", ("protein", 1, 2), ("other", 1, 4))
    ner = make("joined", max_iter=3).fit(NESTED, dev=[unseen, NEW])
    assert ner.training_["dev_ceiling"] == pytest.approx(4 / 5)
    assert make("layered", max_iter=3).fit(NESTED, dev=[unseen, NEW]).training_["dev_ceiling"] == 1.0


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_have_k_best_sets(name):
    """The first is what is found; they are different sets with falling probabilities."""
    ner = make(name).fit(NESTED)
    best = ner.k_best(NEW, 3)
    assert best[0][1] == ner.predict(NEW).mentions
    probs = [prob for prob, _ in best]
    assert len({tuple(mentions) for _, mentions in best}) == 3
    assert probs == sorted(probs, reverse=True)
    assert 1 >= sum(probs) > 0.5


def test_conflicts_of_layers_are_counted():
    """Two layers that cross, and the same tokens under two labels; neither layer alone has both."""

    class Fixed:
        def __init__(self, mentions):
            self.mentions = mentions
            self.extractor = FeatureExtractor(FeatureSet(["word"]))
            self.extractor.fit([])

        def find(self, sentences, threads=None):
            return [self.mentions for _ in sentences]

    a, b, c = Mention("a", ((0, 2),)), Mention("b", ((1, 3),)), Mention("c", ((0, 2),))
    parts = [Fixed([a]), Fixed([b]), Fixed([c])]
    model = LayeredParts(Layered(), parts, frozenset("abc"), FeatureSet(["word"]))
    conflicts: Counter[str] = Counter()
    assert model.find([sentence("x y z")], 1, conflicts) == [[a, c, b]]
    assert conflicts == {"crossing": 2, "labels": 1}


@pytest.mark.parametrize("base", ["edge", "multilabel", "spans", "chains"])
def test_a_base_that_is_not_flat_is_refused(base):
    with pytest.raises(ParameterError, match=f"'base' parameter must be one of chain, .*memm.* Got '{base}'"):
        make("layered", base=base).fit(NESTED)


def test_bad_settings_are_named():
    with pytest.raises(ParameterError, match="'base' parameter must be one of chain"):
        Recognizer(Layered(base="layered")).fit(NESTED)
    with pytest.raises(ParameterError, match="'direction' parameter must be one of inside-out, outside-in"):
        Recognizer(Layered(direction="up")).fit(NESTED)
    with pytest.raises(ParameterError, match="'rare' parameter must be an integer"):
        Recognizer(Joined(rare=0)).fit(NESTED)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_damaged_header_is_named(name, tmp_path):
    ner = make(name, max_iter=1).fit(NESTED)
    arrays, header = ner.state()
    del header["model"]["parts"]
    with pytest.raises(ModelFileError, match="parts of the model are damaged"):
        Recognizer.from_state(arrays, header)


@pytest.mark.slow
def test_every_reduction_beats_simple_tagging_on_the_sample():
    """What must hold of the paper, on text with real nesting."""
    train = [s.with_mentions([m for m in s.mentions if not m.discontinuous]) for d in read("sample:train") for s in d]
    test = [s.with_mentions([m for m in s.mentions if not m.discontinuous]) for d in read("sample:test") for s in d]
    more = {"cascade": {"folds": 2}}
    settings = {"max_iter": 30, "keep": "outermost"}
    scores = {
        name: configure({"model": name, **settings, **more.get(name, {})}).fit(train).score(test).f1
        for name in REDUCTIONS
    }
    simple = max(scores["innermost"], scores["outermost"])
    assert all(f1 > simple for name, f1 in scores.items() if name not in ("innermost", "outermost")), scores


def test_the_commands_train_and_describe_a_reduction(tmp_path):
    """One file for all parts; info counts the features of all of them."""
    runner = CliRunner()
    model = str(tmp_path / "m.loom")
    options = ["--model", "layered", "--set", "model.base=memm", "--keep", "longest", "--max-iter", "3", "-o", model]
    done = runner.invoke(app, ["train", "sample:dev", *options])
    assert done.exit_code == 0, done.output
    done = runner.invoke(app, ["info", model, "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.output)
    parts = Recognizer.load(model).parts_
    assert len(parts) > 1
    assert {part.model for part in parts} == {Memm()}
    assert facts["model"] == "layered"
    assert facts["features"] == sum(part.extractor.size for part in parts) > 0


def test_features_of_the_paper_see_the_whole_document_in_training_and_tagging(tmp_path):
    """A short form that the title defines is known as such in the next sentence, also by the model from the file."""
    title = Sentence(
        ["Tumour", "necrosis", "factor", "(", "TNF", ")", "binds"],
        [Mention("protein", ((0, 3),)), Mention("protein", ((4, 5),))],
        {"pos": ["NN", "NN", "NN", "(", "NN", ")", "VBZ"]},
    )
    text = Sentence(["The", "TNF", "rises"], [Mention("protein", ((1, 2),))], {"pos": ["DT", "NN", "VBZ"]})
    doc = Document([title, text], "a")
    ner = Recognizer(Innermost(base="memm"), features="alex-genia", trainer=Auto(max_iter=30)).fit([doc] * 2)
    extractor = ner.parts_[0].extractor
    seen = {extractor.name(i).split("=")[0] for i in range(extractor.size)}
    assert {"abbreviation[0]", "headword[0]", "title[0]", "wordcounter[0]", "verb[0]", "pos[-2]"} <= seen
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert [s.mentions for s in again.predict([doc])[0].sentences] == [title.mentions, text.mentions]
    alone, within = again.pipeline_.annotate([Document([text]), doc], ["abbreviation"])
    assert alone.sentences[0].columns["abbreviation"] != within.sentences[1].columns["abbreviation"]
