"""The spaCy component learns: from examples, in a loop, by ``spacy train`` with a DocBin; and is scored."""

from __future__ import annotations

import logging
import random
from pathlib import Path
from typing import Any

import pytest

from extras import needs

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]  # spaCy and its libraries warn at import
needs("spacy")

import spacy  # noqa: E402
from spacy.cli.train import train as spacy_train  # noqa: E402
from spacy.scorer import Scorer  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402

from spanloom import Mention, Recognizer, read, write  # noqa: E402
from spanloom.base.errors import ParameterError  # noqa: E402
from spanloom.integrations.spacy import MentionScorer, get_mentions, set_mentions  # noqa: E402

WORDS = [[det, noun, verb] for det in ("the", "a") for noun in ("gene", "cell", "site") for verb in ("works", "grows")]
SETTINGS = {"model": "chain", "max_iter": 15}


def gold_docs(nlp: Any, ents: bool = False) -> list[Any]:
    """Nouns are mentions; with ``ents`` as entities, else also with their determiners around them."""
    docs = []
    for words in WORDS:
        doc = Doc(nlp.vocab, words=words)
        inner, outer = Mention("N", ((1, 2),)), Mention("NP", ((0, 2),))
        set_mentions(doc, [inner] if ents else [outer, inner], ents="flat" if ents else "none")
        if ents:
            del doc.spans["sc"]
        docs.append(doc)
    return docs


def examples_of(nlp: Any, docs: list[Any]) -> list[Any]:
    return [Example(nlp.make_doc(doc.text), doc) for doc in docs]


@pytest.mark.parametrize("ents", [True, False])
def test_initialize_learns_from_all_examples(ents: bool) -> None:
    """Entities where docs have no group; then the pipeline finds what it learned, and says so."""
    nlp = spacy.blank("en")
    nlp.add_pipe("spanloom", config={"settings": {"model": "edge", "max_iter": 15}})
    examples = examples_of(nlp, gold_docs(nlp, ents))
    nlp.initialize(lambda: examples)
    scores = nlp.evaluate(examples)
    assert (scores["spans_sc_p"], scores["spans_sc_r"], scores["spans_sc_f"]) == (1.0, 1.0, 1.0)
    assert set(scores["spans_sc_per_type"]) == ({"N"} if ents else {"N", "NP"})
    assert nlp.pipe_labels["spanloom"] == sorted({"N"} if ents else {"N", "NP"})
    assert nlp.get_pipe("spanloom").is_trainable
    doc = nlp("the site grows")
    assert len(doc.spans["sc"]) == (1 if ents else 2)


def test_what_it_learns_is_what_a_recogniser_learns() -> None:
    """The same data and settings give the same bytes."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spanloom", config={"settings": SETTINGS})
    nlp.initialize(lambda: examples_of(nlp, gold_docs(nlp, True)))
    from spanloom import Sentence
    from spanloom.learning import Auto

    same = [Sentence(words, [Mention("N", ((1, 2),))]) for words in WORDS]
    assert pipe.to_bytes() == Recognizer("chain", trainer=Auto(max_iter=15)).fit(same).to_bytes()


def test_updates_add_examples_that_are_new() -> None:
    """A loop of one's own that begins with a sample; the model is trained anew only when something is new."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spanloom", config={"settings": SETTINGS})
    examples = examples_of(nlp, gold_docs(nlp, True))
    extra = Doc(nlp.vocab, words=["they", "saw", "Rome"])
    set_mentions(extra, [Mention("LOC", ((2, 3),))])
    nlp.initialize(lambda: examples[:4])
    first = pipe.recognizer
    losses: dict[str, float] = {}
    nlp.update(examples[:4], losses=losses)
    assert pipe.recognizer is first
    assert losses["spanloom"] > 0
    random.Random(1).shuffle(examples)
    for example in [*examples, Example(nlp.make_doc(extra.text), extra)]:
        nlp.update([example], losses=losses)
    assert pipe.recognizer is not first
    assert pipe.labels == ("LOC", "N")
    assert nlp.evaluate(examples)["spans_sc_f"] == 1.0


def test_mentions_within_tokens_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    """spaCy's tokenizer does not split IL-2; what begins there cannot be learned in its tokens."""
    nlp = spacy.blank("en")
    nlp.add_pipe("spanloom", config={"settings": SETTINGS})
    doc = Doc(nlp.vocab, words=["IL", "-", "2", "gene"], spaces=[False, False, True, False])
    set_mentions(doc, [Mention("P", ((0, 1),)), Mention("P", ((0, 3),)), Mention("D", ((0, 1), (3, 4)))], ents="none")
    logging.getLogger("spacy").propagate = True
    with caplog.at_level(logging.WARNING, logger="spacy"):
        nlp.initialize(lambda: [Example(nlp.make_doc("IL-2 gene"), doc)])
    assert "2 of 3 gold mentions begin or end within a token" in caplog.text
    assert get_mentions(nlp(nlp.make_doc("IL-2 gene"))) == [Mention("P", ((0, 1),))]


def test_discontinuous_mentions_are_learned_and_scored() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spanloom", config={"settings": {"model": "multilabel", "max_iter": 10}, "scores": False})
    docs = []
    for a, b in (("alpha", "beta"), ("gamma", "delta"), ("beta", "alpha")):
        doc = Doc(nlp.vocab, words=[a, "and", b, "globin"])
        set_mentions(doc, [Mention("P", ((0, 1), (3, 4))), Mention("P", ((2, 4),))])
        docs.append(doc)
    examples = examples_of(nlp, docs)
    nlp.initialize(lambda: examples)
    assert nlp.evaluate(examples)["spans_sc_f"] == 1.0
    wrong = Doc(nlp.vocab, words=["alpha", "and", "beta", "globin"])
    set_mentions(wrong, [Mention("P", ((0, 1), (2, 3))), Mention("P", ((2, 4),))])
    scores = MentionScorer()([Example(wrong, docs[0])])
    assert (scores["spans_sc_p"], scores["spans_sc_r"]) == (0.5, 0.5)


