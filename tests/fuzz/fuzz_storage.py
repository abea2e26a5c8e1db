"""Feed the model file loader with what a coverage-guided fuzzer finds.

::

    pip install atheris
    python tests/fuzz/fuzz_storage.py -max_total_time=60

Whatever the bytes are, loading gives arrays or ``ModelFileError``; anything else stops the fuzzer, which then shows
the bytes that did it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zlib
from pathlib import Path

import atheris

from spanloom.base.errors import ModelFileError
from spanloom.base.model_file import load_arrays

PATH = Path(tempfile.mkdtemp()) / "m.loom"


def one_input(raw: bytes) -> None:
    """Load the bytes as they are, and again as table and arrays of a file whose checksum is right."""
    _load(raw)
    table, _, data = raw.partition(b"\0")
    metadata = {"checksum": "0" * 8, "data_checksum": "", "format": "spanloom", "format_version": "1", "header": "{}"}
    text = b'{"__metadata__":' + json.dumps(metadata, separators=(",", ":")).encode() + b"," + table + b"}"
    text += b" " * (-(8 + len(text)) % 64)
    text = text.replace(b'"checksum":"00000000"', b'"checksum":"%08x"' % zlib.crc32(text), 1)
    _load(len(text).to_bytes(8, "little") + text + data)


def _load(raw: bytes) -> None:
    PATH.write_bytes(raw)
    try:
        arrays, _ = load_arrays(PATH, verify=False)
        for array in arrays.values():
            array.sum()
    except ModelFileError:
        pass


if __name__ == "__main__":
    atheris.instrument_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
