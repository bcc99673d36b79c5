"""Losses of classes and of label sets, and codes of classes, as arrays that compiled tasks read.

- A *class loss* is a table of costs by true and predicted class. `class_costs` returns the table.
- A *subset loss* is a function of the numbers of true positives (tp), false positives (fp), false
  negatives (fn) and true negatives (tn) among the labels. `SubsetLosses` tabulates its values for
  all possible counts.
- *Codes* are the unit vectors that represent the predictions for classes. A new kind of codes is
  added as an entry of `CLASS_CODES`, a function of the number of classes.

A new loss is an entry of one of two dictionaries, from which the parameter check and the loops
follow. Its name is added to the docstring of `PredtronClassifier` (`_classifier.py`), and its
values by hand to `tests/linear_model/test_losses.py`:

- An entry of `CLASS_LOSSES` is a function of the number of classes. It returns the table of costs
  of shape (n_classes, n_classes), with a row for each true class and a column for each prediction.
  The costs are from 0 to `MAX_FACTOR`, and those on the diagonal are 0.
- An entry of `SUBSET_LOSSES` is a function `f(tp, fp, fn, tn)` of integer arrays of the same shape.
  It returns the losses, an array of this shape with values from 0 to `MAX_FACTOR` that are 0 where
  fp = fn = 0. For class labels, a name in `SUBSET_LOSSES` means "zero_one".
"""

import warnings
from reprlib import repr as shortened

import numpy as np

from sklrank._checks import MAX_FACTOR, as_numbers, is_frame


def _zero_one(n_classes):
    return 1.0 - np.eye(n_classes)


# The functions return the table of costs for a number of classes.
CLASS_LOSSES = {
    "absolute": lambda n: np.abs(np.arange(n)[:, None] - np.arange(float(n))),
    "zero_one": _zero_one,
}


def class_costs(loss, classes, predictions=None, reject_cost=None):
    """Return the costs by true class (row) and prediction (column), C-contiguous.

    If `predictions` is None, they are the classes, and an array `loss` may hold one cost for each
    class. The last column holds the costs of REJECT if `reject_cost` is not None. Raise ValueError
    if the costs are malformed.
    """
    are_classes = predictions is None
    predictions = classes if are_classes else predictions
    n_classes, shape = len(classes), (len(classes), len(predictions))
    if isinstance(loss, str):
        costs = CLASS_LOSSES[loss](n_classes)
    elif callable(loss):
        costs = [[loss(truth, guess) for guess in predictions] for truth in classes]
        costs = as_numbers(costs, "loss")
    else:
        # The array is copied, since the caller may change it, and the compiled loops rely on the
        # checks.
        costs = np.array(as_numbers(loss, "loss"), order="C")
        _check_names(loss, np.asarray(classes).tolist())
        if costs.shape == (n_classes,) and are_classes:
            costs = np.where(_zero_one(n_classes), costs[:, np.newaxis], 0.0)
    if costs.shape != shape:
        raise ValueError(
            f"loss must give one cost for each of the {n_classes} classes, or a table of the shape "
            f"{shape} by true class and prediction, got the shape {costs.shape}."
        )
    _check_losses(costs, "costs")
    if are_classes and np.diag(costs).any():
        raise ValueError(
            "loss must be 0 where the prediction is the true class, got "
            f"{np.diag(costs).tolist()} on the diagonal."
        )
    if costs.min(axis=1, initial=np.inf).any():
        raise ValueError(
            "loss must be 0 for some prediction of each class, got the least costs "
            f"{costs.min(axis=1).tolist()}."
        )
    if reject_cost is None:
        return costs
    rejection = as_numbers(reject_cost, "reject_cost")
    fair = (rejection >= 0) & (rejection <= MAX_FACTOR)
    if rejection.shape not in ((), (n_classes,)) or not fair.all():
        raise ValueError(
            f"reject_cost must be a number from 0 to {MAX_FACTOR:g}, or one for each of the "
            f"{n_classes} classes, got {reject_cost!r}."
        )
    return np.column_stack([costs, np.broadcast_to(rejection, n_classes)])


def _check_names(loss, classes):
    """Raise if the table is a data frame that has the classes in another order."""
    for axis in ("index", "columns"):
        names = list(getattr(loss, axis, ())) if is_frame(loss) else classes
        if names != classes and set(names) == set(classes):
            raise ValueError(
                f"loss has the classes {shortened(names)} in its {axis}, and they are in the order "
                f"{shortened(classes)}: pass loss.loc[order, order]"
            )


def warn_of_idle_costs(costs):
    """Warn if loss-augmented steps do not depend on the size of the costs, which differ.

    The loss-augmented prediction is the wrong one of the greatest similarity if all mistakes on a
    sample have the same cost, as those on a sample of two classes have.
    """
    lowest = np.where(costs > 0, costs, np.inf).min(axis=1)
    if (costs.max(axis=1) == lowest).all() and (lowest != lowest[0]).any():
        warnings.warn(
            "loss has no effect: its costs depend on the true class only, on which the steps of "
            "update='loss-augmented' do not depend, so that the model is that of 'zero_one'. Use "
            "update='loss-driven', whose steps are proportional to the costs",
            stacklevel=3,
        )


