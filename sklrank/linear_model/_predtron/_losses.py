"""Losses of classes and of label sets, as tables of numbers that the compiled tasks read.

- A *class loss* is a table of costs by true and predicted class. `class_costs` returns the table.
- A *subset loss* is a function of the numbers of true positives (tp), false positives (fp), false
  negatives (fn) and true negatives (tn) among the labels. `SubsetLosses` tabulates its values for
  all possible counts.

A new loss is added as an entry of one of two dictionaries, and its name is added to the docstring
of `class_costs` or `SubsetLosses`, which list the names:

- An entry of `CLASS_LOSSES` is a function of the number of classes. It returns the table of costs
  of shape (n_classes, n_classes), with a row for each true class and a column for each prediction.
  The costs are from 0 to `MAX_FACTOR`, and those on the diagonal are 0.
- An entry of `SUBSET_LOSSES` is a function `f(tp, fp, fn, tn)` of integer arrays of the same shape.
  It returns the losses, an array of this shape with values from 0 to `MAX_FACTOR` that are 0 where
  fp = fn = 0. For class labels, a name in `SUBSET_LOSSES` means "zero_one".
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


# The functions return the table of costs for a number of classes.
CLASS_LOSSES = {"absolute": _absolute, "zero_one": _zero_one}


def class_costs(loss, classes, reject_cost=None):
    r"""Return the costs of all predictions for all classes.

    Parameters
    ----------
    loss : str, callable or array-like
        The loss is one of

        - "zero_one": 1 for every mistake;
        - "absolute": :math:`|y - \sigma|`, the absolute difference between the indices of the true
          and the predicted class in `classes`;
        - an array of shape (n_classes,): the cost of a mistake on each true class;
        - an array of shape (n_classes, n_classes): the cost by true class (row) and predicted class
          (column), with zeros on the diagonal;
        - a function of the true and the predicted class that returns the cost.
    classes : array-like of shape (n_classes,)
        Sorted classes.
    reject_cost : float or array-like of shape (n_classes,), default=None
        Cost of the prediction REJECT, at least 0: one number, or one number for each class. If
        None, there is no such prediction.

    Returns
    -------
    ndarray of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
        Costs by true class (row) and prediction (column). If there are n_classes + 1 columns, the
        last column holds the costs of REJECT.

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
        table_of = look_up("loss", CLASS_LOSSES, loss, "costs, or a function of classes")
        costs = as_numbers(table_of(n_classes), "loss")
    elif callable(loss):
        costs = as_numbers([[loss(truth, guess) for guess in classes] for truth in classes], "loss")
    else:
        # The array is copied, since the caller may change it, and the compiled loops rely on the
        # checks.
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


# The functions return the losses for counts. In Section 3 of the paper, the values 0 and 1 of
# "subset_zero_one" are swapped.
SUBSET_LOSSES = {
    "error_set_size": _pairs_in_error,
    "hamming": _errors,
    "subset_zero_one": _any_error,
    "zero_one": _any_error,
}


class SubsetLosses:
    """Tables of a subset loss, one for each number of relevant labels.

    The loss is a function of the numbers of true positives (tp), false positives (fp), false
    negatives (fn) and true negatives (tn) among the labels. Tables are created by `cover`.

    Parameters
    ----------
    loss : str or callable
        The loss is one of

        - "hamming": fp + fn, the number of labels in error;
        - "subset_zero_one" or "zero_one": 1 if any label is in error;
        - "error_set_size": fp * fn, the number of pairs of a relevant and an irrelevant label that
          are both in error;
        - a function `f(tp, fp, fn, tn)` of integer arrays of the same shape that returns an array
          of this shape, with zeros where fp = fn = 0.
    n_labels : int
        Number of labels.

    Attributes
    ----------
    offsets : ndarray of shape (n_labels + 1,)
        Index in `values` at which the table for 0, 1, ... relevant labels starts, or -1 if there is
        no such table yet.
    values : ndarray of shape (n_values,)
        Concatenated tables. The table for r relevant labels has the shape (r + 1, n_labels - r + 1)
        and holds the losses by tp (row) and fp (column).

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
        """Add the tables that are missing for the given numbers of relevant labels."""
        numbers = np.unique(np.asarray(n_relevant, dtype=np.intp))
        new = numbers[self.offsets[numbers] < 0]
        tables = [self._evaluate(r).ravel() for r in new]
        ends = len(self.values) + np.cumsum([len(table) for table in tables], dtype=np.intp)
        # The array is copied, since joblib may have mapped it from a file, read-only.
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
    """Return the entry of the table for a parameter's value, or raise ValueError.

    The error message lists the keys of the table, and `otherwise` as a further option.
    """
    if not isinstance(choice, str) or choice not in table:
        raise ValueError(f"{name} must be one of {sorted(table)}, or {otherwise}, got {choice!r}.")
    return table[choice]


def _check_losses(losses, what):
    bad = losses[~((losses >= 0) & (losses <= MAX_FACTOR))]
    if len(bad):
        raise ValueError(
            f"loss must be from 0 to {MAX_FACTOR:g}, got {bad[:5].tolist()} among its {what}."
        )
