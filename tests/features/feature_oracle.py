"""Features by definition, in plain Python: slow, and written apart from the library (only the grammar is shared)."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter

from spanloom.features.templates import FLAGS, Template, View

GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
]


def category(char: str) -> str:
    return unicodedata.category(char)


def is_letter(char: str) -> bool:
    return category(char)[0] == "L"


def is_upper(char: str) -> bool:
    return category(char) in ("Lu", "Lt")


def is_lower(char: str) -> bool:
    return category(char) == "Ll"


def is_digit(char: str) -> bool:
    return category(char) == "Nd"


def is_mark(char: str) -> bool:
    return category(char)[0] == "M"


def shape(text: str) -> str:
    out = ""
    for char in text:
        if is_upper(char):
            out += "X"
        elif is_lower(char):
            out += "x"
        elif is_letter(char):
            out += "c"
        elif is_digit(char):
            out += "9"
        elif not is_mark(char):
            out += char
    return out


def collapsed(text: str) -> str:
    return "".join(char for char, _ in itertools.groupby(shape(text)))


def digits(text: str) -> str:
    return "".join("0" if is_digit(char) else char for char in text)


def squeezed(text: str) -> str:
    return "".join("0" if group else "".join(chars) for group, chars in itertools.groupby(text, is_digit))


def lower(text: str) -> str:
    return "".join(char.lower() for char in text)


def flag(name: str, text: str) -> bool:
    bare = [char for char in text if not is_mark(char)]
    first, last = text[:1], text[-1:]
    low = lower(text)
    return {
        "all_caps": lambda: bool(bare) and all(map(is_upper, bare)),
        "all_digits": lambda: bool(text) and all(map(is_digit, text)),
        "alphanumeric": lambda: bool(bare) and all(is_letter(c) or is_digit(c) for c in bare),
        "all_lower": lambda: bool(bare) and all(map(is_lower, bare)),
        "has_digit": lambda: any(map(is_digit, text)),
        "has_dot": lambda: "." in text,
        "has_hyphen": lambda: any(category(c) == "Pd" for c in text),
        "initial_capital": lambda: bool(first) and is_upper(first),
        "lonely_initial": lambda: len(text) == 2 and is_upper(first) and last == ".",
        "punctuation": lambda: bool(text) and all(category(c)[0] in "PS" for c in text),
        "roman_numeral": lambda: (
            bool(text) and bool(re.fullmatch("M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", text))
        ),
        "single_char": lambda: len(text) == 1,
        "url": lambda: bool(re.search("^.+?://", low, re.DOTALL)) or bool(re.match(r"www\..", low, re.DOTALL)),
        "title_case": lambda: bool(first) and is_upper(first) and len(bare) > 1 and all(map(is_lower, bare[1:])),
        "inner_capital": lambda: any(map(is_upper, text[1:])) and any(map(is_lower, text)),
        "letters_and_digits": lambda: any(map(is_letter, text)) and any(map(is_digit, text)),
        "real_number": lambda: real_number(text),
        "starts_with_digit": lambda: bool(first) and is_digit(first),
        "ends_with_digit": lambda: bool(last) and is_digit(last),
        "starts_with_hyphen": lambda: bool(first) and category(first) == "Pd",
        "ends_with_hyphen": lambda: bool(last) and category(last) == "Pd",
        "has_slash": lambda: "/" in text,
        "has_bracket": lambda: any(c in "()[]{}" for c in text),
        "has_comma": lambda: "," in text,
        "has_apostrophe": lambda: "'" in text or "\N{RIGHT SINGLE QUOTATION MARK}" in text,
        "has_symbol": lambda: any(category(c)[0] == "S" for c in text),
        "greek_letter": lambda: any(is_letter(c) and unicodedata.name(c, "").startswith("GREEK ") for c in text),
        "greek_name": lambda: any(
            lower("".join(run)) in GREEK for letter, run in itertools.groupby(text, is_letter) if letter
        ),
        "dna_sequence": lambda: len(text) >= 4 and all(c in "ACGTU" for c in text),
    }[name]()


def real_number(text: str) -> bool:
    marked = "".join("0" if is_digit(char) else char for char in text)
    return bool(re.fullmatch("[+\N{MINUS SIGN}-]?0+([.,]0+)+", marked))


def apply(kind, op, text: str, resources) -> list[str]:
    if kind in ("shape", "collapsed", "digits", "squeezed", "lower"):
        return [globals()[kind](text)]
    if kind == "length":
        return [str(len(text))]
    if kind == "values":
        return [part for part in text.split("|") if part]
    lengths = range(op.low, op.high + 1)
    if kind == "prefix":
        return [text[:k] for k in lengths if k <= len(text)]
    if kind == "suffix":
        return [text[len(text) - k :] for k in lengths if k <= len(text)]
    if kind == "ngrams":
        return [text[i : i + k] for k in lengths for i in range(len(text) - k + 1)]
    if kind == "flags":
        chosen = [name for name in FLAGS if not op.names or name in op.names]
        if op.both:
            return [f"{name}={str(flag(name, text)).lower()}" for name in chosen]
        return [name for name in chosen if flag(name, text)]
    found = resources[op.names[0]].get(text, [])
    return list(found) if kind == "lookup" else [value[:k] for value in found for k in op.lengths]


def view_values(view: View, text: str, resources=None) -> list[str]:
    values = [text]
    for op in view.operations:
        values = [new for old in values for new in apply(op.kind, op, old, resources or {})]
    return list(dict.fromkeys(values))


def read(view: View, sentence, at: int, resources) -> list[str]:
    if 0 <= at < len(sentence.tokens):
        return view_values(view, sentence.column(view.column)[at], resources)
    if any(op.kind in ("prefix", "suffix", "ngrams", "flags") for op in view.operations):
        return []
    return ["<s>" if at < 0 else "</s>"]


def row_names(template: Template, sentence, i: int, resources) -> list[tuple[str, float]]:
    """The features of one template at one row, by name, with their values."""
    n = len(sentence.tokens)
    if template.kind == "bias":
        return [("bias", 1.0)]
    if template.kind == "own":
        at = i + template.offset
        if not 0 <= at < n or sentence.features is None:
            return []
        return [(f"{template.labels()[0]}={name}", value) for name, value in own_items(sentence.features[at])]
    if template.kind == "bag":
        inside = [a for a in template.atoms if 0 <= i + a.offset < n]
        values = [v for a in inside for v in read(a.view, sentence, i + a.offset, resources)]
        # Code point order is UTF-8 byte order.
        return [(f"{template.labels()[0]}={{{' '.join(sorted(values))}}}", 1.0)] if values else []
    lists = [read(a.view, sentence, i + a.offset, resources) for a in template.atoms]
    return [
        (" & ".join(f"{label}={value}" for label, value in zip(template.labels(), combination, strict=True)), 1.0)
        for combination in itertools.product(*lists)
    ]


def own_items(features) -> list[tuple[str, float]]:
    if not isinstance(features, dict):
        return [(name, 1.0) for name in features]
    items = []
    for key, value in features.items():
        if isinstance(value, str):
            items.append((f"{key}:{value}", 1.0))
        elif isinstance(value, (dict, list)):
            items.extend((f"{key}:{name}", inner) for name, inner in own_items(value))
        else:
            items.append((key, float(value)))
    return items


def rows(feature_set, sentences, sites="tokens") -> list[list[tuple[str, float, Template]]]:
    """Every row's features, template by template."""
    templates = feature_set.parsed()
    return [
        [(*named, template) for template in templates for named in row_names(template, s, i, feature_set.resources)]
        for s in sentences
        for i in range(len(s.tokens) + (sites == "gaps"))
    ]


def fit(feature_set, sentences, sites="tokens") -> tuple[list[str], list[list[tuple[str, float]]]]:
    """Names by id, and the known features of every row."""
    table = rows(feature_set, sentences, sites)
    counts: Counter[str] = Counter()
    minimum: dict[str, int] = {}
    for row in table:
        for name, _, template in row:
            counts[name] += 1
            minimum[name] = feature_set.min_count if template.min_count is None else template.min_count
    # Counter keeps the order of first occurrence, and sorted() is stable.
    names = [name for name in sorted(counts, key=lambda name: -counts[name]) if counts[name] >= minimum[name]]
    known = set(names)
    return names, [[(name, value) for name, value, _ in row if name in known] for row in table]
