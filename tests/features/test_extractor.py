"""Sentences to rows: by hand, against the plain-Python oracle, and at the edges."""

from __future__ import annotations

import math
import threading

import feature_oracle as oracle
import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Sentence
from spanloom.base.errors import CorpusError, NotFittedError, ParameterError
from spanloom.features import FeatureExtractor, FeatureSet

RESOURCES = {"brown": {"a": ["0010", "01"], "gene": ["110"]}, "names": {"A": ["PER", "LOC"]}}
TEMPLATES = [
    "bias",
    "word[-2..2]",
    "lower(word)[0]",
    "collapsed(word)[-1]",
    "pos[1]",
    "prefix(word, 1..2)",
    "ngrams(word, 1..2)[-1]",
    "flags(word, both, all_caps, has_digit)[1]",
    "cluster(word, brown, 1, 3)[-1..1]",
    "lookup(word, names)",
    "word[-1] & word[0]",
    "pos[-1] & word[0] & pos[1] >= 2",
    "suffix(word, 1..2)[-1] & prefix(word, 1..2)[0]",
    "cluster(word, brown, 1, 3)[-1] & lookup(word, names)[0]",
    "word[-1] & word[0] & word[1] & pos[0]",
    "bag(word, -2..2)",
    "bag(prefix(word, 1..2), -1..0)",
    "bag(pos, 0..1) >= 2",
    "own",
    "own[-1]",
]


def named_rows(extractor: FeatureExtractor, rows) -> list[list[tuple[str, float]]]:  # type: ignore[no-untyped-def]
    names = extractor.names()
    values = np.ones(rows.entries) if rows.values is None else rows.values
    return [
        [(names[rows.ids[k]], float(values[k])) for k in range(rows.row_ptr[r], rows.row_ptr[r + 1])]
        for r in range(rows.rows)
    ]


words = st.sampled_from(["a", "A", "gene", "b1", "", "α", "𝔸", "<s>", "ab", "x y"])
own = st.one_of(
    st.lists(st.sampled_from(["f", "g", "k:v"]), max_size=3),
    st.dictionaries(
        st.sampled_from(["f", "g", "k"]),
        st.one_of(st.booleans(), st.sampled_from(["v", "w"]), st.sampled_from([0.5, -2, 1, 0]), st.just(["x", "v"])),
        max_size=3,
    ),
)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    tokens = draw(st.lists(words, max_size=6))
    pos = draw(st.lists(st.sampled_from("NVJ"), min_size=len(tokens), max_size=len(tokens)))
    features = draw(st.one_of(st.none(), st.lists(own, min_size=len(tokens), max_size=len(tokens))))
    return Sentence(tokens, columns={"pos": pos}, features=features)


@given(
    train=st.lists(sentences(), max_size=5),
    test=st.lists(sentences(), max_size=3),
    templates=st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=8),
    min_count=st.integers(1, 3),
    sites=st.sampled_from(["tokens", "gaps"]),
)
@settings(max_examples=300, deadline=None)
def test_rows_equal_the_oracle(train, test, templates, min_count, sites) -> None:  # type: ignore[no-untyped-def]
    """Names by id, training rows and rows of new sentences are those of the definition."""
    features = FeatureSet(templates, min_count=min_count, resources=RESOURCES)
    if features.uses_own():
        # An all-None corpus is an error of its own.
        for some in (train, test):
            some.append(Sentence(["z"], columns={"pos": ["N"]}, features=[["f"]]))
    extractor = FeatureExtractor(features, sites)
    rows = extractor.fit(train, threads=2)
    names, expected = oracle.fit(features, train, sites)
    assert extractor.names() == names
    assert [extractor.name(i) for i in range(extractor.size)] == names
    assert list(map(sorted, named_rows(extractor, rows))) == list(map(sorted, expected))
    known = set(names)
    fresh = [[(name, value) for name, value, _ in row if name in known] for row in oracle.rows(features, test, sites)]
    assert list(map(sorted, named_rows(extractor, extractor.transform(test)))) == list(map(sorted, fresh))
    assert rows.group_ptr.tolist() == np.cumsum([0, *(len(s) + (sites == "gaps") for s in train)]).tolist()
    assert rows.width == len(names)


