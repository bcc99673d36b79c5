"""PredtronLabelRanker and PredtronQueryRanker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklrank._checks import (
    Queries,
    check_columns,
    check_label_relevance,
    check_query_weights,
    check_relevance,
    check_scored,
    check_weights,
    column_names,
    is_qid_given,
    named_columns,
    warn_of_steep_gains,
)
from sklrank._estimators import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _num_samples,
    shares_text,
)
from sklrank._online import BaseOnlineClassifier, lists_of, of_online
from sklrank._rankers import DocumentRankerMixin, LabelRankerMixin, mean_ndcg, with_names
from sklrank._typing import MirrorMap, RankingLoss, Self
from sklrank.linear_model._predtron._base import TEXTS, BasePredtron, BaseSamplePredtron
from sklrank.linear_model._predtron._ranking_losses import (
    LOSS_TEXT,
    OBJECT_TEXT,
    RANKING_LOSSES,
    REPRESENTATIONS,
    NDCGLoss,
    RankingLossName,
    RepresentationName,
    discounts_of,
    gains_of,
    make_ranking_loss,
    position_values,
    task_of,
)

# Texts that the docstrings of the two rankers share.
RANKING_TEXTS = TEXTS | {
    "idea_and_parameters": r"""
The step moves the scores away from the loss-augmented ranking :math:`\tilde\sigma`, the solution of
a linear assignment problem ([1]_, Lemma 3), and towards the correct ranking :math:`\sigma_y`, which
has the greatest inner product with the scores among those without loss.

Parameters
----------
{ranking_loss}
{update}
{mirror_map}
{average_and_kernel}
""",
    "ranking_loss": LOSS_TEXT,
    "of_object": OBJECT_TEXT,
    "mirror_map": r"""
mirror_map : str or callable, default="euclidean"
    Map from the sum of the steps to the weights, as in :class:`PredtronClassifier`. For one vector
    of weights, "group-norm" is identical to "p-norm", and "schatten" to "euclidean".
learning_rate : float, default=1.0
    Learning rate :math:`\eta` that multiplies each step. The rates of the loss bounds of [1]_
    (Theorems 1, 14 and 15) are usually small; see :class:`PredtronClassifier`.
""",
}


class BasePredtronRanker(BasePredtron):
    """Base of a Predtron whose predictions are rankings."""

    _parameter_constraints: dict = {
        "loss": [StrOptions(set(RANKING_LOSSES)), HasMethods(["gains", "discounts"])],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "representation": [StrOptions(set(REPRESENTATIONS)), callable],
        "power": [Interval(Real, 0, None, closed="neither")],
        **BasePredtron._parameter_constraints,
    }

    def _start_ranking(self):
        self._loss = make_ranking_loss(self.loss, self.k)
        self._representation = self.representation, self.power

    def _make_ranking_task(self, relevance, starts):
        """Return the task in which the items `starts[i]:starts[i + 1]` belong to round i."""
        if isinstance(self._loss, NDCGLoss):
            warn_of_steep_gains(relevance, "Divide it, or pass a loss of other gains")
        gains = gains_of(self._loss, relevance, starts)
        sizes = np.unique(np.diff(starts))
        discounts = _evaluate_positions("loss", partial(discounts_of, self._loss), sizes)
        representation, power = self._representation
        values_of = partial(position_values, representation, power=power)
        values = _evaluate_positions("representation", values_of, sizes)
        return task_of(self._loss)(gains, starts, discounts, values, self._loss_driven)


@of_online
@shares_text(**RANKING_TEXTS)
class PredtronLabelRanker(BasePredtronRanker, BaseSamplePredtron, LabelRankerMixin):
    r"""Predtron label ranker: a perceptron for NDCG or precision at the top.

    The model ranks the labels of each sample by graded relevance. A ranking that puts label i at
    the position :math:`\sigma(i)` is represented by the unit vector of the entries
    :math:`f(\sigma(i)) / Z` with a strictly decreasing function :math:`f`. The predicted ranking
    has the greatest inner product with the scores :math:`t = W x`, so it sorts the labels by score.
    If its loss is not zero, the weights take the step ([1]_, Algorithm 1 and Section 5)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle.

    {idea_and_parameters}
    {intercept_and_passes}

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Names of the columns of `y`: 0, ..., n_labels - 1 unless `y` is a data frame with column
        names or `classes` was passed.
    {weights}
    {fitted}

    See Also
    --------
    PredtronClassifier : Predicts class labels or label sets.
    PredtronQueryRanker : Ranks the documents of a query.
    sklrank.online_boosting.AdaOLMR : Learns rankings with binary relevance by online boosting.

    Notes
    -----
    {reading}

    {of_object}

    A sample whose labels have equal relevance does not change the model.

    :func:`sklearn.model_selection.cross_val_predict` with ``method="decision_function"`` replaces
    the grades of each column by their indices among its sorted grades, and so trains on other
    grades without a warning. ``method="predict"``, `cross_val_score` and `GridSearchCV` do not.

    {as_published}
    For more accurate predictions, ``average=True, max_iter=10`` and features of similar scale are
    recommended.

    {references}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.linear_model import PredtronLabelRanker
    >>> X, Y = make_multilabel_classification(1000, random_state=0)
    >>> ranker = PredtronLabelRanker(average=True, max_iter=5, random_state=0)
    >>> ranker = ranker.fit(X[:500], Y[:500])
    >>> ranker.predict(X[500:502])
    array([[1, 2, 4, 3, 5],
           [5, 2, 1, 3, 4]])
    >>> round(ranker.score(X[500:], Y[500:]), 2)
    0.96
    """

    _has_label_columns = True
    drop_classes = BaseOnlineClassifier.drop_classes
    # The targets of the checks have one label, which is not ranked.
    _failed_checks = {}
    _parameter_constraints: dict = {
        **BasePredtronRanker._parameter_constraints,
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: RankingLossName | RankingLoss = "ndcg",
        k: int | None = None,
        representation: RepresentationName | Callable = "power",
        power: float = 1.1,
        update: Literal["loss-augmented", "loss-driven"] = "loss-augmented",
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float = 1.0,
        average: bool = False,
        kernel: str | Callable | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
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
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @with_names
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the scores of the labels.

        {samples_and_returns}
        ndarray of shape (n_samples, n_labels)
            Scores of the labels. Labels with higher scores are ranked earlier.
        """
        return self._scores(X)

    @with_names
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the position of each label.

        {samples_and_returns}
        ndarray of int of shape (n_samples, n_labels)
            Positions of the labels. 1 is the best position, and each row is a permutation.
        """
        return self.predict_ranks(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean NDCG over the samples that have a relevant label.

        {samples}
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Relevance of the labels, at least 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            Mean NDCG at `k`, from 0 to 1; see :func:`sklrank.metrics.ndcg_score`. Rankers of
            different k have different metrics: a search over k needs a scorer with a k of its own,
            ``scoring=clone(ndcg_scorer).set_params(k=10)``. The gain is exponential; if `y` has
            grades above 31, it is the number of distinct lower grades in `y`.

        {value_error}
            If the data are malformed, or no sample has a relevant label.
        """
        scores = self._scores(X)
        check_scored(self, X, y, sample_weight=sample_weight)
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
        self._warn_of_rows(X, first=restart)
        relevance = check_label_relevance(y, X.shape[0])
        n_labels = relevance.shape[1]
        if restart:
            self._start_model(named_columns(classes, column_names(y), n_labels))
        columns = None if restart else self._named_columns(classes, column_names(y), n_labels)
        if n_labels != len(self.classes_):
            raise ValueError(
                f"y has {n_labels} label columns, but the first call had {len(self.classes_)}: "
                "name the columns by `classes`, which may have new labels, or call fit to start a "
                "new model"
            )
        if columns is None:
            check_columns(column_names(y), self.classes_)
        else:
            relevance = relevance[:, columns]
        starts = np.arange(len(relevance) + 1) * n_labels
        return X, self._make_ranking_task(relevance.ravel(), starts), None

    def _start_model(self, classes):
        if self.k is not None and self.k > len(classes):
            raise ValueError(
                f"k={self.k} is more than the {len(classes)} labels of y: leave it None"
            )
        self.classes_ = classes
        self._start_ranking()

    @property
    def _n_scores(self):
        return len(self.classes_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.target_tags.positive_only = True
        return tags


@of_online
@shares_text(**RANKING_TEXTS)
class PredtronQueryRanker(BasePredtronRanker, DocumentRankerMixin):
    r"""Predtron query ranker: a perceptron for NDCG or precision at the top.

    The model ranks the documents of each query, which are rows of X. One vector of weights scores
    them, :math:`t = X w`. A ranking that puts document i at the position :math:`\sigma(i)` is
    represented by the unit vector of the entries :math:`f(\sigma(i)) / Z` with a strictly
    decreasing function :math:`f`. The predicted ranking has the greatest inner product with the
    scores, so it sorts the documents by score. If its loss is not zero, the weights take the step
    ([1]_, Section 4)

    .. math:: w \leftarrow w - \eta \, X^T (rep(\tilde\sigma) - rep(\sigma_y)), \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle.

    {idea_and_parameters}
    {passes}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features. Defined only if the model has no kernel.
    intercept_ : ndarray of shape (1,)
        Always zero, since the model has no intercept. Defined only if the model has no kernel.
    {fitted}

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a sample.
    sklrank.boosting.HistGradientBoostingRanker : Boosted trees, fitted to the whole training set.
    sklrank.model_selection.QueryKFold : Cross-validator that does not split queries.

    Notes
    -----
    {reading}

    {of_object}

    A query whose documents have equal relevance does not change the model. There is no intercept,
    since it would change all scores of a query equally.

    {as_published}
    For more accurate predictions, ``representation="reciprocal", learning_rate=0.001, average=True,
    max_iter=20`` and features standardized within each query are recommended.

    {references}

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.linear_model import PredtronQueryRanker
    >>> rng = np.random.RandomState(0)
    >>> X, qid = rng.randn(500, 5), np.repeat(np.arange(50), 10)
    >>> y = np.digitize(X @ [2, -1, 0, 0, 1], [1, 3])
    >>> ranker = PredtronQueryRanker(average=True, max_iter=5, random_state=0)
    >>> ranker = ranker.fit(X[:300], y[:300], qid[:300])
    >>> round(ranker.score(X[300:], y[300:], qid[300:]), 2)
    1.0
    """

    __metadata_request__partial_fit = {"qid": True}
    _n_scores = 1

    def __init__(
        self,
        *,
        loss: RankingLossName | RankingLoss = "ndcg",
        k: int | None = None,
        representation: RepresentationName | Callable = "power",
        power: float = 1.1,
        update: Literal["loss-augmented", "loss-driven"] = "loss-augmented",
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float = 1.0,
        average: bool = False,
        kernel: str | Callable | None = None,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
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
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model from scratch with `max_iter` passes over the queries.

        {rows}
        y : array-like of shape (n_samples,)
            Relevance of the documents, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order; queries are in the order of their first documents.
            If None, all documents belong to one query, which is slow for thousands of documents.
        query_weight : array-like of shape (n_samples,), default=None
            Number of rounds of the query of each document in a pass, the same for all documents of
            a query; fractions are as in :meth:`PredtronClassifier.fit`. If None, each query has
            one.

        {returns_self}

        {value_error}
            If the data are malformed, or parameters do not go with each other or the data. Then a
            fitted model does not change.
        """
        return self._fit_from_scratch(X, y, qid, weights=query_weight)

    def _weights_of_rounds(self, weights, n_rounds, X, y, qid):
        queries = Queries.from_qid(qid, _num_samples(X))
        firsts = np.sort(queries.order[queries.starts[:-1]])
        return check_query_weights(weights, queries)[queries.codes[firsts]], "query_weight"

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Continue training with each query in order.

        All documents of a query must be passed in one call: a query id that occurs again is a new
        query. Passing the queries in one call or in several calls gives bit-identical models, or
        with a kernel models that are equal up to rounding errors of kernel values. Pickling the
        model between calls does not change the result.

        A call that is interrupted by Ctrl-C (KeyboardInterrupt) or by a lack of memory
        (MemoryError) has learned all samples or none.

        {rows}
        y : array-like of shape (n_samples,)
            Relevance of the documents, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Query of each document. If None, all documents belong to one query.

        {returns_or_raises}
            If the data are malformed. In this case, the model does not change.
        """
        self._partial_fit(X, y, qid)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Compute the scores of the documents.

        {rows_and_returns}
        ndarray of shape (n_samples,)
            Scores of the documents. Documents with higher scores are ranked earlier in a query.
        """
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return super().coef_[0]

    def _make_task(self, X, y, qid, *, restart):
        X = self._check_rows(X, reset=restart)
        self._warn_of_rows(X, first=restart)
        y = check_relevance(y, X.shape[0])
        queries = Queries.from_qid(qid, len(y))
        if restart:
            self._start_ranking()
        # A call that continues the training has other queries.
        self._fitted_with_qid = is_qid_given(qid, len(y)) or not restart
        # The rounds are in the order of the first documents of the queries, whatever their ids are.
        order = np.argsort(queries.order[queries.starts[:-1]])
        starts, items = lists_of(queries.starts, order)
        documents = queries.order[items]
        task = self._make_ranking_task(y[documents], starts)
        in_order = np.array_equal(documents, np.arange(len(documents)))
        return X if in_order else X[documents], task, starts


def _evaluate_positions(name, values_of, sizes):
    """Return the values at the positions of the longest list, `(max(sizes),)`.

    Raise ValueError if the value at a position depends on the number of positions.
    """
    longest = max(sizes, default=1)
    values = values_of(longest)
    # An additional size is checked, since another call may have longer lists.
    for size in (*sizes, longest + 1):
        if not np.array_equal(values_of(size)[:longest], values[:size]):
            raise ValueError(
                f"{name} must have the same value at a position for any number of positions, got "
                f"different values for {size} and {longest} positions"
            )
    return values
