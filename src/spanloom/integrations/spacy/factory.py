"""What spaCy finds by its entry points: the factory ``spanloom`` and the scorer ``spanloom.mention_scorer.v1``."""

# Annotations are read by spaCy, which checks configurations against them: they must not be strings.
from typing import Any

from spanloom.base.extras import need
from spanloom.formats.spacy_docs import KEY, get_mentions
from spanloom.integrations.spacy.component import SpanloomPipe
from spanloom.integrations.spacy.scoring import make_mention_scorer

SCORER = "spanloom.mention_scorer.v1"


def make_spanloom(
    nlp: Any,
    name: str,
    model: str | None,
    settings: dict[str, Any],
    spans_key: str,
    ents: str,
    scores: bool,
    tokens: str,
    columns: dict[str, str],
    gold: str,
    threads: int | None,
    scorer: Any,
) -> SpanloomPipe:
    """Make the component; see ``SpanloomPipe`` for the parameters."""
    return SpanloomPipe(
        nlp.vocab,
        name,
        model=model,
        settings=settings,
        spans_key=spans_key,
        ents=ents,
        scores=scores,
        tokens=tokens,
        columns=columns,
        gold=gold,
        threads=threads,
        scorer=scorer,
    )


def _register() -> None:
    need("spacy", "spacy").registry.scorers(SCORER, func=make_mention_scorer)
    need("spacy.language", "spacy").Language.factory(
        "spanloom",
        assigns=["doc.spans", "doc.ents"],
        default_config={
            "model": None,
            "settings": {},
            "spans_key": KEY,
            "ents": "flat",
            "scores": True,
            "tokens": "pipeline",
            "columns": {},
            "gold": "auto",
            "threads": None,
            "scorer": {"@scorers": SCORER, "spans_key": KEY},
        },
        default_score_weights={f"spans_{KEY}_f": 1.0, f"spans_{KEY}_p": 0.0, f"spans_{KEY}_r": 0.0},
        func=make_spanloom,
    )
    doc = need("spacy.tokens", "spacy").Doc
    if not doc.has_extension("mentions"):  # somebody else's stays
        doc.set_extension("mentions", getter=get_mentions)


_register()
