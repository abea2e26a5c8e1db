"""What a recogniser has once it has learned: its trained model, how it decides, text made ready for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from spanloom.annotators import Pipeline
from spanloom.base.errors import CorpusError, NotFittedError, ParameterError
from spanloom.base.parameters import check_count, check_share
from spanloom.corpus import Believed, Document, Known, Mention, Sentence, make_document
from spanloom.corpus.document import as_documents, to_choose_on
from spanloom.corpus.known import HEAVIEST
from spanloom.corpus.sentences import split_sentences
from spanloom.corpus.token_rules import TokenRules
from spanloom.deciding import redecide
from spanloom.decisions import penalty
from spanloom.decisions.decision import Decision, decision
from spanloom.decisions.repairs import repair
from spanloom.decisions.rule import Rule
from spanloom.evaluation.calibration import Curve
from spanloom.explain import Explanation, explain, numbered
from spanloom.features import FeatureExtractor
from spanloom.inference import Distribution, Marginals
from spanloom.learning import Iteration
from spanloom.models import Trained
from spanloom.parameters import Parameters

if TYPE_CHECKING:
    from typing_extensions import Self


Input = str | Sentence | Document
"""What mentions are looked for in."""
APART = 1e-6
"""Probabilities that differ by more are not the same."""
BATCH = 1024
"""Documents or sentences that are tagged at once when a stream is tagged."""


class FittedRecognizer(Parameters):
    """The half of ``Recognizer`` that knows what was learned."""

    trained_: Trained
    pipeline_: Pipeline
    rule_: Rule
    history_: list[Iteration]
    labels_: tuple[str, ...]
    ceiling_: float
    lost_: list[tuple[int, Mention]]
    training_: dict[str, Any]
    token_rules_: TokenRules
    _needs_tokenizer: bool = False

    # What it believes

    def distribution(self, sentence: Input) -> Distribution:
        """Return what the model believes of a sentence; a mention penalty is a decision, and does not count here.

        A text or a document is taken if it has one sentence; see ``distributions`` for others.
        """
        trained, document = self._fitted(), self._document(sentence)
        if len(document.sentences) != 1:
            raise ParameterError(
                f"a distribution is of one sentence, not of {len(document.sentences)}: {document.text!r:.60}; take "
                "distributions(…), or one of predict(…).sentences"
            )
        return _about(trained.distribution(self._ready([document])[0].sentences[0]), document.sentences[0])

    def distributions(self, document: Input) -> list[Distribution]:
        """Return the distribution of each sentence of a document; document columns see the whole document."""
        trained = self._fitted()
        ready = self._ready([self._document(document)])[0].sentences
        return [_about(trained.distribution(one), one) for one in ready]

    def explain(
        self,
        where: Input,
        mention: Mention,
        *,
        corpus: Iterable[Sentence | Document] | None = None,
    ) -> Explanation:
        """Say why a mention is found rather than the best answer without it, or why it is not.

        Parameters
        ----------
        where
            A sentence; or a document or a text, whose tokens the mention then counts, and whose other sentences may
            tell the model something.
        mention
            Found or not.
        corpus
            The training data, to show which of its mentions speak most for this one. A model does not keep them.
        """
        trained = self._fitted()
        document = self._document(where)
        shift = 0
        for number, sentence in enumerate(document.sentences):
            if mention.start < shift + len(sentence):
                ready = self._ready([document])[0].sentences[number]
                known = self._ready(as_documents(corpus or ()))
                found = explain(trained, ready, mention.shifted(-shift), numbered(known))
                whole = trained.probabilities([ready], [[found.mention]], self.threads)[0][0].prob or 0.0
                notes = [found.note, self._decided(found, whole)]
                if abs(whole - found.prob) > APART:
                    notes.insert(1, f"this is what one part of the model believes; all of it gives {whole:.4f}")
                return replace(found, note="; ".join(filter(None, notes)))
            shift += len(sentence)
        raise ParameterError(f"the mention {mention.label!r} {mention.parts} is beyond the last of {shift} tokens")

    def _decided(self, why: Explanation, prob: float) -> str:
        """Say what calibration and thresholds, which are decisions, make of a mention of this probability."""
        rule, notes = self.rule_, []
        if rule.calibration is not None:
            (best,) = self._fitted().find([why.sentence], self.threads)
            prob = float(rule.calibration.of([prob], [why.mention in best])[0])
            notes.append(
                f"calibrated, the probability is {prob:.4f}; these figures are what the model believes by itself"
            )
        if rule.thresholds is not None:
            least = rule.thresholds.get(why.mention.label, math.inf)
            from_ = f"a probability of {least:.6g} on" if least <= 1 else "no probability on"
            notes.append(f"this model answers with {why.mention.label} from {from_}; this mention is ")
            notes[-1] += "below that, and not in the answer" if prob < least else "not below that"
        return "; ".join(notes)

    def k_best(self, sentence: Input, k: int) -> list[tuple[float, list[Mention]]]:
        """Return the ``k`` most probable mention sets of a sentence with their probabilities, best first."""
        self._fitted()
        check_count("k", k)
        return self.distribution(sentence).k_best(k)

    @property
    def belief_(self) -> str:
        """What the probabilities are: ``"exact"``, or what ``Trained.belief`` says; ``"scores"`` of a perceptron.

        ``"calibrated"``: the decision calibrates those of answers; ``distribution`` stays what the model believes.
        """
        belief = self._fitted().belief
        if self.rule_.calibration is not None:
            return "calibrated"
        trainer = self.trainer if isinstance(self.trainer, str) else self.trainer.name
        return "scores" if trainer == "perceptron" and belief == "exact" else belief

    def marginals(self, sentence: Input) -> Marginals:
        """Return the probability of every label at every token, separator at every gap or label of every candidate.

        ``probs[site, column]`` with ``names`` of columns, and ``sites``, what each site covers. Mentions need more than
        that: ``distribution(sentence).prob(mention)``.
        """
        return self.distribution(sentence).marginals()

    def sample(self, sentence: Input, n: int = 1, seed: int | None = None) -> list[list[Mention]]:
        """Draw ``n`` mention sets of a sentence from the model's distribution; the recogniser's seed if none given."""
        self._fitted()
        check_count("n", n)
        return self.distribution(sentence).sample(n, self.seed if seed is None else seed)

    def teach(
        self, corpus: Iterable[Input], *, samples: int = 8, weight: float = 1.0, seed: int | None = None
    ) -> Iterator[Document]:
        """Yield documents with what the model believes of every sentence, for another model to learn from.

        ``Recognizer("edge").fit([*gold, *teacher.teach(texts)])`` trains on both: in sentences of the teacher the loss
        is the mean over ``samples`` mention sets that are drawn from its distribution (``Known.believed``). Mentions of
        the documents do not count.

        Parameters
        ----------
        samples
            More are closer to what the teacher believes; those that are alike cost nothing.
        weight
            How much a sentence counts beside one that is annotated.
        seed
            Of the draws; the recogniser's if not given.
        """
        trained = self._fitted()
        check_count("samples", samples)
        if isinstance(corpus, str):
            raise ParameterError(f"texts come in a list: teach([{corpus!r:.40}])")
        if not isinstance(weight, int | float) or not 0 < weight <= HEAVIEST:
            raise ParameterError(
                f"The 'weight' parameter must be a number above 0, at most {HEAVIEST:g}. Got {weight!r} instead."
            )
        if not trained.model.probabilistic or trained.model.makes is not None:
            raise ParameterError(f"the model {trained.model.name!r} has no distribution of mentions to draw from")
        if trained.belief == "scores" or self.belief_ == "scores":
            raise ParameterError(
                f"what {trained.model.name!r} gives mentions are scores, and no probabilities to draw from; teach with "
                'a likelihood model such as state or edge, or train multilabel with trainer="loglinear"'
            )
        check_count("seed", self.seed if seed is None else seed, low=0)
        return self._taught(corpus, samples, float(weight), np.random.SeedSequence(self.seed if seed is None else seed))

    def _taught(
        self, corpus: Iterable[Input], samples: int, weight: float, seeds: np.random.SeedSequence
    ) -> Iterator[Document]:
        items = iter(corpus)
        while units := list(islice(items, BATCH)):
            documents = as_documents(self._of_text(unit) if isinstance(unit, str) else unit for unit in units)
            ready = [s for document in self._ready(documents) for s in document.sentences]
            believed = zip(self._fitted().distributions(ready, self.threads), seeds.spawn(len(ready)), strict=True)
            for document in documents:
                made = []
                for sentence, (one, own) in zip(document.sentences, believed, strict=False):
                    drawn = one.sample(samples, int(own.generate_state(1, np.uint32)[0]))
                    known = Known(labels=(), believed=Believed.drawn(drawn, weight))
                    made.append(replace(sentence, mentions=[], known=known))
                yield document.with_sentences(made)

    # How it decides

    def gives_probabilities(self, probabilities: bool | None = None, above: float | None = None) -> bool:
        """Whether mentions get their ``prob``, given the arguments of ``predict``.

        If nothing is asked for, they do unless that costs more than half of the speed (where structures have to be
        listed, and where several parts are asked about each mention), or they would be scores that nobody calibrated.
        """
        trained = self._fitted()
        if trained.model.makes is not None:  # a tagger gives every token its label, whatever is asked for
            return False
        if above is not None or self.rule_.thresholds is not None:
            return True
        given = trained.model.probabilistic and trained.belief not in ("bound", "parts") and self.belief_ != "scores"
        return given if probabilities is None else probabilities

    def _rule_for(self, probabilities: bool | None, above: float | None) -> tuple[Rule, bool]:
        """Return the rule for the arguments of ``predict``, and whether probabilities are needed."""
        trained, rule = self._fitted(), self.rule_
        if above is not None:
            check_share("above", above)
            rule = Rule(dict.fromkeys(trained.labels, float(above)), fitting=False, calibration=rule.calibration)
        return Rule() if trained.model.makes is not None else rule, self.gives_probabilities(probabilities, above)

    def _answers(
        self, documents: Sequence[Document], rule: Rule, conflicts: Counter[str] | None, probable: bool
    ) -> list[list[Mention]]:
        """Return the mentions of every sentence of documents, repaired."""
        trained = self._fitted()
        ready = [s for document in self._ready(documents) for s in document.sentences]
        found = rule.answers(trained, ready, self.threads, conflicts, probabilities=probable and not self.repairs)
        if not self.repairs:
            return found
        rest = iter(found)
        done = [
            mentions
            for document in documents
            for mentions in repair(document.sentences, list(islice(rest, len(document.sentences))), self.repairs)
        ]
        return rule.calibrated(trained.probabilities(ready, done, self.threads)) if probable else done

    def set_decision(self, decide: Decision | str, dev: Iterable[Sentence | Document]) -> Self:
        """Decide in another way from now on, without training again; see ``decide`` of ``Recognizer``.

        Thresholds, penalties and calibration are chosen on development data; ``training_`` says what they give there.
        """
        trained, wanted = self._fitted(), decision(decide)
        ready = to_choose_on([s for document in self._ready(as_documents(dev)) for s in document.sentences])
        if not ready:
            raise CorpusError("no sentence of the development data is annotated, so that nothing can be chosen on them")
        rule, facts = redecide(wanted, trained, trained.model.before(ready), self.threads, self.training_)
        self.decide, self.rule_ = wanted, rule
        kept = {name: value for name, value in self.training_.items() if name not in ("decision", "calibration")}
        self.training_ = {**kept, **facts}
        return self

    def tune_mention_penalty(self, dev: Iterable[Sentence | Document], *, by_label: bool = False) -> Curve:
        """Use the mention penalty that gives the highest F1 on development data; ``by_label``: one for each label.

        Returns precision, recall and F1 at each value, the same for all labels.
        """
        trained = self._fitted()
        ready = self._ready(as_documents(dev))
        sentences = trained.model.before(to_choose_on([s for document in ready for s in document.sentences]))
        curve = trained.tune_penalty(sentences, self.threads, by_label=by_label)
        self.training_["penalty_curve"] = curve.to_json()
        return curve

    def set_mention_penalty(self, value: float | Mapping[str, float] | str) -> Self:
        """Use a mention penalty from now on: one number, or one for each label.

        Answers are then those of the best structure, also where thresholds on probabilities made them before.
        """
        trained = self._fitted()
        penalty.check_penalty(value)
        if isinstance(value, str):
            raise ParameterError(f"a penalty is a number when tagging; {value!r} is chosen in training, with dev=…")
        trained.set_penalty(penalty.by_label(value, self.labels_))
        self.rule_ = replace(self.rule_, thresholds=None)
        return self

    def set_threshold(self, threshold: float | Mapping[str, float]) -> Self:
        """Take mentions that score above this from now on, one number or one by label; a lower one finds more.

        Thresholds on probabilities, if answers were made by them, do not count any more.

        Only for models that score mentions one by one, which ``multilabel`` does.
        """
        if self.rule_.calibration is not None:
            raise ParameterError(
                "probabilities were calibrated with the threshold on scores that the model has; ask with "
                'predict(above=…), or train with calibrate="none"'
            )
        self._fitted().set_threshold(threshold)
        self.rule_ = replace(self.rule_, thresholds=None)
        return self

    @property
    def is_plain(self) -> bool:
        """Whether its answers are those of its trained model alone: no annotators, no repairs, no rule of its own."""
        return not self.pipeline_.annotators and not self.repairs and self.rule_ == Rule()

    model_ = property(lambda self: self._fitted().model, doc="The model, with what was chosen from the data.")
    parts_ = property(lambda self: self._fitted().parts, doc="The trained models that it is made of.")
    mention_penalty_ = property(lambda self: self._fitted().penalty_in_use, doc="The mention penalty in use, by label.")
    penalty_curve_ = property(lambda self: self._fitted().penalty_curve, doc="What penalties give on dev, if chosen.")

    @property
    def extractor_(self) -> FeatureExtractor:
        """The features that were learned."""
        return self._fitted().extractor

    # Inside, for Recognizer

    def _install(
        self, trained: Trained, pipeline: Pipeline, rule: Rule, facts: dict[str, Any], rules: TokenRules
    ) -> None:
        self.trained_, self.pipeline_, self.rule_, self.training_ = trained, pipeline, rule, facts
        self.token_rules_ = rules
        self.labels_ = tuple(sorted(trained.labels))
        self._needs_tokenizer = False

    def _fitted(self) -> Trained:
        try:
            return self.trained_
        except AttributeError:
            raise NotFittedError(
                "this Recognizer has learned nothing yet; call fit, or Recognizer.load a model"
            ) from None

    def _start(self, given: FittedRecognizer | Trained | None) -> Trained | None:
        """The trained model whose weights to start from."""
        if isinstance(given, FittedRecognizer):
            return given._fitted()
        if given is not None and not isinstance(given, Trained):
            raise ParameterError(f"start is a recogniser, a trained model or the name of a file, got {given!r}")
        return given

    def _compared(self, item: Sentence | Document) -> Sentence | Document:
        """What is scored: the mentions, or for a tagger its column."""
        before = self._fitted().model.before
        return before([item])[0] if isinstance(item, Sentence) else item.with_sentences(before(item.sentences))

    def _document(self, given: Input) -> Document:
        """What was given, as a document."""
        (document,) = as_documents([self._of_text(given) if isinstance(given, str) else given])
        return document

    def _of_text(self, text: str) -> Document:
        if self._needs_tokenizer and not self.cuts_itself:
            raise ParameterError(
                "this model was trained with its own tokenizer or splitter, which a model file cannot hold; "
                "give them to Recognizer.load(..., tokenizer=..., splitter=...), or pass tokenised sentences"
            )
        if isinstance(self.tokenizer, str | TokenRules | None):
            return make_document(text, "", self.token_rules_, self.splitter or self.token_rules_.split)
        return make_document(text, "", self.tokenizer, self.splitter or split_sentences)

    def _ready(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with everything that the model looks at."""
        trained = self._fitted()
        self.pipeline_.use_threads(self.threads)
        return self.pipeline_.annotate(documents, (*trained.extractor.features.columns(), *trained.model.requires))


def _about(belief: Distribution, sentence: Sentence) -> Distribution:
    """Let a distribution know its sentence, which notebooks draw."""
    belief.sentence = sentence
    return belief
