"""spaCy pipelines as parsers: a blank one with a parser that is trained here; nothing is fetched."""

from __future__ import annotations

import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.annotators import Spacy, attachment, parser, with_trees
from spanloom.base.errors import ParameterError

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # spaCy and its libraries warn at import and in training

HEADS = ["2", "3", "0"]
WORDS = [[det, noun, verb] for det in ("the", "a") for noun in ("gene", "cell") for verb in ("works", "grows")]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """Learns that a determiner depends on its noun and a noun on its verb."""
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    gold = {"heads": [1, 2, 2], "deps": ["det", "nsubj", "ROOT"]}
    examples = [Example.from_dict(Doc(nlp.vocab, words=words), gold) for words in WORDS]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    folder = tmp_path_factory.mktemp("spacy") / "toy"
    nlp.to_disk(folder)
    return folder


def test_its_trees_are_heads_from_one_with_a_root_of_zero(pipeline):
    """Tokens stay as they are, also those that spaCy's own tokenizer would split."""
    made = Spacy(str(pipeline))
    gold = [Sentence(words, columns={"head": HEADS, "deprel": ["det", "nsubj", "ROOT"]}) for words in WORDS]
    parsed = with_trees([Sentence(words) for words in WORDS], made)
    score = attachment(gold, parsed)
    assert (score.uas, score.las) == (1.0, 1.0)
    (odd,) = with_trees([Sentence(["don't", "U.S.-based", "works"])], made)
    assert odd.tokens == ["don't", "U.S.-based", "works"]
    assert len(odd.columns["head"]) == 3
    assert made.identity == Spacy(str(pipeline)).identity


def test_a_recogniser_parses_with_it(pipeline):
    """In training and in finding."""
    train = [Sentence(words, [Mention("X", ((0, 2),))]) for words in WORDS]
    ner = Recognizer(
        "dgm", features=["first(word)", "last(word)", "size"], annotators=[parser(f"spacy:{pipeline}")]
    ).fit(train)
    assert ner.predict(Sentence(WORDS[0])).mentions == [Mention("X", ((0, 2),))]


def test_one_reference_makes_tags_and_trees(pipeline):
    """As an annotator, for a model that reads trees."""
    train = [Sentence(words, [Mention("X", ((0, 2),))]) for words in WORDS]
    features = ["first(word)", "last(word)", "size"]
    ner = Recognizer("dgm", features=features, annotators=[f"spacy:{pipeline}"]).fit(train)
    assert ner.predict(Sentence(WORDS[0])).mentions == [Mention("X", ((0, 2),))]


def test_what_is_wrong_is_said(tmp_path):
    """A pipeline that is not there, and one that cannot parse."""
    with pytest.raises(ParameterError, match="cannot be loaded"):
        parser(f"spacy:{tmp_path / 'absent'}")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ParameterError, match="the annotator 'spacy' makes no trees"):
        parser(f"spacy:{tmp_path / 'blank'}")
