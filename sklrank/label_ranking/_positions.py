"""Conversion between orderings, which list labels best first, and positions of labels."""

from __future__ import annotations

import warnings
from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.utils import Bunch, check_consistent_length

from sklrank._checks import (
    as_names,
    as_numbers,
    check_exact,
    check_positions,
    check_row_labels,
    close_ranks,
    find_labels,
    invert_orderings,
    is_missing,
    listed_labels,
    names_of,
    sorted_classes,
)


def positions_from_orderings(
    orderings: ArrayLike, *, classes: ArrayLike | None = None
) -> np.ndarray:
    """Convert orderings, which list labels best first, into the position of each label.

    Parameters
    ----------
    orderings : array-like of shape (n_samples, n_places)
        The label at each place, from best to worst: names, or integers from any number. The end of
        a row without some labels, which are not ranked, is filled with NaN or None.
    classes : array-like of shape (n_labels,), default=None
        The labels in the order of the columns of the result. If None, all that occur in
        `orderings`, sorted.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions; 1 is the best position. Labels that are not ranked are NaN. If they come after
        the others, pass the result on to :func:`positions_from_survey` with ``unlisted="last"``.

    See Also
    --------
    orderings_from_positions : Converts positions into orderings.

    Examples
    --------
    In the ranking a > f > b > c > d > e, the position of f is 2.

    >>> from sklrank.label_ranking import positions_from_orderings
    >>> positions_from_orderings([["a", "f", "b", "c", "d", "e"]])
    array([[1., 3., 4., 5., 6., 2.]])

    The first row ranks only the two best of four labels, and the second row a single label:

    >>> import numpy as np
    >>> positions_from_orderings([[2, 0], [3, np.nan]], classes=[0, 1, 2, 3])
    array([[ 2., nan,  1., nan],
           [nan, nan, nan,  1.]])
    """
    orderings = _as_labels(orderings)
    if classes is not None:
        return invert_orderings(orderings, _check_classes(classes))
    try:
        found = np.unique(listed_labels(orderings))
    except TypeError as error:
        raise ValueError(f"orderings must list labels that have an order: {error}.") from error
    if len(found) < orderings.shape[1]:
        raise ValueError(
            f"orderings has {orderings.shape[1]} places but only {len(found)} different label(s): "
            "name all labels in classes."
        )
    torn = [name for name in map(str, found.tolist()) if name.count("{") != name.count("}")]
    if torn:
        raise ValueError(
            f"orderings has the label {torn[0]!r}, a part of a tie that was split at its commas: "
            "read PrefLib files by sklrank.datasets.load_preflib, and pass other ties as positions"
        )
    return invert_orderings(orderings, found)


def positions_from_scores(scores: ArrayLike) -> np.ndarray:
    """Convert scores of labels, of which larger ones are better, into positions.

    Scores are any numbers that compare the labels of a sample, such as yields, ratings or the
    result of `decision_function`. As positions, they would rank the labels in reverse order.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels. NaN marks a label that is not ranked.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions: one plus the number of labels with a larger score; NaN for labels not ranked.

    See Also
    --------
    positions_from_orderings : Converts orderings into positions.

    Examples
    --------
    >>> from sklrank.label_ranking import positions_from_scores
    >>> positions_from_scores([[0.83, 0.12, 0.4], [0.5, float("nan"), 0.5]])
    array([[ 1.,  3.,  2.],
           [ 1., nan,  1.]])
    """
    return close_ranks(-check_positions(scores, "scores", evidence=None))


