"""Rankers inside of other rankers: which they can be, their fits, and folds that judge them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline

from sklrank._checks import check_columns, check_outputs
from sklrank._estimators import (
    HasMethods,
    _num_samples,
    _safe_indexing,
    fit_weighted,
    minimize_smooth,
)
from sklrank._rankers import LabelRankerMixin
from sklrank.label_ranking._label_ranker import LabelRanker, MetaLabelRanker, in_one_process
from sklrank.label_ranking._pairwise import weights_or_ones

# Number of comparisons of two labels from which the factor is computed, which limits the memory:
# half of them are pairs, and the standard error of the factor is then below a hundredth.
MAX_COMPARISONS = 2_000_000


def is_ranker(estimator):
    """Return whether an estimator can learn positions, unless it is frozen, and score labels."""
    if isinstance(estimator, type) or not all(
        hasattr(estimator, name) for name in ("fit", "decision_function")
    ):
        return False
    if isinstance(estimator, FrozenEstimator):
        return True  # It learns no targets.
    # The targets of classifiers are classes, and those of other rankers of labels are relevances.
    last, _ = last_ranker(estimator)
    learns_relevance = isinstance(last, LabelRankerMixin) and not isinstance(last, LabelRanker)
    return not (learns_relevance or is_classifier(estimator))


def check_frozen_labels(ranker, classes):
    """Raise a ValueError if a ranker is frozen and was fitted to other labels than `classes`."""
    if not (isinstance(ranker, FrozenEstimator) and hasattr(ranker, "classes_")):
        return
    if len(ranker.classes_) != len(classes):
        raise ValueError(
            f"y has {len(classes)} labels, and the frozen ranker was fitted to "
            f"{len(ranker.classes_)}: pass y with the labels of the ranker, in their order"
        )
    if isinstance(classes[0], str):
        check_columns(classes, ranker.classes_)


def last_ranker(ranker, X=None):
    """Return the ranker inside of pipelines, fitted searches and frozen estimators, and its `X`.

    The samples are those of the whole ranker, transformed, or None.
    """
    while True:
        if isinstance(ranker, Pipeline):
            if X is not None and len(ranker) > 1:
                X = ranker[:-1].transform(X)
            ranker = ranker[-1]
        elif isinstance(ranker, FrozenEstimator):
            ranker = ranker.estimator
        elif hasattr(ranker, "best_estimator_"):
            ranker = ranker.best_estimator_
        else:
            return ranker, X


def decision_function(ranker, X):
    return check_outputs(ranker.decision_function(X), ranker)


@in_one_process
def fit_ranker(ranker, X, positions, rows, sample_weight):
    """Fit a ranker to the samples `rows`, or to all samples if that is None; return it."""
    if rows is not None:
        X, positions = _safe_indexing(X, rows), positions[rows]
        sample_weight = None if sample_weight is None else sample_weight[rows]
    return fit_weighted(ranker, X, positions, sample_weight)


@in_one_process
def fit_and_score(
    ranker, X, positions, train, test, unseen, scores_of=decision_function, sample_weight=None
):
    """Fit a ranker to the samples `train`; return the scores `(n_test, n_labels)` of `test`.

    The mask `unseen` marks labels that no sample in `train` ranks; their scores are 0.
    """
    X_test, positions = _safe_indexing(X, test), positions[train]
    scores = np.zeros((_num_samples(X_test), positions.shape[1]))
    if not np.isnan(positions).all():
        weights = None if sample_weight is None else sample_weight[train]
        fit_weighted(ranker, _safe_indexing(X, train), positions[:, ~unseen], weights)
        found = scores_of(ranker, X_test)
        # A frozen ranker, which does not learn from `train`, scores all labels.
        scores[:, ~unseen] = found[:, ~unseen] if found.shape[1] == len(unseen) else found
    return scores


def split_rankings(splitter, X, positions, cv):
    """Return the indices of the training and of the held-out samples of each fold.

    The folds of the `splitter` may be masks. `cv` is the parameter of the user, for errors.
    """
    try:
        samples = np.arange(len(positions))
        folds = [
            tuple(samples[np.asarray(rows)] for rows in fold)
            for fold in check_cv(splitter).split(X, positions)
        ]
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"cv={cv!r} cannot split {len(positions)} rankings: {error} Use fewer folds, "
            "KFold or ShuffleSplit"
        ) from error
    if not folds or min(np.size(rows) for fold in folds for rows in fold) == 0:
        raise ValueError(
            f"cv={cv!r} must make at least one fold, each with training samples and "
            "held-out samples"
        )
    return folds


def folds_of_held_out(folds):
    """Return folds for models of the held-out samples, as indices into their concatenation.

    Each fold holds out the same samples as before, and a sample that other folds hold out, too, is
    not a training sample. A single fold is divided into five parts.
    """
    samples = np.concatenate([test for _, test in folds])
    groups = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
    if len(folds) == 1:
        groups = np.arange(len(samples)) % 5
    tests = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return [(np.flatnonzero(~np.isin(samples, samples[test])), test) for test in tests]


def held_out_positions(positions, folds):
    """Return for each fold a mask of the labels that samples rank, but no training sample.

    Return also the held-out positions of all folds, NaN for these labels.
    """
    ranked = ~np.isnan(positions)
    unseen = [ranked.any(axis=0) & ~ranked[train].any(axis=0) for train, _ in folds]
    held_out = [np.where(mask, np.nan, positions[test]) for (_, test), mask in zip(folds, unseen)]
    return unseen, np.concatenate(held_out)


def fit_pair_scale(scores, positions, sample_weight=None):
    r"""Compute the factor of a score in the logistic model of the order of two labels.

    The probability that the better label of a pair comes first is modeled as
    :math:`1 / (1 + \exp(-w d))`, where d is the difference between its score and that of the other
    label. As in Platt's scaling, the target is (n + 1) / (n + 2) instead of 1 for n pairs, so that
    the factor is finite.

    Of many comparisons, those of every second sample, or every third, and so on, are used. The
    factor is 0 if labels with higher scores do not come first more often.
    """
    n_samples, n_labels = scores.shape
    weights = weights_or_ones(sample_weight, n_samples)
    used = slice(None, None, max(1, n_samples * n_labels**2 // MAX_COMPARISONS))
    scores, positions, weights = scores[used], positions[used], weights[used]
    rows, first, second = np.nonzero(positions[:, :, np.newaxis] < positions[:, np.newaxis, :])
    differences = scores[rows, first] - scores[rows, second]
    n_pairs = weights[rows].sum()
    size = np.sqrt(weights[rows] @ differences**2 / n_pairs) if len(rows) else 0.0
    if not size:
        return 1.0
    shares = weights[rows] / n_pairs
    target = (n_pairs + 1.0) / (n_pairs + 2.0)
    differences = differences / size

    def loss(factor):
        margins = factor * differences
        # The cross entropy is log(1 + exp(-m)) + (1 - target) m.
        value = shares @ (np.logaddexp(0.0, -margins) + (1.0 - target) * margins)
        return value, np.array([(shares * differences) @ (expit(margins) - target)])

    return float(minimize_smooth(loss, np.ones(1), [(0.0, None)]).x[0] / size)


class WrappedRanker(MetaLabelRanker):
    """Base class of the estimators that fit one `ranker`, by `_fit_ranker`, and rank as it does."""

    _parameter_constraints: dict = {
        "ranker": [HasMethods(["fit", "decision_function"])],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _fit_ranker(self, X, positions, sample_weight):
        """Set `ranker_` and fit what the subclass adds to it."""

    def _templates(self):
        return [self.ranker]

    def _fit_rankings(self, X, positions, sample_weight):
        if not is_ranker(self.ranker):
            raise ValueError(
                "ranker must be a label ranker, whose targets are positions, such as "
                f"LabelwiseRanker(); got {self.ranker!r}"
            )
        check_frozen_labels(self.ranker, self.classes_)
        self._fit_ranker(X, positions, sample_weight)

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        return decision_function(self.ranker_, X)
