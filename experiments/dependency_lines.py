"""The lines of ``experiments.dependency``: the paper's tables by its protocol and by ours, and what the paper has not.

*By the letter* are lines by the paper's protocol: a chain over IOB2, Stanford's shapes, the label of the head's arc,
gold trees in training whatever the test part has. Ours have IOBES, our shapes, the token's own arc, and jackknifed
trees in training where those of the test part are predicted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from experiments.dependency_tables import ENDS, LETTER, LONG, LONGEST, MODELS, SOFT
from experiments.runner import Run
from experiments.settings import TO_THE_END

FLAT = ("uner", "gum4", "gum")
PAPER = {  # overall F1 by (trees, dependency features), in the order of MODELS
    ("gold", True): (77.8, 79.6, 79.0, 80.5),
    ("predicted", True): (77.3, 79.5, 78.2, 79.4),
    ("gold", False): (76.3, 78.5, 78.6, 79.9),
    ("predicted", False): (76.3, 78.5, 78.0, 78.8),
}
EDGES = {"semimarkov": 132.0, "dgm-s": 40.0, "dgm": 61.0}
CHOSEN: dict[str, Any] = {"l2": [0.25, 0.5, 1.0, 2.0], "l2_folds": 3, **TO_THE_END}
"""L2 is chosen by cross-validation on the training documents, with their gold trees."""
FIXED: dict[str, Any] = {"l2": 0.5, **TO_THE_END}

PARSING: dict[str, Any] = {"folds": 2, "parser": {"iterations": 3, "structured_interval": 0}}
"""On 2,000 sentences of UNER-EWT the structured oracle doubles the time of training, and brings nothing so early."""

DEP = ", dependency features"
STAND_IN = "UNER-EWT or GUM for OntoNotes, which is licensed"
SAME = (
    "affixes of a segment's end words, not of its string; strings that occur once are left out",
    "adjacent mentions of one type are not merged",
)
OURS = "shapes of ours, the label of the token's own arc"
CHAIN = "IOBES labels, not IOB2"
JACKKNIFED = "jackknifed trees in training, not gold ones"
PARSER = "UDPipe for MaltParser"


def lines() -> list[Run]:
    """Return all lines."""
    return [*tables(letter=False), *tables(letter=True), *further(), *long_segments(), *nested(), *counts()]


def tables(*, letter: bool) -> Iterator[Run]:
    """Tables 2 and 3: chain, semi-Markov, DGM-S and DGM, by corpus, trees and dependency features."""
    for corpus, dep, trees in itertools.product(FLAT, (False, True), ("gold", "predicted")):
        for place, model in enumerate(MODELS):
            if trees == "predicted" and not dep and model in ("chain", "semimarkov"):
                continue  # they see no tree
            chain = model == "chain"
            own = "jie-chain" if chain else "jie-semi"
            joined = f"{own}-paper" + "+dep-paper" * dep if letter else own + "+dep" * dep
            settings = {"corpus": corpus, "model": model, "features": joined, **CHOSEN, **of_trees(trees, letter)}
            settings |= ({"scheme": "IOB2"} if letter else {}) if chain else {"longest": LONGEST}
            paper = {"f1": PAPER[trees, dep][place], **({"edges": EDGES[model]} if model in EDGES else {})}
            name = f"{corpus}, {trees} trees{DEP * dep}{LETTER * letter}: {model}"
            yield Run(name, settings, paper, unlike(chain=chain, letter=letter, predicted=trees == "predicted"))


def of_trees(trees: str, letter: bool) -> dict[str, Any]:
    """Return the settings that say where trees are from."""
    if trees == "gold":
        return {"trees": "gold"}
    return {"trees": "predicted on test" if letter else "predicted", **PARSING}


def unlike(*, chain: bool, letter: bool, predicted: bool) -> tuple[str, ...]:
    """Say how a line of the paper's tables differs from it."""
    mine = () if letter else (OURS, *((CHAIN,) if chain else ()), *((JACKKNIFED,) if predicted else ()))
    return (STAND_IN, *SAME, *((PARSER,) if predicted else ()), *mine)


def further() -> Iterator[Run]:
    """Ours: dependency features of a segment's ends; all segments, with the tree's word on each as a feature."""
    for corpus, trees in itertools.product(FLAT, ("gold", "predicted")):
        common = {"corpus": corpus, "longest": LONGEST, **CHOSEN, **of_trees(trees, letter=False)}
        for model in ("semimarkov", "dgm"):
            settings = {**common, "model": model, "features": "jie-semi+dep+dep-ends"}
            yield Run(f"{corpus}, {trees} trees{DEP}{ENDS}: {model}", settings)
        for dep in (False, True):
            settings = {**common, "model": "semimarkov", "features": f"jie-semi{'+dep' * dep}+valid"}
            yield Run(f"{corpus}, {trees} trees{DEP * dep}{SOFT}: semimarkov", settings)


def long_segments() -> Iterator[Run]:
    """What the paper's L costs where mentions are long."""
    for corpus, dep, model in itertools.product(("gum", "gum4"), (False, True), ("semimarkov", "dgm")):
        settings = {"corpus": corpus, "trees": "gold", "model": model, "features": "jie-semi" + "+dep" * dep, **FIXED}
        yield Run(f"{corpus}, gold trees{DEP * dep}{LONG}: {model}", settings | {"longest": 40})


def nested() -> Iterator[Run]:
    """All mentions of GUM, nested ones too."""
    for dep, model in itertools.product((False, True), ("edge", "dgm-nested", "spans")):
        features = ("jie-chain" if model == "edge" else "jie-semi") + "+dep" * dep
        settings = {"corpus": "gum nested", "trees": "gold", "model": model, "features": features, **FIXED}
        settings |= {} if model == "edge" else {"longest": 12}
        yield Run(f"gum nested, gold trees{DEP * dep}: {model}", settings)


def counts() -> Iterator[Run]:
    """Parsers, and valid spans by length of the sentence."""
    for corpus in ("uner", "gum"):
        yield Run(f"{corpus}: parsers", {"corpus": corpus, "task": "parsers", "trees": "predicted", **PARSING})
        yield Run(f"{corpus}, gold trees: valid spans by length, L = n", {"corpus": corpus, "task": "lengths"})
