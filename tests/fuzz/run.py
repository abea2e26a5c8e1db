"""Fuzz one target with atheris, guided by the branches of our code that inputs reach.

::

    pip install atheris
    python tests/fuzz/run.py readers.jsonl -max_total_time=60      # libFuzzer's options
    python tests/fuzz/run.py                               # the names of all targets
    python tests/fuzz/run.py readers.jsonl crash-…                 # one input again

What comes out other than our own errors stops the fuzzer, and so does an input that takes ten seconds; the fuzzer then
writes the input to a file ``crash-…`` or ``timeout-…``. Small inputs that once did belong into
``tests/fuzz/kept/TARGET``, where ``tests/test_fuzz.py`` tries them in every run.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from fuzz.targets import GUIDES, names  # noqa: E402
from fuzz.targets import target as find  # noqa: E402

SECONDS, MEGABYTES, LONGEST = 10, 4096, 20_000


def fuzz(name: str, options: list[str]) -> None:
    """Fuzz one target; does not come back."""
    import atheris

    finders = {type(finder).__module__ for finder in sys.meta_path}
    if any(finder.startswith(("_editable", "__editable")) for finder in finders):
        sys.exit("an editable install has a loader of its own, which atheris cannot follow: pip install . first")
    guides = GUIDES[name.partition(".")[0]]
    with atheris.instrument_imports(include=list(guides)):
        target = find(name)
        run = target.prepare()
        seeds = target.seeds
        for seed in seeds:
            run(seed)  # what is imported only now is instrumented, too
    from fuzz.mutators import MUTATORS
    from fuzz.places import folder

    begin, words = folder("corpus"), folder("words") / "words"
    kept = HERE / "kept" / name
    for k, seed in enumerate([*seeds, *(p.read_bytes() for p in sorted(kept.glob("*")))]):
        (begin / f"seed{k}").write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    mutator = MUTATORS.get(target.shape)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if mutator is None or chance.random() < 0.4:
            return bytes(atheris.Mutate(data, most))
        return mutator(data, most, chance, lambda raw, size: bytes(atheris.Mutate(raw, size)))

    limits = [f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", "-print_final_stats=1"]
    if target.words:
        limits.append(f"-dict={words}")
    most = max([LONGEST, *(2 * len(seed) for seed in seeds)])
    files = [option for option in options if not option.startswith("-")]
    places = [] if files and Path(files[0]).is_file() else [str(begin)]
    if len(files) == 1 and Path(files[0]).is_dir():
        places = [files[0], str(begin)]
        options = [option for option in options if option not in files]
    atheris.Setup(
        [sys.argv[0], *limits, f"-max_len={most}", *options, *places],
        run,
        **({} if mutator is None else {"custom_mutator": mutate}),
    )
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else _bytes(c) for c in word)


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fuzz(sys.argv[1], sys.argv[2:])
    else:
        print(*names())
