"""Schemes that randomise what is shown, with exact probabilities.

Both show the greedy top k with probability 1 - rho and explore otherwise. Whether a label is shown
then depends on nothing but whether it belongs to the greedy top k. So five numbers say all: the
probability to be shown of a label within and of one outside of it, and of a pair of labels of
which none, one or both are outside.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.utils import check_array, check_random_state

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._sampler import SingleSwapSampler, TopKSampler, UniformSampler

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["RANDOMIZATIONS", "Randomization", "SingleSwapRandomization", "UniformRandomization"]


class Randomization(metaclass=ABCMeta):
    """Base of the schemes.

    A subclass states its probabilities in `_explored` and names its compiled draw.
    """

    _sampler: ClassVar[type[TopKSampler]]

    def __init__(self, exploration: float = 0.05) -> None:
        if (
            not isinstance(exploration, Real)
            or isinstance(exploration, bool)
            or not 0 < exploration <= 1
        ):
            raise ValueError(f"exploration must be a number in (0, 1], got {exploration!r}")
        self.exploration = float(exploration)

    def __repr__(self):
        return f"{type(self).__name__}(exploration={self.exploration!r})"

    @abstractmethod
    def _explored(self, m: int, k: int) -> tuple[NDArray, NDArray]:
        """Probabilities `(2,)` and `(3,)` of one and of two labels in a row that explores."""

    def _make_sampler(self, n_labels: int, k: int) -> TopKSampler:
        """The compiled draw for `n_labels` labels of which `k` are shown."""
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= n_labels:
            raise ValueError(
                f"k must be an integer from 1 to the number of labels, {n_labels}; got {k!r}"
            )
        rho, greedy = self.exploration, 1.0 - self.exploration
        alone, together = self._explored(n_labels, int(k))
        alone = greedy * np.array([1.0, 0.0]) + rho * alone
        together = greedy * np.array([1.0, 0.0, 0.0]) + rho * together
        if k == n_labels:
            # All labels are shown, whatever the order: without the rounding of the sums.
            alone[0] = together[0] = 1.0
        return self._sampler(n_labels, int(k), rho, alone, together)

    def explore(
        self,
        scores: ArrayLike,
        k: int,
        random_state: int | np.random.RandomState | None = None,
    ) -> Exploration:
        """Draw what to show.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            Higher ranks earlier; among equals the smaller label comes first.
        k : int
            How many labels to show, from 1 to their number.
        random_state : int, RandomState instance or None, default=None
            Source of the draws.

        Returns
        -------
        Exploration
            The labels shown and their propensities.

        Raises
        ------
        ValueError
            If `k` is out of range or `scores` are malformed.
        """
        scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
        sampler = self._make_sampler(scores.shape[1], k)
        draws = check_random_state(random_state).random_sample((len(scores), sampler.n_draws))
        return Exploration(*sampler.show_rows(scores, draws))

    def propensities(self, scores: ArrayLike, k: int) -> np.ndarray:
        """The probability of each two labels to be shown both.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            As in `explore`.
        k : int
            As in `explore`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            The diagonal holds the probability that a label is shown.

        Raises
        ------
        ValueError
            As `explore`.
        """
        scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
        n_labels = scores.shape[1]
        sampler = self._make_sampler(n_labels, k)
        outside = np.ones(scores.shape, dtype=np.intp)
        greedy = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        np.put_along_axis(outside, greedy, 0, axis=1)
        both = np.asarray(sampler.together)[outside[:, :, None] + outside[:, None, :]]
        every = np.arange(n_labels)
        both[:, every, every] = np.asarray(sampler.alone)[outside]
        return both


class UniformRandomization(Randomization):
    """Show the top k of a random order of the labels now and then.

    With the greedy top k of m labels, a row shows it with probability 1 - rho, and the first k of
    a uniformly random order otherwise ([1]_, Section 2.2). Then, with I = 1 if the labels belong to
    the greedy top k and 0 otherwise,

    - a label is shown with probability ``(1 - rho) I + rho k / m``,
    - two are shown with probability ``(1 - rho) I + rho k (k - 1) / (m (m - 1))``.

    Parameters
    ----------
    exploration : float, default=0.05
        The probability rho with which a row explores, in (0, 1].

    Raises
    ------
    ValueError
        If `exploration` is out of range.

    See Also
    --------
    SingleSwapRandomization : Changes two of the labels at most.

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

    def _explored(self, m, k):
        pair = k * (k - 1) / max(m * (m - 1), 1)
        return np.full(2, k / m), np.full(3, pair)


class SingleSwapRandomization(Randomization):
    """Swap a shown label with another one, twice, now and then.

    A row shows the greedy top k of m labels with probability 1 - rho. Otherwise a uniformly random
    shown label and a uniformly random other one change places, and once more with what is shown
    then ([1]_, Appendix B). With u = m - k, in a row that explores

    - a label of the greedy top k is shown with probability ``((k-1)/k)^2 + 1/(k u)``,
    - another one with probability ``(k-1)/(k u) + (u-1)/u^2``,
    - two of the greedy top k with ``((k-2)/k)^2 + 2 (k-1) / (k^2 u)``,
    - one of them and another one with ``(k-1)/(k u) [(k-2)/k + 1/(k u) + (u-1)(k-1)/(k u)]``,
    - two others with ``2 (k-1) / (k u^2)``.

    These are exact; the appendix has lower bounds. Nothing is swapped where all labels are shown.

    Parameters
    ----------
    exploration : float, default=0.05
        The probability rho with which a row explores, in (0, 1].

    Raises
    ------
    ValueError
        If `exploration` is out of range.

    See Also
    --------
    UniformRandomization : Simpler, and explores more at once.

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

    def _explored(self, m, k):
        u = m - k
        if u == 0:
            return np.ones(2), np.ones(3)
        stays = (k - 1) / k
        within = stays**2 + 1 / (k * u)
        outside = stays / u + (u - 1) / u**2
        both = ((k - 2) / k) ** 2 + 2 * stays / (k * u)
        mixed = stays / u * ((k - 2) / k + 1 / (k * u) + (u - 1) / u * stays)
        neither = 2 * stays / u**2
        return np.array([within, outside]), np.array([both, mixed, neither])


RANDOMIZATIONS = {"uniform": UniformRandomization, "single-swap": SingleSwapRandomization}
