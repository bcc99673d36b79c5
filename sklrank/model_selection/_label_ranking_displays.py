"""Plots for label ranking: predicted against true positions, and a reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklrank._display import Display
from sklrank._rankings import check_pair_proba, check_two_rankings, close_ranks
from sklrank._validation import is_integer


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


class PairReliabilityDisplay(Display):
    """Reliability diagram of the probabilities that one label is ranked before another.

    The pairs of labels are grouped by predicted probability. For calibrated probabilities, the
    share of pairs in the predicted order is the mean probability of the group. Use
    :meth:`from_estimator` or :meth:`from_predictions` to create a display.

    Parameters
    ----------
    predicted : array-like of shape (n_bins,)
        Mean predicted probability of the pairs of each bin.
    shares : array-like of shape (n_bins,)
        Share of the pairs of each bin whose first label is ranked before the second.
    counts : array-like of shape (n_bins,)
        Number of pairs of each bin. Two labels are two pairs, one for each order.
    name : str, default=None
        Name of the line in the legend.

    Attributes
    ----------
    predicted, shares, counts : ndarray of shape (n_bins,)
        As above.
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Figure of the last plot.
    line_ : matplotlib Line2D
        Line of the shares.

    See Also
    --------
    RankingDisplay : Predicted against true positions.
    sklrank.metrics.pair_brier_score : Mean squared error of the probabilities.

    Examples
    --------
    >>> from sklrank.model_selection import PairReliabilityDisplay
    >>> probabilities = [[[0.5, 0.9], [0.1, 0.5]], [[0.5, 0.9], [0.1, 0.5]]]
    >>> display = PairReliabilityDisplay.from_predictions([[1, 2], [2, 1]], probabilities)
    >>> display.predicted.round(2), display.shares, display.counts
    (array([0.1, 0.9]), array([0.5, 0.5]), array([2, 2]))
    """

    def __init__(
        self,
        *,
        predicted: ArrayLike,
        shares: ArrayLike,
        counts: ArrayLike,
        name: str | None = None,
    ) -> None:
        self.predicted, self.shares = np.asarray(predicted), np.asarray(shares)
        self.counts, self.name = np.asarray(counts), name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_bins: int = 10,
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> PairReliabilityDisplay:
        """Plot the reliability of the probabilities of a fitted label ranker.

        Parameters
        ----------
        estimator : label ranker
            Fitted ranker with `predict_pair_proba`.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples, n_labels)
            True positions of the labels. NaN marks a label that is not ranked.
        n_bins : int, default=10
            Number of bins of equal width.
        name : str, default=None
            Name of the line in the legend. If None, it is the name of the class of `estimator`.
        ax : matplotlib Axes, default=None
            See :meth:`plot`.
        line_kw : dict, default=None
            See :meth:`plot`.

        Returns
        -------
        display : PairReliabilityDisplay
            The display, with a plot.
        """
        name = type(estimator).__name__ if name is None else name
        probabilities = estimator.predict_pair_proba(X)
        return cls.from_predictions(
            y, probabilities, n_bins=n_bins, name=name, ax=ax, line_kw=line_kw
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        n_bins: int = 10,
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> PairReliabilityDisplay:
        """Plot the reliability of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples, n_labels)
            True positions of the labels. NaN marks a label that is not ranked. Pairs that are tied,
            or whose labels are not both ranked, are ignored.
        y_proba : array-like of shape (n_samples, n_labels, n_labels)
            Entry ``[i, a, b]`` is the probability that label a is ranked before label b, and
            ``[i, b, a]`` must be one minus ``[i, a, b]``.
        n_bins : int, default=10
            Number of bins of equal width.
        name : str, default=None
            Name of the line in the legend.
        ax : matplotlib Axes, default=None
            See :meth:`plot`.
        line_kw : dict, default=None
            See :meth:`plot`.

        Returns
        -------
        display : PairReliabilityDisplay
            The display, with a plot.

        Raises
        ------
        ValueError
            If the shapes do not match, or if `n_bins` is not a positive integer.
        """
        if not is_integer(n_bins) or n_bins < 1:
            raise ValueError(f"n_bins must be a positive integer, got {n_bins!r}")
        positions, probabilities = check_pair_proba(y_true, y_proba)
        first, second = positions[:, :, np.newaxis], positions[:, np.newaxis, :]
        ordered = (first < second) | (first > second)
        predicted, outcomes = probabilities[ordered], (first < second)[ordered]
        bins = np.minimum((predicted * n_bins).astype(np.intp), n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        sums = np.bincount(bins, predicted, n_bins), np.bincount(bins, outcomes, n_bins)
        kept = counts > 0
        means = [values[kept] / counts[kept] for values in sums]
        display = cls(predicted=means[0], shares=means[1], counts=counts[kept], name=name)
        return display.plot(ax, line_kw=line_kw)

    def plot(
        self, ax: Any = None, *, line_kw: Mapping[str, Any] | None = None
    ) -> PairReliabilityDisplay:
        """Plot the shares against the predicted probabilities, and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. If None, a new figure is created.
        line_kw : dict, default=None
            Keyword arguments passed to `Axes.plot` for the line of the shares.

        Returns
        -------
        display : PairReliabilityDisplay
            This object, whose attributes `ax_`, `figure_` and `line_` are set.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._start_plot(ax)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle=":")
        style = {"marker": "o", "label": self.name, **(line_kw or {})}
        (self.line_,) = ax.plot(self.predicted, self.shares, **style)
        ax.set(
            xlabel="Predicted probability of the order of two labels",
            ylabel="Share of pairs in this order",
        )
        if self.name is not None:
            ax.legend()
        return self
