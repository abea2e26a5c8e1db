"""A picture of what is in a corpus (``pip install 'spanloom[plot]'``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from spanloom.base.extras import need
from spanloom.base.files import whole_file
from spanloom.corpus.statistics import Statistics
from spanloom.drawing.pictures import COLORS, check_picture

_SHOWN = ("flat", "nested", "same_type_nested", "crossing", "same_span", "discontinuous", "embedded", "containing")


def draw_statistics(
    corpora: Sequence[tuple[str, Statistics]],
    path: str | os.PathLike[str],
    ceilings: Sequence[Mapping[str, float]] = (),
) -> None:
    """Draw labels, lengths, kinds and depths of one or more corpora side by side into a PNG, SVG or PDF file.

    Parameters
    ----------
    corpora
        Names and counts.
    path
        The file; its ending is the kind of picture.
    ceilings
        For each corpus the share of its mentions that each model can hold; another row of the picture, if given.
    """
    ending = check_picture(path).suffix.lower()
    models = list(dict.fromkeys(model for shares in ceilings for model in shares))
    figure = need("matplotlib.figure", "plot").Figure(figsize=(12, 11 if models else 8), layout="constrained")
    need("matplotlib.backends.backend_agg", "plot").FigureCanvasAgg(figure)
    labels = sorted(
        {label for _, s in corpora for label in s.by_label}, key=lambda x: -sum(s.by_label[x] for _, s in corpora)
    )
    tables: list[tuple[str, list[str], list[list[float]]]] = [
        ("mentions by label", labels[:20], [[s.by_label[label] for label in labels[:20]] for _, s in corpora]),
        (
            "mentions by length in tokens",
            [*map(str, range(1, 12)), "12+"],
            [
                [*(s.by_length[n] for n in range(1, 12)), sum(c for n, c in s.by_length.items() if n > 11)]
                for _, s in corpora
            ],
        ),
        ("mentions by kind", [k.replace("_", " ") for k in _SHOWN], [[s.kinds[k] for k in _SHOWN] for _, s in corpora]),
    ]
    depths = sorted({d for _, s in corpora for d in s.depth}) or [1]
    tables.append(("mentions by depth", list(map(str, depths)), [[s.depth[d] for d in depths] for _, s in corpora]))
    rows_of_axes = ["ab", "cd"]
    if models:
        held = [
            [s.mentions * shares.get(m, 0.0) for m in models] for (_, s), shares in zip(corpora, ceilings, strict=True)
        ]
        tables.append(("what each model can hold at best", models, held))
        rows_of_axes.append("ee")
    width = 0.8 / max(len(corpora), 1)
    mosaic = figure.subplot_mosaic("\n".join(rows_of_axes))
    for axes, (title, names, rows) in zip(mosaic.values(), tables, strict=True):
        for k, (row, (ref, counts)) in enumerate(zip(rows, corpora, strict=True)):
            total = counts.mentions or 1
            heights = [100 * n / total for n in row]
            places = [i + (k - (len(corpora) - 1) / 2) * width for i in range(len(names))]
            axes.bar(places, heights, width, color=COLORS[k % len(COLORS)], label=ref)
        crowded = len(names) > 6 and any(len(name) > 3 for name in names)
        axes.set_xticks(range(len(names)), names, rotation=40 if crowded else 0, ha="right" if crowded else "center")
        axes.set(title=title, ylabel="% of mentions")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=1, frameon=False)
    with whole_file(path, "wb") as out:
        figure.savefig(out, format=ending[1:], dpi=150)
