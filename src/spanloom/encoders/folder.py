"""Weights that are on this machine: a folder of the transformers library, or a package that has one. No downloads."""

from __future__ import annotations

import importlib.util
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.encoders.settings import Encoder

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")


@dataclass(frozen=True, slots=True)
class Opened:
    """What was read of a folder: the network, a module of torch; its configuration; the JSON of its tokenizer."""

    network: Any
    config: dict[str, Any]
    tokenizer: str


def find_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder that a path or the name of an installed package stands for; nothing of a package is run.

    Raises
    ------
    ParameterError
        If there is none, with what to do about it.
    """
    folder = Path(path)
    if folder.is_dir():
        return _checked(folder)
    name = os.fspath(path).replace("-", "_")
    if name.isidentifier():
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            for place in spec.submodule_search_locations:
                found = sorted(one.parent for one in Path(place).rglob(CONFIG) if _has_weights(one.parent))
                if found:
                    return _checked(found[0])
            raise ParameterError(f"the package {name!r} has no folder with {CONFIG} and {WEIGHTS[0]}")
    raise ParameterError(
        f"there is no folder and no installed package {os.fspath(path)!r} with the weights of an encoder; spanloom "
        "downloads nothing. Download it yourself, e.g. with huggingface_hub.snapshot_download, and give the folder"
    )


def _has_weights(folder: Path) -> bool:
    return any((folder / name).is_file() for name in WEIGHTS)


def _checked(folder: Path) -> Path:
    if not (folder / CONFIG).is_file():
        raise ParameterError(f"{folder}: there is no {CONFIG} in it, so that this is no encoder of transformers")
    if not _has_weights(folder):
        others = sorted(one.name for one in folder.iterdir() if one.suffix in (".bin", ".pt", ".ckpt", ".h5"))
        why = f"; {others[0]} may hold code that runs when it is opened: convert it to safetensors" if others else ""
        raise ParameterError(f"{folder}: there is no {WEIGHTS[0]} in it{why}")
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ParameterError(f"{folder / CONFIG}: {error}") from None
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise ParameterError(f"{folder / CONFIG}: it does not say its model_type")
    return folder


@contextmanager
def offline() -> Iterator[Any]:
    """Yield the transformers library, quiet and told that there is no network."""
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    try:
        need("torch", "encoder")
        library = need("transformers", "encoder")
        logging = library.logging
        verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of modules that are imported now: nothing that our users can mend
                yield library
        finally:
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def open_folder(settings: Encoder) -> Opened:
    """Read network, configuration and tokenizer of a folder; layers above ``settings.layer`` are left out."""
    folder = find_folder(settings.path)
    with offline() as library:
        try:
            config = library.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            tokenizer = library.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_fast=True
            )
        except (ValueError, OSError, KeyError, ImportError) as error:
            raise ParameterError(f"{folder}: transformers cannot open it: {error}") from None
        cut_layers(config, settings.layer)
        for name in ("attention_probs_dropout_prob", "attention_dropout"):
            if hasattr(config, name):  # without it attention has a kernel that keeps no table of pairs
                setattr(config, name, 0.0)
        config.torch_dtype = config.dtype = need("torch", "encoder").float32
        network = library.AutoModel.from_pretrained(
            folder, config=config, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ParameterError(f"{folder}: its tokenizer runs in Python only; spanloom needs a tokenizer.json")
    return Opened(prepared(network, config), plain_config(config), backend.to_str())


def make_network(config: dict[str, Any]) -> Any:
    """Return a network of a configuration, with weights that are still to be filled in."""
    values = dict(config)
    kind = values.pop("model_type")
    with offline() as library:
        made = library.AutoConfig.for_model(kind, **values)
        return prepared(library.AutoModel.from_config(made, trust_remote_code=False), made)


def cut_layers(config: Any, layer: int) -> None:
    """Let a configuration end with a layer; ``ParameterError`` if there is no such layer."""
    count = getattr(config, "num_hidden_layers", None)
    if not isinstance(count, int):
        if layer != -1:
            raise ParameterError(f"layers of a {config.model_type!r} cannot be left out; use layer=-1")
        return
    wanted = layer if layer > 0 else count + 1 + layer
    if not 1 <= wanted <= count:
        raise ParameterError(f"the encoder has {count} layers, so that there is no layer {layer}")
    config.num_hidden_layers = wanted
    kinds = getattr(config, "layer_types", None)
    if isinstance(kinds, list):
        config.layer_types = kinds[:wanted]


def prepared(network: Any, config: Any) -> Any:
    """Return the part of a network that reads text, without what is made of it for other purposes."""
    part = network.get_encoder() if getattr(config, "is_encoder_decoder", False) else network
    if getattr(part, "pooler", None) is not None:
        part.pooler = None
    return part.float()


def plain_config(config: Any) -> dict[str, Any]:
    """Return a configuration as JSON without what names code, places and versions."""
    values = json.loads(config.to_json_string(use_diff=False))
    for name in ("auto_map", "_name_or_path", "transformers_version", "architectures", "custom_pipelines"):
        values.pop(name, None)
    return dict(sorted(values.items()))
