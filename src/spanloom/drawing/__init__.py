"""Mentions drawn at their sentence: in the terminal, as HTML and as SVG."""

from spanloom.drawing.picture import draw, draw_pair, label_style

__all__ = ["draw", "draw_pair", "label_style"]
