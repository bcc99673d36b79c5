"""Labelwise decomposition: regress on the position of each label, then sort."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils.parallel import delayed

from sklrank._sklearn import StrOptions, _safe_indexing, one_blas_thread
from sklrank.label_ranking._decomposition import DecompositionRanker

__all__ = ["LabelwiseRanker"]


class LabelwiseRanker(DecompositionRanker):
    r"""Rank labels by regressions on their positions.

    Algorithm 1 of [1]_: for each label l of k labels, a regressor learns
    :math:`\sigma(l) / k`, where :math:`\sigma(l)` is the position of l. The labels of a sample are
    sorted by the predictions of their regressors.

    Tied labels share the mean of their positions. An incomplete ranking says little about the
    absolute position of a label. With ``incomplete="relative"`` the regressor of a label is fitted
    to the samples that rank it; the target of the r-th of s ranked labels is :math:`r / (s + 1)`.
    :class:`PairwiseRanker` learns more from such rankings.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Regressor of the positions. None: an `ExtraTreesRegressor` of 100 trees.
    multi_output : bool or {"auto"}, default=False
        Fit one model of all labels (True), which needs complete rankings and an estimator of
        several outputs, or one model for each label (False). "auto": one model of all labels where
        these conditions hold.
    incomplete : {"raise", "relative"}, default="raise"
        Treatment of incomplete rankings: raise an error, or learn relative positions.
    random_state : int, RandomState instance or None, default=None
        Seed of the default estimator; a given estimator has its own.
    verbose : int, default=0
        Verbosity of joblib.
    n_jobs : int or None, default=None
        Number of models that are fitted at a time, each with one BLAS thread; with one model of all
        labels, the `n_jobs` of the default estimator.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted regressors: one for each label, or a single one. The regressor of a label that
        only one of several samples ranks is a `DummyRegressor`.
    classes_ : ndarray of shape (n_labels,)
        The labels: the columns of `y`, by name if `y` is a data frame with column names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has string feature names.

    See Also
    --------
    PairwiseRanker : Learns comparisons of two labels; for incomplete rankings.

    Notes
    -----
    A joint model is faster, and ranks worse where labels depend on different features: a tree must
    then split for all labels at once. On the noiseless sparse data of
    :func:`~sklrank.datasets.make_sparse_label_ranking`, a mean Kendall tau of .472 for a joint
    :class:`~sklrank.tree.LevelSplitsRegressor` compares with .794 for separate ones, and .570 with
    .789 for forests. On eight real data sets
    joint models were better by at most .010 and worse by up to .066.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.label_ranking import LabelwiseRanker
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> Y = np.where(X < 0.5, [[1, 2, 3]], [[2, 3, 1]])  # positions of three labels
    >>> ranker = LabelwiseRanker(random_state=0).fit(X, Y)
    >>> ranker.predict([[0.1], [0.9]])
    array([[1, 2, 3],
           [2, 3, 1]])
    """

    _parameter_constraints: dict = {
        **DecompositionRanker._parameter_constraints,
        "incomplete": [StrOptions({"raise", "relative"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        multi_output: bool | Literal["auto"] = False,
        incomplete: Literal["raise", "relative"] = "raise",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.multi_output = multi_output
        self.incomplete = incomplete
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_estimator(self, random_state, n_jobs):
        return ExtraTreesRegressor(random_state=random_state, n_jobs=n_jobs)

    def _fit_rankings(self, X, positions):
        if is_classifier(self._template()):
            raise ValueError(
                "estimator must be a regressor, which learns positions; got the classifier "
                f"{self.estimator!r}: use PairwiseRanker for classifiers"
            )
        targets = self._targets(positions)
        jointly = self._fits_jointly(targets)
        template = self._template_of_fit(jointly)
        if jointly:
            self.estimators_ = [clone(template).fit(X, targets)]
        else:
            self._check_takes_one_target("label")
            self.estimators_ = self._fit_in_parallel(
                delayed(fit_label)(clone(template), X, target) for target in targets.T
            )

    def _targets(self, positions):
        missing = np.isnan(positions)
        if not missing.any():
            return rankdata(positions, axis=1) / positions.shape[1]
        if self.incomplete == "raise":
            raise ValueError(
                "y has labels that are not ranked (NaN): use PairwiseRanker, which learns from "
                "incomplete rankings, or incomplete='relative' for positions among ranked labels"
            )
        never = np.flatnonzero(missing.all(axis=0))
        if len(never):
            raise ValueError(
                f"y ranks the labels {never.tolist()} in no row (of this training fold, if any), "
                "so their positions cannot be learned: leave them out, or use PairwiseRanker"
            )
        n_ranked = (~missing).sum(axis=1, keepdims=True)
        return rankdata(positions, axis=1, nan_policy="omit") / (n_ranked + 1)

    def _fits_jointly(self, targets):
        incomplete = bool(np.isnan(targets).any())
        several = targets.shape[1] > 1
        if self.multi_output == "auto":
            return several and not incomplete and self._takes_many_targets()
        if self.multi_output and incomplete:
            raise ValueError(
                "multi_output=True learns all labels from every sample, but y has labels that are "
                "not ranked (NaN): use multi_output=False"
            )
        return several and self.multi_output

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        predicted = self._in_parallel(delayed(model.predict)(X) for model in self.estimators_)
        return -np.column_stack(predicted)


@one_blas_thread
def fit_label(estimator, X, target):
    """Fit to the samples that rank the label."""
    ranked = np.flatnonzero(~np.isnan(target))
    if len(ranked) == 1 < len(target):
        # From one sample a regressor that holds out samples would predict NaN.
        estimator = DummyRegressor()
    if len(ranked) < len(target):
        X, target = _safe_indexing(X, ranked), target[ranked]
    return estimator.fit(X, target)
