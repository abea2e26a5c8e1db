"""The tokenizer that reproduces the tokens of a corpus."""

from __future__ import annotations

import pytest

from spanloom import Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.corpus import TokenRules
from spanloom.corpus.retokenizing import choose_rules, compare_rules
from spanloom.corpus.spacing import Habits, is_spaced, rejoin
from spanloom.learning import LBFGS

DANISH = ["SID-huset er solgt.", "EF-lande betaler 9,5 mill. kr. hver.", "Det er 3. gang i 80'erne, f.eks. her.", "Ja."]


def cut(texts: list[str], rules: TokenRules) -> list[Sentence]:
    made = []
    for text in texts:
        spans = rules(text)
        made.append(Sentence([text[s:e] for s, e in spans], text=text, spans=spans))
    return made


@pytest.mark.parametrize(
    "name", ["default", "space", "punctuation", "default,hyphens,commas", "default,apostrophes,periods,ordinals"]
)
def test_what_cut_the_texts_is_found(name):
    """All tokens come out the same; switches that change nothing here are not taken."""
    rules = TokenRules.named(name)
    made = choose_rules(cut(DANISH * 5, rules))
    assert made.agreement == 1.0
    assert made.spacing == ("guessed" if name == "space" else "text")  # words with spaces between them are their text
    assert all(made.rules(text) == rules(text) for text in DANISH)


def test_abbreviations_are_learned_and_tested_on_other_sentences():
    """Six sentences have kr., three in each half; one abbreviation that occurs once is learned, but does not count."""
    rules = TokenRules("default", (), ("kr", "mill"))
    made = choose_rules(cut(["Det er 9 kr. i dag.", "Nej.", "Ja."] * 6 + ["Det er 9 mill. i dag."], rules))
    assert made.rules.abbreviations == ("kr", "mill")
    # 6 * (7 + 2 + 2) tokens and 7; of the last sentence, "mill." is cut when learned from the other half.
    assert made.agreement == pytest.approx(1 - 1 / 73)


def test_spacing_is_guessed_where_there_is_none():
    tokens = [
        "He",
        "said",
        "``",
        "I",
        "do",
        "n't",
        "(",
        "yet",
        ")",
        "know",
        "the",
        "T",
        "-",
        "cell",
        "''",
        ",",
        "5",
        "%",
        ".",
    ]
    assert rejoin(tokens, Habits.of([tokens]))[0] == "He said ``I don't (yet) know the T-cell'', 5%."
    kept = ["a", "T-cell", "-", "really", "."]
    text, spans = rejoin(kept, Habits.of([kept]))
    assert text == "a T-cell - really."
    assert [text[s:e] for s, e in spans] == kept
    french = ["l'", "homme", "d'", "ici"]
    assert rejoin(french, Habits.of([french]))[0] == "l'homme d'ici"
    assert not is_spaced([Sentence(kept)])


def test_tokens_alone_say_that_hyphens_are_kept():
    """The issue's case: a file of columns, where SID-huset is one token."""
    made = choose_rules([Sentence(["SID-huset", "er", "solgt", "."]), Sentence(["EF-lande", "betaler", "."])])
    assert (made.rules.name, made.spacing, made.agreement) == ("default,hyphens", "guessed", 1.0)


def test_words_that_are_not_in_the_text_do_not_agree():
    """``du`` for ``de le``: both stand where the contraction does, and neither is in it."""
    shared = Sentence(["de", "le", "pain"], text="du pain", spans=[(0, 2), (0, 2), (3, 7)])
    assert compare_rules([shared], TokenRules()).agreement == pytest.approx(1 / 3)


def toy(hyphen: str) -> list[Sentence]:
    return [
        Sentence(["the", f"{name}{hyphen}gene", "binds"], [Mention("DNA", ((1, 2),))])
        for name in ("p53", "lacZ", "myc")
    ]


def test_a_model_cuts_text_as_its_training_data(tmp_path):
    """Stored in the file; another one can be asked for, in training and afterwards."""
    trainer = LBFGS(max_iter=5)
    ner = Recognizer("chain", trainer=trainer).fit(toy("-"))
    assert ner.training_["tokenizer"] == {"name": "default,hyphens", "agreement": 1.0, "spacing": "guessed"}
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.token_rules_ == TokenRules("default", ("hyphens",))
    assert again.predict("a p53-gene.").tokens == ["a", "p53-gene", "."]
    assert Recognizer.load(tmp_path / "m.loom", tokenizer="space").predict("a p53-gene.").tokens == ["a", "p53-gene."]
    given = Recognizer("chain", trainer=trainer, tokenizer="default").fit(toy("-"))
    assert given.predict("a p53-gene.").tokens == ["a", "p53", "-", "gene", "."]
    assert given.training_["tokenizer"]["agreement"] == pytest.approx(2 / 3, abs=1e-5)
    assert given.training_["tokenizer"]["examples"] == ["p53-gene", "lacZ-gene", "myc-gene"]
    with pytest.raises(ParameterError, match="no tokenizer 'spaces'"):
        Recognizer(tokenizer="spaces").fit(toy("-"))


def test_data_that_we_cut_are_cut_alike():
    made = choose_rules([s for doc in read("sample:train") for s in doc.sentences])
    assert (made.rules, made.agreement, made.spacing) == (TokenRules(), 1.0, "text")
