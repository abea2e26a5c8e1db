"""BioCreative II gene mention: offsets without spaces, alternatives, and the counts of the real files."""

from pathlib import Path

import pytest

from spanloom import CorpusError, Mention, Report, read, write

TEXTS = "P1 The XY-7 gene and zin.\nP2 Nothing here.\n"
# Without spaces: TheXY-7geneandzin. — XY-7 gene is 3..10, XY-7 is 3..6, zin is 14..16.
GENE = "P1|3 10|XY-7 gene\nP1|14 16|zin\n"
ALTERNATIVES = "P1|3 6|XY-7\n"


def part(folder: Path, gene: str = GENE) -> Path:
    folder = folder / "train"
    folder.mkdir()
    (folder / "train.in").write_text(TEXTS)
    (folder / "GENE.eval").write_text(gene)
    (folder / "ALTGENE.eval").write_text(ALTERNATIVES)
    return folder


def test_mentions_and_alternatives(tmp_path: Path) -> None:
    one, two = read(f"biocreative:{part(tmp_path)}")
    assert (one.id, two.id) == ("P1", "P2")
    assert [one.surface(m) for m in one.mentions] == ["XY-7 gene", "zin"]
    (sentence,) = one.sentences
    assert sentence.tokens == ["The", "XY", "-", "7", "gene", "and", "zin", "."]
    assert sentence.meta["alternatives"] == [Mention("GENE", ((1, 4),))]
    assert two.mentions == []


def test_round_trips_through_both_formats(tmp_path: Path) -> None:
    docs = list(read(f"biocreative:{part(tmp_path)}"))
    write(docs, f"biocreative:{tmp_path}/again")
    assert list(read(f"biocreative:{tmp_path}/again")) == docs
    write(docs, tmp_path / "a.jsonl")
    assert list(read(tmp_path / "a.jsonl")) == docs


def test_a_wrong_surface_is_a_warning_and_the_offsets_win(tmp_path: Path) -> None:
    report = Report()
    docs = list(read(f"biocreative:{part(tmp_path, 'P1|14 16|zinc')}").stream(report))
    assert report.counts == {"text-mismatch": 1}
    assert docs[0].surface(docs[0].mentions[0]) == "zin"


@pytest.mark.parametrize(
    ("gene", "message"),
    [
        ("P1|3\n", "GENE.eval:1: expected 'ID|START END|TEXT'"),
        ("P1|3 99|x\n", r"GENE.eval:1: \(3, 99\) is not a range of 18"),
        ("P1|6 3|x\n", r"GENE.eval:1: \(6, 3\) is not a range"),
        ("P9|1 2|x\n", "GENE.eval:1: a mention of P9, which is not in train.in"),
    ],
)
def test_bad_lines(tmp_path: Path, gene: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message.replace("|START", r"\|START").replace("|TEXT", r"\|TEXT")):
        list(read(f"biocreative:{part(tmp_path, gene)}"))


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("part_", "sentences", "mentions", "alternatives", "mismatches"),
    [("train", 15_000, 18_265, 14_499, 4), ("test", 5_000, 6_331, 5_068, 0)],
)
def test_counts(
    shared_data: Path, part_: str, sentences: int, mentions: int, alternatives: int, mismatches: int
) -> None:
    report = Report()
    found = [s for doc in read(f"biocreative:{shared_data}/bc2gm/{part_}").stream(report) for s in doc.sentences]
    assert len(found) == sentences
    assert sum(len(s.mentions) for s in found) == mentions
    assert sum(len(s.meta.get("alternatives", [])) for s in found) == alternatives
    assert report.counts["text-mismatch"] == mismatches
