"""Model files over ready attributes: CRFsuite's and ours, and what is said of damaged ones."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from compat.crf_data import sequences
from spanloom import Recognizer
from spanloom._native import jenkins_hash
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.compat import CRF, Tagger, stored
from spanloom.compat.crfsuite_file import HEADER, header, pack, unpack
from spanloom.compat.model import ChainModel, equal


@pytest.fixture(scope="module")
def crf() -> CRF:
    return CRF(c1=0.05, c2=0.1, max_iterations=20).fit(*sequences(60, 5))


def test_the_hash_is_lookup3():
    """The value that Bob Jenkins' own source gives for this text, and of no bytes at all."""
    assert jenkins_hash(b"Four score and seven years ago") == 0x17770551
    assert jenkins_hash(b"") == 0xDEADBEEF


def test_files_of_both_kinds_hold_the_model(crf, tmp_path):
    """To the bit, and the same bytes again."""
    model = crf._model
    assert equal(unpack(pack(model)), model)
    for name in ("m.crfsuite", "m.loom"):
        crf.save(tmp_path / name)
        again = CRF.load(tmp_path / name)
        assert equal(again._model, model)
        again.save(tmp_path / f"again-{name}")
        assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()
    assert CRF.load(tmp_path / "m.loom").get_params() == crf.get_params()


def test_names_of_all_kinds_are_kept(tmp_path):
    names = ["", " ", "a:b=c", "ß", "好", "x" * 5000, "tab\t", "line\n"]
    crf = CRF(c2=0.01).fit([[[name] for name in names]], [["L", "ü ", "L", "ü ", "L", "ü ", "L", "ü "]])
    for file in ("m", "m.loom"):
        crf.save(tmp_path / file)
        assert set(CRF.load(tmp_path / file).attributes_) == set(names)
        assert CRF.load(tmp_path / file).classes_ == ["L", "ü "]


def test_a_zero_character_has_no_place_in_crfsuite(tmp_path):
    crf = CRF().fit([[["a\0b"], ["c"]]], [["x", "y"]])
    with pytest.raises(ParameterError, match=r"zero character.*\.loom"):
        crf.save(tmp_path / "m")
    crf.save(tmp_path / "m.loom")
    assert "a\0b" in CRF.load(tmp_path / "m.loom").attributes_


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda data: b"", "not a CRFsuite model"),
        (lambda data: b"lCRF", "truncated"),
        (lambda data: b"lCRFfoo" * 100, "kind"),
        (lambda data: data[:-8], "truncated"),
        (lambda data: data + b"\0", "damaged"),
        (lambda data: data[:12] + struct.pack("<I", 99) + data[16:], "version 99"),
    ],
)
def test_files_of_another_kind_are_refused(crf, change, complaint, tmp_path):
    data = change(pack(crf._model))
    with pytest.raises(ModelFileError, match=complaint):
        unpack(data)
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ValueError, match="m"):
        Tagger().open(tmp_path / "m")


def test_every_damaged_number_is_noticed_or_harmless(crf):
    """Any 32 bits of the file, changed: an error that says so, or a model that still works within its bounds."""
    data = pack(crf._model)
    draw = random.Random(1)
    refused = 0
    for _ in range(1500):
        at = draw.randrange(0, len(data) // 4) * 4
        value = draw.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, draw.getrandbits(32), len(data), len(data) - 2])
        broken = data[:at] + struct.pack("<I", value) + data[at + 4 :]
        try:
            model = unpack(broken)
        except ModelFileError:
            refused += 1
        else:
            Tagger.of(model).tag([["w1", "bias"], {"v2": 0.5}])
    assert refused > 200
    for offset in range(28, HEADER.size, 4):  # the places of the parts
        with pytest.raises(ModelFileError):
            unpack(data[:offset] + struct.pack("<I", len(data) - 1) + data[offset + 4 :])


def test_the_header_is_crfsuites(crf):
    found = header(pack(crf._model))
    assert (found.magic, found.kind, found.version) == (b"lCRF", b"FOMC", 100)
    assert found.size == len(pack(crf._model))
    assert (found.num_labels, found.num_attrs) == (4, crf.num_attributes_)


def test_recognisers_and_models_over_attributes_are_told_apart(crf, tmp_path):
    crf.save(tmp_path / "m.loom")
    with pytest.raises(ModelFileError, match=r"spanloom\.compat\.CRF\.load"):
        Recognizer.load(tmp_path / "m.loom")
    from spanloom import Mention, Sentence

    Recognizer("chain").fit([Sentence(["a", "b"], [Mention("X", ((0, 1),))])]).save(tmp_path / "r.loom")
    with pytest.raises(ModelFileError, match=r"spanloom\.Recognizer\.load"):
        CRF.load(tmp_path / "r.loom")


def test_arrays_that_do_not_fit_are_refused(crf):
    arrays, head = stored.to_arrays(crf._model, {})
    for name, wrong in (("ptr", arrays["ptr"][:-1]), ("columns", arrays["columns"] + 9), ("ends", arrays["ends"][:3])):
        with pytest.raises(ModelFileError, match="damaged"):
            stored.from_arrays({**arrays, name: wrong}, head)
    with pytest.raises(ModelFileError, match="damaged"):
        stored.from_arrays({k: v for k, v in arrays.items() if k != "weights"}, head)


def test_families_say_what_the_attributes_are():
    none = np.zeros(0)

    def model(*names: str) -> ChainModel:
        empty = none.astype(np.uint32)
        return ChainModel([], list(names), np.zeros(1 + len(names), np.int64), empty, none, empty, empty, none)

    tutorial = model(
        "word.lower():the", "word.lower():a", "bias", "-1:word.istitle()", "+1:tag:NN", "w[0]=x:y", "word[-3:]=ing"
    )
    kinds = {"word.lower()": 2, "bias": 1, "-1:word.istitle()": 1, "+1:tag": 1, "w[0]": 1, "word[-3:]": 1}
    assert tutorial.families() == kinds
    assert not tutorial.has_templates()
    assert model("w[0]=rain", "w[-1]|w[0]=the|rain", "pos[1]=", "__BOS__").has_templates()
    assert not model().has_templates()
