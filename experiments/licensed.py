"""Lines on corpora that are licensed, for those who have them: tables 2 and 5 of Muis & Lu (2017).

Put them beside the other corpora: ACE as ``ace2004`` and ``ace2005``, with folders ``train``, ``dev`` and ``test`` of
``.sgm`` and ``.apf.xml`` files by the lists of Lu & Roth (2015), CoNLL-2003 as ``conll2003`` with ``eng.train``,
``eng.testa`` and ``eng.testb``. ``python -m experiments separators`` then runs these lines like the others; without the
corpora they stand in the table with the paper's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from experiments.runner import Run

CORPORA = {
    "ace2004": "ace:{data}/ace2004/{split}",
    "ace2005": "ace:{data}/ace2005/{split}",
    "conll2003": "conll:{data}/conll2003/{file}?columns=pos:1,chunk:2",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "ace2004": {"features": "muis-lu-ace", "annotators": ["pos"], "l2": [0.5, 2.0, 8.0, 32.0]},
    "ace2005": {"features": "muis-lu-ace", "annotators": ["pos"], "l2": [0.5, 2.0, 8.0, 32.0]},
    "conll2003": {"features": "muis-lu-ace", "l2": [0.1, 0.5, 2.0, 8.0]},
}
PAPER: dict[str, dict[str, tuple[float, ...]]] = {  # F1 without and with the penalty (table 2), without it (table 5)
    "chain": {"ace2004": (52.5, 55.4), "ace2005": (53.5, 54.7), "conll2003": (83.8,)},
    "chains": {"ace2004": (56.9, 61.6), "ace2005": (58.0, 60.4), "conll2003": (84.3,)},
    "hypergraph": {"ace2004": (58.6, 63.0), "ace2005": (58.7, 61.5), "conll2003": (83.5,)},
    "state": {"ace2004": (61.8, 64.0), "ace2005": (61.3, 62.7), "conll2003": (84.2,)},
    "edge": {"ace2004": (62.2, 64.5), "ace2005": (61.3, 63.1), "conll2003": (84.3,)},
}
Settings = dict[str, Any]


def file_of(split: str) -> str:
    """Return the file of CoNLL-2003 that is a split."""
    return {"train": "eng.train", "dev": "eng.testa", "test": "eng.testb"}[split]


def licensed(models: Sequence[tuple[str, Settings]], of: Callable[[Settings, Settings], Settings]) -> Iterator[Run]:
    """Yield a line for every corpus and model; ``of`` makes settings of those of the corpus and of the model."""
    for corpus, settings in SETTINGS.items():
        for name, model in models:
            figures = dict(zip(("untuned F1", "f1"), PAPER.get(name, {}).get(corpus, ()), strict=False))
            yield Run(f"{corpus}, {name}", of({"corpus": corpus, **settings}, model), figures, needs=corpus)
