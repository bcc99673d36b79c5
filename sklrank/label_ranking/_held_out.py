"""Held-out samples of rankers that are fitted to parts of the samples."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold, check_cv

from sklrank._sklearn import _safe_indexing
from sklrank.label_ranking._fit_task import fit_task

__all__ = ["fit_ranker", "folds_of_held_out", "shuffled_folds", "split_rankings"]


def shuffled_folds(n_folds, seed):
    return KFold(n_folds, shuffle=True, random_state=seed)


def split_rankings(splitter, X, positions, cv):
    """Return the indices of the training and of the held-out samples of each fold.

    Parameters
    ----------
    splitter : int, cross-validation generator or iterable
        Determines the folds. Those of an iterable may be masks.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples.
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels.
    cv : int, cross-validation generator or iterable
        The parameter of the user, for error messages.

    Returns
    -------
    list of (ndarray of int, ndarray of int)
        The training samples and the held-out samples of each fold.
    """
    try:
        folds = [
            tuple(as_indices(rows, len(positions)) for rows in fold)
            for fold in check_cv(splitter).split(X, positions)
        ]
    except ValueError as error:
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


def as_indices(rows, n_samples):
    rows = np.asarray(rows)
    if rows.dtype != bool:
        if rows.size and not -n_samples <= rows.min() <= rows.max() < n_samples:
            raise ValueError("an index is out of range.")
        return rows % n_samples  # Negative indices count from the end.
    if rows.shape != (n_samples,):
        raise ValueError(f"a mask has the shape {rows.shape}.")
    return np.flatnonzero(rows)


def folds_of_held_out(folds, n_folds):
    """Return folds for models of the held-out samples, whose folds are concatenated.

    Each fold holds out the same samples as before, and a sample that other folds hold out, too, is
    not a training sample. A single fold is divided into `n_folds` parts.

    Parameters
    ----------
    folds : list of (ndarray of int, ndarray of int)
        The training samples and the held-out samples of each fold.
    n_folds : int
        Number of parts of a single fold.

    Returns
    -------
    list of (ndarray of int, ndarray of int)
        The indices of the other and of the held-out samples in the concatenation.
    """
    samples = np.concatenate([test for _, test in folds])
    groups = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
    if len(folds) == 1:
        groups = np.arange(len(samples)) % n_folds
    tests = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return [(np.flatnonzero(~np.isin(samples, samples[test])), test) for test in tests]


@fit_task
def fit_ranker(ranker, X, positions, rows=None):
    """Fit a ranker to the samples `rows`, or to all samples if that is None; return it."""
    if rows is not None:
        X, positions = _safe_indexing(X, rows), positions[rows]
    return ranker.fit(X, positions)
