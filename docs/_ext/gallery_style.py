"""The style of all figures of the gallery."""

import matplotlib

# Colors that remain distinct for color-blind readers (Okabe and Ito).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")


def reset(gallery_conf, fname):
    """Set the style before each example, after sphinx-gallery has restored the defaults."""
    matplotlib.rcParams.update(
        {
            "axes.prop_cycle": matplotlib.cycler(color=COLORS),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "0.9",
            "axes.titlesize": "medium",
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "legend.frameon": False,
            "savefig.dpi": 150,
        }
    )
