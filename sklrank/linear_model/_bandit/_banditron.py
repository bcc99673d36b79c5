"""BanditronClassifier."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._base_online import BaseOnlineClassifier, row_blocks, to_dense
from sklrank._compiled_classifier import BATCH
from sklrank._sklearn import Interval, StrOptions, _fit_context
from sklrank._validation import MAX_FACTOR, unchanged_on_error
from sklrank.base import ClassScoresMixin
from sklrank.feedback import Exploration
from sklrank.feedback._exploration import check_rewards, check_single_actions
from sklrank.feedback._schedules import SCHEDULES, make_schedule
from sklrank.linear_model._bandit._confidence_ridge import DiagonalRidge, FullRidge
from sklrank.linear_model._bandit._model import MirrorDescent
from sklrank.linear_model._bandit._rounds import BanditRounds
from sklrank.linear_model._mirror._parameter import CONSTRAINTS, make_mirror_map, scores_poorly
from sklrank.linear_model._rows import Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap

__all__ = ["BanditronClassifier"]

SECOND_ORDER = {"full": FullRidge, "diagonal": DiagonalRidge}
# The values of `bonus` and `alpha` that "auto" stands for, by `second_order`.
BONUS = {"full": 0.9, "diagonal": 3.0}
ALPHA = {"full": 0.2, "diagonal": 0.4}


class BanditronClassifier(ClassScoresMixin, BaseOnlineClassifier):
    r"""Linear classifier that shows one class a row and learns whether it was right, no more.

    In each round the class :math:`\hat y` of the greatest score :math:`w_k \cdot x` is shown with
    the probability :math:`1 - \gamma_t + \gamma_t / K`, every other one of K with
    :math:`\gamma_t / K`. From the class shown, :math:`\tilde y`, its probability :math:`p` and
    whether it was right, online mirror descent takes the step ([2]_, Algorithms 7 to 10)

    .. math:: \Theta \leftarrow \Theta - \eta \, \delta_t x^T, \qquad
              \delta_t = 1_{\hat y} - 1_{\tilde y} \frac{[\tilde y = y]}{p},

    which on average is the step that the class :math:`y`, were it known, would ask for. Banditron
    [1]_ is the case of the Euclidean mirror map, whose weights W are :math:`\Theta`.

    With `second_order` each class has a ridge regression of being right instead, and the class
    shown is that of the greatest score plus `bonus` times its standard error (LinUCB [3]_). On
    dense data it makes a fraction of the mistakes, at a cost quadratic ("full") or linear
    ("diagonal") in the number of features. The columns of dense rows are centred and divided by
    their ranges as they come, by what the rows so far tell, so that the scale of the features does
    not matter; sparse rows are only divided by a common factor, as they would not stay sparse.

    `fit` and `partial_fit` simulate rounds: of `y` they read only whether what was shown is right.
    `explore` and `partial_fit_feedback` are the two halves of a round for real feedback.

    Parameters
    ----------
    exploration : float or str, default=0.1
        The share :math:`\gamma_t` of rounds that show a class drawn from all: a number up to 1, or
        the name of a rule with values up to 1/2. With `second_order` 0 is recommended: its bonus
        explores already, and more is for logs in which every class needs a positive propensity.

        - "decay": :math:`t^{-1/3} / 2`;
        - "ag1", "ag2", "ag3": tuned by what came back ([2]_, Eqs. 6.4, 6.5 and 6.3, with the
          support function :math:`(1 + z)^{0.1}`);
        - "ag2-unbiased": as "ag2", with an estimate of the misses that is right on average; that of
          the text, "ag2", is too high, and explores too much;
        - "ag3-forgetting": as "ag3" of the last hundred rounds or so. It is not of the text, and
          recommended without `second_order`.
    mirror_map : str or object, default="euclidean"
        What makes weights of :math:`\Theta`. With `second_order` leave it as it is.

        - "euclidean": :math:`\Theta` itself;
        - "p-norm", "group-norm", "schatten": for many features and classes of which few weights,
          few features, or few combinations of features matter: the potential is half the square of
          a norm near the sum of the absolute weights, of the lengths of each feature's weights, or
          of the singular values of W ([4]_, Corollaries 6 and 8). Where these are seven or fewer,
          it is that of "euclidean";
        - "entropy": the weights of each class are a distribution over the features (exponential
          gradient), for many features of which few matter, and which speak for a class by being
          large;
        - "positive": weights below zero are set to zero after each step;
        - an object with a method ``weights(dual_weights)``: it gets :math:`\Theta`, read-only and
          of shape `(n_classes, n_features_in_ + fit_intercept)`, and returns W of that shape. It is
          called after each step.
    learning_rate : float or "auto", default="auto"
        Size :math:`\eta` of the steps. The maps that have a name, but for "entropy", scale with it
        and predict the same. "auto" is for "entropy" that of [2]_, Eq. 5.12, with the rounds so far
        for the number of rounds, and rows divided by their largest entry so far; otherwise it is 1.
    second_order : {"full", "diagonal"} or None, default=None
        Whether each class keeps a covariance matrix of features, which takes ``n_classes *
        n_features**2`` numbers, or its diagonal; None for neither. "full", or "diagonal" for many
        features, is recommended, with ``exploration=0``.
    bonus : float or "auto", default="auto"
        Factor on the standard error in the choice of what to show. "auto" is 0.9 for "full" and 3
        for "diagonal". Of no use without `second_order`.
    alpha : float or "auto", default="auto"
        L2 penalty of the regressions, in units of the rows' mean squared length; at least 1e-10.
        "auto" is 0.2 for "full" and 0.4 for "diagonal". Of no use without `second_order`.
    clip : float or None, default=5.0
        With `second_order`, values are cut off at this number of their column's standard deviations
        below and above its mean; less of it is for heavier tails. A value a thousand times too
        large widens these for thousands of rows all the same: leave such rows out. With None dense
        rows are divided by a common factor only, as sparse ones are.
    fit_intercept : bool, default=True
        Whether there is one more feature, of value one. The papers have none. Without it
        `second_order` does not standardise rows.
    max_iter : int, default=5
        Passes that `fit` makes over the rows; `partial_fit` makes one.
    random_state : int, RandomState instance or None, default=None
        Draws what is shown.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features; for two classes the lead of the second one's. With `second_order`
        they make the scores of rows of which nothing is cut off.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant, zero without `fit_intercept`.
    exploration_ : float
        The share :math:`\gamma_t` of the next round.
    error_rate_ : float
        The share of rounds so far in which the class shown was wrong; NaN before the first one.
    n_rounds_ : int
        Rounds so far: rows that were learnt.
    n_iter_ : int
        Passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    sklrank.online_boosting.TopKBBM : Shows several labels a row.
    OnlineLogisticRegression : Learns where the class becomes known.

    Notes
    -----
    Parameters are read when a model is started: by `fit`, or by the first call of another method.

    A self-tuned rule counts what `partial_fit_feedback` reports, so rows that are shown together
    share a rate. It supposes that this model showed them; after the log of another policy start
    with a number.

    References
    ----------
    .. [1] S. M. Kakade, S. Shalev-Shwartz and A. Tewari, "Efficient bandit algorithms for online
       multiclass prediction", ICML 2008.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking",
       dissertation, Michigan State University, 2010, chapters 5 and 6.
    .. [3] L. Li, W. Chu, J. Langford and R. E. Schapire, "A contextual-bandit approach to
       personalized news article recommendation", WWW 2010.
    .. [4] P. Jain, N. Natarajan and A. Tewari, "Predtron: a family of online algorithms for general
       prediction problems", NIPS 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.linear_model import BanditronClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = BanditronClassifier(second_order="full", exploration=0, random_state=0)
    >>> model = model.partial_fit(X, y)
    >>> print(f"{model.error_rate_:.1f} of the digits shown were wrong")
    0.1 of the digits shown were wrong

    With real feedback, which may come later:

    >>> shown = model.explore(X[:3])
    >>> clicks = y[:3] == model.classes_[shown.actions]
    >>> model.partial_fit_feedback(X[:3], shown, clicks).n_rounds_
    1800
    """

    _accepts_sparse = True
    _multiplies_entries = True
    _parameter_constraints: dict = {
        "exploration": [Interval(Real, 0, 1, closed="both"), StrOptions(set(SCHEDULES))],
        "mirror_map": CONSTRAINTS,
        "learning_rate": [Interval(Real, 0, MAX_FACTOR, closed="right"), StrOptions({"auto"})],
        "second_order": [StrOptions(set(SECOND_ORDER)), None],
        "bonus": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        # A smaller penalty would be outweighed by rounding where features are collinear.
        "alpha": [Interval(Real, 1e-10, None, closed="left"), StrOptions({"auto"})],
        "clip": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        exploration: float
        | Literal["decay", "ag1", "ag2", "ag3", "ag2-unbiased", "ag3-forgetting"] = 0.1,
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float | Literal["auto"] = "auto",
        second_order: Literal["full", "diagonal"] | None = None,
        bonus: float | Literal["auto"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        clip: float | None = 5.0,
        fit_intercept: bool = True,
        max_iter: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.exploration = exploration
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.second_order = second_order
        self.bonus = bonus
        self.alpha = alpha
        self.clip = clip
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = scores_poorly(self.mirror_map, one_score=False)
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget what was learnt, then play `max_iter` passes of rounds over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels. Read is only whether the class shown is right.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold one class only, if parameters do not go together, or
            if a `mirror_map` of your own returns no weights; a fitted model stays as it was.
        """
        with unchanged_on_error(self):
            X, labels = self._prepare_rounds(X, y, None, restart=True)
            for _ in range(self.max_iter):
                self._play(X, labels)
            self.n_iter_ = self.max_iter
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Play one round for each row in order, going on from what was learnt before.

        Rows given in chunks, in one call or across a pickle make the same model, to the bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels. Read is only whether the class shown is right.
        classes : array-like of shape (n_classes,), default=None
            Every class that may come, at the first call; those of `y` by default.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold labels that are not in `classes`; the model stays as
            it was. If a `mirror_map` of your own, tried out at the start, returns no weights later;
            the rows are then learnt in part.
        """
        self._play(*self._prepare_rounds(X, y, classes))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each row, then play a round for it (progressive, or prequential, validation).

        The model afterwards is the one that `partial_fit` makes. Of these scores the greatest is
        what `predict` would have said; what was shown, to explore, makes `error_rate_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The scores that each row got before it was learnt; columns as in `classes_`.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        X, labels = self._prepare_rounds(X, y, classes)
        scores = np.empty((X.shape[0], len(self.classes_)))
        self._play(X, labels, scores)
        return scores

    def explore(self, X: ArrayLike, classes: ArrayLike | None = None) -> Exploration:
        """Draw the class to show for each row.

        Each call goes on in the sequence of random numbers, which started at `random_state`.
        Nothing is learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        classes : array-like of shape (n_classes,), default=None
            Names of the classes; needed where nothing was learnt before. A model is started then,
            whose `classes_` are these in order.

        Returns
        -------
        Exploration
            The classes shown, as indices `(n_samples,)` into `classes_`, and the probabilities
            `(n_samples,)` with which they were: ``model.classes_[shown.actions]`` are their names.
            Keep it until the rewards are in.

        Raises
        ------
        ValueError
            If `X` is malformed, or `classes` differ from those of an earlier call.
        NotFittedError
            If there is no model, and no `classes` to start one.
        """
        X = self._check_X_and_start(X, classes, indicators=False)
        draws = self._random_state.random_sample(X.shape[0])
        actions, propensities = np.empty(len(draws), dtype=np.intp), np.empty(len(draws))
        for block in self._blocks(X):
            shown = self._played(self._rounds.explore, X, block, draws[block])
            actions[block], propensities[block] = shown
        return Exploration(actions, propensities)

    def partial_fit_feedback(
        self,
        X: ArrayLike,
        exploration: Exploration,
        rewards: ArrayLike,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn from what was shown, whoever showed it, and from what came back.

        Rows may come in any order, after any delay and in any chunks: their propensities are those
        of the time of the draw, and stay right. (With `second_order` rows are scaled by those that
        came before, so that another order makes a slightly different model.)

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows for which a class was shown.
        exploration : Exploration
            What was shown: the record of `explore`, or that of another policy, one class a row.
        rewards : array-like of shape (n_samples,)
            1 where the class shown was right, 0 where it was wrong.
        classes : array-like of shape (n_classes,), default=None
            As in `explore`.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed: classes outside of `classes_`, propensities that are missing
            or not in (0, 1], rewards other than 0 and 1. The model stays as it was. Also as
            `partial_fit`, of `mirror_map`.
        NotFittedError
            If there is no model, and no `classes` to start one.
        """
        with unchanged_on_error(self):
            X = self._check_X_and_start(X, classes, indicators=False)
            shown = check_single_actions(exploration, X.shape[0], len(self.classes_))
            rewards = check_rewards(rewards, (X.shape[0],))
        for block in self._blocks(X):
            of_block = [given[block] for given in (*shown, rewards)]
            self._played(self._rounds.learn_shown, X, block, *of_block)
        return self

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return self._lead(self._weights()[:, : self.n_features_in_])

    @property
    def intercept_(self) -> np.ndarray:
        """Weights of the constant."""
        constants = self._weights()[:, self.n_features_in_ :]
        return self._lead(constants.sum(axis=1))

    @property
    def exploration_(self) -> float:
        """The share of rounds that explore, in the next one."""
        return self._fitted_rounds().schedule.rate

    @property
    def error_rate_(self) -> float:
        """The share of rounds in which the class shown was wrong."""
        rounds = self._fitted_rounds()
        return rounds.n_mistakes / rounds.n_rounds if rounds.n_rounds else np.nan

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return self._fitted_rounds().n_rounds

    def _fitted_rounds(self):
        check_is_fitted(self, "classes_")
        return self._rounds

    def _weights(self):
        return self._fitted_rounds().model.weights

    def _lead(self, weights):
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    def _class_scores(self, X):
        rounds = self._fitted_rounds()
        X = self._check_rows(X, reset=False)
        scores = np.empty((X.shape[0], len(self.classes_)))
        for block in self._blocks(X):
            scores[block] = self._played(rounds.score, X, block)
        return scores

    def _play(self, X, labels, scores=None):
        for block in self._blocks(X):
            draws = self._random_state.random_sample(block.stop - block.start)
            of_block = None if scores is None else scores[block]
            self._played(self._rounds.play, X, block, labels[block], draws, of_block)

    def _blocks(self, X):
        """Slices of the rows, for a call of the compiled loop each."""
        return row_blocks(X, BATCH, dense=self._standardises)

    def _played(self, play, X, block, *arguments):
        """What a method of the rounds makes of a block of rows."""
        X = X[block]
        played = play(Rows(to_dense(X) if self._standardises else X, self._constant), *arguments)
        # A mirror map may have met an error, which the compiled loop cannot raise. The model is
        # asked, not the parameter, which may have changed since.
        if isinstance(self._rounds.model, MirrorDescent):
            self._rounds.model.mirror_map.raise_error()
        return played

    def _prepare_rounds(self, X, y, classes, *, restart=False):
        X, _, labels, _ = self._check_and_start(X, y, classes, None, restart=restart)
        return X, labels

    def _start_model(self, classes):
        if self.exploration == 0 and self.second_order is None:
            raise ValueError(
                "exploration=0 shows always the class believed best, from which Banditron cannot "
                "learn of the others: set it above 0, or choose second_order"
            )
        self._standardises = (
            self.second_order is not None
            and self.clip is not None
            and self.fit_intercept
            and not self._starts_sparse
        )
        model = self._make_model(len(classes))
        self.classes_ = classes
        self._constant = float(self.fit_intercept)
        self._random_state = check_random_state(self.random_state)
        self._rounds = BanditRounds(model, make_schedule(self.exploration))

    def _make_model(self, n_classes):
        n_features, kind = self.n_features_in_, self.second_order
        width = n_features + self.fit_intercept
        if kind is None:
            rate = self.learning_rate
            if rate == "auto":
                rate = np.nan if self.mirror_map == "entropy" else 1.0
            mirror_map = make_mirror_map(self.mirror_map, n_classes, width)
            return MirrorDescent(n_features, mirror_map, rate)
        if self.mirror_map != "euclidean":
            raise ValueError(
                f"mirror_map={self.mirror_map!r} does not go with second_order={kind!r}, which "
                "solves a regression: leave one of them out"
            )
        alpha = ALPHA[kind] if self.alpha == "auto" else self.alpha
        bonus = BONUS[kind] if self.bonus == "auto" else self.bonus
        clip = self.clip if self._standardises else 0.0
        return SECOND_ORDER[kind](n_features, n_classes, width, alpha, bonus, clip)

    def _check_rows(self, X, *, reset):
        X = super()._check_rows(X, reset=reset)
        if reset:
            self._starts_sparse = sparse.issparse(X)
        return X
