"""Stacking of label rankers, weighted by the rankings of held-out samples.

A default member is an entry of the list in `recommended_rankers`, at the end of this file, a name
in its example, and a line in the docstring of `StackedRanker`;
`tests/label_ranking/test_stacked.py` runs for each entry. It learns incomplete rankings (NaN), and
as few as four samples; it has the parameter `random_state` if it is random; it scales the features
if their scale matters; and it can be pickled. Only a new class needs more: `_bounded_scores` if its
scores are not bounded, `oob_decision_function_` if it has `oob_score`, `alpha_` if it has
`alpha="auto"`. `benchmarks/label_ranking_quality.py` prints what a member earns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh
from scipy.linalg.lapack import dpotri
from sklearn.base import TransformerMixin, clone
from sklearn.gaussian_process.kernels import Matern
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler
from sklearn.utils import Bunch
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from sklrank._checks import check_positions, relative_positions
from sklrank._estimators import (
    BaseEstimator,
    StrOptions,
    _BaseComposition,
    _safe_indexing,
    draw_seed,
    minimize_smooth,
    one_blas_thread,
    parallel,
)
from sklrank._typing import Self
from sklrank.label_ranking._inner_rankers import (
    check_frozen_labels,
    decision_function,
    fit_and_score,
    fit_pair_scale,
    fit_ranker,
    folds_of_held_out,
    held_out_positions,
    is_ranker,
    last_ranker,
    split_rankings,
)
from sklrank.label_ranking._label_ranker import (
    LabelRanker,
    MetaLabelRanker,
    PairProbaMixin,
    of_rankers,
)
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._pairwise import PairwiseRanker, weights_or_ones
from sklrank.label_ranking._plackett_luce.ranker import PlackettLuceRanker
from sklrank.label_ranking._stack_weights import PairCorrection, non_negative_weights
from sklrank.metrics import kendall_tau_score

# With more samples one fold tells the weights as well as five, in a fifth of the time.
_MANY_SAMPLES = 5000
# Samples from which the widths are learned, which takes the cube of their number. There are at most
# half as many widths; if there are more features, all of them have one width.
_N_WIDTH_SAMPLES = 200
MATERN = Matern(1.0, nu=1.5)


@of_rankers
class StackedRanker(PairProbaMixin, MetaLabelRanker, _BaseComposition):
    r"""Label ranker that combines the scores of several rankers by a weighted sum.

    No single ranker is the most accurate on all data. Forests are accurate if the positions change
    abruptly with the features, linear models if few samples determine many weights, and kernel
    methods in between. This class stacks several rankers [1]_: each is fitted to a part of the
    training data, and scores the held-out samples. The weights are the solution of a non-negative
    least-squares regression of the negative relative positions of the held-out samples on the
    scores, all centered within each sample. The rankers with positive weights are then fitted to
    all samples. The score of a :class:`PlackettLuceRanker`, also inside of a pipeline or a search,
    is the negative expected position of the label, which is bounded.

    A ranker has the same weight for all labels. The last step therefore corrects the weighted sum
    for each pair of labels. ``name__parameter`` is a parameter of the ranker of this name.

    The package recommends the default parameters. They need no tuning, but many fits;
    ``examples/paper_label_ranking.py`` evaluates them on the benchmark data sets of [2]_.

    Parameters
    ----------
    estimators : list of (str, label ranker) or None, default=None
        The rankers with their names. If None, they are those of
        :func:`~sklrank.label_ranking.recommended_rankers`; see the notes.
    cv : {"auto"}, int, cross-validation generator or iterable, default="auto"
        Held-out samples. If "auto", five shuffled folds, or one split that holds out a fifth of
        more than 5000 samples. Other values are those of scikit-learn.
    pair_correction : bool, default=True
        Whether to correct the weighted sum for each pair of labels; see the notes.
    random_state : int, RandomState instance or None, default=None
        Controls the folds if ``cv="auto"`` and the default rankers, no others.
    n_jobs : int or None, default=None
        Number of rankers that fit or predict in parallel. Each fit uses one BLAS thread.

    Attributes
    ----------
    estimators_ : list of label rankers
        The rankers with positive weights, fitted to all samples.
    named_estimators_ : Bunch
        The rankers of `estimators_`, accessible by name.
    weights_ : dict of str to float
        Weight of every ranker. As scores have different scales, compare `shares_` instead.
    correction_weights_ : ndarray of shape (2,)
        Weights of the weighted sum and of the total of the probabilities; (1, 0) if the weighted
        sum is not corrected.
    pair_scale_ : float
        Factor of the scores in the logistic model of `predict_pair_proba`.
    shares_ : dict of str to float
        Weight of every ranker times the root mean square of its centered held-out scores,
        normalized to sum to 1.
    {attributes}

    See Also
    --------
    LabelwiseRanker : Learns positions with one regressor.
    PairwiseRanker : Learns comparisons with one classifier.

    Notes
    -----
    The default rankers, which learn from incomplete rankings, too:

    ==================  ===========================================================================
    Name                Ranker
    ==================  ===========================================================================
    "forest"            The default :class:`LabelwiseRanker`, with out-of-bag scores.
    "kernel"            :class:`LabelwiseRanker` with ridge regression on at most 500 Nyström
                        features of a Matérn kernel, with a width for each of up to 100 features:
                        those of Gaussian processes of the largest marginal likelihood.
    "linear"            :class:`PlackettLuceRanker` on standardized features.
    "radial"            The same with a Gaussian kernel.
    "pairwise_splines"  :class:`PairwiseRanker` with logistic regression and soft votes, on cubic
                        splines of each of up to 300 features.
    ==================  ===========================================================================

    Two kinds need fewer fits. A :class:`LabelwiseRanker` with ``oob_score=True`` is fitted once, to
    all samples: its held-out scores are out-of-bag scores. A :class:`PlackettLuceRanker` with
    ``alpha="auto"`` chooses its penalty once, from all samples.

    The correction is a logistic regression for each pair of labels, of which comes first, on the
    two weighted sums, their difference, the squares and products of these. The probabilities that a
    label comes before others are added up, and combined with the weighted sum by non-negative least
    squares. There is none with fewer than 20 held-out samples, or if it does not increase their
    mean Kendall tau.

    References
    ----------
    .. [1] Breiman, "Stacked regressions", Machine Learning 24, 1996.
    .. [2] Fotakis et al., "Label ranking through nonparametric regression", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
    >>> X = np.random.RandomState(0).normal(size=(100, 3))
    >>> Y = np.argsort(np.argsort(X, axis=1), axis=1)  # positions are those of the features
    >>> ranker = StackedRanker(
    ...     [
    ...         ("linear", LabelwiseRanker(Ridge())),
    ...         ("logistic", PairwiseRanker(LogisticRegression(), voting="soft")),
    ...     ],
    ...     random_state=0,
    ... ).fit(X, Y)
    >>> ranker.predict([[0.1, 0.9, -0.3]])
    array([[2, 3, 1]])
    >>> max(ranker.shares_, key=ranker.shares_.get)
    'logistic'
    """

    _parameter_constraints: dict = {
        **MetaLabelRanker._parameter_constraints,
        "estimators": [list, None],
        "cv": [StrOptions({"auto"}), "cv_object"],
        "pair_correction": ["boolean"],
    }

    def __init__(
        self,
        estimators: list[tuple[str, Any]] | None = None,
        *,
        cv: Any = "auto",
        pair_correction: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.pair_correction = pair_correction
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def named_estimators_(self) -> Bunch:
        """Fitted rankers with positive weights, by name."""
        check_is_fitted(self)
        kept = [name for name, weight in self.weights_.items() if weight > 0]
        return Bunch(**dict(zip(kept, self.estimators_)))

    def get_params(self, deep: bool = True) -> dict:
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        return self._set_params("estimators", **params)

    def _fit_rankings(self, X, positions, sample_weight):
        # A fold of weights 0 would have nothing to learn from. Lists of folds are of all samples.
        may_drop = sample_weight is not None and not isinstance(self.cv, Iterable)
        if may_drop and (sample_weight == 0.0).any():
            kept = np.flatnonzero(sample_weight)
            X = _safe_indexing(X, kept)
            positions, sample_weight = positions[kept], sample_weight[kept]
        seed = draw_seed(self.random_state)
        names, rankers = zip(*self._named_templates(seed))
        for ranker in rankers:
            check_frozen_labels(ranker, self.classes_)
        folds = self._folds(X, positions, seed)
        in_folds = [i for i, ranker in enumerate(rankers) if not has_oob_scores(ranker)]
        n_fits = len(rankers) + len(in_folds) * len(folds)
        # Out-of-bag scores and the choice of a penalty need the fit to all samples.
        first = [i for i, each in enumerate(rankers) if has_oob_scores(each) or chooses_alpha(each)]
        models = self._fit_rankers(rankers, first, X, positions, sample_weight, n_fits)
        unseen, held_out = held_out_positions(positions, folds)
        calls = [
            delayed(fit_and_score)(
                with_alpha_of(models.get(i), rankers[i]),
                X,
                positions,
                *fold,
                mask,
                stacked_scores,
                sample_weight,
            )
            for i in in_folds
            for fold, mask in zip(folds, unseen)
        ]
        fold_scores = iter(self._fit_in_parallel(calls, "ranker on a fold", n_fits))
        samples = np.concatenate([test for _, test in folds])
        scores = np.array(
            [
                np.concatenate([next(fold_scores) for _ in folds])
                if i in in_folds
                else models[i].oob_decision_function_[samples]
                for i in range(len(rankers))
            ]
        )
        of_held_out = weights_or_ones(sample_weight, len(positions))[samples]
        weights, shares = non_negative_weights(scores, held_out, of_held_out)
        combined = np.tensordot(weights, scores, axes=1)
        combined = self._correct(combined, held_out, of_held_out, folds_of_held_out(folds))
        self.pair_scale_ = fit_pair_scale(combined, held_out, of_held_out)
        kept = np.flatnonzero(weights)
        missing = [i for i in kept if i not in models]
        models.update(self._fit_rankers(rankers, missing, X, positions, sample_weight))
        self.estimators_ = [models[i] for i in kept]
        self.weights_ = dict(zip(names, weights.tolist()))
        self.shares_ = dict(zip(names, shares.tolist()))

    def _fit_rankers(self, rankers, chosen, X, positions, sample_weight, n_fits=None):
        """Return a dictionary of clones of the chosen rankers, fitted to all samples."""
        calls = [
            delayed(fit_ranker)(clone(rankers[i]), X, positions, None, sample_weight)
            for i in chosen
        ]
        return dict(zip(chosen, self._fit_in_parallel(calls, "ranker", n_fits)))

    @one_blas_thread
    def _correct(self, combined, positions, sample_weight, folds):
        """Fit the correction to the combined scores of held-out samples; return corrected scores.

        The folds divide the held-out samples once more.
        """
        self._correction, self.correction_weights_ = None, np.array([1.0, 0.0])
        # A pair of labels has ten weights, for which twice as many samples are needed.
        if not self.pair_correction or len(combined) < 20:
            return combined
        correction, votes = PairCorrection(), np.empty_like(combined)
        for train, test in folds:
            correction.fit(combined[train], positions[train], sample_weight[train])
            votes[test] = correction.votes(combined[test])
        weights, _ = non_negative_weights(np.array([combined, votes]), positions, sample_weight)
        corrected = weights[0] * combined + weights[1] * votes
        tau, before = (
            kendall_tau_score(positions, -scores, sample_weight=sample_weight)
            for scores in (corrected, combined)
        )
        if tau <= before:
            return combined
        self._correction = correction.fit(combined, positions, sample_weight)
        self.correction_weights_ = weights
        return corrected

    def _named_templates(self, seed):
        if self.estimators is None:
            return recommended_rankers(self.n_features_in_, random_state=seed)
        if not self.estimators:
            raise ValueError("estimators is empty; pass at least one named ranker, or None")
        for entry in self.estimators:
            if not is_named(entry) or not is_ranker(entry[1]):
                raise ValueError(
                    "estimators must be a list of (name, label ranker), such as "
                    f"('trees', LabelwiseRanker()); got {entry!r}"
                )
        self._validate_names([name for name, _ in self.estimators])
        return self.estimators

    def _templates(self):
        templates = recommended_rankers() if self.estimators is None else self.estimators
        if not isinstance(templates, Sequence):
            return []  # `fit` raises the error.
        return [entry[1] for entry in templates if is_named(entry) and is_ranker(entry[1])]

    def _folds(self, X, positions, seed):
        """Return a list with the indices of the training and the held-out samples of each fold."""
        if not isinstance(self.cv, str):
            cv = self.cv
        elif len(positions) > _MANY_SAMPLES:
            cv = ShuffleSplit(1, test_size=0.2, random_state=seed)
        elif len(positions) < 5:
            raise ValueError(
                f"cv='auto' makes 5 folds, but n_samples={len(positions)}: use a single ranker "
                "instead of a stack, or another cv"
            )
        else:
            cv = KFold(5, shuffle=True, random_state=seed)
        return split_rankings(cv, X, positions, self.cv)

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        scores = parallel(n_jobs=self.n_jobs)(
            delayed(stacked_scores)(ranker, X) for ranker in self.estimators_
        )
        weights = [weight for weight in self.weights_.values() if weight > 0]
        combined = np.tensordot(weights, scores, axes=1)
        if self._correction is None:
            return combined
        sum_weight, votes_weight = self.correction_weights_
        return sum_weight * combined + votes_weight * self._correction.votes(combined)


def recommended_rankers(
    n_features: int = 1, *, random_state: int | np.random.RandomState | None = None
) -> list:
    """Return the rankers that :class:`StackedRanker` combines by default.

    Parameters
    ----------
    n_features : int, default=1
        Number of features of the samples. With more than 300, there are no splines.
    random_state : int, RandomState instance or None, default=None
        Controls the randomness of the rankers.

    Returns
    -------
    list of (str, label ranker)
        The rankers with their names, which the notes of :class:`StackedRanker` describe.

    Examples
    --------
    >>> from sklrank.label_ranking import StackedRanker, recommended_rankers
    >>> rankers = recommended_rankers(random_state=0)
    >>> [name for name, _ in rankers]
    ['forest', 'kernel', 'linear', 'radial', 'pairwise_splines']
    >>> fast = StackedRanker([entry for entry in rankers if entry[0] in ("forest", "linear")])
    """
    forest = LabelwiseRanker(incomplete="relative", oob_score=True, random_state=random_state)
    ridge = RidgeCV(np.logspace(-3, 1, 5))
    ridge = LabelwiseRanker(ridge, multi_output="auto", incomplete="relative")
    rankers = [
        ("forest", forest),
        ("kernel", make_pipeline(KernelFeatures(random_state=random_state), ridge)),
        ("linear", PlackettLuceRanker(random_state=random_state)),
        ("radial", PlackettLuceRanker(kernel="rbf", random_state=random_state)),
    ]
    # Splines have six times as many weights as there are features.
    if n_features <= 300:
        splines = SplineTransformer(5, knots="quantile", extrapolation="linear", include_bias=False)
        logistic = PairwiseRanker(LogisticRegression(max_iter=1000), voting="soft")
        flush = FunctionTransformer(flush_tiny)
        steps = StandardScaler(), flush, splines, StandardScaler(), logistic
        rankers.append(("pairwise_splines", make_pipeline(*steps)))
    return rankers


def flush_tiny(X):
    """Return standardized features without entries whose intervals of knots may be subnormal."""
    return np.where(np.abs(X) < 1e-200, 0.0, X)


def is_named(entry):
    return isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str)


def stacked_scores(ranker, X):
    """Return the scores of a ranker that are stacked."""
    ranker, X = last_ranker(ranker, X)
    if isinstance(ranker, LabelRanker):
        return ranker._bounded_scores(X)
    return decision_function(ranker, X)


def has_oob_scores(ranker):
    return getattr(ranker, "oob_score", False)


def last_step(ranker):
    return ranker[-1] if isinstance(ranker, Pipeline) else ranker


def chooses_alpha(ranker):
    return str(getattr(last_step(ranker), "alpha", None)) == "auto"


def with_alpha_of(model, ranker):
    """Return a clone of a ranker; the penalty is that of the model, if it has chosen one."""
    ranker = clone(ranker)
    if chooses_alpha(ranker):
        last_step(ranker).set_params(alpha=last_step(model).alpha_)
    return ranker


class KernelFeatures(TransformerMixin, BaseEstimator):
    """Nyström features of a Matérn kernel with a width for each standardized feature, `widths_`.

    The widths maximize the marginal likelihood of Gaussian processes, one for each label, of the
    relative positions. At most `n_components` samples are centers of the kernel.
    """

    _doc_link_module = ""  # private, without a page in the documentation

    def __init__(self, n_components=500, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y):
        """Learn the widths from samples `X` and positions `y`, with NaN for missing labels."""
        X = validate_data(self, X, dtype=np.float64)
        self.scaler_ = StandardScaler().fit(X)
        X, positions = self.scaler_.transform(X), check_positions(y, evidence=None)
        some = np.linspace(0, len(X) - 1, min(len(X), _N_WIDTH_SAMPLES)).astype(np.intp)
        self.widths_ = learn_widths(X[some], positions[some])
        drawn = np.random.RandomState(draw_seed(self.random_state)).permutation(len(X))
        self.centers_ = X[drawn[: self.n_components]] / self.widths_
        values, vectors = eigh(MATERN(self.centers_))
        self.projection_ = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        return self

    def transform(self, X):
        """Return the kernel features of the samples."""
        check_is_fitted(self)
        X = self.scaler_.transform(validate_data(self, X, reset=False, dtype=np.float64))
        return MATERN(X / self.widths_, self.centers_) @ self.projection_


def learn_widths(X, positions):
    """Return the width of each feature."""
    targets = np.ma.masked_invalid(relative_positions(positions))
    targets = (targets - targets.mean(axis=0)).filled(0.0)
    deviation = targets.std()
    n_features = X.shape[1]
    distance = np.sqrt(n_features)
    if not deviation:
        return np.full(n_features, distance)
    n_widths = n_features if 2 * n_features <= _N_WIDTH_SAMPLES else 1
    start = np.log([1.0, *np.full(n_widths, distance), 0.3])
    # Up to a thousandfold: a feature of such a width has no effect.
    bounds = [(log - np.log(1e3), log + np.log(1e3)) for log in start]
    loss = partial(process_loss, X=X, targets=targets / deviation)
    found = minimize_smooth(loss, start, bounds, maxiter=50)
    return np.broadcast_to(np.exp(found.x[1:-1]), n_features).copy()


def process_loss(logs, X, targets):
    r"""Return the negative log marginal likelihood of Gaussian processes, and its gradient.

    The parameters are the logarithms of the variance of the processes, of the widths of the
    features, or of their common width, and of the variance of the noise. The targets have shape
    `(n_samples, n_labels)`.

    The derivative by an entry of the covariance K is half of that of
    :math:`M = A A^T - n_{labels} K^{-1}`, with :math:`A = K^{-1} Y`. The sum over pairs of samples
    :math:`\sum_{ij} W_{ij} (x_i - x_j)^2` is :math:`2 (r^T x^2 - x^T W x)` for a symmetric W with
    the row sums r: no array has an entry for each pair of samples and each feature.
    """
    n_samples, n_labels = targets.shape
    variance, noise = np.exp(logs[[0, -1]])
    scaled = X / np.exp(logs[1:-1])
    products = scaled @ scaled.T
    squares = np.diag(products)
    distances = np.sqrt(3.0 * (squares[:, np.newaxis] + squares - 2.0 * products).clip(0.0))
    decay = variance * np.exp(-distances)
    signal = (1.0 + distances) * decay
    # The sum is that of scikit-learn's `GaussianProcessRegressor`, whose parameter alpha is 1e-10.
    factor = cholesky(signal + (noise + 1e-10) * np.eye(n_samples), lower=True)
    inverse, _ = dpotri(factor, lower=True)
    inverse += np.tril(inverse, -1).T
    solved = inverse @ targets
    log_determinant = 2.0 * np.log(np.diag(factor)).sum() + n_samples * np.log(2.0 * np.pi)
    loss = 0.5 * (np.sum(targets * solved) + n_labels * log_determinant)
    derivative = solved @ solved.T - n_labels * inverse
    weights = 3.0 * derivative * decay
    by_width = weights.sum(axis=1) @ scaled**2 - np.sum(scaled * (weights @ scaled), axis=0)
    if len(logs) == 3:
        by_width = [by_width.sum()]
    by_variance, by_noise = 0.5 * np.sum(derivative * signal), 0.5 * noise * np.trace(derivative)
    return loss, -np.array([by_variance, *by_width, by_noise])
