"""Our own format: one JSON object per document and line. It holds everything that a document can have.

======================  ==============================================================================================
``id``                  string
``text``                the text; without it, tokens are joined by spaces and sentences by newlines
``tokens``              list of strings; without it, the text is tokenised and split into sentences by our own default
``offsets``             ``[start, end]`` in ``text`` per token; without it, tokens are looked for from left to right
``sentences``           ``[first, last]`` (half-open token range) per sentence, or an object with ``range`` and optional
                        ``chars`` (the range of the sentence in ``text``) and ``meta``; without it, one sentence
``columns``             name → one string per token (null throughout a sentence that has no such column)
``features``            per token a list of strings, or an object from string to number, string or bool
``mentions``            objects with ``label``; ``parts`` (half-open token ranges) or ``chars`` (half-open character
                        ranges), or both, which must agree; optional ``text`` (the characters, parts joined by
                        ``" … "``), ``prob`` and ``attributes`` (string → string)
``meta``                object; ``alternatives`` in a sentence's meta are mentions (BioCreative's rule), in its tokens
======================  ==============================================================================================
"""

from spanloom.formats.jsonl.files import read, write
from spanloom.formats.jsonl.parsing import parse
from spanloom.formats.jsonl.records import to_dict

__all__ = ["parse", "read", "to_dict", "write"]

keeps_known = True
keeps_probabilities = True
