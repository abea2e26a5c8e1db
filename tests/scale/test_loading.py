"""A recogniser goes through a pickle as through its file, and a worker opens a model once."""

from __future__ import annotations

import copy
import os
import pickle
import pickletools
import subprocess
import sys
from pathlib import Path

import pytest

from spanloom import Recognizer, read
from spanloom.base.errors import ModelFileError, SpanloomError
from spanloom.corpus import tokenize
from spanloom.learning import LBFGS, Auto
from spanloom.models import MODELS
from spanloom.scale import ModelSource, deposit, model

TEXT = "IL-2 gene expression and NF-kappa B activation through CD28."


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=5), threads=1).fit(read("sample:dev"))


@pytest.mark.parametrize("name", sorted(set(MODELS) & {"chain", "edge", "memm", "cascade", "multilabel", "semimarkov"}))
def test_a_pickled_recogniser_is_that_of_the_file(name: str, tmp_path: Path) -> None:
    documents = list(read("sample:dev"))[:8]
    first = Recognizer(name, keep="longest", trainer=Auto(max_iter=2), threads=1).fit(documents)
    again = pickle.loads(pickle.dumps(first))
    first.save(tmp_path / "a.loom")
    again.save(tmp_path / "b.loom")
    assert (tmp_path / "a.loom").read_bytes() == (tmp_path / "b.loom").read_bytes() == first.to_bytes()
    assert again.predict(documents) == first.predict(documents)
    assert (again.threads, again.history_, again.lost_, again.training_) == (
        *(1, first.history_, first.lost_), first.training_,
    )  # fmt: skip


def test_a_pickle_names_nothing_but_spanloom_and_plain_values(ner: Recognizer) -> None:
    """Opening it imports no more than these; the model itself is bytes of a file that is checked."""
    modules, texts = set(), [""]
    for code, argument, _ in pickletools.genops(pickle.dumps(ner, protocol=4)):
        if isinstance(argument, str):
            texts.append(argument)
        if code.name == "STACK_GLOBAL":
            modules.add(next(text for text in reversed(texts) if text.startswith(("spanloom", "copyreg", "builtins"))))
    assert modules
    assert all(name.startswith("spanloom.") for name in modules)


def test_an_untrained_one_keeps_its_settings() -> None:
    again = pickle.loads(pickle.dumps(Recognizer("edge", keep="longest", seed=7, tokenizer=tokenize)))
    assert again.get_params() == Recognizer("edge", keep="longest", seed=7, tokenizer=tokenize).get_params()
    assert not hasattr(again, "trained_")


def test_a_tokenizer_goes_by_name(ner: Recognizer) -> None:
    own = copy.copy(ner)
    own.tokenizer = tokenize
    again = pickle.loads(pickle.dumps(own))
    assert again.tokenizer is tokenize
    assert again.predict(TEXT) == ner.predict(TEXT)


def test_another_process_opens_a_pickle(ner: Recognizer, tmp_path: Path) -> None:
    (tmp_path / "ner.pickle").write_bytes(pickle.dumps(ner))
    code = f"import pickle; print(pickle.load(open('ner.pickle', 'rb')).predict({TEXT!r}).mentions)"
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(ner.predict(TEXT).mentions)


def test_damaged_bytes_are_refused(ner: Recognizer) -> None:
    data = bytearray(ner.to_bytes())
    data[-5] ^= 1
    with pytest.raises(ModelFileError, match="do not match their checksum"):
        Recognizer.from_bytes(bytes(data))


def test_a_process_opens_a_file_once_and_a_new_one_anew(ner: Recognizer, tmp_path: Path) -> None:
    ner.save(tmp_path / "a.loom")
    first = model(tmp_path / "a.loom")
    os.symlink(tmp_path / "a.loom", tmp_path / "b.loom")
    assert model(tmp_path / "b.loom") is first
    assert model(tmp_path / "a.loom", threads=2) is not first
    ner.save(tmp_path / "a.loom")
    assert model(tmp_path / "a.loom") is not first


def test_a_source_finds_a_file_or_deposited_bytes(ner: Recognizer, tmp_path: Path) -> None:
    ner.save(tmp_path / "a.loom")
    by_path, by_bytes = ModelSource.of(tmp_path / "a.loom"), ModelSource.of(ner)
    assert by_path.digest == by_bytes.digest
    assert by_path.data() == by_bytes.data()
    assert by_bytes.open() is pickle.loads(pickle.dumps(by_bytes)).open()
    assert by_path.open().predict(TEXT) == by_bytes.open().predict(TEXT) == ner.predict(TEXT)
    assert deposit(ner.to_bytes()) == by_path.digest
    with pytest.raises(SpanloomError, match="were not sent to this worker"):
        ModelSource("0" * 64).open()
