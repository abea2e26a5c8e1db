"""A model that has learned: finds mentions, says what it believes, goes into a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy.typing as npt

from spanloom.base.arrays import Arrays, Floats32, below
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.decisions.penalty import Penalty
from spanloom.decisions.rule import Rule, exclude, most_probable
from spanloom.evaluation.calibration import Curve
from spanloom.features import FeatureExtractor
from spanloom.inference import Distribution
from spanloom.learning import Weights
from spanloom.models.base import MODELS, Mentions, Model
from spanloom.models.contrast import Contrast, Pair
from spanloom.models.holding import Holder
from spanloom.models.warm import Wanted


@dataclass(frozen=True, slots=True)
class WeightColumn:
    """The weights of one output symbol, and what each is the weight of."""

    name: str
    weights: Floats32
    feature: Callable[[int], str]
    words: str = ""
    """What the symbol means, if its name does not say it."""


Seen = Callable[[Sequence[Sentence]], list[Sentence]]
"""What makes of sentences those that a part of a model sees."""


class Trained(ABC):
    """A model at work.

    Attributes
    ----------
    model
        Its settings, with what was chosen from the data.
    extractor
        Its features.
    labels
        The labels of the mentions that it finds.
    penalty
        The mention penalty in use, by label.
    penalty_curve
        Precision and recall on the development data at each mention penalty, if it was chosen there.
    """

    model: Model
    extractor: FeatureExtractor
    labels: frozenset[str]
    penalty: Penalty
    penalty_curve: Curve | None = None

    @abstractmethod
    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        """Return the mentions of each sentence.

        ``conflicts`` counts mentions of different parts that hardly go together, see ``decisions.combine``.
        """

    @abstractmethod
    def distribution(self, sentence: Sentence) -> Distribution:
        """Return what the model believes of a sentence, whatever the mention penalty."""

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        """Yield what the model believes of each of many sentences."""
        return map(self.distribution, sentences)

    def may_have(self, *, flat: bool) -> bool:
        """Whether it can give the same tokens two labels; with ``flat``, whether mentions can share tokens."""
        if self.model.makes is not None or not self.model.probabilistic:
            return False
        if flat:
            pairs = product(self.labels, repeat=2)
            return any(self.model.misfit([Mention(a, ((0, 2),)), Mention(b, ((0, 1),))]) is None for a, b in pairs)
        return any(
            self.model.misfit([Mention(a, ((0, 1),)), Mention(b, ((0, 1),))]) is None
            for a, b in combinations(sorted(self.labels), 2)
        )

    @property
    def may_overlap_within_labels(self) -> bool:
        """Whether mentions of one label can share tokens."""
        return any(self.model.misfit([Mention(a, ((0, 2),)), Mention(a, ((0, 1),))]) is None for a in self.labels)

    @property
    def belief(self) -> str:
        """What its probabilities are.

        ``"exact"``: those of its distribution; ``"bound"``: such, or lower bounds where structures are too many;
        ``"parts"``: of parts that were trained apart; ``"candidates"``: each candidate for itself;
        ``"scores"``: a function of margins, not calibrated.
        """
        return "exact"

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        """Return mentions of each sentence with their probabilities, whatever the mention penalty."""
        numbers = [number for number, own in enumerate(found) if own]
        done: Mentions = [[] for _ in found]
        for number, one in zip(numbers, self.distributions([sentences[i] for i in numbers], threads), strict=True):
            done[number] = [probable(mention, one.prob(mention)) for mention in found[number]]
        return done

    def find_with_probabilities(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        """Return what ``find`` does, with probabilities."""
        return self.probabilities(sentences, self.find(sentences, threads, conflicts), threads)

    def find_by(
        self,
        rule: Rule,
        sentences: Sequence[Sentence],
        threads: int | None = None,
        conflicts: Counter[str] | None = None,
        *,
        probabilities: bool = False,
    ) -> Mentions:
        """Return what a rule without calibration makes of each sentence; with thresholds, with probabilities.

        Of mentions that exclude each other only the most probable ones stay.
        """
        if rule.thresholds is not None:
            return [rule.of_believed(self, own) for own in self.find_above(sentences, rule.least, threads)]
        flat = rule.flat
        found = (self.find_with_probabilities if probabilities else self.find)(sentences, threads, conflicts)
        if not rule.exclusive:
            return found
        rivals = [i for i, own in enumerate(found) if any(exclude(a, b, flat=flat) for a, b in combinations(own, 2))]
        judged = self.probabilities([sentences[i] for i in rivals], [found[i] for i in rivals], threads)
        for i, own in zip(rivals, judged, strict=True):
            kept = set(most_probable(own, flat=flat))
            found[i] = [m for m in found[i] if m in kept]
        return found

    def find_above(self, sentences: Sequence[Sentence], above: float, threads: int | None = None) -> Mentions:
        """Return every mention with at least a probability, which is above 0, in reading order."""
        return [one.mentions(above) for one in self.distributions(sentences, threads)]

    def tune_threshold(self, dev: Sequence[Sentence], threads: int | None) -> bool:
        """Choose the threshold on scores on development data; False if the model has none that is left open."""
        return False

    # Why

    def responsible(self, sentence: Sentence, mention: Mention) -> tuple[Trained, Seen]:
        """Return the part that decides about a mention, and how it sees sentences."""
        return self, list

    def rivals(self, sentence: Sentence, mention: Mention) -> tuple[float, list[Mention], list[Mention]]:
        """Return the log-odds of a mention, the best mention set with it, and the best without it."""
        belief = self.distribution(sentence)
        given, without = belief.clamp(must=[mention]), belief.clamp(never=[mention])
        (_, best), (_, other) = given.k_best(1)[0], without.k_best(1)[0]
        return given.log_z - without.log_z, best, other

    def contrasts(self, sentences: Sequence[Sentence], pairs: Sequence[Pair]) -> Iterator[Contrast]:
        """Yield for pairs of mention sets what the scores of their structures differ in; see ``models.contrast``."""
        raise ParameterError(f"the scores of the model {self.model.name!r} are no sums of weights: it explains nothing")

    def start_for(self, wanted: Wanted, global_cells: int) -> Weights | None:
        """Return its weights for a component to start from; None if it has none that fit."""
        return None

    def ahead(self, before: Trained, by: float) -> Trained:
        """Return a model to start from with weights ``w + by · (w − w_before)``; itself if the two cannot be compared.

        ``before`` and this one are optima on a path of penalties: the next lies about there.
        """
        return self

    @property
    def parts(self) -> list[Trained]:
        """The trained models that it is made of: itself alone, unless its model is a reduction."""
        return [self]

    @property
    def holder(self) -> Holder:
        """What says which mentions of new data it could find."""
        return self.model

    @property
    def untrained(self) -> frozenset[str]:
        """Labels that have learned nothing, because training was stopped before their turn."""
        return frozenset()

    # The mention penalty

    @property
    def penalty_in_use(self) -> Penalty:
        """The mention penalty by label, also that of parts."""
        return self.penalty

    def set_penalty(self, chosen: Penalty) -> None:
        """Use a mention penalty from now on."""
        if chosen:
            raise self._no_penalty()
        self.penalty = {}

    def tune_penalty(self, dev: Sequence[Sentence], threads: int | None, *, by_label: bool) -> Curve:
        """Use the mention penalty that is best on development data; return what each gives there."""
        raise self._no_penalty()

    def set_threshold(self, threshold: float | Mapping[str, float]) -> None:
        """Take mentions that score above this from now on, one number or one by label."""
        raise ParameterError(f"the model {self.model.name!r} has no threshold; multilabel has one")

    def _no_penalty(self) -> ParameterError:
        return ParameterError(f"the model {self.model.name!r} takes no mention penalty")

    # Keeping

    def pruned(self, least: float) -> Trained:
        """Return the model without weights below ``least`` in absolute value, and without features of no weight.

        A model that has no such weights, or cannot do without them, is returned as it is.
        """
        return self

    @abstractmethod
    def weight_columns(self) -> Iterator[WeightColumn]:
        """Yield everything that was learned, column by column, to be looked at."""

    @property
    @abstractmethod
    def weight_count(self) -> int:
        """How many weights there are."""

    def facts(self) -> dict[str, Any]:
        """Return what was chosen from the data, for people to see."""
        return self.model.facts()

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """Return what ``Model.restore`` needs, as JSON."""

    @abstractmethod
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was learned besides the features, for a file."""

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return what a file holds of the model: arrays by name, and JSON."""
        features, feature_header = self.extractor.state()
        arrays = {f"features.{name}": array for name, array in features.items()} | self.arrays()
        header = {"model": {"name": self.model.name, **self.header()}, "features": feature_header}
        return arrays, {**header, "mention_penalty": self.penalty}


def probable(mention: Mention, prob: float) -> Mention:
    """Return a mention with a probability."""
    return Mention(mention.label, mention.parts, prob, mention.attributes)


def chunks(sentences: Sequence[Sentence], tokens: int) -> Iterator[Sequence[Sentence]]:
    """Cut into runs of about so many tokens, so that not all scores are held at once."""
    start, size = 0, 0
    for i, sentence in enumerate(sentences):
        size += len(sentence)
        if size >= tokens:
            yield sentences[start : i + 1]
            start, size = i + 1, 0
    if start < len(sentences):
        yield sentences[start:]


MOST_NAMES = 1000
"""Labels and other names in a list of the header that need not be in proportion to the arrays."""


def _check_size(stored: Any, size: int) -> None:
    """Refuse headers that would make large things of small files: pairs of labels are made before weights are read."""
    level = [stored]
    while level:
        values = [v for one in level for v in (one.values() if isinstance(one, dict) else one)]
        level = [value for value in values if isinstance(value, dict | list)]
        for value in level:
            if len(value) > MOST_NAMES and len(value) ** 2 > size:
                raise ModelFileError(
                    f"the header has a list of {len(value):,} names, and the arrays have {size:,} bytes: there are "
                    "no weights for so many"
                )


def restore_trained(arrays: Arrays, header: Mapping[str, Any]) -> Trained:
    """Undo ``Trained.state``; ``ModelFileError``, ``ValueError``, ``KeyError`` or ``TypeError`` if that cannot be."""
    stored = header["model"]
    if stored["name"] not in MODELS:
        raise ModelFileError(
            f"the model is a {stored['name']!r}, which this version of spanloom does not have; if it is yours, import "
            "the module that defines it before you load the file"
        )
    _check_size(stored, sum(array.nbytes for array in arrays.values()))
    extractor = FeatureExtractor.from_state(below(arrays, "features."), header["features"])
    trained = MODELS[stored["name"]].restore(stored, arrays, extractor)
    trained.penalty = {}
    penalty = {str(label): float(value) for label, value in header.get("mention_penalty", {}).items()}
    if penalty:  # parts have theirs already
        trained.set_penalty(penalty)
    return trained
