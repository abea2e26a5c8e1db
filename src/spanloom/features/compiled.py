"""From parsed templates to the native program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanloom._native import FeatureProgram
from spanloom.features.grammar import AFFIXES, FLAGS, LOOKUPS, Operation, Template, View

Resources = Mapping[str, Mapping[str, Sequence[str]]]
"""By name: a table from a string to zero or more strings."""


def compile_templates(
    templates: Sequence[Template], resources: Resources, min_count: int = 1
) -> tuple[FeatureProgram, list[str]]:
    """Return the native program and the names of the columns that it reads, ``word`` first."""
    views = list(dict.fromkeys(atom.view for template in templates for atom in template.atoms))
    columns = list(dict.fromkeys(["word", *(view.column for view in views)]))
    tables = list(dict.fromkeys(op.names[0] for view in views for op in view.operations if op.kind in LOOKUPS))
    view_index = {view: i for i, view in enumerate(views)}
    return FeatureProgram(
        len(columns),
        [(columns.index(view.column), [_operation(op, tables) for op in view.operations]) for view in views],
        [
            (
                t.kind,
                [(0, t.offset)] if t.kind == "own" else [(view_index[a.view], a.offset) for a in t.atoms],
                min_count if t.min_count is None else t.min_count,
                t.labels(),
            )
            for t in templates
        ],
        [[(key, list(values)) for key, values in resources[name].items()] for name in tables],
    ), columns


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


def _operation(op: Operation, tables: Sequence[str]) -> tuple[str, list[int]]:
    if op.kind in AFFIXES:
        return op.kind, [op.low, op.high]
    if op.kind == "flags":
        return op.kind, [int(op.both), *(FLAGS.index(name) for name in op.names or FLAGS)]
    if op.kind in LOOKUPS:
        return op.kind, [tables.index(op.names[0]), *op.lengths]
    return op.kind, []
