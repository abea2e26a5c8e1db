"""The experiment runner: every run once, nothing lost, the paper beside."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from experiments.__main__ import main
from experiments.runner import Experiment, Run, Runner
from spanloom import Recognizer, read
from spanloom.learning import LBFGS


class Recorder:
    """An ``execute`` that remembers its calls and can be told to fail."""

    def __init__(self):
        self.calls = []
        self.broken = set()

    def __call__(self, run, context):
        self.calls.append(run.name)
        if run.name in self.broken:
            raise RuntimeError(f"{run.name} broke")
        return {"f1": run.settings["skill"], "words_per_second": 1234.5, "quick": context.quick}


@pytest.fixture
def execute():
    """A fresh recorder."""
    return Recorder()


def runner(tmp_path, execute, *, skill=0.708, quick=False, finish=None, commit="abc"):
    """Three runs; the paper has figures for one."""
    first = Run("EDGE", {"skill": skill}, {"f1": 70.8}, differs=["another corpus", "no clusters"])
    runs = [first, Run("STATE | x", {"skill": 0.5}), Run("LCRF", {"skill": 0.25})]
    experiment = Experiment("A table", runs, execute, ["f1", "words_per_second"], about="Text.", finish=finish)
    return Runner("table3", experiment, tmp_path, quick=quick, root=tmp_path, at=lambda: commit)


def test_a_second_run_does_nothing(tmp_path, execute):
    """All three are done once; again=True does them again; only picks."""
    assert runner(tmp_path, execute).run() == []
    assert runner(tmp_path, execute).run() == []
    assert execute.calls == ["EDGE", "STATE | x", "LCRF"]
    runner(tmp_path, execute).run(["LCRF"], again=True)
    assert execute.calls[3:] == ["LCRF"]


def test_lines_of_the_table_stay_where_the_work_folder_is_gone(tmp_path, execute):
    """A table made elsewhere is gone on with: its lines are neither lost nor done again, unless settings changed."""
    runner(tmp_path, execute).run(["EDGE", "LCRF"])
    before = (tmp_path / "results" / "table3.md").read_text()
    shutil.rmtree(tmp_path / "work")
    assert runner(tmp_path, execute).run(["STATE | x"]) == []
    after = (tmp_path / "results" / "table3.md").read_text().splitlines()
    assert execute.calls == ["EDGE", "LCRF", "STATE | x"]
    assert [line for line in before.splitlines() if "not run" not in line and "STATE" not in line] == [
        line for line in after if "STATE" not in line
    ]
    runner(tmp_path, execute, skill=0.9).run(["EDGE", "LCRF"])
    assert execute.calls[3:] == ["EDGE"]


def test_a_changed_setting_is_a_new_run(tmp_path, execute):
    """Only the run whose setting changed is done again."""
    runner(tmp_path, execute).run()
    runner(tmp_path, execute, skill=0.9).run()
    assert execute.calls[3:] == ["EDGE"]


def test_a_line_with_other_settings_stands_as_older_until_it_is_run_again(tmp_path, execute):
    """Documents may show its figures; they are not called today's."""
    runner(tmp_path, execute).run()
    shutil.rmtree(tmp_path / "work")
    runner(tmp_path, execute, skill=0.9).run(["LCRF"])
    table = (tmp_path / "results" / "table3.md").read_text()
    (line,) = [line for line in table.splitlines() if line.startswith("| EDGE")]
    assert "70.80" in line
    assert line.endswith("older: other settings than today's |")
    assert execute.calls[3:] == []
    runner(tmp_path, execute, skill=0.9).run(["EDGE"])
    assert "older" not in (tmp_path / "results" / "table3.md").read_text()


def test_a_failure_loses_nothing_and_is_tried_again(tmp_path, execute):
    """The others are in the table, the trace is kept, and the next call does the failed one only."""
    execute.broken = {"STATE | x"}
    assert runner(tmp_path, execute).run() == ["STATE | x"]
    table = (tmp_path / "results" / "table3.md").read_text()
    assert "not run" in table
    assert "25.00" in table
    (trouble,) = (tmp_path / "work" / "table3").glob("*.error.txt")
    assert "STATE | x broke" in trouble.read_text()
    execute.broken = set()
    assert runner(tmp_path, execute).run() == []
    assert execute.calls[3:] == ["STATE | x"]
    assert not trouble.exists()


