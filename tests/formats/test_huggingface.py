"""Datasets of Hugging Face, in and out, in the layouts that people have; and models as folders to be shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

from extras import needs
from formats.random_documents import documents, everything
from spanloom import CorpusError, Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import ParameterError
from spanloom.card import Card, write_folder
from spanloom.cli.app import app
from spanloom.formats.huggingface import from_dataset, to_dataset, to_gliner
from spanloom.learning import LBFGS

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]
needs("datasets", "yaml")

import datasets  # noqa: E402
import yaml  # noqa: E402

STRING = datasets.Value("string")


def flat(doc: Document) -> list[tuple[list[str], list[Mention]]]:
    return [(s.tokens, sorted(s.mentions)) for s in doc.sentences]


def test_words_and_tags_with_class_labels() -> None:
    names = datasets.ClassLabel(names=["O", "B-PER", "I-PER"])
    features = datasets.Features({"id": STRING, "tokens": [STRING], "ner_tags": [names], "pos_tags": [STRING]})
    row = {"id": "0", "tokens": ["Mara", "Lund", "left"], "ner_tags": [1, 2, 0], "pos_tags": ["NN", "NN", "VB"]}
    (doc,) = from_dataset(datasets.Dataset.from_list([row], features))
    assert doc.mentions == [Mention("PER", ((0, 2),))]
    assert doc.sentences[0].columns == {"pos_tags": ["NN", "NN", "VB"]}


def test_multiconer_has_names_and_numbers_of_tags() -> None:
    """The layout of version 2; the numbers are gold annotation, and no column to learn from."""
    row = {
        "id": 3,
        "sample_id": "b7",
        "tokens": ["new", "york", "times"],
        "ner_tags": ["B-ORG", "I-ORG", "I-ORG"],
        "ner_tags_index": [1, 2, 2],
    }
    (doc,) = from_dataset(datasets.Dataset.from_list([row]))
    assert doc.mentions == [Mention("ORG", ((0, 3),))]
    assert (doc.id, doc.sentences[0].columns) == ("3", {})


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_rows_of_our_own_keep_everything(docs: list[Document]) -> None:
    assert everything(list(from_dataset(to_dataset(docs)))) == everything(docs)


def test_tags_come_back() -> None:
    docs = list(read("sample:train"))[:20]
    made = to_dataset(docs, "tags", lossy="outermost")
    assert made.features["ner_tags"].feature.names[0] == "O"
    back = [s for d in from_dataset(made) for s in d.sentences]
    assert [s.tokens for s in back] == [s.tokens for d in docs for s in d.sentences]
    for new, old in zip(back, (s for d in docs for s in d.sentences), strict=True):
        assert set(new.mentions) <= set(old.mentions)
        assert bool(new.mentions) == any(not m.discontinuous for m in old.mentions)
    with pytest.raises(CorpusError, match="lossy="):
        to_dataset(docs, "tags")


def test_gliner_has_the_last_word_inclusive(tmp_path: Path) -> None:
    """As its README shows; JSON with numbers, datasets with texts."""
    record = {"tokenized_text": ["State", "University", "of", "Ghent"], "ner": [[0, 3, "ORG"], [3, 3, "LOC"]]}
    (doc,) = from_dataset([record])
    assert doc.mentions == [Mention("ORG", ((0, 4),)), Mention("LOC", ((3, 4),))]
    assert to_gliner([doc])[0]["ner"] == record["ner"]
    assert json.loads(json.dumps(to_gliner([doc])))[0]["tokenized_text"] == record["tokenized_text"]
    made = to_dataset([doc], "gliner")
    assert [flat(d) for d in from_dataset(made)] == [flat(doc)]
    for bad in ([0, 9, "X"], [2, 1, "X"], ["a", 1, "X"], [1, "X"]):
        with pytest.raises(CorpusError, match="row 0"):
            list(from_dataset([{**record, "ner": [bad]}]))
    broken = Document([Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))])])
    with pytest.raises(CorpusError, match="discontinuous"):
        to_gliner([broken])


def test_bigbio_knowledge_bases() -> None:
    """Passages with gaps between them; several offsets are several parts; both schemas of lists."""
    entity = {"id": "T1", "type": "P", "text": ["alpha", "globin"], "offsets": [[6, 11], [21, 27]]}
    passages = [
        {"id": "0", "type": "title", "text": ["Blood"], "offsets": [[0, 5]]},
        {"id": "1", "type": "abstract", "text": ["alpha and beta globin"], "offsets": [[6, 27]]},
    ]
    known = [{"db_name": "UniProt", "db_id": "P69905"}]
    row: dict[str, Any] = {"id": "1", "document_id": "17", "passages": passages}
    (doc,) = from_dataset([{**row, "entities": [{**entity, "normalized": known}]}])
    assert (doc.id, doc.text) == ("17", "Blood alpha and beta globin")
    (mention,) = doc.mentions
    assert doc.chars(mention) == ((6, 11), (21, 27))
    assert mention.attributes["normalized"] == "UniProt:P69905"
    columns = {key: [entity[key]] for key in entity}
    (same,) = from_dataset([{**row, "entities": columns}])
    assert same.mentions == doc.mentions
    made = to_dataset([doc], "bigbio")
    (out,) = made
    assert out["entities"][0]["offsets"] == [[6, 11], [21, 27]]
    assert out["entities"][0]["text"] == ["alpha", "globin"]
    assert out["entities"][0]["normalized"] == known
    assert set(out) == {"id", "document_id", "passages", "entities", "events", "coreferences", "relations"}
    (again,) = from_dataset(made)
    assert (again.text, again.mentions) == (doc.text, doc.mentions)


def test_bigbio_of_the_sample_keeps_every_mention() -> None:
    docs = list(read("sample:train"))[:25]
    back = list(from_dataset(to_dataset(docs, "bigbio"), align="split"))
    wanted = [(d.id, d.text, sorted((m.label, d.chars(m)) for m in d.mentions)) for d in docs]
    assert [(d.id, d.text, sorted((m.label, d.chars(m)) for m in d.mentions)) for d in back] == wanted


def test_streams_are_read_as_they_come() -> None:
    """An iterable dataset; one that does not know its columns; only as many rows as are asked for."""
    taken = []

    def rows() -> Any:
        for i in range(1000):
            taken.append(i)
            yield {"tokens": ["Mara", str(i)], "ner_tags": ["B-PER", "O"]}

    stream = datasets.IterableDataset.from_generator(rows)
    first = next(iter(from_dataset(stream)))
    assert first.mentions == [Mention("PER", ((0, 1),))]
    assert len(taken) < 1000
    listed = datasets.Dataset.from_list([{"tokens": ["a"], "ner_tags": ["O"]}] * 3).to_iterable_dataset()
    assert len(list(from_dataset(listed))) == 3
    assert list(from_dataset([])) == []


def test_saved_datasets_are_a_format(tmp_path: Path) -> None:
    docs = list(read("sample:dev"))[:5]
    datasets.DatasetDict({"dev": to_dataset(docs, "bigbio")}).save_to_disk(tmp_path / "data")
    assert len(list(read(f"huggingface:{tmp_path}/data?split=dev&align=split"))) == 5
    with pytest.raises(ParameterError, match="split='' must be one of dev"):
        list(read(f"huggingface:{tmp_path}/data"))


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ParameterError, match=r"has the columns a; say words=… and tags="):
        list(from_dataset([{"a": 1}]))
    with pytest.raises(ParameterError, match="layout"):
        to_dataset([], "x")
    with pytest.raises(CorpusError, match="row 0: 1 words but 2 tags"):
        list(from_dataset([{"tokens": ["a"], "ner_tags": ["O", "O"]}]))
    with pytest.raises(CorpusError, match="row 0: the row is not as its columns promise"):
        list(from_dataset([{"passages": [{"text": ["a"]}], "entities": []}]))


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=10)).fit(read("sample:train"))


def metadata(folder: Path) -> tuple[dict[str, Any], str]:
    _, front, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), text


def test_save_writes_a_folder_to_be_shared(ner: Recognizer, tmp_path: Path) -> None:
    ner.save(f"{tmp_path}/gene/")
    assert sorted(p.name for p in (tmp_path / "gene").iterdir()) == ["README.md", "model.loom"]
    loaded = Recognizer.load(tmp_path / "gene")
    test = list(read("sample:test"))
    assert loaded.predict(test) == ner.predict(test)
    front, text = metadata(tmp_path / "gene")
    assert front["library_name"] == "spanloom"
    assert "# gene\n" in text
    assert f"{ner.training_['mentions']:,} mentions" in text
    ner.save(tmp_path / "gene")  # again, over it


def test_a_card_has_data_figures_and_licence(ner: Recognizer, tmp_path: Path) -> None:
    evaluation = ner.score(read("sample:test"))
    card = Card("Genes", "cc-by-4.0", ["en"], "Sentences of our own.", "the sample, test", "For trying out.")
    write_folder(ner, tmp_path / "genes", card, evaluation)
    front, text = metadata(tmp_path / "genes")
    assert (front["license"], front["language"]) == ("cc-by-4.0", ["en"])
    metrics = front["model-index"][0]["results"][0]["metrics"]
    assert {m["type"]: m["value"] for m in metrics}["f1"] == pytest.approx(evaluation.f1, abs=1e-4)
    assert "Sentences of our own." in text
    assert "For trying out." in text
    assert f"| all | {100 * evaluation.precision:.1f} |" in text
    from huggingface_hub import ModelCard

    assert ModelCard.load(tmp_path / "genes" / "README.md").data.license == "cc-by-4.0"
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="is a file"):
        write_folder(ner, tmp_path / "file")


def test_the_command_writes_it(ner: Recognizer, tmp_path: Path) -> None:
    ner.save(tmp_path / "a.loom")
    write(list(read("sample:test")), tmp_path / "test.jsonl")
    arguments = ["card", str(tmp_path / "a.loom"), "-o", str(tmp_path / "out"), "--test", str(tmp_path / "test.jsonl")]
    done = CliRunner().invoke(app, [*arguments, "--license", "mit", "--language", "en"])
    assert done.exit_code == 0, done.output
    front, text = metadata(tmp_path / "out")
    assert front["license"] == "mit"
    assert "| protein |" in text
