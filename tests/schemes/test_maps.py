"""Maps between representations: against brute force and the paper's figure 1, tying against its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from segmentations import segmentations

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus.tags import SCHEMES, to_tags
from spanloom.schemes import Representations, convert, label_map, lattice, mappable
from spanloom.schemes.maps import PAPER

SENTENCES = [(n, chunks) for n in (1, 5) for chunks in segmentations(n, ("a",))]


@pytest.mark.parametrize(("fine", "coarse"), list(itertools.product(SCHEMES, SCHEMES)))
def test_there_is_a_map_where_no_tag_has_two_images(fine: str, coarse: str) -> None:
    """Over all segmentations of five tokens: either every tag always meets the same tag, or there is no map."""
    images: dict[str, set[str]] = {}
    for n, chunks in SENTENCES:
        for x, y in zip(to_tags(chunks, n, fine), to_tags(chunks, n, coarse), strict=True):
            images.setdefault(x, set()).add(y)
    found = label_map(fine, coarse)
    if any(len(image) > 1 for image in images.values()):
        assert found is None
    else:
        expected = {}
        for tag, (image,) in images.items():
            prefix, _, label = tag.partition("-")
            key = f"O-{prefix}" if label == "O" else prefix
            prefix, _, label = image.partition("-")
            expected[key] = f"O-{prefix}" if label == "O" else prefix
        assert found == expected


def test_figure_1() -> None:
    """The arrows among the seven representations of Cho et al. 2013."""
    arrows = {
        ("BIES", "IOBES"),
        ("BIES", "BI"),
        ("BIES", "IE"),
        ("IOBES", "IOB2"),
        ("IOBES", "IOE2"),
        ("BI", "IOB2"),
        ("IE", "IOE2"),
        ("IOB2", "IO"),
        ("IOE2", "IO"),
    }
    below = {a: {b for b in PAPER if b != a and label_map(a, b) is not None} for a in PAPER}
    assert {(a, b) for a in PAPER for b in below[a] if not any(b in below[c] for c in below[a])} == arrows
    assert arrows - set(lattice()) == {("BIES", "BI")}  # which goes by BIS
    assert {("BIES", "BIS"), ("BIS", "BI"), ("BB2B3IES", "BB2IES"), ("BB2IES", "BIES")} <= set(lattice())


def test_table_6_the_groups_of_the_paper() -> None:
    assert set(Representations.parse("IOB2+").others) == {"IO"}
    assert set(Representations.parse("IOBES+").others) == {"IO", "IOB2", "IOE2"}
    assert set(Representations.parse("BIES+").others) == set(PAPER) - {"BIES"}
    assert set(Representations.parse("BILOU+").others) == {"IO", "IOB2", "IOE2"}
    assert Representations.parse("BIES,IO") == Representations.parse(["BIES", "IO"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("IOBEZ+", "scheme must be one of"),
        (["IOB2", "IOE2"], "IOB2 does not map to IOE2.*It maps to IO;"),
        (["IO", "BIES"], "IO does not map to BIES.*maps to none"),
        (["BIES", "IO", "IO"], "IO is given twice"),
        ([], "scheme must be the name"),
        (3, "scheme must be the name"),
    ],
)
def test_bad_groups_say_what_is_wrong(given: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Representations.parse(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("group", ["IOB2+", "IOBES+", "BIES+", "BIES,IO", "BB2B3IES+", "IOB1,IO"])
def test_tied_scores_are_the_sums_over_the_representations(group: str) -> None:
    """Each representation scores its own tags of the same mentions; the tied scores of the main tags are the sum."""
    representations = Representations.parse(group)
    names = (representations.main, *representations.others)
    random = np.random.default_rng(3)
    weights: dict[tuple[str, ...], float] = {}  # of (representation, tag) and (representation, tag, tag)

    def weight(*key: str) -> float:
        return weights.setdefault(key, random.normal())

    table = SCHEMES[representations.main]
    labels = ["O"] if not table.outside else [f"{p}-O" for p in table.prefixes]
    labels += [f"{p}-a" for p in table.prefixes]
    tying = representations.tie(labels)
    assert tying is not None
    ptr, params, width, *_ = tying.sites
    state = np.array([weight(*name.split(":")) for name in tying.names])
    assert width == len(state)
    score = np.array([state[params[ptr[j] : ptr[j + 1]]].sum() for j in range(len(labels))])
    ptr, params, width, *_ = tying.globals
    own = [[n.split(":")[1] for n in tying.names if n.startswith(name + ":")] for name in names]
    pairs = np.array([weight(name, a, b) for name, tags in zip(names, own, strict=True) for a in tags for b in tags])
    assert width == len(pairs)
    pair = np.array([pairs[params[ptr[j] : ptr[j + 1]]].sum() for j in range(len(labels) ** 2)])
    for n, chunks in SENTENCES:
        expected = 0.0
        for name in names:
            tags = to_tags(chunks, n, name)
            expected += sum(weights[name, tag] for tag in tags)
            expected += sum(weights[name, a, b] for a, b in itertools.pairwise(tags))
        codes = [labels.index(tag) for tag in to_tags(chunks, n, representations.main)]
        tied = score[codes].sum() + sum(pair[a * len(labels) + b] for a, b in itertools.pairwise(codes))
        assert tied == pytest.approx(expected, abs=1e-9)


def test_conversion_of_any_to_any() -> None:
    """All but IO, which cannot say where touching mentions part."""
    for source, target in itertools.product([s for s in SCHEMES if s != "IO"], SCHEMES):
        for n, chunks in SENTENCES:
            assert convert(to_tags(chunks, n, source), source, target) == to_tags(chunks, n, target)


def test_conversion_follows_the_map_where_there_is_one() -> None:
    for fine in SCHEMES:
        for coarse in mappable(fine):
            images = label_map(fine, coarse)
            assert images is not None
            for n, chunks in SENTENCES:
                tags = to_tags(chunks, n, fine)
                keys = [f"O-{t[:-2]}" if t.endswith("-O") else t.split("-")[0] for t in tags]
                mapped = [images[key] for key in keys]
                want = to_tags(chunks, n, coarse)
                assert mapped == [f"O-{t[:-2]}" if t.endswith("-O") else t.split("-")[0] for t in want]


def test_conversion_refuses_illegal_sequences() -> None:
    with pytest.raises(CorpusError, match="token 1: tag 'I-a' in 'O I-a' is not valid in IOB2"):
        convert(["O", "I-a"], "IOB2", "IO")
