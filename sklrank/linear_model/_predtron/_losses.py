"""Losses of classes and of label sets, as tables of numbers that the compiled tasks read.

- A *class loss* is a table of costs: `class_costs`.
- A *subset loss* is a function of the numbers of true positives (tp), false positives (fp), false
  negatives (fn) and true negatives (tn) among the labels. `SubsetLosses` has its values for all
  possible counts.

A new loss is a new entry of `CLASS_LOSSES` or `SUBSET_LOSSES`.
"""

import numpy as np

from sklrank._validation import MAX_FACTOR, as_numbers

__all__ = [
    "CLASS_LOSSES",
    "SUBSET_LOSSES",
    "SubsetLosses",
    "class_costs",
    "look_up",
]


def _zero_one(n_classes):
    return 1.0 - np.eye(n_classes)


def _absolute(n_classes):
    indices = np.arange(float(n_classes))
    return np.abs(indices[:, None] - indices)


# Functions of the number of classes that return the table of costs.
CLASS_LOSSES = {"absolute": _absolute, "zero_one": _zero_one}


def class_costs(loss, classes, reject_cost=None):
    r"""Return the costs of all predictions for all classes.

    Parameters
    ----------
    loss : str, callable or array-like
        - "zero_one": 1 for every mistake;
        - "absolute": :math:`|y - \sigma|`, the difference of the indices of the two classes;
        - array of shape (n_classes,): the cost of a mistake on each true class;
        - array of shape (n_classes, n_classes): a row for each true class, a column for each
          prediction, zeros where they are the same;
        - a function of the true and the predicted class.
    classes : array-like of shape (n_classes,)
        Sorted classes.
    reject_cost : float or array-like of shape (n_classes,), default=None
        Cost of the prediction REJECT, for all or for each class, 0 or more. None: no such
        prediction.

    Returns
    -------
    ndarray of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
        Costs by true class (row) and prediction (column). The last of n_classes + 1 columns is that
        of REJECT.

    Raises
    ------
    ValueError
        If the costs are malformed.

    Examples
    --------
    >>> from sklrank.linear_model._predtron._losses import class_costs
    >>> class_costs([2, 1], ["ill", "well"], reject_cost=0.5)
    array([[0. , 2. , 0.5],
           [1. , 0. , 0.5]])
    """
    n_classes = len(classes)
    if isinstance(loss, str):
        costs = look_up("loss", CLASS_LOSSES, loss, "costs, or a function of classes")(n_classes)
    elif callable(loss):
        costs = as_numbers([[loss(truth, guess) for guess in classes] for truth in classes], "loss")
    else:
        # A copy, since the caller may change the array, and the compiled loops rely on the checks.
        costs = np.array(as_numbers(loss, "loss"), order="C")
        if costs.shape == (n_classes,):
            costs = np.where(_zero_one(n_classes), costs[:, np.newaxis], 0.0)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"loss must give one cost for each of the {n_classes} classes, or a table of the shape "
            f"{(n_classes, n_classes)} by true and predicted class, got the shape {costs.shape}."
        )
    _check_losses(costs, "costs")
    if np.diag(costs).any():
        raise ValueError(
            "loss must be 0 where the prediction is the true class, got "
            f"{np.diag(costs).tolist()} on the diagonal."
        )
    if reject_cost is None:
        return costs
    rejection = as_numbers(reject_cost, "reject_cost")
    fair = np.isfinite(rejection) & (rejection >= 0)
    if rejection.shape not in ((), (n_classes,)) or not fair.all():
        raise ValueError(
            "reject_cost must be a finite number of 0 or more, or one for each of the "
            f"{n_classes} classes, got {reject_cost!r}."
        )
    return np.column_stack([costs, np.broadcast_to(rejection, n_classes)])


def _any_error(tp, fp, fn, tn):
    return fp + fn > 0


def _errors(tp, fp, fn, tn):
    return fp + fn


def _pairs_in_error(tp, fp, fn, tn):
    return fp * fn


# Functions of counts. Section 3 of the paper prints "subset_zero_one" with 0 and 1 swapped.
SUBSET_LOSSES = {
    "error_set_size": _pairs_in_error,
    "hamming": _errors,
    "subset_zero_one": _any_error,
    "zero_one": _any_error,
}


class SubsetLosses:
    """Tables of a subset loss, one for each number of relevant labels seen so far.

    Parameters
    ----------
    loss : str or callable
        - "hamming": fp + fn, the number of labels in error;
        - "subset_zero_one" or "zero_one": 1 if any label is in error;
        - "error_set_size": fp fn, the number of pairs of a relevant and an irrelevant label that
          are both in error;
        - a function `f(tp, fp, fn, tn)` of integer arrays of one shape, zero if fp = fn = 0.
    n_labels : int
        Number of labels.

    Attributes
    ----------
    offsets : ndarray of shape (n_labels + 1,)
        Start in `values` of the table for 0, 1, ... relevant labels; -1: no such sample so far.
    values : ndarray of shape (n_values,)
        Tables by tp and fp, of the shapes (r + 1, n_labels - r + 1), one after the other.

    Examples
    --------
    >>> from sklrank.linear_model._predtron._losses import SubsetLosses
    >>> losses = SubsetLosses("hamming", 3)
    >>> losses.cover([1])
    >>> losses.offsets
    array([-1,  0, -1, -1])
    >>> losses.values.reshape(2, 3)
    array([[1., 2., 3.],
           [0., 1., 2.]])
    """

    def __init__(self, loss, n_labels):
        self._function = (
            loss if callable(loss) else look_up("loss", SUBSET_LOSSES, loss, "a function of counts")
        )
        self.n_labels = n_labels
        self.offsets = np.full(n_labels + 1, -1, dtype=np.intp)
        self.values = np.empty(0)

    def cover(self, n_relevant):
        """Add the missing tables for these numbers of relevant labels."""
        numbers = np.unique(np.asarray(n_relevant, dtype=np.intp))
        new = numbers[self.offsets[numbers] < 0]
        tables = [self._evaluate(r).ravel() for r in new]
        ends = len(self.values) + np.cumsum([len(table) for table in tables], dtype=np.intp)
        # A copy, since joblib may have mapped the array from a file, read-only.
        self.offsets = self.offsets.copy()
        self.offsets[new] = ends - [len(table) for table in tables]
        self.values = np.concatenate([self.values, *tables])

    def _evaluate(self, r):
        tp, fp = np.indices((r + 1, self.n_labels - r + 1))
        table = as_numbers(self._function(tp, fp, r - tp, self.n_labels - r - fp), "loss")
        if table.shape != tp.shape:
            raise ValueError(
                f"loss must return a number for each entry of arrays of the shape {tp.shape}, got "
                f"the shape {table.shape}."
            )
        _check_losses(table, f"losses for {r} relevant labels")
        if table[r, 0] != 0:
            raise ValueError(
                "loss must be 0 where no label is in error, fp = fn = 0, got "
                f"{table[r, 0]} for {r} relevant labels."
            )
        return table


def look_up(name, table, choice, otherwise):
    """Return the entry of the table for a parameter's value; `otherwise` is for the message."""
    if not isinstance(choice, str) or choice not in table:
        raise ValueError(f"{name} must be one of {sorted(table)}, or {otherwise}, got {choice!r}.")
    return table[choice]


def _check_losses(losses, what):
    bad = losses[~((losses >= 0) & (losses <= MAX_FACTOR))]
    if len(bad):
        raise ValueError(
            f"loss must be from 0 to {MAX_FACTOR:g}, got {bad[:5].tolist()} among its {what}."
        )
