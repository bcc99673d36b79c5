"""Exploration schemes: random choices of the k labels to show, with exact propensities."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.utils import check_array

from sklrank._docstrings import shares_text
from sklrank._validation import check_available, check_k, check_random_state, is_number
from sklrank.feedback._exploration import Exploration
from sklrank.feedback._sampler import (
    InverseGapSampler,
    PlackettLuceSampler,
    SingleSwapSampler,
    SoftmaxSampler,
    ThompsonSampler,
    TopKSampler,
    UniformSampler,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# The values of the parameter `randomization`, and the schemes that have these names.
RANDOMIZATIONS: dict[str, type[Randomization]] = {}

RAISES = """
Raises
------
ValueError
    If `exploration` is out of range.
"""
PROBABILITY = """
Parameters
----------
exploration : float, default=0.05
    Probability rho that a sample explores, in (0, 1].
"""
of_schemes = shares_text(probability=f"{PROBABILITY}{RAISES}", raises=RAISES)


class Randomization:
    """Base class of the exploration schemes.

    A subclass has a name, as in ``class MyScheme(Randomization, name="my-scheme")``, which all
    estimators accept then; if it shows a single label only (`_shows_lists` is False), the bandit
    classifiers do. Its attribute `_sampler` is the class of its sampler, a `TopKSampler`, which
    states what to override, and its docstring states what `exploration` means for it.

    For k of at least 2, each pair of labels must have a positive propensity; boosters clip it from
    below. If k is the number of labels, all propensities must be exactly 1. The tests require that
    they are accurate to 1e-12. A booster computes them in each round.

    The parameter `exploration` is a number in (0, 1]; estimators may also pass 0 to the sampler. As
    it approaches 0, a scheme should show the *greedy top k*: the k labels of largest score, best
    first, labels of equal score in the order of their indices. A scheme that draws labels by their
    scores is therefore mixed with the greedy top k; the exception is `SoftmaxRandomization`. In the
    theoretical learning rate of `TopKAdaptive`, ``n_labels**2 / exploration`` stands for a bound on
    the estimated gradients, which are sums over the pairs of labels shown, divided by their
    propensities (Raman et al. 2020, Lemmas 6 and 10). The docstring of a scheme for which this is
    no bound, up to a constant, should say so.

    Parameters
    ----------
    exploration : float, default=0.05
        Amount of exploration, in (0, 1].
    """

    _sampler: ClassVar[type[TopKSampler]]
    _shows_lists = True

    def __init_subclass__(cls, name: str | None = None) -> None:
        super().__init_subclass__()
        if name is not None:
            RANDOMIZATIONS[name] = cls

    def __init__(self, exploration: float = 0.05) -> None:
        if not is_number(exploration) or not 0 < exploration <= 1:
            raise ValueError(f"exploration must be a number in (0, 1], got {exploration!r}")
        self.exploration = float(exploration)

    def __repr__(self):
        return f"{type(self).__name__}(exploration={self.exploration!r})"

    def _make_sampler(self, n_labels, k):
        """Check `k`, and return the sampler that draws `k` of `n_labels` labels."""
        return self._sampler(n_labels, check_k(k, n_labels), self.exploration)

    def explore(
        self,
        scores: ArrayLike,
        k: int,
        random_state: int | np.random.RandomState | None = None,
        *,
        available: ArrayLike | None = None,
    ) -> Exploration:
        """Draw the labels to show.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            Scores of the labels. A higher score ranks a label earlier. Labels of equal score are
            ranked by their index.
        k : int
            Number of labels to show, from 1 to the number of labels.
        random_state : int, RandomState instance or None, default=None
            Controls the random choice of the labels. Pass an int for reproducible results.
        available : array-like of bool, default=None
            Labels that may be shown, at least `k`: a mask of shape (n_samples, n_labels), or
            (n_labels,) for all samples. The others are not shown. If None, all may be shown.

        Returns
        -------
        Exploration
            The labels shown, in the order in which the scheme shows them, and their propensities.

        Raises
        ------
        ValueError
            If `k` is out of range, or `scores` or `available` are invalid.
        """
        scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
        sampler = self._make_sampler(scores.shape[1], k)
        available = check_available(available, np.arange(scores.shape[1]), len(scores), k)
        uniforms = check_random_state(random_state).random_sample((len(scores), sampler.n_uniforms))
        return Exploration(*sampler.draw_rows(scores, uniforms, available))

    def propensities(
        self, scores: ArrayLike, k: int, *, available: ArrayLike | None = None
    ) -> np.ndarray:
        """Compute the probability that two labels are both shown, for each two labels.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            Scores of the labels, as in `explore`.
        k : int
            Number of labels to show, from 1 to the number of labels.
        available : array-like of bool, default=None
            Labels that may be shown, as in `explore`. The others have the propensity 0.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            Propensities of all pairs of labels. The diagonal contains the probabilities that each
            label is shown.

        Raises
        ------
        ValueError
            If `k` is out of range, or `scores` or `available` are invalid.
        """
        scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
        available = check_available(available, np.arange(scores.shape[1]), len(scores), k)
        return self._make_sampler(scores.shape[1], k).propensities(scores, available)


@of_schemes
class UniformRandomization(Randomization, name="uniform"):
    """Exploration scheme that shows the greedy top k, or k labels drawn uniformly at random.

    With probability 1 - rho, a sample shows the greedy top k, the k labels of largest score among
    m labels. Otherwise it explores and shows the first k labels of a uniformly random order ([1]_,
    Section 2.2). Let I = 1 if all labels in question belong to the greedy top k, and I = 0
    otherwise. Then

    - a label is shown with probability ``(1 - rho) I + rho k / m``,
    - two labels are both shown with probability ``(1 - rho) I + rho k (k - 1) / (m (m - 1))``.

    {probability}

    See Also
    --------
    SingleSwapRandomization : Changes at most two of the greedy top k labels.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.

    Examples
    --------
    >>> from sklrank.feedback import UniformRandomization
    >>> scheme = UniformRandomization(exploration=0.2)
    >>> scheme.explore([[0.1, 0.7, 0.5, 0.5]], k=2, random_state=0).actions
    array([[1, 2]])
    >>> scheme.propensities([[0.1, 0.7, 0.5, 0.5]], k=2)[0, 1].round(3)
    array([0.033, 0.9  , 0.833, 0.033])
    """

    _sampler = UniformSampler


@of_schemes
class SingleSwapRandomization(Randomization, name="single-swap"):
    """Exploration scheme that shows the greedy top k, or swaps up to two of its labels.

    With probability 1 - rho, a sample shows the greedy top k, the k labels of largest score among
    m labels. Otherwise it explores: it swaps a uniformly random label shown with a uniformly random
    label not shown, and then swaps two labels in this way a second time ([1]_, Appendix B). Let
    u = m - k. In a sample that explores,

    - a label of the greedy top k is shown with probability ``((k-1)/k)^2 + 1/(k u)``,
    - another label is shown with probability ``(k-1)/(k u) + (u-1)/u^2``,
    - two labels of the greedy top k are both shown with probability
      ``((k-2)/k)^2 + 2 (k-1) / (k^2 u)``,
    - a label of the greedy top k and another label are both shown with probability
      ``(k-1)/(k u) [(k-2)/k + 1/(k u) + (u-1)(k-1)/(k u)]``,
    - two other labels are both shown with probability ``2 (k-1) / (k u^2)``.

    These probabilities are exact, whereas the appendix gives lower bounds. If all labels are shown,
    no label is swapped.

    {probability}

    See Also
    --------
    UniformRandomization : A simpler scheme that explores k labels at once.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.

    Examples
    --------
    >>> from sklrank.feedback import SingleSwapRandomization
    >>> scheme = SingleSwapRandomization(exploration=0.2)
    >>> scheme.explore([[0.1, 0.7, 0.5, 0.5]], k=2, random_state=0).actions
    array([[1, 2]])
    >>> scheme.propensities([[0.1, 0.7, 0.5, 0.5]], k=2)[0, 1].round(3)
    array([0.025, 0.9  , 0.85 , 0.025])
    """

    _sampler = SingleSwapSampler


@of_schemes
class PlackettLuceRandomization(Randomization, name="plackett-luce"):
    """Exploration scheme that shows the greedy top k, or draws labels by the softmax of scores.

    With probability 1 - rho, a sample shows the greedy top k. Otherwise it explores: labels are
    drawn one after the other, without replacement, in proportion to their strengths (the
    Plackett-Luce distribution, also called Gumbel top-k). The strength of a label is
    ``(softmax(scores)[label] + 1 / m) / 2`` for m labels. Thus exploration prefers labels of large
    score, but any two labels are shown with a probability of at least ``rho k (k-1) / (4 m^2)``.

    The propensities depend on the scores. They are integrals over arrival times, computed to about
    1e-14. For k = 3 of 101 labels, they take about 80 microseconds per sample.

    {probability}

    See Also
    --------
    SoftmaxRandomization : Always draws labels, and never shows the greedy top k on purpose.
    UniformRandomization : Ignores the scores when it explores.

    Examples
    --------
    >>> from sklrank.feedback import PlackettLuceRandomization
    >>> scheme = PlackettLuceRandomization(exploration=0.2)
    >>> scheme.explore([[0.1, 0.7, 0.5, 0.5]], k=2, random_state=0).actions
    array([[1, 2]])
    >>> scheme.propensities([[0.1, 0.7, 0.5, 0.5]], k=2)[0, 1].round(3)
    array([0.032, 0.91 , 0.839, 0.039])
    """

    _sampler = PlackettLuceSampler


@of_schemes
class SoftmaxRandomization(Randomization, name="softmax"):
    """Exploration scheme that always draws labels by the softmax of scores, mixed with the uniform.

    Labels are drawn one after the other, without replacement, in proportion to their strengths
    ``(1 - rho) softmax(scores)[label] + rho / m`` for m labels (the Plackett-Luce distribution,
    also called Gumbel top-k). The scale of the scores determines how often labels other than those
    of the greedy top k are shown: there is no parameter for which these are always shown. Two
    labels are both shown with a probability of at least ``k (k-1) (rho / m)^2``, which is less than
    the bounds of :class:`~sklrank.online_boosting.TopKAdaptive` require.

    The propensities are exact, as those of :class:`PlackettLuceRandomization`. They take 1.5 times
    as long.

    Parameters
    ----------
    exploration : float, default=0.05
        Share rho of the uniform distribution in the strengths, in (0, 1]. Values below 1e-4 have
        the effect of 1e-4.

    {raises}

    See Also
    --------
    PlackettLuceRandomization : Draws labels by their scores only if it explores.

    Examples
    --------
    >>> from sklrank.feedback import SoftmaxRandomization
    >>> scheme = SoftmaxRandomization(exploration=0.2)
    >>> scheme.explore([[0.1, 0.7, 0.5, 0.5]], k=2, random_state=0).actions
    array([[2, 1]])
    >>> scheme.propensities([[0.1, 0.7, 0.5, 0.5]], k=2)[0, 1].round(3)
    array([0.151, 0.577, 0.213, 0.213])
    """

    _sampler = SoftmaxSampler


@of_schemes
class InverseGapRandomization(Randomization, name="inverse-gap"):
    r"""Exploration scheme that draws labels in inverse proportion to their gaps to the best score.

    It is the inverse gap weighting of SquareCB [1]_ for one label. Let the gap of a label be the
    k-th largest score minus its score. A label outside of the greedy top k has the strength
    ``1 / (m (1 + gap / rho))`` for m labels, which is the :math:`1 / (m + \gamma \, \text{gap})` of
    [1]_ for :math:`\gamma = m / \rho`, and the greedy top k share the rest of 1 equally. Labels are
    drawn one after the other, without replacement, in proportion to their strengths.

    A label whose score is far below is shown rarely, but never with a probability of 0, and if
    scores are expected rewards, exploration costs at most ``rho`` of the reward of one label. With
    scores in other units, choose ``rho`` as the gap that halves the strength. Two labels of low
    scores are rarely both shown: the bounds of :class:`~sklrank.online_boosting.TopKAdaptive` do
    not hold.

    The propensities are exact, as those of :class:`SoftmaxRandomization`.

    Parameters
    ----------
    exploration : float, default=0.05
        The gap rho that halves the strength of a label, in (0, 1]. Values below 1e-4 have the
        effect of 1e-4. Strengths are at least ``1e-4 / m``.

    {raises}

    See Also
    --------
    SoftmaxRandomization : Draws labels by the softmax of their scores.
    sklrank.linear_model.LinUCBClassifier : Has a schedule of the exploration for this scheme.

    References
    ----------
    .. [1] D. J. Foster and A. Rakhlin, "Beyond UCB: optimal and efficient contextual bandits with
       regression oracles", ICML 2020.

    Examples
    --------
    >>> from sklrank.feedback import InverseGapRandomization
    >>> scheme = InverseGapRandomization(exploration=0.2)
    >>> scheme.explore([[0.1, 0.7, 0.5, 0.5]], k=1, random_state=0).actions
    array([[1]])
    >>> scheme.propensities([[0.1, 0.7, 0.5, 0.5]], k=1)[0].diagonal().round(4)
    array([0.0625, 0.6875, 0.125 , 0.125 ])
    """

    _sampler = InverseGapSampler


@of_schemes
class ThompsonRandomization(Randomization, name="thompson"):
    """Exploration scheme that shows the label of the largest score after noise is added.

    Gaussian noise is added to the scores. Its standard deviation is `exploration` times the
    standard error of the score for :class:`~sklrank.linear_model.LinUCBClassifier`, which is
    Thompson sampling [1]_, and `exploration` for all other scores. A share of 1e-4 of the
    probability is that of the uniform distribution.

    The probabilities of the labels are integrals, and are computed as sums over 64 cells, whose
    error is usually below 0.003; it was up to 0.04 for labels whose standard errors differed by
    factors of about ten. Labels are drawn by these sums, so that the propensities are exact.

    Only a single label can be drawn: the propensities of several labels are not known.

    Parameters
    ----------
    exploration : float, default=0.05
        Factor of the noise, in (0, 1]. Values below 1e-4 have the effect of 1e-4.

    {raises}

    See Also
    --------
    InverseGapRandomization : Draws labels by their scores only.

    References
    ----------
    .. [1] S. Agrawal and N. Goyal, "Thompson sampling for contextual bandits with linear payoffs",
       ICML 2013.

    Examples
    --------
    >>> from sklrank.feedback import ThompsonRandomization
    >>> scheme = ThompsonRandomization(exploration=0.2)
    >>> scheme.explore([[0.1, 0.7, 0.5, 0.5]], k=1, random_state=0).actions
    array([[2]])
    >>> scheme.propensities([[0.1, 0.7, 0.5, 0.5]], k=1)[0].diagonal().round(2)
    array([0.  , 0.63, 0.18, 0.18])
    """

    _sampler = ThompsonSampler
    _shows_lists = False


def make_sampler(randomization, n_labels, k, exploration=1.0):
    """Return the sampler of a named scheme, with this amount of exploration at first."""
    return RANDOMIZATIONS[randomization](exploration)._make_sampler(n_labels, k)


# Names of the schemes for rankers that show several labels.
LIST_RANDOMIZATIONS = {name for name, scheme in RANDOMIZATIONS.items() if scheme._shows_lists}
