"""CoNLL-U: trees, brackets, joined tags, multiword tokens; GUM and UNER on top of it."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import CorpusError, Document, Mention, Report, read, write
from spanloom.corpus.kinds import kinds
from spanloom.formats.brackets import from_brackets
from tests.formats.random_documents import documents, everything

FILE = """# newdoc id = GUM_news_lake
# global.Entity = GRP-etype-infstat-link
# meta::title = The lake
# sent_id = lake-1
# text = Mara's boat can't float.
# newpar
1\tMara\tMara\tPROPN\tNNP\tNumber=Sing\t3\tnmod:poss\t_\tEntity=(1-object-new(2-person-giv-Mara_(x)
2\t's\t's\tPART\tPOS\t_\t1\tcase\t_\t_
3\tboat\tboat\tNOUN\tNN\t_\t6\tnsubj\t_\tEntity=1)
4-5\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
4\tca\tcan\tAUX\tMD\t_\t6\taux\t_\t_
5\tn't\tnot\tPART\tRB\t_\t6\tadvmod\t_\t_
6\tfloat\tfloat\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
6.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_
7\t.\t.\tPUNCT\t.\t_\t6\tpunct\t_\t_

"""


def test_columns_text_and_brackets(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(FILE.replace("-Mara_(x)", "-Mara)"))
    (doc,) = read(path)
    (sentence,) = doc.sentences
    assert doc.id == "GUM_news_lake"
    assert doc.meta == {"title": "The lake"}
    assert sentence.tokens == ["Mara", "'s", "boat", "ca", "n't", "float", "."]
    assert sentence.columns["pos"] == ["NNP", "POS", "NN", "MD", "RB", "VB", "."]
    assert sentence.columns["head"] == ["3", "1", "6", "6", "6", "0", "6"]
    assert sentence.columns["misc"][0] == "_"
    assert sentence.text == "Mara's boat can't float."
    assert sentence.spans == [(0, 4), (4, 6), (7, 11), (12, 14), (14, 17), (18, 23), (23, 24)]
    assert sentence.mentions == [Mention("object", ((0, 3),)), Mention("person", ((0, 1),))]
    assert sentence.mentions[1].attributes == {"GRP": "2", "infstat": "giv", "link": "Mara"}
    assert sentence.meta["sent_id"] == "lake-1"


def test_rewriting_keeps_multiword_tokens_and_empty_nodes(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(FILE.replace("-Mara_(x)", "-Mara)"))
    docs = list(read(path))
    write(docs, tmp_path / "b.conllu")
    again = (tmp_path / "b.conllu").read_text().splitlines()
    assert set(FILE.replace("-Mara_(x)", "-Mara)").splitlines()) - set(again) == set()
    assert everything(list(read(tmp_path / "b.conllu"))) == everything(docs)


def test_discontinuous_and_repeated_names() -> None:
    """A group may be open twice at once: what opened last closes first."""
    values = ["(1[1/2]-a(7-b", "1[1/2])", "(7-b)", "(1[2/2]-a)", "7)"]
    found = from_brackets(values, ["GRP", "etype"], lambda i, m: pytest.fail(m))
    assert found == [Mention("a", ((0, 2), (3, 4))), Mention("b", ((0, 5),)), Mention("b", ((2, 3),))]


@pytest.mark.parametrize(
    ("values", "token", "message"),
    [
        (["(1-a", ""], 0, "never closed"),
        (["", "1)"], 1, "not open"),
        (["(1-a))"], 0, "cannot be read"),
        (["(1[2/2]-a)"], 0, "does not follow part 1"),
        (["(1[1/2]-a)", ""], 0, "do not come"),
    ],
)
def test_broken_brackets(values: list[str], token: int, message: str) -> None:
    heard: list[tuple[int, str]] = []
    from_brackets(values, ["GRP", "etype"], lambda i, m: heard.append((i, m)))
    assert heard[0][0] == token
    assert message in heard[0][1]


def bare(docs: list[Document]) -> list[object]:
    return [(d.id, [(s.tokens, s.text, s.spans, sorted(s.mentions)) for s in d.sentences]) for d in docs]


@settings(max_examples=40, deadline=None)
@given(documents("any", rich=False))
def test_round_trip_of_every_kind_of_mention(docs: list[Document]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(docs, folder + "/a.conllu")
        once = list(read(folder + "/a.conllu"))
        assert bare(once) == bare(docs)
        write(once, folder + "/b.conllu")
        assert everything(list(read(folder + "/b.conllu"))) == everything(once)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\ta\n", r":1: 2 columns"),
        ("2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: word 2 where 1 should be"),
        ("x\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: 'x' is not a word number"),
        ("1\t\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: the word is empty"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\tEntity=(1-x\n", r":1: \(1 is never closed"),
        ("# global.Entity = etype\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", ":1: fields 'etype'"),
    ],
)
def test_bad_files(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "a.conllu").write_text(line)
    with pytest.raises(CorpusError, match=r"a\.conllu" + message):
        list(read(tmp_path / "a.conllu"))


@settings(max_examples=40, deadline=None)
@given(
    st.binary(max_size=50)
    | st.lists(st.sampled_from([*FILE.splitlines(), "", "1\ta", "ÿ"])).map("\n".join).map(str.encode)
)
def test_any_bytes_give_documents_or_a_corpus_error_with_its_line(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.conllu"
        path.write_bytes(content)
        message = "a.conllu:"
        try:
            list(read(path))
        except CorpusError as error:
            message = str(error)
        assert "a.conllu:" in message


def test_tags_joined_by_sent_id_in_another_order(tmp_path: Path) -> None:
    rows = "# sent_id = {0}\n1\t{1}\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    (tmp_path / "en-ud-dev.conllu").write_text(
        rows.format("s1", "Oslo") + rows.format("s2", "Mara") + rows.format("s3", "x")
    )
    (tmp_path / "en-ud-dev.iob2").write_text(
        "# sent_id = s2\n1\tMara\tB-PER\n\n# sent_id = s3\n1\tx\tB-OTH\n\n# sent_id = s1\n1\tOslo\tB-LOC\n"
    )
    (doc,) = read(f"uner:{tmp_path}?split=dev")
    assert [s.mentions for s in doc.sentences] == [[Mention("LOC", ((0, 1),))], [Mention("PER", ((0, 1),))], []]
    (tmp_path / "en-ud-dev.iob2").write_text("# sent_id = s2\n1\tMara\tB-PER\n")
    with pytest.raises(CorpusError, match="sentence 's1' is not in the file of tags"):
        list(read(f"uner:{tmp_path}?split=dev"))


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("split", "documents_", "sentences", "mentions"),
    [
        ("train", 177, 10_224, 49_649),
        ("dev", 30, 1_575, 7_897),
        ("test", 30, 1_464, 7_927),
        ("test2", 26, 1_334, 5_680),
    ],
)
def test_gum(shared_data: Path, split: str, documents_: int, sentences: int, mentions: int) -> None:
    report = Report()
    docs = list(read(f"gum:{shared_data}/gum?split={split}").stream(report))
    assert set(report.counts) <= {"absent"}
    found = [s for doc in docs for s in doc.sentences]
    assert (len(docs), len(found), sum(len(s.mentions) for s in found)) == (documents_, sentences, mentions)
    assert all(doc.meta["genre"] in doc.id for doc in docs)
    lie = kinds([s.mentions for s in found])
    assert not lie.crossing.any()
    assert not lie.discontinuous.any()
    if split == "train":
        assert lie.depth.max() == 8
        assert round(lie.embedded.mean(), 2) == 0.37


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("split", "sentences", "mentions"), [("train", 12_543, 7_005), ("dev", 2_001, 966), ("test", 2_077, 1_088)]
)
def test_uner(shared_data: Path, split: str, sentences: int, mentions: int) -> None:
    report = Report()
    found = [s for doc in read(f"uner:{shared_data}/uner-ewt?split={split}").stream(report) for s in doc.sentences]
    assert not report
    assert (len(found), sum(len(s.mentions) for s in found)) == (sentences, mentions)
    assert {m.label for s in found for m in s.mentions} == {"PER", "LOC", "ORG"}
