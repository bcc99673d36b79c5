"""Functions that operate on arrays of rankings, with one ranking in each row.

*Positions* are the target of label ranking: column ``j`` holds the position of label ``j``. A
smaller position is better, and only the order of the positions matters. NaN marks a label that is
not ranked, and equal positions mark tied labels. *Orderings* list the labels from best to worst:
column ``i`` holds the label at place ``i``.
"""

import warnings

import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.utils import check_array

from sklrank._checks.numbers import check_distinct, check_exact
from sklrank._checks.samples import aligned, canonical_rows, check_container, is_missing, plain
from sklrank._checks.targets import check_same_order, find_labels

# Tolerance for the sum of two probabilities, which may have been rounded to half precision.
MAX_ERROR_OF_SUM = 1e-3
# Questionnaires have no more codes for labels without a position, such as 97, 98 and 99.
MAX_CODES = 3
# In so many rankings, a gap below the greatest position is no coincidence.
MIN_GAPS = 3
# In fewer rankings, any numbers may look like codes, or orderings like positions, by chance.
MIN_RANKINGS = 10


def check_positions(Y, name="Y", *, complete=False, accept_sparse=False, evidence=1):
    """Check positions; return them as a float64 array of shape `(n_samples, n_labels)`.

    If `complete` is True, neither NaN nor ties are allowed. If `accept_sparse` is True, a sparse
    matrix is returned as a CSR array without NaN: its stored entries are the positions. Unless
    `evidence` is None, warn about a number that probably means that a label is not ranked, if at
    least so many rankings have it.
    """
    if sparse.issparse(Y):
        if not accept_sparse:
            raise ValueError(
                f"{name} must be an array of positions, with NaN for labels not ranked, got a "
                "sparse matrix, which PlackettLuceRanker takes; toarray() would rank them first"
            )
        positions = _check_stored_positions(Y, name)
        _warn_of_codes(positions, name, evidence)
        return positions
    try:
        check_distinct(Y := plain(Y), name)
        Y = check_array(
            Y,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of positions, one per label, NaN where not ranked: {error}"
        ) from error
    if Y.ndim != 2:
        raise ValueError(
            f"{name} must hold positions of shape (n_samples, n_labels), got {Y.shape}: one row of "
            f"positions per sample. Reshape {name}: reshape(1, -1) makes a single ranking of it, "
            "reshape(-1, 1) a single label."
        )
    bad = np.argwhere(np.isinf(Y))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise ValueError(
            f"{name} must be finite, or NaN for a label that is not ranked; got {Y[where]} at "
            f"{where}."
        )
    if complete:
        # Comparisons with NaN are False, so this test also detects NaN.
        wrong = np.isnan(Y[:, 0]) | ~(np.diff(np.sort(Y, axis=1), axis=1) > 0).all(axis=1)
        if wrong.any():
            row = wrong.argmax()
            raise ValueError(
                f"{name} must rank every label, without ties; row {row} is {Y[row].tolist()}."
            )
    if evidence is not None:
        _warn_of_codes(Y, name, evidence)
    return aligned(Y)


def _check_stored_positions(Y, name):
    check_container(Y, name)
    if Y.format not in ("csr", "csc", "coo"):
        raise ValueError(f"{name} must be a CSR matrix, got {Y.format.upper()}: convert it")
    positions = canonical_rows(sparse.csr_array(Y, dtype=np.float64))
    if positions.nnz < Y.nnz:
        raise ValueError(f"{name} has two entries for a label in the same row: leave one out")
    if np.isinf(positions.data).any():
        raise ValueError(f"{name} must be finite: do not store labels that are not ranked")
    entries = positions.tocoo()
    ranked = ~np.isnan(entries.data)
    at = tuple(indices[ranked] for indices in entries.coords)
    return sparse.csr_array((entries.data[ranked], at), shape=positions.shape)


def stored_positions(positions):
    """Return positions as a CSR array of those that are not NaN; such an array as it is."""
    if sparse.issparse(positions):
        return positions
    at = np.nonzero(~np.isnan(positions))
    return sparse.csr_array((positions[at], at), shape=positions.shape)


