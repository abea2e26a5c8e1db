"""Mixtures: means of what models believe, weights that are learned, what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import CorpusError, EncodingError, ParameterError
from spanloom.configuration import configure, read_config, write_config
from spanloom.corpus import Believed, Known
from spanloom.features import FeatureSet
from spanloom.learning import LBFGS, Iteration
from spanloom.models import Chain, Mixture
from spanloom.models.mixing import judged, learn_weights
from spanloom.models.mixture import MixedParts
from toy import OFFICES

TRAIN = OFFICES * 3
DEV = OFFICES[:3]
TRAINER = LBFGS(max_iter=15)


def fit(model, **settings):
    return Recognizer(model, trainer=TRAINER, keep="longest", threads=1, **settings).fit(TRAIN, dev=DEV)


def test_probabilities_are_means_of_those_of_the_models_alone():
    mixed = fit(Mixture("state+chain", weights=(3, 1)), decide="best")
    parts = [fit(name, decide="best") for name in ("state", "chain")]
    blank = [s.with_mentions([]) for s in OFFICES]
    alone = [[{m: m.prob for m in s.mentions} for s in ner.predict(blank, above=1e-6)] for ner in parts]
    judged = 0
    for number, found in enumerate(mixed.predict(blank, above=0.05)):
        for m in found.mentions:
            mean = 0.75 * alone[0][number].get(m, 0.0) + 0.25 * alone[1][number].get(m, 0.0)
            assert m.prob == pytest.approx(mean, abs=1e-5)
            judged += 1
    assert judged >= 8


def test_it_finds_what_models_that_can_hold_it_believe_in():
    """A flat model has nothing to say of what is inside of another mention; P(mention) is the mean all the same."""
    ner = fit("mixture", decide="best")
    inner = Mention("LOC", ((1, 2),))
    found = ner.predict(OFFICES[2].with_mentions([])).mentions
    assert set(found) == set(OFFICES[2].mentions)
    assert next(m.prob for m in found if m == inner) < 0.5
    for one in ner.predict(OFFICES):
        assert set(one.mentions) >= set(ner.distribution(one.with_mentions([])).mentions(above=0.5))
    alike = fit(Mixture("edge+state"), decide="best")
    for one in alike.predict(OFFICES):
        assert set(one.mentions) == set(alike.distribution(one.with_mentions([])).mentions(above=0.5))


def test_flat_models_learn_what_they_hold():
    """The mixture holds what one of its models does, so that nothing is lost, and nothing is refused."""
    ner = Recognizer(Mixture("chain+edge"), trainer=TRAINER, threads=1).fit(TRAIN)
    assert ner.ceiling_ == 1.0
    assert any(a.overlaps(b) for s in TRAIN for a in s.mentions for b in s.mentions if a != b)
    broken = Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))])
    with pytest.raises(EncodingError, match="2 parts"):
        Recognizer(Mixture("chain+edge")).fit([*TRAIN, broken])


def test_weights_are_learned_on_development_data_or_by_cross_fitting():
    ner = fit(Mixture("state+chain", weights="fit"))
    shares = ner.trained_.facts()["weights"]
    assert sum(shares.values()) == pytest.approx(1)
    crossed = Recognizer(Mixture("state+chain", weights="fit"), trainer=TRAINER, keep="longest", threads=1).fit(TRAIN)
    assert isinstance(crossed.trained_, MixedParts)
    assert sum(crossed.trained_.shares) == pytest.approx(1)
    assert crossed.trained_.shares != [0.5, 0.5]


def test_what_the_annotation_leaves_open_says_nothing_of_weights():
    """With persons alone annotated, what is found of others is not wrong; what a teacher believes is no truth."""
    train = [s.with_mentions([m for m in s.mentions if m.label == "PER"]) for s in TRAIN]
    open_ = [Sentence(s.tokens, s.mentions, s.columns, known=Known(labels=("PER",))) for s in train]
    told = Sentence(["Bill"], known=Known(labels=(), believed=Believed(((1.0, ()),))))
    models = [fit(name, decide="best").trained_ for name in ("state", "chain")]
    beliefs, right = judged(models, [*open_, told], 1)
    assert right.sum() == sum(len(s.mentions) for s in train)
    assert beliefs.shape == (2, len(right))
    assert all(p > 0.5 for p in beliefs.T[right > 0].ravel())
    _, every = judged(models, TRAIN, 1)
    assert every.sum() == sum(len(s.mentions) for s in TRAIN)  # with those that a chain cannot hold


def test_learned_weights_are_the_most_likely_ones():
    """Against all weights on a grid."""
    random = np.random.default_rng(1)
    right = (random.random(300) < 0.5).astype(float)
    beliefs = np.clip(
        np.array([0.5, 0.5, 0.2])[:, None] * (right - 0.5) + 0.5 + random.normal(0, 0.3, (3, 300)), 0.01, 0.99
    )
    likely = np.where(right > 0, beliefs, 1 - beliefs)

    def log_likelihood(weights):
        return np.log(np.asarray(weights) @ likely).sum()

    learned = learn_weights(beliefs, right)
    assert min(learned[:2]) > 0.1
    grid = [(a / 20, b / 20, 1 - a / 20 - b / 20) for a in range(21) for b in range(21 - a)]
    assert log_likelihood(learned) >= max(map(log_likelihood, grid)) - 1e-3
    assert learn_weights(np.zeros((2, 0)), np.zeros(0)) == [0.5, 0.5]


def test_templates_of_whole_mentions_are_for_those_that_have_them():
    ner = fit(Mixture("state+segmental"), features="default+mention-words")
    state, segmental = (part.extractor.features for part in ner.trained_.parts)
    assert "mention-words" in segmental.name
    assert set(segmental.templates) > set(state.templates)
    assert (
        FeatureSet.named("mention-words").for_sites("segments").templates == FeatureSet.named("mention-words").templates
    )


def test_settings_go_through_toml(tmp_path):
    ner = Recognizer(Mixture([Chain(scheme="BILOU"), "edge"], weights=(0.5, 1.5)), threads=1)
    write_config(ner, tmp_path / "m.toml")
    again = configure(read_config(tmp_path / "m.toml"))
    assert again.model == ner.model == Mixture([{"name": "chain", "scheme": "BILOU"}, {"name": "edge"}], (0.5, 1.5))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"models": ()}, "needs models"),
        ({"models": "state+nothing"}, "must be one of"),
        ({"models": "state+layered"}, "'layered' cannot be part of a mixture"),
        ({"models": "state+tagger"}, "'tagger' cannot be part of a mixture"),
        ({"models": "state+multilabel"}, "learn by one trainer"),
        ({"models": [{"name": "chain", "skeme": "BIO"}]}, "the settings of 'chain' are scheme, constrained"),
        ({"weights": (1,)}, "2 models and 1 weights"),
        ({"weights": (0, 0)}, "one above 0"),
        ({"weights": "dev"}, "'equal', 'fit' or a number"),
        ({"weights": (float("nan"), 1)}, "a number for each"),
        ({"weights": 0.5}, "a number for each"),
        ({"weights": ("a", "b")}, "a number for each"),
        ({"models": None}, "models are names"),
        ({"folds": 1}, "folds"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, why):
    with pytest.raises(ParameterError, match=why):
        Mixture(**settings)


def test_models_that_are_trained_are_kept_when_the_next_is_stopped(tmp_path):
    seen = []

    def stop(record: Iteration) -> None:
        seen.append(record.part)
        if record.part == "chain":
            raise KeyboardInterrupt

    ner = Recognizer(Mixture("state+chain", weights=(2, 1)), trainer=TRAINER, keep="longest", threads=1)
    with pytest.raises(KeyboardInterrupt):
        ner.fit(TRAIN, listener=stop)
    assert seen.count("state") > 3
    assert ner.training_["interrupted"]
    assert [part.model.name for part in ner.trained_.parts] == ["state"]
    assert ner.predict(OFFICES[0].with_mentions([])).mentions
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom", threads=1)
    assert again.predict(OFFICES) == ner.predict(OFFICES)
    assert again.trained_.shares == [1.0]


def test_columns_of_all_models_are_made():
    """Templates of whole mentions are those of the second model alone."""
    ner = fit(Mixture("state+segmental"), features=["word[-1..1]", "segment(jenny1)"])
    assert ner.predict(Sentence(["Bill", "met", "Ann"])).mentions


def test_copies_are_equal():
    for model in (Mixture(), Mixture(["state", Chain()], weights=(2, 1))):
        assert clone(Recognizer(model)).model == model
    assert clone(Recognizer("mixture").set_params(model__models="edge+chain")).model == Mixture("edge+chain")


def test_a_mention_is_explained_by_the_model_that_believes_in_it_most():
    ner = fit("mixture", decide="best")
    one = next(s for s in ner.predict(OFFICES) if s.mentions)
    mention = one.mentions[0]
    part, _ = ner.trained_.responsible(one, mention)
    beliefs = {own.model.name: own.distribution(one).prob(mention) for own in ner.trained_.parts}
    assert beliefs[part.model.name] == max(beliefs.values())
    why = ner.explain(one, mention)
    assert why.contributions
    inner = ner.explain(OFFICES[2].with_mentions([]), Mention("LOC", ((1, 2),)))
    assert inner.prob > 0.5
    assert "one part of the model believes; all of it gives 0.4" in inner.note


def test_parts_start_from_parts_of_the_same_model():
    before = fit(Mixture("chain+state"), decide="best")
    again = Recognizer(Mixture("state+chain"), trainer=TRAINER, keep="longest", threads=1).fit(TRAIN, start=before)
    assert again.training_["iterations"] < before.training_["iterations"] / 2


def test_a_file_keeps_the_features_that_were_asked_for(tmp_path):
    """Parts look at different sites: training again after loading must not go by those of one part."""
    asked = FeatureSet(["word[-1..1]", "shape(word)", "segment(word)"])
    ner = fit(Mixture("state+semimarkov"), features=asked, decide="best")
    ner.save(tmp_path / "m.loom")
    loaded = Recognizer.load(tmp_path / "m.loom")
    assert loaded.features.templates == asked.templates
    again = loaded.set_params(threads=1).fit(TRAIN, dev=DEV)
    assert [p.extractor.features.templates for p in again.parts_] == [
        p.extractor.features.templates for p in ner.parts_
    ]
    named = fit(Mixture("state+chain"), decide="best")
    assert Recognizer.from_bytes(named.to_bytes()).features.name == named.trained_.extractor.features.name == "default"


def test_a_compact_mixture_tags_without_being_saved():
    ner = fit(Mixture("state+semimarkov"), features=["word", "shape(word)", "segment(word)"], decide="best")
    blank = [s.with_mentions([]) for s in OFFICES]
    assert [s.mentions for s in ner.compact(0.0).predict(blank)] == [s.mentions for s in ner.predict(blank)]


def test_labels_are_those_that_one_of_the_models_knows():
    """A label may stand in less probable mention sets of a teacher only."""
    rare, none = (Mention("RARE", ((1, 2),)),), ()
    taught = Sentence(["a", "rare", "bird"], known=Known(labels=(), believed=Believed(((0.6, none), (0.4, rare)))))
    ner = Recognizer(Mixture("state+chain"), trainer=TRAINER, keep="longest", threads=1).fit([*TRAIN, *[taught] * 9])
    assert "RARE" in ner.labels_
    assert rare[0] in ner.predict(Sentence(taught.tokens), above=0.2).mentions


@pytest.mark.parametrize("weights", [np.array([3.0, 1.0]), [3, 1]])
def test_weights_may_be_any_sequence_of_numbers(weights):
    assert Mixture("state+chain", weights=weights).weights == (3.0, 1.0)


@pytest.mark.parametrize("weights", [[10**400, 1], [1e308, 1e308], ["a", 1], 3, [float("nan"), 1], []])
def test_weights_that_are_no_numbers_are_said(weights):
    with pytest.raises(ParameterError, match="weight"):
        Mixture("state+chain", weights=weights)


def test_a_part_that_has_nothing_to_look_at_or_to_learn_is_said_before_any_training():
    seen: list[Iteration] = []

    def refused(error, match, model, corpus, **settings):
        ner = Recognizer(model, trainer=TRAINER, keep="longest", threads=1, **settings)
        with pytest.raises(error, match=match):
            ner.fit(corpus, listener=seen.append)
        assert not seen

    refused(ParameterError, "'state' of the mixture looks at gaps", Mixture("semimarkov+state"), TRAIN,
            features=["segment(word)"])  # fmt: skip
    broken = [Sentence(["T", "and", "B", "cells"], [Mention("cell", ((0, 1), (3, 4)))])] * 4
    refused(
        CorpusError, "'state' of the mixture holds", Mixture([{"name": "chain", "scheme": "BIOHD"}, "state"]), broken
    )


@pytest.mark.parametrize("models", ["state+chain", "chain+semimarkov+edge"])
def test_the_best_sets_are_those_of_all_sets_together(models):
    """Every set of every model, added up; the models list only few by themselves."""
    ner = fit(Mixture(models), decide="best")
    one = Sentence(["the", "Paris", "office", "met", "Bill", "there"])
    belief = ner.distribution(one)
    total: dict[frozenset[Mention], float] = {}
    for share, part in zip(ner.trained_.shares, ner.parts_, strict=True):
        for p, mentions in part.distribution(one).k_best(50_000):
            total[frozenset(mentions)] = total.get(frozenset(mentions), 0.0) + share * p
    best = sorted(total.values(), reverse=True)
    assert len(best) > 100
    for k in (1, 3, 12):
        found = belief.k_best(k)
        assert [p for p, _ in found] == pytest.approx(best[:k], abs=1e-6)
        assert [total[frozenset(mentions)] for _, mentions in found] == pytest.approx(best[:k], abs=1e-6)


def test_what_a_model_cannot_hold_counts_against_its_weight():
    """Half of the mentions are inside of others: a flat model misses them, and must not get all of the weight."""
    nested = Sentence(["the", "Paris", "office", "met"], [Mention("ORG", ((0, 3),)), Mention("LOC", ((1, 2),))])
    ner = Recognizer(Mixture("state+chain", weights="fit"), trainer=TRAINER, keep="longest", threads=1)
    ner.fit([nested] * 8, dev=[nested] * 2)
    state, chain = ner.trained_.shares
    assert state > 0.6 > 0.4 > chain


def test_a_mixture_learns_from_a_teacher_alone():
    """Sentences of a teacher list no mentions; what is believed says what there is to learn."""
    gene = (Mention("ORG", ((0, 3),)),)
    taught = Sentence(["the", "Paris", "office", "met"], known=Known(labels=(), believed=Believed(((1.0, gene),))))
    ner = Recognizer(Mixture("state+chain"), trainer=TRAINER, threads=1, decide="best").fit([taught] * 6)
    assert ner.predict(Sentence(taught.tokens)).mentions == list(gene)


def test_folds_in_which_a_model_has_nothing_to_learn_are_left_out():
    broken = Sentence(["T", "and", "B", "cells"], [Mention("cell", ((0, 1), (3, 4)))])
    whole = Sentence(["T", "cells"], [Mention("cell", ((0, 2),))])
    model = Mixture([{"name": "chain", "scheme": "BIOHD"}, "state"], weights="fit", folds=3)
    ner = Recognizer(model, trainer=TRAINER, keep="longest", threads=1).fit([*[broken] * 6, whole])
    assert sum(ner.trained_.shares) == pytest.approx(1)
