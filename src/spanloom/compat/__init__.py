"""Drop-in replacements for sklearn-crfsuite (``CRF``) and python-crfsuite (``Trainer``, ``Tagger``, ``ItemSequence``).

``from spanloom.compat import CRF`` is the one line of a script that changes. See ``docs/crfsuite-users.md``.
"""

from spanloom._native import ItemSequence
from spanloom.compat import metrics, scorers
from spanloom.compat.crf import CRF
from spanloom.compat.log import TrainingLog
from spanloom.compat.model import ChainModel
from spanloom.compat.selection import cross_val_predict
from spanloom.compat.tagger import Tagger
from spanloom.compat.trainer import LinePerIterationTrainer, Trainer

CRFSUITE_VERSION = "0.12.2"
"""The CRFsuite whose objectives, rules and model files these are."""

__all__ = [
    "CRF",
    "CRFSUITE_VERSION",
    "ChainModel",
    "ItemSequence",
    "LinePerIterationTrainer",
    "Tagger",
    "Trainer",
    "TrainingLog",
    "cross_val_predict",
    "metrics",
    "scorers",
]