def _warn_of_codes(positions, name, evidence):
    """Warn if a number among the positions is probably a code of labels that are not ranked."""
    n_labels = positions.shape[1]
    if evidence == 1 and not sparse.issparse(positions):
        _warn_of_orderings(positions, name)
    entries = positions.data if sparse.issparse(positions) else positions.ravel()
    low, high = np.fmin.reduce(entries, initial=1), np.fmax.reduce(entries, initial=1)
    # The first entries tell scores, which are no positions, without a copy of all.
    if n_labels == 1 or (low == 1 and high <= n_labels) or (entries[:100] % 0.5 > 0).any():
        return
    known = entries[~np.isnan(entries)]
    if (known % 0.5 > 0).any():
        return
    distinct, cure, table = np.unique(known), "", stored_positions(positions)
    above, below = distinct[distinct > n_labels], distinct[distinct < 0]
    is_table = not sparse.issparse(positions)
    if is_table and evidence == 1 and distinct.tolist() == [0, 1]:
        _warn_of_indicator(table, name)
    n_within = np.count_nonzero((distinct >= 1) & (distinct <= n_labels))
    if n_within < 2:
        return
    if 0 < len(below) <= min(MAX_CODES, n_within - 1) and not (distinct == 0).any():
        code, why = below[0], "below all positions, which count from 1"
    elif (
        # Sparse matrices store the labels that are ranked.
        distinct[0] == 0 and is_table and _is_no_first_position(table, evidence > 1)
    ):
        code, why = 0, "although positions do not count from 0 in each row"
        cure = f"; if positions count from 0, pass {name} + 1"
    elif 0 < len(above) <= MAX_CODES and (
        above[0] > 2 * n_labels or (len(above) == 1 and _follows_gaps(table, above[0]))
    ):
        code = above[-1]
        why = f"above the number of labels, {n_labels}, and above all other positions"
    else:
        return
    if (
        np.count_nonzero(np.diff(np.append(0, np.cumsum(table.data == code))[table.indptr]))
        < evidence
    ):
        return
    warnings.warn(
        f"{name} has the position {code:g} {why}. If it is a code of labels that are not ranked, "
        "replace it by NaN, as sklrank.label_ranking.positions_from_survey(missing_values="
        f"{code:g}) does{cure}. scikit-learn's cross_val_predict makes such codes of NaN",
        stacklevel=3,
    )


def _warn_of_orderings(positions, name):
    """Warn if rows are probably orderings of some labels, filled up with NaN."""
    known = ~np.isnan(positions)
    known = known[~known.all(axis=1)]
    n_ranked = known.sum(axis=1)
    if len(known) < MIN_RANKINGS or len(set(n_ranked)) < 2 or (known[:, 1:] > known[:, :-1]).any():
        return
    # Positions that count only the ranked labels are not above their number.
    most = np.fmax.reduce(positions[np.isnan(positions[:, -1])], axis=1)
    if (most > n_ranked).mean() > 0.5:
        warnings.warn(
            f"{name} has NaN at the ends of rows only. If these are orderings, the best label "
            "first, pass sklrank.label_ranking.positions_from_orderings of them",
            stacklevel=4,
        )


def _warn_of_indicator(table, name):
    """Warn if zeros and ones are not the positions of pairs of labels, counted from 0."""
    if (np.diff(table.indptr) > 2).any():
        warnings.warn(
            f"{name} has the positions 0 and 1 only, and a label of a smaller position is ranked "
            "before. If 1 marks relevant or chosen labels, convert them by "
            "sklrank.label_ranking.positions_from_scores",
            stacklevel=4,
        )


def _is_no_first_position(table, strict):
    """Return whether 0 cannot be the first position of rankings that count from 0.

    There, it is in each complete ranking, the others are below the number of labels, and others are
    tied, too. If `strict`, most rankings must count from 1.
    """
    values, starts = table.data, table.indptr[:-1][np.diff(table.indptr) > 0]
    n_ranked = np.diff(starts, append=len(values))
    n_zeros = np.add.reduceat(values == 0, starts, dtype=np.intp)
    others = np.minimum.reduceat(np.where(values > 0, values, np.inf), starts)
    if strict and np.mean(others[np.isfinite(others)] == 1) < 0.9:
        return False
    n_last = np.add.reduceat(values == values.max(), starts, dtype=np.intp)
    if values.max() >= table.shape[1] and ((n_zeros != 1) | (n_last > 1)).any():
        return True
    has_gap = (n_zeros > 1) & (others < n_zeros)
    has_none = (n_ranked == table.shape[1]) & (n_zeros == 0) & (others >= 1)
    return bool((has_gap | has_none).any()) and not _has_ties(table)


def _has_ties(table):
    """Return whether positions above 0 are tied."""
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))[table.data > 0]
    pairs = np.column_stack([rows, table.data[table.data > 0]])
    return len(np.unique(pairs, axis=0)) < len(pairs)


def _follows_gaps(table, code):
    """Return whether the number above all positions is tied, or follows a gap in each ranking."""
    values, starts = table.data, table.indptr[:-1][np.diff(table.indptr) > 0]
    n_codes = np.add.reduceat(values == code, starts, dtype=np.intp)
    n_below = np.add.reduceat(values < code, starts, dtype=np.intp)
    highest = np.maximum.reduceat(np.where(values < code, values, 0.0), starts)
    has_gap = (highest <= n_below)[n_codes > 0]
    return bool((n_codes > 1).any() or (len(has_gap) >= MIN_GAPS and has_gap.all()))


