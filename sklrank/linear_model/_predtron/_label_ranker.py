"""PredtronLabelRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._base_online import BaseOnline
from sklrank._relevance import check_label_relevance
from sklrank._sklearn import _fit_context, available_if
from sklrank._validation import (
    check_columns,
    check_label_names,
    check_weights,
    column_names,
    labels_of_columns,
)
from sklrank.base import LabelRankerMixin
from sklrank.linear_model._predtron._base import can_partial_fit, rows_are_rounds
from sklrank.linear_model._predtron._base_ranker import PredtronRankerMixin
from sklrank.metrics import ndcg_score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap, RankingLoss

__all__ = ["PredtronLabelRanker"]


class PredtronLabelRanker(PredtronRankerMixin, LabelRankerMixin, BaseOnline):
    r"""Perceptron that ranks labels by graded relevance, for NDCG or precision at the top.

    A ranking that puts label i at the position :math:`\sigma(i)` is represented by the unit vector
    of entries :math:`f(\sigma(i)) / Z`, for a decreasing f. The prediction has the greatest inner
    product with the scores :math:`t = W x`: it sorts the labels by score. If its loss is not zero,
    the weights take a step ([1]_, Algorithm 1 and Section 5)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle,

    away from the loss-augmented ranking :math:`\tilde\sigma`, which solves a linear assignment
    problem ([1]_, Lemma 3), and towards the correct ranking :math:`\sigma_y`, which has the
    greatest inner product with the scores among those without loss.

    Parameters
    ----------
    loss : {"ndcg", "precision"} or object, default="ndcg"
        Loss of a ranking: 1 minus

        - "ndcg": the normalised discounted cumulative gain, with the gains :math:`2^y - 1` and the
          discounts :math:`1 / \log_2(1 + j)` at position j;
        - "precision": the precision at `k`, divided by its greatest possible value; labels with
          :math:`y > 0` are relevant;
        - an object with the methods ``gains(relevance)``, which returns the gains of labels, and
          ``discounts(n)``, which returns the discounts at the positions 1 to n, not negative and
          not increasing: the sum of gains times discounts, divided by its greatest possible value.
    k : int or None, default=None
        Number of labels that count, from the top. None: all; "precision" needs a number.
    representation : {"power", "linear", "reciprocal"} or callable, default="power"
        The strictly decreasing function f: :math:`-j^{power}`, :math:`-j`, :math:`1 / j`, or a
        callable that maps an array of positions to values. Where f decreases faster, smaller
        differences between scores suffice ([1]_, Lemma 4).
    power : float, default=1.1
        Exponent of the representation "power".
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Step of the weights. "loss-augmented": the step above. "loss-driven": that of Predtron.LD
        ([1]_, Algorithm 2), with the prediction itself as :math:`\tilde\sigma`, and :math:`L` times
        as long.
    mirror_map : str or object, default="euclidean"
        Map from the sum of the steps to the weights: "euclidean", "p-norm", "group-norm",
        "schatten", "entropy", "positive" or an object, see :class:`PredtronClassifier`.
    learning_rate : float or "theory", default=1.0
        Size :math:`\eta` of the steps. "theory": the rate of [1]_, Theorems 1, 14 and 15, for the
        samples so far, which is small.
    average : bool, default=False
        Whether to predict by the mean of the weights over the rounds (averaged perceptron).
    kernel : str, callable or None, default=None
        None: the model learns weights of the features. Otherwise it learns dual coefficients of
        support vectors, see :class:`PredtronClassifier`.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of kernels; `gamma` None is ``1 / n_features``.
    budget : int or None, default=None
        Greatest number of support vectors under a kernel; the oldest ones are removed. None: no
        limit. Ignored without a kernel.
    fit_intercept : bool, default=True
        Whether to add a constant feature of value one; under a kernel, one is added to its values.
    max_iter : int, default=1
        Number of passes of `fit` over the samples; `partial_fit` makes one.
    shuffle : bool, default=False
        Whether `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    verbose : int, default=0
        Whether to print the mistakes and the mean loss of each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels: the columns of `y`, by name if it is a data frame with names.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features. Not under a kernel.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the constant feature, zero without `fit_intercept`. Not under a kernel.
    dual_coef_ : ndarray of shape (n_labels, n_supports)
        Coefficients of the support vectors. Under a kernel only.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Samples with a coefficient; under a precomputed kernel their indices `(n_supports,)`.
    n_rounds_ : int
        Number of rounds so far; each is one sample.
    n_mistakes_ : int
        Number of rounds so far whose ranking had a loss. Among tied rankings the one with the
        greatest loss counts.
    mean_loss_ : float
        Mean loss of the rounds so far, each before its step; NaN before the first one.
    n_iter_ : int
        Number of passes of `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if those of `X` are strings.

    See Also
    --------
    PredtronClassifier : Predicts class labels or label sets.
    PredtronQueryRanker : Ranks the documents of a query.
    sklrank.online_boosting.AdaOLMR : Boosts rankings of labels that are relevant or not.

    Notes
    -----
    Parameters take effect when a model is started, by `fit` or the first `partial_fit`. A sample
    whose labels have equal relevance does not change the model.

    :func:`sklearn.model_selection.cross_val_predict` with ``method="decision_function"`` replaces
    the grades of each column by their indices among the sorted grades of that column, and so trains
    on other grades without a warning. Use ``method="predict"``, which does not change the grades;
    `cross_val_score` and `GridSearchCV` are not affected.

    The defaults are the algorithm as printed: one pass, and the unaveraged weights that its mistake
    bounds are about. For predictions ``average=True, max_iter=10, shuffle=True`` and features
    of similar scale are recommended: on the data sets emotions, scene and yeast the rank loss is
    .17, .09 and .18, against .21, .11 and .23 by the defaults, and .16, .11 and .19 by a logistic
    regression for each label (``benchmarks/predtron.py``).

    References
    ----------
    .. [1] P. Jain, N. Natarajan and A. Tewari, "Predtron: A family of online algorithms for general
       prediction problems", NIPS 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.linear_model import PredtronLabelRanker
    >>> X, Y = make_multilabel_classification(1000, random_state=0)
    >>> ranker = PredtronLabelRanker(average=True, max_iter=5).fit(X[:500], Y[:500])
    >>> ranker.predict(X[500:502])
    array([[1, 2, 4, 3, 5],
           [4, 3, 1, 2, 5]])
    >>> round(ranker.score(X[500:], Y[500:]), 2)
    0.96
    """

    _fitted_with_indicators = True
    _parameter_constraints: dict = {
        **PredtronRankerMixin._parameter_constraints,
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: Literal["ndcg", "precision"] | RankingLoss = "ndcg",
        k: int | None = None,
        representation: Literal["power", "linear", "reciprocal"] | Callable = "power",
        power: float = 1.1,
        update: Literal["loss-augmented", "loss-driven"] = "loss-augmented",
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float | Literal["theory"] = 1.0,
        average: bool = False,
        kernel: str | Callable | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        budget: int | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.k = k
        self.representation = representation
        self.power = power
        self.update = update
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.average = average
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch, by `max_iter` passes over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; under a precomputed kernel the kernel matrix.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, 0 or more: grades, or an indicator matrix. Convert lists of
            labels by :class:`sklearn.preprocessing.MultiLabelBinarizer`: lists of equal lengths
            would be taken for grades.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or if parameters do not go together or with the data. A
            fitted model is not changed then.
        """
        return self._fit_from_scratch(X, y, None)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue training with each sample in order.

        Samples in one call, in chunks, or before and after pickling make bit-identical models;
        under a kernel they agree up to rounding of its values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, 0 or more.
        classes : array-like of shape (n_labels,), default=None
            Names of the columns of `y`, at the first call; by default those of a data frame, else
            0, 1, ...

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or have other labels than before. The model is not changed
            then.
        """
        self._partial_fit(X, y, classes)
        return self

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is that of `partial_fit`. The scores are those of the current weights,
        even with `average`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, 0 or more.
        classes : array-like of shape (n_labels,), default=None
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores of each sample before it was learned.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        return self._partial_fit(X, y, classes, return_scores=True)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Higher scores rank earlier.
        """
        return self._scores(X)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the position of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples, n_labels)
            1 is best; each row is a permutation.
        """
        return self.predict_ranks(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean NDCG of the samples with a relevant label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, 0 or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            From 0 to 1, over the first `k` labels; see :func:`sklrank.metrics.ndcg_score`.
        """
        scores = self._scores(X)
        check_columns(column_names(y), self.classes_)
        y = check_label_relevance(y, len(scores))
        if y.shape != scores.shape:
            raise ValueError(
                f"y must have a column for each of the {scores.shape[1]} labels, got {y.shape[1]}"
            )
        rows = np.repeat(np.arange(len(y)), y.shape[1])
        weights = np.repeat(check_weights(sample_weight, len(y), positive=True), y.shape[1])
        return ndcg_score(y.ravel(), scores.ravel(), qid=rows, k=self.k, sample_weight=weights)

    def _label_scores(self, X):
        return self._scores(X)

    def _make_task(self, X, y, classes, *, restart):
        X = self._check_rows(X, reset=restart)
        relevance = check_label_relevance(y, X.shape[0])
        n_labels = relevance.shape[1]
        if restart:
            self._start_model(_label_names(classes, column_names(y), n_labels))
        elif n_labels != len(self.classes_):
            raise ValueError(
                f"y has {n_labels} label columns, but the first call had {len(self.classes_)}; "
                "call fit to start a new model"
            )
        elif classes is not None:
            self._check_same_classes(classes)
        check_columns(column_names(y), self.classes_)
        self._check_pairwise(X)
        starts = np.arange(len(relevance) + 1) * n_labels
        return X, self._make_ranking_task(relevance.ravel(), starts), rows_are_rounds

    def _start_model(self, classes):
        if self.k is not None and self.k > len(classes):
            raise ValueError(
                f"k={self.k} is more than the {len(classes)} labels of y: leave it None"
            )
        self.classes_ = classes
        self._start_ranking_model(len(classes), float(self.fit_intercept))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.target_tags.positive_only = True
        return tags


def _label_names(classes, names, n_labels):
    if classes is None:
        return labels_of_columns(names, n_labels)
    names = check_label_names(classes)
    if len(names) != n_labels:
        raise ValueError(f"classes must name the {n_labels} columns of y; got {classes!r}")
    return names
