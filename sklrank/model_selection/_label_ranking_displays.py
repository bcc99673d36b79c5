"""Plots for label ranking: preferences, predicted against true positions, a reliability diagram.

The latter two are plots of scikit-learn, of the positions of labels instead of classes, and of the
order of pairs of labels instead of a binary outcome.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import check_pair_proba, check_scored, check_two_rankings, close_ranks
from sklrank._estimators import Display, shares_text


@shares_text()
class PreferenceDisplay(Display):
    """Preferences for labels with their intervals, or the matrix of the wins of each label.

    Use :meth:`from_estimator` to create a display.

    Parameters
    ----------
    labels : array-like of shape (n_labels,)
        Names of the labels.
    estimates, lower, upper : array-like of shape (n_labels,) or (n_labels, n_labels)
        Estimates of the labels, or of pairs of labels, with their intervals.
    name : str
        What the estimates are, the title of their axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the last plot.

    See Also
    --------
    PairReliabilityDisplay : Reliability of predicted probabilities.

    Examples
    --------
    >>> from sklrank.model_selection import PreferenceDisplay
    >>> display = PreferenceDisplay(["tea", "milk"], [0.4, -0.4], [0.1, -0.7], [0.7, -0.1], "Worth")
    >>> [label.get_text() for label in display.plot().ax_.get_yticklabels()]
    ['tea', 'milk']
    """

    def __init__(
        self,
        labels: ArrayLike,
        estimates: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        name: str = "",
    ) -> None:
        self.labels, self.name = np.asarray(labels), name
        self.estimates, self.lower, self.upper = map(np.asarray, (estimates, lower, upper))
        shape = self.estimates.shape
        if (
            not shape == self.lower.shape == self.upper.shape == (len(self.labels),) * len(shape)
            or not 1 <= len(shape) <= 2
        ):
            raise ValueError(
                "estimates, lower and upper must have one entry for each label or pair of labels, "
                f"got the shapes {shape}, {self.lower.shape} and {self.upper.shape} for "
                f"{len(self.labels)} labels"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        kind: str = "worth",
        ax: Any = None,
        **options: Any,
    ) -> PreferenceDisplay:
        """Plot the preferences of a fitted model.

        Parameters
        ----------
        estimator : PlackettLuceRanker
            Fitted ranker with `summary` and `preferences`.
        X : array-like of shape (n_samples, n_features), default=None
            Respondents, one or more, over which preferences are averaged. Not used for "worth",
            which is that of the mean respondent.
        kind : {"worth", "mean_rank", "top_k", "wins"}, default="worth"
            Log-worths with intervals from quasi-standard errors, which overlap unless labels differ
            significantly; the others are those of `PlackettLuceRanker.preferences`.
        {ax}
        **options
            Parameters of :meth:`PlackettLuceRanker.summary` or
            :meth:`PlackettLuceRanker.preferences`.

        {display}
        """
        if not hasattr(estimator, "preferences"):
            raise ValueError(f"estimator must be a PlackettLuceRanker, got {estimator!r}")
        check_is_fitted(estimator)
        labels = estimator.classes_
        if kind == "worth":
            table = estimator.summary(of="labels", **options)
            estimates, errors = (
                np.asarray(table[name])[: len(labels)] for name in ("estimate", "quasi_std_error")
            )
            reach = norm.ppf(0.5 + options.get("confidence_level", 0.95) / 2) * errors
            bounds = estimates - reach, estimates + reach
            return cls(labels, estimates, *bounds, "Log-worth").plot(ax)
        if X is None:
            raise ValueError(
                f"X must be the samples whose preferences are averaged for kind={kind!r}"
            )
        table = estimator.preferences(X, kind, **options)
        names = {"mean_rank": "Mean rank", "wins": "Probability of the row before the column"}
        shape = (len(labels),) * (2 if kind == "wins" else 1)
        columns = (np.reshape(table[name], shape) for name in ("estimate", "lower", "upper"))
        name = names.get(kind, f"Probability to be in the top {options.get('k', 1)}")
        return cls(labels, *columns, name).plot(ax)

    def plot(self, ax: Any = None) -> PreferenceDisplay:
        """Plot the labels from best to worst, by estimate.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : PreferenceDisplay
            This object, whose attributes `ax_` and `figure_` are set.
        """
        ax = self._start_plot(ax)
        matrix = self.estimates.ndim == 2
        strength = self.estimates.mean(axis=1) if matrix else self.estimates
        if self.name == "Mean rank":
            strength = -strength
        order = np.argsort(-strength, kind="stable")
        names, places = self.labels[order], np.arange(len(order))
        ax.set_yticks(places, names)
        if matrix:
            cells = np.ix_(order, order)
            values = np.where(np.eye(len(order), dtype=bool), np.nan, self.estimates[cells])
            ax.imshow(values, cmap="RdBu", vmin=0.0, vmax=1.0)
            ax.grid(False)
            for a, b in zip(*np.nonzero(~np.isnan(values))):
                low, high = self.lower[cells][a, b], self.upper[cells][a, b]
                # Extreme cells are dark.
                color = "white" if abs(values[a, b] - 0.5) > 0.25 else "black"
                text = f"{values[a, b]:.2f}\n{low:.2f}-{high:.2f}"
                ax.text(b, a, text, ha="center", va="center", fontsize="x-small", color=color)
            ax.set_xticks(places, names, rotation=45, ha="right")
            ax.set(title=self.name)
            return self
        errors = self.estimates - self.lower, self.upper - self.estimates
        ax.errorbar(
            self.estimates[order], places, xerr=np.array(errors)[:, order], fmt="o", capsize=3
        )
        ax.set(xlabel=self.name)
        ax.invert_yaxis()
        return self


@shares_text()
class RankingDisplay(ConfusionMatrixDisplay):
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
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the last plot.
    im_ : matplotlib AxesImage
        Image of the counts.
    text_ : ndarray of matplotlib Text, shape (n_labels, n_labels)
        The printed counts.

    See Also
    --------
    PairReliabilityDisplay : Reliability of predicted probabilities.
    sklrank.metrics.kendall_tau_score : Agreement of two rankings.

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
        super().__init__(self.counts, display_labels=np.arange(1, len(self.counts) + 1))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, **options: Any
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
        **options
            See :meth:`plot`.

        {display}
        """
        check_scored(estimator, X, y)
        return cls.from_predictions(y, estimator.predict(X), **options)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, **options: Any
    ) -> RankingDisplay:
        """Plot given positions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples, n_labels)
            True positions of the labels. NaN marks a label that is not ranked. Positions are
            counted among the labels that are ranked in both rankings of a sample.
        y_pred : array-like of shape (n_samples, n_labels)
            Predicted positions of the labels, in the same form.
        **options
            See :meth:`plot`.

        {display}
        """
        true, pred = check_two_rankings(y_true, y_pred)
        ranked = ~(np.isnan(true) | np.isnan(pred))
        places = [
            close_ranks(np.where(ranked, positions, np.nan))[ranked].astype(np.intp) - 1
            for positions in (true, pred)
        ]
        counts = np.zeros((true.shape[1], true.shape[1]), dtype=np.intp)
        np.add.at(counts, tuple(places), 1)
        return cls(counts=counts).plot(**options)

    def plot(self, **options: Any) -> RankingDisplay:
        """Plot the matrix.

        Parameters
        ----------
        **options
            Parameters of :meth:`sklearn.metrics.ConfusionMatrixDisplay.plot`, such as `ax` and
            `cmap`.

        Returns
        -------
        display : RankingDisplay
            This object, whose attributes `ax_`, `figure_`, `im_` and `text_` are set.
        """
        super().plot(**{"cmap": "Blues", "colorbar": False, **options})
        self.ax_.set(xlabel="Predicted position", ylabel="True position")
        return self


