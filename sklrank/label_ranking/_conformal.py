"""Split-conformal prediction: sets of top labels and intervals of positions with coverage."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from sklrank._checks import (
    check_available,
    check_k,
    check_random_state,
    close_ranks,
    strict_positions,
)
from sklrank._compiled import shared_call
from sklrank._estimators import Interval, _num_samples, _safe_indexing, draw_seed
from sklrank.label_ranking._inner_rankers import (
    WrappedRanker,
    decision_function,
    fit_pair_scale,
    fit_ranker,
    last_ranker,
)
from sklrank.label_ranking._label_ranker import of_rankers
from sklrank.label_ranking._plackett_luce.likelihood import topk_probabilities


class ConformalRanker(WrappedRanker):
    """Base class of the wrappers that calibrate a label ranker on held-out samples.

    A subclass defines `_calibrated`.
    """

    _parameter_constraints: dict = {
        **WrappedRanker._parameter_constraints,
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "calibration_size": [Interval(Real, 0, 1, closed="right")],
    }

    @abstractmethod
    def _calibrated(self, X, ranks):
        """Return the quantiles of the nonconformity scores of held-out samples.

        The `ranks` are one plus the numbers of labels ranked before; NaN if a label is not ranked.
        """

    def _fit_ranker(self, X, positions, sample_weight):
        """Fit the ranker, and return what it is calibrated to: positions among all labels.

        `_of_ranked` becomes the same for positions among the labels that a sample ranks.
        """
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
        X, ranks = _safe_indexing(X, held_out), close_ranks(positions[held_out])
        complete = self._complete(X, ranks, seed)
        of_all = self._calibrated(X, complete)
        self._of_ranked = of_all if complete is ranks else self._calibrated(X, ranks)
        return of_all

    def _complete(self, X, ranks, seed):
        """Return the ranks of all labels in the held-out samples.

        Labels that are not ranked are inserted at random by a Plackett-Luce model: labels arrive
        after exponential times, whose rates are the exponentials of the scores. The times between
        the arrivals of the ranked labels do not depend on their order.
        """
        if not np.isnan(ranks).any():
            return ranks
        ranker, transformed = last_ranker(self.ranker_, X)
        scores = decision_function(ranker, transformed)
        if not hasattr(ranker, "predict_topk_proba"):
            scores = fit_pair_scale(scores, ranks) * scores
        # Labels that are worse by a factor of 1e200 come last; smaller rates would overflow.
        rates = np.exp(scores - scores.max(axis=1, keepdims=True)).clip(1e-200)
        times = check_random_state(seed).exponential(size=scores.shape)
        order = np.argsort(ranks, axis=1, kind="stable")
        left = np.take_along_axis(np.where(np.isnan(ranks), 0.0, rates), order, axis=1)
        left = np.cumsum(left[:, ::-1], axis=1)[:, ::-1].clip(1e-200)
        arrivals = np.cumsum(np.take_along_axis(times, order, axis=1) / left, axis=1)
        # Labels of equal rank arrive with the first of them.
        first = np.nan_to_num(ranks - 1.0).astype(np.intp)
        arrivals = np.take_along_axis(arrivals, first, axis=1)
        return close_ranks(np.where(np.isnan(ranks), times / rates, arrivals))

    def _quantiles(self, scores):
        """Return the quantile of the nonconformity scores in each column, without NaN.

        For n scores, it is the smallest score that is not below
        ``ceil((n + 1) * confidence_level)`` of them, or infinity if there are too few scores.
        """
        n_scores = np.sum(~np.isnan(scores), axis=0)
        # The product is rounded because it may exceed an integer by a rounding error.
        numbers = np.ceil(np.round((n_scores + 1) * self.confidence_level, 9)).astype(int)
        fewest = n_scores.min()
        if (numbers > n_scores).any():
            warnings.warn(
                f"confidence_level={self.confidence_level} needs at least "
                f"{int(np.ceil(np.round(1 / (1 - self.confidence_level), 9))) - 1} held-out "
                f"rankings of a label, and there are {fewest}: the sets contain everything. The "
                f"level can be at most {fewest}/{fewest + 1}",
                stacklevel=2,
            )
        # Missing scores, and one more, are infinite.
        ordered = np.vstack([np.where(np.isnan(scores), np.inf, scores), [np.inf] * len(numbers)])
        return np.sort(ordered, axis=0)[numbers - 1, np.arange(len(numbers))]

    def _check_call(self, X, available, of_all: str):
        """Return the samples, the mask of their ranked labels, and the calibration for these.

        `of_all` is the name of the attribute with the calibration for all labels.
        """
        X = self._check_fitted_rows(X)
        shape = _num_samples(X), len(self.classes_)
        if available is None:
            return X, np.ones(shape, dtype=bool), getattr(self, of_all)
        mask = check_available(available, self.classes_, shape[0], k=0)
        return X, mask.view(bool), self._of_ranked


@of_rankers
class ConformalTopLabels(ConformalRanker):
    r"""Sets of labels that contain the best labels with a given probability.

    The ranker is fitted to a part of the samples. The others calibrate a threshold: let
    :math:`c_l(x)` be the confidence that label l is one of the `k` best labels of sample x. The
    score of a held-out sample is :math:`-\min_l c_l(x)` over its true best labels. The set
    contains the labels whose confidence is not below the threshold -q, where q is the
    ``ceil((n + 1) * confidence_level)``-th smallest of the n scores. If the samples are
    exchangeable, the sets contain all of the `k` best labels with a probability of at least
    `confidence_level` [1]_. They are larger for samples whose best labels are uncertain.

    With incomplete rankings, the guarantee holds for the best of the labels that a sample ranks,
    and for ``predict_sets(X, available)`` with the mask of these labels, however they are selected.
    For the best of all labels, the others are inserted at random into the held-out rankings by a
    Plackett-Luce model of the scores: this model must be true, and the selection independent of the
    positions. If the labels that a sample does not rank are known to be worse, let them be tied at
    the last position instead of NaN.

    The confidences are the probabilities of :meth:`PlackettLuceRanker.predict_topk_proba`; for a
    :class:`StackedRanker`, the same from its scores times `pair_scale_`; for other rankers, the
    score of the label minus the k-th largest one of the sample. The ranker may be the last step of
    a pipeline, or be chosen by a search.

    {frozen}
    confidence_level : float, default=0.9
        Probability that a set contains the best labels, between 0 and 1.
    k : int, default=1
        Number of best labels. Of tied labels, all with fewer than `k` before them are best.
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

    def _fit_ranker(self, X, positions, sample_weight):
        self._fitted_k = check_k(self.k, positions.shape[1])
        self.threshold_ = super()._fit_ranker(X, positions, sample_weight)

    def _calibrated(self, X, ranks):
        confidences = self._confidences(X, ~np.isnan(ranks))
        lowest = np.where(ranks <= self._fitted_k, confidences, np.inf).min(axis=1)
        lowest[np.isnan(ranks).all(axis=1)] = np.nan
        return float(-self._quantiles(-lowest[:, np.newaxis])[0])

    def _confidences(self, X, available):
        ranker, X = last_ranker(self.ranker_, X)
        scores = decision_function(ranker, X)
        scale = 1.0 if hasattr(ranker, "predict_topk_proba") else getattr(ranker, "pair_scale_", 0)
        if scale:
            # Labels that are not available come after the others; differences must be finite.
            return topk_probabilities(np.where(available, scale * scores, -1e12), self._fitted_k)
        ordered = np.sort(np.where(available, scores, -np.inf), axis=1)
        return scores - ordered[:, -self._fitted_k, np.newaxis]

    @shared_call
    def predict_sets(self, X: ArrayLike, available: ArrayLike | None = None) -> np.ndarray:
        """Return the sets of labels that contain the best labels.

        {samples}
        {available}

        Returns
        -------
        ndarray of bool of shape (n_samples, n_labels)
            True for the labels in the set. Each set contains at least the `k` available labels with
            the highest scores.
        """
        X, available, threshold = self._check_call(X, available, "threshold_")
        scores = np.where(available, decision_function(self.ranker_, X), -np.inf)
        predicted = strict_positions(scores) <= self._fitted_k
        found = self._confidences(X, available) >= threshold
        return (found | predicted) & available


