"""The GENIA term corpus (version 3): XML with nested terms and coordinations, with the POS text of its articles."""

from spanloom.formats.genia.reader import finds_files, read

__all__ = ["finds_files", "read"]