def _ordinal(n_classes):
    passed = np.arange(n_classes)[:, np.newaxis] > np.arange(n_classes - 1)
    return np.where(passed, 1.0, -1.0) / np.sqrt(n_classes - 1)


def _simplex(n_classes):
    # The code of the next class points away from the center of the other ones.
    codes = np.zeros((1, 0))
    for m in range(1, n_classes):
        others = np.column_stack([np.full(m, 1 / m), np.sqrt(1 - 1 / m**2) * codes])
        codes = np.vstack([-np.eye(1, m), others])
    return codes


# The functions return the unit vectors that represent a number of classes.
CLASS_CODES = {"one_hot": np.eye, "ordinal": _ordinal, "simplex": _simplex}


def class_codes(representation, classes, *, rejects=False):
    """Return the unit vectors that represent the predictions, `(n_predictions, n_scores)`.

    They are the entry of `CLASS_CODES`, where two classes without REJECT have the codes -1 and 1
    instead of "one_hot", or the rows of an array, or of the array that a function of the classes
    returns, divided by their norms. If `rejects`, the last vector is that of REJECT, the sum of the
    others divided by its norm. Raise ValueError if they are malformed.
    """
    if isinstance(representation, str):
        codes = CLASS_CODES[representation](len(classes))
        if representation == "one_hot" and len(classes) == 2 and not rejects:
            codes = np.array([[-1.0], [1.0]])
    else:
        given = representation(classes) if callable(representation) else representation
        codes = as_numbers(given, "representation")
        lengths = np.linalg.norm(codes, axis=1, keepdims=True) if codes.ndim == 2 else np.zeros(1)
        if len(lengths) < 2 or not (np.isfinite(lengths) & (lengths > 0)).all():
            raise ValueError(
                "representation must have a row of finite numbers, not all 0, for each of two "
                f"predictions or more, got an array of the shape {codes.shape}."
            )
        codes = codes / lengths
        if len(np.unique(codes, axis=0)) < len(codes):
            raise ValueError("representation must have rows of different directions.")
    if not rejects:
        return codes
    total = codes.sum(axis=0)
    length = np.linalg.norm(total)
    if length < len(codes) * np.finfo(float).eps:
        raise ValueError(
            f"reject_cost does not go with representation={representation!r}, whose vectors sum to "
            "0, so that the sum represents no rejection: choose 'one_hot', or leave one of them out"
        )
    return np.vstack([codes, total / length])


def without_basis(codes):
    """Return the codes that follow the standard basis, or all of them if they lack the basis."""
    n_scores = codes.shape[1]
    return codes[n_scores:] if np.array_equal(codes[:n_scores], np.eye(n_scores)) else codes


def class_problem(loss, representation, classes, reject_cost):
    """Return the costs, the codes without the basis, and the predictions apart from REJECT.

    The predictions are the classes if there are as many of them, and their indices otherwise.
    """
    codes = class_codes(representation, classes, rejects=reject_cost is not None)
    n_predictions = len(codes) - (reject_cost is not None)
    are_classes = n_predictions == len(classes)
    predictions = classes if are_classes else np.arange(n_predictions)
    costs = class_costs(loss, classes, None if are_classes else predictions, reject_cost)
    return costs, np.ascontiguousarray(without_basis(codes)), predictions


# The functions return the losses for counts. In Section 3 of the paper, the values 0 and 1 of
# "subset_zero_one" are swapped.
SUBSET_LOSSES = {
    "error_set_size": lambda tp, fp, fn, tn: fp * fn,
    "hamming": lambda tp, fp, fn, tn: fp + fn,
    "subset_zero_one": lambda tp, fp, fn, tn: fp + fn > 0,
    "zero_one": lambda tp, fp, fn, tn: fp + fn > 0,
}


class SubsetLosses:
    """Tables of a subset loss, one for each number of relevant labels, which `cover` creates.

    The loss is a key of `SUBSET_LOSSES`, or a function like its entries. The table for r relevant
    labels starts at `values[offsets[r]]`, unless this is -1. It has the shape (r + 1, n_labels - r
    + 1) and holds the losses by tp (row) and fp (column).
    """

    def __init__(self, loss, n_labels):
        self._loss = loss
        self.n_labels = n_labels
        self.offsets = np.full(n_labels + 1, -1, dtype=np.intp)
        self.values = np.empty(0)

    def of_labels(self, n_labels):
        """Return tables of the same loss for another number of labels."""
        return SubsetLosses(self._loss, n_labels)

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
        function = self._loss if callable(self._loss) else SUBSET_LOSSES[self._loss]
        table = as_numbers(function(tp, fp, r - tp, self.n_labels - r - fp), "loss")
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


def _check_losses(losses, what):
    bad = losses[~((losses >= 0) & (losses <= MAX_FACTOR))]
    if len(bad):
        raise ValueError(
            f"loss must be from 0 to {MAX_FACTOR:g}, got {bad[:5].tolist()} among its {what}."
        )
