"""Base class of displays, which hold the data of a plot and draw it by `plot`."""

from __future__ import annotations


class Display:
    """Base class of displays, with the attributes `ax_` and `figure_` of the last plot."""

    def _start_plot(self, ax):
        """Set `ax_` and `figure_`, and return the axes: `ax` or, if None, those of a new figure."""
        if ax is None:
            try:
                from matplotlib import pyplot as plt
            except ImportError as error:
                raise ImportError(
                    f"{type(self).__name__}.plot needs matplotlib: run `pip install matplotlib`."
                ) from error
            ax = plt.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax
