"""Labelwise decomposition: regress on the position of each label, then sort."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import get_tags
from sklearn.utils.parallel import delayed

from sklrank._sklearn import StrOptions, _safe_indexing
from sklrank.label_ranking._decomposition import DecompositionRanker

__all__ = ["LabelwiseRanker"]


class LabelwiseRanker(DecompositionRanker):
    r"""Rank labels by regressions on their positions.

    Algorithm 1 of [1]_: where :math:`\sigma(l)` is the position of label l among k labels, a
    regressor learns :math:`\sigma(l) / k` for each of them, and a row's labels are sorted by what
    it predicts. Any regressor will do; one that takes many outputs learns all labels at once.

    Tied labels share the mean of their positions. An incomplete ranking says little of the absolute
    position of a label; where `incomplete` is "relative", a label that is r-th of the s labels
    ranked in a row has the target :math:`r / (s + 1)` there, and a model of its own, learnt from
    the rows in which it is ranked. :class:`PairwiseRanker` makes more of such rankings.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What learns positions. None: an `ExtraTreesRegressor` of 100 trees.
    multi_output : {"auto"} or bool, default="auto"
        Whether one model learns all labels, or one model each of them. "auto": one for all, where
        the estimator takes many outputs and the rankings are complete.
    incomplete : {"raise", "relative"}, default="raise"
        What to do where rankings are incomplete.
    random_state : int, RandomState instance or None, default=None
        Seeds the default estimator; others have their own.
    verbose : int, default=0
        Passed to joblib.
    n_jobs : int or None, default=None
        Models that are fitted at a time, and processors of the default estimator.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted regressors: one for all labels, or one for each. For a label ranked in a single
        one of many rows it is a `DummyRegressor`.
    classes_ : ndarray of shape (n_labels,)
        The labels: the columns of `y`, by name where it is a data frame that has names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    PairwiseRanker : Learns comparisons of labels; for incomplete rankings.

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
        multi_output: Literal["auto"] | bool = "auto",
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

    def _default_estimator(self, random_state):
        return ExtraTreesRegressor(random_state=random_state, n_jobs=self.n_jobs)

    def _fit_rankings(self, X, positions):
        if is_classifier(self._template()):
            raise ValueError(
                "estimator must be a regressor, which learns positions; got the classifier "
                f"{self.estimator!r}: PairwiseRanker takes such"
            )
        targets = self._targets(positions)
        template = self._template_of_fit()
        if self._fits_jointly(targets) and targets.shape[1] > 1:
            self.estimators_ = [clone(template).fit(X, targets)]
        else:
            self._check_takes_one_target("label")
            self.estimators_ = self._in_parallel(
                delayed(fit_label)(clone(template), X, target) for target in targets.T
            )

    def _targets(self, positions):
        missing = np.isnan(positions)
        if not missing.any():
            return rankdata(positions, axis=1) / positions.shape[1]
        if self.incomplete == "raise":
            raise ValueError(
                "y has labels that are not ranked (NaN): use PairwiseRanker, which learns from "
                "incomplete rankings, or incomplete='relative' for positions among those ranked"
            )
        never = np.flatnonzero(missing.all(axis=0))
        if len(never):
            raise ValueError(
                f"y ranks the labels {never.tolist()} in no row, or in none of a training fold: "
                "nothing can be learnt of them; leave them out, or use PairwiseRanker"
            )
        n_ranked = (~missing).sum(axis=1, keepdims=True)
        return rankdata(positions, axis=1, nan_policy="omit") / (n_ranked + 1)

    def _fits_jointly(self, targets):
        incomplete = bool(np.isnan(targets).any())
        if self.multi_output == "auto":
            takes_many = get_tags(self._template()).target_tags.multi_output
            return takes_many and not incomplete
        if self.multi_output and incomplete:
            raise ValueError(
                "multi_output=True learns all labels from every row, but y has labels that are "
                "not ranked (NaN): use multi_output='auto'"
            )
        return self.multi_output

    def _label_scores(self, X):
        X = self._fitted_rows(X)
        predicted = self._in_parallel(delayed(model.predict)(X) for model in self.estimators_)
        return -np.column_stack(predicted)


def fit_label(estimator, X, target):
    """Fit to the rows in which the label is ranked."""
    ranked = np.flatnonzero(~np.isnan(target))
    if len(ranked) == 1 < len(target):
        # All that one row tells is its target; regressors that hold rows out would make NaN of it.
        estimator = DummyRegressor()
    if len(ranked) < len(target):
        X, target = _safe_indexing(X, ranked), target[ranked]
    return estimator.fit(X, target)
