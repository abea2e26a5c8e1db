"""Two systems on the same units: by how much one is better, and whether that is chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spanloom.evaluation.significance import bootstrap, randomisation

HEADS = ("difference in F1", "95 %", "p (bootstrap)", "p (randomisation)", "")
RESAMPLES = 10_000


def p_value(share: float, resamples: int = RESAMPLES) -> str:
    """Write a p-value that was drawn: never as 0, for nothing below one in the number of draws can be seen.

    Examples
    --------
    >>> p_value(0.0), p_value(0.0213), p_value(1.0)
    ('< 0.0001', '0.0213', '1.0000')
    """
    return f"< {1 / resamples:.4f}" if share < 1 / resamples else f"{share:.4f}"


def cells(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> list[str]:
    """Compare counts of gold, found and right mentions, unit by unit; the cells are those of ``HEADS``.

    The bootstrap is one-sided, the randomisation two-sided. A tie is where the interval holds zero.

    Examples
    --------
    >>> counts = np.array([[1, 1, 1]] * 50)
    >>> cells(counts, counts)
    ['+0.00', '+0.00 … +0.00', '1.0000', '1.0000', 'tie']
    """
    drawn = bootstrap(a, b, resamples=RESAMPLES)
    gap = drawn.difference["f1"]
    verdict = "better" if gap.low > 0 else "worse" if gap.high < 0 else "tie"
    return [
        f"{100 * gap.value:+.2f}",
        f"{100 * gap.low:+.2f} … {100 * gap.high:+.2f}",
        p_value(drawn.p["f1"]),
        p_value(randomisation(a, b, resamples=RESAMPLES)["f1"]),
        verdict,
    ]
