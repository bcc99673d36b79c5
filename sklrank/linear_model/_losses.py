"""Losses of Predtron as tables and lists of numbers, which its compiled tasks read.

- A *class loss* is a table of costs: `class_costs`.
- A *subset loss* counts: it is a function of the numbers of labels predicted and relevant (tp),
  predicted and irrelevant (fp), not predicted and relevant (fn), and the others (tn). `SubsetLosses`
  evaluates it for every count that a row can have.
- A *ranking loss* has a gain for each item and a discount for each position,
  L = 1 - sum_i g_i D(sigma(i)) / best: an object with the methods `gains` and `discounts`.

The theorems of Jain et al. (2015) need the least loss that is not zero, c_L, and the greatest, C_L.
"""

import numpy as np

from sklrank.metrics._conventions import check_k, factors_of

__all__ = [
    "CLASS_LOSSES",
    "RANKING_LOSSES",
    "SUBSET_LOSSES",
    "NDCGLoss",
    "PrecisionLoss",
    "SubsetLosses",
    "class_costs",
    "discounts_of",
    "extremes",
    "gains_of",
    "make_ranking_loss",
    "ranking_extremes",
]

# Sums of more would overflow.
MOST_GAIN = 1e300


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
        The cost of predicting REJECT, for all or for each class, from 0 to 1. None: it cannot be.

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
    >>> from sklrank.linear_model._losses import class_costs
    >>> class_costs([2, 1], ["ill", "well"], reject_cost=0.5)
    array([[0. , 2. , 0.5],
           [1. , 0. , 0.5]])
    """
    n_classes = len(classes)
    if isinstance(loss, str):
        costs = _look_up(CLASS_LOSSES, loss)(n_classes)
    elif callable(loss):
        costs = _numbers("loss", [[loss(truth, guess) for guess in classes] for truth in classes])
    else:
        costs = _numbers("loss", loss)
        if costs.shape == (n_classes,):
            costs = costs[:, np.newaxis] * _zero_one(n_classes)
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
    rejection = _numbers("reject_cost", reject_cost)
    if rejection.shape not in ((), (n_classes,)) or not ((rejection >= 0) & (rejection <= 1)).all():
        raise ValueError(
            f"reject_cost must be a number from 0 to 1, or one for each of the {n_classes} classes, "
            f"got {reject_cost!r}."
        )
    return np.column_stack([costs, np.broadcast_to(rejection, n_classes)])


def _any_error(tp, fp, fn, tn):
    return fp + fn > 0


# Functions of counts. "subset_zero_one" is printed upside down in Section 3 of the paper.
SUBSET_LOSSES = {
    "error_set_size": lambda tp, fp, fn, tn: fp * fn,
    "hamming": lambda tp, fp, fn, tn: fp + fn,
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
    >>> from sklrank.linear_model._losses import SubsetLosses
    >>> losses = SubsetLosses("hamming", 3)
    >>> losses.cover([1])
    >>> losses.offsets
    array([-1,  0, -1, -1])
    >>> losses.values.reshape(2, 3)
    array([[1., 2., 3.],
           [0., 1., 2.]])
    """

    def __init__(self, loss, n_labels):
        self._function = loss if callable(loss) else _look_up(SUBSET_LOSSES, loss)
        self.n_labels = n_labels
        self.offsets = np.full(n_labels + 1, -1, dtype=np.intp)
        self.values = np.empty(0)

    def cover(self, n_relevant):
        """Add the tables of these numbers of relevant labels, where they are not there yet."""
        met = np.unique(np.asarray(n_relevant, dtype=np.intp))
        for r in met[self.offsets[met] < 0]:
            table = self._evaluate(r)
            self.offsets[r] = len(self.values)
            self.values = np.append(self.values, table)

    def _evaluate(self, r):
        tp, fp = np.indices((r + 1, self.n_labels - r + 1))
        table = _numbers("loss", self._function(tp, fp, r - tp, self.n_labels - r - fp))
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


class NDCGLoss:
    r"""One minus the normalised discounted cumulative gain, :math:`1 - NDCG`.

    The gain of an item of the grade :math:`y \geq 0` is :math:`2^y - 1`, and the discount at
    position j is :math:`1 / \log_2(1 + j)` (Section 4 of the paper, which prints another gain).
    Gains of a ranking are divided by :math:`2^{\max y}`, which the loss does not feel: so grades
    may be in the hundreds.

    Parameters
    ----------
    k : int, default=None
        How many positions count, from the top; None for all.
    """

    def __init__(self, k=None):
        check_k(k)
        self.k = k

    def gains(self, relevance):
        """Gains of rankings, one along the last axis."""
        highest = relevance.max(axis=-1, keepdims=True)
        return np.exp2(relevance - highest) - np.exp2(-highest)

    def discounts(self, n_positions):
        """Discounts at the positions 1, 2, ..."""
        return _cut(factors_of("log2", n_positions), self.k)


class PrecisionLoss:
    r"""One minus the precision among the first k, relative to what can be reached.

    Items of a grade above 0 have the gain 1, positions up to k the discount 1. With r relevant
    items of which h stand there, the loss is :math:`1 - h / \min(k, r)`.

    Parameters
    ----------
    k : int
        How many positions count, from the top.
    """

    def __init__(self, k):
        check_k(k)
        if k is None:
            raise ValueError("k must be a positive integer under loss='precision', got None.")
        self.k = k

    def gains(self, relevance):
        """Gains of rankings, one along the last axis."""
        return np.where(np.isnan(relevance), np.nan, relevance > 0)

    def discounts(self, n_positions):
        """Discounts at the positions 1, 2, ..."""
        return _cut(np.ones(n_positions), self.k)