@pytest.mark.parametrize("sites", ["tokens", "gaps"])
def test_rows_of_a_long_sentence_equal_the_oracle(sites: str) -> None:
    """Lookups of many rows wait together: none is lost or moved where one portion of rows ends and the next begins."""
    random = np.random.default_rng(1)
    words = ["a", "gene", "IL-2", "Ünï", "x" * 9, "the", "of"]
    train, test = ([Sentence([words[i] for i in random.integers(0, 7, size)])] for size in (200, 300))
    templates = ["word[-1] & word[0] & lower(word)[1]", "flags(word) & word[1]", "bag(word, -2..2)", "word[-1..1]"]
    features = FeatureSet(templates)
    extractor = FeatureExtractor(features, sites)
    extractor.fit(train)
    known = set(extractor.names())
    found = [sorted(row) for row in named_rows(extractor, extractor.transform(test))]
    rows = oracle.rows(features, test, sites)
    assert found == [sorted((name, value) for name, value, _ in row if name in known) for row in rows]
    assert len({len(row) for row in found}) > 1


def test_a_sentence_by_hand() -> None:
    """Two tokens, written out in full: frequency first, then row, then template."""
    extractor = FeatureExtractor(FeatureSet(["word[-1]", "suffix(word, 1..2)", "word[0] & word[1]"]))
    rows = extractor.fit([Sentence(["see", "bee"])])
    assert extractor.names() == [
        "suffix(word, 1..2)[0]=e",
        "suffix(word, 1..2)[0]=ee",
        "word[-1]=<s>",
        "word[0]=see & word[1]=bee",
        "word[-1]=see",
        "word[0]=bee & word[1]=</s>",
    ]
    assert [sorted(rows.ids[:4]), sorted(rows.ids[4:])] == [[0, 1, 2, 3], [0, 1, 4, 5]]
    assert rows.values is None


def test_gaps_by_hand() -> None:
    """Row i is the gap before token i: offset 0 reads the token after it, -1 the one before."""
    extractor = FeatureExtractor(FeatureSet(["word[-1] & word[0]"]), "gaps")
    rows = extractor.fit([Sentence(["a", "b"]), Sentence([])])
    assert extractor.names() == [
        "word[-1]=<s> & word[0]=a",
        "word[-1]=a & word[0]=b",
        "word[-1]=b & word[0]=</s>",
        "word[-1]=<s> & word[0]=</s>",
    ]
    assert rows.ids.tolist() == [0, 1, 2, 3]
    assert rows.group_ptr.tolist() == [0, 3, 4]


def test_bags_ignore_order_and_count_copies() -> None:
    """A bag is a multiset: a b b equals b a b, but not a a b; outside the sentence there is nothing to put in."""
    extractor = FeatureExtractor(FeatureSet(["bag(word, -1..1)"]))
    extractor.fit([Sentence(["b", "a", "b"]), Sentence(["a", "b", "b"]), Sentence(["a", "a", "b"])])
    assert extractor.names() == [
        "bag(word, -1..1)={a b}",
        "bag(word, -1..1)={a b b}",
        "bag(word, -1..1)={b b}",
        "bag(word, -1..1)={a a}",
        "bag(word, -1..1)={a a b}",
    ]


def test_cut_offs() -> None:
    """min_count holds for all templates but those with a count of their own."""
    train = [Sentence(["a", "a", "b"])]
    assert _names(["word", "length(word)"], train, min_count=2) == ["length(word)[0]=1", "word[0]=a"]
    assert _names(["word >= 1", "length(word) >= 4"], train, min_count=2) == ["word[0]=a", "word[0]=b"]


def test_unknown_features_are_skipped() -> None:
    """A frozen table learns nothing: new words leave only what is known, and a later call is not affected."""
    extractor = FeatureExtractor(FeatureSet(["word", "word[-1] & word[0]", "bag(word, 0..1)", "bias"]))
    extractor.fit([Sentence(["a", "b"])])
    size = extractor.size
    once = named_rows(extractor, extractor.transform([Sentence(["new", "b"])]))
    assert [sorted(row) for row in once] == [
        [("bias", 1.0)],
        [("bag(word, 0..1)={b}", 1.0), ("bias", 1.0), ("word[0]=b", 1.0)],
    ]
    assert named_rows(extractor, extractor.transform([Sentence(["new", "b"])])) == once
    assert extractor.size == size


def test_threads_do_not_change_a_byte() -> None:
    """One thread or several: the same ids, rows and state."""
    random = np.random.default_rng(5)
    vocabulary = ["".join(map(chr, random.integers(97, 104, k))) for k in random.integers(1, 6, 400)]
    train = [Sentence([vocabulary[i] for i in random.zipf(1.3, n) % 400]) for n in random.integers(0, 60, 500)]
    results = []
    for threads in (1, 2, 5):
        extractor = FeatureExtractor(FeatureSet.named("default"))
        rows = extractor.fit(train, threads)
        again = extractor.transform(train[::-1], threads)
        arrays, _ = extractor.state()
        results.append([a.tobytes() for a in (rows.ids, rows.row_ptr, again.ids, again.row_ptr, *arrays.values())])
    assert results[0] == results[1] == results[2]


