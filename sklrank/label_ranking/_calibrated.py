"""Probabilities of the order of two labels for any label ranker, from held-out samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.parallel import delayed

from sklrank._model_lock import shared_call
from sklrank._randomness import draw_seed
from sklrank._sklearn import StrOptions
from sklrank.label_ranking._inner_rankers import (
    WrappedRanker,
    fit_and_score,
    fit_ranker,
    held_out_positions,
    shuffled_folds,
    split_rankings,
)
from sklrank.label_ranking._label_ranker import MetaLabelRanker, of_rankers
from sklrank.label_ranking._pair_calibration import fit_logistic_factor, ordered_differences
from sklrank.label_ranking._plackett_luce_likelihood import pair_probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@of_rankers
class CalibratedLabelRanker(WrappedRanker):
    r"""Label ranker with calibrated probabilities of the order of two labels.

    The ranker is fitted to all samples. Clones of it that are fitted to parts of the samples score
    the held-out samples. The pairs of labels that the held-out rankings order determine how the
    probability depends on the difference of two scores: :math:`P(a \text{ before } b) =
    g(s_a - s_b)` with :math:`g(-d) = 1 - g(d)`. Of more than a million pairs, a million are drawn.

    :class:`PlackettLuceRanker`, :class:`PairwiseRanker` and :class:`StackedRanker` have such
    probabilities without this class. Those of a :class:`PairwiseRanker` with forests are often too
    close to 0 and 1 or too close to 1/2; this class calibrates them as well.

    Parameters
    ----------
    ranker : label ranker
        Ranker, which learns positions. An estimator that learned other targets, such as classes,
        can be calibrated as ``sklearn.frozen.FrozenEstimator(estimator)`` if its
        `decision_function` returns a score for each label.
    method : {"logistic", "isotonic"}, default="logistic"
        The function g. If "logistic", it is :math:`1 / (1 + e^{-w d})` with a factor :math:`w \ge
        0`, which is fitted to Platt's targets: (n + 1) / (n + 2) instead of 1 for n pairs [1]_. If
        "isotonic", it is the non-decreasing function with the least squared error, which needs more
        samples.
    cv : int, cross-validation generator or iterable, default=5
        Determines the held-out samples. For an integer, the folds are shuffled.
    random_state : int, RandomState instance or None, default=None
        Controls the folds if `cv` is an integer.
    verbose : int, default=0
        Verbosity level of joblib.
    n_jobs : int or None, default=None
        Number of rankers that are fitted in parallel.

    Attributes
    ----------
    ranker_ : label ranker
        The ranker, fitted to all samples.
    calibrator_ : float or IsotonicRegression
        The factor w, or a regression of the outcome on the absolute difference.
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
        "method": [StrOptions({"logistic", "isotonic"})],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        ranker: Any,
        *,
        method: Literal["logistic", "isotonic"] = "logistic",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.ranker = ranker
        self.method = method
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _fit_ranker(self, X, positions):
        folds = self._folds(X, positions)
        unseen, held_out = held_out_positions(positions, folds)
        scores = self._fit_in_parallel(
            [
                delayed(fit_and_score)(clone(self.ranker), X, positions, *fold, mask)
                for fold, mask in zip(folds, unseen)
            ],
            "ranker on a fold",
            len(folds) + 1,
        )
        differences = ordered_differences(np.concatenate(scores), held_out)
        self.calibrator_ = calibrate(differences, self.method)
        [self.ranker_] = self._fit_in_parallel(
            [delayed(fit_ranker)(clone(self.ranker), X, positions)], "ranker"
        )

    def _folds(self, X, positions):
        cv = self.cv
        if isinstance(cv, int | np.integer):
            seed = draw_seed(self.random_state)
            cv = shuffled_folds(cv, seed)
        return split_rankings(cv, X, positions, self.cv)

    @shared_call
    @of_rankers
    def predict_pair_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each label to be ranked before each other label.

        {pair_proba}
        """
        scores = self._label_scores(X)
        if not isinstance(self.calibrator_, IsotonicRegression):
            return pair_probabilities(self.calibrator_ * scores)
        differences = scores[:, :, np.newaxis] - scores[:, np.newaxis, :]
        sizes = np.abs(differences)
        likely = self.calibrator_.predict(sizes.ravel()).reshape(sizes.shape)
        return 0.5 + np.sign(differences) * (likely - 0.5)


def calibrate(differences, method):
    """Return the fitted factor of the logistic function, or the isotonic regression.

    `differences`, of shape `(n_pairs,)`, are the scores of the labels that come first minus those
    of the other labels.
    """
    if method == "isotonic" and len(differences):
        # A label with the larger score comes first, or not; equal scores tell nothing.
        sizes, outcomes = np.abs(differences), 0.5 + 0.5 * np.sign(differences)
        isotonic = IsotonicRegression(y_min=0.5, y_max=1.0, out_of_bounds="clip")
        return isotonic.fit(sizes, outcomes)
    return fit_logistic_factor(differences)
