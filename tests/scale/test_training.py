"""Training over blocks: the optimum of training in one piece, and the same bytes whoever has the blocks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from spanloom import Mention, Recognizer, read
from spanloom._native import CompressedRows, Likelihood, SharedRows, SparseRows, Supervision, add_rows
from spanloom.base.errors import ParameterError
from spanloom.decisions import Best
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, Iteration, Perceptron
from spanloom.models import Task
from spanloom.models.chain import Chain
from spanloom.models.component import Shapes
from spanloom.models.edge import Edge
from spanloom.models.structured import StructuredModel
from spanloom.models.supervised import supervise
from spanloom.scale import out_of_core
from spanloom.scale.out_of_core import DiskCrew
from spanloom.scale.sharded import RowSum, ShardedLearner, TreeSum, block_count, cut, shared_classes

DOCS = list(read("sample:train"))[:30]
SENTENCES = [sentence for doc in DOCS for sentence in doc.sentences]


def small(model: str = "chain", **settings: Any) -> Recognizer:
    trainer = LBFGS(max_iter=settings.pop("max_iter", 12), l1=settings.pop("l1", 0.0))
    return Recognizer(model, keep="longest", trainer=trainer, threads=1, **settings)


@pytest.mark.parametrize("model", [Chain(), Edge()])
@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_loss_and_gradient_are_those_of_all_sentences(model: StructuredModel, l1: float) -> None:
    """Against the likelihood over the whole corpus in which each feature has a weight of its own."""
    ner = Recognizer(model, keep="longest", trainer=LBFGS(max_iter=1), threads=1).fit(DOCS)
    found = ner.predict(DOCS)
    gold = [sentence.mentions for doc in found for sentence in doc.sentences]  # something that the model can hold
    trainer = LBFGS(l1=l1)
    task = Task(SENTENCES, [1] * len(SENTENCES), FeatureSet.named("default"), trainer, gold=gold, threads=1)
    learner = ShardedLearner(model, task, trainer, DiskCrew(1 << 30), blocks=4)
    plan = learner.plan
    assert len(plan.sizes) < learner.extractor.size or l1
    whole = FeatureExtractor(task.features, model.sites)
    rows = whole.fit(SENTENCES, 1)
    assert whole.names() == learner.extractor.names()
    shapes = Shapes(task.lengths)
    rng = np.random.default_rng(3)
    for number, component in enumerate(plan.components):
        width, global_width = plan.widths(number)
        x = rng.normal(size=len(plan.sizes) * width + global_width).astype(np.float32)
        value, gradient = learner.crew.evaluate(number, x)
        oracle = Likelihood(rows, component.structure, supervise(component, SENTENCES, gold, shapes), merge=False)
        by_class = x[: -global_width or None].reshape(-1, width).astype(np.float64) / np.sqrt(plan.sizes)[:, None]
        weights = np.concatenate([by_class[plan.shared].ravel(), x[len(plan.sizes) * width :].astype(np.float64)])
        expected, slope = oracle.evaluate(weights)
        assert value == pytest.approx(expected, rel=1e-6)
        per_feature = slope[: len(plan.shared) * width].reshape(-1, width)
        summed = np.zeros((len(plan.sizes), width))
        np.add.at(summed, plan.shared, per_feature)
        summed /= np.sqrt(plan.sizes)[:, None]
        wanted = np.concatenate([summed.ravel(), slope[len(plan.shared) * width :]])
        np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-4)
    learner.close()


@pytest.mark.parametrize("model", ["chain", "edge", "chains"])
def test_the_optimum_is_that_of_training_in_one_piece(model: str) -> None:
    alone = small(model, max_iter=60).fit(DOCS)
    blocks = small(model, max_iter=60).fit(DOCS, learner=out_of_core(blocks=8))
    assert blocks.training_["objective"] == pytest.approx(alone.training_["objective"], rel=1e-4)
    assert blocks.extractor_.names() == alone.extractor_.names()
    assert blocks.predict(DOCS) == alone.predict(DOCS)


def test_memory_changes_nothing() -> None:
    models = {small().fit(DOCS, learner=out_of_core(memory, blocks=8)).to_bytes() for memory in (0, 100_000, 1 << 30)}
    assert len(models) == 1


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_no_more_blocks_stay_than_memory_holds(share: float) -> None:
    """By their own account of it: as many as fit, and at least the one that is worked on."""
    task = Task(
        SENTENCES, [1] * len(SENTENCES), FeatureSet.named("default"), LBFGS(), gold=[[] for _ in SENTENCES], threads=1
    )

    def used(memory: int) -> list[int]:
        crew = DiskCrew(memory)
        learner = ShardedLearner(Chain(), task, LBFGS(), crew, blocks=8)
        width, behind = learner.plan.widths(0)
        crew.evaluate(0, np.zeros(len(learner.plan.sizes) * width + behind, np.float32))
        sizes = [size for _, size in crew._resident.values()]
        learner.close()
        return sizes

    whole = used(1 << 40)
    assert len(whole) == 8
    memory = int(share * sum(whole))
    found = used(memory)
    assert len(found) == 1 or sum(found) <= memory
    assert len(found) >= max(1, int(share * 8) - 1)


def test_files_are_removed(tmp_path: Any) -> None:
    small().fit(DOCS, learner=out_of_core(blocks=2, folder=tmp_path))

    def fail(record: Iteration) -> None:
        assert list(tmp_path.iterdir())
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        small().fit(DOCS, learner=out_of_core(blocks=2, folder=tmp_path), listener=fail)
    assert list(tmp_path.iterdir()) == []


def test_blocks_also_learn_where_the_penalty_is_chosen_by_cross_fitting() -> None:
    """Every training of it: the folds, and the one on all documents."""
    made: list[int] = []

    def counted(*given: Any) -> Any:
        made.append(1)
        return out_of_core(blocks=2)(*given)

    ner = small(max_iter=3, decide=Best(penalty="auto")).fit(DOCS, learner=counted)
    assert len(made) > 2
    fixed = small(max_iter=3).fit(DOCS, learner=out_of_core(blocks=2))
    assert ner.training_["objective"] == fixed.training_["objective"]


def test_development_data_and_penalties_go_with_it() -> None:
    ner = small(decide="best").fit(DOCS, dev=DOCS[:5], learner=out_of_core(blocks=2))
    ends = {record.component: record for record in ner.history_}
    assert all(record.dev_f1 is not None for record in (*ner.history_[:10], *ends.values()))


def test_the_number_of_blocks_depends_on_the_corpus_alone() -> None:
    """A power of two with at most a million tokens each, between 4 and 64; a block more for one token more."""
    assert [block_count(n) for n in (0, 1, 4 << 20, (4 << 20) + 1, 8 << 20, 64 << 20, 1 << 40)] == [
        4,
        4,
        4,
        8,
        8,
        64,
        64,
    ]
    automatic, four = (small().fit(DOCS, learner=out_of_core(blocks=blocks)).to_bytes() for blocks in (None, 4))
    assert automatic == four


def test_few_sentences_leave_blocks_empty() -> None:
    assert [len(b.sentences) for b in cut(Task(SENTENCES[:2], [2], FeatureSet(["word"]), LBFGS()), 8)].count(0) >= 6
    assert small().fit(DOCS[:2], learner=out_of_core(blocks=16)).training_["iterations"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "memm"}, "does not learn over blocks.*edge"),
        ({"trainer": Perceptron()}, "the trainer must be lbfgs"),
        ({"trainer": LBFGS(support="observed")}, "support='all'"),
        ({"model": "semimarkov"}, "cannot be kept in files"),
    ],
)
def test_what_cannot_be_trained_over_blocks_is_said(settings: dict[str, Any], message: str, tmp_path: Any) -> None:
    ner = Recognizer(**{"model": "chain", "keep": "longest", **settings})
    with pytest.raises(ParameterError, match=message):
        ner.fit(DOCS, learner=out_of_core(folder=tmp_path))
    with pytest.raises(ParameterError, match="power of two, got 3"):
        small().fit(DOCS, learner=out_of_core(blocks=3, folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_classes_are_features_that_are_alike_in_every_block() -> None:
    """By brute force: the whole columns are compared."""
    rng = np.random.default_rng(5)
    blocks = [rng.integers(0, 2, size=(3, 40)) for _ in range(3)]
    found = []
    for block in blocks:
        present = np.flatnonzero(block.any(axis=0))
        _, classes = np.unique(block[:, present], axis=1, return_inverse=True)
        found.append((present.astype(np.uint32), classes.ravel().astype(np.uint32)))
    columns = [tuple(column) for column in np.concatenate(blocks).T.tolist()]
    shared = shared_classes(40, found)
    for i, j in itertools.combinations(range(40), 2):
        assert (shared[i] == shared[j]) == (columns[i] == columns[j])
    assert shared_classes(40, found, merge=False).tolist() == list(range(40))


def test_sums_of_parts_are_those_of_whole_tables() -> None:
    """Against numpy, along the tree; rows that a part has not are left alone."""
    rng = np.random.default_rng(1)
    tables = rng.normal(size=(4, 25, 2)).astype(np.float32) * np.float32(1e3)
    rows = [np.flatnonzero(rng.random(25) < 0.6).astype(np.uint32) for _ in range(4)]
    rows[0] = np.arange(25, dtype=np.uint32)  # each row is somewhere
    for table, own in zip(tables, rows, strict=True):
        table[np.setdiff1d(np.arange(25), own)] = 0
    behind = rng.normal(size=(4, 3)).astype(np.float32)
    parts = [np.concatenate([t[own].ravel(), g]) for t, own, g in zip(tables, rows, behind, strict=True)]
    whole = np.concatenate([tables.reshape(4, -1), behind], axis=1)
    expected = (whole[0] + whole[1]) + (whole[2] + whole[3])
    a, b, c, d = (RowSum(1.0, own, part, 2) for own, part in zip(rows, parts, strict=True))
    total = a.plus(b).plus(c.plus(d))
    assert total.value == 4.0
    assert total.rows.tolist() == list(range(25))
    assert total.gradient.tobytes() == expected.tobytes()
    assert d.plus(c).rows.tolist() == sorted({*rows[2].tolist(), *rows[3].tolist()})


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_workers_add_up_along_one_tree(workers: int) -> None:
    """Whoever has the blocks: eight of them in pairs, by hand; also the second time, with tables that were used."""
    rng = np.random.default_rng(7)
    blocks = (rng.normal(size=(8, 30)) * 10.0 ** rng.integers(-3, 4, size=(8, 30))).astype(np.float32)
    b = list(blocks)
    expected = ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + (b[6] + b[7]))
    each, rows = 8 // workers, np.arange(30, dtype=np.uint32)
    sums = [TreeSum() for _ in range(workers)]

    def leaf(k: int, table: Any) -> float:
        table += blocks[k]
        return float(k)

    for _ in range(2):
        parts = []
        for w in range(workers):
            value, part = sums[w].of(each, 30, lambda k, table, w=w: leaf(w * each + k, table))  # type: ignore[misc]
            parts.append(RowSum(value, rows, part, 1))
        while len(parts) > 1:
            parts = [left.plus(right) for left, right in zip(parts[::2], parts[1::2], strict=True)]
        assert parts[0].value == 28.0
        assert parts[0].gradient.tobytes() == expected.tobytes()


def tiny_likelihood() -> tuple[Likelihood, int, int]:
    """A likelihood of three classes of features; how many parameters each has, and how many global ones there are."""
    structure = Chain().components([[Mention("A", ((0, 1),))]], [2])[0].structure
    rows = SparseRows(np.array([0, 2]), np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.uint32), 3, None)
    known = Supervision(np.array([0, 2]), np.array([0, structure.columns], np.int32))
    return Likelihood(CompressedRows(rows, threads=1), structure, known), structure.columns, structure.global_cells


def test_shared_parameters_are_those_of_a_block() -> None:
    """By the definition, with matrices: own = factor × shared, and the gradient goes back by the transpose."""
    likelihood, width, behind = tiny_likelihood()
    own, row, to = (np.array(n, np.uint32) for n in ([1, 0, 1, 2], [4, 0, 2, 1], [2, 0, 1, 3]))
    factor, rng = np.array([2.0, 1.0, 0.5, 3.0]), np.random.default_rng(1)
    way, back = np.zeros((3, 5)), np.zeros((4, 3))
    way[own, row], back[to, own] = factor, factor
    x = rng.normal(size=5 * width + behind).astype(np.float32)
    gradient = rng.normal(size=4 * width + behind).astype(np.float32)
    inner = (way @ x[: 5 * width].reshape(5, width)).ravel()
    expected, slope = likelihood.evaluate(np.concatenate([inner, x[5 * width :].astype(np.float64)]))
    wanted = np.concatenate([(back @ slope[: 3 * width].reshape(3, width)).ravel(), slope[3 * width :]]) + gradient
    assert SharedRows(3, own, row, factor, to).evaluate(likelihood, x, gradient) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-6)


def test_rows_that_do_not_fit_are_refused() -> None:
    """A block's rows are numbers of shared rows and of its own; a wrong one must not be read."""
    likelihood, width, behind = tiny_likelihood()
    numbers, factor = np.array([0, 1, 2], np.uint32), np.ones(3)
    x = np.zeros(3 * width + behind, np.float32)
    with pytest.raises(ValueError, match="no row 2 of 2"):
        SharedRows(2, numbers, numbers, factor, numbers)
    with pytest.raises(ValueError, match="3 shared rows, 2 rows of the block, 3 factors, 3 rows of the gradient"):
        SharedRows(3, numbers[:2].copy(), numbers, factor, numbers)
    three = SharedRows(3, numbers, numbers, factor, numbers)
    for given, gradient, what in ((x[:-1], x, "parameters for 3"), (x, x[width:], "derivatives for 3")):
        with pytest.raises(ValueError, match=what):
            three.evaluate(likelihood, given.copy(), gradient.copy())
    with pytest.raises(ValueError, match="parameters for 1000000 or more rows"):
        SharedRows(3, numbers, np.array([0, 1, 999_999], np.uint32), factor, numbers).evaluate(likelihood, x, x.copy())
    with pytest.raises(ValueError, match="shared parameters for 4 of 3 classes"):
        SharedRows(4, numbers, numbers, factor, numbers).evaluate(likelihood, x, x.copy())
    with pytest.raises(ValueError, match="2 rows with 3 numbers"):
        add_rows(numbers[:2].copy(), x[:3].copy(), numbers[:2].copy(), x[:4].copy(), 2)
