"""GENIA: a small article of our own in its format, and the counts of the real corpus."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, Report, Sentence, _native, read
from spanloom._native import join_tagged_terms
from spanloom.base.errors import ParameterError
from spanloom.corpus.patterns import nesting_patterns
from spanloom.formats.genia.coordination import members
from spanloom.formats.genia.markup import parse
from spanloom.formats.genia.pos import place_document
from tests.formats.random_documents import everything

TITLE = (
    '<cons lex="XY-7_gene_expression" sem="G#other_name"><cons lex="XY-7_gene" sem="G#DNA_domain_or_region">'
    "XY-7 gene</cons> expression</cons> at &lt;3 h."
)
ABSTRACT = (
    '<cons lex="(AND alpha-zin beta-zin)" sem="(AND G#protein_molecule G#protein_molecule)"><cons lex="alpha-*">'
    "alpha-</cons>"
    ' and <cons lex="beta-*">beta-</cons><cons lex="*zin">zin</cons></cons> bind '
    '<cons lex="T_cell" sem="G#cell_type">T cell</cons>s.'
)
POS = """UI/LS -/: 1/CD
TI/LS -/: XY-7/NN gene/NN expression/NN at/IN </SYM 3/CD h/NN ./.
AB/LS -/: alpha-/JJ and/CC beta-zin/NN bind/VBP T/NN cells/NNS ./.
"""


def corpus(folder: Path, title: str = TITLE, abstract: str = ABSTRACT, pos: str | None = POS) -> str:
    (folder / "GENIAcorpus3.02.xml").write_text(
        "<set>\n<article>\n<articleinfo>\n<bibliomisc>MEDLINE:1</bibliomisc>\n</articleinfo>\n<title>\n"
        f"<sentence>{title}</sentence>\n</title>\n<abstract>\n<sentence>{abstract}</sentence>\n</abstract>\n</article>\n</set>\n"
    )
    if pos is not None:
        (folder / "GENIAtrain.pos").write_text(pos)
    return f"genia:{folder}"


def one(ref: str, **options: str) -> Document:
    (doc,) = read(ref, **options)
    return doc


def surfaces(doc: Document) -> list[tuple[str, str]]:
    return sorted((m.label, doc.surface(m)) for m in doc.mentions)


def test_tokens_tags_and_text(tmp_path: Path) -> None:
    title, abstract = one(corpus(tmp_path)).sentences
    assert title.text == "XY-7 gene expression at <3 h."
    assert title.tokens == ["XY", "-", "7", "gene", "expression", "at", "<", "3", "h", "."]
    assert title.columns["pos"] == ["NN", "NN", "NN", "NN", "NN", "IN", "SYM", "CD", "NN", "."]
    assert title.meta == {"section": "title"}
    # 'T cell' ends inside the POS token 'cells', which is cut there.
    assert abstract.tokens == ["alpha", "-", "and", "beta", "-", "zin", "bind", "T", "cell", "s", "."]
    assert abstract.columns["pos"] == ["JJ", "JJ", "CC", "NN", "NN", "NN", "VBP", "NN", "NNS", "NNS", "."]


def test_pos_tokens_as_they_are(tmp_path: Path) -> None:
    title, _ = one(corpus(tmp_path), tokens="pos").sentences
    assert title.tokens == ["XY-7", "gene", "expression", "at", "<", "3", "h", "."]


def test_without_pos_files(tmp_path: Path) -> None:
    doc = one(corpus(tmp_path, pos=None))
    assert doc.sentences[0].columns == {}
    assert surfaces(doc) == [("DNA", "XY-7 gene"), ("cell_type", "T cell"), ("protein", "alpha- and beta-zin")]


def test_classes(tmp_path: Path) -> None:
    ref = corpus(tmp_path)
    assert [m.label for m in one(ref, classes="5").mentions] == ["DNA", "protein", "cell_type"]
    assert [m.label for m in one(ref, classes="22").mentions] == ["other_name", "DNA", "protein", "cell_type"]
    leaf = [m.label for m in one(ref, classes="leaf").mentions]
    assert leaf == ["other_name", "DNA_domain_or_region", "protein_molecule", "cell_type"]


def test_coordination_expanded(tmp_path: Path) -> None:
    doc = one(corpus(tmp_path), coordination="expand")
    assert ("protein", "alpha- … zin") in surfaces(doc)
    assert ("protein", "beta-zin") in surfaces(doc)


def test_coordination_with_its_continuous_members(tmp_path: Path) -> None:
    doc = one(corpus(tmp_path), coordination="continuous")
    assert ("protein", "alpha- and beta-zin") in surfaces(doc)
    assert ("protein", "beta-zin") in surfaces(doc)
    assert not any(m.discontinuous for m in doc.mentions)


def coordinated(markup: str) -> list[tuple[str, ...]]:
    text, terms = parse(markup)
    found, missing = members(text, terms[0])
    assert not missing
    return [tuple(text[s:e] for s, e in parts) for _, parts in found]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        pytest.param(
            '<cons lex="(OR red_cell_count white_cell_count)" sem="(OR G#x G#x)"><cons lex="red*">red</cons> or '
            '<cons lex="white*">white</cons> <cons lex="*cell_count">cell counts</cons></cons>',
            [("red", "cell counts"), ("white cell counts",)],
            id="plural",
        ),
        pytest.param(
            '<cons lex="(AND old_red_cell old_blue_cell)" sem="(AND G#x G#x)"><cons lex="old*">old</cons> '
            '<cons lex="*red*">red</cons> and <cons lex="*blue*">blue</cons> <cons lex="*cell">cell</cons></cons>',
            [("old red", "cell"), ("old", "blue cell")],
            id="shared on both sides",
        ),
        pytest.param(
            '<cons lex="(AND a_big_x_y b_big_x_y c_big_x_y)" sem="(AND G#x G#x G#x)"><cons lex="a*">a</cons>, '
            '<cons lex="b*">b</cons> (not <cons lex="c*">c</cons>) <cons lex="*big*">big</cons> or '
            '<cons lex="*x_y">x y</cons></cons>',
            [("a", "big", "x y"), ("b", "big", "x y"), ("c", "big", "x y")],
            id="three parts",
        ),
        pytest.param(
            '<cons lex="(AND zinc_familiy iron_familiy)" sem="(AND G#x G#x)"><cons lex="zinc*">zinc</cons> and '
            '<cons lex="iron*">iron</cons> <cons lex="*family">families</cons></cons>',
            [("zinc", "families"), ("iron families",)],
            id="typing error in the name",
        ),
        pytest.param(
            '<cons lex="(AND p1 p2)" sem="(AND G#x G#x)">p1 and p2</cons>', [("p1",), ("p2",)], id="nothing marked"
        ),
    ],
)
def test_members_of_coordinations(markup: str, expected: list[tuple[str, ...]]) -> None:
    assert coordinated(markup) == expected


def test_a_member_that_is_not_there_is_reported_and_the_whole_kept(tmp_path: Path) -> None:
    lost = '<cons lex="(AND abc def)" sem="(AND G#cell_type G#cell_type)">xyz</cons>.'
    corpus_ = read(corpus(tmp_path, abstract=lost, pos=None), coordination="expand")
    (doc,) = corpus_
    assert ("cell_type", "xyz") in surfaces(doc)
    assert corpus_.report.counts == {"coordination": 2}


def test_pos_text_with_lost_breaks_and_other_characters() -> None:
    placed, differ = place_document(["ab cd.", "ef g"], [(["ab", "cX", ".", "ef", "g"], ["1", "2", "3", "4", "5"])])
    assert differ == 1
    assert placed == [([(0, 2), (3, 5), (5, 6)], ["1", "2", "3"]), ([(0, 2), (3, 4)], ["4", "5"])]


def test_a_pos_text_without_words_leaves_what_stands_between_spaces(tmp_path: Path) -> None:
    corpus_ = read(corpus(tmp_path, pos="UI/LS -/: 1/CD\nTI/LS -/: \n"))
    (doc,) = corpus_
    assert doc.sentences[1].tokens == ["alpha", "-", "and", "beta", "-", "zin", "bind", "T", "cell", "s."]
    assert set(doc.sentences[1].columns["pos"]) == {"X"}
    assert corpus_.report.counts["pos-differs"] == 1


def test_a_word_without_a_tag_is_survived_and_reported(tmp_path: Path) -> None:
    corpus_ = read(
        corpus(tmp_path, pos=POS.replace("h/NN ./.", "h./NN").replace(" T/NN cells/NNS", " T/ /NNS cells/NNS"))
    )
    (doc,) = corpus_
    assert "".join(doc.sentences[1].tokens) == "alpha-andbeta-zinbindTcells."
    assert corpus_.report.counts["pos-incomplete"] == 1


def test_an_article_that_differs_from_its_pos_text_is_survived_and_reported(tmp_path: Path) -> None:
    corpus_ = read(corpus(tmp_path, pos=POS.replace("bind/VBP", "binds/VBZ")))
    (doc,) = corpus_
    assert doc.sentences[1].text == "alpha- and beta-zin bind T cells."
    assert corpus_.report.counts == {"pos-differs": 1}


@pytest.mark.parametrize(
    ("abstract", "message"),
    [
        ("a <b>c</b>", r"\.xml:10: <b> is not <cons"),
        ("a </cons>", r"\.xml:10: </cons> closes nothing"),
        ("<cons>a", r"\.xml:10: <cons> around 'a' is not closed"),
        ("a &nbsp; b", r"\.xml:10: unknown entity '&nbsp;'"),
        ("a > b", "stray angle bracket"),
        ('<cons lex="&b;" sem="G#protein_molecule">a</cons>', "unknown entity '&b;'"),
    ],
)
def test_bad_markup(tmp_path: Path, abstract: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        list(read(corpus(tmp_path, abstract=abstract)))


def test_bad_options_and_folders(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="classes='6' must be one of 5, 22, leaf"):
        list(read(corpus(tmp_path), classes="6"))
    with pytest.raises(CorpusError, match="no GENIAcorpus"):
        list(read(f"genia:{tmp_path / '..'}"))


def both_ways(ref: str, monkeypatch: pytest.MonkeyPatch, **options: str) -> tuple[list[Any], list[Any], int]:
    """What the fast way and the careful way read, and how many articles the fast way took."""
    taken = 0

    def counted(articles: Any, *rest: Any, inner: bool) -> Any:
        nonlocal taken
        made = join_tagged_terms(articles, *rest, inner=inner)
        taken += sum(x is not None for x in made)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(_native, "join_tagged_terms", counted)
        fast = everything(list(read(ref, **options)))
        patch.setattr(_native, "join_tagged_terms", lambda articles, *_, inner: [None] * len(articles))
        careful = everything(list(read(ref, **options)))
    return fast, careful, taken


WORDS = ["XY-7", "a/b", "gene", "t", "(1,25)", "&lt;3", "."]
TERMS = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: f'<cons lex="x&amp;y" sem="G#protein_molecule">{" ".join(parts)}</cons>'
        )
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: f'<cons lex="z">{"-".join(parts)}</cons>')
    ),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(markup=st.lists(TERMS, min_size=1, max_size=4).map(" ".join), tokens=st.sampled_from(["split", "pos"]))
def test_the_fast_way_reads_what_the_careful_way_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, markup: str, tokens: str
) -> None:
    text, _ = parse(markup)
    tagged = " ".join(f"{word}/T{len(word)}" for word in text.split())
    pos = f"UI/LS -/: 1/CD\nTI/LS -/: {tagged}\nAB/LS -/: {tagged.replace(' gene/', ' ge ne/')}\n"
    fast, careful, taken = both_ways(corpus(tmp_path, markup, markup, pos), monkeypatch, tokens=tokens)
    assert taken == 1
    assert fast == careful


USUAL = '<sentence><cons lex="a_b" sem="G#x">a b</cons> c.</sentence>'
TAGGED = "a/1 b/2 c/3 ./4\n"


def test_the_fast_way() -> None:
    ((sentence,),) = join_tagged_terms([USUAL], [TAGGED], str, inner=True)
    term = ("G#x", ((0, 2),), {"lex": "a_b", "sem": "G#x"})
    assert sentence == ("a b c.", ["a", "b", "c", "."], [(0, 1), (2, 3), (4, 5), (5, 6)], ["1", "2", "3", "4"], [term])


@pytest.mark.parametrize(
    ("markup", "tagged"),
    [
        pytest.param(USUAL.replace("c.", "c<b/>."), TAGGED, id="another element"),
        pytest.param(USUAL.replace("c.", "c&#46;"), TAGGED, id="a numeric entity"),
        pytest.param(USUAL.replace("a_b", "&x;"), TAGGED, id="an unknown entity in a name"),
        pytest.param(USUAL.replace("c.", "c>"), TAGGED, id="a stray bracket"),
        pytest.param(USUAL.replace("c.", "ç."), TAGGED.replace("c", "ç"), id="not ASCII"),
        pytest.param(USUAL.replace("c.", "c\x1c."), TAGGED, id="a control character"),
        pytest.param(USUAL.replace("b</cons> ", "b </cons>"), TAGGED, id="a term that ends with a space"),
        pytest.param(USUAL.replace("a b</cons>", "</cons>a b"), TAGGED, id="an empty term"),
        pytest.param(USUAL.replace("</cons>", ""), TAGGED, id="a term that is not closed"),
        pytest.param(USUAL.replace("</sentence>", ""), TAGGED, id="a sentence that is not closed"),
        pytest.param(USUAL.replace("c.", "c.</cons>"), TAGGED, id="a term that is not open"),
        pytest.param(USUAL.replace(' sem="G#x"', " sem='G#x'"), TAGGED, id="other quotes"),
        pytest.param(USUAL, TAGGED.replace("c", "d"), id="other letters"),
        pytest.param(USUAL, TAGGED.replace(" ./4", ""), id="fewer letters"),
        pytest.param(USUAL, TAGGED + "x/5\n", id="more lines"),
        pytest.param(USUAL, TAGGED.replace("c/3 ", "c/3\n"), id="another sentence break"),
        pytest.param(USUAL, TAGGED.replace("c/3", "c/"), id="a word without a tag"),
        pytest.param(USUAL, TAGGED.replace("c/3", "/3 c/3"), id="a tag without a word"),
        pytest.param(USUAL, "", id="no words"),
    ],
)
def test_the_fast_way_leaves_what_is_out_of_the_ordinary(markup: str, tagged: str) -> None:
    assert join_tagged_terms([markup], [tagged], str, inner=True) == [None]


def test_an_error_of_the_label_function_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        join_tagged_terms([USUAL], [TAGGED], lambda sem: str(1 // 0), inner=True)
    with pytest.raises(ValueError, match="1 articles but 0 tagged texts"):
        join_tagged_terms([USUAL], [], str, inner=True)


@pytest.mark.corpus
def test_the_fast_way_takes_nearly_all_articles(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, careful, taken = both_ways(f"genia:{shared_data}/genia?classes=leaf&split=dev", monkeypatch)
    assert fast == careful
    assert taken == len(fast)


PIECES = ["<cons", ' lex="(AND a b)"', ' sem="G#x"', ' sem="(AND G#x G#x)"', ">", "</cons>", "a", " ", "&lt;", "&", "<"]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_markup_gives_a_document_or_a_corpus_error(tmp_path_factory: pytest.TempPathFactory, markup: str) -> None:
    folder = tmp_path_factory.mktemp("genia")
    message = "GENIAcorpus3.02.xml:"
    try:
        list(read(corpus(folder, abstract=markup), coordination="expand", classes="leaf"))
    except CorpusError as error:
        message = str(error)
    assert "GENIAcorpus3.02.xml:" in message


@pytest.mark.corpus
def test_counts_of_the_real_corpus(shared_data: Path) -> None:
    """The counts of the corpus description; published ones are 46,473, 5,014 and 5,600."""
    for split, length, mentions in [("train", 14_836, 46_481), ("dev", 1_855, 5_015), ("test", 1_855, 5_600)]:
        found = [s for doc in read(f"genia:{shared_data}/genia?split={split}") for s in doc.sentences]
        assert len(found) == length
        assert sum(len(s.mentions) for s in found) == mentions


@pytest.fixture(scope="module")
def leaves(shared_data: Path) -> list[Sentence]:
    corpus_ = read(f"genia:{shared_data}/genia?classes=leaf")
    docs = list(corpus_)
    assert len(docs) == 2000
    assert len({doc.id for doc in docs}) == 2000
    assert corpus_.report.counts == {"pos-differs": 1, "pos-incomplete": 4, "document-twice": 1}
    return [sentence for doc in docs for sentence in doc.sentences]


@pytest.mark.corpus
def test_every_mention_has_the_text_of_the_xml(leaves: list[Sentence], shared_data: Path) -> None:
    tree = ET.parse(shared_data / "genia" / "GENIAcorpus3.02.xml")
    checked = 0
    for sentence, element in zip(leaves, tree.iter("sentence"), strict=True):
        assert sentence.text == "".join(element.itertext())
        theirs = [(c.get("sem", ""), "".join(c.itertext())) for c in element.iter("cons") if c.get("sem")]
        assert [(m.attributes["sem"], sentence.surface(m)) for m in sentence.mentions] == theirs
        assert all(sentence.columns["pos"])
        assert "".join(sentence.tokens) == "".join(sentence.text.split())
        checked += len(theirs)
    assert checked == 92_722
    assert len({m.label for s in leaves for m in s.mentions}) == 36
    assert len({re.sub(r"^(protein|DNA|RNA)_.*", r"\1", m.label) for s in leaves for m in s.mentions}) == 22


@pytest.mark.corpus
def test_coordinations_of_the_real_corpus(shared_data: Path) -> None:
    corpus_ = read(f"genia:{shared_data}/genia?classes=leaf&coordination=expand")
    report = Report()
    broken = sum(m.discontinuous for doc in corpus_.stream(report) for s in doc.sentences for m in s.mentions)
    assert broken >= 1_900
    assert report.counts["coordination"] <= 0.02 * 3_461


@pytest.mark.corpus
def test_nesting_is_that_of_alex_haddow_and_grover(shared_data: Path) -> None:
    """Their table 1: coordinations and their continuous members; they count 856, 541, 470 and 351."""
    docs = read(f"genia:{shared_data}/genia?classes=22&coordination=continuous")
    found = Counter(pattern for doc in docs for s in doc.sentences for pattern in nesting_patterns(s.mentions))
    assert found["( protein ( protein t ) t )"] == 858
    assert found["( other_name t ( other_name t ) )"] == 542
    assert found["( cell_type t ( cell_type t ) )"] == 470
    assert found["( DNA t ( DNA t ) )"] == 347


def test_mentions_keep_name_and_class(tmp_path: Path) -> None:
    dna = one(corpus(tmp_path)).mentions[0]
    assert dna == Mention("DNA", ((0, 4),))
    assert dna.attributes == {"lex": "XY-7_gene", "sem": "G#DNA_domain_or_region"}
