"""Methods of off-policy evaluation: functions of the weights, and cross-fitted reward models."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import check_cv
from sklearn.utils import check_array

from sklrank._checks import plain
from sklrank.off_policy._intervals import check_total
from sklrank.off_policy._log import of_known

# Weights below this number are no reason to accept a bias. The bound on a bias has so many standard
# errors: with 1.5, "dr-os" was less accurate than without a threshold where weights are moderate;
# with 2.5, nothing was gained on logs of large weights.
SMALLEST, STANDARD_ERRORS = 10.0, 2.0


class Method(NamedTuple):
    """Function h of the weights and the threshold, and what else distinguishes a method."""

    transform: Callable[[np.ndarray, float], np.ndarray]
    has_model: bool
    has_threshold: bool = False
    normalizes: bool = False  # divides the weights by their mean


def _keep(weights, threshold):
    return weights


def _shrink(weights, threshold):
    # lambda w / (w**2 + lambda), also for an infinite lambda.
    return weights / (np.square(weights) / threshold + 1) if threshold else 0 * weights


METHODS = {
    "ips": Method(_keep, has_model=False),
    "snips": Method(_keep, has_model=False, normalizes=True),
    "clipped": Method(np.minimum, has_model=False, has_threshold=True),
    "dm": Method(lambda w, _: np.zeros_like(w), has_model=True),
    "dr": Method(_keep, has_model=True),
    "sndr": Method(_keep, has_model=True, normalizes=True),
    "switch-dr": Method(lambda w, most: np.where(w <= most, w, 0.0), True, True),
    "dr-os": Method(_shrink, has_model=True, has_threshold=True),
}


def sample_terms(method, weights, residuals, baseline, threshold):
    """Return terms whose mean is the estimate; of a ratio, they are linearized."""
    weights = method.transform(weights, threshold)
    if not method.normalizes:
        return baseline + weights * residuals
    total = weights.sum()
    check_total(total)
    center = weights @ residuals / total
    return baseline + center + weights * (residuals - center) * (len(weights) / total)


def resampled_columns(method, weights, residuals, baseline, terms):
    """Return the columns of :func:`bootstrap_interval`, whose sums determine the estimate."""
    if not method.normalizes:
        return terms[:, np.newaxis]
    return np.column_stack([baseline, weights * residuals, weights])


def choose_threshold(method, weights, residuals, baseline):
    """Return the threshold of the least bound on the squared error.

    The bound is the variance plus the square of a bound on the bias: the difference to the estimate
    without a threshold, and some standard errors of this difference.
    """
    unbiased = sample_terms(method, weights, residuals, baseline, np.inf)
    chosen, least = np.inf, unbiased.var()
    largest = max(np.square(weights.max()), SMALLEST)
    tens = SMALLEST * 10.0 ** np.arange(1 + int(np.log10(largest / SMALLEST)))
    for threshold in np.outer(tens, (1, 5)).ravel()[::-1]:
        terms = sample_terms(method, weights, residuals, baseline, threshold)
        change = unbiased - terms
        bias = abs(change.mean()) * np.sqrt(len(terms)) + STANDARD_ERRORS * change.std()
        if (bound := terms.var() + bias**2) < least:
            chosen, least = threshold, bound
    return float(chosen)


def cross_fitted(model, log, X, cv):
    """Yield the samples of each fold, each label, and its rewards predicted from other folds."""
    model = HistGradientBoostingRegressor(random_state=0) if model is None else model
    X = np.empty((len(log.known), 0)) if X is None else X
    X = check_array(X, accept_sparse="csr", ensure_all_finite=False, ensure_min_features=0)
    if X.shape[0] != len(log.known):
        raise ValueError(f"X must have the {len(log.known)} samples of the log, got {X.shape[0]}")
    X, n_labels = of_known(X, log.known), log.policy.shape[1]
    folds = list(check_cv(cv).split(log.actions))
    held_out = np.concatenate([np.arange(len(log.actions))[test] for _, test in folds])
    if not np.array_equal(np.sort(held_out), np.arange(len(log.actions))):
        raise ValueError("cv must hold out each sample of known reward once, as KFold does")
    for train, test in folds:
        rewards, fitted = log.rewards[train], None
        if rewards.min() < rewards.max():  # scikit-learn's classifiers refuse a single class
            fitted = clone(model).fit(_with_label(X[train], log.actions[train], n_labels), rewards)
        for label in range(n_labels):
            rows = _with_label(X[test], np.full(len(test), label), n_labels)
            if fitted is None:
                yield test, label, np.full(len(test), rewards[0])
            elif is_classifier(fitted):
                yield test, label, fitted.predict_proba(rows) @ fitted.classes_
            else:
                yield test, label, fitted.predict(rows)


def _with_label(X, labels, n_labels):
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.eye_array(n_labels, format="csr")[labels]], format="csr")
    return np.hstack([X, np.eye(n_labels)[labels]])


def predicted_rewards(model, log, X, cv):
    """Return the predicted rewards of the labels shown, and those of the policy: `(n_samples,)`."""
    if model is None or hasattr(model, "fit"):
        of_shown, of_policy = np.empty(len(log.actions)), np.zeros(len(log.actions))
        for rows, label, values in cross_fitted(model, log, X, cv):
            is_shown = log.actions[rows] == label
            of_shown[rows[is_shown]] = values[is_shown]
            of_policy[rows] += log.policy[rows, label] * values
        return of_shown, of_policy
    model, shape = np.asarray(plain(model)), (len(log.known), log.policy.shape[1])
    if model.shape != shape or not np.isfinite(model).all():
        what = f"an estimator, or finite rewards of shape {shape}"
        raise ValueError(f"reward_model must be {what}; got shape {model.shape}")
    model = of_known(model, log.known)
    return log.of_shown(model), np.einsum("ij,ij->i", log.policy, model)
