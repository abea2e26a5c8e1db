"""One battery over every model: what holds for all of them. A model enters by existing."""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from encoders.tiny import make_encoder
from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import NotFittedError, ParameterError
from spanloom.corpus import Known
from spanloom.encoders import Encoder
from spanloom.inference.distribution import in_order
from spanloom.learning import AdamW, Auto, Trainer
from spanloom.models import MODELS, Model, State, named
from spanloom.models.holding import hold
from spanloom.models.structured import Structured
from toy import OFFICES, sentence

ROOT = Path(__file__).resolve().parents[2]
FEATURES = ["word[-1..1]", "shape(word)"]
VARIANTS = {"state that shares": State(share=0.5)}
"""Settings that change how a model learns."""
ENCODED = {"edge with an encoder": "edge", "segmental with an encoder": "segmental"}
"""Models whose scores come from a network, too."""
HAS_NETWORKS = all(find_spec(name) for name in ("torch", "transformers", "tokenizers"))
EXTRA = [pytest.mark.extras, pytest.mark.skipif(not HAS_NETWORKS, reason="torch or transformers is not installed")]
NAMES = [*sorted(MODELS), *VARIANTS, *(pytest.param(name, marks=EXTRA) for name in ENCODED)]
APART = {
    "multilabel": "its sets keep restrictions, which independent candidates do not know",
    "mixture": "it finds the mentions that its models believe in more than not, each for itself",
}
"""Models whose best answer need not be the most probable set, and why."""

NETWORKS = {
    "threads": "sums of a network are rounded differently by other numbers of threads",
    "far": "a network reads what stands far before; tests/encoders has what windows must keep",
}
"""What does not hold of models with a network, and why."""

LENGTHS = {"multilabel": 300}
"""Models for which ten thousand tokens take long here, and what they get.

Trained on so little, ``multilabel`` gives every span a score above 0, and goes through all that a better one forbids.
"""
NO_MARGINALS = {"joined": "given mentions, the cells of joined labels are not followed"}
"""Models whose clamped distributions have no marginals of cells, and why."""
NO_CELLS = {"mixture": "its models have different cells"}
"""Models whose distributions have no marginals of cells at all, and why."""


TRAIN = OFFICES * 3
TINY = sentence("Rome office")
SHORT = [
    sentence("Ann slept", ("PER", 0, 1)),
    sentence("saw Bill", ("PER", 1, 2)),
    sentence("Rome office", ("ORG", 0, 2), ("LOC", 0, 1)),
]
SEVERAL = ("edge", "hypergraph", "state", "state that shares")
"""Models in which several structures may stand for one set."""
ALL = 3000
"""More than there are mention sets of ``TINY`` in any model."""


@pytest.fixture(scope="module")
def trained() -> dict[str, Recognizer]:
    return {}


def fitted(name: str, cache: dict[str, Recognizer]) -> Recognizer:
    if name not in cache:
        cache[name] = make(name).fit(TRAIN)
    return cache[name]


def make(name: str, **settings: object) -> Recognizer:
    trainer: Trainer = Auto(max_iter=12)
    if name in ENCODED:
        settings["encoder"] = Encoder(make_encoder(Path(mkdtemp()) / "tiny"), window=40)
        trainer = AdamW(max_iter=12, rate=1e-3, batch=4)
    return Recognizer(model_of(name), features=FEATURES, trainer=trainer, keep="longest", **{"threads": 1, **settings})


def model_of(name: str) -> Model | str:
    return VARIANTS.get(name, ENCODED.get(name, name))


def changed(model: Model) -> Model:
    """The settings with other numbers and switches, as far as these are allowed together."""
    for field in fields(model):
        value = getattr(model, field.name)
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else None
        if other is None and isinstance(value, float):
            other = value / 2 + 0.1
        if other is not None:
            with suppress(ParameterError):
                model = replace(model, **{field.name: other})
    return model


