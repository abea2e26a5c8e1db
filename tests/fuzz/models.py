"""Files of models from strangers: ours, and CRFsuite's. What opens must also work."""

from __future__ import annotations

import struct
from pathlib import Path

from fuzz.places import folder
from fuzz.target import ALLOWED, Run, Target
from spanloom import Recognizer
from spanloom.base.model_file import load_arrays
from spanloom.compat import crfsuite_file, stored
from spanloom.compat.model import ChainModel
from spanloom.corpus import Document, Sentence

FIXTURES = Path(__file__).parent.parent / "fixtures" / "models-0.1"
OPENED = ("spans", "semimarkov", "chain", "edge", "memm", "multilabel", "cascade", "annotators")
"""Files of the fixtures that the fuzzer begins with: one of each way to be restored."""

TEXT = Document(
    [Sentence(["The", "XY-7", "gene", "binds", "it", "."], columns={"pos": ["D", "N", "N", "V", "N", "."]})]
)


def arrays() -> Run:
    """The layout alone: arrays and JSON, or ``ModelFileError``."""
    path = folder("arrays") / "m.loom"

    def run(raw: bytes) -> None:
        path.write_bytes(raw)
        try:
            found, _ = load_arrays(path, verify=False)
            for array in found.values():
                array.sum()
        except ALLOWED:
            pass

    return run


def recognizer() -> Run:
    """A recogniser that opens must find mentions in a sentence, or say why not."""
    path = folder("model") / "m.loom"

    def run(raw: bytes) -> None:
        path.write_bytes(raw)
        try:
            ner = Recognizer.load(path, threads=1)
            ner.predict([TEXT])
            ner.to_bytes()
        except ALLOWED:
            pass

    return run


def crfsuite() -> Run:
    """A model of CRFsuite's that opens must tag, and come back from its own file the same."""
    path = folder("crfsuite") / "m.crfsuite"

    def run(raw: bytes) -> None:
        path.write_bytes(raw)
        try:
            model, _ = stored.load(path)
            model.tagger  # noqa: B018
            again = crfsuite_file.unpack(crfsuite_file.pack(model))
        except ALLOWED:
            return
        if (again.labels, again.attributes) != (model.labels, model.attributes):
            raise AssertionError("a CRFsuite model does not come back from its own file")

    return run


def _crfsuite_seed() -> bytes:
    import numpy as np

    model = ChainModel(
        ["O", "B-X"], ["w=a", "w=b"], np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), np.array([0.5, -1.0, 2.0]),
        np.array([0, 1], np.uint32), np.array([1, 0], np.uint32), np.array([0.25, -0.5]),
    )  # fmt: skip
    return crfsuite_file.pack(model)


_FILES = tuple((FIXTURES / f"{name}.loom").read_bytes() for name in OPENED)
_KINDS = ("F32", "F64", "I32", "U32", "BOOL", "U8", "data_offsets", "__metadata__", "format_version", "spanloom")
TARGETS = [
    Target("arrays", arrays, _FILES[:2], _KINDS, "model"),
    Target("recognizer", recognizer, _FILES, ("chain", "edge", "lbfgs", "default"), "model"),
    Target(
        "crfsuite", crfsuite, (_crfsuite_seed(),),
        ("lCRF", "FOMC", "FEAT", "LFRF", "AFRF", "CQDB", *(struct.pack("<I", n).decode("latin-1") for n in (1, 255))),
    ),
]  # fmt: skip
