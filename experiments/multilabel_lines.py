"""The lines of ``experiments.multilabel``: the paper's rows by its protocol, one thing changed at a time, and ours.

*By the letter*: threshold 0, k = n, margins of ±1 for every subset with no cap, ten epochs, the last weights, all but
the test part learned from. Variants have averaged weights, capped steps, both, or the all-pairs form of figure 4, whose
threshold is chosen on development data, since it has no natural one. CRF and perceptron have the same predicates and
their own optimum.
"""

from __future__ import annotations

from typing import Any

from experiments.runner import Run
from experiments.settings import TO_THE_END

MULTILABEL: dict[str, Any] = {"model": "multilabel", "features": "mcdonald", "max_iter": 8, "patience": 2}
LETTER: dict[str, Any] = {
    "model": "multilabel",
    "algorithm": "mira",
    "features": "mcdonald",
    "max_iter": 10,
    "threshold": 0.0,
    "average": False,
    "aggressiveness": 1e9,
    "learn": "all",
}
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    ", averaged": {"average": True},
    ", capped": {"aggressiveness": 1.0},
    ", averaged, capped": {"average": True, "aggressiveness": 1.0},
    ", all pairs": {"all_pairs": True, "threshold": "global"},
}
"""What differs from the first of them."""

COMPANY: dict[str, Any] = {"company": True}
SELF: dict[str, Any] = {"restrictions": ["no_self_embedding"], "overlap": "longest"}
ANY: dict[str, Any] = {"restrictions": ["no_embedding"], "overlap": "longest"}
FREE: dict[str, Any] = {"restrictions": []}
FLAT: dict[str, Any] = {"restrictions": ["contiguous", "no_overlap", "no_embedding"]}
CRF: dict[str, Any] = {
    "model": "chain",
    "features": "mcdonald",
    "overlap": "longest",
    "l2": [0.02, 0.1, 0.5, 2.0],
    "learn": "all",
    **TO_THE_END,
}
PERCEPTRON: dict[str, Any] = {
    "model": "chain",
    "features": "mcdonald",
    "overlap": "longest",
    "algorithm": "perceptron",
    "max_iter": 100,
    "learn": "all",
}
ALONE: dict[str, Any] = {"learn": "flat"}
"""Sequence taggers learn from sentences that they can hold only, as in the paper."""
BIOHD: dict[str, Any] = {**CRF, "scheme": "BIOHD"}
WORDS: dict[str, Any] = {"features": "mcdonald-words"}
"""BC2GM has no parts of speech."""
CHUNKS: dict[str, Any] = {"features": "sha-pereira"}

UNLIKE = {
    "genia": "GENIA's coordinations for chemical names, which are licensed",
    "uner": "UNER-EWT for CoNLL-2003, which is licensed",
    "np": "noun phrases of UD-EWT by a rule for CoNLL-2000, which is not here",
    "bc2gm": "BC2GM, which the paper does not have; no parts of speech",
}
"""How lines differ from the paper's, by data."""
EPOCHS = "ten epochs: the paper does not say how many"
NESTED = "no mention within another of its label: those of other labels nest in GENIA, and none do in the paper's data"
CHOSEN = "threshold chosen on development data; in the paper it is 0"
OURS = "averaged weights, capped steps, the last epoch by development data"
LONGEST = "of mentions that overlap the longest is learned; the paper leaves such sentences out"


def lines() -> list[Run]:
    """Return all lines."""
    made = [
        *tables("genia", {}, SELF, (81.15, 82.31, 84.38, 86.53), {"both_f1": (0.0, 0.0, 43.78, 56.25)}),
        *tables("uner", {}, FLAT, (82.80, 83.47, 82.33, 83.26)),
        *tables("np", CHUNKS, FLAT, (94.05, 94.29, 93.45, 93.90)),
        _run("averaged perceptron", "bc2gm", PERCEPTRON, WORDS),
        _run("CRF", "bc2gm", CRF, WORDS),
        _run("CRF, longest", "genia", CRF),
        _run("CRF, BIOHD", "genia", BIOHD),
        _run("multilabel, log-linear", "genia", MULTILABEL, {"algorithm": "loglinear"}),
        _run("multilabel, company", "genia", MULTILABEL, COMPANY),
        _run("multilabel, company, restricted", "genia", MULTILABEL, COMPANY, SELF),
        _run("CRF", "genia-protein", CRF),
        _run("CRF, BIOHD", "genia-protein", BIOHD),
        _run("multilabel", "genia-protein", MULTILABEL),
        _run("multilabel, restricted", "genia-protein", MULTILABEL, ANY),
        _run("multilabel, company", "genia-protein", MULTILABEL, COMPANY),
        _run("multilabel, company, restricted", "genia-protein", MULTILABEL, COMPANY, ANY),
        _run("multilabel", "bc2gm", MULTILABEL, WORDS, FREE),
        _run("multilabel, restricted", "bc2gm", MULTILABEL, WORDS),
    ]
    return [Run(run.name, run.settings, run.paper, unlike(run)) for run in made]


def tables(
    data: str,
    features: dict[str, Any],
    restricted: dict[str, Any],
    f1: tuple[float, ...],
    more: dict[str, tuple[float, ...]] | None = None,
) -> list[Run]:
    """Return the rows of a table: those of the paper, with variants of its own two, and ours."""
    figures = [{"f1": value, **{name: some[i] for name, some in (more or {}).items()}} for i, value in enumerate(f1)]
    taggers = [
        _run("averaged perceptron", data, PERCEPTRON, features, ALONE, **figures[0]),
        _run("CRF", data, CRF, features, ALONE, **figures[1]),
    ]
    kinds = (("", FREE, figures[2]), (", restricted", restricted, figures[3]))
    letter = [
        _run(f"multilabel{name}, by the letter{variant}", data, LETTER, features, limits, changed, **paper)
        for variant, changed in VARIANTS.items()
        for name, limits, paper in kinds
    ]
    ours = [_run(f"multilabel{name}", data, MULTILABEL, features, limits, **paper) for name, limits, paper in kinds]
    return [*taggers, *letter, *ours]


def _run(name: str, data: str, *settings: dict[str, Any], **paper: float) -> Run:
    together: dict[str, Any] = {"data": data}
    for one in settings:
        together |= one
    return Run(f"{data}: {name}", together, paper)


def unlike(run: Run) -> tuple[str, ...]:
    """Say how a line differs from the paper's."""
    s = run.settings
    said = [UNLIKE[s["data"].partition("-")[0]]]
    if s["model"] == "multilabel":
        said += [EPOCHS if "learn" in s else OURS]
        said += [CHOSEN] if s.get("threshold") != 0.0 else []
        said += [NESTED] if s.get("restrictions") == SELF["restrictions"] else []
    elif s["learn"] != "flat":
        said += [LONGEST] if s["data"].startswith("genia") else []
    return tuple(said)