@pytest.mark.parametrize("name", NAMES)
class TestModel:
    def test_what_it_finds_in_training_data_is_mostly_right(self, name: str, trained: dict[str, Recognizer]) -> None:
        assert fitted(name, trained).score(TRAIN).precision > 0.6

    def test_probabilities_of_all_sets_add_up_to_one(self, name: str, trained: dict[str, Recognizer]) -> None:
        belief = fitted(name, trained).distribution(TINY)
        assert math.fsum(p for p, _ in belief.k_best(ALL)) == pytest.approx(1, abs=1e-6)

    def test_prob_is_the_sum_over_the_sets_that_have_the_mention(
        self, name: str, trained: dict[str, Recognizer]
    ) -> None:
        ner = fitted(name, trained)
        belief = ner.distribution(TINY)
        sets = belief.k_best(ALL)
        for label, (start, end) in itertools.product(ner.labels_, itertools.combinations(range(3), 2)):
            mention = Mention(label, ((start, end),))
            expected = math.fsum(p for p, found in sets if mention in found)
            assert belief.prob(mention) == pytest.approx(expected, abs=1e-6)

    def test_mentions_above_are_those_with_such_a_probability(self, name: str, trained: dict[str, Recognizer]) -> None:
        belief = fitted(name, trained).distribution(TINY)
        sums: dict[Mention, float] = {}
        for p, found in belief.k_best(ALL):
            for mention in found:
                sums[mention] = sums.get(mention, 0.0) + p
        found = belief.mentions(above=0.05)
        assert {m for m, p in sums.items() if p > 0.05 + 1e-6} <= set(found)
        assert all(m.prob == pytest.approx(sums[m], abs=1e-6) for m in found)

    def test_the_highest_expected_f1_is_that_of_a_threshold_at_its_half(
        self, name: str, trained: dict[str, Recognizer]
    ) -> None:
        """By enumeration of what may be right and of every answer; F1 of expected counts, as over many sentences."""
        belief = fitted(name, trained).distribution(TINY)
        sets = [(p, frozenset(own)) for p, own in belief.k_best(ALL)]
        mass = sum(p for p, _ in sets)
        gold = sum(p * len(own) for p, own in sets) / mass
        pool = sorted(belief.mentions(above=0.02), key=lambda m: -(m.prob or 0.0))[:8]

        def f1(answer: frozenset[Mention]) -> float:
            right = sum(p * len(own & answer) for p, own in sets) / mass
            return 2 * right / (len(answer) + gold)

        every = [frozenset(m for i, m in enumerate(pool) if number >> i & 1) for number in range(1, 1 << len(pool))]
        best = max(map(f1, every), default=0.0)
        cut = frozenset(m for m in pool if (m.prob or 0.0) >= best / 2)
        assert not every or f1(cut) == pytest.approx(best, abs=1e-6)

    def test_the_most_probable_set_is_predicted(self, name: str, trained: dict[str, Recognizer]) -> None:
        if name in APART:
            pytest.skip(APART[name])
        ner = fitted(name, trained)
        for one in TRAIN[:5]:
            (_, best), *_ = ner.k_best(one, 1)
            assert best == in_order(ner.trained_.find([one])[0])

    def test_clamping_is_conditioning(self, name: str, trained: dict[str, Recognizer]) -> None:
        belief = fitted(name, trained).distribution(TINY)
        sets = belief.k_best(ALL)
        likely = [m for m in belief.mentions(above=1e-6) if m.prob is not None and m.prob < 1 - 1e-6]
        for mention in likely[:4]:
            for must in (True, False):
                given = belief.clamp(must=[mention]) if must else belief.clamp(never=[mention])
                mass = math.fsum(p for p, found in sets if (mention in found) == must)
                assert given.log_z - belief.log_z == pytest.approx(math.log(mass), abs=1e-6)
                for other in likely[:3]:
                    both = math.fsum(p for p, found in sets if (mention in found) == must and other in found)
                    assert given.prob(other) == pytest.approx(both / mass, abs=1e-5)

    def test_what_it_can_hold_comes_back(self, name: str, trained: dict[str, Recognizer]) -> None:
        """Encode and decode: the mentions that it takes from the training data are one of its sets."""
        ner = fitted(name, trained)
        held = hold(ner.trained_.holder, ner.model_.before(TRAIN[:5]), "longest")
        assert not held.misread
        for one, mentions in zip(TRAIN, held.mentions, strict=False):
            belief = ner.distribution(one)
            assert in_order(mentions) in [own for _, own in belief.k_best(500)]
            given = belief.clamp(must=mentions)
            assert [given.prob(mention) for mention in mentions] == pytest.approx([1.0] * len(mentions))

    def test_marginals_are_probabilities_of_cells(self, name: str, trained: dict[str, Recognizer]) -> None:
        """With a mention and without it, weighted by its probability, they are what they were."""
        belief = fitted(name, trained).distribution(TINY)
        if name in NO_CELLS:
            with pytest.raises(ParameterError, match="marginals"):
                belief.marginals()
            return
        whole = belief.marginals()
        assert whole.probs.shape == (len(whole.sites), len(whole.names))
        assert whole.probs.min() >= 0
        assert whole.probs.max() <= 1 + 1e-9
        unsure = [m for m in belief.mentions(above=1e-3) if m.prob is not None and m.prob < 0.999]
        assert unsure
        for mention in unsure[:3]:
            given = belief.clamp(must=[mention]), belief.clamp(never=[mention])
            if name in NO_MARGINALS:
                with pytest.raises(ParameterError, match="marginals"):
                    given[0].marginals()
                continue
            with_it, without = (g.marginals() for g in given)
            assert with_it.names == without.names == whole.names
            assert with_it.sites == without.sites == whole.sites
            p = belief.prob(mention)
            np.testing.assert_allclose(p * with_it.probs + (1 - p) * without.probs, whole.probs, atol=1e-6)

    def test_samples_come_from_the_sets(self, name: str, trained: dict[str, Recognizer]) -> None:
        belief = fitted(name, trained).distribution(TINY)
        drawn = [tuple(in_order(found)) for found in belief.sample(400, seed=3)]
        assert drawn == [tuple(in_order(found)) for found in belief.sample(400, seed=3)]
        frequent = {tuple(found): p for p, found in belief.k_best(ALL) if p > 0.03}
        for found, p in frequent.items():
            assert abs(drawn.count(found) / 400 - p) < 5 * math.sqrt(p * (1 - p) / 400)

    def test_a_file_gives_the_same_answers_and_the_same_bytes(
        self, name: str, trained: dict[str, Recognizer], tmp_path: Path
    ) -> None:
        ner = fitted(name, trained)
        ner.save(tmp_path / "a.loom")
        again = Recognizer.load(tmp_path / "a.loom", threads=1)
        assert again.predict(TRAIN) == ner.predict(TRAIN)
        assert again.labels_ == ner.labels_
        again.save(tmp_path / "b.loom")
        assert (tmp_path / "a.loom").read_bytes() == (tmp_path / "b.loom").read_bytes()

    def test_the_same_bytes_for_any_number_of_threads(
        self, name: str, trained: dict[str, Recognizer], tmp_path: Path
    ) -> None:
        if name in ENCODED:
            pytest.skip(NETWORKS["threads"])
        fitted(name, trained).save(tmp_path / "one.loom")
        make(name, threads=3).fit(TRAIN).save(tmp_path / "three.loom")
        assert (tmp_path / "one.loom").read_bytes() == (tmp_path / "three.loom").read_bytes()

    def test_edges_of_the_input(self, name: str, trained: dict[str, Recognizer]) -> None:
        ner = fitted(name, trained)
        assert ner.predict(sentence("Bill")).tokens == ["Bill"]
        words = [word for one in TRAIN[:5] for word in one.tokens]
        size = LENGTHS.get(name, 10_000)
        long = sentence(" ".join(words * (size // len(words))))
        assert len(long) == len(ner.predict(long)) == size
        belief = ner.distribution(sentence("Bill"))
        assert math.fsum(p for p, _ in belief.k_best(1000)) == pytest.approx(1, abs=1e-6)

    def test_nothing_is_cut_off(self, name: str, trained: dict[str, Recognizer]) -> None:
        """At the end of a long sentence it finds what it finds at the end of a short one."""
        if name in ENCODED:
            pytest.skip(NETWORKS["far"])
        ner = fitted(name, trained)
        before, end = ["nothing", "was", "seen", "there"], ["Bill", "met", "Ann", "there", "was", "nothing"]
        size = LENGTHS.get(name, 10_000) // 4 - 3

        def found(times: int) -> list[Mention]:
            mentions = ner.trained_.find([sentence(" ".join(before * times + end))])[0]
            return sorted(m.shifted(-4 * times) for m in mentions if m.start >= 4 * times)

        assert found(3)
        assert found(size) == found(3)

    def test_an_interruption_leaves_a_model_or_says_that_there_is_none(
        self, name: str, trained: dict[str, Recognizer]
    ) -> None:
        def stop(record: object) -> None:
            raise KeyboardInterrupt

        ner = make(name)
        with pytest.raises(KeyboardInterrupt):
            ner.fit(TRAIN, listener=stop)
        try:
            assert isinstance(ner.predict(TINY), Sentence)
            assert ner.training_["interrupted"]
        except NotFittedError:
            assert named(model_of(name)).parameters()[0] in ("base", "models"), "only what has parts needs a whole one"

    def test_an_encoded_set_has_the_score_of_its_structure(self, name: str, trained: dict[str, Recognizer]) -> None:
        """What is learnt from is what is found: P(set) = exp(score of its cells) / Z, or more if it has several."""
        ner = fitted(name, trained)
        tagger = ner.trained_
        if not isinstance(tagger, Structured):
            pytest.skip("it is not made of components")
        random = np.random.default_rng(5)
        for one in ner.model_.before(SHORT):
            rows, shapes = tagger._rows([one], 1)
            for component in tagger.components:
                own = [m for m in one.mentions if m.label in component.types]
                (held,) = hold(tagger.holder, [one.with_mentions(own)], "longest").mentions
                (cells,) = component.encode_all([held], shapes)
                size = int(rows.group_ptr[-1]) * len(component.columns)
                table = random.normal(size=size + len(component.global_names()))
                belief = component.distribution(table[:size], table[size:], shapes)
                sets = {tuple(found): p for p, found in belief.k_best(ALL)}
                alone = math.exp(math.fsum(table[cells]) - belief.log_z)
                if name in SEVERAL:
                    assert sets[tuple(in_order(held))] > alone * (1 - 1e-9)
                else:
                    assert sets[tuple(in_order(held))] == pytest.approx(alone, rel=1e-9)

    def test_what_it_says_that_it_takes_it_takes(self, name: str, trained: dict[str, Recognizer]) -> None:
        ner = fitted(name, trained)
        if not isinstance(ner.trained_, Structured):
            pytest.skip("it is not made of components")
        shapes = ner.trained_._rows([TINY], 1)[1]
        for component in ner.trained_.components:
            assert any(component.starts()) == ner.model_.penalised
            if ner.model_.takes_partial:
                assert len(component.allowed_in([], Known(labels=(), ranges=()), shapes, 0))
            else:
                with pytest.raises(ParameterError, match="partial"):
                    component.allowed_in([], Known(labels=(), ranges=()), shapes, 0)

    def test_other_settings_go_through_a_file(self, name: str, trained: dict[str, Recognizer], tmp_path: Path) -> None:
        model = changed(named(model_of(name)))
        Recognizer(model, features=FEATURES, trainer=Auto(max_iter=1), keep="longest", threads=1).fit(TRAIN).save(
            tmp_path / "other.loom"
        )
        assert Recognizer.load(tmp_path / "other.loom").model == model

    def test_the_docs_have_a_row(self, name: str, trained: dict[str, Recognizer]) -> None:
        assert f"`{named(model_of(name)).name}`" in (ROOT / "docs" / "choosing-a-model.md").read_text(encoding="utf-8")
