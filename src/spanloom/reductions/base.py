"""What a reduction is: a model that finds nested mentions with one or several flat taggers."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy.typing as npt

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.decisions.combine import conflicting
from spanloom.learning import Iteration, Listener
from spanloom.models import Model

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

Gold = list[list[Mention]]


class FlatTagger(Protocol):
    """Finds flat mentions: a ``Recognizer``, or an object of yours."""

    def fit(
        self, corpus: Sequence[Sentence], /, *, dev: Sequence[Sentence] | None = None, listener: Listener | None = None
    ) -> object:
        """Learn from sentences with mentions that do not overlap."""

    def predict(self, corpus: Sequence[Sentence], /) -> Sequence[Sentence]:
        """Return the sentences with the mentions that it finds."""


Maker = Callable[..., FlatTagger]
"""Makes a tagger that has learned nothing: ``make(scheme=…, templates=…, penalty=…, threads=…)``.

A ``scheme`` is taken instead of the tagger's own representation, ``templates`` are added to its features, a ``penalty``
by label is taken instead of the mention penalty that the settings give or ask to be chosen, and so are ``threads``.
"""


class Reduction(Model):
    """A model that is made of flat taggers.

    Parameters
    ----------
    make
        Makes a flat tagger; ``Recognizer`` passes one that makes recognisers of the model ``base``.

    Attributes
    ----------
    parts
        The taggers, in the order in which they work.
    types
        The labels of the mentions that it finds.
    conflicts
        How often parts have found mentions that hardly go together so far: ``"crossing"``, or ``"labels"`` for the same
        tokens under two labels. Their union has both.
    """

    components = ()
    fixes: ClassVar[frozenset[str]] = frozenset()
    """Settings of the base model that the reduction sets itself."""
    types: frozenset[str]
    parts: list[FlatTagger]

    def __init__(self, make: Maker | None = None) -> None:
        self._make = make
        self.parts = []
        self.conflicts: Counter[str] = Counter()

    def make(
        self,
        scheme: str | None = None,
        templates: Sequence[str] = (),
        penalty: Mapping[str, float] | None = None,
        threads: int | None = None,
    ) -> FlatTagger:
        """Make a flat tagger that has learned nothing."""
        if self._make is None:
            raise ParameterError(f"the model {self.name!r} needs flat taggers; use Recognizer(model={self.name!r})")
        return self._make(scheme=scheme, templates=templates, penalty=penalty, threads=threads)

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        self.types = frozenset(m.label for mentions, _ in sentences for m in mentions)

    def narrow(self, gold: Gold, lengths: Sequence[int]) -> tuple[Gold, list[tuple[int, Mention]]]:
        """Leave out what the whole corpus shows to be too much; return what stays and (sentence, mention) that go."""
        return gold, []

    @abstractmethod
    def train(
        self,
        sentences: Sequence[Sentence],
        gold: Gold,
        *,
        dev: Sequence[Sentence] | None = None,
        listener: Listener | None = None,
    ) -> list[Iteration]:
        """Train all parts; return the records of their iterations, numbered by part in ``component``."""

    @abstractmethod
    def find(self, sentences: Sequence[Sentence]) -> Gold:
        """Return the mentions of each sentence."""

    def read(self, mentions: list[Mention], n: int) -> list[Mention]:
        """Return what the mentions that a part finds in ``n`` tokens stand for."""
        return mentions

    def union(self, found: Sequence[Gold]) -> Gold:
        """Unite what the parts found in each sentence, and count conflicts."""
        united: Gold = []
        for given in zip(*found, strict=True):
            mentions = self.unite([sorted(set().union(*given))])
            if sum(map(bool, given)) > 1:
                self.conflicts.update(kind for _, _, kind in conflicting(mentions, given))
            united.append(mentions)
        return united

    def train_part(
        self,
        part: FlatTagger,
        sentences: Sequence[Sentence],
        gold: Gold,
        dev: Sequence[Sentence] | None,
        listener: Listener | None,
    ) -> list[Iteration]:
        """Train one more part on other mentions than the sentences'; ``dev`` has its own already."""
        number = len(self.parts)

        def tell(record: Iteration) -> None:
            if listener is not None:
                listener(replace(record, component=number))

        corpus = [s.with_mentions(m) for s, m in zip(sentences, gold, strict=True)]
        part.fit(corpus, dev=dev, listener=tell)
        self.parts.append(part)
        return [replace(record, component=number) for record in getattr(part, "history_", ())]

    # Keeping

    @property
    def recognizers(self) -> list[Recognizer]:
        """The parts, if they are ours; ``ParameterError`` otherwise."""
        from spanloom.recognizer import Recognizer

        ours = [part for part in self.parts if isinstance(part, Recognizer)]
        if len(ours) < len(self.parts):
            raise ParameterError("a model file holds recognisers; taggers of your own cannot be stored in it")
        return ours

    def header(self) -> dict[str, Any]:
        return {"types": sorted(self.types), "parts": [part.state()[1] for part in self.recognizers]}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what the parts have learned, for a file."""
        return {
            f"{i}.{name}": array for i, part in enumerate(self.recognizers) for name, array in part.state()[0].items()
        }

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], threads: int | None) -> None:
        """Undo ``header`` and ``arrays`` as far as the parts go."""
        from spanloom.recognizer import Recognizer

        try:
            self.types = frozenset(str(label) for label in header["types"])
            for i, one in enumerate(header["parts"]):
                own = {k.removeprefix(f"{i}."): v for k, v in arrays.items() if k.startswith(f"{i}.")}
                self.parts.append(Recognizer.from_state(own, one, threads=threads))
        except (KeyError, TypeError) as error:
            raise ModelFileError(f"the parts of the model are damaged: {error!r}") from None