def _cut(discounts, k):
    if k is not None:
        discounts[k:] = 0.0
    return discounts


RANKING_LOSSES = {"ndcg": NDCGLoss, "precision": PrecisionLoss}


def make_ranking_loss(loss, k=None):
    """The ranking loss of this name, or a user's object as it is.

    Parameters
    ----------
    loss : str or object
        "ndcg" (`NDCGLoss`), "precision" (`PrecisionLoss`), or an object with the methods
        `gains(relevance)`, of arrays `(n_rankings, n_items)`, and `discounts(n_positions)`.
    k : int, default=None
        How many positions count; an object says that itself.

    Returns
    -------
    object
        With the methods `gains` and `discounts`.

    Raises
    ------
    ValueError
        If the loss is unknown, or `k` does not fit it.
    """
    if isinstance(loss, str):
        return _look_up(RANKING_LOSSES, loss)(k)
    if not all(callable(getattr(loss, name, None)) for name in ("gains", "discounts")):
        raise ValueError(
            f"loss must be one of {sorted(RANKING_LOSSES)}, or have the methods gains and "
            f"discounts, got {loss!r}."
        )
    if k is not None:
        raise ValueError(f"k must be None where loss is an object, got {k!r}: its discounts tell.")
    return loss


def gains_of(loss, relevance, starts):
    """Gains of the items of all rounds.

    Parameters
    ----------
    loss : object
        What `make_ranking_loss` returns.
    relevance : ndarray of shape (n_items,)
        Grades, those of round i at `starts[i]:starts[i + 1]`.
    starts : ndarray of shape (n_rounds + 1,)
        Where the items of each round start.

    Returns
    -------
    ndarray of shape (n_items,)
        Gains, finite and not negative.

    Raises
    ------
    ValueError
        If a gain is something else.
    """
    gains = np.empty(len(relevance))
    sizes = np.diff(starts)
    for size in np.unique(sizes[sizes > 0]):
        places = starts[:-1][sizes == size][:, np.newaxis] + np.arange(size)
        block = _numbers("loss", loss.gains(relevance[places]))
        if block.shape != places.shape:
            raise ValueError(
                f"loss must give a gain for each entry of an array of the shape {places.shape}, got "
                f"the shape {block.shape}."
            )
        gains[places] = block
    bad = ~((gains >= 0) & (gains <= MOST_GAIN))
    if bad.any():
        item = bad.argmax()
        raise ValueError(
            f"loss must give gains from 0 to {MOST_GAIN:g}, got {gains[item]} for the relevance "
            f"{relevance[item]}: grade items from 0 (not relevant) up."
        )
    return gains


def discounts_of(loss, n_positions):
    """Discounts of a ranking loss at the positions 1, 2, ..., checked.

    Parameters
    ----------
    loss : object
        What `make_ranking_loss` returns.
    n_positions : int
        How many positions there are.

    Returns
    -------
    ndarray of shape (n_positions,)
        Discounts, finite, not negative and not rising.

    Raises
    ------
    ValueError
        If they are something else.
    """
    discounts = np.array(_numbers("loss", loss.discounts(n_positions)))
    fair = discounts.shape == (n_positions,) and np.isfinite(discounts).all()
    if not (fair and (discounts >= 0).all() and (np.diff(discounts) <= 0).all()):
        raise ValueError(
            f"loss must give {n_positions} finite discounts that are not negative and do not rise "
            f"with the position, got {discounts.ravel()[:5].tolist()} for the first ones, of the "
            f"shape {discounts.shape}."
        )
    return discounts


def extremes(losses):
    """The least loss that is not zero (c_L; infinite if all are) and the greatest (C_L)."""
    losses = np.asarray(losses)
    positive = losses[losses > 0]
    return float(positive.min(initial=np.inf)), float(positive.max(initial=0.0))


def ranking_extremes(gains, discounts):
    """As `extremes`, over all rankings of a list of items, in closed form.

    The greatest loss is that of the ranking upside down. Any wrong ranking becomes right by swaps
    of two items, each of which lowers the loss, so one that is least wrong is a swap away from
    right: its loss is (g - g') (D - D') / best for two positions of a right ranking.
    """
    ideal = -np.sort(-np.asarray(gains, dtype=np.float64))
    discounts = discounts[: len(ideal)]
    best = ideal @ discounts
    if best == 0:
        return extremes([])
    pairs = np.unique(np.column_stack([ideal, discounts]), axis=0)
    swaps = np.subtract.outer(pairs[:, 0], pairs[:, 0])
    swaps *= np.subtract.outer(pairs[:, 1], pairs[:, 1])
    least, _ = extremes(swaps / best)
    return least, float(((ideal - ideal[::-1]) @ discounts) / best)


def _look_up(table, loss):
    if not isinstance(loss, str) or loss not in table:
        raise ValueError(f"loss must be one of {sorted(table)}, or callable, got {loss!r}.")
    return table[loss]


def _numbers(name, values):
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must consist of numbers, got {values!r}.") from error


def _check_losses(losses, what):
    bad = ~(np.isfinite(losses) & (losses >= 0))
    if bad.any():
        raise ValueError(
            f"loss must be finite and not negative, got {losses[bad][:5].tolist()} among its {what}."
        )
