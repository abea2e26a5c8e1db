"""Dask (``pip install 'spanloom[dask]'``): collections with a column of mentions, batches and trainings on a cluster.

The model travels once per worker: workers open a path that they all see, or keep bytes that are sent to each of them,
also to those that join later. Tasks carry a digest. Dask does tasks again that are lost with a worker.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need
from spanloom.recognizer import Recognizer
from spanloom.scale.arrow import COLUMN, ColumnWork, mention_type
from spanloom.scale.loading import ModelSource, deposit, deposited
from spanloom.scale.pool import ATTEMPTS, Done
from spanloom.scale.shards import Shard
from spanloom.scale.work import Work, tag_shard
from spanloom.tuning.jobs import Item, Result, Settings, TrainingJob, do_job

if TYPE_CHECKING:
    from spanloom.scale.batches import Engine
    from spanloom.tuning.jobs import Trainings

T = TypeVar("T")
_sent: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def tag(
    collection: Any,
    model: str | os.PathLike[str] | Recognizer,
    *,
    text: str = "text",
    column: str = COLUMN,
    probabilities: bool = False,
    above: float | None = None,
    client: Any = None,
) -> Any:
    """Return a Dask DataFrame or Bag with the mentions of each text; nothing is done before it is computed.

    Parameters
    ----------
    collection
        A DataFrame with a column of texts; or a Bag of dicts with a field of texts, or of strings.
    model
        A model file that all workers see. A recogniser is sent to the workers of the client, once to each.
    text
        The column or field of the texts.
    column
        Where the mentions go: a column of lists of structs (Arrow), or a list of dicts, each with ``label``, ``parts``
        (half-open ranges of tokens), ``chars``, ``text`` and ``prob``. Of a Bag of strings, dicts are made.
    probabilities, above
        As in ``Recognizer.predict``.
    client
        The ``distributed.Client`` that a recogniser is sent to; the current one if left out.
    """
    work = ColumnWork(_source(model, client), text, column, probabilities, above)
    if isinstance(collection, need("dask.bag", "dask").Bag):
        return collection.map_partitions(_tag_items, work=work)
    pandas = need("pandas", "dask")
    work.check(collection.columns)
    meta = collection._meta.assign(**{column: pandas.Series([], dtype=pandas.ArrowDtype(mention_type()))})
    return collection.map_partitions(_tag_frame, meta=meta, work=work)


def engine(client: Any) -> Engine:
    """Return what tags the shards of ``spanloom.scale.tag_files`` on a cluster whose workers see the same files."""

    def run(work: Work, shards: Sequence[Shard]) -> Iterator[Done]:
        if not work.model.path:
            send(client, work.model.data())
        futures = {client.submit(_tag_shard, work, shard, pure=False, retries=ATTEMPTS - 1): shard for shard in shards}
        for shard, (manifest, seconds) in _as_done(client, futures, lambda shard: shard.name):
            yield shard, manifest, seconds

    return run


def trainings(client: Any) -> Trainings:
    """Return what does the trainings of ``tune`` and ``cross_validate`` on a cluster; the corpus goes there once.

    Used as ``tune(train, dev, grid={"l2": [0.1, 1.0]}, trainings=spanloom.scale.dask.trainings(client))``.
    """

    def run(
        corpus: Sequence[Item], jobs: Mapping[str, TrainingJob], make: Callable[[Settings], Any]
    ) -> Iterator[tuple[str, Result]]:
        digest = send(client, pickle.dumps(list(corpus)))
        futures = {client.submit(_train, digest, job, make, pure=False): key for key, job in jobs.items()}
        yield from _as_done(client, futures, lambda key: f"training {key}")

    return run


def send(client: Any, data: bytes) -> str:
    """Send bytes to every worker of a cluster, once, also to those that join later; return their digest."""
    digest = deposit(data)
    known = _sent.setdefault(client, set())
    if digest in known:
        return digest

    class Deposit(need("distributed", "dask").WorkerPlugin):  # type: ignore[misc]
        """Keeps bytes in a worker."""

        def __init__(self, data: bytes) -> None:
            self.data = data

        def setup(self, worker: Any) -> None:
            from spanloom.scale.loading import deposit

            deposit(self.data)

    client.register_plugin(Deposit(data), name=f"spanloom-{digest}")
    known.add(digest)
    return digest


def _source(model: str | os.PathLike[str] | Recognizer, client: Any) -> ModelSource:
    source = ModelSource.of(model)
    if source.path:
        return source
    if client is None:
        try:
            client = need("distributed", "dask").get_client()
        except ValueError:
            return source  # no cluster: the threads of this process find it
    send(client, source.data())
    return source


def _as_done(client: Any, futures: dict[Any, T], name: Callable[[T], str]) -> Iterator[tuple[T, Any]]:
    """Yield what futures are for, each with its result, in the order in which they are done; cancel what is left."""
    distributed = need("distributed", "dask")
    try:
        for future in distributed.as_completed(list(futures)):
            try:
                result = future.result()
            except distributed.KilledWorker as error:
                raise SpanloomError(
                    f"{name(futures[future])}: the workers that took it died, the last of them {error.last_worker}; "
                    "they may need more memory"
                ) from None
            yield futures[future], result
    finally:
        client.cancel(list(futures))


# In the workers


def _tag_frame(frame: Any, work: ColumnWork) -> Any:
    pandas = need("pandas", "dask")
    values = [value if isinstance(value, str) else None for value in frame[work.text].tolist()]
    found = work.tagger().tag(values)
    return frame.assign(**{work.column: pandas.Series(pandas.arrays.ArrowExtensionArray(found), index=frame.index)})


def _tag_items(items: Any, work: ColumnWork) -> list[dict[str, Any]]:
    rows = [{work.text: item} if isinstance(item, str) else item for item in items]
    found = work.tagger().tag([row[work.text] for row in rows]).to_pylist()
    return [{**row, work.column: mentions} for row, mentions in zip(rows, found, strict=True)]


def _tag_shard(work: Work, shard: Shard) -> Any:
    return tag_shard(work, shard)


def _train(digest: str, job: TrainingJob, make: Callable[[Settings], Any]) -> Result:
    return do_job(_corpus(digest), job, 1, make)


@lru_cache(1)
def _corpus(digest: str) -> list[Item]:
    corpus: list[Item] = pickle.loads(deposited(digest))
    return corpus
