"""FeatureSet: what a model looks at, as data."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.plugins import FEATURES, load_plugin, plugins
from spanloom.base.toml import read_toml
from spanloom.features.compiled import Resources, view_values
from spanloom.features.grammar import parse_template, parse_view
from spanloom.features.resources import read_resource
from spanloom.features.separator_sets import clusters
from spanloom.features.sets import BY_SITES, NAMED
from spanloom.features.templates import LOOKUPS, SIZE, Template, View

_BROWN = re.compile(r"\bbrown\b")


@dataclass(frozen=True)
class FeatureSet:
    """Templates, a frequency cut-off, and the tables that the templates look words up in.

    Parameters
    ----------
    templates
        Lines of the template language (see ``docs/features.md``), e.g. ``"word[-1] & word[0]"``.
    name
        For reports.
    min_count
        Features seen fewer times in the training data are dropped; a template that ends in ``>= COUNT`` has its own.
    resources
        By name: a table from a string to zero or more strings, for ``lookup`` and ``cluster``.

    Examples
    --------
    >>> features = FeatureSet(["word[-1..1]", "suffix(word, 1..3)", "word[-1] & word[0]"])
    >>> [str(t) for t in features.parsed()]
    ['word[-1]', 'word[0]', 'word[1]', 'suffix(word, 1..3)[0]', 'word[-1] & word[0]']
    >>> features.columns()
    ['word']
    """

    templates: Sequence[str]
    name: str = "custom"
    min_count: int = 1
    resources: Resources = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.templates, str):
            raise ParameterError(f"templates must be a list of strings, got the string {self.templates!r}")
        object.__setattr__(self, "templates", tuple(self.templates))
        if not self.templates:
            raise ParameterError("a feature set needs at least one template; 'bias' is the smallest")
        for text in self.templates:
            if not isinstance(text, str):
                raise ParameterError(f"a template must be a string, got {text!r}")
        if isinstance(self.min_count, bool) or not isinstance(self.min_count, int) or not 1 <= self.min_count < 2**31:
            raise ParameterError(f"min_count must be an integer in 1..{2**31 - 1}, got {self.min_count!r}")
        for template in self.parsed():
            for atom in template.atoms:
                self._check_resources(atom.view)

    @classmethod
    def named(cls, name: str, resources: Resources | None = None) -> FeatureSet:
        """Return a set by its name: spanloom's own, or one of an installed package (``spanloom.features``).

        Those with Brown clusters need the resource ``brown``.

        Examples
        --------
        >>> FeatureSet.named("own").templates
        ('own',)

        Several are joined by ``+``, e.g. with the dependency features:

        >>> FeatureSet.named("own+dep").columns()
        ['word', 'deprel', 'pos', 'head']
        """
        templates: list[str] = []
        for part in name.split("+"):
            templates += (text for text in _named(part) if text not in templates)
        return cls(templates, name=name, resources={} if resources is None else resources)

    @classmethod
    def parse(cls, templates: Iterable[str], **options: Any) -> FeatureSet:
        """Return a set of templates, one or more a string; blank lines and ``#`` comments are skipped.

        Examples
        --------
        >>> FeatureSet.parse(["word[0]  # the word itself", ""]).templates
        ('word[0]',)
        """
        lines = (line.split("#", 1)[0].strip() for text in templates for line in text.splitlines())
        return cls([line for line in lines if line], **options)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> FeatureSet:
        """Read a set from a file; ``docs/features.md`` shows one."""
        path = Path(path)
        data = read_toml(path, CorpusError)
        unknown = sorted(set(data) - {"name", "templates", "min_count", "resources"})
        if unknown:
            raise ParameterError(
                f"{path}: unknown key {unknown[0]!r}; a feature file has name, templates, min_count and resources"
            )
        tables = data.get("resources", {})
        if not isinstance(tables, dict) or not isinstance(data.get("templates"), list):
            raise ParameterError(f"{path}: templates must be a list and resources a table")
        name = data.get("name", path.stem)
        if not isinstance(name, str):
            raise ParameterError(f"{path}: name must be a string, got {name!r}")
        resources = {key: _resource(path, key, value) for key, value in tables.items()}
        try:
            return cls(data["templates"], name=name, min_count=data.get("min_count", 1), resources=resources)
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}") from None

    def parsed(self) -> list[Template]:
        """Return the templates with ranges of offsets spelled out, each once."""
        return list(_parsed(tuple(self.templates)))

    def of_tokens(self) -> list[Template]:
        """Return the templates that look at tokens."""
        return [t for t in self.parsed() if not t.of_pairs]

    def of_pairs(self) -> list[Template]:
        """Return the templates that look at pairs of tokens; models without pairs leave them aside."""
        return [t for t in self.parsed() if t.of_pairs]

    def columns(self) -> list[str]:
        """Return the columns that the data must have, ``word`` first."""
        views = [a.view for t in self.parsed() for a in t.atoms if a != SIZE]
        heads = ["head"] if any(view.head for view in views) else []
        return list(dict.fromkeys(["word", *(view.column for view in views), *heads]))

    def plus(self, templates: Iterable[str]) -> FeatureSet:
        """Return a set with these templates too."""
        more = [template for template in templates if template not in self.templates]
        return replace(self, templates=[*self.templates, *more]) if more else self

    def at(self, sites: str) -> FeatureSet:
        """Return the set as it is meant for the sites of a model: at gaps ``default`` looks at both sides alike.

        Other sets, and templates that were added, stay what they are.

        Examples
        --------
        >>> FeatureSet.named("default").at("gaps").name, FeatureSet.named("own").at("gaps").name
        ('default-gaps', 'own')
        """
        others = BY_SITES.get(sites, {})
        parts = self.name.split("+")
        templates = list(self.templates)
        for i, part in enumerate(parts):
            if part in others and set(NAMED[part]) <= set(templates):
                parts[i] = others[part]
                own = [text for text in templates if text not in NAMED[part]]
                templates = [*NAMED[parts[i]], *(text for text in own if text not in NAMED[parts[i]])]
        return replace(self, templates=templates, name="+".join(parts)) if parts != self.name.split("+") else self

    def for_sites(self, sites: str) -> FeatureSet:
        """Return the set without templates that speak of segments, if the sites are tokens or gaps.

        Examples
        --------
        >>> FeatureSet(["word", "segment(word)"]).for_sites("gaps").templates
        ('word',)
        """
        if sites not in ("tokens", "gaps"):
            return self
        kept = [text for text in self.templates if all(one.at_tokens for one in _parsed((text,)))]
        return replace(self, templates=kept) if len(kept) < len(self.templates) else self

    def with_clusters(self) -> FeatureSet:
        """Return a set with templates for its resource ``brown``, its own or one; others, ``brown2``…, get the same.

        Examples
        --------
        >>> FeatureSet(["word"], resources={"brown": {"gene": ["0110"]}}).with_clusters().templates
        ('word', 'cluster(word, brown, 4, 6, 10, 20)[-1..1]')
        """
        views = [atom.view for template in self.parsed() for atom in template.atoms]
        used = any(op.kind in LOOKUPS and op.names[0] == "brown" for view in views for op in view.operations)
        made = self if used else self.plus(clusters())
        own = [text for text in made.templates if _BROWN.search(text)]
        for name in sorted(name for name in self.resources if re.fullmatch(r"brown[0-9]+", name)):
            made = made.plus(_BROWN.sub(name, text) for text in own)
        return made

    def uses_own(self) -> bool:
        """Tell whether a template reads the user's own features."""
        return any(t.kind == "own" for t in self.parsed())

    def values(self, view: str, text: str) -> list[str]:
        """Return what a view makes of one string.

        Examples
        --------
        >>> FeatureSet.named("default").values("suffix(lower(word), 1..3)", "GENE")
        ['e', 'ne', 'ene']
        """
        parsed = parse_view(view)
        self._check_resources(parsed)
        return view_values(parsed, text, self.resources)

    def _check_resources(self, view: View) -> None:
        for op in view.operations:
            if op.kind in LOOKUPS and op.names[0] not in self.resources:
                known = ", ".join(sorted(self.resources)) or "none"
                raise ParameterError(f"{view} looks up the resource {op.names[0]!r}; resources given: {known}")


