"""Probabilities of the order of two labels for any label ranker, from held-out samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.parallel import delayed

from sklrank._estimators import draw_seed
from sklrank.label_ranking._inner_rankers import (
    WrappedRanker,
    fit_and_score,
    fit_pair_scale,
    fit_ranker,
    held_out_positions,
    split_rankings,
)
from sklrank.label_ranking._label_ranker import MetaLabelRanker, PairProbaMixin, of_rankers
from sklrank.label_ranking._pairwise import weights_or_ones


@of_rankers
class CalibratedLabelRanker(PairProbaMixin, WrappedRanker):
    r"""Label ranker with calibrated probabilities of the order of two labels.

    The ranker is fitted to all samples. Clones of it, fitted to parts of them, score the held-out
    samples. The pairs of labels that held-out rankings order determine the factor :math:`w \ge 0`
    of :math:`P(a \text{ before } b) = 1 / (1 + e^{-w (s_a - s_b)})`, fitted to Platt's targets:
    (n + 1) / (n + 2) instead of 1 for n pairs [1]_. Of more than a million pairs, a part is used.

    :class:`PlackettLuceRanker`, :class:`PairwiseRanker` and :class:`StackedRanker` have such
    probabilities without this class. Those of a :class:`PairwiseRanker` with forests are often too
    close to 0 and 1 or too close to 1/2; this class calibrates them as well.

    Parameters
    ----------
    ranker : label ranker
        Ranker, which learns positions. An estimator that learned other targets, such as classes,
        can be calibrated as ``sklearn.frozen.FrozenEstimator(estimator)`` if its
        `decision_function` returns a score for each label.
    cv : int, cross-validation generator or iterable, default=5
        Determines the held-out samples. For an integer, the folds are shuffled.
    random_state : int, RandomState instance or None, default=None
        Controls the folds if `cv` is an integer.
    n_jobs : int or None, default=None
        Number of rankers that are fitted in parallel.

    Attributes
    ----------
    ranker_ : label ranker
        The ranker, fitted to all samples.
    pair_scale_ : float
        The factor w.
    {attributes}

    See Also
    --------
    sklrank.metrics.pair_brier_score : Mean squared error of the probabilities.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods", Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklrank.label_ranking import CalibratedLabelRanker, LabelwiseRanker
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(300, 3))
    >>> Y = np.argsort(np.argsort(-2 * X - random.gumbel(size=X.shape), axis=1), axis=1) + 1
    >>> ranker = CalibratedLabelRanker(LabelwiseRanker(Ridge()), random_state=0).fit(X, Y)
    >>> ranker.predict_pair_proba([[1.0, 0.0, 0.0]])[0, 0, 1] > 0.8
    np.True_
    """

    _parameter_constraints: dict = {
        **MetaLabelRanker._parameter_constraints,
        **WrappedRanker._parameter_constraints,
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        ranker: Any,
        *,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.ranker = ranker
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ranker(self, X, positions, sample_weight):
        cv = self.cv
        if isinstance(cv, int | np.integer):
            cv = KFold(cv, shuffle=True, random_state=draw_seed(self.random_state))
        folds = split_rankings(cv, X, positions, self.cv)
        unseen, held_out = held_out_positions(positions, folds)
        calls = [
            delayed(fit_and_score)(
                clone(self.ranker), X, positions, *fold, mask, sample_weight=sample_weight
            )
            for fold, mask in zip(folds, unseen)
        ]
        scores = self._fit_in_parallel(calls, "ranker on a fold", len(folds) + 1)
        tests = np.concatenate([test for _, test in folds])
        of_held_out = weights_or_ones(sample_weight, len(positions))[tests]
        self.pair_scale_ = fit_pair_scale(np.concatenate(scores), held_out, of_held_out)
        [self.ranker_] = self._fit_in_parallel(
            [delayed(fit_ranker)(clone(self.ranker), X, positions, None, sample_weight)], "ranker"
        )
