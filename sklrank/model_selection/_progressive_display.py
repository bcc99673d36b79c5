"""Learning curves of online learners: plots of the running mean loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklrank._checks import check_same_order, is_integer
from sklrank._estimators import Display, draw_seed, seed_parameters, shares_text
from sklrank.model_selection._evaluators import make_evaluators, scoring_name
from sklrank.model_selection._progressive import progressive_val_score


@shares_text(ax_and_display="{ax}\n\n{display}")
class ProgressiveValidationDisplay(Display):
    """Plot of the running mean loss against the number of samples, with a line for each model.

    The line of several runs with different seeds is their mean, with a band of one standard
    deviation around it. Use :meth:`from_estimators` or :meth:`from_predictions` to create a
    display, or pass losses, such as those of :func:`progressive_val_score`, to the constructor.

    Parameters
    ----------
    losses : dict of str to array-like of shape (n_rounds,) or (n_seeds, n_rounds)
        Losses of each model for the samples in their order. A 2-d array has a row for each seed.
    scoring_name : str, default="loss"
        Name of the losses, used in the label of the vertical axis.

    Attributes
    ----------
    losses : dict of str to ndarray of shape (n_seeds, n_rounds)
        The losses of each model.
    scoring_name : str
        Name of the losses.
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the last plot.
    lines_ : list of matplotlib Line2D
        Line of each model, in the order of `losses`.
    bands_ : list of matplotlib PolyCollection or None
        Band of each model, or None for a model with a single seed.

    See Also
    --------
    progressive_val_score : Compute the losses.

    Examples
    --------
    >>> from sklrank.model_selection import ProgressiveValidationDisplay
    >>> display = ProgressiveValidationDisplay(
    ...     losses={"steady": [0.5, 0.5, 0.5], "learner": [[1.0, 0.5, 0.0], [0.0, 0.5, 0.25]]}
    ... )
    >>> display.mean_so_far("learner")
    array([[1.  , 0.75, 0.5 ],
           [0.  , 0.25, 0.25]])
    >>> display.plot().ax_.get_ylabel()
    'Mean loss so far'
    """

    def __init__(self, *, losses: Mapping[str, ArrayLike], scoring_name: str = "loss") -> None:
        if not isinstance(losses, Mapping) or not losses:
            raise ValueError(
                "losses must be a dict from names of models to their losses, with at least one "
                f"entry, got {losses!r}."
            )
        self.losses = {name: _as_runs(name, values) for name, values in losses.items()}
        self.scoring_name = scoring_name

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any] | Sequence[Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        scoring: str | Callable = "rank_loss",
        n_seeds: int = 1,
        classes: ArrayLike | None = None,
        chunk_size: int = 1,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        ax: Any = None,
    ) -> ProgressiveValidationDisplay:
        """Plot the running mean losses of models, computed by progressive validation.

        In each run a clone of the model is trained, whose `random_state`, also of nested
        estimators, is the seed of the run, the same for all models. To continue the training of
        fitted models, use :func:`progressive_val_score`.

        Parameters
        ----------
        estimators : dict of str to estimator, or list of estimators
            Models with `partial_fit` or `progressive_fit`; those of a list are named after their
            classes.
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples, in the order in which they are learned.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a 0/1 indicator matrix of the relevant labels.
        scoring : str or callable, default="rank_loss"
            See :func:`progressive_val_score`.
        n_seeds : int, default=1
            Number of runs of each model.
        classes, chunk_size, sample_weight : array-like, int, array-like
            See :func:`progressive_val_score`.
        random_state : int, RandomState instance or None, default=None
            Controls the random choice of the seeds. Pass an int for reproducible curves.
        n_jobs : int, default=None
            Number of runs that are computed in parallel, passed to joblib. None means 1.
        {ax_and_display}

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import SGDClassifier
        >>> from sklearn.utils import shuffle
        >>> from sklrank.model_selection import ProgressiveValidationDisplay
        >>> X, y = shuffle(*load_iris(return_X_y=True), n_samples=50, random_state=0)
        >>> display = ProgressiveValidationDisplay.from_estimators(
        ...     {"linear": SGDClassifier()}, X, y, n_seeds=2, random_state=0
        ... )
        >>> display.losses["linear"].shape
        (2, 50)
        """
        if not is_integer(n_seeds) or n_seeds < 1:
            raise ValueError(
                f"n_seeds must be a positive integer, the number of runs, got {n_seeds!r}."
            )
        if not isinstance(estimators, Mapping):
            estimators = _named(estimators)
        seeds = draw_seed(random_state, n_seeds)
        options = {"scoring": scoring, "classes": classes, "chunk_size": chunk_size}
        values = Parallel(n_jobs=n_jobs)(
            delayed(progressive_val_score)(
                _seeded(estimator, seed), X, y, sample_weight=sample_weight, **options
            )
            for estimator in estimators.values()
            for seed in seeds.tolist()
        )
        runs = [values[i : i + n_seeds] for i in range(0, len(values), n_seeds)]
        losses = dict(zip(estimators, runs, strict=True))
        return cls(losses=losses, scoring_name=scoring_name(scoring)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: Mapping[str, ArrayLike],
        *,
        scoring: str | Callable = "rank_loss",
        labels: ArrayLike | None = None,
        ax: Any = None,
    ) -> ProgressiveValidationDisplay:
        """Plot the running mean losses of given scores, such as the result of `progressive_fit`.

        Parameters
        ----------
        y_true : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a 0/1 indicator matrix of the relevant labels.
        y_scores : dict of str to array-like of shape (n_samples, n_labels), or to a list of those
            Scores of each model, or predicted sets if `scoring` is a measure of these. A list or a
            3-d array contains those of several runs.
        scoring : str or callable, default="rank_loss"
            See :func:`progressive_val_score`.
        labels : array-like of shape (n_labels,), default=None
            Class of each column of the scores, only for 1-d `y_true`. If None, the sorted distinct
            classes of `y_true` are used.
        {ax_and_display}

        Examples
        --------
        >>> from sklrank.model_selection import ProgressiveValidationDisplay
        >>> y_true = [[1, 0], [0, 1]]
        >>> display = ProgressiveValidationDisplay.from_predictions(
        ...     y_true, {"constant": [[0.9, 0.1], [0.9, 0.1]]}
        ... )
        >>> display.losses["constant"]
        array([[0., 1.]])
        """
        if not isinstance(y_scores, Mapping):
            raise ValueError(
                "y_scores must be a dict from names of models to their scores, got "
                f"{type(y_scores).__name__}: pass {{'model': y_scores}}."
            )
        for name, scores in y_scores.items():
            check_same_order(y_true, scores, ("y_true", f"y_scores[{name!r}]"))
        y_true = y_true if sparse.issparse(y_true) else np.asarray(y_true)
        ((_, values_of),) = make_evaluators(scoring, y_true).values()
        losses = {}
        for name, scores in y_scores.items():
            runs = np.asarray(scores)
            runs = runs if runs.ndim == 3 else runs[np.newaxis]
            losses[name] = [values_of(y_true, run, labels) for run in runs]
        return cls(losses=losses, scoring_name=scoring_name(scoring)).plot(ax)

    def mean_so_far(self, name: str) -> np.ndarray:
        """Return the running mean of the losses of a model.

        Parameters
        ----------
        name : str
            Name of the model, a key of `losses`.

        Returns
        -------
        mean : ndarray of float64, shape (n_seeds, n_rounds)
            Entry `[i, t]` is the mean of ``losses[name][i, : t + 1]``.
        """
        runs = self.losses[name]
        return np.cumsum(runs, axis=1) / np.arange(1, runs.shape[1] + 1)

    def plot(self, ax: Any = None) -> ProgressiveValidationDisplay:
        """Plot a line for each model, with a band of one standard deviation over its seeds.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : ProgressiveValidationDisplay
            This object, whose attributes `ax_`, `figure_`, `lines_` and `bands_` are set.
        """
        ax = self._start_plot(ax)
        self.lines_, self.bands_ = [], []
        for name, runs in self.losses.items():
            means = self.mean_so_far(name)
            center, spread = means.mean(axis=0), means.std(axis=0)
            rounds = np.arange(1, runs.shape[1] + 1)
            (line,) = ax.plot(rounds, center, label=name)
            band = None
            if len(runs) > 1:
                style = {"alpha": 0.25, "color": line.get_color(), "linewidth": 0}
                band = ax.fill_between(rounds, center - spread, center + spread, **style)
            self.lines_.append(line)
            self.bands_.append(band)
        ax.set(
            xlabel="Number of samples", ylabel=f"Mean {self.scoring_name.replace('_', ' ')} so far"
        )
        ax.legend()
        return self


def _as_runs(name, values):
    runs = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if runs.ndim != 2 or not runs.size:
        raise ValueError(
            f"losses[{name!r}] must be of shape (n_rounds,) or (n_seeds, n_rounds) and not empty, "
            f"got {np.shape(values)}."
        )
    return runs


def _named(estimators):
    """Return a dict of the estimators, named after their classes.

    A number is added to the name if a class occurs more than once.
    """
    if not isinstance(estimators, Sequence):
        raise TypeError(
            f"estimators must be a dict or a list of estimators, got {estimators!r}: pass a list "
            "of one."
        )
    classes = [type(estimator).__name__ for estimator in estimators]
    named = {}
    for i, name in enumerate(classes):
        number = f" {classes[:i].count(name) + 1}" if classes.count(name) > 1 else ""
        named[name + number] = estimators[i]
    return named


def _seeded(estimator, seed):
    estimator = clone(estimator)
    return estimator.set_params(**dict.fromkeys(seed_parameters(estimator), seed))
