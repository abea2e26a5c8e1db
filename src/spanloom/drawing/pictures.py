"""Pictures by matplotlib (``pip install 'spanloom[plot]'``): their endings and colours, checked before work is done."""

from __future__ import annotations

import os
from pathlib import Path

from spanloom.base.errors import ParameterError
from spanloom.base.extras import check_installed
from spanloom.base.files import check_place

PICTURES = (".png", ".svg", ".pdf")
COLORS = ("#0b6fa4", "#c2410c", "#4d7c0f", "#7e22ce", "#be185d", "#0f766e", "#854d0e", "#475569")


def check_picture(path: str | os.PathLike[str]) -> Path:
    """Return the path if a picture can be written there: by its ending, its folder, and what is installed."""
    path = Path(path)
    if path.suffix.lower() not in PICTURES:
        raise ParameterError(f"{path}: the name of a picture must end in {', '.join(PICTURES)}")
    check_place(path)
    check_installed("matplotlib", "plot")
    return path
