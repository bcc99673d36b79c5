"""Split-conformal prediction: sets of top labels and intervals of positions with coverage."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from sklrank._model_lock import shared_call
from sklrank._randomness import draw_seed
from sklrank._rankings import close_ranks, strict_positions
from sklrank._sklearn import Interval, _num_samples, _safe_indexing
from sklrank._validation import check_k
from sklrank.label_ranking._inner_rankers import (
    WrappedRanker,
    decision_function,
    fit_ranker,
    last_ranker,
)
from sklrank.label_ranking._label_ranker import of_rankers
from sklrank.label_ranking._plackett_luce_likelihood import topk_probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ConformalRanker(WrappedRanker):
    """Base class of the wrappers that calibrate a label ranker on held-out samples.

    A subclass defines `_calibrate`.
    """

    _parameter_constraints: dict = {
        **WrappedRanker._parameter_constraints,
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "calibration_size": [Interval(Real, 0, 1, closed="right")],
    }

    @abstractmethod
    def _calibrate(self, X, ranks):
        """Store the quantiles of the nonconformity scores of held-out samples.

        `ranks`, of shape `(n_samples, n_labels)`, are one plus the numbers of labels ranked before.
        """

    def _fit_ranker(self, X, positions, sample_weight):
        incomplete = np.isnan(positions).any(axis=1)
        if incomplete.any():
            raise ValueError(
                f"y has incomplete rankings, first in row {incomplete.argmax()}: the positions of "
                "the labels among all labels must be known for calibration. Pass complete rankings"
            )
        seed = draw_seed(self.random_state)
        train = held_out = np.arange(_num_samples(X))
        if self.calibration_size < 1.0:
            split = ShuffleSplit(1, test_size=self.calibration_size, random_state=seed)
            try:
                [(train, held_out)] = split.split(positions)
            except ValueError as error:
                raise ValueError(
                    f"calibration_size={self.calibration_size} cannot split {len(positions)} "
                    f"samples: {error} Use more samples"
                ) from error
        for ranker in self._track([self.ranker], "ranker", state=lambda: None, may_stop=False):
            self.ranker_ = fit_ranker(clone(ranker), X, positions, train, sample_weight)
        self._calibrate(_safe_indexing(X, held_out), close_ranks(positions[held_out]))

    def _quantile(self, scores):
        """Return the quantile of nonconformity scores `(n_samples, ...)` along the first axis.

        For n scores, it is the smallest score that is not below
        ``ceil((n + 1) * confidence_level)`` of them, or infinity if there are too few scores.
        """
        n_scores = len(scores)
        # The product is rounded because it may exceed an integer by a rounding error.
        number = int(np.ceil(np.round((n_scores + 1) * self.confidence_level, 9)))
        if number > n_scores:
            return np.full(scores.shape[1:], np.inf)
        return np.sort(scores, axis=0)[number - 1]


@of_rankers
class ConformalTopLabels(ConformalRanker):
    r"""Sets of labels that contain the best labels with a given probability.

    The ranker is fitted to a part of the samples. The other samples calibrate a threshold: let
    :math:`c_l(x)` be the confidence that label l is one of the `k` best labels of sample x. For
    each held-out sample, the score is :math:`-\min_l c_l(x)` over its true best labels. The
    predicted set contains the labels whose confidence is not below the threshold -q, where q is the
    ``ceil((n + 1) * confidence_level)``-th smallest of the n scores. If the samples are
    exchangeable, the sets contain all of the `k` best labels with a probability of at least
    `confidence_level` [1]_. The sets are larger for samples whose best labels are uncertain.

    The confidences are the probabilities of :meth:`PlackettLuceRanker.predict_topk_proba`; for a
    :class:`StackedRanker`, the same probabilities from its scores times `pair_scale_`; and for
    other rankers, the score of the label minus the k-th largest score of the sample. The ranker may
    be the last step of a pipeline, or be chosen by a search.

    Parameters
    ----------
    {frozen}
    confidence_level : float, default=0.9
        Probability that a set contains the best labels, between 0 and 1.
    k : int, default=1
        Number of best labels. If labels are tied, all labels that have fewer than `k` labels before
        them are best labels.
    {calibration}
    threshold_ : float
        Minimum confidence of the labels in a set. It is -inf if there are too few held-out samples
        for the confidence level; the sets then contain all labels.
    {attributes}

    See Also
    --------
    ConformalRanks : Intervals of the positions of all labels.

    References
    ----------
    .. [1] M. Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with bounded
       error levels", Journal of the American Statistical Association 114, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.label_ranking import ConformalTopLabels, PlackettLuceRanker
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(300, 3))
    >>> Y = np.argsort(np.argsort(-3 * X - random.gumbel(size=X.shape), axis=1), axis=1) + 1
    >>> sets = ConformalTopLabels(PlackettLuceRanker(random_state=0), random_state=0).fit(X, Y)
    >>> sets.predict_sets([[2.0, 0.0, 0.0], [0.1, 0.0, 0.1]])
    array([[ True, False, False],
           [ True,  True,  True]])
    """

    _parameter_constraints: dict = {
        **ConformalRanker._parameter_constraints,
        "k": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        ranker: Any,
        *,
        confidence_level: float = 0.9,
        k: int = 1,
        calibration_size: float = 0.3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ranker = ranker
        self.confidence_level = confidence_level
        self.k = k
        self.calibration_size = calibration_size
        self.random_state = random_state

    def _calibrate(self, X, ranks):
        self._fitted_k = check_k(self.k, ranks.shape[1])
        lowest = np.where(ranks <= self.k, self._confidences(X), np.inf).min(axis=1)
        self.threshold_ = float(-self._quantile(-lowest))

    def _confidences(self, X):
        ranker, X = last_ranker(self.ranker_, X)
        if hasattr(ranker, "predict_topk_proba"):
            return ranker.predict_topk_proba(X, self._fitted_k)
        scores = decision_function(ranker, X)
        if hasattr(ranker, "pair_scale_"):
            return topk_probabilities(ranker.pair_scale_ * scores, self._fitted_k)
        return scores - np.sort(scores, axis=1)[:, -self._fitted_k, np.newaxis]

    @shared_call
    def predict_sets(self, X: ArrayLike) -> np.ndarray:
        """Return the sets of labels that contain the best labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_labels)
            True for the labels in the set. Each set contains at least the `k` labels with the
            highest scores.
        """
        X = self._check_fitted_rows(X)
        predicted = strict_positions(decision_function(self.ranker_, X)) <= self._fitted_k
        return (self._confidences(X) >= self.threshold_) | predicted


@of_rankers
class ConformalRanks(ConformalRanker):
    r"""Intervals that contain the position of each label with a given probability.

    The ranker is fitted to a part of the samples. The other samples calibrate the intervals: the
    interval of label l in sample x is :math:`m_l(x) \pm q_l w_l(x)`, limited to whole positions
    from 1 to n_labels. Here :math:`q_l` is the ``ceil((n + 1) * confidence_level)``-th smallest of
    the values :math:`|\sigma_i(l) - m_l(x_i)| / w_l(x_i)` of the n held-out samples. If the samples
    are exchangeable, the interval of each label contains its position with a probability of at
    least `confidence_level` [1]_. The probability refers to each label, not to all labels of a
    sample at once.

    For rankers with `predict_pair_proba`, the center :math:`m_l` is the expected position, and the
    width :math:`w_l` is the root of one plus the sum of the variances of the comparisons of label l
    with other labels, so that intervals are longer where the ranking is uncertain. For other
    rankers, the center is the predicted position and the width is 1. The ranker may be the last
    step of a pipeline, or be chosen by a search.

    Parameters
    ----------
    {frozen}
    confidence_level : float, default=0.9
        Probability that an interval contains the position, between 0 and 1.
    {calibration}
    quantiles_ : ndarray of shape (n_labels,)
        The values :math:`q_l`. They are infinite if there are too few held-out samples for the
        confidence level; the intervals then contain all positions.
    {attributes}

    See Also
    --------
    ConformalTopLabels : Sets that contain the best labels.

    References
    ----------
    .. [1] J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman, "Distribution-free
       predictive inference for regression", Journal of the American Statistical Association 113,
       2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.label_ranking import ConformalRanks, PlackettLuceRanker
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(300, 3))
    >>> Y = np.argsort(np.argsort(-9 * X - random.gumbel(size=X.shape), axis=1), axis=1) + 1
    >>> ranks = ConformalRanks(PlackettLuceRanker(random_state=0), random_state=0).fit(X, Y)
    >>> ranks.predict_intervals([[2.0, 0.0, -0.1]])[0].tolist()  # of three labels
    [[1, 1], [2, 2], [2, 3]]
    """

    def __init__(
        self,
        ranker: Any,
        *,
        confidence_level: float = 0.9,
        calibration_size: float = 0.3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ranker = ranker
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.random_state = random_state

    def _calibrate(self, X, ranks):
        centers, widths = self._centers_and_widths(X)
        self.quantiles_ = self._quantile(np.abs(ranks - centers) / widths)

    def _centers_and_widths(self, X):
        ranker, X = last_ranker(self.ranker_, X)
        if not hasattr(ranker, "predict_pair_proba"):
            centers = strict_positions(decision_function(ranker, X))
            return centers, np.ones(centers.shape)
        before = ranker.predict_pair_proba(X)
        # The comparison of a label with itself has the variance 1/4.
        variances = np.sum(before * (1.0 - before), axis=2) - 0.25
        return 0.5 + before.sum(axis=1), np.sqrt(1.0 + variances)

    @shared_call
    def predict_intervals(self, X: ArrayLike) -> np.ndarray:
        """Return an interval of the position of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples, n_labels, 2)
            The smallest and the largest position. If no position is in the interval, both are the
            position that is nearest to its center.
        """
        centers, widths = self._centers_and_widths(self._check_fitted_rows(X))
        n_labels = centers.shape[1]
        reach = np.minimum(self.quantiles_ * widths, n_labels)
        nearest = np.rint(centers)
        # Differences that are equal to the quantile are in the interval despite rounding errors.
        lowest = np.minimum(np.ceil(centers - reach - 1e-9), nearest)
        highest = np.maximum(np.floor(centers + reach + 1e-9), nearest)
        return np.stack([lowest, highest], axis=-1).clip(1, n_labels).astype(np.intp)
