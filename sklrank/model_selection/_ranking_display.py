"""Plot of predicted against true positions of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklrank._rankings import close_ranks
from sklrank.metrics._checks import check_two_rankings
from sklrank.model_selection._display import Display


class RankingDisplay(Display):
    """Matrix of the true and the predicted positions of labels.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create a display.

    Parameters
    ----------
    counts : array-like of shape (n_labels, n_labels)
        Entry ``[i, j]`` is the number of times that a label whose true position is ``i + 1`` was
        predicted at position ``j + 1``.

    Attributes
    ----------
    counts : ndarray of shape (n_labels, n_labels)
        The numbers of labels.
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Figure of the last plot.
    im_ : matplotlib AxesImage
        Image of the shares.
    text_ : ndarray of matplotlib Text, shape (n_labels, n_labels)
        The printed counts.

    See Also
    --------
    PairReliabilityDisplay : Reliability of predicted probabilities.
    sklrank.metrics.label_ranking_report : Measures of predicted rankings, as a text.

    Examples
    --------
    >>> from sklrank.model_selection import RankingDisplay
    >>> display = RankingDisplay.from_predictions([[1, 2, 3], [2, 1, 3]], [[1, 2, 3], [1, 2, 3]])
    >>> display.counts
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 2]])
    """

    def __init__(self, *, counts: ArrayLike) -> None:
        self.counts = np.asarray(counts)
        if self.counts.ndim != 2 or self.counts.shape[0] != self.counts.shape[1]:
            raise ValueError(
                f"counts must be a square matrix of positions, got the shape {self.counts.shape}"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
    ) -> RankingDisplay:
        """Plot the positions that a fitted label ranker predicts.

        Parameters
        ----------
        estimator : label ranker
            Fitted ranker whose `predict` returns positions.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples, n_labels)
            True positions of the labels. NaN marks a label that is not ranked.
        ax : matplotlib Axes, default=None
            See :meth:`plot`.
        im_kw : dict, default=None
            See :meth:`plot`.

        Returns
        -------
        display : RankingDisplay
            The display, with a plot.
        """
        return cls.from_predictions(y, estimator.predict(X), ax=ax, im_kw=im_kw)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
    ) -> RankingDisplay:
        """Plot given positions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples, n_labels)
            True positions of the labels. NaN marks a label that is not ranked. Positions are
            counted among the labels that are ranked in both rankings of a sample.
        y_pred : array-like of shape (n_samples, n_labels)
            Predicted positions of the labels, in the same form.
        ax : matplotlib Axes, default=None
            See :meth:`plot`.
        im_kw : dict, default=None
            See :meth:`plot`.

        Returns
        -------
        display : RankingDisplay
            The display, with a plot.

        Raises
        ------
        ValueError
            If the arrays are not 2-d or have different shapes.
        """
        true, pred = check_two_rankings(y_true, y_pred)
        ranked = ~(np.isnan(true) | np.isnan(pred))
        places = [
            close_ranks(np.where(ranked, positions, np.nan))[ranked].astype(np.intp) - 1
            for positions in (true, pred)
        ]
        counts = np.zeros((true.shape[1], true.shape[1]), dtype=np.intp)
        np.add.at(counts, tuple(places), 1)
        return cls(counts=counts).plot(ax, im_kw=im_kw)

    def plot(self, ax: Any = None, *, im_kw: Mapping[str, Any] | None = None) -> RankingDisplay:
        """Plot the matrix: colors are the shares within each true position, numbers the counts.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. If None, a new figure is created.
        im_kw : dict, default=None
            Keyword arguments passed to `Axes.imshow`.

        Returns
        -------
        display : RankingDisplay
            This object, whose attributes `ax_`, `figure_`, `im_` and `text_` are set.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._start_plot(ax)
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        options = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, **(im_kw or {})}
        self.im_ = ax.imshow(shares, **options)
        self.text_ = np.empty(self.counts.shape, dtype=object)
        for place, count in np.ndenumerate(self.counts):
            color = "white" if shares[place] > 0.5 else "black"
            self.text_[place] = ax.text(
                place[1], place[0], str(count), ha="center", va="center", color=color
            )
        places = np.arange(len(self.counts))
        ax.set(
            xticks=places,
            yticks=places,
            xticklabels=places + 1,
            yticklabels=places + 1,
            xlabel="Predicted position",
            ylabel="True position",
        )
        return self