@of_rankers
class ConformalRanks(ConformalRanker):
    r"""Intervals that contain the position of each label with a given probability.

    The ranker is fitted to a part of the samples. The others calibrate the intervals: that of label
    l in sample x is :math:`m_l(x) \pm q_l w_l(x)`, limited to whole positions
    from 1 to n_labels. Here :math:`q_l` is the ``ceil((n + 1) * confidence_level)``-th smallest of
    the values :math:`|\sigma_i(l) - m_l(x_i)| / w_l(x_i)` of the n held-out samples. If the samples
    are exchangeable, the interval of each label contains its position with a probability of at
    least `confidence_level` [1]_; this refers to each label, not to all labels of a sample at once.

    With incomplete rankings, the guarantee holds for the positions among the labels that a sample
    ranks, of which the label is one, and for ``predict_intervals(X, available)`` with the mask of
    these labels, however they are selected. For the positions among all labels, the others are
    inserted as by :class:`ConformalTopLabels`, under the same conditions.

    For rankers with `predict_pair_proba`, the center :math:`m_l` is the expected position, and the
    width :math:`w_l` the root of one plus the sum of the variances of the comparisons of label l
    with others: intervals are longer where the ranking is uncertain. For other rankers, they are
    the predicted position and 1. The ranker may be the last step of a pipeline, or be chosen by a
    search.

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
    .. [1] Lei et al., "Distribution-free predictive inference for regression", Journal of the
       American Statistical Association 113, 2018.

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

    def _fit_ranker(self, X, positions, sample_weight):
        self.quantiles_ = super()._fit_ranker(X, positions, sample_weight)

    def _calibrated(self, X, ranks):
        centers, widths = self._centers_and_widths(X, ~np.isnan(ranks))
        return self._quantiles(np.abs(ranks - centers) / widths)

    def _centers_and_widths(self, X, available):
        ranker, X = last_ranker(self.ranker_, X)
        if not hasattr(ranker, "predict_pair_proba"):
            scores = np.where(available, decision_function(ranker, X), -np.inf)
            return strict_positions(scores), np.ones(scores.shape)
        before = ranker.predict_pair_proba(X)
        # The comparison of a label with itself has the probability 1/2 and the variance 1/4.
        variances = np.einsum("iab,iab,ia->ib", before, 1.0 - before, available) - 0.25
        centers = 0.5 + np.einsum("iab,ia->ib", before, available)
        return centers, np.sqrt(1.0 + variances.clip(0.0))

    @shared_call
    def predict_intervals(self, X: ArrayLike, available: ArrayLike | None = None) -> np.ndarray:
        """Return an interval of the position of each label.

        {samples}
        {available}

        Returns
        -------
        ndarray of int of shape (n_samples, n_labels, 2)
            The smallest and the largest position among the available labels. If no position is in
            the interval, both are the position that is nearest to its center. The entries of other
            labels are 0.
        """
        X, available, quantiles = self._check_call(X, available, "quantiles_")
        centers, widths = self._centers_and_widths(X, available)
        n_labels = available.sum(axis=1)[:, np.newaxis, np.newaxis]
        reach = np.minimum(quantiles * widths, centers.shape[1])
        nearest = np.rint(centers)
        # Differences that are equal to the quantile are in the interval despite rounding errors.
        lowest = np.minimum(np.ceil(centers - reach - 1e-9), nearest)
        highest = np.maximum(np.floor(centers + reach + 1e-9), nearest)
        intervals = np.stack([lowest, highest], axis=-1).clip(1, np.maximum(n_labels, 1))
        return np.where(available[:, :, np.newaxis], intervals, 0).astype(np.intp)
