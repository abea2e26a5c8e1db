"""Words of users: templates, settings and feature sets in TOML, references, tables of words."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache

from fuzz.places import folder
from fuzz.target import ALLOWED, Run, Target
from spanloom.annotators import Lexicon
from spanloom.configuration import configure, read_config
from spanloom.corpus import Sentence
from spanloom.corpus.token_rules import TokenRules
from spanloom.features.feature_set import FeatureSet
from spanloom.features.grammar import parse_template, parse_view
from spanloom.features.resources import read_resource
from spanloom.formats import reference
from spanloom.formats.reference import Reference


def text_of(raw: bytes) -> str:
    """Any string, also with halves of surrogate pairs."""
    return raw.decode("utf-8", "surrogateescape")


def templates() -> Run:
    """A template that is understood is written so that it is understood again, as the same."""

    def run(raw: bytes) -> None:
        text = text_of(raw)
        with suppress(*ALLOWED):
            parse_view(text)
        try:
            found = parse_template(text)
        except ALLOWED:
            return
        for template in found[:50]:
            if parse_template(str(template)) != [template]:
                raise AssertionError(f"{template} is another template when it is read again")

    return run


def config() -> Run:
    """Settings in TOML give a recogniser whose settings can be asked for."""
    path = folder("config") / "settings.toml"

    def run(raw: bytes) -> None:
        path.write_bytes(raw)
        with suppress(*ALLOWED):
            configure(read_config(path)).get_params(deep=True)

    return run


def features() -> Run:
    """A feature set in TOML, and what it reads of a word."""
    place = folder("features")
    (place / "a.tsv").write_text("gene\tx\n")

    def run(raw: bytes) -> None:
        if b"/" in raw or b".." in raw:  # paths that lead to other files of this machine
            return
        (place / "set.toml").write_bytes(raw)
        try:
            found = FeatureSet.from_toml(place / "set.toml")
            found.columns()
            found.values("lower(word)", "GENE")
        except ALLOWED:
            pass

    return run


def references() -> Run:
    """A reference that is understood is written so that it is understood again, as the same."""
    empty = folder("references")
    slow, quick = reference.plugins, cache(reference.plugins)  # what is installed does not change meanwhile

    def run(raw: bytes) -> None:
        text = text_of(raw)
        if "/" in text or ".." in text:  # a folder elsewhere would be searched
            return
        here = os.getcwd()
        os.chdir(empty)
        reference.plugins = quick
        try:
            found = Reference.parse(text)
            again = Reference.parse(str(found))
        except ALLOWED:
            return
        finally:
            os.chdir(here)
            reference.plugins = slow
        if again != found and "?" not in found.path:
            raise AssertionError(f"{found!r} is {again!r} when it is read again")

    return run


def tables() -> Run:
    """Tables of words, in both formats."""
    path = folder("tables") / "a.tsv"

    def run(raw: bytes) -> None:
        path.write_bytes(raw)
        for form in ("tsv", "brown"):
            with suppress(*ALLOWED):
                read_resource(path, form)

    return run


def lexicons() -> Run:
    """A list of names, found in a sentence that has some of them."""
    place = folder("lexicons")

    def run(raw: bytes) -> None:
        for name in ("a.txt", "a.tsv", "a.csv"):
            (place / name).write_bytes(raw)
            try:
                lexicon = Lexicon.read("x", place / name)
                lexicon.columns([Sentence(["XY", "-", "7", "gene"])])
            except ALLOWED:
                pass

    return run


def token_rules() -> Run:
    """Names of ways to cut."""

    def run(raw: bytes) -> None:
        with suppress(*ALLOWED):
            TokenRules.named(text_of(raw))("XY-7 don't")

    return run


_VIEWS = (
    "word",
    "lower(",
    "suffix(",
    "prefix(",
    "shape(",
    "cluster(",
    "first(",
    "last(",
    "segment(",
    "bag(",
    "left(",
    "right(",
)
_MARKS = ("[between]", "[left..right]", "[-1..1]", ">=2", " & ", "own", "bias", "distance", "size", "head(word)")
_TABLES = (
    "[model]",
    "[trainer]",
    "[decide]",
    "[model.base]",
    'name = "cascade"',
    "l2 = 0.5",
    'features = "gaps"',
    "order = 1",
)
TARGETS = [
    Target(
        "templates",
        templates,
        (b"suffix(lower(word), 1..3)[-1..0] & shape(word)", b"segment(pos)[left..right] >= 2", b"bag(word, -3..3)"),
        (*_VIEWS, *_MARKS),
    ),
    Target(
        "config",
        config,
        (
            b'features = "gaps"\n[model]\nname = "cascade"\n[model.base]\nname = "memm"\norder = 1\n'
            b'[trainer]\nname = "lbfgs"\nl2 = 0.5\n',
            b'model = "edge"\nkeep = "longest"\nseed = 3\n[decide]\nname = "f1"\n',
        ),
        _TABLES,
    ),
    Target(
        "features",
        features,
        (b'name = "x"\nmin_count = 2\ntemplates = ["word[-1..1]", "in(word, g)"]\n[resources]\ng = "a.tsv"\n',),
        (*_VIEWS, "templates = [", "[resources]", 'format = "brown"'),
    ),
    Target(
        "references",
        references,
        (b"genia:a?classes=5&split=dev", b"news.conll", b"jsonl:-", b"a.jsonl.gz?text=x%20y"),
        ("jsonl:", "genia:", "?", "&", "=", "%00", ".gz", "*", "[", "-"),
    ),
    Target("tables", tables, (b"gene\ta\tb\n", b"0110\tgene\t12\n")),
    Target("lexicons", lexicons, (b"XY-7\tgene\nXY\tprotein\n", b'"a, b",x\n')),
    Target("token-rules", token_rules, (b"default,hyphens,slashes", b"space")),
]