def check_two_rankings(y_true, y_pred, names=("y_true", "y_pred")):
    """Check positions of the same labels in two rankings of each sample, and return them.

    Errors call the arrays by their `names`.
    """
    true_name, pred_name = names
    check_same_order(y_true, y_pred, names)
    true = check_positions(y_true, true_name, evidence=MIN_RANKINGS)
    pred = check_positions(y_pred, pred_name, evidence=MIN_RANKINGS)
    if len(true) != len(pred):
        raise ValueError(
            f"{true_name} has {len(true)} rows and {pred_name} has {len(pred)}: both need one row "
            "per sample."
        )
    if true.shape != pred.shape:
        raise ValueError(
            f"{pred_name} must have the shape of {true_name}, {true.shape}, got {pred.shape}: give "
            "each label a position, NaN where it is not ranked."
        )
    return true, pred


def check_pair_proba(y_true, y_proba):
    """Check positions and probabilities of pairs of labels, and return them as float64 arrays."""
    y_true = check_positions(y_true, "y_true", evidence=MIN_RANKINGS)
    y_proba = np.asarray(plain(y_proba), dtype=np.float64)
    expected = (*y_true.shape, y_true.shape[1])
    if y_proba.shape != expected:
        raise ValueError(
            "y_proba must have the shape (n_samples, n_labels, n_labels), here "
            f"{expected}; got {y_proba.shape}"
        )
    if not ((y_proba >= 0.0) & (y_proba <= 1.0)).all():
        raise ValueError("y_proba must hold probabilities from 0 to 1")
    ordered = y_true[:, :, np.newaxis] < y_true[:, np.newaxis, :]
    sums = y_proba + y_proba.transpose(0, 2, 1)
    bad = np.argwhere(ordered & (np.abs(sums - 1.0) > MAX_ERROR_OF_SUM))
    if len(bad):
        i, a, b = bad[0].tolist()
        raise ValueError(
            f"y_proba[i, b, a] must be one minus y_proba[i, a, b], but the sum is "
            f"{sums[i, a, b]:g} for the sample {i} and the labels {a} and {b}"
        )
    return y_true, y_proba


def strict_positions(scores: np.ndarray) -> np.ndarray:
    """Return positions 1, 2, ... by decreasing score, of equal scores in the order of columns."""
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.empty(scores.shape)
    np.put_along_axis(positions, order, np.arange(1.0, scores.shape[1] + 1)[np.newaxis], axis=1)
    return positions


def close_ranks(positions: np.ndarray, joined: np.ndarray | None = None) -> np.ndarray:
    """Renumber positions: each becomes 1 plus the number of labels ranked before. NaN is kept.

    The mask `joined`, `(n_samples, n_labels - 1)`, requests additional ties, of the labels at the
    places i and i + 1, counted from 0. Tied labels have places in the order of their columns.
    """
    order = np.argsort(positions, axis=1, kind="stable")
    ordered = np.take_along_axis(positions, order, axis=1)
    starts = np.ones(positions.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if joined is not None:
        starts[:, 1:] &= ~joined
    places = np.arange(1.0, positions.shape[1] + 1)
    ordered = np.where(
        np.isnan(ordered), np.nan, np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    )
    closed = np.empty(positions.shape)
    np.put_along_axis(closed, order, ordered, axis=1)
    return closed


def relative_positions(positions: np.ndarray) -> np.ndarray:
    """Return r / (s + 1) for the r-th best of s ranked labels; NaN is kept.

    Tied labels have the mean of the values that they occupy.
    """
    n_ranked = (~np.isnan(positions)).sum(axis=1, keepdims=True)
    return rankdata(positions, axis=1, nan_policy="omit") / (n_ranked + 1)


def listed_labels(orderings: np.ndarray) -> np.ndarray:
    """Return the labels in `orderings` that are not missing, row after row, in their own type."""
    labels = orderings[~is_missing(orderings)]
    check_exact(labels, "orderings")
    return np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def invert_orderings(orderings: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Convert orderings to positions `(n_samples, n_classes)`, NaN for labels not listed."""
    listed = ~is_missing(orderings)
    gap = listed[:, 1:] & ~listed[:, :-1]
    if gap.any():
        row = gap.any(axis=1).argmax()
        raise ValueError(
            f"orderings must list the ranked labels first: row {row} is {orderings[row].tolist()}; "
            "move missing entries to its end."
        )
    rows, places = np.nonzero(listed)
    labels = listed_labels(orderings)
    try:
        columns, unknown = find_labels(labels, classes)
    except TypeError as error:
        raise ValueError(
            f"orderings lists labels of another kind than classes, {_shorten(classes)}: {error}"
        ) from error
    if np.any(unknown):
        label, row = labels[unknown].tolist()[0], rows[unknown][0]
        raise ValueError(
            f"orderings lists {label!r} in row {row}, which is not in classes: {_shorten(classes)}."
        )
    positions = np.full((len(orderings), len(classes)), np.nan)
    positions[rows, columns] = places + 1
    twice = (~np.isnan(positions)).sum(axis=1) < listed.sum(axis=1)
    if twice.any():
        row = twice.argmax()
        raise ValueError(f"orderings lists a label twice in row {row}: {orderings[row].tolist()}.")
    return positions


def _shorten(classes: np.ndarray) -> str:
    return f"{classes[:6].tolist()}{' and more' if len(classes) > 6 else ''}"
