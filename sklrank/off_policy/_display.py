"""Plots of estimated values of policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklrank._estimators import Display


class OffPolicyDisplay(Display):
    """Plot of the estimated values of policies with their intervals, or of their course over time.

    Parameters
    ----------
    estimates : dict of str to Bunch
        Results of :func:`policy_value` or :func:`list_policy_value`, which are drawn one below the
        other, or of :func:`confidence_sequence`, which are drawn over time.
    reference : float, default=None
        Value to compare with, such as the mean reward of the log.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from sklrank.off_policy import OffPolicyDisplay
    >>> estimates = {"new": Bunch(value=0.3, low=0.2, high=0.4)}
    >>> OffPolicyDisplay.from_estimates(estimates, reference=0.25).ax_.get_xlabel()
    'Value of the policy'
    """

    def __init__(self, estimates: Mapping[str, Any], *, reference: float | None = None) -> None:
        if not isinstance(estimates, Mapping) or not estimates:
            raise ValueError("estimates must be a dict from names to estimates, with one or more")
        self.estimates, self.reference = dict(estimates), reference

    @classmethod
    def from_estimates(
        cls, estimates: Mapping[str, Any], *, reference: float | None = None, ax: Any = None
    ) -> OffPolicyDisplay:
        """Create a display, and plot it.

        Parameters
        ----------
        estimates, reference : dict of str to Bunch, float
            See the parameters of the class.
        ax : matplotlib Axes, default=None
            Axes to plot on. If None, a new figure is created.

        Returns
        -------
        display : OffPolicyDisplay
            The display, with a plot.
        """
        return cls(estimates, reference=reference).plot(ax)

    def plot(self, ax: Any = None) -> OffPolicyDisplay:
        """Plot the estimates.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. If None, a new figure is created.

        Returns
        -------
        display : OffPolicyDisplay
            This object, whose attributes `ax_` and `figure_` are set.
        """
        ax, names = self._start_plot(ax), list(self.estimates)
        over_time = np.ndim(self.estimates[names[0]]["value"]) == 1
        for place, (name, found) in enumerate(self.estimates.items()):
            value, low, high = found["value"], found["low"], found["high"]
            if over_time:
                times = np.arange(1, len(value) + 1)
                (line,) = ax.plot(times, value, label=name)
                ax.fill_between(times, low, high, alpha=0.25, color=line.get_color(), linewidth=0)
            else:
                # The estimate need not lie in an interval that holds for any number of samples.
                (dot,) = ax.plot(value, place, "o")
                ax.plot([low, high], [place, place], color=dot.get_color(), linewidth=2, alpha=0.6)
        if self.reference is not None:
            draw = ax.axhline if over_time else ax.axvline
            draw(self.reference, color="gray", linestyle="--", label="reference")
        if over_time:
            ax.set(xlabel="Number of samples", ylabel="Value of the policy", xscale="log")
            ax.legend()
        else:
            ax.set(xlabel="Value of the policy", yticks=range(len(names)), yticklabels=names)
            ax.invert_yaxis()
        return self
