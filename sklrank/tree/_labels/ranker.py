"""ProbabilisticLabelTree: an online classifier for very many labels."""

from __future__ import annotations

from numbers import Integral, Real
from reprlib import repr as shortened

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.preprocessing import normalize

from sklrank._checks import (
    check_k,
    check_label_names,
    check_random_state,
    indices_of,
    names_of,
    warn_of_large,
)
from sklrank._compiled import shared_call
from sklrank._estimators import Interval, unchanged_on_error
from sklrank._online import (
    BATCH,
    BaseOnlineClassifier,
    CompiledClassifier,
    of_online,
    slices,
    timed_slices,
)
from sklrank._rankers import LabelRankerMixin, two_class_difference
from sklrank._typing import Self
from sklrank.tree._labels.tree import LabelTree

# Bound of sample weights and of 1 / alpha. Sums of their products must not overflow in float32.
MAX_SIZE = 1e9
# Columns of the sketch of label centroids. The errors of cosines are about 1 / sqrt(256) = 0.06.
SKETCH_SIZE = 256
# Rounds of 2-means, which has nearly always converged earlier.
MAX_ROUNDS = 20


@of_online
class ProbabilisticLabelTree(LabelRankerMixin, BaseOnlineClassifier):
    """A probabilistic label tree, which learns very many labels online.

    The labels are the leaves of a tree. The logistic regression of a node estimates the probability
    that a label below it is relevant, if one below its parent is. The probability of a label is the
    product along its path [1]_ [2]_. A sample is learned only below the nodes above its relevant
    labels, and the search for the most probable labels opens few other nodes: the time grows with
    the logarithm of the number of labels, and with the number of nonzero features. Memory grows
    with the number of pairs of a node and a feature that occurred together.

    `fit` clusters labels whose samples have similar features, by repeated balanced 2-means of the
    centroids of the labels as in [3]_. Later, or in `partial_fit`, a label joins the tree before
    its first sample is learned, as if it had been in it from the start [4]_; until then, its
    probability is 0. The leaf of a label that `drop_classes` removes is an empty node until `fit`.

    The weights of a node have independent normal distributions. A sample, scaled to the norm one,
    makes one step of an extended Kalman filter, so there is no learning rate.

    Parameters
    ----------
    max_children : int, default=128
        Maximum number of children of a node. Memory, and often the precision, increase with it.
    alpha : float, default=0.2
        Precision of the prior of the weights, from 1e-9: the strength of the L2 penalty. If it is
        smaller, the first samples of a label have more influence.
    max_iter : int, default=1
        Number of passes of `fit`, by which the weights of the samples are divided, so that the
        penalty keeps its strength.
    {shuffle}
    random_state : int, RandomState instance or None, default=None
        Controls the start of 2-means and the order of the samples in `fit`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Class labels, or names of the columns of the indicator matrix. New labels are appended.
    n_rounds_ : int
        Number of samples learned. Each sample of positive weight counts in each pass.
    n_iter_ : int
        Number of passes of `fit`. Defined only after `fit`.
    {n_features_in}

    See Also
    --------
    sklrank.online_boosting.AdaOLMR : Rankers of up to thousands of labels.

    References
    ----------
    .. [1] Jasinska et al., "Extreme F-measure maximization using sparse probability estimates",
       ICML 2016.
    .. [2] Wydmuch et al., "A no-regret generalization of hierarchical softmax to extreme
       multi-label classification", NeurIPS 2018.
    .. [3] Prabhu et al., "Parabel: Partitioned label trees for extreme classification with
       application to dynamic search advertising", WWW 2018.
    .. [4] Jasinska-Kobus et al., "Online probabilistic label trees", AISTATS 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.tree import ProbabilisticLabelTree
    >>> X, Y = make_multilabel_classification(500, n_classes=20, random_state=0)
    >>> tree = ProbabilisticLabelTree(max_children=8, random_state=0).fit(X[:400], Y[:400])
    >>> best = tree.predict_topk(X[400:], 3)
    >>> bool(Y[400:][range(100), best[:, 0]].mean() > 0.45)
    True

    Further labels may appear:

    >>> tree = tree.partial_fit([[1.0] * 20], [[0] * 20 + [1]], classes=range(21))
    >>> len(tree.classes_)
    21
    """

    _accepts_indicators = True
    _accepts_sparse = True
    _parameter_constraints: dict = {
        **BaseOnlineClassifier._parameter_constraints,
        "max_children": [Interval(Integral, 2, 2**15, closed="both")],
        "alpha": [Interval(Real, 1 / MAX_SIZE, MAX_SIZE, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        max_children: int = 128,
        alpha: float = 0.2,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_children = max_children
        self.alpha = alpha
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    _learn_rounds = CompiledClassifier._learn_rounds

    @property
    def n_rounds_(self) -> int:
        """Number of samples learned."""
        return self._fitted("_learner").n_learned

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the tree, learning one sample after the other. Labels may be new.

        {chunks}

        {targets}
        classes : array-like of shape (n_classes,), default=None
            All class labels, or the names of the columns: those so far, and then new ones. If None,
            new columns must have names in a data frame, or the labels must be 0, 1, ....
        {weights}

        {returns_self}
        """
        return super().partial_fit(X, y, classes, sample_weight)

    @shared_call
    def predict_proba(self, X: ArrayLike, labels: ArrayLike | None = None) -> np.ndarray:
        """Predict the probability of each label that it is relevant.

        {samples}
        labels : array-like of shape (n,), default=None
            Entries of `classes_`. Only the nodes above these labels are visited. If None, all
            labels.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n)
            Probabilities, in the order of `classes_` or `labels`. Those of classes are normalized
            at each node, and sum to one over all.
        """
        if labels is None:
            return self._label_scores(X)
        message = "labels has entries that are not in classes_: {}"
        classes = self._fitted("classes_")
        return self._label_scores(X, indices_of(names_of(labels), classes, message))

    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the probabilities of `predict_proba` as scores.

        {samples_and_returns}
        ndarray of shape (n_samples, n_labels), or (n_samples,)
            Probabilities of the labels. Of two classes, that of the second minus the other.
        """
        scores = self._label_scores(X)
        return scores if self._has_label_columns else two_class_difference(scores)

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray | sparse.csr_array:
        """Predict the most probable class, or all labels of a probability of at least 0.5.

        {samples_and_returns}
        {ndarray, csr_array} of shape (n_samples,) or (n_samples, n_labels)
            Classes, or an indicator matrix. It is sparse if the first target was sparse.
        """
        if not self._has_label_columns:
            return self.predict_topk(X, 1)[:, 0]
        found = self._search(X, len(self.classes_), 0.5)
        labels, indptr = np.concatenate(found), np.append(0, np.cumsum([len(row) for row in found]))
        entries = np.ones(len(labels), dtype=np.intp), labels, indptr
        indicator = sparse.csr_array(entries, shape=(len(found), len(self.classes_)))
        return indicator if self._predicts_sparse else indicator.toarray()

    @shared_call
    def predict_topk(self, X: ArrayLike, k: int) -> np.ndarray:
        """Predict the `k` most probable labels of each sample by a best-first search.

        {samples}
        k : int
            Number of labels to return, from 1 to `n_labels`.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Entries of `classes_`, from best to worst.
        """
        classes = self._fitted("classes_")
        return classes[np.vstack(self._search(X, check_k(k, len(classes)), 0.0))]

    def _search(self, X, k, floor):
        X = self._check_rows(X, reset=False)
        batches = timed_slices(slices(X.shape[0], BATCH))
        return [row for rows in batches for row in self._learner.search_rows(X[rows], k, floor)]

    def _label_scores(self, X, indices=slice(None)):
        learner = self._fitted("_learner")
        X = self._check_rows(X, reset=False)
        scores = np.empty((X.shape[0], len(self.classes_[indices])))
        for rows in timed_slices(slices(X.shape[0], BATCH)):
            scores[rows] = learner.score_rows(X[rows], indices)
        if not self._has_label_columns and not self._learner.n_leaves:
            scores[:] = 1.0 / len(self.classes_)  # No class has occurred.
        return scores

    def _start_model(self, classes):
        self.classes_ = classes
        self._random_state = check_random_state(self.random_state)
        self._learner = self._make_tree()

    def _warn_of_rows(self, X, *, first):
        warn_of_large("feature", X, self, with_mean=first)  # Rows are scaled to one size.

    def _make_tree(self, **nodes):
        exclusive = not self._has_label_columns
        sizes = self.n_features_in_, len(self.classes_), self.max_children
        return LabelTree(*sizes, self.alpha, exclusive, **nodes)

    def _check_and_start(self, X, y, classes, sample_weight, *, restart=False):
        starts = restart or not hasattr(self, "classes_")
        with unchanged_on_error(self, draws=starts):
            X, indptr, labels, weights = super()._check_and_start(
                X, y, classes, sample_weight, restart=restart
            )
            self._learner.grow(len(self.classes_))
            if starts:
                self._predicts_sparse = self._has_label_columns and sparse.issparse(y)
            if restart:
                X, weights = sparse.csr_array(X), weights / self.max_iter
            if restart and len(self.classes_) > self.max_children:
                centroids = self._centroids(X, indptr, labels, weights)
                nodes = cluster_labels(*centroids, self.max_children, self._random_state)
                self._learner = self._make_tree(nodes=nodes)
        return X, indptr, labels, weights

    def _check_same_labels(self, target, classes):
        if target.multilabel != self._has_label_columns:
            super()._check_same_labels(target, None)  # It raises.
        known = self.classes_
        if target.multilabel:
            names = target.names if classes is None else check_label_names(classes)
            if names is None:
                numbers = np.arange(max(len(known), target.values.shape[1]))
                names = numbers if np.array_equal(numbers[: len(known)], known) else known
            if not np.array_equal(names[: len(known)], known):
                raise ValueError(
                    f"classes, or columns of y, must begin with the {len(known)} labels so far, in "
                    f"their order {shortened(known.tolist())}; name new labels after them"
                )
            new = names[len(known) :]
            if target.values.shape[1] != len(names):
                raise ValueError(
                    f"y has {target.values.shape[1]} label columns for {len(names)} labels: it "
                    "needs a column for each label so far, then those of new labels, which "
                    "`classes` names"
                )
        else:
            names = target.values if classes is None else names_of(classes)
            names = names[np.sort(np.unique(names, return_index=True)[1])]
            new = names[~np.isin(names, known)]
        if len(new) and (new.dtype.kind in "biuf") != (known.dtype.kind in "biuf"):
            raise ValueError(f"labels of different types: {new[:3]} after {known[:3]}")
        if len(new):
            self.classes_ = np.concatenate([known, new])
            if self._births is not None:
                self._births = np.append(self._births, np.full(len(new), self._n_drops))
        return target

    def _check_weights(self, weights):
        if weights.max(initial=0.0) > MAX_SIZE:
            raise ValueError(
                f"sample_weight must be {MAX_SIZE:g} or less, got {weights.max():g}: divide it by "
                "its mean"
            )

    def _centroids(self, X, indptr, labels, weights):
        """Return the labels that are relevant, and sketches `(n, size)` of their centroids."""
        n_labels, n_features = len(self.classes_), X.shape[1]
        entries = np.repeat(weights, np.diff(indptr)), labels, indptr
        Y = sparse.csr_array(entries, shape=(X.shape[0], n_labels))
        size = min(SKETCH_SIZE, n_features)
        signs = self._random_state.choice(np.array([-1.0, 1.0]), n_features)
        slots = self._random_state.randint(size, size=n_features)
        sketch = sparse.csr_array((signs, slots, np.arange(n_features + 1)), (n_features, size))
        centroids = np.zeros((n_labels, size), dtype=np.float32)
        for rows in slices(X.shape[0], BATCH):
            centroids += (Y[rows].T @ (normalize(X[rows]) @ sketch)).toarray()
        relevant = np.flatnonzero(np.bincount(labels, entries[0], minlength=n_labels))
        return relevant, normalize(centroids[relevant])


def cluster_labels(labels, centroids, max_children, random_state):
    """Return the nodes of a tree of labels, as a list of (parent, label, 0); see `LabelTree`.

    The labels are divided by balanced 2-means of their centroids `(n_labels, size)`, of norm one.
    Of at most `max_children` labels, only the root is returned.
    """
    nodes = [(-1, -1, 0)]
    queue = [(0, np.arange(len(labels)))] if len(labels) > max_children else []
    for parent, members in queue:  # It grows.
        if len(members) <= max_children:
            nodes += [(parent, labels[i], 0) for i in members]
            continue
        capacity = max_children
        while capacity * max_children < len(members):
            capacity *= max_children
        parts = [members]
        while max(map(len, parts)) > capacity and 2 * len(parts) <= max_children:
            parts = [half for part in parts for half in _halves(part, centroids, random_state)]
        for part in parts:
            queue.append((len(nodes), part))
            nodes.append((parent, -1, 0))
    return nodes


def _halves(members, centroids, random_state):
    """Divide some labels into two halves by 2-means of their centroids."""
    points, half = centroids[members], len(members) // 2
    first, second = points[random_state.choice(len(members), 2, replace=False)]
    order = None
    for _ in range(MAX_ROUNDS):
        before, order = order, np.argsort(points @ (second - first), kind="stable")
        order = np.append(np.sort(order[:half]), np.sort(order[half:]))
        if np.array_equal(order, before):
            break
        first, second = normalize(
            [points[order[:half]].sum(axis=0), points[order[half:]].sum(axis=0)]
        )
    return members[order[:half]], members[order[half:]]
