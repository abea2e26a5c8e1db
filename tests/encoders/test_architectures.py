"""Encoders of other kinds: each is opened, tuned, kept in a file and opened from there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from encoders.tiny import make_encoder
from extras import needs
from spanloom import Mention, Recognizer, Sentence
from spanloom.encoders import Encoder
from spanloom.encoders.network import Network, Shape
from spanloom.learning import AdamW

needs("torch", "transformers", "tokenizers")

import transformers  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore:`torch.jit")]  # of modules of transformers

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
CONFIGS: dict[str, dict[str, Any]] = {
    "albert": {**SMALL, "embedding_size": 8, "max_position_embeddings": 64},
    "deberta-v2": {**SMALL, "max_position_embeddings": 64, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64},
    "electra": {**SMALL, "embedding_size": 16, "max_position_embeddings": 64},
    "modernbert": {**SMALL, "max_position_embeddings": 64, "pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3},
    "mpnet": {**SMALL, "max_position_embeddings": 66},
    "roberta": {**SMALL, "max_position_embeddings": 66, "pad_token_id": 1},
    "t5": {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2},
}
TRAIN = [
    Sentence(["Bill", "met", "Ann"], [Mention("PER", ((0, 1),)), Mention("PER", ((2, 3),))]),
    Sentence(["nothing", "was", "seen", "there"]),
] * 3


@pytest.mark.parametrize("kind", CONFIGS)
def test_an_encoder_of_another_kind(kind: str, tmp_path: Path) -> None:
    words = make_encoder(tmp_path / "words")
    config = transformers.AutoConfig.for_model(kind, vocab_size=200, **CONFIGS[kind])
    folder = tmp_path / kind
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(words / name, folder / name)
    ner = Recognizer("edge", features=["word"], encoder=folder, trainer=AdamW(max_iter=2, batch=4), threads=1)
    ner.fit(TRAIN)
    ner.save(tmp_path / "m.loom")
    folder.rename(tmp_path / "gone")
    again = Recognizer.load(tmp_path / "m.loom", threads=1)
    assert again.predict(TRAIN, probabilities=True) == ner.predict(TRAIN, probabilities=True)
    assert len(ner.predict(Sentence(["office", "met"] * 600)).tokens) == 1200
    lower = Network.from_folder(Encoder(tmp_path / "gone", layer=1), Shape(("token",), 3, 0, 2), 1)
    assert lower.read([["office", "met"]]).shape == (2, 16)