def test_table_has_the_paper_beside_and_escapes_bars(tmp_path, execute):
    """F1 in percent, the paper's figure in the next column, settings below."""
    runner(tmp_path, execute).run()
    lines = (tmp_path / "results" / "table3.md").read_text().splitlines()
    assert lines[4] == "|  | F1 | F1 (paper) | words/s | seconds | trainings |"
    assert lines[6].startswith("| EDGE | 70.80 | 70.8 | 1,234.5 | ")
    assert lines[7].startswith(r"| STATE \| x | 50.00 |  | ")
    assert any(
        line.startswith("- **EDGE** (") and '`{"skill": 0.708}`. Unlike the paper: another' in line for line in lines
    )


def test_json_has_settings_commit_and_seconds(tmp_path, execute):
    """What a later reader needs in order to trust the figure."""
    runner(tmp_path, execute).run()
    first = json.loads((tmp_path / "results" / "table3.json").read_text())["runs"][0]
    assert first["settings"] == {"skill": 0.708}
    assert first["paper"] == {"f1": 70.8}
    assert first["commit"] == "abc"
    assert first["seconds"] >= 0
    assert first["differs"] == ["another corpus", "no clusters"]
    assert first["versions"]["numpy"]


def test_a_line_from_a_tree_with_changes_is_a_draft(tmp_path, execute):
    """It does not reach the table, is done once as a draft, and again when the tree is clean."""
    runner(tmp_path, execute).run(["LCRF"])
    for _ in range(2):
        runner(tmp_path, execute, commit="abc+").run(["EDGE"])
    assert execute.calls == ["LCRF", "EDGE"]
    assert "70.80" not in (tmp_path / "results" / "table3.md").read_text()
    assert "25.00" in (tmp_path / "results" / "table3.md").read_text()
    drafts = (tmp_path / "work" / "table3" / "table3.draft.md").read_text()
    assert "70.80" in drafts
    assert "25.00" in drafts
    runner(tmp_path, execute).run(["EDGE"])
    assert execute.calls == ["LCRF", "EDGE", "EDGE"]
    assert "70.80" in (tmp_path / "results" / "table3.md").read_text()


def test_a_tree_that_changes_meanwhile_makes_drafts(tmp_path, execute):
    """Which code made the line is not known then."""
    commits = iter(["abc", "abc", "abd", "abd"])
    made = runner(tmp_path, execute)
    made.at = lambda: next(commits)
    made.run(["EDGE"])
    assert "70.80" not in (tmp_path / "results" / "table3.md").read_text()


def test_older_lines_stay_until_they_are_run_again(tmp_path, execute):
    """The table says which they are; several commits are told as well."""
    runner(tmp_path, execute).run()
    path = tmp_path / "results" / "table3.json"
    table = json.loads(path.read_text())
    table["runs"][0] |= {"older": "a tree with changes", "commit": "old+"}
    path.write_text(json.dumps(table))
    shutil.rmtree(tmp_path / "work")
    runner(tmp_path, execute).write_tables()
    page = path.with_suffix(".md").read_text()
    assert "older: a tree with changes |" in page
    assert "1 of 3 lines are older" in page
    runner(tmp_path, execute, commit="abd").run(["EDGE"])
    assert execute.calls[3:] == ["EDGE"]
    page = path.with_suffix(".md").read_text()
    assert "older" not in page
    assert "made by 2 commits: abc, abd." in page
    assert json.loads(path.read_text())["commits"] == ["abc", "abd"]


def test_how_trainings_end_is_noticed(tmp_path):
    """Every component says whether it converged or reached the cap, without a word of the experiment."""

    def execute(run, context):
        ner = Recognizer("edge", trainer=LBFGS(max_iter=run.settings["most"]), keep="longest", seed=7)
        return {"f1": ner.fit(list(read("sample:train"))[:2]).ceiling_}

    runs = [Run("short", {"most": 2}), Run("long", {"most": 500})]
    made = Runner("ends", Experiment("t", runs, execute, ["f1"]), tmp_path, root=tmp_path, at=lambda: "abc")
    assert made.run() == []
    short, long = json.loads((tmp_path / "results" / "ends.json").read_text())["runs"]
    assert {end["ended"] for end in short["trainings"]} == {"cap"}
    assert {end["ended"] for end in long["trainings"]} == {"converged"}
    assert long["seeds"] == [7]
    assert all(end["objective"] > 0 and 2 < end["iterations"] < 500 for end in long["trainings"])
    page = (tmp_path / "results" / "ends.md").read_text()
    assert "1 of 2 lines have trainings that ended at the cap" in page
    assert any(line.startswith("| short |") and line.endswith("at the cap |") for line in page.splitlines())


