"""The value of a policy that shows one label for each sample, and plots of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from sklrank._checks import check_level, check_same_order, is_number, look_up
from sklrank._estimators import Display, shares_text
from sklrank.feedback import Exploration
from sklrank.off_policy import _intervals, _log, _methods


def policy_value(
    rewards: ArrayLike,
    exploration: Exploration,
    policy: Any,
    *,
    method: str = "dr",
    reward_model: Any = None,
    X: ArrayLike | None = None,
    available: ArrayLike | None = None,
    cv: Any = 5,
    threshold: float | Literal["auto"] = "auto",
    interval: Literal["normal", "bootstrap", "bernstein", "sequence"] = "normal",
    confidence: float = 0.95,
    reward_range: tuple[float, float] = (0.0, 1.0),
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Estimate the value of a policy from the log of another one.

    The value is the mean reward if the policy chose the labels to show.

    Parameters
    ----------
    rewards : array-like of shape (n_samples,)
        Rewards of the labels shown, any real numbers; samples with NaN, not known, are left out.
    exploration : Exploration
        The labels shown, one for each sample, and their propensities.
    policy : array-like of shape (n_samples, n_labels), or a model with `propensities`
        Probability that the policy shows each label, or a model whose ``propensities(X)`` returns
        it; its `classes_` are matched with the names in `exploration`. Also (n_samples,) indices of
        the labels to show, or probabilities of the second of two labels.
    method : str, default="dr"
        Name of the estimator; see Notes.
    reward_model : estimator, or array-like of shape (n_samples, n_labels), default=None
        Classifier or regressor of the reward given the features and an indicator of the label, or
        predicted rewards of all labels. If None, gradient boosted trees of scikit-learn.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        Samples, for the models. If None, the reward model uses the label only.
    available : array-like, default=None
        Labels that could be shown, as in ``model.propensities(X, available=available)``: names, or
        a mask of shape (n_samples, n_labels) whose columns are the `classes_` of the model. If
        None, all. Only for policies that are models.
    cv : int, cross-validation generator or iterable, default=5
        Folds of cross-fitting of the reward model, each sample in one of them.
    threshold : float or "auto", default="auto"
        The threshold t in Notes. "auto" chooses it among infinity and 10, 50, 100, 500, and so on
        up to about the square of the largest weight, by a bound on the squared error [2]_.
    interval : {"normal", "bootstrap", "bernstein", "sequence"}, default="normal"
        Interval of the central limit theorem, percentiles of 1000 resamples or, for "ips",
        :func:`confidence_sequence` for one number of samples or at every time at once.
    confidence : float, default=0.95
        Probability that the interval contains the value.
    reward_range : tuple of two floats, default=(0, 1)
        Smallest and largest possible reward, for "bernstein" and "sequence".
    random_state : int, RandomState instance or None, default=None
        Controls the resamples of the bootstrap.

    Returns
    -------
    Bunch
        `value`, `standard_error`, `low` and `high` of the estimate; `effective_sample_size`,
        `max_weight` and `mean_weight` of the importance weights; `threshold`; `n_samples`.

    Warns
    -----
    OffPolicyWarning
        If the weights, propensities of 1, or labels that are not in the log make the estimate
        doubtful; see the guide.

    Notes
    -----
    With the importance weights w, the policy's probability of the label shown divided by its
    propensity, the estimate is the mean of h(w) times the rewards. With a reward model, it is the
    mean of the rewards predicted for the policy, plus h(w) times the errors of the prediction.

    =================== ========= ===========
    h(w)                No model  With one
    =================== ========= ===========
    w                   "ips"     "dr" [1]_
    w / mean(w)         "snips"   "sndr"
    min(w, t)           "clipped"
    w if w <= t, else 0           "switch-dr"
    w / (1 + w^2 / t)             "dr-os" [2]_
    0                             "dm"
    =================== ========= ===========

    The intervals of "dm", "switch-dr" and "dr-os" do not contain the bias of the reward model, nor
    that of "clipped" its own: report those of "snips", "dr" or "sndr".

    References
    ----------
    .. [1] Dudik et al., "Doubly robust policy evaluation and optimization", Stat. Sci. 2014.
    .. [2] Su et al., "Doubly robust off-policy evaluation with shrinkage", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.feedback import Exploration
    >>> from sklrank.off_policy import policy_value
    >>> actions = np.random.RandomState(0).randint(3, size=1000)
    >>> log = Exploration(actions, np.full(1000, 1 / 3))
    >>> estimate = policy_value(0.5 * actions, log, np.full(1000, 2), method="snips")
    >>> print(f"{estimate.value:.2f}, from {estimate.effective_sample_size:.0f} samples")
    1.00, from 328 samples
    """
    rule = look_up("method", _methods.METHODS, method)
    check_level(confidence, "confidence")
    if threshold != "auto" and not (is_number(threshold) and threshold >= 0):
        raise ValueError(f"threshold must be 'auto' or a number from 0, got {threshold!r}")
    if interval not in ("bernstein", "sequence"):
        look_up("interval", _intervals.INTERVALS, interval, "'bernstein', 'sequence' or ")
    elif method != "ips":
        raise ValueError(
            f"interval={interval!r} needs method='ips', not {method!r}: others are biased, or "
            "depend on later samples by a cross-fitted model"
        )
    log = _log.check_log(rewards, exploration, policy, X, available=available)
    weights = log.of_shown(log.policy) / log.propensities
    residuals, baseline = log.rewards, np.zeros(len(weights))
    if rule.has_model:
        if not hasattr(reward_model, "fit"):
            names = "exploration.classes", "reward_model"
            check_same_order(getattr(exploration, "classes", None), reward_model, names)
        of_shown, baseline = _methods.predicted_rewards(reward_model, log, X, cv)
        residuals = log.rewards - of_shown
    if not rule.has_threshold:
        threshold = None
    elif threshold == "auto":
        threshold = _methods.choose_threshold(rule, weights, residuals, baseline)

    terms = _methods.sample_terms(rule, weights, residuals, baseline, threshold)
    if interval in _intervals.INTERVALS:
        columns = _methods.resampled_columns(rule, weights, residuals, baseline, terms)
        bounds = _intervals.INTERVALS[interval](terms, columns, confidence, random_state)
    else:
        horizon = len(weights) if interval == "bernstein" else None
        options = {"confidence": confidence, "reward_range": reward_range, "horizon": horizon}
        found = _intervals.confidence_sequence(log.rewards, weights, **options)
        bounds = found.low[-1], found.high[-1]
    found = summary(terms, weights, bounds, threshold)
    if method != "dm":
        advice = (
            ". Use 'snips' or 'sndr'; the intervals of 'switch-dr', 'dr-os' and 'clipped' do not "
            "contain their bias"
            if weights.any()
            else ", as the policy shows no label of the log: its value is not known"
        )
        _log.warn_about_weights(weights, found.effective_sample_size, advice)
    _log.warn_about_log(log)
    return found


