"""Columns of whole documents, by hand."""

from __future__ import annotations

import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.annotators.document_columns import COLUMNS, DocumentColumn
from spanloom.annotators.noun_phrases import ENDING
from spanloom.annotators.verb_lemmas import verb_lemma
from spanloom.base.errors import CorpusError
from spanloom.learning import LBFGS


def tagged(text, **columns):
    """`the/DT gene/NN` as a sentence with its parts of speech."""
    words, tags = zip(*(piece.rsplit("/", 1) for piece in text.split()), strict=True)
    return Sentence(list(words), columns={"pos": list(tags), **columns})


TITLE = tagged("Role/NN of/IN heat/NN shock/NN factor/NN (/( HSF/NN )/) in/IN the/DT active/JJ cell/NN")
BODY = tagged("Cells/NNS need/VBP HSF/NN ,/, and/CC HSF/NN was/VBD bound/VBN by/IN p53/NN")


def column(name, *sentences):
    (document,) = DocumentColumn(name).annotate([Document(list(sentences))])
    return [s.columns[name] for s in document.sentences]


def test_noun_phrases_end_in_a_noun_and_begin_anew_at_a_determiner():
    def phrases(sentence):
        return ENDING.phrases(sentence.tokens, sentence.columns["pos"])

    assert phrases(TITLE) == [(0, 1), (2, 5), (6, 7), (9, 12)]
    assert phrases(tagged("gene/NN the/DT cell/NN is/VBZ active/JJ")) == [(0, 1), (1, 3)]


def test_headword_is_the_last_of_the_phrase():
    assert column("headword", TITLE)[0] == ["role", "-", *["factor"] * 3, "-", "hsf", "-", "-", *["cell"] * 3]


def test_title_words_are_marked_in_the_whole_document():
    """`in` and `the` are stop words or outside of noun phrases; `Cells` is another word than `cell`."""
    title, body = column("title", TITLE, BODY)
    assert title == ["yes", "-", "yes", "yes", "yes", "-", "yes", "-", "-", "-", "yes", "yes"]
    assert body == ["-", "-", "yes", "-", "-", "yes", "-", "-", "-", "-"]


def test_abbreviations_are_known_where_they_are_not_defined():
    title, body = column("abbreviation", TITLE, BODY)
    assert title == ["-", "-", "long", "long", "long", "-", "short", *["-"] * 5]
    assert body == ["-", "-", "short", "-", "-", "short", "-", "-", "-", "-"]
    assert column("abbreviation", BODY) == [["-"] * 10]


def test_wordcounter_marks_the_ten_most_frequent():
    """Eleven words: a once, the others twice."""
    words = [f"q{chr(97 + i)}" for i in range(11)]
    text = tagged(" ".join(f"{w}/NN" for w in [*words, *words[1:], "the"] + ["the"] * 5))
    (marks,) = column("wordcounter", text)
    assert marks[:11] == ["-", *["yes"] * 10]
    assert marks[-1] == "-"


def test_verb_is_the_nearest_one_and_only_on_noun_phrases():
    assert column("verb", BODY)[0] == ["need", "-", "need", "-", "-", "was", "-", "-", "-", "was"]
    lemmas = ["cell", "need", "HSF", ",", "and", "HSF", "be", "bind", "by", "p53"]
    with_lemmas = tagged(" ".join(f"{w}/{t}" for w, t in zip(BODY.tokens, BODY.columns["pos"], strict=True)))
    with_lemmas.columns["lemma"] = lemmas
    assert column("verb", with_lemmas)[0][-1] == "be"
    assert column("verb-lemma", with_lemmas)[0] == ["need", "-", "need", "-", "-", "be", "-", "-", "-", "be"]


