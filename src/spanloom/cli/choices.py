"""The values of options that are one of a few words, for ``--help`` and the parser.

They stand here as they are, since a command imports what has them only when it runs; a test holds them to it.
"""

from __future__ import annotations

from typing import Literal

BaseName = Literal[
    "chain",
    "chains",
    "memm",
    "edge",
    "state",
    "hypergraph",
    "semimarkov",
    "weak-semimarkov",
    "dgm",
    "dgm-s",
    "spans",
    "dgm-nested",
    "multilabel",
]
ModelName = Literal["auto", BaseName, "innermost", "outermost", "layered", "cascade", "joined"]
Direction = Literal["inside-out", "outside-in"]
Algorithm = Literal["auto", "lbfgs", "adagrad", "perceptron", "mira", "loglinear"]
Support = Literal["all", "observed"]
Overlap = Literal["raise", "longest", "outermost", "innermost"]
