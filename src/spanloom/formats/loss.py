"""What a format cannot hold: found, reported, and left out only if the user said how.

Ways to lose, for ``lossy=…`` (several may be joined by a comma):

- ``outermost``: of overlapping mentions keep the one that begins first and reaches farthest,
- ``innermost``: keep the one that ends first and begins last,
- ``longest``: keep the one with most tokens,
- ``contiguous``: fill the gaps of discontinuous mentions.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import ORDERS, Mention
from spanloom.formats.report import Report


class Limits:
    """Fits mentions into what a format can hold.

    Parameters
    ----------
    format
        Its name, for messages.
    lossy
        Empty, or the ways to lose. Without one, a mention that does not fit is an error of the report.
    layers
        How many mentions may share a token; None for any number.
    discontinuous
        Whether the format holds mentions of several parts.

    Examples
    --------
    >>> inner, outer = Mention("a", ((0, 1),)), Mention("b", ((0, 2),))
    >>> report = Report()
    >>> Limits("conll", "outermost", layers=1).fit([inner, outer], report, "doc 1")
    [[Mention(label='b', parts=((0, 2),), prob=None)]]
    >>> print(report.problems[0])
    doc 1: conll cannot hold a ((0, 1),) beside what it overlaps; left out
    """

    def __init__(self, format: str, lossy: str = "", *, layers: int | None = None, discontinuous: bool = False) -> None:
        ways = [way for way in lossy.split(",") if way]
        for way in ways:
            if way not in (*ORDERS, "contiguous"):
                raise ParameterError(f"option lossy={way!r} must be one of {', '.join((*ORDERS, 'contiguous'))}")
        orders = [way for way in ways if way in ORDERS]
        if len(orders) > 1:
            raise ParameterError(f"option lossy={lossy!r}: choose one of {', '.join(orders)}")
        self.format = format
        self.layers = layers
        self.discontinuous = discontinuous
        self.fill = "contiguous" in ways
        self.drop = bool(orders)
        self.key = ORDERS[orders[0] if orders else "outermost"]
        self.needed = 0
        """How many layers would have held all mentions."""

    def fit(self, mentions: Sequence[Mention], report: Report, where: str) -> list[list[Mention]]:
        """Return the mentions in layers; within a layer none overlap (one layer with all, if layers are unlimited)."""
        held: list[Mention] = []
        for mention in mentions:
            if self.discontinuous or not mention.discontinuous:
                held.append(mention)
            elif self.fill:
                filled = Mention(mention.label, ((mention.start, mention.end),), mention.prob, mention.attributes)
                report.warning("filled", where, f"{mention.label} {mention.parts} written as {filled.parts}")
                if filled not in held:
                    held.append(filled)
            else:
                self._lose(report, where, f"{self.format} cannot hold discontinuous {mention.label} {mention.parts}")
        if self.layers is None:
            return [held]
        rows: list[list[Mention]] = [[] for _ in range(self.layers)]
        beyond: list[list[Mention]] = []
        for mention in sorted(held, key=self.key):
            row = next((row for row in rows if not any(mention.overlaps(other) for other in row)), None)
            if row is not None:
                row.append(mention)
                continue
            more = next((row for row in beyond if not any(mention.overlaps(other) for other in row)), None)
            if more is None:
                beyond.append(more := [])
            more.append(mention)
            self.needed = max(self.needed, self.layers + len(beyond))
            text = f"{self.format} cannot hold {mention.label} {mention.parts} beside what it overlaps"
            self._lose(report, where, text)
        return rows

    def raise_errors(self, report: Report) -> None:
        """Raise what did not fit, with the ways out."""
        ways = []
        if self.needed and report.ref is not None and self.format == "conll":
            ways.append(f"{report.typed(layers=str(self.needed))} has a column of tags for each layer")
        if self.layers is not None:
            ways.append(f"{self._typed(report, 'outermost')} leaves mentions out (also innermost, longest)")
        ways += [f"{self._typed(report, 'contiguous')} fills gaps", "jsonl and brat hold every mention"]
        report.raise_errors("; ".join(ways))

    def _typed(self, report: Report, way: str) -> str:
        return f"lossy={way}" if report.ref is None else report.typed(lossy=way)

    def _lose(self, report: Report, where: str, message: str) -> None:
        if self.drop:
            report.warning("lost", where, f"{message}; left out")
        else:
            report.error("does-not-fit", where, message)


class Unwritten:
    """Counts what a format has no place for beside mentions, to be reported once each."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.counts: dict[str, int] = {}

    def note(self, what: str, present: object) -> None:
        """Count ``what`` if it is there."""
        if present:
            self.counts[what] = self.counts.get(what, 0) + 1

    def tell(self, report: Report, where: str) -> None:
        """Put one warning per sort of thing into the report."""
        for what, count in self.counts.items():
            report.warning("unwritten", where, f"{self.format} has no place for {what} ({count} times)")