def _named(name: str) -> Sequence[str]:
    """Return the templates of a set of spanloom, or of an installed package."""
    if name in NAMED:
        return NAMED[name]
    templates = load_plugin(FEATURES, name)
    if templates is None:
        known = ", ".join([*NAMED, *plugins(FEATURES)])
        raise ParameterError(f"there is no feature set {name!r}; there are {known}. A file ends in .toml")
    if isinstance(templates, str) or not isinstance(templates, Sequence):
        raise ParameterError(f"the feature set {name!r} of an installed package is no list of templates: {templates!r}")
    return templates


def _resource(path: Path, key: str, value: object) -> dict[str, list[str]]:
    """Read a resource named in a feature file; its path counts from the folder of that file."""
    if isinstance(value, str):
        return read_resource(path.parent / value)
    if isinstance(value, Mapping) and isinstance(value.get("path"), str) and not set(value) - {"path", "format"}:
        try:
            return read_resource(path.parent / value["path"], value.get("format", "tsv"))
        except ParameterError as error:
            raise ParameterError(f"{path}: resource {key!r}: {error}") from None
    raise ParameterError(f'{path}: resource {key!r} must be a path or {{path = "…", format = "tsv" or "brown"}}')


@functools.lru_cache(maxsize=64)
def _parsed(templates: tuple[str, ...]) -> tuple[Template, ...]:
    return tuple(dict.fromkeys(t for text in templates for t in parse_template(text)))