def test_several_callers_at_once() -> None:
    """Rows asked for from several Python threads are the same as from one."""
    extractor = FeatureExtractor(FeatureSet.named("default"))
    extractor.fit([Sentence(["gene", "of", "Paris"])] * 2)
    batches = [[Sentence([f"w{i}", "gene", f"v{k}"])] for i in range(4) for k in range(50)]
    expected = [extractor.transform(batch, 1).ids.tolist() for batch in batches]
    fresh = extractor.keep(range(extractor.size))
    found: list[list[list[int]]] = [[], [], []]

    def work(slot: int) -> None:
        found[slot] = [fresh.transform(batch, 1).ids.tolist() for batch in batches]

    workers = [threading.Thread(target=work, args=(slot,)) for slot in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 3


@pytest.mark.parametrize("sites", ["tokens", "gaps"])
@pytest.mark.parametrize(
    "tokens",
    [[], ["one"], [""], ["a"] * 10_000, ["x" * 100_000], ["\U0001f9ec\U0010ffff", "\x00", "\n"]],
    ids=["no token", "one token", "empty token", "10,000 tokens", "100,000 characters", "odd characters"],
)
def test_odd_sentences(tokens: list[str], sites: str) -> None:
    """Sentences of any size and tokens of any text give as many rows as they have sites."""
    extractor = FeatureExtractor(FeatureSet.named("default"), sites)  # type: ignore[arg-type]
    sentence = Sentence(tokens, text=" ".join(tokens), spans=[(0, 0)] * len(tokens))
    rows = extractor.fit([sentence])
    assert rows.rows == len(tokens) + (sites == "gaps")
    again = extractor.transform([sentence])
    assert again.ids.tobytes() == rows.ids.tobytes()
    assert again.row_ptr.tobytes() == rows.row_ptr.tobytes()


def test_no_sentences() -> None:
    """An empty corpus gives an empty table, which still transforms."""
    extractor = FeatureExtractor(FeatureSet.named("default"))
    assert extractor.fit([]).rows == 0
    assert extractor.size == 0
    assert extractor.transform([Sentence(["a"])]).row_ptr.tolist() == [0, 0]


@pytest.mark.parametrize(
    "features",
    [
        ["a", "b", "a"],
        {"a": 2.0, "b": "v", "c": True, "d": False, "e": 3},
        {"a": {"x": 0.5, "y": "z"}, "b": ["p", "q"]},
        {"f\u00e9": -1.5},
    ],
)
def test_own_features_mean_what_they_mean_to_crfsuite(features) -> None:  # type: ignore[no-untyped-def]
    """Lists and dicts are read as python-crfsuite reads them (which adds up repeated names)."""
    expected = pycrfsuite.ItemSequence([features]).items()[0]
    extractor = FeatureExtractor(FeatureSet.named("own"))
    rows = extractor.fit([Sentence(["w"], features=[features])])
    found: dict[str, float] = {}
    for name, value in named_rows(extractor, rows)[0]:
        found[name.removeprefix("own=")] = value
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([{"f": math.nan}], "sentence 1, token 0: own feature 'f' has the value nan; it must be a finite number"),
        ([{"f": math.inf}], "own feature 'f' has the value inf"),
        ([{"f": 1e300}], "own feature 'f' has the value 1e+300"),
        ([{"f": None}], "own feature 'f' has the value None (NoneType); it must be a number, a bool or a str"),
        ([{"f": {"g": math.nan}}], "own feature 'g' has the value nan"),
        ([{3: 1.0}], "an own feature is named 3 (int)"),
        ([[3]], "an own feature is named 3 (int)"),
        (["ab"], "own features are 'ab' (str); they must be a list of strings or a dict"),
        ([["\ud800"]], "'\\ud800' is not valid Unicode text"),
    ],
)
def test_bad_own_features_name_the_place(features, message: str) -> None:  # type: ignore[no-untyped-def]
    """NaN, infinity and things that are no features are refused with sentence, token and feature."""
    extractor = FeatureExtractor(FeatureSet.named("own"))
    with pytest.raises(CorpusError) as error:
        extractor.fit([Sentence([]), Sentence(["w"], features=features)])
    assert message in str(error.value)


def test_deep_own_features_are_refused() -> None:
    """Nesting has an end, even if a dict contains itself."""
    loop: dict[str, object] = {}
    loop["f"] = loop
    with pytest.raises(CorpusError, match="nested more than 32 deep"):
        FeatureExtractor(FeatureSet.named("own")).fit([Sentence(["w"], features=[loop])])


