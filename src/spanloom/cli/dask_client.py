"""The Dask cluster of a command: one that runs, or one of this machine for as long as the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer

from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need

SCHEDULER = "Train on the workers of this Dask cluster, e.g. tcp://head:8786."
SchedulerOption = Annotated[str | None, typer.Option(metavar="ADDRESS", help=SCHEDULER)]


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
def _from(scheduler: str | None, module: str, name: str) -> Iterator[Any]:
    """Call a function of ``spanloom.scale`` with a client; None without a scheduler, and then nothing is imported."""
    if scheduler is None:
        yield None
        return
    make = getattr(import_module(f"spanloom.scale.{module}"), name)
    with dask_client(scheduler) as client:
        yield make(client)


def trainings_on(scheduler: str | None) -> AbstractContextManager[Any]:
    """Give what does trainings on a cluster; None without a scheduler: this machine does them."""
    return _from(scheduler, "dask", "trainings")


def learner_on(scheduler: str | None) -> AbstractContextManager[Any]:
    """Give the learner that trains over blocks of sentences on a cluster; None without a scheduler."""
    return _from(scheduler, "dask_training", "learner")
