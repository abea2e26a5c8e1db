"""Tables 2 and 5 of Muis & Lu (2017) on their own corpora: the lines, and what they read."""

from __future__ import annotations

from experiments.runner import Context
from experiments.separators import EXPERIMENT, load, ready

LINES = {run.name: run for run in EXPERIMENT.runs if run.needs}


def test_every_model_has_a_line_with_the_papers_figures():
    """EDGE without and with the penalty on ACE, without it on CoNLL-2003."""
    assert LINES["ace2004, edge"].paper == {"untuned F1": 62.2, "f1": 64.5}
    assert LINES["ace2005, edge"].paper == {"untuned F1": 61.3, "f1": 63.1}
    assert LINES["conll2003, edge"].paper == {"untuned F1": 84.3}
    for corpus in ("ace2004", "ace2005", "conll2003"):
        models = {name.partition(", ")[2] for name in LINES if name.startswith(f"{corpus},")}
        assert {"chain", "chains", "hypergraph", "state", "edge"} <= models
        assert {run.needs for name, run in LINES.items() if name.startswith(f"{corpus},")} == {corpus}


def test_columns_of_conll_2003_are_read_as_they_are(tmp_path):
    """Word, part of speech, chunk, IOB1 tag; a line of our own."""
    folder = tmp_path / "conll2003"
    folder.mkdir()
    lines = "-DOCSTART- -X- O O\n\nAnn NNP I-NP I-PER\nof IN I-PP O\nUlm NNP I-NP I-LOC\n\n"
    for name in ("eng.train", "eng.testa", "eng.testb"):
        (folder / name).write_text(lines)
    for split in ("train", "dev", "test"):
        (doc,) = load("conll2003", split, Context(tmp_path, False, tmp_path))
        (sentence,) = doc.sentences
        assert [(m.label, m.parts) for m in sentence.mentions] == [("PER", ((0, 1),)), ("LOC", ((2, 3),))]
        assert sentence.columns["pos"] == ["NNP", "IN", "NNP"]


def test_ace_is_read_by_split_and_its_lines_ask_for_a_tagger(tmp_path):
    """A document of our own in each folder; parts of speech come from a tagger, since ACE has none."""
    apf = (
        '<source_file><document><entity ID="E1" TYPE="PER"><entity_mention TYPE="NAM"><extent>'
        '<charseq START="0" END="2">Ann</charseq></extent></entity_mention></entity></document></source_file>'
    )
    for split in ("train", "dev", "test"):
        folder = tmp_path / "ace2004" / split
        folder.mkdir(parents=True)
        (folder / f"{split}.sgm").write_text("<DOC><BODY>Ann left.</BODY></DOC>")
        (folder / f"{split}.apf.xml").write_text(apf)
    for split in ("train", "dev", "test"):
        (doc,) = load("ace2004", split, Context(tmp_path, False, tmp_path))
        assert doc.id == split
        assert [(m.label, doc.surface(m)) for m in doc.mentions] == [("PER", "Ann")]
    (tmp_path / "pos-gum.loom").touch()
    made = ready(LINES["ace2004, edge"].settings, Context(tmp_path, False, tmp_path))
    assert made["annotators"] == [str(tmp_path / "pos-gum.loom")]
