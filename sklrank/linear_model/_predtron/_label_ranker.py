"""PredtronLabelRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._base_online import BaseOnline
from sklrank._call_guard import exclusive_call
from sklrank._relevance import check_label_relevance
from sklrank._sklearn import _fit_context, available_if
from sklrank._validation import (
    check_columns,
    check_label_names,
    check_weights,
    column_names,
    labels_of_columns,
)
from sklrank.base import LabelRankerMixin, mean_ndcg
from sklrank.linear_model._predtron._base import can_partial_fit, rows_are_rounds
from sklrank.linear_model._predtron._base_ranker import PredtronRankerMixin

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap, RankingLoss

__all__ = ["PredtronLabelRanker"]


class PredtronLabelRanker(PredtronRankerMixin, LabelRankerMixin, BaseOnline):
    r"""Predtron label ranker: a perceptron for NDCG or precision at the top.

    The model ranks the labels of each sample by graded relevance. A ranking that puts label i at
    the position :math:`\sigma(i)` is represented by the unit vector of the entries
    :math:`f(\sigma(i)) / Z` with a strictly decreasing function :math:`f`. The predicted ranking
    has the greatest inner product with the scores :math:`t = W x`, so it sorts the labels by score.
    If its loss is not zero, the weights take the step ([1]_, Algorithm 1 and Section 5)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle.

    The step moves the scores away from the loss-augmented ranking :math:`\tilde\sigma`, which is
    found by solving a linear assignment problem ([1]_, Lemma 3). It moves them towards the correct
    ranking :math:`\sigma_y`, which has the greatest inner product with the scores among the
    rankings without loss.

    Parameters
    ----------
    loss : {"ndcg", "precision"} or object, default="ndcg"
        Loss of a ranking. It is 1 minus one of the following measures:

        - "ndcg": the normalized discounted cumulative gain, with the gains :math:`2^y - 1` and the
          discounts :math:`1 / \log_2(1 + j)` at position j;
        - "precision": the precision at `k`, divided by its greatest possible value. The relevant
          labels are those with :math:`y > 0`;
        - an object that defines the sum of gains times discounts, divided by its greatest possible
          value. Its method ``gains(relevance)`` returns the gains for an array of relevance values
          of shape (n_rankings, n_items). Its method ``discounts(n)`` returns the discounts at the
          positions 1 to n, which must be nonnegative and nonincreasing and must not depend on n.
    k : int or None, default=None
        Number of top-ranked labels to include in the loss, and in the NDCG that `score` returns. If
        None, all labels are included. `k` must be given for "precision", and must be None if `loss`
        is an object.
    representation : {"power", "linear", "reciprocal"} or callable, default="power"
        The strictly decreasing function :math:`f`. It is :math:`-j^{power}` for "power",
        :math:`-j` for "linear" and :math:`1 / j` for "reciprocal". A callable maps an array of
        positions to the values of :math:`f`. At positions where :math:`f` decreases faster, smaller
        differences between the scores suffice ([1]_, Lemma 4).
    power : float, default=1.1
        Exponent of the "power" representation. It is ignored for other representations.
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Step of the weights. "loss-augmented" is the step above. "loss-driven" is the step of
        Predtron.LD ([1]_, Algorithm 2): the prediction itself takes the place of
        :math:`\tilde\sigma`, and the step is multiplied by the loss :math:`L` of the prediction.
    mirror_map : str or object, default="euclidean"
        Map from the sum of the steps to the weights: "euclidean", "p-norm", "group-norm",
        "schatten", "entropy", "positive" or an object. See :class:`PredtronClassifier` for their
        descriptions.
    learning_rate : float or "theory", default=1.0
        Learning rate :math:`\eta` that multiplies each step. "theory" is the rate of [1]_, Theorems
        1, 14 and 15, for the samples of all rounds up to the current one. It is usually small.
    average : bool, default=False
        Whether to predict with the mean of the weights over the rounds (averaged perceptron).
    kernel : str, callable or None, default=None
        If None, the model learns weights of the features. Otherwise, it learns dual coefficients
        of support vectors; see :class:`PredtronClassifier` for the possible values.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of the kernels that are given by name. If `gamma` is None, ``1 / n_features`` is
        used.
    budget : int or None, default=None
        Maximum number of support vectors of a model with a kernel. If it is exceeded, the oldest
        support vectors are removed. If None, the number is not limited. `budget` is ignored if
        `kernel` is None.
    fit_intercept : bool, default=True
        Whether to add a constant feature of value one. With a kernel, one is added to the kernel
        values instead.
    max_iter : int, default=1
        Number of passes over the samples in `fit`; `partial_fit` always makes one pass.
    shuffle : bool, default=False
        Whether `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Controls the order of the samples if `shuffle` is True.
    verbose : int, default=0
        If positive, the number of mistakes and the mean loss of each pass are printed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Labels, which are the names of the columns of `y`. They are 0, ..., n_labels - 1 unless `y`
        is a data frame with column names or `classes` was passed.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features. Defined only if the model has no kernel.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the constant feature, which are zero if `fit_intercept` is False. Defined only
        if the model has no kernel.
    dual_coef_ : ndarray of shape (n_labels, n_supports)
        Dual coefficients of the support vectors. Defined only if the model has a kernel.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Samples that have dual coefficients. With a precomputed kernel, the indices of these
        samples, of shape (n_supports,).
    n_rounds_ : int
        Number of rounds that the model has been trained on. Each round uses one sample.
    n_mistakes_ : int
        Number of these rounds in which the loss of the predicted ranking was not zero. Among tied
        rankings, the one with the greatest loss is the prediction.
    mean_loss_ : float
        Mean loss of the predictions that were made in these rounds, before the step of each round.
        It is NaN before the first round.
    n_iter_ : int
        Number of passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    PredtronClassifier : Predicts class labels or label sets.
    PredtronQueryRanker : Ranks the documents of a query.
    sklrank.online_boosting.AdaOLMR : Learns rankings with binary relevance by online boosting.

    Notes
    -----
    The parameters are read in `fit` and, if the model is not fitted, in the first call of
    `partial_fit` or `progressive_fit`. Later changes do not affect the model until `fit` is called.

    A sample whose labels have equal relevance does not change the model.

    :func:`sklearn.model_selection.cross_val_predict` with ``method="decision_function"`` replaces
    the grades of each column by their indices among the sorted grades of that column. So the model
    is trained on other grades, without a warning. ``method="predict"`` does not change the grades.
    `cross_val_score` and `GridSearchCV` are not affected.

    The default parameters follow the published algorithm, which makes one pass over the samples and
    predicts with unaveraged weights. The mistake bounds of [1]_ refer to these weights. For more
    accurate predictions, ``average=True, max_iter=10, shuffle=True`` and features of similar scale
    are recommended. With these parameters, the rank loss on the data sets emotions, scene and yeast
    is .17, .09 and .18. With the default parameters it is .21, .11 and .23, and with a logistic
    regression for each label .16, .11 and .19 (``benchmarks/predtron.py``).

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

    _has_label_columns = True
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
    @exclusive_call
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch with `max_iter` passes over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or the kernel matrix `(n_samples, n_samples)` if the kernel is precomputed.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, at least 0: grades, or an indicator matrix. Lists of labels
            must be converted by :class:`sklearn.preprocessing.MultiLabelBinarizer`, since lists of
            equal lengths would be interpreted as grades.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or if parameters are not compatible with each other or with
            the data. In this case, a fitted model does not change.
        """
        return self._fit_from_scratch(X, y, None)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue training with each sample in order.

        Without a kernel, passing the samples in one call or in several calls gives bit-identical
        models. With a kernel, the models are equal up to rounding errors of the kernel values.
        Pickling the model between calls does not change the result.

        A call that is interrupted by Ctrl-C (KeyboardInterrupt) or by a lack of memory
        (MemoryError) has learned all samples or none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, at least 0.
        classes : array-like of shape (n_labels,), default=None
            Names of the columns of `y`, given in the first call. If None, they are the column names
            of `y` if it is a data frame with column names that are strings, and otherwise
            0, ..., n_labels - 1.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or if their labels differ from those of the first call. In
            this case, the model does not change.
        """
        self._partial_fit(X, y, classes)
        return self

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is the same as after `partial_fit`. The scores are computed with the
        current weights, even if `average` is True.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, at least 0.
        classes : array-like of shape (n_labels,), default=None
            See `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores of each sample before the model learned from it.

        Raises
        ------
        ValueError
            See `partial_fit`.
        """
        return self._partial_fit(X, y, classes, return_scores=True)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the scores of the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores of the labels. Labels with higher scores are ranked earlier.
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
            Positions of the labels. 1 is the best position, and each row is a permutation.
        """
        return self.predict_ranks(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean NDCG over the samples that have a relevant label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, at least 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            Mean NDCG at `k`, from 0 to 1; see :func:`sklrank.metrics.ndcg_score`. The gain is
            exponential; if `y` has grades so large that it would overflow (about 1000), the gain of
            a label is the number of distinct lower grades in `y`.

        Raises
        ------
        ValueError
            If the data are malformed, or no sample has a relevant label.
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
        return mean_ndcg(
            y.ravel(),
            scores.ravel(),
            item="label",
            group="sample",
            qid=rows,
            k=self.k,
            sample_weight=weights,
        )

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
