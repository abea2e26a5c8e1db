"""What mkdocs does besides: pages that are not in docs/ join the site, and the API is made of docstrings.

README.md becomes the first page; results of experiments and benchmarks, to which pages link, come along.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
API = {
    "recognizer": (
        "The recogniser",
        ["spanloom.recognizer", "spanloom.keeping", "spanloom.fitted", "spanloom.parameters"],
    ),
    "models": ("Models", ["spanloom.models"]),
    "learning": (
        "Training and decisions",
        ["spanloom.learning", "spanloom.decisions"],
    ),
    "corpus": ("Documents, sentences, mentions", ["spanloom.corpus"]),
    "formats": ("Reading and writing", ["spanloom.formats"]),
    "features": ("Features", ["spanloom.features"]),
    "annotators": ("Annotators", ["spanloom.annotators"]),
    "evaluation": ("Evaluation", ["spanloom.evaluation"]),
    "inference": ("Distributions", ["spanloom.inference"]),
    "tagging": ("Tagging text natively", ["spanloom.tagging", "spanloom.tagging_files"]),
}
"""By page: its title and the modules whose public names it has."""


def on_config(config: Any) -> Any:
    """Pages that the navigation does not name come last."""
    named = set(re.findall(r"[\w./-]+\.md", repr(config["nav"])))
    more = [path.name for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in named]
    if more:
        config["nav"].append({"More": more})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what is not in docs/."""
    files.append(_page(config, "index.md", ROOT / "README.md"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"):
        files.append(_page(config, name, ROOT / name))
    for folder in ("experiments/results", "benchmarks/results", "examples"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in (".md", ".png", ".svg", ".json", ".py", ".sh"):
                files.append(_page(config, f"{folder}/{path.name}", path))
    for name, (title, modules) in API.items():
        parts = [f"# {title}", *(f"::: {module}\n    options:\n      heading_level: 2" for module in modules)]
        files.append(File.generated(config, f"api/{name}.md", content="\n\n".join(parts)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links of pages are those of the repository; here docs/ is the root."""
    name = page.file.src_uri
    if "/" not in name:
        markdown = re.sub(r"\]\((\.\./|docs/)", "](", markdown)
    return markdown


def _page(config: Any, name: str, path: Path) -> File:
    return File.generated(config, name, abs_src_path=str(path))
