"""Two systems on the same gold: which one is better, by how much, how surely, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spanloom.corpus import Mention
from spanloom.evaluation.aligned import Gold, Predicted
from spanloom.evaluation.evaluation import Evaluation, evaluate
from spanloom.evaluation.significance import Bootstrap, bootstrap, randomisation, unit_counts

CHANGES = ("both right", "only A right", "only B right", "both wrong")


@dataclass(frozen=True, slots=True)
class Item:
    """A mention that is gold or that a system gave.

    A system is right about a gold mention if it gave it (a true positive; else a false negative), and about any other
    if it did not (a true negative; else a false positive).
    """

    sentence: int
    mention: Mention
    gold: bool
    right: tuple[bool, ...]
    """Whether A, B (and the third system, if there is one) are right about it."""

    @property
    def change(self) -> str:
        """One of ``CHANGES``."""
        a, b = self.right[:2]
        return CHANGES[2 * (not a) + (not b)]


class Comparison:
    """Systems A and B side by side; made by :func:`compare`.

    Attributes
    ----------
    a, b, third
        Reports on the systems; ``third`` is None unless one was given.
    items
        Every gold mention, and every other mention that a system gave, with who is right about it.
    bootstrap, randomisation
        The two significance tests of :mod:`spanloom.evaluation.significance`.
    """

    def __init__(
        self, a: Evaluation, b: Evaluation, third: Evaluation | None, test: Bootstrap, swap: dict[str, float], by: str
    ) -> None:
        self.a, self.b, self.third = a, b, third
        self.bootstrap, self.randomisation, self.by = test, swap, by
        systems = [r for r in (a, b, third) if r is not None]
        self.items = list(_items(systems))

    def _repr_html_(self) -> str:
        """Show the difference as tables in notebooks."""
        from spanloom.evaluation.tables import comparison_html

        return comparison_html(self)

    def changes(self) -> dict[str, dict[str, int]]:
        """Count how the outcome changes from one system to the other (Cho et al.'s table 5).

        Returns
        -------
        For ``gold`` mentions (right is found, wrong is missed) and for ``false`` ones (right is not given, wrong is
        given), how many are in each of ``CHANGES``. False mentions that neither gave are not counted.
        """
        table = {side: dict.fromkeys(CHANGES, 0) for side in ("gold", "false")}
        for item in self.items:
            table["gold" if item.gold else "false"][item.change] += 1
        return table

    def third_way(self) -> dict[str, dict[str, dict[str, int]]]:
        """Count how often the third system is right where A and B agree or not (Cho et al.'s table 11).

        Returns
        -------
        For ``gold`` and ``false`` mentions and each of ``CHANGES``, how often the third is ``right`` and ``wrong``.
        Empty without a third system.
        """
        if self.third is None:
            return {}
        table = {side: {c: {"right": 0, "wrong": 0} for c in CHANGES} for side in ("gold", "false")}
        for item in self.items:
            table["gold" if item.gold else "false"][item.change]["right" if item.right[2] else "wrong"] += 1
        return table

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a plain dict that ``json.dumps`` takes; fractions are 0..1."""
        labels = sorted(set(self.a.by_label) | set(self.b.by_label))
        return {
            "a": self.a.micro.to_json(),
            "b": self.b.micro.to_json(),
            "difference": {m: v.to_json() for m, v in self.bootstrap.difference.items()},
            "bootstrap": self.bootstrap.to_json(),
            "randomisation": self.randomisation,
            "units": self.by,
            "by_label": {
                label: {name: r.by_label[label].f1 if label in r.by_label else 0.0 for name, r in self._pair()}
                for label in labels
            },
            "changes": self.changes(),
            "third_way": self.third_way(),
        }

    def _pair(self) -> tuple[tuple[str, Evaluation], tuple[str, Evaluation]]:
        return ("a", self.a), ("b", self.b)


def compare(
    gold: Gold,
    a: Predicted,
    b: Predicted,
    *,
    third: Predicted | None = None,
    by: str = "sentence",
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same gold.

    Parameters
    ----------
    gold, a, b
        As in :func:`spanloom.evaluation.evaluate`.
    third
        Another system, to see what it does where A and B agree and where they do not.
    by
        ``"sentence"`` or ``"document"``: what the tests draw.
    resamples, level, seed
        How many draws, the confidence level of the intervals, and the seed.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> one, two = Mention("DNA", ((0, 1),)), Mention("DNA", ((2, 3),))
    >>> gold = [Sentence(["a", "b", "c"], [one, two])]
    >>> comparison = compare(gold, [[one]], [[two]], resamples=100)
    >>> comparison.changes()["gold"]
    {'both right': 0, 'only A right': 1, 'only B right': 1, 'both wrong': 0}
    """
    gold = _keep(gold)
    report_a, report_b = evaluate(gold, a), evaluate(gold, b)
    count_a, count_b = (
        unit_counts(r.aligned.gold, r.aligned.predicted, r.aligned.units(by)) for r in (report_a, report_b)
    )
    test = bootstrap(count_a, count_b, resamples=resamples, level=level, seed=seed)
    swap = randomisation(count_a, count_b, resamples=resamples, seed=seed)
    return Comparison(report_a, report_b, None if third is None else evaluate(gold, third), test, swap, by)


def _keep(gold: Gold) -> Gold:
    """Return a gold that can be read more than once."""
    return gold if isinstance(gold, Sequence) else list(gold)


def _items(systems: list[Evaluation]) -> Iterator[Item]:
    lists = zip(systems[0].outcomes.gold.lists, *(r.outcomes.predicted.lists for r in systems), strict=True)
    for i, (gold, *given) in enumerate(lists):
        keys = [{(m.label, m.parts) for m in mentions} for mentions in given]
        for m in gold:
            yield Item(i, m, True, tuple((m.label, m.parts) in k for k in keys))
        right = {(m.label, m.parts) for m in gold}
        others = {(m.label, m.parts): m for mentions in given for m in mentions if (m.label, m.parts) not in right}
        for key in sorted(others):
            yield Item(i, others[key], False, tuple(key not in k for k in keys))
