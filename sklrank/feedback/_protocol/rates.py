"""Amounts of exploration: decaying and self-tuned rates, and the values of `exploration`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sklrank._checks import is_number
from sklrank.feedback._protocol.schedules import Schedule


@dataclass(eq=False)
class DecayingExploration:
    """Amount of exploration ``scale * t ** -power`` of round t = 1, 2, ...

    A value of the parameter `exploration` of the estimators. "decay" is its name with the defaults,
    for which the bounds of Top-k BBM and Top-k Adaptive decrease fastest, up to a constant factor
    [1]_, and "ag0" that of ``DecayingExploration(1 / 3, scale=0.5)``, for Banditron [2]_.

    Parameters
    ----------
    power : float, default=0.25
        Exponent, 0 or more.
    scale : float, default=1.0
        Amount of the first round, in (0, 1].

    See Also
    --------
    SelfTunedExploration : The amount depends on the feedback of the previous rounds.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking",
       dissertation, Michigan State University, 2010, Chapter 6.

    Examples
    --------
    >>> from sklrank.feedback import DecayingExploration
    >>> DecayingExploration(power=0.5)(100)
    0.1
    """

    power: float = 0.25
    scale: float = 1.0

    def __post_init__(self) -> None:
        power, scale = self.power, self.scale
        if not is_number(power) or not power >= 0 or not is_number(scale) or not 0 < scale <= 1:
            raise ValueError(
                f"power must be 0 or more and scale in (0, 1], got {power!r} and {scale!r}"
            )
        self.power, self.scale = float(power), float(scale)

    def __call__(self, t: float) -> float:
        """Return the amount of round t = 1, 2, ..., or of an array of rounds."""
        return self.scale * t**-self.power


@dataclass(eq=False)
class SelfTunedExploration:
    r"""Self-tuned exploration rate of the bandit classifiers.

    A value of the parameter `exploration` of :class:`~sklrank.linear_model.BanditronClassifier`.
    The rate of round t depends on the number h of *hits*, rounds before in which the predicted
    label was shown and is correct, and the number m of all others, *misses*. With the concave
    support functions :math:`\omega_j(z) = (1 + z)^{\lambda_j}`, it is ([1]_, Eqs. 6.4, 6.5, 6.3)

    - "ag1": :math:`\omega_2'(3 h + m) / (2 \omega_2'(0))`,
    - "ag2": :math:`\omega_2'(t) / (2 \omega_1'(m))`,
    - "ag3": :math:`\omega_2'(3 h + m) / (2 \omega_1'(m))`.

    It is in (0, 1/2]. The names "ag1", "ag2" and "ag3" stand for both exponents 0.1, as in [1]_.

    Parameters
    ----------
    rule : {"ag1", "ag2", "ag3"}, default="ag3"
        Formula of the rate.
    power : float, default=1/3
        Exponent :math:`\lambda_2`, in (0, 1]. "ag1" makes :math:`O(T^{2/3})` mistakes if it is 2/3
        (Corollary 19).
    miss_power : float, default=2/3
        Exponent :math:`\lambda_1`, from `power` to 1; not used by "ag1". The others make
        :math:`O(T^{2/3})` mistakes if it is ``power + 1/3`` (Corollaries 17 and 21).

    See Also
    --------
    DecayingExploration : The amount depends on the number of the round only.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       dissertation, Michigan State University, 2010, Chapter 6.

    Examples
    --------
    >>> from sklrank.feedback import SelfTunedExploration
    >>> from sklrank.linear_model import BanditronClassifier
    >>> model = BanditronClassifier(exploration=SelfTunedExploration("ag1", power=2 / 3))
    """

    rule: Literal["ag1", "ag2", "ag3"] = "ag3"
    power: float = field(default=1 / 3, kw_only=True)
    miss_power: float = field(default=2 / 3, kw_only=True)

    def __post_init__(self) -> None:
        if self.rule not in ("ag1", "ag2", "ag3"):
            raise ValueError(f"rule must be 'ag1', 'ag2' or 'ag3', got {self.rule!r}")
        if not is_number(self.power) or not 0 < self.power <= 1:
            raise ValueError(f"power must be a number in (0, 1], got {self.power!r}")
        if self.rule == "ag1":
            self.miss_power = self.power
        if not is_number(self.miss_power) or not self.power <= self.miss_power <= 1:
            raise ValueError(
                f"miss_power must be a number from power={self.power!r} to 1, got "
                f"{self.miss_power!r}"
            )


# The names of schedules. Those of the first dictionary depend on the number of the round only.
DECAYS = {"decay": DecayingExploration(), "ag0": DecayingExploration(1 / 3, scale=0.5)}
SCHEDULES = DECAYS | {
    rule: SelfTunedExploration(rule, power=0.1, miss_power=0.1) for rule in ("ag1", "ag2", "ag3")
}


def exploration_rates(exploration, rounds):
    """Return the rates of rounds, an array, for a value of `exploration` that needs no feedback."""
    if isinstance(exploration, str):
        exploration = DECAYS[exploration]
    if isinstance(exploration, DecayingExploration):
        return exploration(np.asarray(rounds, dtype=np.float64))
    if not callable(exploration):
        return np.full(len(rounds), exploration, dtype=np.float64)
    rates = [exploration(int(t)) for t in rounds]
    for t, rate in zip(rounds, rates):
        if not is_number(rate) or not 0.0 < rate <= 1.0:
            raise ValueError(
                "exploration must return a number in (0, 1] for each round, got "
                f"{rate!r} for round {t}"
            )
    return np.array(rates, dtype=np.float64)


def make_schedule(exploration):
    """Return a new compiled schedule for a value of `exploration`, before the first round."""
    if isinstance(exploration, str):
        exploration = SCHEDULES[exploration]
    if isinstance(exploration, SelfTunedExploration):
        return Schedule(0.5, exploration.rule, exploration.power, exploration.miss_power)
    return Schedule(exploration_rates(exploration, [1])[0])
