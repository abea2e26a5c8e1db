"""Encoders: gradients, windows, files, seeds, checkpoints; with a tiny random network made on the spot."""

from __future__ import annotations

import json
import math
import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from encoders.tiny import make_encoder
from extras import needs
from spanloom import Document, Recognizer, Sentence
from spanloom.base.errors import ModelFileError, ParameterError, SpanloomError
from spanloom.base.model_file import load_arrays, save_arrays
from spanloom.corpus import Known
from spanloom.encoders import Encoder
from spanloom.encoders.batches import portions
from spanloom.encoders.folder import find_folder
from spanloom.encoders.network import Network, Shape
from spanloom.encoders.sparse import SparseWeights
from spanloom.encoders.tuning import FineTuning, TuningProblem
from spanloom.encoders.windows import plan
from spanloom.evaluation.score import micro
from spanloom.features import FeatureSet
from spanloom.inference.distribution import in_order
from spanloom.learning import LBFGS, AdamW, Iteration
from spanloom.models import MODELS, Chain, State, Tagger, Task, named
from spanloom.models.encoding import EncodedCorpus, needed
from spanloom.models.holding import hold
from toy import OFFICES, sentence

needs("torch", "transformers", "tokenizers")

import torch  # noqa: E402

pytestmark = pytest.mark.extras

FEATURES = ["word[-1..1]", "shape(word)"]
ABLE = sorted(name for name, kind in MODELS.items() if kind.takes_encoder and name != "tagger")
FAST = AdamW(max_iter=4, rate=1e-3, batch=4)


TRAIN = OFFICES * 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("weights") / "tiny", dropout=0.1)


def make(folder: Path, model: object = "edge", trainer: object = FAST, **settings: object) -> Recognizer:
    return Recognizer(
        model, features=settings.pop("features", FEATURES), encoder=settings.pop("encoder", folder), trainer=trainer,
        keep="longest", **{"threads": 1, **settings},
    )  # fmt: skip


@pytest.fixture(scope="module")
def fitted(folder: Path) -> Recognizer:
    return make(folder, trainer=AdamW(max_iter=20, rate=1e-3, batch=4)).fit(TRAIN)


def tuning_of(folder: Path, model: str, trainer: AdamW = FAST, **settings: object) -> FineTuning:
    chosen = named(model).resolve([s.mentions for s in TRAIN], [len(s) for s in TRAIN])
    gold = hold(chosen, TRAIN, "longest").mentions
    features = FeatureSet(FEATURES).at(chosen.sites)
    task = Task(TRAIN, [len(TRAIN)], features, trainer, gold=gold, threads=1)
    corpus = EncodedCorpus(chosen, task, chosen.components(gold, task.lengths))  # type: ignore[attr-defined,arg-type]
    network = Network.from_folder(Encoder(folder, **settings), corpus.shape, 1)  # type: ignore[arg-type]
    sparse = SparseWeights(corpus.rows, corpus.shape.columns, 0.1, 0.0, trainer.batch)
    problem = TuningProblem([s.tokens for s in TRAIN], corpus.sites, corpus.loss, sparse)
    return FineTuning(network, problem, trainer, 1, 1)