def test_lists_of_numbers_are_a_line_each(tmp_path, execute):
    """And all values are what they were, strings with brackets among them."""
    settings = {"skill": 1, "curve": [1.5, None, -2e-5], "rows": [[1, 2], []], "name": "a [ 1 ] b", "names": ["x"]}
    Runner(
        "long", Experiment("Long", [Run("one", settings)], execute, ["f1"]), tmp_path, root=tmp_path, at=lambda: "abc"
    ).run()
    text = (tmp_path / "results" / "long.json").read_text()
    assert json.loads(text)["runs"][0]["settings"] == settings
    assert '"curve": [1.5, null, -2e-05],\n' in text


def test_a_quick_table_that_is_worth_keeping_stands_beside_the_full_one(tmp_path, execute):
    """It says what a quick run is, and does not touch the full table."""
    full = runner(tmp_path, execute)
    full.run()
    before = (tmp_path / "results" / "table3.md").read_text()
    some = replace(full.experiment, quick_about="Three folds instead of ten.")
    Runner("table3", some, tmp_path, quick=True, root=tmp_path, at=lambda: "abc").run()
    quick = (tmp_path / "results" / "table3.quick.md").read_text()
    assert "Three folds instead of ten." in quick
    assert "--quick" in quick
    assert (tmp_path / "results" / "table3.md").read_text() == before


def test_quick_results_are_kept_apart(tmp_path, execute):
    """A quick run neither fills nor satisfies the real table."""
    runner(tmp_path, execute, quick=True).run()
    assert not (tmp_path / "results").exists()
    assert "quick run" in (tmp_path / "work" / "table3.quick" / "table3.md").read_text()
    runner(tmp_path, execute).run()
    assert len(execute.calls) == 6


def test_finish_gets_all_results(tmp_path, execute):
    """For pictures; not called while a run is missing."""
    seen = []
    execute.broken = {"LCRF"}
    runner(tmp_path, execute, finish=lambda results, folder: seen.append((results, folder))).run()
    assert seen == []
    execute.broken = set()
    runner(tmp_path, execute, finish=lambda results, folder: seen.append((results, folder))).run()
    assert seen[0][0]["LCRF"]["f1"] == 0.25
    assert seen[0][1] == tmp_path / "results"


def test_unknown_names_are_refused(tmp_path, execute, capsys):
    """One clear line."""
    with pytest.raises(ValueError, match="has no run 'EGDE'; it has EDGE"):
        runner(tmp_path, execute).run(["EGDE"])
    with pytest.raises(ValueError, match="more than one run named a"):
        Runner("x", Experiment("t", [Run("a", {}), Run("a", {})], execute, []), tmp_path, root=tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["no-such-thing"])
    assert "no experiment 'no-such-thing'" in capsys.readouterr().err
    assert main([]) == 0


def test_a_line_on_a_licensed_corpus_waits_for_it(tmp_path, execute):
    """It stands in the table with the paper's figure, is no failure, and is run once the corpus is there."""
    runs = [Run("ACE, EDGE", {"skill": 0.6}, {"f1": 62.2}, needs="ace2004"), Run("LCRF", {"skill": 0.25})]
    experiment = Experiment("A table", runs, execute, ["f1"])
    said: list[str] = []

    def made():
        return Runner("table2", experiment, tmp_path, root=tmp_path, at=lambda: "abc", say=said.append)

    assert made().run() == []
    assert execute.calls == ["LCRF"]
    assert any("ACE, EDGE: licensed" in line and "ace2004" in line for line in said)
    table = (tmp_path / "results" / "table2.md").read_text(encoding="utf-8")
    assert "| ACE, EDGE |  | 62.2 | licensed |  |" in table
    (tmp_path / "ace2004").mkdir()
    assert made().run() == []
    assert execute.calls == ["LCRF", "ACE, EDGE"]
    assert "licensed" not in (tmp_path / "results" / "table2.md").read_text(encoding="utf-8")
