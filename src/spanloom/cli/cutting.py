"""How text is cut into tokens: the option, and what commands say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanloom.cli.console import make_console

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

TOKENIZER = (
    "How text without tokens is cut: default, space, punctuation, or with switches: default,hyphens,slashes. "
    "If not given, as the training data are. See docs/tokens.md."
)
TokenizerOption = Annotated[str | None, typer.Option("--tokenizer", metavar="NAME", help=TOKENIZER)]


def tokenizer_words(facts: Mapping[str, Any]) -> str:
    """Say which tokenizer a model has, and how many of its training tokens that gives.

    Examples
    --------
    >>> print(tokenizer_words({"name": "space", "agreement": 0.98, "spacing": "text", "examples": ["n't"]}))
    text is cut by the tokenizer space: 98.00 % of the training tokens come out the same, not n't
    """
    guessed = " (their spacing is guessed)" if facts["spacing"] == "guessed" else ""
    examples = ", ".join(facts.get("examples", ()))
    return (
        f"text is cut by the tokenizer {facts['name']}: {100 * facts['agreement']:.2f} % of the training tokens come "
        f"out the same{guessed}{f', not {examples}' if examples else ''}"
    )


def reproduces_badly(ner: Recognizer) -> bool:
    """Whether too many tokens of the training data come out differently when their text is cut."""
    from spanloom.corpus.retokenizing import ENOUGH

    return bool(ner.training_.get("tokenizer", {}).get("agreement", 1.0) < ENOUGH)


def tell_if_cut_badly(ner: Recognizer) -> None:
    """Say once that text is cut otherwise than the training data were, if it is."""
    if reproduces_badly(ner):
        make_console(stderr=True, soft_wrap=True).print(
            f"{tokenizer_words(ner.training_['tokenizer'])}; expect more mistakes than on tokenised data",
            style="yellow",
            markup=False,
        )
