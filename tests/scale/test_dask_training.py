"""Training on a Dask cluster: the same model to the byte for 1, 2 and 4 workers, and when workers die."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace
from typing import Any

import pytest

from extras import needs
from spanloom import Recognizer
from spanloom.learning import Iteration
from spanloom.scale import out_of_core

from .test_training import DOCS, small

needs("dask", "distributed", "pyarrow")

import distributed  # noqa: E402

from spanloom.scale import dask_blocks  # noqa: E402
from spanloom.scale.dask_blocks import LostBlock  # noqa: E402
from spanloom.scale.dask_training import EvaluationCost, learner  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module", params=[1, 2, 4])
def client(request: pytest.FixtureRequest) -> Any:
    with (
        distributed.LocalCluster(n_workers=request.param, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("model", ["chain", "edge"])
def test_the_model_is_the_same_to_the_byte(client: Any, model: str) -> None:
    """As that of this process, so as each other, for any number of workers."""
    costs: list[EvaluationCost] = []
    there = small(model, max_iter=6).fit(DOCS, learner=learner(client, blocks=8, watch=costs.append))
    here = small(model, max_iter=6).fit(DOCS, learner=out_of_core(blocks=8))
    assert there.to_bytes() == here.to_bytes()
    assert len(costs) >= len(there.history_)
    workers = len(client.scheduler_info(n_workers=-1)["workers"])
    for cost in costs:  # what leaves this process and comes back does not grow with the workers
        assert 0 < cost.sent < cost.received < 1.3 * cost.sent  # gradients come with the numbers of their rows
        assert (workers - 1) * cost.sent <= cost.between <= 2 * (workers - 1) * cost.received


def test_models_of_segments_train_there_too(client: Any) -> None:
    there = small("semimarkov", max_iter=5).fit(DOCS, learner=learner(client, blocks=4))
    alone = small("semimarkov", max_iter=5).fit(DOCS)
    assert there.training_["objective"] == pytest.approx(alone.training_["objective"], rel=1e-4)


def test_a_worker_that_is_killed_in_training_changes_nothing(client: Any) -> None:
    killed: list[int] = []

    def kill(record: Iteration) -> None:
        if record.number == 3:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[-1], signal.SIGKILL)

    there: Recognizer = small(max_iter=8).fit(DOCS, learner=learner(client, blocks=8), listener=kill)
    assert killed
    here = small(max_iter=8).fit(DOCS, learner=out_of_core(blocks=8))
    assert there.to_bytes() == here.to_bytes()


def test_a_result_that_is_lost_with_its_worker_is_made_again(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker dies when the sum is there and has not been fetched."""
    gather, calls, killed = client.gather, 0, []

    def lose(futures: Any, **given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            (place,) = client.who_has([futures])[futures.key]
            killed.append(client.run(os.getpid)[place])
            os.kill(killed[-1], signal.SIGKILL)
        return gather(futures, **given)

    monkeypatch.setattr(client, "gather", lose)
    there = small(max_iter=6).fit(DOCS, learner=learner(client, blocks=8))
    assert killed
    assert there.to_bytes() == small(max_iter=6).fit(DOCS, learner=out_of_core(blocks=8)).to_bytes()


def test_where_workers_cannot_be_reached_weights_go_through_the_scheduler(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scatter, ways = client.scatter, []

    def refuse(x: Any, *, direct: bool, **given: Any) -> Any:
        ways.append(direct)
        if direct:
            raise OSError("no route to host")
        return scatter(x, direct=direct, **given)

    monkeypatch.setattr(client, "scatter", refuse)
    there = small(max_iter=3).fit(DOCS, learner=learner(client, blocks=4))
    assert ways[0]
    assert not any(ways[1:])
    assert there.to_bytes() == small(max_iter=3).fit(DOCS, learner=out_of_core(blocks=4)).to_bytes()


def test_a_worker_keeps_nothing_of_work_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has never had the blocks, and one whose training has ended while the work was under way."""
    monkeypatch.setattr(dask_blocks, "_held", {})
    monkeypatch.setattr(dask_blocks, "_ended", set())
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="there"))
    assert dask_blocks.with_blocks(dask_blocks.hold, "run", 3, {0: None}) == LostBlock((3,), "there")
    assert not dask_blocks._held
    data = object()
    dask_blocks.with_blocks(dask_blocks.hold, "run", 3, {0: data})
    assert dask_blocks._held["run"][0].data is data
    dask_blocks.forget("run")
    dask_blocks.with_blocks(dask_blocks.hold, "run", 3, {0: data})
    assert not dask_blocks._held


def test_workers_let_blocks_go_at_the_end(client: Any) -> None:
    def held() -> int:
        return max(client.run(lambda: len(dask_blocks._held)).values())

    small(max_iter=2).fit(DOCS, learner=learner(client, blocks=2))
    until = time.monotonic() + 30  # workers hear of it when they have time
    while held() and time.monotonic() < until:
        time.sleep(0.1)
    assert held() == 0