def positions_from_survey(
    answers: ArrayLike, *, missing_values: Any = (), unlisted: str = "missing"
) -> Any:
    """Check the positions in a table of answers, and replace codes of labels that are not ranked.

    Parameters
    ----------
    answers : array-like or DataFrame of shape (n_samples, n_labels)
        Position of each label. NaN or None marks a label that is not ranked.
    missing_values : number or list of numbers, default=()
        Codes of labels that are not ranked, such as 0, 99 or [-1, 99].
    unlisted : {"missing", "last"}, default="missing"
        Position of labels that are not ranked: NaN ("missing"), or tied after the others ("last"),
        if respondents listed their best options only, which needs ``ties="exclude"`` in
        :class:`PlackettLuceRanker`. Convert respondents who skipped some in another call.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64, or DataFrame
        Positions. A pandas data frame keeps its index and columns.

    Warns
    -----
    UserWarning
        If the rows look like orderings: without ties, with missing answers at the ends only, and
        with other numbers than 1 to the number of ranked labels.

    See Also
    --------
    positions_from_orderings : Converts orderings into positions.
    positions_from_long : Converts a table with a row for each answer.

    Examples
    --------
    >>> from sklrank.label_ranking import positions_from_survey
    >>> positions_from_survey([[1, 3, 2], [99, 1, 2]], missing_values=99)
    array([[ 1.,  3.,  2.],
           [nan,  1.,  2.]])
    >>> positions_from_survey([[1, 3, 2], [99, 1, 99]], missing_values=99, unlisted="last")
    array([[1., 3., 2.],
           [2., 1., 2.]])
    """
    _check_unlisted(unlisted)
    positions = check_positions(answers, "answers", evidence=None)
    codes = list(missing_values) if isinstance(missing_values, Set) else missing_values
    codes = as_numbers(codes, "missing_values")
    positions = np.where(np.isin(positions, codes), np.nan, positions)
    missing, n_labels = np.isnan(positions), positions.shape[1]
    odd = (positions != np.rint(positions)) | (positions < 1) | (positions > n_labels)
    if (odd & ~missing).any():
        row, column = np.argwhere(odd & ~missing)[0].tolist()
        value = f"{positions[row, column]:g}"
        if hasattr(answers, "columns"):
            column = answers.columns[column]
            row = answers.index[row] if hasattr(answers, "index") else row
        raise ValueError(
            f"answers has the position {value} of the label {column!r} in row {row!r}, and "
            f"positions are whole numbers from 1 to the number of labels, {n_labels}: pass "
            f"missing_values={value} if it marks labels that are not ranked, or use "
            "positions_from_orderings or positions_from_scores"
        )
    partly = missing.any(axis=1) & ~missing.all(axis=1)
    at_ends = not (missing[:, :-1] & ~missing[:, 1:]).any()
    tied = (np.diff(np.sort(positions, axis=1), axis=1) == 0.0).any()
    n_ranked = (~missing[partly]).sum(axis=1)
    if at_ends and not tied and (np.nanmax(positions[partly], axis=1) > n_ranked).any():
        warnings.warn(
            "answers may hold orderings: all missing answers are at the ends of rows, and rows "
            "with missing answers skip numbers, which positions among the ranked labels do not. "
            "If each row lists labels from best to worst, use positions_from_orderings",
            stacklevel=2,
        )
    if unlisted == "last":
        positions = _with_last(positions, missing)
    if hasattr(answers, "iloc"):
        return answers.astype(np.float64).mask(missing, positions)
    return positions


