"""Exploration schemes: random choices of the k labels to show, with exact propensities."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.utils import check_array, check_random_state

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._sampler import (
    GreedyMixtureSampler,
    SingleSwapSampler,
    TopKSampler,
    UniformSampler,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["RANDOMIZATIONS", "Randomization", "SingleSwapRandomization", "UniformRandomization"]


class Randomization(metaclass=ABCMeta):
    """Base class of the exploration schemes.

    To add a scheme:

    1. Derive its compiled draw for one sample from `TopKSampler` (`_sampler.pyx`).
    2. Derive a class from this one: `_new_sampler` returns the draw, `_propensities` the
       probabilities of all pairs of labels.
    3. Add the class to `RANDOMIZATIONS` below, and its name there to `RandomizationName` in
       `sklrank/_typing.py`. The boosters then accept the name.
    4. Export and describe the class in `sklrank/feedback/__init__.py`.

    Schemes that show the greedy top k or, with a given probability, labels that do not depend on
    the scores derive from `GreedyMixture` and `GreedyMixtureSampler`, which have most of this.
    Other schemes, such as softmax or Plackett-Luce, derive from the two base classes, since their
    propensities depend on the scores.

    Each scheme has the parameter `exploration`; the boosters pass their own.
    """

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
    def _new_sampler(self, n_labels: int, k: int) -> TopKSampler:
        """Return the compiled draw of `k` of `n_labels` labels."""

    @abstractmethod
    def _propensities(self, scores: NDArray, k: int) -> NDArray:
        """Return the propensities `(n_samples, n_labels, n_labels)`, see `propensities`."""

    def _make_sampler(self, n_labels: int, k: int) -> TopKSampler:
        """Return the compiled draw, after a check of `k`."""
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= n_labels:
            raise ValueError(
                f"k must be an integer from 1 to the number of labels, {n_labels}; got {k!r}"
            )
        return self._new_sampler(n_labels, int(k))

    def explore(
        self,
        scores: ArrayLike,
        k: int,
        random_state: int | np.random.RandomState | None = None,
    ) -> Exploration:
        """Draw the labels to show.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            Scores of the labels. A higher score ranks a label earlier; of equal scores the smaller
            label comes first.
        k : int
            Number of labels to show, from 1 to the number of labels.
        random_state : int, RandomState instance or None, default=None
            Source of the random numbers.

        Returns
        -------
        Exploration
            The labels shown and their propensities.

        Raises
        ------
        ValueError
            If `k` is out of range or `scores` are invalid.
        """
        scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
        sampler = self._make_sampler(scores.shape[1], k)
        uniforms = check_random_state(random_state).random_sample((len(scores), sampler.n_uniforms))
        return Exploration(*sampler.draw_rows(scores, uniforms))

    def propensities(self, scores: ArrayLike, k: int) -> np.ndarray:
        """Compute the probability that two labels are both shown, for each two labels.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            Scores of the labels, as in `explore`.
        k : int
            Number of labels to show, from 1 to the number of labels.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            The diagonal has the probability that a label is shown.

        Raises
        ------
        ValueError
            If `k` is out of range or `scores` are invalid.
        """
        scores = check_array(scores, dtype=np.float64, order="C", input_name="scores")
        self._make_sampler(scores.shape[1], k)
        return self._propensities(scores, k)


class GreedyMixture(Randomization):
    """Base class of schemes that show the greedy top k, or explore with probability rho.

    If the labels shown by exploration do not depend on the scores, two tables have all
    propensities: by the number of labels outside of the greedy top k, the probability that a label
    is shown, and that two labels are both shown. A subclass sets `_sampler`, the compiled draw, and
    defines `_explored`.
    """

    _sampler: ClassVar[type[GreedyMixtureSampler]]

    @abstractmethod
    def _explored(self, m: int, k: int) -> tuple[NDArray, NDArray]:
        """Return the two tables `(2,)` and `(3,)` for a sample that explores."""

    def _tables(self, n_labels, k):
        rho, greedy = self.exploration, 1.0 - self.exploration
        single, pair = self._explored(n_labels, k)
        single = greedy * np.array([1.0, 0.0]) + rho * single
        pair = greedy * np.array([1.0, 0.0, 0.0]) + rho * pair
        if k == n_labels:
            # All labels are shown, in any order: exactly 1, without rounding errors.
            single[0] = pair[0] = 1.0
        return single, pair

    def _new_sampler(self, n_labels, k):
        return self._sampler(n_labels, k, self.exploration, *self._tables(n_labels, k))

    def _propensities(self, scores, k):
        n_labels = scores.shape[1]
        single, pair = self._tables(n_labels, k)
        outside = np.ones(scores.shape, dtype=np.intp)
        greedy = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        np.put_along_axis(outside, greedy, 0, axis=1)
        both = pair[outside[:, :, None] + outside[:, None, :]]
        labels = np.arange(n_labels)
        both[:, labels, labels] = single[outside]
        return both


class UniformRandomization(GreedyMixture):
    """Show the greedy top k, or k labels drawn uniformly at random.

    A sample shows the greedy top k of m labels with probability 1 - rho, and otherwise the first k
    labels of a uniformly random order ([1]_, Section 2.2). With I = 1 if the labels belong to the
    greedy top k and I = 0 otherwise,

    - a label is shown with probability ``(1 - rho) I + rho k / m``,
    - two labels are both shown with probability ``(1 - rho) I + rho k (k - 1) / (m (m - 1))``.

    Parameters
    ----------
    exploration : float, default=0.05
        Probability rho that a sample explores, in (0, 1].

    Raises
    ------
    ValueError
        If `exploration` is out of range.

    See Also
    --------
    SingleSwapRandomization : Changes at most two of the labels.

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


class SingleSwapRandomization(GreedyMixture):
    """Show the greedy top k, or swap up to two of its labels with random other ones.

    A sample shows the greedy top k of m labels with probability 1 - rho. Otherwise a uniformly
    random label shown is swapped with a uniformly random label not shown, and then a second time
    ([1]_, Appendix B). With u = m - k, in a sample that explores

    - a label of the greedy top k is shown with probability ``((k-1)/k)^2 + 1/(k u)``,
    - another label with probability ``(k-1)/(k u) + (u-1)/u^2``,
    - two labels of the greedy top k are both shown with probability
      ``((k-2)/k)^2 + 2 (k-1) / (k^2 u)``,
    - one of them and another label with ``(k-1)/(k u) [(k-2)/k + 1/(k u) + (u-1)(k-1)/(k u)]``,
    - two others with ``2 (k-1) / (k u^2)``.

    These are exact, where the appendix has lower bounds. If all labels are shown, none is swapped.

    Parameters
    ----------
    exploration : float, default=0.05
        Probability rho that a sample explores, in (0, 1].

    Raises
    ------
    ValueError
        If `exploration` is out of range.

    See Also
    --------
    UniformRandomization : Simpler, and explores more labels at once.

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


# By the name that the parameter `randomization` of the boosters accepts.
RANDOMIZATIONS = {"uniform": UniformRandomization, "single-swap": SingleSwapRandomization}
