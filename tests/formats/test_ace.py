"""ACE: offsets without tags, ends included; nested mentions; what does not fit is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from spanloom import read
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.formats import Report

TEXT = """<DOC>
<DOCID> XY1 </DOCID>
<BODY>
<HEADLINE>
The mayor of
Springfield
</HEADLINE>
<TEXT>
She met AT&amp;T on Monday.

Her office said so.
</TEXT>
</BODY>
</DOC>
"""


def bare(text: str) -> str:
    """The text without its tags, by hand: no tag of it has a bracket within."""
    pieces = text.split("<")
    return pieces[0] + "".join(piece.split(">", 1)[1] for piece in pieces[1:])


def mention(words: str, kind: str, *, unescaped: bool = False, said: str | None = None, level: str = "NOM") -> str:
    """An entity of one mention at the first place of these words."""
    text = bare(TEXT).replace("&amp;", "&") if unescaped else bare(TEXT)
    start = text.index(words)
    place = f'START="{start}" END="{start + len(words) - 1}"'
    inner = f"<charseq {place}>{(words if said is None else said).replace('&', '&amp;')}</charseq>"
    last = words.split()[-1]
    at = start + len(words) - len(last)
    head = f'<head><charseq START="{at}" END="{at + len(last) - 1}">{last.replace("&", "&amp;")}</charseq></head>'
    return (
        f'<entity ID="E-{words[0]}" TYPE="{kind}" SUBTYPE="Sub" CLASS="SPC"><entity_mention ID="M" TYPE="{level}">'
        f"<extent>{inner}</extent>{head}</entity_mention></entity>"
    )


def folder(path: Path, *entities: str, name: str = "xy1") -> Path:
    (path / "bn").mkdir(exist_ok=True)
    (path / "bn" / f"{name}.sgm").write_text(TEXT, encoding="utf-8")
    document = f'<document DOCID="{name}">{"".join(entities)}</document>'
    (path / "bn" / f"{name}.apf.xml").write_text(
        f'<?xml version="1.0"?>\n<!DOCTYPE source_file SYSTEM "apf.dtd">\n<source_file>{document}</source_file>'
    )
    return path


def surfaces(path: Path, options: str = "") -> list[tuple[str, str]]:
    return [(m.label, " ".join(doc.surface(m).split())) for doc in read(f"ace:{path}{options}") for m in doc.mentions]


def test_nested_mentions_stand_where_the_annotation_says(tmp_path: Path) -> None:
    """Over a wrapped line, without the tags before; the break that stays parts sentences."""
    whole = mention("The mayor of\nSpringfield", "PER")
    place = mention("Springfield", "GPE", level="NAM")
    path = folder(tmp_path, whole, place, mention("She", "PER", level="PRO"))
    (doc,) = read(f"ace:{path}")
    assert surfaces(path) == [("PER", "The mayor of Springfield"), ("GPE", "Springfield"), ("PER", "She")]
    assert doc.id == "xy1"
    assert doc.mentions[1].attributes == {"entity": "E-S", "level": "NAM", "subtype": "Sub"}
    assert "DOCID" not in doc.text
    assert "XY1" not in doc.text, "what stands outside of the body is blank"
    assert [s.tokens for s in doc.sentences][-1] == ["Her", "office", "said", "so", "."]


@pytest.mark.parametrize("unescaped", [False, True])
def test_an_ampersand_counts_as_the_offsets_have_it(tmp_path: Path, unescaped: bool) -> None:
    """As five characters or as one: whichever agrees with the words of the annotations."""
    name = mention("AT&T", "ORG", unescaped=True) if unescaped else mention("AT&amp;T", "ORG", said="AT&T")
    path = folder(tmp_path, name, mention("Her office", "ORG", unescaped=unescaped))
    assert [words for _, words in surfaces(path)] == ["AT&T" if unescaped else "AT&amp;T", "Her office"]


def test_levels_heads_and_lists_of_documents_choose(tmp_path: Path) -> None:
    path = folder(tmp_path, mention("The mayor of\nSpringfield", "PER"), mention("She", "PER", level="PRO"))
    folder(tmp_path, mention("Her office", "ORG"), name="xy2")
    (tmp_path / "split.txt").write_text("xy2\n")
    assert surfaces(path, f"?documents={tmp_path}/split.txt") == [("ORG", "Her office")]
    assert surfaces(path, "?levels=PRO") == [("PER", "She")]
    assert ("PER", "Springfield") in surfaces(path, "?extent=head&levels=NOM,NAM")
    with pytest.raises(ParameterError, match="levels='NAME' must be one of NAM, NOM, PRO, PRE"):
        surfaces(path, "?levels=NAME")


def test_a_list_with_names_that_are_not_there_is_refused(tmp_path: Path) -> None:
    """Also with an ending: nothing of a split may be missing without a word."""
    path = folder(tmp_path, mention("She", "PER", level="PRO"))
    for names in ("xy1\nxy9\n", "xy1.sgm\n"):
        (tmp_path / "split.txt").write_text(names)
        with pytest.raises(
            CorpusError, match=r"split\.txt: 1 of the documents .* such as xy(9|1\.sgm); .*without endings"
        ):
            surfaces(path, f"?documents={tmp_path}/split.txt")


def test_passes_of_annotation_side_by_side_are_refused(tmp_path: Path) -> None:
    """A release has the same document in several folders; each may be read by itself."""
    path = folder(tmp_path, mention("She", "PER", level="PRO"))
    shutil.copytree(path / "bn", path / "timex2norm")
    with pytest.raises(CorpusError, match=r"xy1 is there twice.*name one of"):
        surfaces(path)
    assert surfaces(path / "timex2norm") == [("PER", "She")]


def test_what_does_not_fit_is_an_error_with_its_place(tmp_path: Path) -> None:
    """Other words than there are; an end before the start; no text; no files; a file that is no XML."""
    with pytest.raises(CorpusError, match=r"xy1.apf.xml.*'She', the annotation says 'He'"):
        surfaces(folder(tmp_path, mention("She", "PER", said="He")))
    bad = mention("She", "PER").replace("START", "X").replace("END", "START").replace("X", "END")
    report = Report(strict=False)
    assert list(read(f"ace:{folder(tmp_path, bad)}").stream(report)) == []
    assert report.counts["unreadable"] == 1
    (tmp_path / "bn" / "xy1.apf.xml").write_text("<source_file>")
    with pytest.raises(CorpusError, match="not an annotation of ACE"):
        surfaces(tmp_path)
    (tmp_path / "bn" / "xy1.apf.xml").write_text('<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>')
    with pytest.raises(CorpusError, match="declares entities"):
        surfaces(tmp_path)
    (tmp_path / "bn" / "xy1.sgm").unlink()
    with pytest.raises(CorpusError, match=r"no xy1.sgm beside it"):
        surfaces(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=r"no files \*.apf.xml"):
        surfaces(tmp_path / "empty")


def test_an_encoding_that_nobody_knows_is_an_error_with_its_place(tmp_path: Path) -> None:
    folder(tmp_path, mention("The mayor of\nSpringfield", "PER"))
    file = tmp_path / "bn" / "xy1.apf.xml"
    file.write_text(file.read_text().replace('version="1.0"', 'version="1.0" encoding="foo"'))
    with pytest.raises(CorpusError, match=r"xy1\.apf\.xml.*not an annotation of ACE"):
        list(read(f"ace:{tmp_path}"))


def test_a_text_without_annotation_is_said(tmp_path: Path) -> None:
    """It is not read; nothing is said where a list names the documents."""
    path = folder(tmp_path, mention("She", "PER"))
    (tmp_path / "list").write_text("xy1\n")
    for name in ("xy2", "xy.3"):
        (path / "bn" / f"{name}.sgm").write_text(TEXT)
    told = "2 of 3 texts have no .apf.xml file and are not read: bn/xy.3.sgm, bn/xy2.sgm"
    for options, messages in (("", [told]), (f"?documents={tmp_path / 'list'}", [])):
        report = Report()
        assert [doc.id for doc in read(f"ace:{path}{options}").stream(report)] == ["xy1"]
        assert report.errors == 0
        assert [problem.message for problem in report.problems] == messages


def test_a_file_and_an_empty_list_are_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, mention("She", "PER"))
    with pytest.raises(CorpusError, match=rf"xy1\.sgm: a file, .*name its folder: ace:{path}/bn$"):
        list(read(f"ace:{path}/bn/xy1.sgm"))
    (tmp_path / "list").write_text("\n")
    with pytest.raises(CorpusError, match="list: the list of documents has no name; write one a line"):
        list(read(f"ace:{path}?documents={tmp_path / 'list'}"))
