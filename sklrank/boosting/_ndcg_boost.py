"""NDCG_Boost: document ranking by boosting any classifier to optimize NDCG."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import N_JOBS, Interval, StrOptions
from sklrank.boosting._base import ALL_ROUNDS
from sklrank.boosting._document_ranker import SupervisedDocumentRanker
from sklrank.boosting._model_json import read_model, write_model
from sklrank.boosting._objectives import LogisticObjective, NDCGObjective
from sklrank.boosting._tree_choice import ChoiceData, choose_start
from sklrank.boosting._weak_learners import StartLearner, TreeLearner
from sklrank.metrics import ndcg_score
from sklrank.metrics._conventions import gains_of
from sklrank.tree import HistogramTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

__all__ = ["NDCGBoost"]

# Number of rounds without an increase that `early_stopping=True` waits by default.
DEFAULT_PATIENCE = 10

OBJECTIVES = {"logistic": LogisticObjective, "expected-ndcg": NDCGObjective}
# Learning rates of trees and of classifiers.
TREE_LEARNING_RATE, CLASSIFIER_LEARNING_RATE = 0.5, 1.0

# Appended to the reason to stop if the limit of rounds, not the held-out queries, ended the choice.
MAY_NEED_MORE = "more rounds may lower the objective of held-out queries: raise n_estimators"


class NDCGBoost(SupervisedDocumentRanker):
    r"""NDCG_Boost document ranker: boosting of trees or of any classifier for NDCG.

    The scores :math:`F` of the documents are sums of weak learners, fitted one after another. By
    default, these are regression trees, which decrease a logistic loss of the pairs of documents
    of each of n queries q,

    .. math:: \frac{1}{n} \sum_{q=1}^n \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j)
              \log(1 + \exp(F_j - F_i)),

    where :math:`G_i = 2^{r_i} - 1` is the gain of document i of relevance :math:`r_i`, and
    :math:`Z_q` is the ideal DCG of the query. This is the loss of RankNet [3]_ with the weights of
    ARP-Loss2 [4]_. A leaf adds half of the ratio of two sums over its documents to the scores: the
    negative gradient, and the total weight of the pairs. This is a lower estimate of the step that
    minimizes a bound on the objective in the leaf, as the steps of confidence-rated classifiers
    [2]_.

    Held-out queries decide whether boosting starts from linear scores or from 0, how large the
    trees are, and how many of them are fitted. Linear scores minimize the same objective plus an L2
    penalty. Trees need many rounds to approximate a linear function of many features; if boosting
    starts from one, the trees learn the rest.

    With a classifier as `estimator`, this class implements Algorithm 5 of [1]_. The scores define a
    distribution over rankings, under which document i has the expected rank :math:`1 + A_i`
    (Equation 3.10). Each round decreases a bound on the expected loss of NDCG (Equation 3.11),

    .. math:: \frac{1}{n} \sum_{q=1}^n \frac{1}{Z_q} \sum_i G_i A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)}.

    A document is labeled 1 if its negative gradient (Equation 3.17) is positive, that is, if its
    score should increase, else 0. The weight of the document is the absolute value of the gradient.
    A classifier is fitted to these labels and weights, and its step (Equation 3.15) minimizes a
    bound on the objective.

    Neither objective ever increases. Only pairs with at least one relevant document contribute to
    them, so that the time for the gradients is proportional to the number of relevant documents
    times the number of all documents, summed over the queries.

    Parameters
    ----------
    estimator : HistogramTreeRegressor, classifier or None, default=None
        Weak learner: a tree whose parameters are used in all rounds, or a classifier, which is
        cloned for each round. ``StumpClassifier()`` is the algorithm of [1]_ with compiled stumps;
        with ``criterion="gain"`` they maximize the criterion of [1]_ (Equation 3.18). If None,
        regression trees are used whose size is chosen by held-out queries; see the notes.
    n_estimators : int, default=100
        Maximum number of rounds. If the number of rounds of the default trees was chosen by
        held-out queries, and more rounds might be better, `stop_reason_` ends with "raise
        n_estimators".
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a document of relevance r: :math:`2^r - 1` ("exponential"), r ("linear"), or the
        value of a function of r. It is the gain of the objective, of the validation scores and of
        `score`.
    k : int or None, default=None
        Number of top-ranked documents that matter. The validation scores and `score` are NDCG@k,
        and :math:`Z_q` is the ideal DCG of the first `k` documents, so that queries with more than
        `k` relevant documents weigh more. All pairs of documents remain in the objective, also
        those below rank `k`: if these were left out, as in the truncated LambdaMART, the objective
        would change with the ranking from round to round, and could increase. If None, all
        documents are included.
    objective : {"auto", "logistic", "expected-ndcg"}, default="auto"
        Objective: the pairwise logistic loss, or the bound on the expected loss of NDCG (Equation
        3.11). If "auto", "logistic" is used for trees and "expected-ndcg" for classifiers.
    learning_rate : float or "auto", default="auto"
        Learning rate that multiplies each step, 2 at most. The objective does not increase, except
        with monotonic constraints. With 1, each step of a classifier minimizes a bound on the
        objective. Smaller values need more rounds. If "auto", it is 0.5 for trees and 1 for
        classifiers.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        How the weights are passed to the weak learner: as `sample_weight`, or by fitting it to
        documents that are drawn in proportion to them ("resampling"), as in the experiments of the
        dissertation. If "auto", `sample_weight` is used if the `fit` method of the weak learner
        accepts it, otherwise resampling.
    max_samples : int, float or None, default=None
        Number of documents drawn in each round if the weak learner is fitted by resampling: an int,
        a fraction of all documents, or None for one fifth of them, but at least 20. In each round,
        documents are drawn up to ten times, until the weak learner is better than chance.
    early_stopping : "auto" or bool, default="auto"
        If True, boosting stops when the NDCG of held-out queries, computed with `gain` and `k`, has
        not increased by more than `tol` for `n_iter_no_change` rounds, and `predict` uses the
        rounds up to the largest NDCG, as in LightGBM and XGBoost. If False, `n_estimators` rounds
        are fitted and used. "auto" is the same as True if `n_iter_no_change` is given. Otherwise,
        held-out queries choose the number of rounds of the default trees, which are then fitted to
        all queries (see `estimator`), and `n_estimators` rounds are fitted with another
        `estimator`. If `X_val` is passed to `fit`, its queries take the place of the held-out
        queries. Without early stopping, they are only scored; the start and the size of the default
        trees are also chosen by them.
    n_iter_no_change : int or None, default=None
        Number of rounds of early stopping; see `early_stopping`. None stands for 10 if
        `early_stopping` is True.
    validation_fraction : float, default=0.1
        Fraction of the queries that are held out for early stopping.
    tol : float, default=1e-4
        Tolerance of early stopping; see `early_stopping`.
    warm_start : bool, default=False
        If True, `fit` keeps the rounds of the last call and adds rounds up to `n_estimators`. The
        trees and their number that held-out queries have chosen are kept, too.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of documents and of held-out queries, and the randomness of the
        weak learners.
    verbose : int, default=0
        Verbosity. If 1, print the objective, the step and the validation score, if any, of the
        first nine rounds and of every tenth one; if 2, those of all rounds.
    n_jobs : int or None, default=None
        Number of threads that grow each of the default trees, if there are many documents. The
        ranker does not depend on it. Other trees have a parameter `n_jobs` of their own.

    Attributes
    ----------
    estimators_ : list
        Weak learners. Classifiers predict 1 for documents whose scores should increase, else 0.
        Instances of `HistogramTreeRegressor` predict numbers from -1 to 1. If boosting started from
        linear scores, the first weak learner computes them; its attributes `coef`, `mean`, `low`
        and `high` have an entry for each feature. The score is the sum of the differences of the
        features to their means, multiplied by the coefficients. Values outside the range from low
        to high are replaced by the nearest bound, and missing values by the mean.
    max_leaf_nodes_ : int
        Maximum number of leaves of the trees. Defined only if `estimator` is None.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Step of each weak learner, by which its predictions are multiplied. That of trees is half of
        the learning rate, and that of linear scores is 1.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Objective before the first round and after each round.
    stop_reason_ : str
        Reason why boosting stopped.
    validation_scores_ : ndarray of shape (n_rounds,)
        NDCG of the held-out queries or of `X_val`, computed with `gain` and `k`, after each round;
        empty without early stopping and `X_val`.
    best_n_rounds_ : int
        Number of rounds that `predict` uses. With early stopping, these are the rounds up to the
        first one with the largest validation score; otherwise all rounds. The later rounds are in
        `estimators_`, too, and a warm start adds rounds to them.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the total gain of the trees and the linear scores, or mean importance over other
        weak learners, weighted by the steps. Defined only if the weak learners have
        `feature_importances_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    AdaRank : Document ranker that weights queries.
    RankBoost : Document ranker that weights pairs of documents, independently of their ranks.
    RankingRefiner : Document ranker that improves a given ranking with few judgements.
    sklrank.model_selection.QueryKFold : Cross-validation whose folds consist of whole queries.

    Notes
    -----
    If `estimator` is None, the start of boosting, the trees and the number of rounds are chosen as
    follows.

    1. Trees of 2, 8 and 31 leaves are boosted on four fifths of the queries, from linear scores and
       from scores of 0, and the objective of the other queries is computed after each round.
    2. With fewer than 15,000 documents, several of the five parts of the queries are held out in
       turn, up to all of them. Of more than 60,000 documents, only queries with as many documents
       are used.
    3. The start and the number of rounds with the smallest objective of the held-out queries are
       used for all queries, with the smallest trees whose objective is within a standard error of
       it.
    4. If fewer than five queries have documents of different relevance, nothing is held out, the
       trees have 8 leaves, and boosting starts from 0.

    In small data sets these trees also differ from ``HistogramTreeRegressor()`` in
    `min_samples_leaf`, a hundredth of the number of documents, from 1 to 20, and in `max_bins`, a
    hundredth of it, from 32 to 255.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 3.
    .. [2] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.
    .. [3] C. Burges et al., "Learning to rank using gradient descent",
       ICML 2005.
    .. [4] X. Wang et al., "The LambdaLoss framework for ranking metric optimization",
       CIKM 2018.

    Examples
    --------
    Two queries of four documents, whose relevance depends on the second feature.

    >>> from sklrank.boosting import NDCGBoost
    >>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
    >>> y = [2, 0, 1, 0, 0, 1, 2, 0]
    >>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
    >>> ranker = NDCGBoost(n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> bool((ranker.loss_curve_[1:] <= ranker.loss_curve_[:-1]).all())
    True
    """

    _parameter_constraints = {
        **SupervisedDocumentRanker._parameter_constraints,
        "gain": [StrOptions({"exponential", "linear"}), callable],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "objective": [StrOptions({"auto", *OBJECTIVES})],
        "learning_rate": [Interval(Real, 0, 2, closed="right"), StrOptions({"auto"})],
        "early_stopping": [StrOptions({"auto"}), "boolean"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        gain: Literal["exponential", "linear"] | Callable = "exponential",
        k: int | None = None,
        objective: Literal["auto", "logistic", "expected-ndcg"] = "auto",
        learning_rate: float | Literal["auto"] = "auto",
        weighting: Literal["auto", "sample_weight", "resampling"] = "auto",
        max_samples: int | float | None = None,
        early_stopping: Literal["auto"] | bool = "auto",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gain = gain
        self.k = k
        self.objective = objective
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.max_samples = max_samples
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    _bins = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.allow_nan or self._has_trees()
        return tags

    def _learning_rate(self):
        if self.learning_rate != "auto":
            return self.learning_rate
        return TREE_LEARNING_RATE if self._has_trees() else CLASSIFIER_LEARNING_RATE

    def _has_trees(self):
        return self.estimator is None or isinstance(self.estimator, HistogramTreeRegressor)

    def _make_objective(self, y, queries):
        name = self.objective
        if name == "auto":
            name = "logistic" if self._has_trees() else "expected-ndcg"
        return OBJECTIVES[name](gains_of(self.gain, y), queries, self.k)

    def _validation_metric(self, y, qid):
        return partial(ndcg_score, y, qid=qid, k=self.k, gain=self.gain)

    def _rounds_without_change(self):
        if not self.early_stopping:
            return None
        if self.early_stopping == "auto":
            return self.n_iter_no_change
        return DEFAULT_PATIENCE if self.n_iter_no_change is None else self.n_iter_no_change

    _without_early_stopping = "early_stopping=False"

    def _start_rounds(self):
        super()._start_rounds()
        if not self.estimators_:
            vars(self).pop("_tree", None)
        elif self.estimator is None and not hasattr(self, "_tree"):
            raise ValueError(
                "estimator=None chooses its trees before the first round, but warm_start=True "
                "keeps rounds of another estimator; pass an estimator, such as "
                "HistogramTreeRegressor(), or warm_start=False"
            )

    def _chooses_rounds(self):
        """Return True if held-out queries choose the number of rounds before the first one."""
        return self.estimator is None and self.early_stopping == "auto" and not self._stops_early

    def _start_boosting(self, X, y, queries, validation):
        if self.estimator is None and not self.estimators_:
            choice, self._bins = choose_start(
                self._choice_data(X, y, queries),
                validation,
                n_rounds=self.n_estimators,
                learning_rate=self._learning_rate(),
                n_jobs=self.n_jobs,
                random_state=self._random_state,
            )
            self._penalty, self._tree, self._may_need_more = (
                choice.penalty,
                choice.tree,
                choice.may_need_more,
            )
            self._n_rounds = choice.n_rounds(self.n_estimators)

    def _choice_data(self, X, y, queries):
        return ChoiceData(X, y, queries, self._make_objective, self._split_seed)

    def _boost_samples(self, X, y, queries, early_stopping=None):
        objective = self._make_objective(y, queries)
        learner = self._make_learner(X, objective)
        if self.estimator is None and self._penalty is not None and not self.estimators_:
            [start] = self._choice_data(X, y, queries).fit_linear([self._penalty])
            objective.set_scores(np.zeros(len(y)))
            largest = objective.value
            objective.set_scores(start.predict(X))
            # Linear scores that were fitted to a part of the queries could increase the objective.
            if objective.value < largest:
                learner = StartLearner(start, learner)
        self._boost(objective, learner, early_stopping)

    def _n_rounds_to_fit(self):
        if not self._chooses_rounds() or not self._n_rounds:
            return self.n_estimators
        return min(self.n_estimators, self._n_rounds)

    def _reason_for_all_rounds(self):
        reason = ALL_ROUNDS
        if not self._chooses_rounds():
            return reason
        if self._n_rounds_to_fit() < self.n_estimators:
            reason = "held-out queries chose this number of rounds"
        return f"{reason}; {MAY_NEED_MORE}" if self._may_need_more else reason

    def _make_learner(self, X, objective):
        if isinstance(self.estimator, HistogramTreeRegressor):
            self.estimator._validate_params()
            bins = self.estimator._bin(X, self._random_state)
            return TreeLearner(self.estimator, X, bins)
        if self.estimator is not None:
            return super()._make_learner(X, objective)
        # The samples have been binned for the choice of the tree, unless this is a warm start.
        bins, self._bins = self._bins, None
        if bins is None:
            bins = self._tree._bin(X, self._random_state)
        return TreeLearner(self._tree, X, bins)

    def export_json(self) -> str:
        """Return the fitted model as JSON, from which other programs can compute the scores.

        Supported are models of trees and stumps, that is, an `estimator` that is None, a
        `HistogramTreeRegressor`, a `HistogramTreeClassifier` or a `StumpClassifier`. The score of a
        document is the sum of its linear terms and of the value of one leaf of each tree. The text
        is a JSON object with the following entries:

        - `format`: ``"sklrank.additive"``; `version`: 1.
        - `n_features`: the number of features; `feature_names`: a list of strings, or null.
        - `linear`: null, or a list of terms with the entries `feature` (an index), `coef`, `mean`,
          `low`, `high` and `gain`. The value x of the feature adds ``coef * (min(max(x, low), high)
          - mean)`` to the score, and a missing value adds 0.
        - `trees`: a list of trees. A tree is a list of nodes, of which the first one is the root. A
          leaf has the entry `value`. Any other node has the entries `feature`; `left`, `right` and
          `missing`, the index of the next node for small, large and missing values; and `gain`, the
          decrease of the objective by the split, times 2 (for classifiers, its part of the step,
          in proportion to the gains of the tree). A numerical feature has a `threshold`: values up
          to it are small, and all values if it is null. A categorical feature has `left_categories`
          and `right_categories`; other values are missing. If its `single_precision` is true, round
          the value to single precision before it is compared with them. If the documents are in
          single precision, round the categories, too. The `count` of a node is its number of
          training documents.

        ``examples/exported_ranker.py`` computes scores and Shapley values from this text.

        Returns
        -------
        str
            The text.

        Raises
        ------
        ValueError
            If the weak learners are neither trees nor stumps.
        """
        return write_model(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a fitted ranker whose scores are those of an exported model.

        Parameters
        ----------
        text : str
            A text that :meth:`export_json` returned.

        Returns
        -------
        NDCGBoost
            A ranker whose `estimators_` are trees, preceded by linear scores if the model has them.
            Its parameters are not those of the exported ranker, except for `n_estimators`.

        Raises
        ------
        ValueError
            If the text is not such a model.
        """
        n_features, names, models = read_model(text)
        ranker = cls(HistogramTreeRegressor(), max(1, len(models)))
        ranker.n_features_in_, ranker.estimators_ = n_features, models
        if names is not None:
            ranker.feature_names_in_ = names
        ranker.estimator_weights_ = np.ones(len(models))
        ranker.loss_curve_ = ranker.validation_scores_ = np.empty(0)
        ranker.stop_reason_ = "the model was read from JSON"
        ranker._fitted_with_qid = False
        # For a warm start.
        ranker._random_state, ranker._held_out_fraction = np.random.RandomState(), 0.0
        ranker._split_seed, ranker._patience = 0, None
        return ranker

    @property
    def max_leaf_nodes_(self) -> int:
        """Maximum number of leaves of the default trees."""
        check_is_fitted(self)
        return self._tree.max_leaf_nodes
