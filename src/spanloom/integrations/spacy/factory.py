"""What spaCy finds by its entry points: the factory ``spanloom`` and the scorer ``spanloom.mention_scorer.v1``."""

# Annotations are read by spaCy, which checks configurations against them: they must not be strings.
import inspect
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.bundled import existing_model
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
    """Make the component; see ``SpanloomPipe`` for the parameters.

    A model file that is not there is an error, unless the pipeline is made from a configuration: spaCy opens the model
    of a pipeline that was kept after it.
    """
    if model is not None and not _from_configuration():
        try:
            existing_model(model).stat()
        except OSError as error:
            raise ParameterError(f"the component {name!r} cannot open its model: {error}") from error
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


def _from_configuration() -> bool:
    """Whether spaCy is making a pipeline from a configuration; it does not tell components so."""
    made_by = need("spacy.language", "spacy").Language.from_config.__func__.__code__
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not made_by:
        frame = frame.f_back
    return frame is not None


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
