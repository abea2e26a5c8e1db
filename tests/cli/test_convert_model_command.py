"""``spanloom convert-model``: from CRFsuite's files to ours and back."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from compat.crf_data import sequences
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.cli.app import app
from spanloom.compat import CRF

run = CliRunner()


def test_there_and_back_again_to_the_byte(tmp_path):
    X, y = sequences(30, 1)
    crf = CRF(max_iterations=10).fit(X, y)
    crf.save(tmp_path / "m.crfsuite")
    there = run.invoke(app, ["convert-model", f"crfsuite:{tmp_path}/m.crfsuite", "-o", f"{tmp_path}/m.loom"])
    assert there.exit_code == 0, there.output
    assert "4 labels" in there.output
    assert "near (4)" in there.output
    back = run.invoke(app, ["convert-model", f"{tmp_path}/m.loom", "-o", f"crfsuite:{tmp_path}/n.loom", "--json"])
    assert json.loads(back.stdout)["attributes"] == crf.num_attributes_
    assert (tmp_path / "n.loom").read_bytes() == (tmp_path / "m.crfsuite").read_bytes()
    assert (CRF.load(tmp_path / "m.loom").predict(X) == crf.predict(X)).all()


def test_templates_are_noticed(tmp_path):
    CRF().fit([[["w[0]=a", "__BOS__"], ["w[0]=b", "w[-1]|w[0]=a|b"]]], [["x", "y"]]).save(tmp_path / "m")
    done = run.invoke(app, ["convert-model", f"crfsuite:{tmp_path}/m", "-o", f"{tmp_path}/m.loom"])
    assert "the form of CRFsuite's templates" in done.output


def test_what_cannot_be_converted_is_said(tmp_path):
    (tmp_path / "m").write_bytes(b"lCRFfoo" * 100)
    broken = run.invoke(app, ["convert-model", f"crfsuite:{tmp_path}/m", "-o", f"{tmp_path}/m.loom"])
    assert isinstance(broken.exception, ModelFileError)
    assert str(tmp_path / "m") in str(broken.exception)
    assert not (tmp_path / "m.loom").exists()
    unclear = run.invoke(app, ["convert-model", f"crfsuite:{tmp_path}/m", "-o", f"{tmp_path}/m.bin"])
    assert isinstance(unclear.exception, ParameterError)
    assert "crfsuite:" in str(unclear.exception)
