"""The Dask cluster of a command: one that runs, or one of this machine for as long as the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need

SchedulerOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Train on the workers of this Dask cluster, e.g. tcp://head:8786."),
]


@contextmanager
def dask_client(scheduler: str | None, jobs: int | None = None) -> Iterator[Any]:
    """Connect to a scheduler; without one, start a cluster of ``jobs`` processes here."""
    distributed = need("distributed", "dask")
    if scheduler is None:
        with (
            distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout="20s")
    except (OSError, ValueError) as error:
        raise SpanloomError(f"there is no Dask scheduler at {scheduler}: {error}") from None
    with client:
        yield client


@contextmanager
def trainings_on(scheduler: str | None) -> Iterator[Any]:
    """Give what does trainings on a cluster; None without a scheduler: this machine does them."""
    if scheduler is None:
        yield None
        return
    from spanloom.scale.dask import trainings

    with dask_client(scheduler) as client:
        yield trainings(client)


@contextmanager
def learner_on(scheduler: str | None) -> Iterator[Any]:
    """Give who learns over blocks of sentences on a cluster; None without a scheduler: this process learns."""
    if scheduler is None:
        yield None
        return
    from spanloom.scale.dask_training import learner

    with dask_client(scheduler) as client:
        yield learner(client)
