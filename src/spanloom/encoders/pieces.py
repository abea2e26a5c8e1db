"""From words to the pieces that a network reads: string work once for every distinct word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.extras import need

Numbers = npt.NDArray[np.int64]
SAMPLE = "a"


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of many sentences, one after the other.

    Attributes
    ----------
    ids
        By piece: its number in the vocabulary.
    word_ptr
        ``[words + 1]``: word ``w`` has the pieces ``word_ptr[w]`` to ``word_ptr[w + 1]``, at least one.
    sentence_ptr
        ``[sentences + 1]``: sentence ``s`` has the words ``sentence_ptr[s]`` to ``sentence_ptr[s + 1]``.
    """

    ids: Numbers
    word_ptr: Numbers
    sentence_ptr: Numbers

    @property
    def sizes(self) -> Numbers:
        """Of each sentence, its number of pieces."""
        return np.diff(self.word_ptr[self.sentence_ptr])


class PieceTokenizer:
    """Cuts words into pieces, each word by itself.

    Parameters
    ----------
    text
        The JSON of a tokenizer, as the library ``tokenizers`` writes it.

    Attributes
    ----------
    before, after
        The numbers of the special pieces before and after a sequence.
    pad
        What short rows of a batch are filled up with; it is not looked at.
    """

    def __init__(self, text: str) -> None:
        library = need("tokenizers", "encoder")
        self.text = by_words(text)
        try:
            self._native = library.Tokenizer.from_str(self.text)
        except Exception as error:
            raise ModelFileError(f"the tokenizer of the encoder is damaged: {error}") from None
        self._native.no_padding()
        self._native.no_truncation()
        plain = self._cut([SAMPLE], False)[0]
        whole = self._cut([SAMPLE], True)[0]
        first = next((i for i in range(len(whole)) if whole[i : i + len(plain)] == plain), 0) if plain else 0
        self.before, self.after = whole[:first], whole[first + len(plain) :]
        unknown = [self._native.token_to_id(name) for name in ("[UNK]", "<unk>", "<|unk|>")]
        known = [number for number in unknown if number is not None]
        self._nothing = known[:1] or (plain[:1] or [0])
        pads = [self._native.token_to_id(name) for name in ("[PAD]", "<pad>")]
        self.pad = next((number for number in pads if number is not None), 0)
        self._known: dict[str, list[int]] = {}

    def _cut(self, words: Sequence[str], special: bool) -> list[list[int]]:
        made = self._native.encode_batch([[w] for w in words], is_pretokenized=True, add_special_tokens=special)
        return [one.ids for one in made]

    def cut(self, sentences: Iterable[Sequence[str]]) -> Pieces:
        """Cut the words of sentences; a word of which the tokenizer leaves nothing becomes the unknown piece."""
        tokens = [list(words) for words in sentences]
        known = self._known
        new = list({word: None for words in tokens for word in words if word not in known})
        for word, own in zip(new, self._cut(new, False), strict=True):
            known[word] = own or self._nothing
        flat = [known[word] for words in tokens for word in words]
        sizes = np.fromiter(map(len, flat), np.int64, len(flat))
        total = int(sizes.sum())
        ids = np.fromiter((number for one in flat for number in one), np.int64, total)
        if len(known) > 1_000_000:  # a stream of text has no end, memory has
            known.clear()
        return Pieces(ids, _bounds(sizes), _bounds(np.array([len(words) for words in tokens], np.int64)))


def by_words(text: str) -> str:
    """Return the JSON of a tokenizer so that words which stand alone are read as within text: with a blank before."""
    try:
        data: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise ModelFileError(f"the tokenizer of the encoder is damaged: {error}") from None
    if not isinstance(data, dict) or "model" not in data:
        raise ParameterError("the tokenizer of the encoder is no JSON of the library tokenizers")
    whole = data.get("pre_tokenizer") or {}
    for one in [whole, *(whole.get("pretokenizers") or ())]:
        if isinstance(one, dict) and one.get("type") == "ByteLevel":
            one["add_prefix_space"] = True
        if isinstance(one, dict) and one.get("type") == "Metaspace":
            one["prepend_scheme"] = "always"
    data["padding"] = data["truncation"] = None
    return json.dumps(data, ensure_ascii=False, sort_keys=False, separators=(",", ":"))


def _bounds(sizes: Numbers) -> Numbers:
    ptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr
