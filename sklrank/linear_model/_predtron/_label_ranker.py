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
from sklrank.linear_model._predtron._base import can_partial_fit
from sklrank.linear_model._predtron._ranker_mixin import PredtronRankerMixin
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
    of entries :math:`f(\sigma(i)) / Z`, for a falling f; predicted is the one most like the scores
    :math:`t = W x`, which sorts them. When its loss is not zero the weights take a step ([1]_,
    Algorithm 1 and Section 5)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle,

    away from a ranking that is bad and yet likely, a linear assignment problem ([1]_, Lemma 3), and
    towards the likeliest of those without loss, :math:`\sigma_y`.

    Parameters
    ----------
    loss : {"ndcg", "precision"} or object, default="ndcg"
        What a ranking costs: 1 less

        - "ndcg": the normalised discounted cumulative gain, of the gains :math:`2^y - 1` and the
          discounts :math:`1 / \log_2(1 + j)` at position j;
        - "precision": the share of relevant labels, :math:`y > 0`, among the first `k`, by the
          greatest that can be;
        - an object with the methods ``gains(relevance)``, what labels of these grades are
          worth, and ``discounts(n)``, what the positions 1 to n multiply that by: not negative,
          and not rising. The total worth is divided by the greatest that can be.
    k : int or None, default=None
        How many labels count, from the top. None: all; "precision" needs a number.
    representation : {"power", "linear", "reciprocal"} or callable, default="power"
        The function f, strictly falling: :math:`-j^{power}`, :math:`-j`, :math:`1 / j`, or
        a callable that maps an array of positions to values. The faster f falls far down the list,
        the less the scores there need to be apart ([1]_, Lemma 4).
    power : float, default=1.1
        Exponent of the representation "power".
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Which step is taken: that above, or the one of Predtron.LD ([1]_, Algorithm 2), away from
        the prediction itself, and :math:`L` times as large.
    mirror_map : str or object, default="euclidean"
        What makes weights of the sum of steps: "euclidean", "p-norm", "group-norm", "schatten",
        "entropy", "positive" or an object, see :class:`PredtronClassifier`.
    learning_rate : float or "theory", default=1.0
        Size :math:`\eta` of the steps. "theory": that of [1]_, Theorems 1, 14 and 15, for the
        rows so far: small.
    average : bool, default=False
        Whether to predict by the mean of the weights over the rounds. It is nearly always better.
    kernel : str, callable or None, default=None
        None learns weights of the features, else dual coefficients of support vectors, see
        :class:`PredtronClassifier`.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of kernels; `gamma` None is ``1 / n_features``.
    budget : int or None, default=None
        Most support vectors under a kernel: beyond it the oldest is forgotten. None: no limit. Of
        no use without a kernel.
    fit_intercept : bool, default=True
        Whether there is one more feature, of value one; under a kernel one is added to its values.
    max_iter : int, default=1
        Passes that `fit` makes over the rows; `partial_fit` makes one.
    shuffle : bool, default=False
        Whether `fit` goes through the rows of each pass in an order drawn anew.
    random_state : int, RandomState instance or None, default=None
        Shuffles.
    verbose : int, default=0
        Whether to print the mistakes and the mean loss of each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels: the columns of `y`, by name where it is a data frame that has names.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features. Not under a kernel.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the constant, zero without `fit_intercept`. Not under a kernel.
    dual_coef_ : ndarray of shape (n_labels, n_supports)
        Coefficients of the support vectors. Under a kernel only.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Rows with a coefficient; under a precomputed kernel their numbers `(n_supports,)`.
    n_rounds_ : int
        Rounds so far: rows that were learnt.
    n_mistakes_ : int
        Rounds so far in which the ranking had a loss. A tie counts as the worst of its rankings.
    mean_loss_ : float
        Mean loss of the rounds so far, each before its row was learnt; NaN before the first one.
    n_iter_ : int
        Passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    PredtronClassifier : Learns classes, or sets of labels.
    PredtronQueryRanker : Ranks the documents of a query.
    sklrank.online_boosting.AdaOLMR : Boosts rankings of labels that are relevant or not.

    Notes
    -----
    Parameters are read when a model is started, by `fit` or the first `partial_fit`. A row whose
    labels are all of one grade teaches nothing.

    :func:`sklearn.model_selection.cross_val_predict` with ``method="decision_function"`` replaces
    the grades of each column by their places among those of that column, and so trains on other
    grades without a warning. Use ``method="predict"``, which ranks labels by the grades as they
    are; `cross_val_score` and `GridSearchCV` are not affected.

    One pass and the last weights, as printed, is the default. For predictions choose
    ``average=True, max_iter=10, shuffle=True``, and scale the features alike: on the sets
    emotions, scene and yeast that has a rank loss of .17, .09 and .18, where a logistic regression
    for each label has .16, .11 and .19, and as printed it is .21, .11 and .23
    (``benchmarks/predtron.py``).

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
        """Forget what was learnt, then make `max_iter` passes over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; under a precomputed kernel their values with each other.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, 0 or more: grades, or an indicator. Lists of as many labels
            each look like grades: :class:`sklearn.preprocessing.MultiLabelBinarizer` makes an
            indicator of sets.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or if parameters do not go together or with the data; a
            fitted model stays as it was.
        """
        return self._fit_from_scratch(X, y, None)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from each row in order, going on from what was learnt before.

        Rows given in chunks, in one call or across a pickle make the same model, to the bit; under
        a kernel but for the rounding of its values.

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
            If the data are malformed or have other labels than before; the model stays as it was.
        """
        self._partial_fit(X, y, classes)
        return self

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each row, then learn from it (progressive, or prequential, validation).

        The model afterwards is the one that `partial_fit` makes. Scores are those of the weights
        that learn, also with `average`.

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
            Scores, each row's before it was learnt.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        return self._partial_fit(X, y, classes, scored=True)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Higher ranks earlier.
        """
        return self._scores(X)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The position of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples, n_labels)
            1 is best; every row is a permutation.
        """
        return self.predict_ranks(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean NDCG of the rows that have a relevant label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, 0 or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

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

    def _lessons(self, X, y, classes, *, restart):
        X = self._check_rows(X, reset=restart)
        relevance = check_label_relevance(y, X.shape[0])
        n_labels = relevance.shape[1]
        if restart:
            self._start(_label_names(classes, column_names(y), n_labels))
        elif n_labels != len(self.classes_):
            raise ValueError(
                f"y has {n_labels} label columns, but the first call had {len(self.classes_)}; "
                "call fit to start anew"
            )
        elif classes is not None:
            self._check_same_classes(classes)
        check_columns(column_names(y), self.classes_)
        self._check_pairwise(X)
        starts = np.arange(len(relevance) + 1) * n_labels
        return X, self._ranking_lessons(relevance.ravel(), starts)

    def _start(self, classes):
        if self.k is not None and self.k > len(classes):
            raise ValueError(
                f"k={self.k} is more than the {len(classes)} labels of y: leave it None"
            )
        self.classes_ = classes
        self._start_model(len(classes), float(self.fit_intercept))

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
