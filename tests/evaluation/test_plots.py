"""Plots: what is drawn is what was measured, and files are whole."""

from __future__ import annotations

import pytest

from spanloom.base.errors import ParameterError
from spanloom.corpus import Mention, Sentence
from spanloom.evaluation import Score, evaluate

pytest.importorskip("matplotlib")

from spanloom.evaluation.calibration import Curve
from spanloom.evaluation.plots import (
    plot_curve,
    plot_learning_curve,
    plot_objective,
    plot_reliability,
    plot_report,
    save,
)
from spanloom.evaluation.reliability import Reliability


def test_a_curve_marks_the_best_and_the_chosen_point():
    """The markers sit at recall and precision of these values."""
    curve = Curve("threshold", [-1, 0, 1], [Score(4, 8, 4, 4), Score(4, 4, 3, 3), Score(4, 1, 1, 1)], chosen=1)
    left, right = plot_curve(curve).axes
    assert [list(line.get_ydata()) for line in left.lines[:2]] == [[50, 75, 100], [100, 75, 25]]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in right.lines[1:]] == [(75, 75), (25, 100)]
    assert "chosen: 1" in right.get_legend().get_texts()[1].get_text()


def test_reliability_draws_every_bin():
    """Two bins, two bars, and the error in the title."""
    (axes,) = plot_reliability(Reliability([(0.2, 0.4, 2, 0.3, 0.5), (0.8, 1.0, 2, 0.95, 1.0)], 0.125, 0.1, 4)).axes
    assert [bar.get_height() for bar in axes.patches] == [0.5, 1.0]
    assert "12.5 %" in axes.get_title()


def test_lines_of_learning_curve_and_objective():
    """F1 in percent; iterations count from one."""
    (axes,) = plot_learning_curve([10, 100], {"IO": [0.7, 0.8], "BIES": [0.72, 0.83]}).axes
    assert list(axes.lines[1].get_ydata()) == [72, 83]
    with pytest.raises(ParameterError, match="IO has 1 scores for 2 sizes"):
        plot_learning_curve([10, 100], {"IO": [0.7]})
    (axes,) = plot_objective({"edge": [3.0, 2.0, 1.5]}).axes
    assert list(axes.lines[0].get_xdata()) == [1, 2, 3]


def report_with(prob):
    """A report on a right and a wrong mention of this probability."""
    gold = [Sentence(["a", "b"], [Mention("X", ((0, 1),))])]
    return evaluate(gold, [[Mention("X", ((0, 1),), prob=prob), Mention("Y", ((1, 2),), prob=prob)]])


def test_a_report_has_more_panels_with_probabilities():
    """Labels and kinds; with probabilities also the curve and the reliability."""
    assert len(plot_report(report_with(0.8)).axes) == 4
    assert len(plot_report(report_with(None)).axes) == 2


def test_every_format_is_written(tmp_path):
    """Each file begins as its format does."""
    figure = plot_objective({"edge": [3.0, 2.0]})
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        save(figure, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_an_unknown_ending_is_refused():
    """The message says which there are."""
    with pytest.raises(ParameterError, match=r"a\.jpeg: the name of a picture must end in \.png, \.svg, \.pdf"):
        save(None, "a.jpeg")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "scale"), [([0.1, 3.1], "log"), ([1, 30], "linear"), ([0, 100], "linear"), ([-1, 50], "linear")]
)
def test_values_more_than_thirtyfold_apart_are_on_a_logarithmic_scale(values, scale):
    """Which has no place for zero or less."""
    left, _ = plot_curve(Curve("l2", values, [Score(4, 8, 4, 4), Score(4, 4, 3, 3)])).axes
    assert left.get_xscale() == scale


def test_axes_show_all_shares():
    words = ["a", "b"]
    gold = [Sentence(words, [Mention("X", ((0, 1),))])] * 8
    found = [[Mention("X", ((k % 2, k % 2 + 1),), 0.3 + 0.1 * k)] for k in range(6)] + [[], []]
    figure = plot_report(evaluate(gold, found))
    by_label, by_kind, _, reliable = figure.axes[:4]
    for bars in (by_label, by_kind):
        assert bars.get_xlim()[0] == 0
        assert bars.get_xticks().tolist() == [0, 20, 40, 60, 80, 100]
    assert reliable.get_xlim() == (0, 1)
    assert reliable.get_ylim() == (0, 1.05)
