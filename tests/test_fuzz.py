"""Every fuzz target takes its seeds, damaged seeds and what once broke it; ``tools/fuzz.sh`` runs the fuzzer."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from fuzz.all import added
from fuzz.mutators import MUTATORS
from fuzz.targets import names, target

KEPT = Path(__file__).parent / "fuzz" / "kept"
DAMAGED = 40


@pytest.mark.parametrize("name", names())
def test_a_target_takes_what_it_begins_with_and_what_once_broke_it(name: str) -> None:
    one = target(name)
    if one.needs:
        pytest.importorskip(one.needs)
    run = one.prepare()
    kept = [path.read_bytes() for path in sorted((KEPT / name).glob("*"))]
    chance = random.Random(name)
    seeds = one.seeds
    damaged = [changed(chance.choice(seeds), one.shape, chance) for _ in range(DAMAGED)]
    for raw in [*seeds, *kept, *damaged, b"", b"\0", b"\xff" * 50]:
        run(raw)


def changed(raw: bytes, shape: str, chance: random.Random) -> bytes:
    """Change some bytes, or the value that they stand for."""

    def mutate(data: bytes, most: int) -> bytes:
        made = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(made) + 1)
            made[at : at + chance.choice([0, 1, 1, 8])] = chance.choice([b"", b"\0", b"\xff", b"(", b'"', b"9", b"\n"])
        return bytes(made[:most])

    mutator = MUTATORS.get(shape)
    return mutate(raw, len(raw) + 50) if mutator is None else mutator(raw, 2 * len(raw) + 50, chance, mutate)


def test_kept_inputs_belong_to_targets() -> None:
    assert {path.name for path in KEPT.glob("*") if path.is_dir()} <= set(names())
    assert importlib.util.find_spec("fuzz.run") is not None


def test_runs_of_one_commit_are_added_up() -> None:
    """Executions, seconds and failures add up; branches are the most that one run reached."""
    first = {"a": {"executions": 3, "branches": 9, "seconds": 2, "failed": 0}}
    more = {
        "a": {"executions": 4, "branches": 7, "seconds": 1, "failed": 1},
        "b": {"executions": 5, "branches": 1, "seconds": 1, "failed": 0},
    }
    runs = added(added([], "x", 10, first), "x", 20, more)
    assert [(run["commit"], run["seconds"]) for run in runs] == [("x", 30)]
    assert runs[0]["targets"]["a"] == {"executions": 7, "branches": 9, "seconds": 3, "failed": 1}
    assert runs[0]["targets"]["b"]["executions"] == 5
    assert [run["commit"] for run in added(runs, "y", 1, first)] == ["x", "y"]
