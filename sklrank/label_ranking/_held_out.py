"""Folds of the samples, and the held-out rankings from which the rankers of folds are judged."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold, check_cv

__all__ = [
    "folds_of_held_out",
    "held_out_positions",
    "shuffled_folds",
    "split_rankings",
]


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


def held_out_positions(positions, folds):
    """Return the labels that a fold cannot learn, and the held-out positions of the other labels.

    Parameters
    ----------
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels. NaN marks a label that is not ranked.
    folds : list of (ndarray of int, ndarray of int)
        The training samples and the held-out samples of each fold.

    Returns
    -------
    unseen : list of ndarray of bool of shape (n_labels,)
        For each fold, a mask of the labels that some sample ranks, but no training sample.
    held_out : ndarray of shape (n_held_out, n_labels)
        Positions of the held-out samples of all folds. They are NaN for labels that are unseen.
    """
    ranked = ~np.isnan(positions)
    unseen = [ranked.any(axis=0) & ~ranked[train].any(axis=0) for train, _ in folds]
    held_out = [np.where(mask, np.nan, positions[test]) for (_, test), mask in zip(folds, unseen)]
    return unseen, np.concatenate(held_out)