def test_scores_of_contiguous_mentions_are_those_of_spacy() -> None:
    """Against ``Scorer.score_spans``, with other tokens in gold and prediction."""
    nlp = spacy.blank("en")
    rng = random.Random(3)
    examples = []
    for _ in range(30):
        words = [rng.choice(["a", "b", "IL-2", "c."]) for _ in range(rng.randint(2, 8))]
        gold, found = nlp.make_doc(" ".join(words)), nlp.make_doc(" ".join(words))
        for doc in (gold, found):
            spans = {tuple(sorted(rng.sample(range(len(doc) + 1), 2))) for _ in range(rng.randint(0, 4))}
            set_mentions(doc, [Mention(rng.choice("XY"), (span,)) for span in sorted(spans)], ents="none")
        examples.append(Example(found, gold))
    theirs = Scorer.score_spans(
        examples,
        attr="spans_sc",
        getter=lambda doc, key: doc.spans.get("sc", []),
        has_annotation=lambda doc: "sc" in doc.spans,
        allow_overlap=True,
        labeled=True,
    )
    ours = MentionScorer()(examples)
    for name in ("spans_sc_p", "spans_sc_r", "spans_sc_f"):
        assert ours[name] == pytest.approx(theirs[name])
    assert ours["spans_sc_per_type"] == theirs["spans_sc_per_type"]
    assert MentionScorer()([])["spans_sc_f"] is None


def test_without_examples_it_says_so() -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spanloom")
    with pytest.raises(ParameterError, match="initialised without examples"):
        pipe.initialize(list, nlp=nlp)


@pytest.fixture
def made_up() -> None:
    """A tagger that knows verbs, and no training."""

    @spacy.Language.component("verb_tagger", assigns=["token.tag"])
    def verb_tagger(doc: Any) -> Any:
        for token in doc:
            token.tag_ = "VB" if token.text.endswith("s") else "XX"
        return doc


CONFIG = """
[paths]
train = {train}
dev = {dev}
[nlp]
lang = "en"
pipeline = {pipeline}
[components]
[components.verb_tagger]
factory = "verb_tagger"
[components.spanloom]
factory = "spanloom"
[components.spanloom.settings]
model = "{model}"
max_iter = 15
{features}
[corpora]
[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${{paths.train}}
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${{paths.dev}}
[training]
max_steps = 2
eval_frequency = 1
annotating_components = {annotating}
"""


def trained_by_cli(folder: Path, docs: list[Any], **given: Any) -> Any:
    DocBin(docs=docs, store_user_data=True).to_disk(folder / "train.spacy")
    paths = dict.fromkeys(("train", "dev"), f'"{folder / "train.spacy"}"')
    config = CONFIG.format(**paths, **given)
    if not given["annotating"].count("verb"):
        config = config.replace('[components.verb_tagger]\nfactory = "verb_tagger"\n', "")
    (folder / "base.cfg").write_text(config)
    from spacy.cli.init_config import fill_config

    fill_config(folder / "config.cfg", folder / "base.cfg")
    spacy_train(folder / "config.cfg", folder / "out")
    return spacy.load(folder / "out" / "model-best")


@pytest.mark.parametrize("ents", [True, False])
def test_spacy_train_works(tmp_path: Path, ents: bool) -> None:
    """``spacy init fill-config`` and ``spacy train config.cfg --output out``, with entities or spans."""
    nlp = spacy.blank("en")
    given = {"pipeline": '["spanloom"]', "annotating": "[]", "model": "edge", "features": ""}
    best = trained_by_cli(tmp_path, gold_docs(nlp, ents), **given)
    assert best.meta["performance"]["spans_sc_f"] == 1.0
    found = get_mentions(best("the gene grows"))
    assert sorted(found) == sorted([Mention("N", ((1, 2),)), *([] if ents else [Mention("NP", ((0, 2),))])])


@pytest.mark.usefixtures("made_up")
def test_spacy_train_sees_the_tags_of_annotating_components(tmp_path: Path) -> None:
    """Features read nothing but tags, which the tagger makes in training and later."""
    nlp = spacy.blank("en")
    docs = []
    for words in WORDS:
        doc = Doc(nlp.vocab, words=words)
        set_mentions(doc, [Mention("V", ((2, 3),))])
        docs.append(doc)
    given = {
        "pipeline": '["verb_tagger", "spanloom"]',
        "annotating": '["verb_tagger"]',
        "model": "chain",
        "features": 'features = ["pos"]',
    }
    best = trained_by_cli(tmp_path, docs, **given)
    done = best("quickly everything sinks")
    assert [s.text for s in done.spans["sc"]] == ["sinks"]


def test_our_docbins_train_it(tmp_path: Path) -> None:
    """A corpus of any of our formats becomes a DocBin, which spaCy trains with; discontinuous mentions too."""
    write(list(read("sample:train"))[:30], tmp_path / "a.spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("spanloom", config={"settings": {"model": "multilabel", "max_iter": 2}, "scores": False})
    gold = list(DocBin().from_disk(tmp_path / "a.spacy").get_docs(nlp.vocab))
    examples = [Example(Doc(nlp.vocab, [t.text for t in d], [bool(t.whitespace_) for t in d]), d) for d in gold]
    nlp.initialize(lambda: examples)
    known = [m for d in nlp.get_pipe("spanloom")._known.values() for m in d.mentions]
    assert len(known) == sum(len(get_mentions(d)) for d in gold)
    assert any(m.discontinuous for m in known)
