"""What every model is: settings, what it can hold, and how it is trained.

A ``Model`` is a frozen dataclass of settings. ``fit`` gives a ``Trained`` model (``models.trained``), which finds
mentions and says what it believes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from spanloom.base.arrays import Arrays
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice
from spanloom.base.settings import Settings
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.decisions.penalty import Wanted
from spanloom.encoders import Encoder
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.features.extractor import Sites
from spanloom.learning import TRAINERS, Auto, Iteration, Listener, Trainer
from spanloom.schemes import flatten

if TYPE_CHECKING:
    from typing_extensions import Self

    from spanloom.models.learner import ComponentLearner
    from spanloom.models.trained import Trained

Mentions = list[list[Mention]]
"""The mentions of each sentence."""


@dataclass(frozen=True)
class Task:
    """What to learn from, and how.

    Attributes
    ----------
    sentences
        With their mentions.
    gold
        Of each sentence the mentions to learn: those that the model can hold; see ``models.fitting``.
    sizes
        How many sentences each document has; blocks of cross-fitting never cut one.
    features
        What the model sees.
    trainer
        How it learns.
    penalty
        The mention penalty, or how to choose it on ``dev``.
    keep
        Which mentions stay where the model cannot hold all; ``"raise"`` for an error.
    dev
        Development sentences, with everything that the features read.
    watched
        Whether they are scored as training goes, or only choose what comes after it.
    seed, threads, listener
        As in ``Recognizer``.
    start
        A trained model whose weights to start from; None: zero.
    learner
        Makes who learns of model, task and trainer; None: this process, with everything in memory.
    encoder
        A network whose scores are added to those of the features; None: features alone.
    """

    sentences: Sequence[Sentence]
    sizes: Sequence[int]
    features: FeatureSet
    trainer: Trainer
    gold: Mentions = field(default_factory=list)
    penalty: Wanted = 0.0
    keep: str = "raise"
    dev: Sequence[Sentence] | None = None
    watched: bool = True
    seed: int = 1
    threads: int | None = None
    listener: Listener | None = None
    start: Trained | None = None
    learner: Callable[..., ComponentLearner] | None = None
    encoder: Encoder | None = None

    @property
    def lengths(self) -> list[int]:
        """The numbers of tokens."""
        return [len(sentence) for sentence in self.sentences]

    @property
    def shown(self) -> tuple[Mentions, list[int]]:
        """All mention sets that are learned from, also those that a teacher believes; and the lengths of sentences."""
        more = [(list(own), len(s)) for s in self.sentences if s.believed is not None for _, own in s.believed.sets]
        return [*self.gold, *(own for own, _ in more)], [*self.lengths, *(n for _, n in more)]


@dataclass(frozen=True)
class Model(Settings):
    """Settings of a model.

    A subclass that sets ``name`` can be chosen by it.
    """

    sites: ClassVar[Sites] = "tokens"
    takes_encoder: ClassVar[bool] = False
    """Whether its scores may come from an encoder, besides those of features."""
    in_blocks: ClassVar[bool] = False
    """Whether a ``ComponentLearner`` of the task can learn its weights, such as one over blocks of sentences."""
    flat: ClassVar[bool] = False
    """Whether the mentions that it finds never overlap, so that reductions can be built on it."""
    trainers: ClassVar[tuple[str, ...]] = ("lbfgs", "sdca", "adagrad", "perceptron")
    """How it can learn; the first is the default."""
    choice: ClassVar[str | None] = None
    """What it keeps, whatever ``keep`` says, of mentions that it cannot hold together; None: as ``keep`` says."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls) and not cls.__name__.startswith("_"):
            MODELS[cls.name] = cls

    @property
    def makes(self) -> str | None:
        """The column that it makes; None if it finds mentions."""
        return None

    @property
    def requires(self) -> tuple[str, ...]:
        """The columns that it reads, besides those of the features."""
        return ()

    @property
    def takes_partial(self) -> bool:
        """Whether it can learn from partial annotation."""
        return True

    @property
    def takes_beliefs(self) -> bool:
        """Whether it can learn from what a teacher believes, see ``Known.believed``."""
        return False

    @property
    def penalised(self) -> bool:
        """Whether it takes a mention penalty."""
        return True

    @property
    def penalised_by_label(self) -> bool:
        """Whether labels may have mention penalties of their own."""
        return self.penalised

    @property
    def probabilistic(self) -> bool:
        """Whether it gives probabilities."""
        return True

    # What it holds

    @property
    @abstractmethod
    def holds(self) -> str:
        """What mention sets the model can hold, in words, for messages."""

    @abstractmethod
    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        """Return the index of the first mention that the model cannot hold beside the others, and why; or None."""

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        """Split mentions into those that the model holds together and the rest; ``keep`` is as in ``flatten``."""
        return flatten(mentions, keep)

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        """Return the mentions that the model cannot find in this sentence whatever stands beside them, and why."""
        return []

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        """Return those of the mentions that the model can be trained on, but would read as something else."""
        return []

    def narrow(self, gold: Mentions, lengths: Sequence[int]) -> tuple[Mentions, list[tuple[int, Mention]]]:
        """Leave out what the whole corpus shows to be too much; return what stays and (sentence, mention) that go."""
        return gold, []

    def before(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences whose mentions are what is to be learned: as they are, but for taggers."""
        return list(sentences)

    def after(self, sentence: Sentence, found: list[Mention]) -> Sentence:
        """Return a sentence with what was found in it."""
        return sentence.with_mentions(found)

    # Learning

    def resolve(self, gold: Mentions, lengths: Sequence[int]) -> Self:
        """Return the model with what its settings leave to the training data."""
        return self

    @abstractmethod
    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        """Train on ``task.gold`` and return a record of every iteration, too.

        ``Interrupted`` if that was stopped and there is something to use.
        """

    def trainer(self, given: Trainer | str) -> Trainer:
        """Return the trainer that is meant, the model's own for ``auto``; ``ParameterError`` if it does not take it."""
        wanted = TRAINERS[given]() if isinstance(given, str) else given
        if wanted.name == Auto.name:
            return TRAINERS[self.trainers[0]](wanted.max_iter, wanted.patience)
        if wanted.name not in self.trainers:
            raise ParameterError(
                f"the model {self.name!r} learns by the trainer {', '.join(self.trainers)}, not by {wanted.name!r}"
            )
        return wanted

    # Keeping

    @classmethod
    @abstractmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        """Undo ``Trained.header`` and ``Trained.arrays``; ``ModelFileError``, ``ValueError`` or ``KeyError`` if that
        cannot be."""

    def facts(self) -> dict[str, Any]:
        """Return what was chosen from the data, for people to see."""
        return {}


MODELS: dict[str, type[Model]] = {}
"""Every model by the name that ``Recognizer(model=…)`` takes: ours, and yours from where they are defined."""


def named(given: Model | str, *, flat: bool = False) -> Model:
    """Return a model by its name, with its default settings; a model stays what it is.

    Examples
    --------
    >>> named("edge")
    Edge(share=0.0)
    """
    if isinstance(given, str):
        check_choice("base" if flat else "model", given, [n for n, one in MODELS.items() if one.flat or not flat])
        return MODELS[given]()
    if not isinstance(given, Model):
        raise ParameterError(f"a model is a name or a Model, got {given!r}; names are {', '.join(MODELS)}")
    if flat and not given.flat:
        raise ParameterError(f"the base must be a model whose mentions never overlap, not {given.name!r}")
    return given
