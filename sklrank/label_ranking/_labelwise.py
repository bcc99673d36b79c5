"""Labelwise decomposition: regress on the position of each label, then sort."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.utils import check_random_state
from sklearn.utils.parallel import delayed

from sklrank._checks import check_outputs
from sklrank._estimators import StrOptions, _num_samples, _safe_indexing, parallel
from sklrank.label_ranking._label_ranker import (
    DecompositionRanker,
    fit_selected,
    in_one_process,
    of_rankers,
)
from sklrank.tree._sums import SumOfTrees, kept_sum

# Fits to filled positions with `incomplete="coarse"`. The first one brings most of the gain.
N_FILLS = 4


@of_rankers
class LabelwiseRanker(DecompositionRanker):
    r"""Label ranker that predicts the position of each label by regression.

    This class implements Algorithm 1 of [1]_. For each of the k labels, a regressor learns
    :math:`\sigma(l) / k`, where :math:`\sigma(l)` is the position of label l. The labels of a
    sample are sorted by the predictions of their regressors. The target of tied labels is the mean
    of the positions that they occupy.

    An incomplete ranking usually has the order of the ranked labels only. With
    ``incomplete="relative"``, the regressor of a label is fitted to the samples that rank it. The
    target of the r-th best of s ranked labels is :math:`\frac{r (k + 1)}{(s + 1) k}`, the mean of
    :math:`\sigma(l) / k` over the rankings of all labels that agree with that order. If the
    positions among all labels are known (Definition 8 of [1]_), ``incomplete="absolute"`` learns
    them as they are. :class:`PairwiseRanker` learns from all comparisons of two labels.
    ``examples/incomplete_rankings.py`` compares these rankers.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Regressor of the positions. If None, a forest of 100 extremely randomized trees whose leaves
        have at least 1, 5 or 20 samples: the number with the least out-of-bag error of ten trees.
        With `oob_score`, a random forest with such leaves, whose splits consider a third of the
        features, at least three.
    {multi_output}
    incomplete : {"raise", "relative", "absolute", "coarse"}, default="raise"
        Treatment of incomplete rankings: an error ("raise"), or relative positions as above
        ("relative"). If "absolute", entries of `y` are positions among all labels, from 1 to
        n_labels, also where other labels are not ranked. If "coarse", so they are, and labels that
        are not ranked have the positions that are left, in an unknown order: the models are fitted
        as with "absolute", then four times to all labels, in the order of the models before.
        `partial_fit` orders them once, by the models so far.
    oob_score : bool, default=False
        Whether to compute `oob_decision_function_`. The parameter `oob_score` that the estimator
        must have, as forests do, is set to True.
    {decomposition}
    estimators_ : list of estimators, or of None
        The fitted regressors: one for each label, or a single joint one; a `DummyRegressor` if only
        one of several samples ranks the label. After `partial_fit`, the entry of a label that no
        sample has ranked is None, and the label is predicted in the middle.
    oob_decision_function_ : ndarray of shape (n_samples, n_labels)
        Scores of the training samples, each from the trees that were fitted without it, or from all
        trees if there are none or only this sample ranks the label. Only if `oob_score` is True.
    {attributes}

    See Also
    --------
    PairwiseRanker : Learns comparisons of two labels, also from incomplete rankings.

    Notes
    -----
    A joint model is faster than separate models. It ranks less accurately if the labels depend on
    different features, as each split of a tree must serve all labels:
    ``benchmarks/label_ranking_quality.py`` prints both.

    References
    ----------
    .. [1] Fotakis et al., "Label ranking through nonparametric regression", ICML 2022.

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
        "incomplete": [StrOptions({"raise", "relative", "absolute", "coarse"})],
        "oob_score": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        multi_output: bool | Literal["auto"] = False,
        incomplete: Literal["raise", "relative", "absolute", "coarse"] = "raise",
        oob_score: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.multi_output = multi_output
        self.incomplete = incomplete
        self.oob_score = oob_score
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _default_estimator(self, random_state, n_jobs):
        kind = LeafSizeForest if self.oob_score else LeafSizeExtraTrees
        return kind(random_state=random_state, n_jobs=n_jobs)

    def _fit_rankings(self, X, positions, sample_weight):
        n_fits = 1 + (N_FILLS if self._fills(positions) else 0)
        self._fit_positions(X, positions, sample_weight, n_fits)
        for _ in range(n_fits - 1):
            filled = fill_positions(positions, self._scores(X))
            self._fit_positions(X, filled, sample_weight, n_fits)

    def _fills(self, positions):
        return self.incomplete == "coarse" and np.isnan(positions).any()

    def _fit_positions(self, X, positions, sample_weight, n_fits):
        """Fit the models once; there are `n_fits` fits in all."""
        targets = self._targets(positions)
        never = np.flatnonzero(np.isnan(targets).all(axis=0))
        if len(never):
            raise ValueError(
                f"y ranks the labels {never.tolist()} in no row (of this training fold, if any), "
                "so their positions cannot be learned: leave them out, or use PairwiseRanker"
            )
        missing = "not ranked (NaN)" if np.isnan(targets).any() else ""
        jointly = self._fits_jointly(targets.shape[1], missing)
        if sample_weight is not None and not jointly:
            targets[sample_weight == 0] = np.nan
        template = self._template_of_fit(jointly)
        if self.oob_score:
            template = with_oob_score(template)
        if jointly:
            self.estimators_ = self._fit_jointly(template, X, targets, sample_weight)
        else:
            calls = [
                delayed(fit_label)(clone(template), X, target, sample_weight)
                for target in targets.T
            ]
            self.estimators_ = self._fit_in_parallel(calls, "label", n_fits * len(calls))
        vars(self).pop("oob_decision_function_", None)
        if self.oob_score:
            predicted = [
                oob_predictions(model, X, target)
                for model, target in zip(self.estimators_, [targets] if jointly else targets.T)
            ]
            self.oob_decision_function_ = -np.column_stack(predicted)

    def _update_rankings(self, X, positions, sample_weight):
        if hasattr(self, "estimators_") and self._fills(positions):
            positions = fill_positions(positions, self._scores(X))
        targets = self._targets(positions)
        models = getattr(self, "estimators_", [None] * targets.shape[1])
        self.estimators_ = self._update(models, X, targets, ~np.isnan(targets), sample_weight)

    def _targets(self, positions):
        """Return the targets `(n_samples, n_labels)`, NaN for labels that are not ranked."""
        if is_classifier(self._template()):
            raise ValueError(
                "estimator must be a regressor, which learns positions; got the classifier "
                f"{self.estimator!r}: use PairwiseRanker for classifiers"
            )
        missing = np.isnan(positions)
        if missing.any() and self.incomplete == "raise":
            raise ValueError(
                "y has labels that are not ranked (NaN): use PairwiseRanker, which learns from "
                "incomplete rankings, or incomplete='relative' for positions among ranked labels"
            )
        n_labels = positions.shape[1]
        if self.incomplete in ("absolute", "coarse"):
            if not 1 <= np.nanmin(positions) <= np.nanmax(positions) <= n_labels:
                raise ValueError(
                    f"incomplete={self.incomplete!r} needs positions from 1 to {n_labels}, the "
                    "number of labels: use incomplete='relative' if only the order of the labels "
                    "is known"
                )
            return positions / n_labels
        n_ranked = n_labels - missing.sum(axis=1, keepdims=True)
        ranks = rankdata(positions, axis=1, nan_policy="omit")
        return ranks * ((n_labels + 1) / (n_ranked + 1)) / n_labels

    def _label_scores(self, X):
        return self._scores(self._check_fitted_rows(X))

    def _scores(self, X):
        """Return the scores of the labels for checked samples."""
        n_labels = len(self.classes_)
        middle = (n_labels + 1) / (2 * n_labels)
        calls = (delayed(predict_label)(model, X, middle) for model in self.estimators_)
        predicted = parallel(n_jobs=self.n_jobs)(calls)
        return -check_outputs(np.column_stack(predicted), self.estimators_[0])


