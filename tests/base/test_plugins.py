"""Formats, annotators and feature sets of other packages, from a small one that is installed for the test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.annotators import annotator
from spanloom.annotators.base import ANNOTATOR_CLASSES
from spanloom.base.errors import ParameterError
from spanloom.base.plugins import ANNOTATORS, FORMATS, load_plugin, plugins
from spanloom.features import FeatureSet
from spanloom.learning import LBFGS

MODULE = """
import sys
from pathlib import Path

from spanloom import Document, Sentence
from spanloom.annotators import Annotator

EXTENSIONS = ("shout",)
TEMPLATES = ["word[0]", "spelled[0]"]


def read(path, report, *, low="no"):
    for line in Path(path).read_text().splitlines():
        yield Document([Sentence(line.lower().split() if low == "yes" else line.split())])


def write(docs, path, report):
    Path(path).write_text("".join(" ".join(doc.tokens).upper() + "\\n" for doc in docs))


class Letters(Annotator):
    kind = "spelled"
    provides = ("spelled",)

    def __init__(self, most="9"):
        self.most = int(most)

    def columns(self, sentences):
        return [{"spelled": [str(min(len(t), self.most)) for t in s.tokens]} for s in sentences]

    def state(self):
        return {}, {"most": self.most}
"""

ENTRIES = """
[spanloom.formats]
shout = spanloom_shout
silent = spanloom_shout:TEMPLATES
[spanloom.annotators]
spelled = spanloom_shout:Letters
broken = spanloom_nowhere:Nothing
[spanloom.features]
shouted = spanloom_shout:TEMPLATES
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution on the path: a module and its metadata, as an installer leaves them."""
    site = tmp_path / "site"
    info = site / "spanloom_shout-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "spanloom_shout.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spanloom-shout\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(ANNOTATOR_CLASSES, "spelled", raising=False)
    monkeypatch.delitem(sys.modules, "spanloom_shout", raising=False)
    return site


def test_a_format_is_read_and_written_by_prefix_and_by_ending(installed: Path, tmp_path: Path) -> None:
    docs = [Document([Sentence(["a", "gene"])])]
    write(docs, f"shout:{tmp_path / 'a.any'}")
    assert (tmp_path / "a.any").read_text() == "A GENE\n"
    write(docs, tmp_path / "a.shout")
    assert [doc.tokens for doc in read(tmp_path / "a.shout")] == [["A", "GENE"]]
    assert [doc.tokens for doc in read(f"shout:{tmp_path / 'a.shout'}?low=yes")] == [["a", "gene"]]
    with pytest.raises(ParameterError, match="format 'shout' has no option 'high'; it has low"):
        read(f"shout:{tmp_path / 'a.shout'}?high=yes")
    with pytest.raises(ParameterError, match=r"unknown format 'whisper' .*, shout, silent"):
        read("whisper:a")
    with pytest.raises(ParameterError, match="no installed package has a module with read"):
        read(f"silent:{tmp_path / 'a.shout'}")


def test_an_annotator_is_made_by_its_prefix_and_kept_in_a_file(installed: Path, tmp_path: Path) -> None:
    train = [Sentence(["the", word], [Mention("x", ((1, 2),))]) for word in ("genes", "proteins", "cells")]
    ner = Recognizer("chain", features="shouted", annotators=["spelled:3"], trainer=LBFGS(max_iter=20)).fit(train)
    assert "spelled[0]=3" in ner.extractor_.names()
    assert "spelled[0]=5" not in ner.extractor_.names()
    ner.save(tmp_path / "m.loom")
    del ANNOTATOR_CLASSES["spelled"]
    del sys.modules["spanloom_shout"]
    again = Recognizer.load(tmp_path / "m.loom")  # found by its kind, without importing the package first
    assert again.predict(train) == ner.predict(train)
    assert annotator("spelled").most == 9


def test_feature_sets_join_those_of_spanloom(installed: Path) -> None:
    assert FeatureSet.named("shouted+own").templates == ("word[0]", "spelled[0]", "own")
    with pytest.raises(ParameterError, match=r"there is no feature set 'loud'; .* shouted\. A file"):
        FeatureSet.named("loud")


def test_what_is_wrong_names_the_package(installed: Path) -> None:
    assert load_plugin(FORMATS, "nobody") is None
    with pytest.raises(ParameterError, match=r"'broken' .* comes from spanloom-shout \(spanloom_nowhere:Nothing\)"):
        load_plugin(ANNOTATORS, "broken")
    other = installed / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[spanloom.annotators]\nspelled = other:Letters\n")
    with pytest.raises(ParameterError, match=r"two installed packages name 'spelled' .* uninstall one"):
        plugins(ANNOTATORS)
