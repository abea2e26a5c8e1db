"""What other packages add to spanloom, found by entry points.

A package names its additions in its ``pyproject.toml``; nothing is imported before it is asked for::

    [project.entry-points."spanloom.formats"]
    mine = "my_package.mine"            # a module with read and, if it can be written, write; see spanloom.formats
    [project.entry-points."spanloom.annotators"]
    length = "my_package:Length"        # called with what follows length: in a reference; returns an Annotator
    [project.entry-points."spanloom.features"]
    tall = "my_package:TEMPLATES"       # a sequence of templates
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanloom.base.errors import ParameterError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FORMATS, ANNOTATORS, FEATURES = "spanloom.formats", "spanloom.annotators", "spanloom.features"


def plugins(group: str) -> dict[str, EntryPoint]:
    """Return what is installed for a group, by name; raises if two packages chose the same name."""
    from importlib.metadata import entry_points  # here: it is slow to import, and rarely needed

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ParameterError(
                f"two installed packages name {entry.name!r} in {group!r}: {_source(other)} and {_source(entry)}; "
                "uninstall one of them"
            )
    return dict(sorted(found.items()))


def load_plugin(group: str, name: str) -> Any:
    """Import what a package adds under a name, or return None if no package does.

    Raises
    ------
    ParameterError
        If it cannot be imported; names the package.
    """
    entry = plugins(group).get(name)
    if entry is None:
        return None
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ParameterError(
            f"{name!r} in {group!r} comes from {_source(entry)}, which cannot be imported: {error}"
        ) from error


def _source(entry: EntryPoint) -> str:
    package = entry.dist.name if entry.dist is not None else "a package"
    return f"{package} ({entry.value})"
