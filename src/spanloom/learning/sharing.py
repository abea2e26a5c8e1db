"""Several problems with the same features and columns, such as the types of mentions, that learn from each other.

    w_t = own_t + √share · common,    minimise  Σ_t loss_t(w_t)  +  l2 (Σ_t ‖own_t‖² + ‖common‖²)

A weight of one problem is near that of the others, unless its data say otherwise. Of all ``own`` and ``common`` with
the same weights the penalty prefers the shortest; its square is that of ``u`` with ``w = R u``, where ``R R`` is the
identity plus ``share`` everywhere. So there are as many parameters as weights:

    w_t = u_t + c Σ_s u_s,    c = (√(1 + share · T) − 1) / T

With ``share=0`` the problems are those that they are by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from spanloom._native import Objective
from spanloom.base.arrays import Floats


class SharedObjective(Objective):
    """The sum of objectives of equal size whose parameters have something in common.

    Parameters
    ----------
    parts
        One objective for each problem, all of the same size.
    share
        How much they share, at least 0; with 1, ``own`` and ``common`` weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> class Square(Objective):
    ...     def evaluate(self, x):
    ...         return float(x @ x), 2 * x
    >>> both = SharedObjective([Square(1), Square(1)], 1.5)
    >>> both.weights(np.array([1.0, 0.0])).tolist(), both.evaluate(np.array([1.0, 0.0]))
    ([[1.5], [0.5]], (2.5, array([5., 3.])))
    """

    def __init__(self, parts: Sequence[Objective], share: float) -> None:
        sizes = {part.size for part in parts}
        if len(sizes) != 1:
            raise ValueError(f"objectives that share parameters must be of one size, got {sorted(sizes)}")
        self.parts = list(parts)
        self.factor = (math.sqrt(1 + share * len(parts)) - 1) / len(parts)
        self.inverse = -self.factor / (1 + self.factor * len(parts))
        super().__init__(len(parts) * sizes.pop())

    def weights(self, u: Floats) -> Floats:
        """Return ``w[t]`` of each problem for parameters."""
        return self._mixed(u, self.factor)

    def parameters(self, weights: Floats) -> Floats:
        """Return the parameters whose weights are ``w[t]``."""
        return self._mixed(weights.ravel(), self.inverse).ravel()

    def evaluate(self, u: Floats) -> tuple[float, Floats]:
        """Return the sum and its gradient."""
        rows = self.weights(u)
        value = 0.0
        for t, part in enumerate(self.parts):
            own, gradient = part.evaluate(rows[t])
            value += own
            rows[t] = gradient
        return value, self._mixed(rows.ravel(), self.factor).ravel()

    def _mixed(self, flat: Floats, factor: float) -> Floats:
        rows = flat.reshape(len(self.parts), -1)
        mixed: Floats = rows + factor * rows.sum(axis=0)
        return mixed