def policy_value_score(
    rewards: ArrayLike, policy: Any, exploration: Any, *, method: str = "snips", **options: Any
) -> float:
    """Estimate the value of a policy, for ``make_scorer(policy_value_score)`` of scikit-learn.

    Scorers pass the rewards, and the labels to show, integers from 0, or with
    ``response_method="predict_proba"`` probabilities. They route `exploration`, whose names, if
    any, must not be other integers.

    Parameters
    ----------
    rewards, policy, exploration : array-like, array-like or model, Exploration
        As in :func:`policy_value`. The last two may be exchanged.
    method : str, default="snips"
        Estimator, as in :func:`policy_value`.
    **options : dict
        Other arguments of :func:`policy_value`.

    Returns
    -------
    float
        Estimated value of the policy.
    """
    if hasattr(policy, "actions"):
        policy, exploration = exploration, policy
    return policy_value(rewards, exploration, policy, method=method, **options).value


def summary(terms, weights, bounds, threshold=None):
    """Return the result of an estimate as a Bunch of numbers."""
    squares = np.square(weights).sum(axis=0)
    sizes = np.square(weights.sum(axis=0)) / np.where(squares > 0, squares, 1)
    return Bunch(
        value=float(terms.mean()),
        standard_error=float(_intervals.standard_error(terms)),
        low=float(bounds[0]),
        high=float(bounds[1]),
        effective_sample_size=float(sizes.min()),
        max_weight=float(weights.max()),
        mean_weight=float(weights.mean()),
        threshold=threshold,
        n_samples=len(terms),
    )


@shares_text()
class OffPolicyDisplay(Display):
    """Plot of the estimated values of policies with their intervals, or of their course over time.

    Parameters
    ----------
    estimates : dict of str to Bunch
        Results of :func:`policy_value` or :func:`list_policy_value`, which are drawn one below the
        other, or of :func:`confidence_sequence`, which are drawn over time.
    reference : float, default=None
        Value to compare with, such as the mean reward of the log.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, matplotlib Figure
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from sklrank.off_policy import OffPolicyDisplay
    >>> estimates = {"new": Bunch(value=0.3, low=0.2, high=0.4)}
    >>> OffPolicyDisplay.from_estimates(estimates, reference=0.25).ax_.get_xlabel()
    'Value of the policy'
    """

    def __init__(self, estimates: Mapping[str, Any], *, reference: float | None = None) -> None:
        if not isinstance(estimates, Mapping) or not estimates:
            raise ValueError("estimates must be a dict from names to estimates, with one or more")
        self.estimates, self.reference = dict(estimates), reference

    @classmethod
    def from_estimates(
        cls, estimates: Mapping[str, Any], *, reference: float | None = None, ax: Any = None
    ) -> OffPolicyDisplay:
        """Create a display, and plot it.

        Parameters
        ----------
        estimates, reference : dict of str to Bunch, float
            See the parameters of the class.
        {ax}

        {display}
        """
        return cls(estimates, reference=reference).plot(ax)

    def plot(self, ax: Any = None) -> OffPolicyDisplay:
        """Plot the estimates.

        Parameters
        ----------
        {ax}

        Returns
        -------
        display : OffPolicyDisplay
            This object, whose attributes `ax_` and `figure_` are set.
        """
        ax, names = self._start_plot(ax), list(self.estimates)
        over_time = np.ndim(self.estimates[names[0]]["value"]) == 1
        for place, (name, found) in enumerate(self.estimates.items()):
            value, low, high = found["value"], found["low"], found["high"]
            if over_time:
                times = np.arange(1, len(value) + 1)
                (line,) = ax.plot(times, value, label=name)
                ax.fill_between(times, low, high, alpha=0.25, color=line.get_color(), linewidth=0)
            else:
                # The estimate need not lie in an interval that holds for any number of samples.
                (dot,) = ax.plot(value, place, "o")
                ax.plot([low, high], [place, place], color=dot.get_color(), linewidth=2, alpha=0.6)
        if self.reference is not None:
            draw = ax.axhline if over_time else ax.axvline
            draw(self.reference, color="gray", linestyle="--", label="reference")
        if over_time:
            ax.set(xlabel="Number of samples", ylabel="Value of the policy", xscale="log")
            ax.legend()
        else:
            ax.set(xlabel="Value of the policy", yticks=range(len(names)), yticklabels=names)
            ax.invert_yaxis()
        return self
