"""What a reader or writer has to say about the data: problems, each with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Literal

from spanloom.base.counted import counted
from spanloom.base.errors import CorpusError, SpanloomError
from spanloom.corpus.token_rules import TokenRules
from spanloom.formats.reference import Reference

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the data.

    Parameters
    ----------
    kind
        A short name that problems of one sort share, e.g. ``"misaligned"``.
    where
        The place: ``file:line``, or file and document.
    message
        What is wrong there, with the values.
    severity
        An error loses or contradicts an annotation; a warning was survived without loss.
    """

    kind: str
    where: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Report:
    """Collects problems while a corpus is read or written.

    Parameters
    ----------
    strict
        Raise at once where a record cannot be read at all. Otherwise note it and let the reader go on with the next.
    limit
        How many problems to keep word for word; all are counted.
    ref
        What is read or written; a corpus fills it in.
    listener
        Called with every problem, also with those above the limit.
    tokenizer
        How texts without tokens are cut; our default if not given.
    replaced
        Whether the mentions of the data will be replaced by others: those inside tokens then grow to whole ones.

    Attributes
    ----------
    given
        What the user typed, where ``ref`` has options that were added to it.
    cut
        How many texts without tokens were cut.
    documents, mentions
        How many were written.
    stopped
        The error, or Ctrl-C, that ended the documents before they were all written.
    partial
        Where those are that were written before.

    Examples
    --------
    >>> report = Report(strict=False)
    >>> report.error("misaligned", "a.ann:3", "'IL' ends inside the token 'IL2'")
    >>> report.counts["misaligned"]
    1
    >>> report.raise_errors("align=split")
    Traceback (most recent call last):
    ...
    spanloom.base.errors.CorpusError: 1 problem (1 misaligned); align=split
      a.ann:3: 'IL' ends inside the token 'IL2'
    """

    def __init__(
        self,
        strict: bool = True,
        limit: int = 10_000,
        *,
        ref: Reference | None = None,
        listener: Callable[[Problem], None] | None = None,
        tokenizer: TokenRules | None = None,
        replaced: bool = False,
    ) -> None:
        self.strict = strict
        self.limit = limit
        self.ref = ref
        self.tokenizer = tokenizer
        self.replaced = replaced
        self.given: Reference | None = None
        self.cut = 0
        self.documents = self.mentions = 0
        self.stopped: SpanloomError | KeyboardInterrupt | None = None
        self.partial = ""
        self._listener = listener
        self.problems: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.errors = 0

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __repr__(self) -> str:
        """Return what a notebook shows: where, how much, and which problems.

        Examples
        --------
        >>> report = Report(ref=Reference("jsonl", "out.jsonl"))
        >>> report.documents, report.mentions = 1, 3
        >>> report.warning("columns", "out.jsonl", "the column pos was left out")
        >>> report
        Report('jsonl:out.jsonl': 1 document, 3 mentions; 1 columns)
        """
        where = f"{str(self.ref)!r}: " if self.ref is not None else ""
        written = f"{counted(self.documents, 'document')}, {counted(self.mentions, 'mention')}; " * bool(self.documents)
        problems = ", ".join(f"{n:,} {kind}" for kind, n in self.counts.most_common())
        return f"Report({where}{written}{problems or 'no problems'})"

    def _repr_html_(self) -> str:
        """Show the problems in notebooks: how many of each kind, and the first of each."""
        first: dict[str, Problem] = {}
        for problem in self.problems:
            first.setdefault(problem.kind, problem)
        rows = ""
        for kind, n in self.counts.most_common():
            cells = (
                (kind, first[kind].severity, f"{n:,}", str(first[kind])) if kind in first else (kind, "", f"{n:,}", "")
            )
            rows += f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        head = "".join(f"<th>{name}</th>" for name in ("problem", "", "times", "the first"))
        table = f"<table><tr>{head}</tr>{rows}</table>" if rows else ""
        return f"<div><p>{escape(repr(self))}</p>{table}</div>"

    def _add(self, problem: Problem) -> None:
        self.counts[problem.kind] += 1
        self.errors += problem.severity == "error"
        if len(self.problems) < self.limit:
            self.problems.append(problem)
        if self._listener is not None:
            self._listener(problem)

    def typed(self, **options: str | None) -> str:
        """Return the reference to type for what is read or written, with these options beside or instead of its own.

        An option that is None is left out.

        Examples
        --------
        >>> Report(ref=Reference("brat", "novels", {"tokens": "space"})).typed(align="expand")
        "'brat:novels?tokens=space&align=expand'"
        """
        ref = self.given or self.ref or Reference("FORMAT", "FILE")
        wanted = {name: value for name, value in {**ref.options, **options}.items() if value is not None}
        return f"'{Reference(ref.format, ref.path, wanted)}'"

    def error(self, kind: str, where: str, message: str) -> None:
        """Note something that loses or contradicts an annotation; ``raise_errors`` speaks about it at the end."""
        self._add(Problem(kind, where, message))

    def warning(self, kind: str, where: str, message: str) -> None:
        """Note something that was survived without loss."""
        self._add(Problem(kind, where, message, "warning"))

    def broken(self, kind: str, where: str, message: str) -> None:
        """Note a record that cannot be read: raises if ``strict``, otherwise the reader goes on with the next one."""
        if self.strict:
            raise CorpusError(message, where)
        self._add(Problem(kind, where, message))

    def raise_errors(self, way_out: str = "") -> None:
        """Raise ``CorpusError`` with all errors counted and the first ten shown, if there are any."""
        if not self.errors:
            return
        errors = [p for p in self.problems if p.severity == "error"]
        kinds = Counter(p.kind for p in errors)
        parts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        head = f"{self.errors} problem{'s' if self.errors > 1 else ''} ({parts})"
        lines = [f"{head}; {way_out}" if way_out else head, *(f"  {p}" for p in errors[:10])]
        if self.errors > 10:
            lines.append(f"  … and {self.errors - 10} more")
        raise CorpusError("\n".join(lines), at_end=True)
