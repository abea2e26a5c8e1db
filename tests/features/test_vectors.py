"""Word vectors from raw text: the matrix against its definition, the reduction against an SVD, clusters as a tree."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from typer.testing import CliRunner

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.cli.app import app
from spanloom.features import vectors
from spanloom.features.resources import read_resource
from spanloom.features.vectors import SMOOTHED, WordVectors, _information, train_vectors

TEXT = [
    "the cat ran to the house", "the dog ran to the house", "a cat sat in a house", "a dog sat in a house",
    "the gene binds the protein", "the promoter binds a protein", "a gene and a promoter", "one cat and one dog",
] * 4  # fmt: skip


def test_information_is_that_of_the_definition() -> None:
    """PPMI by hand: log P(w, c) / (P(w) P(c)^0.75 normalised), with counts 1 / distance within sentences."""
    sentences = [[0, 1, 2, 0], [2, 1], [3]]
    weight = np.zeros((4, 4))
    for one in sentences:
        for (i, a), (j, b) in combinations(enumerate(one), 2):
            if j - i <= 2:
                weight[a, b] += 1 / (j - i)
                weight[b, a] += 1 / (j - i)
    rows = weight.sum(axis=1)
    smooth = rows**SMOOTHED / (rows**SMOOTHED).sum()
    expected = np.zeros((4, 4))
    for a in range(4):
        for b in range(4):
            if weight[a, b] > 0:
                expected[a, b] = max(0.0, math.log(weight[a, b] / weight.sum() / (rows[a] / weight.sum() * smooth[b])))
    np.testing.assert_allclose(_information(sentences, 4, 2, lambda done: None).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("more", [20, 6])
def test_cosines_are_those_of_the_singular_vectors(more: int, monkeypatch) -> None:
    """With all directions of the 15 words, and with some of them, which are looked for."""
    monkeypatch.setattr(vectors, "MORE", more)
    found = train_vectors(TEXT, 5, window=3, min_count=1)
    number = {word: i for i, word in enumerate(found.words)}
    matrix = _information([[number[w] for w in line.split()] for line in TEXT], len(number), 3, lambda done: None)
    left, singular, _ = np.linalg.svd(matrix.toarray())
    exact = left[:, :5] * np.sqrt(singular[:5])
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    np.testing.assert_allclose(found.vectors @ found.vectors.T, exact @ exact.T, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-9)


def test_words_in_the_same_places_are_near() -> None:
    found = train_vectors(TEXT, 6, min_count=1)
    assert found.nearest("cat", 1)[0][0] == "dog"
    assert found.nearest("gene", 1)[0][0] == "promoter"
    assert found.words[0] in ("the", "a")
    with pytest.raises(ParameterError, match="no vector for 'unicorn'"):
        found.nearest("unicorn")
    again = train_vectors(TEXT, 6, min_count=1)
    np.testing.assert_array_equal(found.vectors, again.vectors)


def test_clusters_are_leaves_of_one_tree() -> None:
    found = train_vectors(TEXT, 6, min_count=1)
    told: list[tuple[int, int]] = []
    made = found.clusters(7, progress=lambda done, most: told.append((done, most)))
    assert told == [(done, 7) for done in range(2, 8)]
    leaves = sorted(set(made.paths.values()))
    assert len(leaves) == 7
    assert not any(b.startswith(a) for a, b in combinations(leaves, 2))
    assert math.fsum(2.0 ** -len(leaf) for leaf in leaves) == 1.0
    assert set(made.paths) == set(found.words)
    assert set(found.clusters(1).paths.values()) == {""}
    all_apart = found.clusters(10_000)
    alike = {tuple(vector) for vector in found.vectors.round(9).tolist()}
    assert len(set(all_apart.paths.values())) == len(alike)


def test_words_with_the_same_vector_stay_together() -> None:
    same = WordVectors(("a", "b", "c"), (3, 2, 1), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    paths = same.clusters(3).paths
    assert paths["a"] == paths["b"] != paths["c"]


def test_text_with_nothing_in_it_is_refused() -> None:
    with pytest.raises(CorpusError, match="no word of the text occurs 5 times"):
        train_vectors(["a b c"])
    with pytest.raises(ParameterError, match="window"):
        train_vectors(TEXT, window=0)


def test_from_text_to_features(tmp_path) -> None:
    """The second file of clusters gets the templates of the first."""
    (tmp_path / "text").write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    run = CliRunner().invoke
    arguments = ["vectors", str(tmp_path / "text"), "-o", str(tmp_path / "wide"), "-c", "5", "--min-count", "1"]
    done = run(app, [*arguments, "--vectors", str(tmp_path / "table")])
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "table").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"{len(lines) - 1} {len(lines[1].split()) - 1}"
    assert len(set(map(tuple, read_resource(tmp_path / "wide", "brown").values()))) == 5
    done = run(app, ["cluster", str(tmp_path / "text"), "-o", str(tmp_path / "paths"), "-c", "4"])
    assert done.exit_code == 0, done.output
    train = [Sentence(["the", "cat", "ran"], [Mention("animal", ((1, 2),))]), Sentence(["the", "house", "sat"])] * 5
    ner = Recognizer("chain", clusters=[tmp_path / "paths", tmp_path / "wide"], threads=1).fit(train)
    names = [str(t) for t in ner.extractor_.features.templates if "cluster(" in str(t)]
    assert [name.count("brown2") for name in names] == [0, 1]
    ner.save(tmp_path / "m.loom")
    assert Recognizer.load(tmp_path / "m.loom").predict(Sentence(["a", "dog", "ran"])).mentions


def test_a_negative_seed_is_said_before_any_work() -> None:
    def never():
        raise AssertionError("the text was read")
        yield ""

    with pytest.raises(ParameterError, match="seed"):
        train_vectors(never(), seed=-1)
    with pytest.raises(ParameterError, match="seed"):
        WordVectors(("a", "b"), (1, 1), np.eye(2)).clusters(2, seed=-1)


def test_more_dimensions_than_words_need_no_search(monkeypatch) -> None:
    """All are there: one decomposition instead of many, which took minutes."""
    monkeypatch.setattr(np.linalg, "qr", lambda _: pytest.fail("directions are looked for"))
    assert train_vectors(["the cat ran", "the dog ran"] * 5, 10**9).vectors.shape == (4, 4)
