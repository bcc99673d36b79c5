"""The chart of time and memory by the number of labels and of columns: `many_labels.json`."""

import matplotlib.pyplot as plt
from gallery_style import COLORS
from results_page import CHARTS, DOCS, printed_tables, read

MEASURES = {"ms a row": "milliseconds a sample", "MB": "peak memory in MB"}
STYLES = {"AdaOLMR": (COLORS[0], "D"), "ProbabilisticLabelTree": (COLORS[1], "o")}


def draw(path):
    """Draw a panel for each measure and size, from the tables of the two sizes."""
    tables = printed_tables(read("many_labels.json"))
    settings = {"svg.hashsalt": path.stem, "font.size": 10, "svg.fonttype": "path"}
    with plt.rc_context(settings):
        figure, panels = plt.subplots(
            2, 2, figsize=(7.5, 5.4), sharex="col", sharey="row", layout="constrained"
        )
        for i, (size, (caption, rows)) in enumerate(zip(("labels", "columns"), tables)):
            for axes, (measure, label) in zip(panels[:, i], MEASURES.items()):
                draw_lines(axes, rows, size, measure)
                if i == 0:
                    axes.set_ylabel(label)
            panels[0, i].set_title(caption, fontsize=10)
            panels[1, i].set_xlabel(f"number of {size}")
        lines, models = panels[0, 0].get_legend_handles_labels()
        figure.legend(lines, models, loc="outside upper left", ncols=2, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)


def draw_lines(axes, table, size, measure):
    """Draw a line for each model."""
    header, *rows = table
    for model, (color, marker) in STYLES.items():
        points = [
            [float(row[header.index(name)]) for name in (size, measure)]
            for row in rows
            if row[0] == model
        ]
        axes.loglog(*zip(*points), marker=marker, color=color, label=model)
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)


def setup(app):
    app.connect("builder-inited", lambda app: draw(DOCS / CHARTS / "many_labels.svg"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
