"""Losses of Predtron that are tables of numbers, which its compiled tasks read.

- A *class loss* is a table of costs: `class_costs`.
- A *subset loss* counts: it is a function of the numbers of labels predicted and relevant (tp),
  predicted and irrelevant (fp), not predicted and relevant (fn), and neither (tn). `SubsetLosses`
  has its values for all counts that rows may have.

The theorems of Jain et al. (2015) need the least loss that is not zero, c_L, and the greatest, C_L:
`extremes`.
"""

import numpy as np

from sklrank._validation import MAX_FACTOR, as_numbers

__all__ = [
    "CLASS_LOSSES",
    "SUBSET_LOSSES",
    "SubsetLosses",
    "class_costs",
    "extremes",
    "look_up",
]


def _zero_one(n_classes):
    return 1.0 - np.eye(n_classes)


def _absolute(n_classes):
    places = np.arange(float(n_classes))
    return np.abs(places[:, None] - places)


# Tables of costs for a number of classes.
CLASS_LOSSES = {"absolute": _absolute, "zero_one": _zero_one}


def class_costs(loss, classes, reject_cost=None):
    r"""Costs of all predictions for all classes.

    Parameters
    ----------
    loss : str, callable or array-like
        - "zero_one": 1 for every mistake;
        - "absolute": :math:`|y - \sigma|`, by the places of the classes in their order;
        - array of shape (n_classes,): the cost of mistakes on each class;
        - array of shape (n_classes, n_classes): a row for each true class, a column for each
          prediction, zeros where they are the same;
        - a function of the true and the predicted class.
    classes : array-like of shape (n_classes,)
        The classes in order.
    reject_cost : float or array-like of shape (n_classes,), default=None
        The cost of predicting REJECT, for all or for each class, 0 or more. None: it cannot be.

    Returns
    -------
    ndarray of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
        Costs by true class (row) and prediction (column), the last one that of REJECT.

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
        # A copy: the compiled loops rely on what is checked here, though the caller may change it.
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


# Functions of counts. "subset_zero_one" is printed upside down in Section 3 of the paper.
SUBSET_LOSSES = {
    "error_set_size": _pairs_in_error,
    "hamming": _errors,
    "subset_zero_one": _any_error,
    "zero_one": _any_error,
}


class SubsetLosses:
    """Tables of a subset loss, one for each number of relevant labels that was met.

    Parameters
    ----------
    loss : str or callable
        - "hamming": fp + fn, the labels in error;
        - "subset_zero_one" or "zero_one": 1 if a label is in error;
        - "error_set_size": fp fn, the pairs of a relevant and an irrelevant label both in error;
        - a function `f(tp, fp, fn, tn)` of integer arrays of one shape, zero where fp = fn = 0.
    n_labels : int
        How many labels there are.

    Attributes
    ----------
    offsets : ndarray of shape (n_labels + 1,)
        Where in `values` the table of rows with 0, 1, ... relevant labels starts; -1: not met.
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
        """Add the tables of these numbers of relevant labels, where they are not there yet."""
        met = np.unique(np.asarray(n_relevant, dtype=np.intp))
        new = met[self.offsets[met] < 0]
        tables = [self._evaluate(r).ravel() for r in new]
        ends = len(self.values) + np.cumsum([len(table) for table in tables], dtype=np.intp)
        # A copy is written to, since joblib may have mapped the array from a file, read-only.
        self.offsets = self.offsets.copy()
        self.offsets[new] = ends - [len(table) for table in tables]
        self.values = np.concatenate([self.values, *tables])

    def table(self, r):
        """Losses of rows with r relevant labels, by tp and fp."""
        shape = r + 1, self.n_labels - r + 1
        first = self.offsets[r]
        return self.values[first : first + shape[0] * shape[1]].reshape(shape)

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


def extremes(losses):
    """The least loss that is not zero (c_L; infinite if all are) and the greatest (C_L)."""
    losses = np.asarray(losses)
    positive = losses[losses > 0]
    return float(positive.min(initial=np.inf)), float(positive.max(initial=0.0))


def look_up(name, table, choice, otherwise):
    """The entry that the parameter `name` chooses; `otherwise` says what else it may be."""
    if not isinstance(choice, str) or choice not in table:
        raise ValueError(f"{name} must be one of {sorted(table)}, or {otherwise}, got {choice!r}.")
    return table[choice]


def _check_losses(losses, what):
    bad = losses[~((losses >= 0) & (losses <= MAX_FACTOR))]
    if len(bad):
        raise ValueError(
            f"loss must be from 0 to {MAX_FACTOR:g}, got {bad[:5].tolist()} among its {what}."
        )