@in_one_process
def fit_label(estimator, X, target, sample_weight):
    """Fit an estimator, or a dummy, to the samples that rank a label, whose target is not NaN."""
    ranked = ~np.isnan(target)
    if np.count_nonzero(ranked) == 1 < len(target):
        # A regressor that holds out samples, if fitted to a single sample, would predict NaN.
        estimator = DummyRegressor()
    return fit_selected(estimator, X, target, ranked, sample_weight)


def predict_label(model, X, default):
    """Return the predictions of a model; without one, the default."""
    return np.full(_num_samples(X), default) if model is None else model.predict(X)


def fill_positions(positions, scores):
    """Return positions in which labels that are not ranked have those left, by decreasing scores.

    The positions of ranked labels, which may be ties, take the nearest integers.
    """
    filled, integers = positions.copy(), np.arange(1, positions.shape[1] + 1)
    for row, missing, of_labels in zip(filled, np.isnan(positions), scores):
        _, taken = linear_sum_assignment(np.abs(row[~missing, np.newaxis] - integers))
        best_first = np.flatnonzero(missing)[np.argsort(-of_labels[missing], kind="stable")]
        row[best_first] = np.delete(integers, taken)
    return filled


def with_oob_score(estimator):
    """Return a clone of an estimator that computes out-of-bag predictions."""
    estimator = clone(estimator)
    if "oob_score" not in estimator.get_params():
        raise ValueError(
            f"oob_score=True needs an estimator with out-of-bag predictions; got {estimator!r}: "
            "use RandomForestRegressor or ExtraTreesRegressor(bootstrap=True)"
        )
    return estimator.set_params(oob_score=True)


