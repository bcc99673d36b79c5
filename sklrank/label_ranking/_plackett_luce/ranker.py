"""Conditional Plackett-Luce model: maximum likelihood with linear or kernel scores."""

from __future__ import annotations

import warnings
from copy import copy
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import as_numbers, check_entries, check_rows, check_weights, column_names
from sklrank._compiled import shared_call
from sklrank._estimators import (
    Interval,
    StrOptions,
    _fit_context,
    draw_seed,
    one_blas_thread,
    unchanged_on_error,
)
from sklrank._typing import Self
from sklrank.label_ranking._label_ranker import LabelRanker, of_rankers
from sklrank.label_ranking._plackett_luce.inference import (
    PlackettLuceInference,
    undetermined_labels,
)
from sklrank.label_ranking._plackett_luce.likelihood import (
    TIES,
    PenalizedLikelihood,
    principal_axes,
)
from sklrank.label_ranking._plackett_luce.predictions import PlackettLucePredictions


@of_rankers
class PlackettLuceRanker(PlackettLuceInference, PlackettLucePredictions, LabelRanker):
    r"""Label ranker that learns a conditional Plackett-Luce model by maximum likelihood.

    In the Plackett-Luce model [1]_ [2]_, a ranking is drawn from best to worst: in each step, a
    label among those left, with a probability proportional to :math:`\exp(s_l(x))`. The scores
    :math:`s_l(x) = w_l \cdot \phi(x) + b_l` are linear in features of the sample [3]_. The weights
    minimize

    .. math:: -\sum_i v_i \log P(\sigma_i \mid x_i) + \frac{\alpha}{2} \sum_l \|w_l\|^2,

    where :math:`v_i` are the sample weights. The intercepts :math:`b_l` are not penalized. The
    function is convex and is minimized by L-BFGS, with the features rotated to their principal
    axes: an eigendecomposition of the order of the smaller one of n_samples and n_features.

    The likelihood of an incomplete ranking is the probability of the order of its labels; `ties`
    determines that of tied labels. If samples have no features, pass a constant column as `X`.

    If the labels have features, `item_features` of `fit`, the score of a label is a linear function
    of its features :math:`z_l`, :math:`s_l(x) = z_l \cdot (V \phi(x) + v)`, and
    :meth:`with_item_features` ranks other labels.

    For publications, :meth:`summary` is a table of the estimates; use a small `tol`, such as 1e-6.

    Parameters
    ----------
    kernel : {"linear", "rbf"}, default="linear"
        Features of the model: the standardized features of the samples ("linear"), or Nyström
        features of a Gaussian kernel on these ("rbf").
    alpha : float or {"auto"}, default="auto"
        Strength of the L2 penalty. If 0, the estimates are those of maximum likelihood, which
        :meth:`summary` and tests need. If "auto", it is chosen by the mean log-likelihood of
        held-out samples; see the notes.
    gamma : float or None, default=None
        Coefficient of the Gaussian kernel :math:`\exp(-\gamma \|x - x'\|^2)`, positive. If None,
        it is 1 / n_features. Used only if ``kernel="rbf"``.
    n_components : int, default=300
        Number of Nyström features, at most that of samples. Used only if ``kernel="rbf"``.
    ties : {"exclude", "breslow", "davidson"}, default="exclude"
        Likelihood of tied labels; see the notes.
    tol : float, default=0.01
        L-BFGS stops if no component of the gradient exceeds this value, in units of about a
        standard error of the weights. To choose `alpha`, it is at least 0.1.
    random_state : int, RandomState instance or None, default=None
        Controls the samples that define the Nyström features. Used only if ``kernel="rbf"``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features in their units: the scores are ``X @ coef_.T + intercept_``. Their
        means over the labels are 0. Defined only if ``kernel="linear"``.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts. Their mean is 0. Defined only if ``kernel="linear"``.
    alpha_ : float
        The strength of the penalty.
    log_likelihood_ : float
        Log-likelihood of the training rankings, without the penalty.
    tie_prevalences_ : dict of int to float
        The prevalence of ties of each number of labels. Empty unless ``ties="davidson"``.
    item_coef_ : ndarray of shape (n_item_features, n_components)
        Weights V of standardized item features and of `features_`. Only with `item_features`.
    item_intercept_ : ndarray of shape (n_item_features,)
        Intercepts v. Defined only with `item_features`.
    item_scaler_ : StandardScaler
        Standardizes item features. Defined only with `item_features`.
    validation_scores_ : dict of float to float
        Mean log-likelihood of held-out samples for each `alpha` tried. Only if ``alpha="auto"``.
    features_ : transformer
        The fitted transformer that computes the features.
    n_iter_ : int
        Number of iterations of L-BFGS in the fit to all samples.
    {attributes}

    See Also
    --------
    StackedRanker : Combines this ranker with others.
    PairwiseRanker : Learns a classifier for each pair of labels.

    Notes
    -----
    ===========  ==================================================================================
    ties         Tied labels
    ===========  ==================================================================================
    "exclude"    are compared with the labels after the tie only: their order is unknown. Last
                 labels that are tied because they were not ranked, as ``unlisted="last"`` of
                 :func:`positions_from_survey` returns them, need this option.
    "breslow"    are compared with each other, too, as in Breslow's approximation of Cox's partial
                 likelihood [4]_: equally good labels, whose scores become similar.
    "davidson"   are outcomes, the more probable the more similar their scores, with a parameter for
                 each number of them [5]_ [6]_: respondents may answer that labels are equally good.
                 Probabilities of predictions are those of rankings without ties.
    ===========  ==================================================================================

    The candidates of ``alpha="auto"`` are the powers of ten from 1e4 down to 1e-5, until the
    likelihood decreases or two of them do not increase it, then the best one multiplied and divided
    by the square root of ten. Each fifth of the samples is held out in turn; of more than 1000
    samples, the first one only.

    References
    ----------
    .. [1] Duncan Luce, "Individual Choice Behavior", Wiley, 1959.
    .. [2] Robin Plackett, "The analysis of permutations", Applied Statistics 24, 1975.
    .. [3] Cheng et al., "Label ranking methods based on the Plackett-Luce model", ICML 2010.
    .. [4] Norman Breslow, "Covariance analysis of censored survival data", Biometrics 30, 1974.
    .. [5] Roger Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
       comparison experiments", Journal of the American Statistical Association 65, 1970.
    .. [6] H. Turner, J. van Etten, D. Firth and I. Kosmidis, "Modelling rankings in R: the
       PlackettLuce package", Computational Statistics 35, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.label_ranking import PlackettLuceRanker
    >>> X = np.random.RandomState(0).normal(size=(100, 3))
    >>> Y = np.argsort(np.argsort(-X, axis=1), axis=1) + 1.0  # large features are ranked first
    >>> Y[::3, 1] = np.nan  # not ranked
    >>> ranker = PlackettLuceRanker(random_state=0).fit(X, Y)
    >>> ranker.predict([[0.1, 0.9, -0.3]])
    array([[2, 1, 3]])
    >>> ranker.predict_proba([[0.0, 0.1, -0.1]]).argmax()  # the label that is most likely first
    np.int64(1)
    """

    # These expect that an estimator with `predict_proba` is a classifier.
    _failed_checks = dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "predict_proba returns the probabilities of labels to be first",
    )
    _takes_sparse_rankings = True
    _accepts_sparse = True
    _parameter_constraints: dict = {
        "kernel": [StrOptions({"linear", "rbf"})],
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "ties": [StrOptions(set(TIES))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf"] = "linear",
        alpha: float | Literal["auto"] = "auto",
        gamma: float | None = None,
        n_components: int = 300,
        ties: Literal["exclude", "breslow", "davidson"] = "exclude",
        tol: float = 0.01,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.gamma = gamma
        self.n_components = n_components
        self.ties = ties
        self.tol = tol
        self.random_state = random_state

    def _check_rows(self, X, *, reset):
        X = check_rows(self, X, reset=reset, dtype=np.float64)
        check_entries(X)
        # The features are centered, which would make most entries of a sparse matrix nonzero.
        return X.toarray() if sparse.issparse(X) else X

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        item_features: ArrayLike | None = None,
    ) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples. A sparse matrix is converted to a dense one.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Positions of the labels. A smaller position is better, and only their order matters.
            Equal positions mark tied labels, and NaN marks a label that is not ranked. The stored
            entries of a CSR matrix are the positions of the labels that are ranked; time and memory
            then depend on their number.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: one of weight 2 counts as two samples. If None, all are 1.
        item_features : array-like of shape (n_labels, n_item_features), default=None
            Features of the labels, fewer than labels, such as prices. If both are data frames, the
            index of `item_features` must contain the columns of `y`. If None, each label has
            parameters of its own.

        {returns_self}
        """
        with unchanged_on_error(self):
            if hasattr(item_features, "iloc") and column_names(y) is None:
                # Labels that are no strings, such as numbers, are not kept: match them here.
                labels, rows = list(getattr(y, "columns", ())), list(item_features.index)
                if len(set(rows)) == len(rows) == len(labels) and set(rows) == set(labels):
                    item_features = item_features.loc[labels]
            return self._fit(X, y, sample_weight, item_features=item_features)

    def _fit_rankings(self, X, positions, sample_weight, item_features):
        seed = draw_seed(self.random_state)
        weights = check_weights(sample_weight, len(X), positive=True)
        seen = weights > 0
        X, positions, weights = X[seen], positions[seen], weights[seen]
        self.features_ = self._fit_features(X, weights, seed)
        features = self.features_.transform(X)
        self._fitted_ties = self.ties
        design = self._item_design(item_features)
        problem = PenalizedLikelihood(features, positions, weights, self.ties, design)
        problem.seen = seen
        self._directions = design
        self._maximize(problem)
        self._undetermined = None
        # Features of labels may determine the scores of those that are not compared.
        if design is None:
            self._undetermined = undetermined_labels(problem, self.classes_, self.alpha_)
        self._warn_if_undetermined()
        # Weights of features of a kernel have no interpretation, and there are many.
        self._problem = problem if self.kernel == "linear" else None

    def _item_design(self, item_features):
        """Return orthonormal columns that span the centered item features, or None without."""
        for name in ("item_coef_", "item_intercept_", "item_scaler_"):
            vars(self).pop(name, None)
        self._item_directions = None
        if item_features is None:
            return None
        features, names = _check_item_features(item_features)
        classes = self.classes_.tolist()
        if len(features) != len(classes):
            raise ValueError(
                f"item_features must have one row for each of the {len(classes)} labels, got "
                f"{len(features)} rows"
            )
        if names is not None and isinstance(classes[0], str):
            if sorted(names) != sorted(classes):
                raise ValueError(f"item_features must have the index {classes}, got {names}")
            features = features[[names.index(label) for label in classes]]
        columns = column_names(item_features)
        self._item_names = np.arange(features.shape[1]) if columns is None else columns
        self.item_scaler_ = StandardScaler().fit(features)
        features = self.item_scaler_.transform(features)
        axes = principal_axes(features)
        lengths = np.linalg.norm(features @ axes, axis=0)
        if not len(lengths):
            raise ValueError("item_features must differ between labels, but all are constant")
        self._item_directions = axes / lengths
        return features @ self._item_directions

    @one_blas_thread
    def _maximize(self, problem):
        vars(self).pop("validation_scores_", None)
        if self.alpha == "auto":
            self.validation_scores_ = self._validate_alphas(problem)
            self._maximize_with(best_alpha(self.validation_scores_), problem)
        else:
            for alpha in self._track([float(self.alpha)], "alpha", may_stop=False):
                self._maximize_with(alpha, problem)

    def _maximize_with(self, alpha, problem):
        self.alpha_ = alpha
        self._parameters, self.n_iter_, stopped = problem.solve(alpha, tol=self.tol)
        solution, log_prevalences = problem.unpack(self._parameters)
        self.tie_prevalences_ = dict(zip(problem.orders, np.exp(log_prevalences).tolist()))
        self.log_likelihood_ = float(problem.log_likelihood(self._parameters))
        # Only differences between labels count.
        weights = problem.by_label(solution)
        weights = weights - weights.mean(axis=1, keepdims=True)
        self._coef, self._intercept = problem.coefficients(weights)
        if self._item_directions is not None:
            weights = solution @ self._item_directions.T
            self.item_coef_, self.item_intercept_ = problem.coefficients(weights)
        if stopped:
            warnings.warn(
                f"PlackettLuceRanker stopped after {self.n_iter_} iterations: increase tol or "
                "alpha, or remove features of extreme values",
                ConvergenceWarning,
                stacklevel=2,
            )

    def with_item_features(self, item_features: ArrayLike) -> Self:
        """Return a ranker of other labels, which are known by their features only.

        Parameters
        ----------
        item_features : array-like of shape (n_labels, n_item_features)
            Features of the labels, in the columns of `fit`. The index of a data frame, if its
            entries are strings, is the names of the labels.

        Returns
        -------
        PlackettLuceRanker
            A fitted ranker whose `classes_` are the labels, with all predictions and
            :meth:`summary` of these; tests of the fit are those of the training labels.

        Examples
        --------
        >>> import numpy as np
        >>> from sklrank.label_ranking import PlackettLuceRanker
        >>> prices, Y = [[1.0], [2.0], [3.0]], [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
        >>> ranker = PlackettLuceRanker(alpha=0.0).fit(np.ones((3, 1)), Y, item_features=prices)
        >>> ranker.with_item_features([[2.5], [1.5]]).predict([[1.0]])  # cheap ones are preferred
        array([[2, 1]])
        """
        check_is_fitted(self)
        if self._item_directions is None:
            raise ValueError("the ranker has no item features: fit it with item_features=...")
        features, names = _check_item_features(item_features)
        columns = column_names(item_features)
        if features.shape[1] != len(self._item_names) or not (
            columns is None or np.array_equal(columns, self._item_names)
        ):
            raise ValueError(
                f"item_features must have the columns {self._item_names.tolist()} of fit, got "
                f"{features.shape[1] if columns is None else columns.tolist()}"
            )
        ranker = copy(self)
        ranker._problem = getattr(self, "_problem", None)  # A copy has none.
        features = self.item_scaler_.transform(features)
        named = names is not None and len(set(names)) == len(names)
        ranker.classes_ = np.array(names) if named else np.arange(len(features))
        ranker._coef = features @ self.item_coef_
        ranker._intercept = features @ self.item_intercept_
        ranker._directions = features @ self._item_directions
        return ranker

    def _fit_features(self, X, weights, seed):
        """Return the fitted transformer of samples, whose weights are positive."""
        scaler = StandardScaler().fit(X, sample_weight=weights)
        if self.kernel == "linear":
            return scaler
        kernel = Nystroem(
            gamma=1.0 / X.shape[1] if self.gamma is None else self.gamma,
            n_components=min(self.n_components, len(X)),
            random_state=seed,
        )
        return make_pipeline(scaler, kernel.fit(scaler.transform(X)))

    def _validate_alphas(self, problem):
        """Return the mean log-likelihood of held-out samples for each candidate of `alpha`."""
        n_samples = len(problem.weights)
        if n_samples == 1 or not problem.axes.size:
            return {1.0: 0.0}  # Nothing can be held out, or is penalized.
        # As many folds as scikit-learn's searches have. Of many samples one fold tells as much.
        n_folds = min(5, n_samples)
        fold_of = np.arange(n_samples) % n_folds
        tests = [fold_of == fold for fold in range(1 if n_samples > 1000 else n_folds)]
        parts = [(problem.part(~test), problem.part(test)) for test in tests]
        # The likelihoods of the candidates differ by far more than this tolerance.
        tol = max(self.tol, 0.1)
        solutions = [None] * len(parts)
        found = {}

        def candidates():
            for power in range(4, -6, -1):  # from almost constant to almost free
                yield 10.0**power
                best = best_alpha(found)
                # All strongly penalized models are almost constant: smaller declines are random.
                if found[10.0**power] < found[best] - 0.01:
                    break
                # All weakly penalized models are almost equal: two of them show that.
                if found[best] > found[1e4] + 0.01 and best >= 10.0 ** (power + 2):
                    break
            yield best * 10.0**0.5
            yield best / 10.0**0.5

        for alpha in self._track(candidates(), "alpha", n_items=12, may_stop=False):
            values = total = 0.0
            for fold, (train, test) in enumerate(parts):
                solutions[fold], *_ = train.solve(alpha, solutions[fold], tol=tol)
                values += test.log_likelihood(solutions[fold])
                total += test.weights.sum()
            found[alpha] = float(values / total) if total else 0.0
        return found

    @property
    @shared_call
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        scaler = self._scaler("coef_")
        return self._coef / scaler.scale_

    @property
    @shared_call
    def intercept_(self) -> np.ndarray:
        """Intercepts."""
        scaler = self._scaler("intercept_")
        return self._intercept - self._coef @ (scaler.mean_ / scaler.scale_)

    def _scaler(self, name):
        """Return the scaler of a linear model, which has the attribute `name`."""
        check_is_fitted(self)
        if not isinstance(self.features_, StandardScaler):
            raise AttributeError(
                f"{name} does not exist with kernel='rbf': scores are not linear in the features"
            )
        return self.features_

    def _warn_if_undetermined(self):
        if self._undetermined is not None:
            warnings.warn(f"{self._undetermined}, or do not rely on their scores", stacklevel=4)

    def _label_scores(self, X):
        check_is_fitted(self)
        self._warn_if_undetermined()
        features = self.features_.transform(self._check_rows(X, reset=False))
        return features @ self._coef.T + self._intercept


def _check_item_features(item_features):
    """Return item features as an array, and the names in the index of a data frame or None."""
    features = as_numbers(item_features, "item_features")
    features = check_array(features, input_name="item_features")
    check_entries(features, "item_features")
    # The data frames of polars have no index.
    names = list(item_features.index) if hasattr(item_features, "iloc") else []
    return features, names if names and all(isinstance(name, str) for name in names) else None


def best_alpha(log_likelihoods):
    """Return the penalty with the largest likelihood, the strongest one if several are equal."""
    return max(log_likelihoods, key=lambda alpha: (round(log_likelihoods[alpha], 9), alpha))