@pytest.mark.parametrize("model", ABLE)
def test_the_gradient_is_the_slope_of_the_loss(folder: Path, model: str) -> None:
    """Along any direction in the weights of network, map, transitions and features at once, by central differences."""
    tuning = tuning_of(folder, model, dropout=0.0)
    network, sparse = tuning.network, tuning.problem.sparse
    assert sparse is not None
    network.module.double()
    network.head.double()
    every = {name: one for name, one in network.parameters().items() if one.requires_grad}
    random = np.random.default_rng(3)
    table = random.normal(size=sparse.table.shape) / 10
    ways = {name: random.normal(size=tuple(one.shape)) / 10 for name, one in every.items()}
    way = random.normal(size=table.shape) / 10
    start = {name: one.detach().clone() for name, one in every.items()}
    start["head.global_cells"] = torch.from_numpy(random.normal(size=start["head.global_cells"].shape))
    batch = np.arange(5)

    def at(step: float) -> float:
        with torch.no_grad():
            for name, one in every.items():
                one.copy_(start[name] + step * torch.from_numpy(ways[name]))
        sparse.table = (table + step * way).astype(np.float64)
        total, found = tuning.gradients(batch, dropout=False)
        at.found = found  # type: ignore[attr-defined]
        return total

    at(0.0)
    features, by_weight = at.found  # type: ignore[attr-defined]
    slope = sum(
        float((one.grad * torch.from_numpy(ways[name])).sum()) for name, one in every.items() if one.grad is not None
    )
    slope += float((by_weight * way[features]).sum())
    step = 1e-4
    expected = (at(step) - at(-step)) / (2 * step) / len(batch)
    assert slope == pytest.approx(expected, rel=2e-3, abs=1e-4)


def test_parts_of_a_batch_give_the_gradient_of_the_whole(folder: Path) -> None:
    made = {}
    for count in (1, 3):
        tuning = tuning_of(folder, "edge", replace(FAST, accumulate=count), dropout=0.0)
        loss, found = tuning.gradients(np.arange(7), dropout=False)
        assert found is not None
        grads = {name: one.grad.numpy().copy() for name, one in tuning.network.parameters().items()}
        made[count] = loss, grads, dict(zip(found[0].tolist(), found[1], strict=True))
    assert made[1][0] == pytest.approx(made[3][0])
    for name, grad in made[1][1].items():
        np.testing.assert_allclose(grad, made[3][1][name], atol=1e-5)
    assert made[1][2].keys() == made[3][2].keys()
    for feature, row in made[1][2].items():
        np.testing.assert_allclose(row, made[3][2][feature], atol=1e-5)


def test_long_sentences_are_read_in_parts(folder: Path) -> None:
    """The gradient does not change, and no part is longer than it may be."""
    whole, cut = (tuning_of(folder, "edge", replace(FAST, at_once=most), dropout=0.0) for most in (4096, 12))
    sizes = whole.pieces.sizes
    parts = portions(np.arange(10), sizes, 1, 12)
    assert sorted(np.concatenate(parts).tolist()) == list(range(10))
    assert all(len(part) == 1 or len(part) * sizes[part].max() <= 12 for part in parts)
    losses = [one.gradients(np.arange(10), dropout=False)[0] for one in (whole, cut)]
    assert losses[0] == pytest.approx(losses[1])
    for name, one in whole.network.parameters().items():
        np.testing.assert_allclose(one.grad, cut.network.parameters()[name].grad, atol=1e-5)


def test_features_are_left_out_of_some_sentences(folder: Path) -> None:
    """Of whole sentences, about as often as asked for, and their weights get no gradient then."""
    tuning = tuning_of(folder, "edge", replace(FAST, feature_dropout=0.3))
    table = tuning.problem.sites(np.arange(10))
    drawn = []
    for tuning.step in range(200):
        used = tuning._with_features(table, 0)[:, 0]
        each = [used[a:b] for a, b in pairwise(table.ptr.tolist())]
        assert all(len(set(own.tolist())) == 1 for own in each)
        drawn += [own[0] for own in each]
    assert np.mean(drawn) == pytest.approx(0.7, abs=0.05)
    tuning.trainer = replace(FAST, feature_dropout=1 - 1e-12)
    _, found = tuning.gradients(np.arange(10))
    assert found is not None
    assert not found[1].any()


