"""A tiny encoder with random weights, made on the spot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORDS = ["the", "office", "met", "saw", "nothing", "was", "seen", "there", "they", "in", "of"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-.,"


def make_encoder(folder: Path, *, dropout: float = 0.0, positions: int = 64, layers: int = 2) -> Path:
    """Write a BERT of a few thousand weights, with the pieces of a word list and of letters."""
    import tokenizers
    import torch
    import transformers
    from tokenizers import normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    made = tokenizers.Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=positions, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    state = torch.get_rng_state()
    torch.manual_seed(5)
    model: Any = transformers.BertModel(config)
    torch.set_rng_state(state)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "pad_token": "[PAD]"})
    )
    return folder
