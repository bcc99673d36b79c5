"""Cross-fitted models of the rewards of labels."""

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import check_cv
from sklearn.utils import check_array

from sklrank.off_policy._log import of_known


def cross_fitted(model, log, X, cv):
    """Yield the samples of each fold, each label, and its rewards predicted from other folds."""
    model = HistGradientBoostingRegressor(random_state=0) if model is None else model
    X = np.empty((len(log.known), 0)) if X is None else X
    X = check_array(X, accept_sparse="csr", ensure_all_finite=False, ensure_min_features=0)
    if X.shape[0] != len(log.known):
        raise ValueError(f"X must have the {len(log.known)} samples of the log, got {X.shape[0]}")
    X, n_labels = of_known(X, log.known), log.policy.shape[1]
    for train, test in check_cv(cv).split(log.actions):
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
    model, shape = np.asarray(model), (len(log.known), log.policy.shape[1])
    if model.shape != shape or not np.isfinite(model).all():
        raise ValueError(
            f"reward_model must be an estimator, or finite predicted rewards of shape {shape}; "
            f"got shape {model.shape}"
        )
    model = of_known(model, log.known)
    return log.of_shown(model), np.einsum("ij,ij->i", log.policy, model)
