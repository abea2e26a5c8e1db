"""The best combinations of independent choices, found lazily."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence


def cheapest_subsets(costs: Sequence[float]) -> Iterator[tuple[float, list[int]]]:
    """Yield the subsets of items by their total cost, cheapest first; costs must be ascending and not negative.

    From a subset with the last item i come the one with i + 1 in place of i, and the one with i + 1 as well: every
    subset is reached once, from a cheaper one.

    Examples
    --------
    >>> [items for _, items in cheapest_subsets([1.0, 2.0, 4.0])]
    [[], [0], [1], [0, 1], [2], [0, 2], [1, 2], [0, 1, 2]]
    """
    yield 0.0, []
    heap = [(costs[0], [0])] if len(costs) else []
    while heap:
        cost, items = heapq.heappop(heap)
        yield cost, items
        last = items[-1]
        if last + 1 < len(costs):
            heapq.heappush(heap, (cost - costs[last] + costs[last + 1], [*items[:-1], last + 1]))
            heapq.heappush(heap, (cost + costs[last + 1], [*items, last + 1]))


def best_tuples(lists: Sequence[Sequence[float]]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield one choice from each list by the sum of scores, best first; lists must be descending.

    From a tuple come those with one rank raised, from the last raised place on: every tuple is reached once.

    Examples
    --------
    >>> list(best_tuples([[0.0, -1.0], [0.0, -3.0]]))
    [(0.0, (0, 0)), (-1.0, (1, 0)), (-3.0, (0, 1)), (-4.0, (1, 1))]
    """
    if not all(len(scores) for scores in lists):
        return
    first = sum(scores[0] for scores in lists)
    heap = [(-first, (0,) * len(lists), 0)]
    while heap:
        cost, ranks, place = heapq.heappop(heap)
        yield -cost, ranks
        for i in range(place, len(lists)):
            rank = ranks[i] + 1
            if rank < len(lists[i]):
                step = lists[i][rank - 1] - lists[i][rank]
                heapq.heappush(heap, (cost + step, (*ranks[:i], rank, *ranks[i + 1 :]), i))
