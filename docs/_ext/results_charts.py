"""Charts of recorded results: the rows of printed tables as points with their errors.

The entry "chart" of a run in `runs.json` has these keys:

- "tables": numbers of the tables of the output, from 0. Each becomes a group of points.
- "columns": names of the columns with values. Each column of a single table becomes a group.
- "series": "columns" if the points of a group are the columns of a row; without it, they are rows.
- "error": name of the column of errors; without it, they follow "+-" in the cell.
- "ours": rows (or columns) to emphasize, the recommended one first; none if values are its leads.
- "rows": other rows to show; without it, all.
- "label" and "lower": the measure, and whether lower values are better.
"""

import re

import matplotlib.pyplot as plt
from gallery_style import COLORS

NUMBER = re.compile(r"[+-]?(\d[\d,]*\.?\d*|\.\d+)")


def value_and_error(cell, error=None):
    """Return the first number of a cell and the one after "+-", or None and 0.0."""
    value, _, after = cell.partition("+-")
    numbers = [NUMBER.search(text or "") for text in (value, error if error else after)]
    value, error = (float(found[0].replace(",", "")) if found else None for found in numbers)
    return value, error or 0.0


def groups_of(chart, tables):
    """Return the points of each group, by the group's name: (value, error) of each series."""
    groups = {}
    for number in chart["tables"]:
        caption, (header, *rows) = tables[number]
        for column in chart["columns"]:
            place = header.index(column)
            for row in rows:
                if row[0] == "mean":
                    continue
                error = row[header.index(chart["error"])] if "error" in chart else None
                point = value_and_error(row[place], error)
                series, group = (column, row[0]) if chart.get("series") else (row[0], column)
                if len(chart["tables"]) > 1:
                    group = caption
                if point[0] is not None and is_shown(chart, series):
                    groups.setdefault(group, {})[series] = point
    return groups


def is_shown(chart, series):
    return "rows" not in chart or series in [*chart["ours"], *chart["rows"]]


def means(chart, tables):
    """Return the mean of each series over the groups that have all series."""
    groups = groups_of(chart, tables).values()
    names = set.intersection(*(set(points) for points in groups))
    return {name: sum(points[name][0] for points in groups) / len(groups) for name in names}


def draw(chart, tables, path):
    """Draw the chart into an SVG file."""
    groups = groups_of(chart, tables)
    series = list(dict.fromkeys(name for points in groups.values() for name in points))
    series.sort(key=lambda name: name not in chart["ours"])
    is_single = len(groups) == 1
    height = 0.9 + (0.32 * len(series) if is_single else 0.45 * len(groups) + 0.2 * len(series))
    settings = {"svg.hashsalt": path.stem, "font.size": 10, "svg.fonttype": "path"}
    with plt.rc_context(settings):
        figure, axes = plt.subplots(figsize=(7.5, height), layout="constrained")
        for i, name in enumerate(series):
            is_ours = name in chart["ours"]
            found = [
                (j, points[name]) for j, points in enumerate(groups.values()) if name in points
            ]
            shift = i if is_single else 0.6 * (i / max(1, len(series) - 1) - 0.5)
            axes.errorbar(
                [point[0] for _, point in found],
                [shift if is_single else j + shift for j, _ in found],
                xerr=[point[1] for _, point in found],
                fmt="D" if is_ours else "o",
                color=COLORS[i % len(COLORS)]
                if not is_single
                else COLORS[0]
                if is_ours
                else "0.45",
                markersize=7 if is_ours else 5,
                markerfacecolor=None if is_ours else "white",
                label=name,
            )
        names = series if is_single else list(groups)
        axes.set_yticks(range(len(names)), names)
        for j in range(0, len(names), 2):
            axes.axhspan(j - 0.5, j + 0.5, color="0.96", zorder=0)
        axes.set_ylim(len(names) - 0.5, -0.5)
        better = "lower" if chart["lower"] else "higher"
        axes.set_xlabel(f"{chart['label']} ({better} is better)")
        axes.grid(axis="x", color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
        if not is_single:
            figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=9)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