def test_missing_own_features_are_an_error() -> None:
    """Asking for own features where no sentence has any is a mistake worth a message."""
    with pytest.raises(CorpusError, match=r"no sentence has any; set Sentence\.features"):
        FeatureExtractor(FeatureSet.named("own")).fit([Sentence(["w"])])


def test_missing_column_names_template_and_columns() -> None:
    """A column that the data lack: which template wants it, which sentence lacks it, what there is."""
    extractor = FeatureExtractor(FeatureSet(["word", "pos[-1] & pos[0]"]))
    good = Sentence(["a"], columns={"pos": ["N"]})
    with pytest.raises(CorpusError) as error:
        extractor.fit([good, Sentence(["a"], columns={"lemma": ["a"]})])
    assert str(error.value).startswith(
        "template 'pos[-1] & pos[0]' reads the column 'pos', which sentence 1 lacks; it has: word, lemma."
    )


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(["a", "\ud800"]), "sentence 0, token 1: '\\ud800' is not valid Unicode text"),
        (Sentence(["a"], columns={"pos": [3]}), "sentence 0, token 0: column 'pos' holds 3 (int)"),  # type: ignore[list-item]
    ],
)
def test_bad_tokens_name_the_place(sentence: Sentence, message: str) -> None:
    """Lone surrogates and things that are not strings are refused with sentence and token."""
    features = FeatureSet(["word", "pos"] if sentence.columns else ["word"])
    with pytest.raises(CorpusError) as error:
        FeatureExtractor(features).fit([sentence])
    assert message in str(error.value)


def test_columns_that_changed_length_are_refused() -> None:
    """A sentence whose column was shortened after it was made is noticed."""
    sentence = Sentence(["a", "b"], columns={"pos": ["N", "V"]})
    sentence.columns["pos"].pop()
    with pytest.raises(CorpusError, match="column 'pos' of sentence 0 has 1 values"):
        FeatureExtractor(FeatureSet(["word", "pos"])).fit([sentence])


def test_use_before_fit_and_bad_settings() -> None:
    """Each mistake has its own message."""
    extractor = FeatureExtractor(FeatureSet(["word"]))
    with pytest.raises(NotFittedError, match="call fit"):
        extractor.transform([])
    with pytest.raises(ParameterError, match="sites must be one of tokens, gaps, segments, mentions, got 'words'"):
        FeatureExtractor(FeatureSet(["word"]), "words")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="threads must be"):
        extractor.fit([], threads=0)
    extractor.fit([Sentence(["a"])])
    with pytest.raises(ParameterError, match=r"no feature 1; ids are in 0\.\.0"):
        extractor.name(1)


def test_features_may_have_other_numbers_in_rows() -> None:
    sentences = [Sentence(["a", "gene", "a", "new"], features=[["f"], [], ["f", "g"], []])]
    extractor = FeatureExtractor(FeatureSet(["bias", "word[-1..0]", "word[-1] & word[0]", "own"]))
    rows = extractor.fit(sentences)
    numbers = np.random.default_rng(1).integers(0, 5, extractor.size).astype(np.uint32)
    other = extractor.renumbered(numbers)
    made = other.transform(sentences)
    assert made.ids.tolist() == numbers[rows.ids].tolist()
    assert made.row_ptr.tolist() == rows.row_ptr.tolist()
    assert made.width == numbers.max() + 1
    assert other.names() == extractor.names()
    for bad, message in ((numbers[1:], "numbers for"), (numbers + np.uint32(2**32 - 1 - numbers[0]), "4294967295")):
        with pytest.raises(ValueError, match=message):
            extractor.renumbered(bad)


def test_keep_drops_the_others() -> None:
    """What is kept has new numbers in the order given, and nothing else is found any more."""
    extractor = FeatureExtractor(FeatureSet(["word", "word[-1] & word[0]"]))
    train = [Sentence(["a", "b", "a", "b"])]
    extractor.fit(train)
    names = extractor.names()
    kept = extractor.keep([3, 0])
    assert kept.names() == [names[3], names[0]]
    expected = [
        sorted((n, v) for n, v in row if n in kept.names()) for row in named_rows(extractor, extractor.transform(train))
    ]
    assert list(map(sorted, named_rows(kept, kept.transform(train)))) == expected
    assert extractor.names() == names
    for bad, message in [([9], "no feature 9"), ([-1], "no feature -1"), ([0, 0], "twice"), ([0.5], "list of ids")]:
        with pytest.raises(ParameterError, match=message):
            extractor.keep(bad)  # type: ignore[arg-type]


def _names(templates: list[str], train: list[Sentence], min_count: int = 1) -> list[str]:
    extractor = FeatureExtractor(FeatureSet(templates, min_count=min_count))
    extractor.fit(train)
    return extractor.names()
