"""Corpora in files: one module a format, ``read`` and ``write`` for all of them."""

from spanloom.formats.reading import Corpus, read, write
from spanloom.formats.reference import Reference
from spanloom.formats.report import Problem, Report

__all__ = ["Corpus", "Problem", "Reference", "Report", "read", "write"]
