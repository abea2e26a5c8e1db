"""From parsed templates to the native program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanloom._native import FeatureProgram, ProgramAtom, ProgramTemplate
from spanloom.features.templates import AFFIXES, FLAGS, INDEXED, LOOKUPS, SIZE, Atom, Template, View, ViewStep

Resources = Mapping[str, Mapping[str, Sequence[str]]]
"""By name: a table from a string to zero or more strings."""

SIZE_COLUMN = 2**32 - 1
"""What the native program calls the number of tokens of a segment."""


def compile_templates(
    templates: Sequence[Template], resources: Resources, min_count: int = 1, *, at_gaps: bool = False
) -> tuple[FeatureProgram, list[str]]:
    """Return the native program and the names of the columns that it reads, ``word`` first.

    ``at_gaps``: templates that name no end of a segment look at gaps, not at every token of a segment.
    """
    views = list(dict.fromkeys(atom.view for template in templates for atom in template.atoms))
    columns = list(dict.fromkeys(["word", *(view.source for view in views if view != SIZE.view)]))
    tables = list(dict.fromkeys(op.names[0] for view in views for op in view.operations if op.kind in LOOKUPS))
    view_index = {view: i for i, view in enumerate(views)}
    return FeatureProgram(
        len(columns),
        [
            (
                SIZE_COLUMN if view == SIZE.view else columns.index(view.source),
                [_operation(op, tables) for op in view.operations],
            )
            for view in views
        ],
        [
            ProgramTemplate(
                t.kind,
                [ProgramAtom(0, t.offset)] if t.kind == "own" else [_atom(a, view_index) for a in t.atoms],
                t.labels(),
                min_count=min_count if t.min_count is None else t.min_count,
                part="gap" if at_gaps and t.at_tokens else t.part,
                index=t.atoms[0].offset if t.part in INDEXED else 0,
            )
            for t in templates
        ],
        [[(key, list(values)) for key, values in resources[name].items()] for name in tables],
    ), columns


def _atom(atom: Atom, view_index: Mapping[View, int]) -> ProgramAtom:
    offset = -atom.offset if atom.anchor == "right" else atom.offset
    return ProgramAtom(view_index[atom.view], offset, from_last=atom.anchor == "last")


def view_values(view: View, text: str, resources: Resources) -> list[str]:
    """Return what a view makes of one string."""
    tables = [op.names[0] for op in view.operations if op.kind in LOOKUPS]
    program = FeatureProgram(
        1,
        [(0, [_operation(op, tables) for op in view.operations])],
        [],
        [[(key, list(values)) for key, values in resources[name].items()] for name in tables],
    )
    return program.values(0, text)


def _operation(op: ViewStep, tables: Sequence[str]) -> tuple[str, list[int]]:
    if op.kind in AFFIXES:
        return op.kind, [op.low, op.high]
    if op.kind == "flags":
        return op.kind, [int(op.both), *(FLAGS.index(name) for name in op.names or FLAGS)]
    if op.kind in LOOKUPS:
        return op.kind, [tables.index(op.names[0]), *op.lengths]
    return op.kind, []