def test_rates_rise_then_fall_and_are_lower_in_lower_layers(folder: Path) -> None:
    trainer = AdamW(warmup=0.25, layer_decay=0.5, rate=1.0, head_rate=3.0)
    factors = [trainer.factor(step, 20) for step in range(20)]
    assert factors[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert factors[5:] == pytest.approx([(20 - s) / 15 for s in range(5, 20)])
    rates = tuning_of(folder, "edge", trainer)._base
    assert rates["network.encoder.layer.1.output.dense.weight"] == 1.0
    assert rates["network.encoder.layer.0.output.dense.weight"] == 0.5
    assert rates["network.embeddings.word_embeddings.weight"] == 0.25
    assert {rate for name, rate in rates.items() if name.startswith("head.")} == {3.0}


# What is learned


@pytest.mark.parametrize("model", ABLE)
def test_every_likelihood_model_learns_with_an_encoder(folder: Path, model: str, tmp_path: Path) -> None:
    ner = make(folder, model).fit(TRAIN)
    assert ner.history_[-1].objective < ner.history_[0].objective
    belief = ner.distribution(sentence("Rome office"))
    assert math.fsum(p for p, _ in belief.k_best(3000)) == pytest.approx(1, abs=1e-6)
    (_, best), *_ = ner.k_best(TRAIN[1], 1)
    assert best == in_order(ner.trained_.find([TRAIN[1]])[0])
    ner.save(tmp_path / "a.loom")
    again = Recognizer.load(tmp_path / "a.loom", threads=1)
    assert again.predict(TRAIN, probabilities=True) == ner.predict(TRAIN, probabilities=True)


def test_it_finds_what_it_was_taught_with_probabilities(fitted: Recognizer) -> None:
    assert fitted.score(TRAIN).f1 > 0.9
    for mention in fitted.predict(TRAIN[1], probabilities=True).mentions:
        assert mention.prob == pytest.approx(fitted.distribution(TRAIN[1]).prob(mention))


def test_the_encoder_alone_can_learn(folder: Path) -> None:
    ner = make(folder, features=["bias"], trainer=AdamW(max_iter=40, rate=2e-3, batch=4)).fit(TRAIN)
    assert ner.score(TRAIN).f1 > 0.9


def test_an_encoder_that_is_not_tuned_keeps_its_weights(folder: Path) -> None:
    ner = make(folder, encoder=Encoder(folder, tune=False), trainer=AdamW(max_iter=30, batch=4)).fit(TRAIN)
    kept = ner.trained_.kept.arrays  # type: ignore[attr-defined]
    first = Network.from_folder(Encoder(folder), Shape(("gap",), 8, 0, 2), 1).arrays()
    own = [name for name in kept if name.startswith("network.")]
    assert own
    assert all((kept[name] == first[name]).all() for name in own)
    assert ner.score(TRAIN).f1 > 0.9


def test_contributions_add_up_and_the_encoder_is_one_of_them(fitted: Recognizer) -> None:
    one = TRAIN[1]
    for mention in fitted.predict(one).mentions:
        why = fitted.explain(one, mention, corpus=TRAIN)
        belief = fitted.distribution(one)
        best = [belief.clamp(must=[mention]), belief.clamp(never=[mention])]
        difference = (
            math.log(best[0].k_best(1)[0][0]) + best[0].log_z - math.log(best[1].k_best(1)[0][0]) - best[1].log_z
        )
        assert why.score_difference == pytest.approx(difference, abs=1e-4)
        assert "encoder" in why.groups()
        assert all("encoder" not in support.features for support in why.support)


def test_a_mention_penalty_moves_the_answer(fitted: Recognizer) -> None:
    before = sum(len(s.mentions) for s in fitted.predict(TRAIN))
    fitted.set_mention_penalty(-50.0)
    assert sum(len(s.mentions) for s in fitted.predict(TRAIN)) == 0 < before
    fitted.set_mention_penalty(0.0)


# Files and seeds


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(folder: Path) -> None:
    one, two, other = (make(folder, seed=seed).fit(TRAIN).to_bytes() for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_a_file_needs_no_folder_and_holds_nothing_that_runs(folder: Path, tmp_path: Path) -> None:
    moved = make_encoder(tmp_path / "here" / "weights")
    ner = make(moved).fit(TRAIN)
    ner.save(tmp_path / "m.loom")
    moved.rename(tmp_path / "gone")
    again = Recognizer.load(tmp_path / "m.loom", threads=1)
    assert again.predict(TRAIN) == ner.predict(TRAIN)
    again.save(tmp_path / "n.loom")
    assert (tmp_path / "m.loom").read_bytes() == (tmp_path / "n.loom").read_bytes()
    assert str(tmp_path).encode() not in (tmp_path / "m.loom").read_bytes()
    arrays, header = load_arrays(tmp_path / "m.loom")
    assert json.loads(bytes(arrays["encoder.tokenizer"]))["model"]["type"] == "WordPiece"
    config = header["model"]["encoder"]["config"]
    assert config["model_type"] == "bert"
    assert not {"auto_map", "_name_or_path"} & config.keys()


@pytest.mark.parametrize("change", ["shape", "config", "tokenizer", "missing", "code"])
def test_damaged_encoders_are_refused(fitted: Recognizer, tmp_path: Path, change: str) -> None:
    fitted.save(tmp_path / "m.loom")
    arrays, header = load_arrays(tmp_path / "m.loom")
    own = header["model"]["encoder"]
    if change == "shape":
        arrays["encoder.head.edges"] = np.zeros((3, 16), np.float32)
    elif change == "missing":
        del arrays["encoder.head.edges"]
    elif change == "config":
        del own["config"]["model_type"]
    elif change == "code":
        own["config"]["auto_map"] = {"AutoModel": "evil.Evil"}
    else:
        arrays["encoder.tokenizer"] = np.frombuffer(b"{", np.uint8)
    save_arrays(tmp_path / "bad.loom", arrays, header)
    with pytest.raises(ModelFileError, match=r"damaged|do not fit|have the shape"):
        Recognizer.load(tmp_path / "bad.loom").predict(TRAIN)


def test_smaller_models_keep_the_encoder(fitted: Recognizer, tmp_path: Path) -> None:
    small = fitted.compact(1e9)
    assert small.extractor_.size == 0
    small.save(tmp_path / "small.loom", weights="int8")
    again = Recognizer.load(tmp_path / "small.loom", threads=1)
    assert again.predict(TRAIN) == small.predict(TRAIN)


# Checkpoints


class Stop:
    """Stops a training after some records."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, record: Iteration) -> None:
        self.left -= 1
        if self.left <= 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("patience", [None, 3])
def test_a_training_that_was_stopped_comes_to_the_same_weights(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: int | None
) -> None:
    """Stopped within epochs and between them, again and again."""
    monkeypatch.setattr("spanloom.encoders.tuning.TOLD", 0.0)
    trainer = replace(FAST, patience=patience)
    dev = TRAIN[:5]
    whole = make(folder, trainer=trainer).fit(TRAIN, dev=dev)
    saving = replace(trainer, checkpoint=str(tmp_path / "c.loom"))
    stops = 0
    while True:
        ner = make(folder, trainer=saving)
        try:
            ner.fit(TRAIN, dev=dev, listener=Stop(5))
            break
        except KeyboardInterrupt:
            stops += 1
            assert stops < 10
    assert stops >= 2
    own, other = ner.trained_.arrays(), whole.trained_.arrays()
    assert own.keys() == other.keys()
    assert all((own[name] == other[name]).all() for name in own)
    assert [r.dev_f1 for r in ner.history_] == [r.dev_f1 for r in whole.history_]


def test_a_checkpoint_of_another_training_is_refused(folder: Path, tmp_path: Path) -> None:
    trainer = replace(FAST, checkpoint=str(tmp_path / "c.loom"))
    make(folder, trainer=trainer).fit(TRAIN)
    with pytest.raises(ParameterError, match="another training data"):
        make(folder, trainer=trainer).fit(TRAIN[:7])
    with pytest.raises(ParameterError, match="another seed"):
        make(folder, trainer=trainer, seed=2).fit(TRAIN)
    with pytest.raises(ParameterError, match="another trainer"):
        make(folder, trainer=replace(trainer, rate=1e-5)).fit(TRAIN)


def test_early_stop_takes_the_best_epoch(folder: Path) -> None:
    trainer = AdamW(max_iter=60, patience=2, rate=1e-3, batch=4)
    ner = make(folder, trainer=trainer).fit(TRAIN, dev=TRAIN[:5])
    f1 = [record.dev_f1 for record in ner.history_]
    assert len(f1) < 60
    found = ner.trained_.find(TRAIN[:5], 1)  # without the rule that a token has one label
    assert micro([s.mentions for s in TRAIN[:5]], found).f1 == pytest.approx(max(f1))


def test_progress_knows_its_share(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanloom.encoders.tuning.TOLD", -1.0)
    heard: list[Iteration] = []
    ner = make(folder).fit(TRAIN, listener=heard.append)
    shares = [record.share for record in heard]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(heard) == 4 * 3
    assert [record.number for record in ner.history_] == [1, 2, 3, 4]


# Words, pieces, windows


def network_of(folder: Path, **settings: object) -> Network:
    return Network.from_folder(Encoder(folder, **settings), Shape(("token",), 3, 0, 2), 1)  # type: ignore[arg-type]


def test_vectors_are_those_of_transformers(folder: Path) -> None:
    """First pieces of words, of sentences of several lengths at once."""
    import transformers

    network = network_of(folder)
    made = network.read([s.tokens for s in TRAIN[:5]])
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = []
    for one in TRAIN[:5]:
        coded = tokenizer(one.tokens, is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            out = model(**{k: coded[k] for k in ("input_ids", "attention_mask")}).last_hidden_state[0]
        words = coded.word_ids()
        expected += [out[words.index(i)].numpy() for i in range(len(one.tokens))]
    np.testing.assert_allclose(made, np.array(expected), atol=1e-5)


def test_means_of_pieces(folder: Path) -> None:
    network = network_of(folder, pool="mean")
    pieces = network.tokenizer.cut([["Rome", "office"]])
    assert np.diff(pieces.word_ptr).tolist() == [4, 1]
    with torch.inference_mode():
        filled = network.filled(pieces, [0])
        out = network.module(torch.from_numpy(filled.ids)).last_hidden_state[0].numpy()
    np.testing.assert_allclose(network.read([["Rome", "office"]]), [out[1:5].mean(0), out[5]], atol=1e-5)


def test_lower_layers_are_those_of_the_whole_network(folder: Path) -> None:
    import transformers

    model = transformers.AutoModel.from_pretrained(folder).eval()
    network = network_of(folder, layer=-2)
    pieces = network.tokenizer.cut([TRAIN[0].tokens])
    ids = torch.from_numpy(network.filled(pieces, [0]).ids)
    with torch.inference_mode():
        states = model(ids, output_hidden_states=True).hidden_states
        np.testing.assert_allclose(network.module(ids).last_hidden_state, states[1], atol=1e-6)
    with pytest.raises(ParameterError, match="no layer 3"):
        network_of(folder, layer=3)


def test_windows_take_every_piece_once_with_context(folder: Path) -> None:
    network = network_of(folder, window=10, context=3)
    words = ["office"] * 57
    pieces = network.tokenizer.cut([words, ["met"], words[:10], words[:11]])
    windows = plan(pieces, range(4), 10, 3)
    taken = np.concatenate([np.arange(a, b) for a, b in zip(windows.first, windows.last, strict=True)])
    assert taken.tolist() == list(range(57 + 1 + 10 + 11))
    bounds = pieces.word_ptr[pieces.sentence_ptr]
    for start, end, first, last in zip(windows.start, windows.end, windows.first, windows.last, strict=True):
        assert end - start <= 10
        sentence_start, sentence_end = bounds[bounds <= start].max(), bounds[bounds >= end].min()
        assert first - start >= 3 or start == sentence_start
        assert end - last >= 3 or end == sentence_end


def test_a_long_sentence_has_the_vectors_of_an_unwindowed_one_where_they_must_agree(folder: Path) -> None:
    """Without positions and attention a vector depends on its piece alone; and what fits is read as it is."""
    whole, cut = network_of(folder), network_of(folder, window=12, context=4)
    words = [word for s in TRAIN for word in s.tokens]
    assert (whole.read([words[:5]]) == cut.read([words[:5]])).all()
    with torch.no_grad():
        for network in (whole, cut):
            network.module.embeddings.position_embeddings.weight.zero_()
            for layer in network.module.encoder.layer:
                layer.attention.output.dense.weight.zero_()
    assert len(words) > 12
    np.testing.assert_allclose(whole.read([words[:20]]), cut.read([words[:20]]), atol=1e-6)


def test_nothing_is_cut_off(fitted: Recognizer) -> None:
    """Sentences longer than the network takes, also in one word, and empty ones."""
    words = [word for s in TRAIN for word in s.tokens] * 30
    assert len(fitted.predict(Sentence(words)).tokens) == len(words)
    found = fitted.trained_.find([Sentence(["x" * 500]), Sentence([]), Sentence(["\u200b", "Bill"])])
    assert len(found) == 3


def test_many_sentences_are_found_some_at_a_time(fitted: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [fitted.predict(TRAIN, probabilities=True), fitted.predict(TRAIN, above=0.1), fitted.predict(TRAIN)]
    monkeypatch.setattr("spanloom.models.encoded.AT_ONCE", 7)
    parts = [fitted.predict(TRAIN, probabilities=True), fitted.predict(TRAIN, above=0.1), fitted.predict(TRAIN)]
    assert [[s.mentions for s in one] for one in parts] == [[s.mentions for s in one] for one in whole]
    for one, other in zip(whole[0], parts[0], strict=True):
        assert [m.prob for m in one.mentions] == pytest.approx([m.prob for m in other.mentions])


def test_words_of_which_nothing_is_left_are_unknown(folder: Path) -> None:
    pieces = network_of(folder).tokenizer.cut([["\u200b", "met"], []])
    assert np.diff(pieces.word_ptr).tolist() == [1, 1]
    assert pieces.ids[0] == 1  # [UNK]
    assert pieces.sentence_ptr.tolist() == [0, 2, 2]


# Settings


def test_names_of_the_hub_are_not_downloaded() -> None:
    with pytest.raises(ParameterError, match="downloads nothing"):
        make(Path("bert-base-uncased")).fit(TRAIN)
    with pytest.raises(ParameterError, match="downloads nothing"):
        find_folder("org/name")


def test_folders_without_safetensors_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ParameterError, match="may hold code"):
        find_folder(tmp_path)


def test_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_encoder(tmp_path / "tiny_weights" / "model")
    (tmp_path / "tiny_weights" / "__init__.py").write_text("raise RuntimeError('nothing of it is run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_folder("tiny-weights") == tmp_path / "tiny_weights" / "model"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "memm"}, "takes no encoder"),
        ({"model": State(share=0.5)}, "share=0"),
        ({"trainer": LBFGS()}, "adamw"),
        ({"encoder": 3}, "path of a folder"),
    ],
)
def test_what_does_not_go_together_is_said(folder: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(folder, **settings).fit(TRAIN)


def test_windows_that_cannot_be_are_refused(folder: Path) -> None:
    with pytest.raises(ParameterError, match="more than the 64"):
        network_of(folder, window=100)
    with pytest.raises(ParameterError, match="leave nothing"):
        network_of(folder, window=10, context=5)


def test_parameters_have_nested_names(folder: Path) -> None:
    ner = Recognizer("edge", encoder=str(folder))
    assert ner.get_params()["encoder__hidden"] == 200
    ner.set_params(encoder__hidden=10, trainer__rate=1e-4)
    assert ner.encoder == Encoder(str(folder), hidden=10)
    assert ner.trainer == AdamW(rate=1e-4)
    assert ner.full_name("layer") == "encoder__layer"


def test_memory_is_estimated_and_refused_where_there_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = needed(tuning_of(folder, "edge"))
    frozen = needed(tuning_of(folder, "edge", tune=False))
    smaller = needed(tuning_of(folder, "edge", replace(FAST, accumulate=4)))
    assert tuned["weights"] > frozen["weights"] > 0 == frozen["activations"]
    assert tuned["activations"] > smaller["activations"] > 0
    monkeypatch.setattr("spanloom.base.memory.free_memory", lambda: 1000)
    with pytest.raises(ParameterError, match="accumulate=2"):
        make(folder).fit(TRAIN)


def batches_of(tuning: FineTuning) -> Iterator[list[int]]:
    return (one.tolist() for one in tuning._batches(0))


def test_batches_have_every_sentence_once(folder: Path) -> None:
    found = [number for batch in batches_of(tuning_of(folder, "edge")) for number in batch]
    assert sorted(found) == list(range(len(TRAIN)))


# With everything else


def test_partial_annotation_is_learned_from(folder: Path) -> None:
    """Persons are known everywhere, other labels in the first half only."""
    partial = [
        replace(one, mentions=[m for m in one.mentions if m.label == "PER"], known=Known(labels=("PER",)))
        for one in TRAIN[5:]
    ]
    trainer = AdamW(max_iter=30, rate=1e-3, batch=4)
    told, absent = (make(folder, trainer=trainer).fit([*TRAIN[:5], *rest]) for rest in (partial, TRAIN[3:4] * 5))
    assert told.score(TRAIN).f1 > 0.9
    assert told.history_[-1].objective != absent.history_[-1].objective


def test_a_column_can_be_learned(folder: Path) -> None:
    tagged = [replace(s, columns={"pos": ["N" if w[0].isupper() else "V" for w in s.tokens]}) for s in TRAIN]
    ner = make(folder, Tagger("pos"), AdamW(max_iter=20, rate=1e-3, batch=4)).fit(tagged)
    assert ner.predict(tagged[0]).columns["pos"] == ["N", "V", "N"]


def test_it_is_pickled_through_its_file(fitted: Recognizer) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(TRAIN) == fitted.predict(TRAIN)


def test_a_folder_to_be_shared(fitted: Recognizer, tmp_path: Path) -> None:
    fitted.save(f"{tmp_path}/shared/")
    assert Recognizer.load(tmp_path / "shared", threads=1).predict(TRAIN) == fitted.predict(TRAIN)


def test_several_representations_are_refused(folder: Path) -> None:
    with pytest.raises(ParameterError, match="one representation"):
        make(folder, Chain(scheme="BIES+")).fit([s.with_mentions(s.mentions[:1]) for s in TRAIN])


def test_annotators_learn_without_the_network(folder: Path) -> None:
    """Document context trains models of its own."""
    documents = [Document(TRAIN[i : i + 5]) for i in (0, 5)] * 4
    ner = make(folder, annotators=["document"]).fit(documents)
    assert ner.predict(documents[0]).sentences[0].tokens == TRAIN[0].tokens


def test_decisions_are_chosen_on_development_data(folder: Path) -> None:
    with pytest.raises(ParameterError, match="train the encoder several times"):
        make(folder, decide="f1").fit(TRAIN)
    ner = make(folder, decide="f1").fit(TRAIN, dev=TRAIN[:5])
    assert ner.rule_.thresholds is not None


def test_the_user_s_random_numbers_are_left_alone(folder: Path) -> None:
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    make(folder).fit(TRAIN)
    assert (torch.rand(3) == expected).all()


def test_without_torch_it_is_said_what_to_install(
    folder: Path, fitted: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is opened without it; what it needs is said when it is used."""
    fitted.save(tmp_path / "m.loom")
    monkeypatch.setitem(sys.modules, "torch", None)
    again = Recognizer.load(tmp_path / "m.loom")
    with pytest.raises(SpanloomError, match=r"pip install 'spanloom\[encoder\]'"):
        again.predict(TRAIN)
    with pytest.raises(SpanloomError, match=r"pip install 'spanloom\[encoder\]'"):
        make(folder).fit(TRAIN)
