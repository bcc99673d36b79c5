"""Exploration schemes: random choices of the k labels to show, with exact propensities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sklrank._checks import check_available, check_k, check_random_state, is_number, look_up
from sklrank.feedback._protocol.exploration import Exploration
from sklrank.feedback._protocol.sampler import SingleSwapSampler, TopKSampler, UniformSampler
from sklrank.feedback._protocol.strengths import (
    FunctionSampler,
    InverseGapSampler,
    PlackettLuceSampler,
    ThompsonSampler,
)

# The names of the schemes, which all estimators accept. A scheme is a sampler and an entry here;
# `TopKSampler` states what a sampler overrides, and what must hold.
RANDOMIZATIONS: dict[str, type[TopKSampler]] = {
    "uniform": UniformSampler,
    "single-swap": SingleSwapSampler,
    "plackett-luce": PlackettLuceSampler,
    "inverse-gap": InverseGapSampler,
    "thompson": ThompsonSampler,
}
# Those for rankers that show several labels.
LIST_RANDOMIZATIONS = {name for name, sampler in RANDOMIZATIONS.items() if sampler.shows_lists}


def make_sampler(randomization, n_labels, k, exploration=1.0):
    """Return the sampler of a scheme, with this amount of exploration at first."""
    if callable(randomization):
        return FunctionSampler(randomization, n_labels, k, exploration)
    return RANDOMIZATIONS[randomization](n_labels, k, exploration)


def explore(
    scores: ArrayLike,
    k: int,
    scheme: str | Callable = "uniform",
    exploration: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
    *,
    available: ArrayLike | None = None,
) -> Exploration:
    r"""Draw the labels to show by an exploration scheme, given the scores of any model.

    The estimators that learn from feedback have a method of this name, for their own scores.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels. A higher score ranks a label earlier. Labels of equal score are ranked
        by their index.
    k : int
        Number of labels to show, from 1 to the number of labels; 1 for "thompson".
    scheme : str or callable, default="uniform"
        Name of a scheme in Notes, as the parameter `randomization` of the estimators, or a function
        ``scheme(scores, exploration)`` that returns the strengths of the available labels of one
        sample, numbers from 0, given their scores: labels are drawn by these strengths, of which a
        share of 1e-4 is uniform.
    exploration : float, default=0.05
        Amount of exploration, in (0, 1]: the number rho in Notes.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of the labels. Pass an int for reproducible results.
    available : array-like of bool, default=None
        Labels that may be shown, at least `k`: a mask of shape (n_samples, n_labels), or
        (n_labels,) for all samples. The others have the propensity 0. If None, all may be shown.

    Returns
    -------
    Exploration
        The labels shown, in the order in which the scheme shows them, and their propensities.

    See Also
    --------
    sklrank.linear_model.SemiBanditRanker : Explores, and learns from the labels shown.

    Notes
    -----
    Let m be the number of available labels, and rho the `exploration`. The *greedy top k* are the k
    labels of largest score, best first.

    ============= ============================================= ====================================
    Scheme        Labels shown                                  Each two both shown: at least
    ============= ============================================= ====================================
    uniform       With probability rho, random labels; else the ``rho k (k-1) / (m (m-1))``
                  greedy top k
    single-swap   The greedy top k. With probability rho, a     ``rho / m^2``
                  random one is swapped with a random label
                  not shown, twice
    plackett-luce With probability rho, drawn by the strengths  ``rho k (k-1) / (2 m)^2``
                  ``(softmax(scores) + 1 / m) / 2``; else the
                  greedy top k
    inverse-gap   Drawn by the strengths                        ``k (k-1) (1e-4 / m)^2``
                  ``1 / (m (1 + gap / rho))``; the greedy top k
                  share the rest of 1 equally
    thompson      The largest score after Gaussian noise of the k = 1; one label: ``1e-4 / m``
                  standard deviation rho
    ============= ============================================= ====================================

    The sources are Section 2.2 and Appendix B of [1]_, [2]_ for "inverse-gap" with k = 1, and [3]_.
    Labels are *drawn by their strengths* one after the other, without replacement, in proportion to
    the strengths (the Plackett-Luce distribution, or Gumbel top-k). Propensities are

    - "uniform": ``rho k / m`` of a label, and ``rho k (k-1) / (m (m-1))`` of two, plus ``1 - rho``
      for those of the greedy top k.
    - "single-swap": if it explores, with u = m - k, ``((k-1)/k)^2 + 1/(k u)`` of a label of the
      greedy top k, ``(k-1)/(k u) + (u-1)/u^2`` of another one, ``((k-2)/k)^2 + 2 (k-1)/(k^2 u)`` of
      two of the greedy top k, ``(k-1)/(k u) [(k-2)/k + 1/(k u) + (u-1)(k-1)/(k u)]`` of one of them
      and another one, and ``2 (k-1)/(k u^2)`` of two others. [1]_ has lower bounds.
    - "plackett-luce" and "inverse-gap": integrals over arrival times, computed to about 1e-14. They
      take about 80 microseconds per sample for k = 3 of 101 labels.
    - "thompson": sums over 64 cells, by which labels are drawn. The law of the noisy scores differs
      by less than 0.003 usually, and by up to 0.04 if deviations differ by factors of about ten.

    The gap of a label is the k-th largest score minus its score: rho is the gap that halves its
    strength, in the unit of the scores. If these are expected rewards, "inverse-gap" costs at most
    rho of the reward of one label (it is :math:`1 / (m + \gamma \, \text{gap})` of SquareCB for
    :math:`\gamma = m / \rho`). It rarely shows two labels of low scores together: the bounds of
    :class:`~sklrank.online_boosting.TopKAdaptive` do not hold. With "thompson" and
    :class:`~sklrank.linear_model.LinUCBClassifier`, the deviation is rho times the standard error
    of the score. For both, values of rho below 1e-4 have the effect of 1e-4.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.
    .. [2] D. J. Foster and A. Rakhlin, "Beyond UCB: optimal and efficient contextual bandits with
       regression oracles", ICML 2020.
    .. [3] S. Agrawal and N. Goyal, "Thompson sampling for contextual bandits with linear payoffs",
       ICML 2013.

    Examples
    --------
    >>> from sklrank.feedback import explore
    >>> scores = [[0.1, 0.7, 0.5, 0.5]]
    >>> shown = explore(scores, k=2, exploration=0.2, random_state=0)
    >>> shown.actions.tolist(), shown.propensities.round(3).tolist()
    ([[1, 2]], [[[0.9, 0.833], [0.833, 0.9]]])

    A scheme of your own draws labels by the softmax of the scores, at a temperature:

    >>> import numpy as np
    >>> def softmax(scores, temperature):
    ...     return np.exp((scores - scores.max()) / temperature)
    >>> shown = explore(scores, 1, softmax, exploration=0.2, random_state=0)
    >>> shown.actions.tolist(), shown.propensities.round(3).ravel().tolist()
    ([[2]], [0.206])
    """
    shows_lists = callable(scheme) or look_up("scheme", RANDOMIZATIONS, scheme).shows_lists
    if not is_number(exploration) or not 0 < exploration <= 1:
        raise ValueError(f"exploration must be a number in (0, 1], got {exploration!r}")
    names = getattr(scores, "columns", None)
    scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
    n_samples, n_labels = scores.shape
    k = check_k(k, n_labels)
    if k > 1 and not shows_lists:
        raise ValueError(f"scheme={scheme!r} draws a single label, and k={k}: use 'inverse-gap'")
    available = check_available(
        available, np.asarray(range(n_labels) if names is None else names), n_samples, k
    )
    sampler = make_sampler(scheme, n_labels, k, exploration)
    uniforms = check_random_state(random_state).random_sample((n_samples, sampler.n_uniforms))
    return Exploration(*sampler.draw_rows(scores, uniforms, available))
