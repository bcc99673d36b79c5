"""Document ranking by boosted histogram trees."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sklrank._boosters import of_boosters
from sklrank._checks import (
    Queries,
    check_relevance,
    check_rows,
    check_scored,
    check_weights,
    counted_from_least,
    is_frame,
)
from sklrank._estimators import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    failed_weight_checks,
    print_progress,
    unchanged_on_error,
)
from sklrank._typing import MaxFeatures, Self
from sklrank.boosting._base import (
    DocumentTarget,
    SupervisedDocumentRanker,
    explains_peer_names,
    of_document_rankers,
)
from sklrank.boosting._clicks import estimate_relevance
from sklrank.boosting._hist_gradient_boosting.categories import (
    REMEDY,
    CategoryEncoder,
    find_categorical,
)
from sklrank.boosting._hist_gradient_boosting.export import ModelExports
from sklrank.boosting._hist_gradient_boosting.race import (
    SCORERS,
    LinearScorer,
    Race,
    TreeLearner,
    check_frozen_init,
    check_validation_set,
    evaluate_rounds,
    hold_out,
    round_reporter,
    scores_of,
    winner_of_warm_start,
)
from sklrank.boosting._objectives import (
    LOSSES,
    FunctionObjective,
    loss_gains,
    mean_rank_correlation,
)
from sklrank.tree._histogram import HistogramTreeRegressor

OF_TREES = HistogramTreeRegressor._parameter_constraints


@of_boosters
@of_document_rankers
class HistGradientBoostingRanker(ModelExports, SupervisedDocumentRanker):
    r"""Document ranker of boosted regression trees that are grown from histograms of the features.

    The scores :math:`F` of the documents are linear scores, if these help, plus the values of
    trees, which are fitted one after another, as in scikit-learn's `HistGradientBoostingRegressor`.
    By default, they decrease a logistic loss of the pairs of documents of each of n queries q,

    .. math:: \frac{1}{n} \sum_{q=1}^n \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j)
              \log(1 + \exp(F_j - F_i)),

    where :math:`G_i = 2^{r_i} - 1` is the gain of document i of relevance :math:`r_i`, and
    :math:`Z_q` is the ideal DCG of the query. This is the loss of RankNet [1]_ with the weights of
    ARP-Loss2 [2]_. A leaf adds :math:`g / (2 m)`, where g is the sum of its negative gradients and
    m that of its pair weights: less than what minimizes a bound on the loss [3]_, which never
    increases, except with monotonic constraints, and by rounding in queries of more than 300
    relevant documents.

    Held-out queries decide whether boosting starts from linear scores or from 0, how large the
    trees are, and how many of them are fitted; see the notes. Linear scores minimize the same loss
    plus an L2 penalty; the trees, which would need many rounds for them, learn the rest.

    Parameters
    ----------
    loss : str or callable, default="logistic"
        Loss; see the notes. A function ``loss(y, scores, query)`` of three arrays of shape
        `(n_samples,)`, where `query` has the indices of the queries, returns the gradient and the
        positive hessian, two such arrays.
    learning_rate : float, default=0.5
        Factor of the values of the leaves, 2 at most. Smaller values need more trees.
    max_iter : int, default=100
        Maximum number of trees.
    max_leaf_nodes : "auto" or int, default="auto"
        Maximum number of leaves of each tree, at least 2. If "auto", it is 2, 8 or 64, and the
        trees are symmetric: all leaves of a level have the same split [10]_.
    max_depth : int or None, default=None
        Maximum number of splits from the root of a tree to a leaf; None for no limit.
    min_samples_leaf : "auto" or int, default="auto"
        Minimum number of documents in each leaf. If "auto", it is 20, or a hundredth of less than
        2000 documents.
    l2_regularization : float, default=0.0
        Number of documents of gradient 0, of mean weight, that are added to each leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number or fraction of the features on which a tree may split, drawn at random; None for all.
    max_bins : int, default=255
        Maximum number of bins of each feature, at most 255; missing values have a bin of their own.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Categorical features: a mask of shape `(n_features,)`, indices, or names of columns. If
        "from_dtype", they are the columns of a data frame with the data type `category` of pandas,
        or `Categorical` or `Enum` of polars. See the notes.
    monotonic_cst : array-like of shape (n_features,), dict of str to int or None, default=None
        Constraints: 1 if scores must not decrease with the feature, -1 if they must not increase,
        0 for none; a dict names the features that have constraints.
    init : {"auto", "linear"}, estimator or None, default="auto"
        Scores from which boosting starts: linear ones, the predictions of a regressor or ranker
        that is fitted to the same samples, or 0 if None; linear ones or 0 if "auto".
    {gain}
    early_stopping : "auto" or bool, default="auto"
        If "auto", the number of trees is chosen together with their size. If True, boosting stops
        when the loss of held-out queries has not decreased by more than `tol` for
        `n_iter_no_change` rounds. If False, `max_iter` trees are fitted. See the notes.
    scoring : str or callable, default="loss"
        What decreases or increases on held-out queries: the loss, which varies least, or a metric:
        "ndcg", "average_precision", "precision_at_k", "recall_at_k", "hit_rate" or
        "reciprocal_rank", at `k`, or a scorer, called as ``scorer(estimator, X, y, qid=qid)``.
    validation_fraction : float, default=0.1
        Fraction of the queries, or of the documents of a single one, held out by early stopping.
    n_iter_no_change : int, default=10
        Number of rounds with ``early_stopping=True``.
    tol : float, default=1e-7
        Tolerance with ``early_stopping=True``.
    warm_start : bool, default=False
        If True, `fit` keeps the trees of the last call and adds trees up to `max_iter`. What
        held-out queries have chosen is kept, too, and so is `init`.
    verbose : int, default=0
        If positive, print the loss and that of held-out queries, if any, after each round.
    random_state : int, RandomState instance or None, default=None
        Controls the choice of held-out queries, and of features.
    n_jobs : int or None, default=None
        Number of threads that grow trees of, or score, many documents, with the same results.

    Attributes
    ----------
    estimators_ : list of regressors
        Trees. They predict numbers from -1 to 1.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Number by which the values of each tree are multiplied, half of the learning rate.
    init_ : object or None
        Fitted model of the scores from which boosting started, or None if it started from 0.
    linear_ : object or None
        Linear scores from which boosting started, or None: the sum of the differences of the
        features to their `mean`, times `coef`. Values are limited to the range from `low` to
        `high`; missing ones are replaced by the mean.
    max_leaf_nodes_ : int
        Maximum number of leaves of the trees.
    n_iter_ : int
        Number of trees that `predict` uses.
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
        Model of the user, "position" or "cascade", after a fit with `position`; see the notes.
    position_propensities_ : ndarray of shape (n_positions,)
        Probability that the user examines each position, relative to the largest one; NaN if it
        does not occur. With few clicks, propensities are too even. Only after such a fit.
    {n_features_in}

    See Also
    --------
    sklrank.datasets.make_clicks : Simulates clicks.
    NDCGBoost : Boosting of any classifier for NDCG.

    Notes
    -----
    ================  =============================================================================
    loss              What is minimized
    ================  =============================================================================
    "logistic"        The logistic loss of pairs above.
    "lambda"          The same, where a pair is also weighted by the difference of the discounts of
                      the current ranks: LambdaMART [5]_. As it may increase, held-out queries and
                      linear scores have the loss "logistic".
    "expected-ndcg"   The bound on the expected loss of NDCG of :class:`NDCGBoost` ([4]_, 3.11).
    "xe-ndcg"         The cross entropy of the shares of the documents in the gains of their query
                      and of the softmax of their scores [6]_.
    "spearman"        The squared error of the scores as predictions of the ranks within the query,
                      for real-valued relevance, which may be negative. `gain` is not used;
                      held-out queries and `score` have the rank correlation of Spearman.
    function          Its value is not known: held-out queries choose only if `scoring` is a metric.
    ================  =============================================================================

    The time of all of them grows with the number n of documents of a query at most as
    :math:`n \log n`, if there are more than 300 relevant documents. Linear gains may be negative.

    For "auto", trees of each size are boosted from linear scores and from 0 on a part of the
    queries, with 63 bins at most. The start, the size and the number of trees of the smallest loss
    of the other queries are used for all queries.

    ==================== ==========================================================================
    Training documents   Held out
    ==================== ==========================================================================
    up to 3,000          Each fifth of the queries in turn.
    up to 7,500          Two to four fifths of the queries in turn.
    up to 15,000         A fifth of the queries.
    more                 A fifth of the queries, of a part with 15,000 documents.
    fewer than 5 queries The same, of the documents. Of fewer than 100 documents, nothing: the trees
                         have 8 leaves, and boosting starts from 0.
    `X_val`              Its queries.
    ==================== ==========================================================================

    With ``early_stopping=True``, the trees are not fitted to the held-out queries, `predict` uses
    those up to the smallest loss, and later trees are in `estimators_`, too.

    In data frames, categories may be strings; in arrays they are numbers. A split divides them in
    the order of their mean gradients. Those that are not in the training samples, and all but the
    `max_bins` most frequent ones, count as missing. Missing values go to the child that decreases
    the loss more, or to the larger one if there were none. Linear scores do not use categories.

    With `position`, relevance is estimated from clicks by regression EM [7]_, with the more likely
    of two models of the user: "position", in which each position is examined with its own
    probability, and mistakes are more likely at some positions (trust bias [8]_); or "cascade", in
    which the user reads from the top and leaves, most likely after a click on a relevant document
    [9]_. Rows with equal features are the same document, and sessions with the same documents one
    query, whose weight is their number. `score` knows no positions: pass it relevance, not clicks.

    References
    ----------
    .. [1] Burges et al., "Learning to rank using gradient descent", ICML 2005.
    .. [2] Wang et al., "The LambdaLoss framework for ranking metric optimization", CIKM 2018.
    .. [3] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.
    .. [4] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 3.
    .. [5] Burges, "From RankNet to LambdaRank to LambdaMART: an overview", Microsoft, 2010.
    .. [6] Bruch, "An alternative cross entropy loss for learning-to-rank", WWW 2021.
    .. [7] Wang et al., "Position bias estimation for unbiased learning to rank in personal
       search", WSDM 2018.
    .. [8] Agarwal et al., "Addressing trust bias for unbiased learning-to-rank", WWW 2019.
    .. [9] O. Chapelle and Y. Zhang, "A dynamic Bayesian network click model for web search
       ranking", WWW 2009.
    .. [10] Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features",
       NeurIPS 2018.

    Examples
    --------
    {example}
    >>> from sklrank.boosting import HistGradientBoostingRanker
    >>> ranker = HistGradientBoostingRanker(max_iter=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> bool((ranker.loss_curve_[1:] <= ranker.loss_curve_[:-1]).all())
    True
    """

    __metadata_request__fit = {"position": True}

    _parameter_constraints = {
        **OF_TREES,
        "loss": [StrOptions(set(LOSSES)), callable],
        "learning_rate": [Interval(Real, 0, 2, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [*OF_TREES["max_leaf_nodes"], StrOptions({"auto"})],
        "min_samples_leaf": [*OF_TREES["min_samples_leaf"], StrOptions({"auto"})],
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

    _accepts_sparse = _signed_relevance = True
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

    def _make_objective(self, target):
        if callable(self.loss):
            return FunctionObjective(self.loss, target)
        loss = LOSSES[self.loss]
        if not loss.uses_gains:
            return loss(target, self.k)
        return loss(loss_gains(self.gain, target), target, self.k)

    @explains_peer_names
    @_fit_context(prefer_skip_nested_validation=False)
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

        {documents}
        {weights}
        position : array-like of int of shape (n_samples,), default=None
            Position of each document in the list that was shown; 1 is the first. With it, `y` are
            clicks, 0 or 1, `qid` names the sessions, and weights must be None; see the notes of the
            class. Predictions need no positions.
        X_val : {array-like, sparse matrix} of shape (n_val_samples, n_features), default=None
            Documents of the queries that take the place of held-out queries, for everything that is
            "auto" and for `validation_loss_curve_`, while the ranker is fitted to all queries of
            `X`; see the notes below.
        y_val : array-like of shape (n_val_samples,), default=None
            Relevance of the documents `X_val`, also if `y` are clicks.
        qid_val : array-like of shape (n_val_samples,), default=None
            Query id of each document of `X_val`. If None, they belong to one query.

        {returns_self}

        {value_error}
            If no query has documents of different relevance; if the documents that are held out,
            or those of `X_val`, all have the gain 0; if `y` has negative entries and `gain` is not
            linear; or if an argument or what `loss` returns is malformed.

        Notes
        -----
        Pipelines transform `X_val` with ``Pipeline(..., transform_input=["X_val"])`` only; a
        warning is given if most features have values outside of those of `X`. Searches need
        ``set_fit_request(X_val=True, y_val=True, qid_val=True)``, and split an `X_val` of as many
        rows as `X`: give it another number of rows.
        """
        with unchanged_on_error(self):
            X, target = self._check_training_set(X, y, qid, sample_weight, query_weight)
            race = Race(self)
            validation = check_validation_set(self, X, target, X_val, y_val, qid_val)
            self._start_rounds()
            if position is not None:
                weights = sample_weight, query_weight
                clicks = estimate_relevance(self, X, target, position, weights)
                self.click_model_, self.position_propensities_ = clicks.model, clicks.propensities
                X, target = X[clicks.samples], clicks.target
            evaluated = validation
            fraction = self.validation_fraction if validation is None and self._stops_early else 0.0
            if fraction:
                train, held_out = hold_out(self, target)
                evaluated = X[held_out], target.take(held_out)
                X, target = X[train], target.take(train)
            target.check_something_to_learn()
            n_rounds = len(self.estimators_)
            if not n_rounds:
                bins = race.bins(X)
                self._set_winner(race.winner(X, target, validation))
            after_round = round_reporter(self, *evaluate_rounds(self, evaluated))
            # A warm start adds no rounds if boosting was stopped early before.
            if self._early_stopping_reason() is None:
                if n_rounds:
                    self._winner = winner_of_warm_start(self, len(X))
                    bins = self._winner.tree._bin(X, self._random_state)
                objective = self._make_objective(target)
                learner = TreeLearner(self._winner.tree, bins)
                self._boost(objective, learner, self._scores(X), after_round)
            if len(self.estimators_) > n_rounds or not n_rounds:
                self._held_out_fraction = fraction
            if self.verbose:
                done = f"{len(self.estimators_)} rounds"
                print_progress(type(self).__name__, done, self.stop_reason_)
        return self

    def _is_warm_start(self):
        return self.warm_start and hasattr(self, "estimators_")

    def _check_training_X(self, X, *, may_encode=True):
        if self._is_warm_start():
            return self._check_documents(X, reset=False)
        given = self._encoder = None
        # Arrays have no data types of features.
        if is_frame(X) or not isinstance(self.categorical_features, str):
            given = find_categorical(X, self.categorical_features)
        tree = HistogramTreeRegressor(categorical_features=given)
        if may_encode and is_frame(X) and (mask := tree._categorical_mask(X.shape[1])).any():
            self._encoder = CategoryEncoder(X, mask)
        X = self._check_documents(X, reset=True)
        mask = tree._categorical_mask(X.shape[1])
        self.is_categorical_ = mask if mask.any() else None
        check_frozen_init(self)
        return X

    def _check_X(self, X):
        check_is_fitted(self)
        X = self._check_documents(X, reset=False)
        if self._encoder is None and self.estimators_:
            self.estimators_[0]._check_categories(X)
        return X

    def _check_documents(self, X, *, reset):
        """Return documents as a dense array, in which the categories of frames are numbers."""
        if self._encoder is not None:
            return self._encoder.encode(check_rows(self, X, reset=reset, skip_check_array=True))
        X = check_rows(self, X, reset=reset, dtype=[np.float64, np.float32])
        return X.toarray() if sparse.issparse(X) else X

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
        {score_qid}

        Returns
        -------
        float
            Mean over the queries of NDCG@k with `k` and `gain` of this ranker; a search over one of
            them needs a scorer, such as ``scoring=clone(ndcg_scorer).set_params(k=10)``. With
            ``loss="spearman"``, the mean rank correlation of Spearman, from -1 to 1. Queries for
            which it is not defined are left out.
        """
        check_scored(self, X, y, qid=qid, sample_weight=sample_weight)
        scores = self._scores_by_query(X, qid)
        y = check_relevance(y, len(scores), signed=True)
        target = DocumentTarget.of(y, Queries.from_qid(qid, len(y)))
        if self.loss == "spearman":
            weights = check_weights(sample_weight, len(y), positive=True)
            return mean_rank_correlation(target, scores, weights)
        if self.gain == "linear":
            y = counted_from_least(y, target.queries)
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
