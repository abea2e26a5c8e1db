"""A disk cache of the output of parsers and taggers, by their identity and their input."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from spanloom.annotators.base import Columns
from spanloom.corpus.document import Sentence


class Cache:
    """One file a parser, one line a sentence: ``{"key": …, "tree": {…}}``. Lines that cannot be read are skipped.

    Parameters
    ----------
    folder
        Made if it is not there.
    identity
        Of the parser or tagger.
    reads
        The columns that its work depends on, besides the words.
    """

    def __init__(self, folder: Path, identity: str, reads: Sequence[str]) -> None:
        self._reads = reads
        self._path = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:24]}.jsonl"
        self._trees: dict[str, Columns] = {}
        if self._path.exists():
            with open(self._path, encoding="utf-8") as lines:
                for line in lines:
                    self._load(line)

    def _load(self, line: str) -> None:
        try:
            entry = json.loads(line)
            self._trees[entry["key"]] = entry["tree"]
        except (ValueError, KeyError, TypeError):
            return  # a line that was cut off, when a run was stopped

    def find(self, sentence: Sentence) -> Columns | None:
        """Return the tree of a sentence, or None."""
        return self._trees.get(self._key(sentence))

    def add(self, pairs: Sequence[tuple[Sentence, Columns]]) -> None:
        """Keep trees."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._path, "a", encoding="utf-8") as out:
            for sentence, tree in pairs:
                key = self._key(sentence)
                self._trees[key] = tree
                out.write(json.dumps({"key": key, "tree": tree}, ensure_ascii=False) + "\n")

    def _key(self, sentence: Sentence) -> str:
        read = [sentence.tokens, *(sentence.columns.get(name) for name in self._reads)]
        return hashlib.sha256(json.dumps(read).encode()).hexdigest()


def remembered(
    sentences: Sequence[Sentence], make: Callable[[Sequence[Sentence]], Sequence[Columns]], store: Cache | None
) -> list[Columns]:
    """Return the columns of each sentence from the cache; missing ones are made by ``make`` and added to it."""
    if store is None:
        return list(make(sentences)) if sentences else []
    known = [store.find(sentence) for sentence in sentences]
    missing = [sentence for sentence, tree in zip(sentences, known, strict=True) if tree is None]
    made = list(make(missing)) if missing else []
    if made:
        store.add(list(zip(missing, made, strict=True)))
    rest = iter(made)
    return [next(rest) if tree is None else tree for tree in known]
