"""PairFeatures: what is seen at a pair of tokens, the two ends of a step within a mention.

Pair features are never listed in advance: a sentence of n tokens has n² pairs, almost all of which learning never
looks at. The native learner makes those that it needs, and the finder looks up those that it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spanloom._native import PairProgram
from spanloom.corpus import Sentence
from spanloom.corpus.columns import missing_column
from spanloom.features.compiled import compile_templates
from spanloom.features.feature_set import FeatureSet
from spanloom.features.grammar import parse_template
from spanloom.features.sets import PAIRS
from spanloom.features.templates import SIDES


class PairFeatures:
    """The pair templates of a feature set, compiled.

    Parameters
    ----------
    features
        A set without templates of pairs gets those of ``spanloom.features.sets.PAIRS``, which look at words alone.

    Examples
    --------
    >>> PairFeatures(FeatureSet(["word", "pos[left] & pos[right]", "distance"])).columns
    ['word', 'pos']
    """

    def __init__(self, features: FeatureSet) -> None:
        templates = features.of_pairs() or [t for text in PAIRS for t in parse_template(text)]
        pairs = [t for t in templates if t.kind != "distance"]
        plain = [replace(t, kind="conjunction") if t.kind == "pair" else t for t in pairs]
        program, self.columns = compile_templates(plain, features.resources)
        sides = [[SIDES.index(atom.side) for atom in t.atoms] for t in pairs]
        self.program = PairProgram(program, sides, distance=any(t.kind == "distance" for t in templates))

    def read(self, sentences: Sequence[Sentence]) -> list[list[list[str]]]:
        """Return the columns that the templates read: ``[column][sentence][token]``."""
        columns = []
        for name in self.columns:
            for number, sentence in enumerate(sentences):
                if name != "word" and name not in sentence.columns:
                    raise missing_column(name, sentence, number, "a template of pairs reads")
            columns.append([sentence.column(name) for sentence in sentences])
        return columns
