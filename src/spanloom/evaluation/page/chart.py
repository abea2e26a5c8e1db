"""Line charts as inline SVG that takes its colours from the page around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

Point = tuple[float, float]

_WIDTH, _HEIGHT = 380, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 14, 40


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line of a chart; ``color`` is the number of one of the page's colours, ``dots`` marks every point."""

    name: str
    points: Sequence[Point]
    color: int = 1
    dots: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of lines over a fixed range of values.

    Examples
    --------
    >>> svg = Chart("recall", "precision", (0, 1), (0, 1), [ChartLine("model", [(0, 1), (1, 0.5)])]).svg()
    >>> svg.startswith("<svg"), 'points="44.0,14.0 368.0,117.0"' in svg
    (True, True)
    """

    xlabel: str
    ylabel: str
    xrange: Point
    yrange: Point
    lines: Sequence[ChartLine]
    marks: Sequence[tuple[Point, str]] = field(default=())
    """Points with a text beside them."""
    ticks: Sequence[str] = field(default=())
    """Names of the x values 0, 1, 2, … instead of numbers."""

    def svg(self) -> str:
        """Return the chart."""
        parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" class="chart">', *self._axes()]
        for line in self.lines:
            kind = f"line c{line.color}{' dashed' if line.dashed else ''}"
            at = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self._at, line.points))
            parts.append(f'<polyline class="{kind}" points="{at}"/>')
            if line.dots:
                parts += [
                    f'<circle class="dot c{line.color}" cx="{x:.1f}" cy="{y:.1f}" r="3.2">'
                    f"<title>{point[0]:.3g}: {point[1]:.4g}</title></circle>"
                    for point, (x, y) in zip(line.points, map(self._at, line.points), strict=True)
                ]
        for point, text in self.marks:
            x, y = self._at(point)
            # Beside the mark, on the side where there is room.
            left = x > _WIDTH * 0.6
            parts.append(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
            parts.append(
                f'<text class="note" x="{x - 9 if left else x + 9:.1f}" y="{y + 14:.1f}" '
                f'text-anchor="{"end" if left else "start"}">{escape(text)}</text>'
            )
        return "".join([*parts, "</svg>"])

    def legend(self) -> str:
        """Return the names of the lines in their colours."""
        names = (f'<span class="key c{line.color}">{escape(line.name)}</span>' for line in self.lines if line.name)
        return f'<p class="legend">{"".join(names)}</p>'

    def _at(self, point: Point) -> Point:
        (x0, x1), (y0, y1) = self.xrange, self.yrange
        x = _LEFT + (point[0] - x0) / ((x1 - x0) or 1) * (_WIDTH - _LEFT - _RIGHT)
        return x, _HEIGHT - _BOTTOM - (point[1] - y0) / ((y1 - y0) or 1) * (_HEIGHT - _TOP - _BOTTOM)

    def _axes(self) -> list[str]:
        parts = []
        for k in range(6):
            value = self.yrange[0] + k * (self.yrange[1] - self.yrange[0]) / 5
            _, y = self._at((self.xrange[0], value))
            parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{value:.3g}</text>')
        numbers = [self.xrange[0] + k * (self.xrange[1] - self.xrange[0]) / 5 for k in range(6)]
        names = self.ticks or [f"{value:.3g}" for value in numbers]
        below = _HEIGHT - _BOTTOM + 15
        for value, name in zip(range(len(names)) if self.ticks else numbers, names, strict=True):
            x, _ = self._at((value, self.yrange[0]))
            parts.append(f'<text class="tick" x="{x:.1f}" y="{below}" text-anchor="middle">{escape(name)}</text>')
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(
            f'<text class="axis" x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(self.xlabel)}</text>'
        )
        y = (_TOP + _HEIGHT - _BOTTOM) / 2
        parts.append(
            f'<text class="axis" x="12" y="{y}" text-anchor="middle" transform="rotate(-90 12 {y})">'
            f"{escape(self.ylabel)}</text>"
        )
        return parts