@shares_text()
class PairReliabilityDisplay(CalibrationDisplay):
    """Reliability diagram of the probabilities that one label is ranked before another.

    The pairs of labels, two for the two orders, are grouped by predicted probability. For
    calibrated probabilities, the share of pairs in the predicted order is their mean. This is
    scikit-learn's :class:`~sklearn.calibration.CalibrationDisplay` of these pairs. Use
    :meth:`from_estimator` or :meth:`from_predictions` to create a display.

    Parameters
    ----------
    prob_true : ndarray of shape (n_bins,)
        Share of the pairs of each bin whose first label is ranked before the second.
    prob_pred : ndarray of shape (n_bins,)
        Mean predicted probability of the pairs of each bin.
    y_prob : ndarray of shape (n_pairs,)
        Predicted probabilities of all pairs.
    estimator_name : str, default=None
        Name of the line in the legend.
    pos_label : object, default=None
        Not used.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Line of the shares.
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the last plot.

    See Also
    --------
    RankingDisplay : Predicted against true positions.
    sklrank.metrics.pair_brier_score : Mean squared error of the probabilities.

    Examples
    --------
    >>> from sklrank.model_selection import PairReliabilityDisplay
    >>> probabilities = [[[0.5, 0.9], [0.1, 0.5]], [[0.5, 0.9], [0.1, 0.5]]]
    >>> display = PairReliabilityDisplay.from_predictions([[1, 2], [2, 1]], probabilities)
    >>> display.prob_pred.round(2), display.prob_true
    (array([0.1, 0.9]), array([0.5, 0.5]))
    """

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, **options: Any
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
        **options
            See :meth:`from_predictions`. By default, `name` is the name of the class of
            `estimator`.

        {display}
        """
        options.setdefault("name", type(estimator).__name__)
        check_scored(estimator, X, y)
        return cls.from_predictions(y, estimator.predict_pair_proba(X), **options)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_proba: ArrayLike, *, n_bins: int = 10, **options: Any
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
        **options
            Parameters of :meth:`sklearn.calibration.CalibrationDisplay.from_predictions`, such as
            `name` and `ax`.

        {display}
        """
        positions, probabilities = check_pair_proba(y_true, y_proba)
        first, second = positions[:, :, np.newaxis], positions[:, np.newaxis, :]
        ordered = (first < second) | (first > second)
        outcomes, predicted = (first < second)[ordered], probabilities[ordered]
        display = super().from_predictions(outcomes, predicted, n_bins=n_bins, **options)
        display.ax_.set(
            xlabel="Predicted probability of the order of two labels",
            ylabel="Share of pairs in this order",
        )
        return display
