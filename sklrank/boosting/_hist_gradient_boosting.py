"""Document ranking by boosted histogram trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklrank._estimator import failed_weight_checks
from sklrank._queries import Queries, check_relevance
from sklrank._sklearn import HasMethods, Interval, StrOptions, _fit_context, print_progress
from sklrank._validation import check_rows, check_weights, is_frame, unchanged_on_error
from sklrank.boosting._click_models import estimate_relevance
from sklrank.boosting._document_ranker import (
    DocumentTarget,
    SupervisedDocumentRanker,
    explains_peer_names,
    of_document_rankers,
    split_queries,
)
from sklrank.boosting._feature_columns import (
    REMEDY,
    CategoryEncoder,
    find_categorical,
    warn_if_untransformed,
)
from sklrank.boosting._linear_scores import LinearScorer
from sklrank.boosting._model_json import ModelExports
from sklrank.boosting._objectives import (
    LOSSES,
    FunctionObjective,
    from_smallest,
    loss_gains,
    mean_rank_correlation,
)
from sklrank.boosting._tree_race import SCORERS, Race, TreeLearner, make_judge, scores_of
from sklrank.tree import HistogramTreeRegressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MaxFeatures

OF_TREES = HistogramTreeRegressor._parameter_constraints


def categorical_mask(given, n_features):
    """Return whether each feature is categorical, of indices, a mask or None."""
    return HistogramTreeRegressor(categorical_features=given)._categorical_mask(n_features)


class HistGradientBoostingRanker(ModelExports, SupervisedDocumentRanker):
    r"""Document ranker of boosted regression trees that are grown from histograms of the features.

    The scores :math:`F` of the documents are linear scores, if these help, plus the values of
    trees, which are fitted one after another, as in scikit-learn's `HistGradientBoostingRegressor`.
    By default, they decrease a logistic loss of the pairs of documents of each of n queries q,

    .. math:: \frac{1}{n} \sum_{q=1}^n \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j)
              \log(1 + \exp(F_j - F_i)),

    where :math:`G_i = 2^{r_i} - 1` is the gain of document i of relevance :math:`r_i`, and
    :math:`Z_q` is the ideal DCG of the query. This is the loss of RankNet [1]_ with the weights of
    ARP-Loss2 [2]_. A leaf adds half of the ratio of two sums over its documents to the scores: the
    negative gradient, and the total weight of the pairs. This is a lower estimate of the step that
    minimizes a bound on the loss in the leaf, as the steps of confidence-rated classifiers [3]_.
    The loss never increases, except with monotonic constraints; in queries of more than 300
    relevant documents, scores are rounded, so that this holds up to rounding.

    Held-out queries decide whether boosting starts from linear scores or from 0, how large the
    trees are, and how many of them are fitted; see the notes. Linear scores minimize the same loss
    plus an L2 penalty. Trees need many rounds to approximate a linear function of many features; if
    boosting starts from one, the trees learn the rest.

    Parameters
    ----------
    loss : str or callable, default="logistic"
        Loss. The time of all of them grows with the number n of documents of a query at most as
        :math:`n \log n`, if there are more than 300 relevant documents.

        - "logistic": the logistic loss of pairs above.
        - "lambda": the same, where each pair is also weighted by the difference of the discounts of
          the current ranks of its documents, so that it has the weight of the NDCG that depends on
          it: LambdaMART [5]_. It changes from round to round, and may increase.
        - "expected-ndcg": the bound on the expected loss of NDCG of :class:`NDCGBoost` ([4]_,
          Equation 3.11).
        - "xe-ndcg": the cross entropy of the shares of the documents in the gains of their query
          and of the softmax of their scores [6]_.
        - "spearman": the squared error of the scores as predictions of the ranks within the query,
          divided by that of equal scores. It is recommended for real-valued relevance, which may be
          negative; `gain` is not used. Held-out queries are judged by 1 minus the rank correlation
          of Spearman, which is also `score`.
        - a function ``loss(y, scores, query)`` of three arrays of shape `(n_samples,)`, where
          `query` has the indices of the queries. It returns the gradient and the positive hessian,
          two such arrays. As its value is not known, nothing is chosen by held-out queries unless
          `scoring` is a metric.
    learning_rate : float, default=0.5
        Learning rate that multiplies the values of the leaves, 2 at most. Smaller values need more
        trees.
    max_iter : int, default=100
        Maximum number of trees.
    max_leaf_nodes : "auto" or int, default="auto"
        Maximum number of leaves of each tree, at least 2. If "auto", it is 2, 8 or 31.
    max_depth : int or None, default=None
        Maximum number of splits from the root of a tree to a leaf; None for no limit.
    min_samples_leaf : "auto" or int, default="auto"
        Minimum number of documents in each leaf. If "auto", it is 20, or a hundredth of the
        documents if there are fewer than 2000.
    l2_regularization : float, default=0.0
        Number of documents of gradient 0, of mean weight, that are added to each leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features on which a tree may split, which are drawn at random: an int, a fraction
        of the features, "sqrt", "log2", or None for all features.
    max_bins : int, default=255
        Maximum number of bins of each feature, at most 255; missing values have a bin of their own.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Categorical features: a mask of shape `(n_features,)`, indices, or names of columns. If
        "from_dtype", they are the columns of a data frame with the data type `category` of pandas,
        or `Categorical` or `Enum` of polars. In data frames, categories may be strings; in arrays
        they are numbers. Categories that are not in the training samples, and all but the
        `max_bins` most frequent ones, are treated as missing values; see
        :class:`~sklrank.tree.HistogramTreeRegressor`. They are not used in linear scores.
    monotonic_cst : array-like of shape (n_features,), dict of str to int or None, default=None
        Constraints of the scores: 1 if they must not decrease with the feature, -1 if they must not
        increase, and 0 if there is no constraint; a dict has the names of the features that have
        constraints. If None, there are no constraints.
    init : {"auto", "linear"}, estimator or None, default="auto"
        Scores from which boosting starts: linear scores, the predictions of a regressor or ranker,
        which is fitted to the same samples, or 0 if None. If "auto", held-out queries choose linear
        scores or 0.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a document of relevance r: :math:`2^r - 1` ("exponential"), r ("linear"), or the
        value of a function of r. It is the gain of the loss and of `score`. Relevance may be
        negative if it is "linear".
    k : int or None, default=None
        Number of top-ranked documents that matter: `score` is NDCG@k, and :math:`Z_q` is the ideal
        DCG of the first `k` documents, so that queries with more than `k` relevant documents weigh
        more. All pairs of documents remain in the loss. If None, all documents are included.
    early_stopping : "auto" or bool, default="auto"
        If "auto", the number of trees is chosen together with their size, and they are fitted to
        all queries. If True, boosting stops when the loss of held-out queries has not decreased by
        more than `tol` for `n_iter_no_change` rounds, and `predict` uses the trees up to the
        smallest loss; the trees are not fitted to these queries. If False, `max_iter` trees are
        fitted. If `X_val` is passed to `fit`, its queries are the held-out queries, also those that
        decide the start and the size of the trees.
    scoring : str or callable, default="loss"
        What decreases or increases on held-out queries: the loss, or a metric: "ndcg",
        "average_precision", "precision_at_k", "recall_at_k", "hit_rate" or "reciprocal_rank", at
        `k`, or a scorer, called as ``scorer(estimator, X, y, qid=qid)``. The loss varies less from
        query to query than a metric does.
    validation_fraction : float, default=0.1
        Fraction of the queries that are held out with ``early_stopping=True``; of the documents,
        if there is a single query.
    n_iter_no_change : int, default=10
        Number of rounds with ``early_stopping=True``.
    tol : float, default=1e-7
        Tolerance with ``early_stopping=True``.
    warm_start : bool, default=False
        If True, `fit` keeps the trees of the last call and adds trees up to `max_iter`. What
        held-out queries have chosen is kept, too.
    verbose : int, default=0
        If positive, print the loss and that of held-out queries, if any, after each round.
    random_state : int, RandomState instance or None, default=None
        Controls the choice of held-out queries, and of features.
    n_jobs : int or None, default=None
        Number of threads that grow each tree, if there are many documents. The ranker does not
        depend on it.

    Attributes
    ----------
    estimators_ : list of HistogramTreeRegressor
        Trees. They predict numbers from -1 to 1.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Number by which the values of each tree are multiplied, half of the learning rate.
    init_ : object or None
        Fitted model of the scores from which boosting started: an estimator, linear scores, or None
        if it started from 0.
    linear_ : object or None
        Linear scores from which boosting started, or None. The attributes `coef`,
        `mean`, `low` and `high` have an entry for each feature. The score is the sum of the
        differences of the features to their means, multiplied by the coefficients. Values outside
        the range from low to high are replaced by the nearest bound, and missing values by the
        mean.
    max_leaf_nodes_ : int
        Maximum number of leaves of the trees.
    n_iter_ : int
        Number of trees that `predict` uses. With ``early_stopping=True``, later trees are in
        `estimators_`, too, and a warm start adds trees to them.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Loss before the first round and after each round; NaN for a function as loss.
    stop_reason_ : str
        Reason why boosting stopped.
    validation_loss_curve_ : ndarray of shape (n_rounds + 1,)
        Loss of the held-out queries or of `X_val`, or minus their metric if `scoring` is one,
        before the first round and after each round; empty without ``early_stopping=True`` and
        `X_val`.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the total decrease of the loss by the trees and the linear scores.
    is_categorical_ : ndarray of bool of shape (n_features,), or None
        Mask of the categorical features; None if there are none.
    click_model_ : str
        Model of the user: "position" or "cascade"; see the notes. It and the next attribute
        are defined only after a fit with `position`.
    position_propensities_ : ndarray of shape (n_positions,)
        Probability that the user examines each position, relative to the largest one; NaN for
        positions that do not occur. With few clicks, propensities are too even.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    sklrank.datasets.make_clicks : Simulates clicks.
    NDCGBoost : Boosting of any classifier for NDCG.
    sklrank.model_selection.QueryKFold : Cross-validation whose folds consist of whole queries.

    Notes
    -----
    What is "auto" is chosen as follows.

    1. Trees of each size are boosted on four fifths of the queries, from linear scores and from
       scores of 0, and the loss of the other queries is computed after each round.
    2. With fewer than 7,500 documents, several of the five parts of the queries are held out in
       turn, up to all of them. Of more than 15,000 documents, only queries with as many documents
       are used. The trees that are compared have 63 bins at most.
    3. The start, the size and the number of trees with the smallest loss of the held-out queries
       are used for all queries.
    4. If there are fewer than five queries, a fifth of the documents is held out instead of a fifth
       of the queries. If there are also fewer than 100 documents, nothing is held out, the trees
       have 8 leaves, and boosting starts from 0.

    Users click on documents because they are relevant, and because they are at the top. With
    `position`, regression trees and a model of the user are fitted to the clicks together, by
    regression EM [7]_. A user clicks on relevant documents that he examines, and on others by
    mistake. Two models compete by their likelihoods:

    - "position": each position is examined with its own probability, independently of the other
      positions, and mistakes are more likely at some positions than at others (trust bias [8]_);
    - "cascade": positions are examined from the first to the last one, until the user leaves, most
      likely after a click on a relevant document [9]_.

    The ranker is fitted to the estimated probabilities that documents are relevant. Rows with equal
    features count as the same document, and sessions that show the same documents as one query,
    whose weight is the number of sessions. So `early_stopping=True` holds out such queries. `score`
    knows no positions: pass it relevance, not clicks.

    References
    ----------
    .. [1] C. Burges et al., "Learning to rank using gradient descent",
       ICML 2005.
    .. [2] X. Wang et al., "The LambdaLoss framework for ranking metric optimization",
       CIKM 2018.
    .. [3] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.
    .. [4] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 3.
    .. [5] C. Burges, "From RankNet to LambdaRank to LambdaMART: an overview",
       Microsoft Research, 2010.
    .. [6] S. Bruch, "An alternative cross entropy loss for learning-to-rank",
       WWW 2021.
    .. [7] X. Wang et al., "Position bias estimation for unbiased learning to rank in personal
       search", WSDM 2018.
    .. [8] A. Agarwal et al., "Addressing trust bias for unbiased learning-to-rank",
       WWW 2019.
    .. [9] O. Chapelle and Y. Zhang, "A dynamic Bayesian network click model for web search
       ranking", WWW 2009.

    Examples
    --------
    Two queries of four documents, whose relevance depends on the second feature.

    >>> from sklrank.boosting import HistGradientBoostingRanker
    >>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
    >>> y = [2, 0, 1, 0, 0, 1, 2, 0]
    >>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
    >>> ranker = HistGradientBoostingRanker(max_iter=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> bool((ranker.loss_curve_[1:] <= ranker.loss_curve_[:-1]).all())
    True
    """

    __metadata_request__fit = {"position": True}

    _parameter_constraints = {
        "loss": [StrOptions(set(LOSSES)), callable],
        "learning_rate": [Interval(Real, 0, 2, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [*OF_TREES["max_leaf_nodes"], StrOptions({"auto"})],
        "max_depth": OF_TREES["max_depth"],
        "min_samples_leaf": [*OF_TREES["min_samples_leaf"], StrOptions({"auto"})],
        "l2_regularization": OF_TREES["l2_regularization"],
        "max_features": OF_TREES["max_features"],
        "max_bins": OF_TREES["max_bins"],
        "categorical_features": [*OF_TREES["categorical_features"], StrOptions({"from_dtype"})],
        "monotonic_cst": [*OF_TREES["monotonic_cst"], dict],
        "init": [StrOptions({"auto", "linear"}), HasMethods(["fit", "predict"]), None],
        "gain": [StrOptions({"exponential", "linear"}), callable],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "scoring": [StrOptions({"loss", *SCORERS}), callable],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "n_jobs": OF_TREES["n_jobs"],
    }

    @explains_peer_names
    def __init__(
        self,
        loss: Literal["logistic", "lambda", "expected-ndcg", "xe-ndcg", "spearman"]
        | Callable = "logistic",
        *,
        learning_rate: float = 0.5,
        max_iter: int = 100,
        max_leaf_nodes: Literal["auto"] | int = "auto",
        max_depth: int | None = None,
        min_samples_leaf: Literal["auto"] | int = "auto",
        l2_regularization: float = 0.0,
        max_features: MaxFeatures = None,
        max_bins: int = 255,
        categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        init: Literal["auto", "linear"] | Any | None = "auto",
        gain: Literal["exponential", "linear"] | Callable = "exponential",
        k: int | None = None,
        early_stopping: Literal["auto"] | bool = "auto",
        scoring: str | Callable = "loss",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.init = init
        self.gain = gain
        self.k = k
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    _signed_relevance = True
    _remedy_for_columns = REMEDY

    @property
    def _failed_checks(self):
        # The leaves of small data may have one sample.
        reason = "in many rounds, rounding errors decide between splits of equal gain"
        if str(self.loss) in ("expected-ndcg", "lambda"):
            reason = "the ranks of copies of a document differ"
        return failed_weight_checks(reason)

    def _weak_learner(self):
        return HistogramTreeRegressor()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _make_objective(self, target):
        if callable(self.loss):
            return FunctionObjective(self.loss, target)
        loss = LOSSES[self.loss]
        if not loss.uses_gains:
            return loss(target, self.k)
        return loss(loss_gains(self.gain, target), target, self.k)

    @explains_peer_names
    @_fit_context(prefer_skip_nested_validation=False)
    @of_document_rankers
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        query_weight: ArrayLike | None = None,
        position: ArrayLike | None = None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        qid_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        {documents}
        {sample_weight}
        {query_weight}
        position : array-like of int of shape (n_samples,), default=None
            Position of each document in the list that was shown; 1 is the first. If it is passed,
            `y` are clicks, 0 or 1, and `qid` names the sessions. The ranker learns from the
            relevance that a model of the user estimates, see the notes; weights must not be passed.
            Predictions need no positions.
        X_val : {array-like, sparse matrix} of shape (n_val_samples, n_features), default=None
            Documents of the queries that take the place of held-out queries. The ranker is fitted
            to all queries of `X`, and their objective is stored in `validation_loss_curve_`. They
            decide everything that is "auto": the start, the size of the trees and their number. If
            nothing is, and without early stopping, they are only evaluated. The steps of a pipeline
            transform them with ``Pipeline(..., transform_input=["X_val"])`` only; a warning is
            given if most features have values outside of those of `X`. Searches of scikit-learn
            raise `UnsetMetadataPassedError` unless it is requested by ``set_fit_request(X_val=True,
            y_val=True, qid_val=True)``. If `X_val` has as many rows as `X`, they split it as they
            split `X`: give it another number of rows.
        y_val : array-like of shape (n_val_samples,), default=None
            Relevance of the documents `X_val`, also if `y` are clicks.
        qid_val : array-like of shape (n_val_samples,), default=None
            Query id of each document of `X_val`. If None, they belong to one query.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `y` has negative entries and `gain` is not linear; if no query has documents of
            different relevance; if the documents that are held out, or those of `X_val`, all have
            the gain 0; if `loss` does not return finite arrays of the right shape; if weights are
            negative, or those of a query differ; if the lengths of the arguments differ; if only
            one of `X_val` and `y_val` is given; if `position` has entries that are not integers
            from 1, or the same entry twice in a session, or is passed with other `y` than 0 and 1
            or with weights; or if the input contains infinities.
        """
        with unchanged_on_error(self):
            X, target = self._check_training_set(X, y, qid, sample_weight, query_weight)
            self._check_function()
            validation = self._check_validation_set(X, target, X_val, y_val, qid_val)
            self._start_rounds()
            if position is not None:
                if sample_weight is not None or query_weight is not None:
                    raise ValueError(
                        "sample_weight and query_weight must be None if position is passed: the "
                        "weight of a query is the number of its sessions"
                    )
                clicks = estimate_relevance(self, X, target.y, target.queries, position)
                self.click_model_, self.position_propensities_ = clicks.model, clicks.propensities
                X, target = X[clicks.samples], clicks.target
            evaluated = validation
            fraction = self.validation_fraction if validation is None and self._stops_early else 0.0
            if fraction:
                train, held_out = self._split(target)
                evaluated = X[held_out], target.take(held_out)
                X, target = X[train], target.take(train)
            target.check_something_to_learn()
            n_rounds, race = len(self.estimators_), Race(self)
            if not n_rounds:
                bins = race.bins(X)
                self._set_winner(race.winner(X, target, validation))
            after_round = self._after_round(*self._evaluate_rounds(evaluated))
            # A warm start adds no rounds if boosting was stopped early before.
            if self._early_stopping_reason() is None:
                tree = self._winner.tree
                bins = tree._bin(X, self._random_state) if n_rounds else bins
                objective = self._make_objective(target)
                self._boost(objective, TreeLearner(tree, bins), self._scores(X), after_round)
            if len(self.estimators_) > n_rounds or not n_rounds:
                self._held_out_fraction = fraction
            if self.verbose:
                done = f"{len(self.estimators_)} rounds"
                print_progress(type(self).__name__, done, self.stop_reason_)
        return self

    def _check_function(self):
        """Refuse parameters that need the value of a loss of which only derivatives are known."""
        if not callable(self.loss):
            return
        if isinstance(self.init, str) and self.init == "linear":
            raise ValueError(
                "init='linear' needs the value of the loss, but loss is a function that returns "
                "derivatives only; use an estimator as init, or None"
            )
        if self.early_stopping is True and self.scoring == "loss":
            raise ValueError(
                "scoring='loss' needs the value of the loss, but loss is a function that returns "
                "derivatives only; for early stopping use a metric, such as scoring='ndcg'"
            )

    def _is_warm_start(self):
        return self.warm_start and hasattr(self, "estimators_")

    def _check_training_X(self, X, *, may_encode=True):
        if self._is_warm_start():
            return self._check_documents(X, reset=False)
        given = self._encoder = None
        # Arrays have no data types of features.
        if is_frame(X) or not isinstance(self.categorical_features, str):
            given = find_categorical(X, self.categorical_features)
        if may_encode and is_frame(X) and (mask := categorical_mask(given, X.shape[1])).any():
            self._encoder = CategoryEncoder(X, mask)
        X = self._check_documents(X, reset=True)
        mask = categorical_mask(given, X.shape[1])
        self.is_categorical_ = mask if mask.any() else None
        self._check_frozen_init()
        return X

    def _check_frozen_init(self):
        """Refuse a fitted start that would get other columns than those it was fitted to."""
        names = getattr(self.init, "feature_names_in_", None)
        if names is None or not isinstance(self.init, FrozenEstimator):
            return
        if self._encoder is not None:
            raise ValueError(
                "init was fitted to a data frame, and would get the categories of X as numbers: "
                "let it predict a column of X, and pass init=None"
            )
        given = getattr(self, "feature_names_in_", names)
        if not np.array_equal(given, names):
            raise ValueError(
                f"init was fitted to the features {', '.join(map(str, names))}, and X has "
                f"{', '.join(map(str, given))}: pass the same ones in the same order"
            )

    def _check_X(self, X):
        check_is_fitted(self)
        return self._check_documents(X, reset=False)

    def _check_documents(self, X, *, reset):
        """Return documents as a dense array, in which the categories of frames are numbers."""
        if self._encoder is not None:
            return self._encoder.encode(check_rows(self, X, reset=reset, skip_check_array=True))
        X = check_rows(self, X, reset=reset, dtype=[np.float64, np.float32])
        return X.toarray() if sparse.issparse(X) else X

    def _check_validation_set(self, X, target, X_val, y_val, qid_val):
        """Return the documents and the target of the validation set, or None if there is none.

        `X` and `target` are those of the training documents.
        """
        if X_val is None and y_val is None and qid_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val must be passed together, and qid_val with qid")
        if qid_val is None and self._fitted_with_qid:
            raise ValueError("qid_val is None, but qid was given: pass the queries of X_val")
        X_val = self._check_documents(X_val, reset=False)
        names = "y_val", "X_val"
        y_val = check_relevance(y_val, X_val.shape[0], signed=True, names=names)
        queries = Queries.from_qid(qid_val, len(y_val), "qid_val")
        target_val = DocumentTarget.of(y_val, queries)
        self._check_evaluated(target_val, "of X_val", names=("y_val", "qid_val"))
        n_queries = target.queries.n_queries, queries.n_queries
        warn_if_untransformed(X, X_val, n_queries, self.is_categorical_)
        return X_val, target_val

    def _check_evaluated(self, target, part, *, names=("y", "qid")):
        """Raise a ValueError if rounds cannot be evaluated on "the samples {part}"."""
        target.check_something_to_learn(part, names=names)
        objective = self._make_objective(target)
        objective.set_scores(np.zeros(len(target.y)))
        if not objective.weights.any():
            raise ValueError(
                f"{names[0]} has no documents of different gain in the samples {part}, so that "
                "their objective is always the same; include relevant documents, and check gain"
            )

    def _start_rounds(self):
        self.validation_loss_curve_ = np.empty(0)
        self._stops_early = self.early_stopping is True
        for name in ("click_model_", "position_propensities_"):
            vars(self).pop(name, None)
        if not self._is_warm_start():
            super()._start_rounds()
            self._split_seed = self._random_state.randint(np.iinfo(np.int32).max)
            return
        self.estimators_ = list(self.estimators_)
        if len(self.estimators_) > self.max_iter:
            raise ValueError(
                f"max_iter={self.max_iter} is less than the {len(self.estimators_)} rounds fitted "
                "so far; with warm_start=True it can only grow"
            )

    def _split(self, target):
        """Return the samples of the queries to learn from, and those of the held-out queries.

        They are the same in each warm start.
        """
        fraction = self.validation_fraction
        if self.estimators_ and fraction > self._held_out_fraction:
            raise ValueError(
                f"validation_fraction={fraction} would hold out queries that the rounds so far "
                "learned from; for a warm start it must not exceed that of the fit before, "
                f"{self._held_out_fraction}; use early_stopping='auto' or False, or pass X_val"
            )
        train, held_out = split_queries(target.queries, fraction, self._split_seed)
        target.take(train).check_something_to_learn("to learn from")
        self._check_evaluated(target.take(held_out), "held out")
        return train, held_out

    def _evaluate_rounds(self, evaluated):
        """Compute the losses of held-out documents after the rounds so far.

        Return what computes those of later rounds: the function of scores, the scores so far, and
        the function that returns the hypothesis of a model; or nothing without such documents.
        """
        if evaluated is None:
            return ()
        X, target = evaluated
        judge, losses = make_judge(self, self._make_objective(target), X, target), []
        for scores in self._staged_scores(X):
            losses.append(judge(scores))
        self.validation_loss_curve_ = np.array(losses)
        return judge, scores, partial(self._hypothesis, X=X)

    def _after_round(self, judge=None, scores=None, hypothesis_of=None):
        """Return the function that is called after each round; see `_evaluate_rounds`."""

        def after_round(model, step):
            figures = {"objective": float(self.loss_curve_[-1]), "step": float(step)}
            if judge is not None:
                scores[:] += step * hypothesis_of(model)
                loss = figures["validation loss"] = float(judge(scores))
                self.validation_loss_curve_ = np.append(self.validation_loss_curve_, loss)
            if self.verbose:
                done = f"round {len(self.estimators_)} of {self.max_iter}"
                print_progress(type(self).__name__, done, figures)
            return self._early_stopping_reason()

        return after_round

    def _early_stopping_reason(self):
        """Return a reason to stop if the objective of held-out queries no longer decreases."""
        losses, patience = self.validation_loss_curve_, self.n_iter_no_change
        if self._stops_early and len(losses) > patience:
            if losses[-patience:].min() >= losses[:-patience].min() - self.tol:
                return f"the validation loss has not decreased for {patience} rounds"
        return None

    @property
    def n_iter_(self) -> int:
        """Number of trees that `predict` uses."""
        check_is_fitted(self)
        if self._stops_early and len(self.validation_loss_curve_) > 1:
            return 1 + int(self.validation_loss_curve_[1:].argmin())
        return len(self.estimators_)

    def _n_rounds_to_predict(self):
        return self.n_iter_

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG, or the mean rank correlation with ``loss="spearman"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Relevance of each document. It may be negative with ``loss="spearman"``, and with
            ``gain="linear"``; the gains are then counted from the smallest one of the query.
        qid : array-like of shape (n_samples,), default=None
            Query id of each document. If None, all documents belong to one query; this is allowed
            only if the ranker was fitted without `qid`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. The weight of a query is the mean of the weights of its samples.

        Returns
        -------
        float
            Mean over the queries of NDCG@k by `gain`; with ``loss="spearman"``, of the rank
            correlation of Spearman, from -1 to 1. Queries for which it is not defined are left out.

        Raises
        ------
        ValueError
            If `qid` is None although the ranker was fitted to several queries; if no query has
            relevant documents, or documents of different relevance; or if the lengths of the
            arguments differ.
        """
        scores = self._scores_by_query(X, qid)
        y = check_relevance(y, len(scores), signed=True)
        target = DocumentTarget.of(y, Queries.from_qid(qid, len(y)))
        if self.loss == "spearman":
            weights = check_weights(sample_weight, len(y), positive=True)
            return mean_rank_correlation(target, scores, weights)
        if self.gain == "linear":
            y = from_smallest(target)
        return self._mean_ndcg(check_relevance(y, len(y)), scores, qid, sample_weight)

    def _set_winner(self, winner):
        self._winner, self.init_ = winner, winner.init
        self.linear_ = winner.init if isinstance(winner.init, LinearScorer) else None

    def _n_rounds_to_fit(self):
        if self.early_stopping != "auto" or self._winner.n_trees is None:
            return self.max_iter
        # Without initial scores, a tree is needed to rank at all.
        return min(self.max_iter, max(self._winner.n_trees, int(self.init_ is None)))

    def _reason_for_all_rounds(self):
        if self._n_rounds_to_fit() < self.max_iter:
            return "held-out queries chose this number of rounds"
        return "max_iter rounds were fitted"

    def _initial_scores(self, X):
        return scores_of(self.init_, X)

    @property
    def max_leaf_nodes_(self) -> int:
        """Maximum number of leaves of the trees."""
        check_is_fitted(self)
        return self._winner.tree.max_leaf_nodes

    @property
    def feature_importances_(self) -> np.ndarray:
        """Fraction of the total decrease of the loss by the trees and the linear scores."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        if self.linear_ is not None:
            total += self.linear_.gain
        for model, _ in self._fitted_rounds():
            nodes = model.tree_.nodes()
            total += np.bincount(nodes["feature"], nodes["gain"], self.n_features_in_)
        return total / (total.sum() or 1.0)