def test_verb_lemma_goes_by_rules_where_there_is_no_column():
    assert column("verb-lemma", BODY)[0] == ["need", "-", "need", "-", "-", "be", "-", "-", "-", "be"]


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        *((word, "VBZ", lemma) for word, lemma in (("binds", "bind"), ("carries", "carry"), ("expresses", "express"))),
        *((word, "VBZ", lemma) for word, lemma in (("induces", "induce"), ("has", "have"), ("does", "do"))),
        *((word, "VBN", lemma) for word, lemma in (("activated", "activate"), ("treated", "treat"), ("bound", "bind"))),
        *((word, "VBD", lemma) for word, lemma in (("occurred", "occur"), ("added", "add"), ("studied", "study"))),
        *((word, "VBG", lemma) for word, lemma in (("making", "make"), ("using", "use"), ("binding", "bind"))),
        *((word, "VBG", lemma) for word, lemma in (("containing", "contain"), ("determining", "determine"))),
        ("Needs", "VBZ", "need"),
        ("need", "VBP", "need"),
        ("put", "VBN", "put"),
        ("be", "VB", "be"),
    ],
)
def test_lemmas_of_verbs_by_hand(word, tag, lemma):
    assert verb_lemma(word, tag) == lemma


def test_short_forms_of_lexicon_entries_are_terms_in_the_whole_document():
    """The long form must be one whole entry: a part of it, or more than it, is not."""
    lexicon = ["O", "O", "B", "I", "E", *["O"] * 7]
    title = TITLE.with_columns({"lexicon-gene": lexicon, "lexicon-family": ["O", "O", "O", "B", "E", *["O"] * 7]})
    body = BODY.with_columns({"lexicon-gene": ["O"] * 10})
    assert column("abbreviation-term", title, body) == [
        ["-"] * 6 + ["gene"] + ["-"] * 5,
        ["-", "-", "gene", "-", "-", "gene", "-", "-", "-", "-"],
    ]
    with pytest.raises(CorpusError, match="needs a column lexicon-NAME"):
        column("abbreviation-term", TITLE, BODY)


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("IL-2", "letters-number"),
        ("p53", "letters-number"),
        ("TNF", "capitals"),
        ("NF-kappaB", "-"),
        ("TNF-alpha", "capitals-greek"),
        ("mRNA", "mixed"),
        ("insulin", "protein-ending"),
        ("the", "-"),
    ],
)
def test_character_names_the_patterns_that_match(word, kinds):
    assert column("character", Sentence([word])) == [[kinds]]


def test_columns_that_are_there_stay():
    given = tagged("p53/NN", font=["italic"], title=["mine"])
    assert column("font", given) == [["italic"]]
    assert column("title", given) == [["mine"]]
    assert column("font", BODY) == [["-"] * 10]


def test_a_title_that_has_the_column_needs_no_parts_of_speech():
    """What it names is not known then; the others are not marked."""
    assert column("title", Sentence(["x"], columns={"title": ["mine"]}), tagged("x/NN")) == [["mine"], ["-"]]


def test_only_what_goes_by_phrases_needs_parts_of_speech():
    """By the table of columns in the module."""
    needs = {name for name in COLUMNS if DocumentColumn(name).requires == ("pos",)}
    assert needs == {"headword", "title", "verb", "verb-lemma"}


def test_missing_parts_of_speech_are_named():
    with pytest.raises(CorpusError, match="title needs the column 'pos', which sentence 0 lacks; it has: word"):
        column("title", Sentence(["a"]))


def test_documents_are_seen_whole_in_training_and_in_tagging(tmp_path):
    """Only the title tells whether `x` is a mention; the recogniser and its file look at it."""
    body = "we/PRP saw/VBD x/NN"

    def document(number, named):
        title = tagged("x/NN found/VBD" if named else "y/NN found/VBD")
        last = tagged(body).with_mentions([Mention("gene", ((2, 3),))] if named else [])
        return Document([title, last], str(number))

    docs = [document(i, i % 2 == 0) for i in range(6)]
    ner = Recognizer(features=["word & title"], trainer=LBFGS(l2=0.01, max_iter=50)).fit(docs)
    ner.save(tmp_path / "m.loom")
    for model in (ner, Recognizer.load(tmp_path / "m.loom")):
        found = model.predict(docs[:2])
        assert [len(d.mentions) for d in found] == [1, 0]
        assert "title" not in found[0].sentences[0].columns
        layered = Recognizer("layered", features=["word & title"], trainer=LBFGS(l2=0.01, max_iter=50)).fit(docs)
        assert [len(d.mentions) for d in layered.predict(docs[:2])] == [1, 0]