def positions_from_long(
    respondents: ArrayLike,
    options: ArrayLike,
    ranks: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    unlisted: str = "missing",
    sparse: bool = False,
) -> Any:
    """Convert a table with a row for each answer into positions.

    Parameters
    ----------
    respondents : array-like of shape (n_answers,)
        Respondent of each answer.
    options : array-like of shape (n_answers,)
        The label that is ranked.
    ranks : array-like of shape (n_answers,)
        Position of the label; NaN if it is not ranked.
    classes : array-like of shape (n_labels,), default=None
        The labels in the order of the columns. If None, all `options`, sorted.
    unlisted : {"missing", "last"}, default="missing"
        Position of labels without an answer, as in :func:`positions_from_survey`.
    sparse : bool, default=False
        Whether to return a CSR matrix, for :class:`PlackettLuceRanker`: its stored entries are the
        positions of the labels with an answer. Many games between a few of many players fit.

    Returns
    -------
    DataFrame, or Bunch if ``sparse=True`` or pandas is not installed
        Positions, with a row for each respondent, sorted, and a column for each label. The Bunch
        has the attributes `positions`, `index` and `columns`.

    Examples
    --------
    >>> from sklrank.label_ranking import positions_from_long
    >>> positions_from_long([7, 7, 8], ["tea", "milk", "tea"], [1, 2, 1])
       milk  tea
    7   2.0  1.0
    8   NaN  1.0
    >>> found = positions_from_long([7, 7, 8], ["tea", "milk", "tea"], [1, 2, 1], sparse=True)
    >>> found.positions.nnz, found.columns.tolist()
    (3, ['milk', 'tea'])
    """
    _check_unlisted(unlisted)
    if sparse and unlisted == "last":
        raise ValueError("sparse=True stores labels with an answer only: use unlisted='missing'")
    check_row_labels({"respondents": respondents, "options": options, "ranks": ranks})
    respondents = _check_names(respondents, "respondents")
    options, ranks = _check_names(options, "options"), as_numbers(ranks, "ranks")
    if ranks.ndim != 1:
        raise ValueError(f"ranks must be a column of numbers, got the shape {ranks.shape}")
    check_consistent_length(respondents, options, ranks)
    infinite = np.flatnonzero(np.isinf(ranks))
    if len(infinite):
        respondent, option = (names[infinite].tolist()[0] for names in (respondents, options))
        raise ValueError(
            "ranks must be finite, or NaN for a label that is not ranked; the respondent "
            f"{respondent!r} ranks {option!r} at {ranks[infinite[0]]:g}"
        )
    classes = np.unique(options) if classes is None else _check_classes(classes)
    unknown = np.flatnonzero(~np.isin(options, classes))
    if len(unknown):
        respondent, option = (names[unknown].tolist()[0] for names in (respondents, options))
        raise ValueError(
            f"options must be in classes, got {option!r} of the respondent {respondent!r}: add it"
        )
    index, rows = np.unique(respondents, return_inverse=True)
    columns, _ = find_labels(options, classes)
    _, first = np.unique(rows * len(classes) + columns, return_index=True)
    if len(first) < len(rows):
        twice = np.setdiff1d(np.arange(len(rows)), first)[0]
        raise ValueError(
            f"the respondent {respondents.tolist()[twice]!r} ranks {options.tolist()[twice]!r} "
            f"twice, in row {twice}, at {ranks[twice]:g}: leave one out, or number the rankings of "
            "a respondent"
        )
    if sparse:
        ranked, shape = ~np.isnan(ranks), (len(index), len(classes))
        positions = csr_matrix((ranks[ranked], (rows[ranked], columns[ranked])), shape=shape)
        return Bunch(positions=positions, index=index, columns=classes)
    positions = np.full((len(index), len(classes)), np.nan)
    positions[rows, columns] = ranks
    check_positions(positions, "ranks")
    if unlisted == "last":
        listed = np.zeros(positions.shape, dtype=bool)
        listed[rows, columns] = True
        positions = _with_last(positions, ~listed)
    try:
        from pandas import DataFrame
    except ImportError:
        return Bunch(positions=positions, index=index, columns=classes)
    return DataFrame(positions, index=index, columns=classes)


def _check_unlisted(unlisted):
    if unlisted not in ("missing", "last"):
        raise ValueError(f"unlisted must be 'missing' or 'last', got {unlisted!r}")


def _with_last(positions, missing):
    """Return positions whose missing labels are tied after the others of the row."""
    last = np.fmax.reduce(positions, axis=1, keepdims=True, initial=0.0) + 1.0
    return np.where(missing, last, positions)