def oob_predictions(model, X, target):
    """Return predictions of the samples from the trees that were fitted without them.

    All trees predict those of target NaN, to which none was fitted, and those to which all were,
    which scikit-learn marks by the prediction 0; targets are positive.
    """
    if not hasattr(model, "oob_prediction_"):
        return model.predict(X)
    predicted = np.zeros(target.shape)
    predicted[~np.isnan(target)] = model.oob_prediction_.ravel()
    without_trees = np.flatnonzero(~predicted.reshape(len(target), -1).any(axis=1))
    if len(without_trees):
        predicted[without_trees] = model.predict(_safe_indexing(X, without_trees))
    return predicted


class LeafSizeMixin:
    """Forest of 100 trees whose leaf size is the best one of ten trees on bootstrap samples."""

    _doc_link_module = ""  # private, without a page in the documentation

    def __init__(self, *, oob_score=False, random_state=None, n_jobs=None):
        super().__init__(oob_score=oob_score, random_state=random_state, n_jobs=n_jobs)

    def fit(self, X, y, sample_weight=None):
        """Choose the size of the leaves, and grow the forest."""
        self.max_features = self._n_considered(X.shape[1])
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        scores = {}
        with warnings.catch_warnings():
            # Ten trees distinguish the sizes. A hundredth of the samples is in all ten bootstrap
            # samples, which are the same for all sizes; their prediction is 0, with a warning.
            warnings.simplefilter("ignore")
            # Small leaves are best for precise targets, large ones for noisy targets. The sizes are
            # the default of scikit-learn, and about four times as much twice.
            for size in (1, 5, 20):
                first = self._kind(
                    10,
                    max_features=self.max_features,
                    min_samples_leaf=size,
                    bootstrap=True,
                    oob_score=True,
                    random_state=seed,
                    n_jobs=self.n_jobs,
                )
                scores[size] = first.fit(X, y, sample_weight).oob_score_
            self.min_samples_leaf = max(scores, key=scores.get)
            return super().fit(X, y, sample_weight)

    def predict(self, X):
        """Return the mean of the trees, which are evaluated together."""
        X = self._validate_X_predict(X)
        if issparse(X):
            return super().predict(X)
        trees = [each.tree_ for each in self.estimators_]
        arrays = {
            "children_left": "children_left",
            "children_right": "children_right",
            "features": "feature",
            "thresholds": "threshold",
            "missing_left": "missing_go_to_left",
        }

        def make():
            nodes = [{name: getattr(tree, of) for name, of in arrays.items()} for tree in trees]
            nodes = [each | {"values": tree.value[:, :, 0]} for each, tree in zip(nodes, trees)]
            return SumOfTrees(nodes, self.n_features_in_)

        predicted = kept_sum(self, trees, None, make).predict(X, self.n_jobs) / len(trees)
        return predicted[:, 0] if self.n_outputs_ == 1 else predicted


class LeafSizeForest(LeafSizeMixin, RandomForestRegressor):
    """Random forest, with out-of-bag scores, whose splits consider a third of the features."""

    _kind = RandomForestRegressor

    def _n_considered(self, n_features):
        return max(n_features // 3, min(3, n_features))


class LeafSizeExtraTrees(LeafSizeMixin, ExtraTreesRegressor):
    """Extremely randomized trees, each grown on all samples.

    On nine data sets on which the kind of the trees was chosen, Kendall's tau is .010 +- .004 above
    that of the random forest, and .012 +- .005 on ten others. In stacks, which need out-of-bag
    scores and so bootstrap samples, it is .004 +- .004 below.
    """

    _kind = ExtraTreesRegressor

    def _n_considered(self, n_features):
        return n_features
