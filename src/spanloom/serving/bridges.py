"""The endpoints that answer in the words of other tools."""

from __future__ import annotations

from spanloom.serving import doccano, inception, labelstudio
from spanloom.serving.api import Endpoint

BRIDGES: tuple[Endpoint, ...] = (*labelstudio.ENDPOINTS, *inception.ENDPOINTS, *doccano.ENDPOINTS)
