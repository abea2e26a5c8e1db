"""The choice of L2: by F1 on all parts together, beyond the grid where the best value is its last."""

from __future__ import annotations

import pytest

from experiments import penalties
from experiments.penalties import choose, crossed
from spanloom import Document, Sentence, read
from spanloom.tuning import cross_validate

SETTINGS = {"model": "chain", "overlap": "outermost", "max_iter": 5}


@pytest.fixture
def scored(monkeypatch):
    """Put a function from L2 to the number of right mentions of a hundred in the place of training."""
    asked: list[float] = []

    def use(right):
        def run_jobs(corpus, jobs, **_):
            asked.extend(job.settings["l2"] for job in jobs)
            return [{"scores": [[100, 100, right(job.settings["l2"]), 0.0]]} for job in jobs]

        monkeypatch.setattr(penalties, "run_jobs", run_jobs)
        return asked

    return use


def tried(values, **more):
    return choose([Sentence(["a"])], [((0,), (0,))], {**SETTINGS, "l2": values}, **more)


def test_the_best_value_within_the_grid_is_taken(scored):
    asked = scored({0.5: 50, 1.0: 70, 2.0: 60}.__getitem__)
    chosen = tried([0.5, 1.0, 2.0])
    assert chosen.to_json() == {"l2": 1.0, "tried": {"0.5": 0.5, "1": 0.7, "2": 0.6}, "l2_at_edge": False}
    assert asked == [2.0, 1.0, 0.5]


def test_the_grid_grows_beyond_its_edges_and_says_where_it_was_not_enough(scored):
    asked = scored(lambda l2: round(100 / (1 + abs(l2 - 0.25))))
    assert tried([0.5, 1.0]).l2 == 0.25
    assert asked == [1.0, 0.5, 0.25, 0.125]
    scored(lambda l2: round(10 * l2))
    chosen = tried([0.5, 1.0])
    assert (chosen.l2, chosen.at_edge) == (8.0, True)


def test_of_equals_the_largest_is_taken(scored):
    scored({0.5: 40, 1.0: 70, 2.0: 70, 4.0: 60}.__getitem__)
    assert tried([0.5, 1.0, 2.0, 4.0]).l2 == 2.0


def test_one_value_is_no_choice(scored):
    asked = scored(lambda l2: 1)
    assert tried(0.5).to_json() == {"l2": 0.5, "tried": {}, "l2_at_edge": False}
    assert asked == []


def test_f1_is_that_of_a_cross_validation_and_is_kept(tmp_path, monkeypatch):
    """Counts of all folds together; a second time nothing is trained."""
    docs: list[Document] = list(read("sample:dev"))
    settings = {**SETTINGS, "l2": [1.0]}
    state = tmp_path / "l2.jsonl"
    chosen = choose(docs, crossed(docs, 2), settings, state=state, processes=1)
    same = {"model": "chain", "keep": "outermost", "max_iter": 5, "l2": 1.0, "tol": penalties.SEARCH_TOL}
    expected = cross_validate(docs, 2, settings={**same, "exclusive": False}, processes=1)
    assert chosen.tried == {1.0: pytest.approx(expected.report.micro.f1)}
    monkeypatch.setattr("spanloom.Recognizer.fit", None)
    assert choose(docs, crossed(docs, 2), settings, state=state, processes=1) == chosen