def orderings_from_positions(
    positions: ArrayLike, *, classes: ArrayLike | None = None, ties: str = "raise"
) -> np.ndarray:
    """Convert the position of each label into orderings, which list labels best first.

    Parameters
    ----------
    positions : array-like of shape (n_samples, n_labels)
        Positions of the labels; a smaller one is better. NaN marks a label that is not ranked.
    classes : array-like of shape (n_labels,), default=None
        Labels of the columns. If None, the labels are 0, ..., n_labels - 1.
    ties : {"raise", "first"}, default="raise"
        Treatment of tied labels, which an ordering cannot express: an error ("raise"), or the label
        of the smaller column is listed first ("first").

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Entries of `classes`, from best to worst. If labels of a row are not ranked, its end is
        filled: with NaN if the labels are numbers that floats represent exactly, which they become;
        with NaT if they are dates or times; else with None.

    See Also
    --------
    positions_from_orderings : Converts orderings into positions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.label_ranking import orderings_from_positions
    >>> orderings_from_positions([[1, 3, 4, 5, 6, 2]])
    array([[0, 5, 1, 2, 3, 4]])
    >>> print(*orderings_from_positions([[1, 3, 4, 5, 6, 2]], classes=list("abcdef"))[0], sep=" > ")
    a > f > b > c > d > e
    >>> orderings_from_positions([[2, np.nan, 1]])
    array([[ 2.,  0., nan]])
    """
    positions = check_positions(positions, "positions", evidence=None)
    if ties not in ("raise", "first"):
        raise ValueError(f"ties must be 'raise' or 'first', got {ties!r}")
    n_labels = positions.shape[1]
    classes = np.arange(n_labels) if classes is None else _check_classes(classes)
    if len(classes) != n_labels:
        raise ValueError(
            f"classes must name the {n_labels} columns of positions, got {len(classes)} names."
        )
    order = np.argsort(positions, axis=1, kind="stable")
    ordered = np.take_along_axis(positions, order, axis=1)
    tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if ties == "raise" and tied.any():
        row = tied.argmax()
        raise ValueError(
            f"positions has ties, first in row {row}: {positions[row].tolist()}; an ordering "
            "cannot express ties. Pass ties='first' to list the label of the smaller column first."
        )
    orderings, missing = classes[order], np.isnan(ordered)
    if missing.any():
        if classes.dtype.kind in "iuf" and np.all(
            classes.astype(np.float64).astype(classes.dtype) == classes
        ):
            dtype, fill = np.float64, np.nan
        elif orderings.dtype.kind in "mM":
            dtype, fill = orderings.dtype, "NaT"
        else:
            dtype, fill = object, None
        orderings = orderings.astype(dtype)
        orderings[missing] = fill
    return orderings


def _as_labels(orderings):
    try:
        # Without the conversion of NaN in a list of strings to the string "nan".
        orderings = as_names(orderings)
    except ValueError as error:
        raise ValueError(
            "orderings must have the same number of places in each row, with one label at each: "
            "fill the end of shorter rows with None or NaN"
        ) from error
    if orderings.ndim != 2 or orderings.size == 0:
        raise ValueError(
            "orderings must have the shape (n_samples, n_places), with at least one row and one "
            f"place, got {orderings.shape}."
        )
    return orderings


def _check_names(values, name):
    """Return a column of names or numbers as an array."""
    values = as_names(values)
    try:
        if values.ndim == 1 and len(values) and not is_missing(values).any():
            check_exact(np.unique(values), name)
            return values
    except TypeError:  # They have no order.
        pass
    raise ValueError(
        f"{name} must be a column with a name or a number for each answer, all of one kind, "
        "without NaN or None"
    )


def _check_classes(classes):
    names = names_of(classes)
    if len(names) != len(sorted_classes(names)):
        raise ValueError(f"classes must name labels, each once; got {classes!r}.")
    return names
