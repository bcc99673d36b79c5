"""Self-tuned exploration rates with support functions of choice."""

from __future__ import annotations

from typing import Literal

from sklrank._validation import is_number
from sklrank.feedback._schedules import HitMissSchedule, HitSchedule, MissSchedule

__all__ = ["SelfTunedExploration"]

RULES = {"ag1": HitSchedule, "ag2": MissSchedule, "ag3": HitMissSchedule}


class SelfTunedExploration:
    r"""Self-tuned exploration rate of the bandit classifiers, with support functions of choice.

    Pass it as the parameter `exploration` of :class:`~sklrank.linear_model.BanditronClassifier`.
    The rate of round t is in (0, 1/2]. With hits :math:`\mu_i`, which are 2 if the predicted label
    was shown and is correct, otherwise 0, with misses :math:`\tau_i = 1 - \mu_i / 2`, and with the
    support functions :math:`\omega_j(z) = (1 + z)^{\lambda_j}`, it is ([1]_, Eqs. 6.3 to 6.5)

    - "ag1": :math:`\omega_2'(\sum (1 + \mu_i)) / (2 \omega_2'(0))`,
    - "ag2": :math:`\omega_2'(t) / (2 \omega_1'(\sum \tau_i))`,
    - "ag3": :math:`\omega_2'(\sum (1 + \mu_i)) / (2 \omega_1'(\sum \tau_i))`,

    where the sums run over the rounds i < t.

    Parameters
    ----------
    rule : {"ag1", "ag2", "ag3"}, default="ag3"
        Formula of the rate.
    power : float, default=1/3
        Exponent :math:`\lambda_2`, in (0, 1]. The number of mistakes is
        :math:`O(T^{2/3})` for "ag1" if it is 2/3 (Corollary 19).
    miss_power : float, default=2/3
        Exponent :math:`\lambda_1`, from `power` to 1. It has no effect on "ag1". The number of
        mistakes is :math:`O(T^{2/3})` for "ag2" and "ag3" if it is ``power + 1/3`` (Corollaries 17
        and 21). In the experiments of [1]_, both exponents are 0.1.
    forgetting_factor : float, default=1.0
        Factor in (0, 1] by which both sums are multiplied in each round. It is not in [1]_.

    Raises
    ------
    ValueError
        If a parameter is invalid.

    See Also
    --------
    sklrank.linear_model.BanditronClassifier : Learns from bandit feedback.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       dissertation, Michigan State University, 2010, Chapter 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.feedback import SelfTunedExploration
    >>> from sklrank.linear_model import BanditronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> exploration = SelfTunedExploration("ag1", power=2 / 3)
    >>> model = BanditronClassifier(exploration=exploration, random_state=0).fit(X, y)
    """

    def __init__(
        self,
        rule: Literal["ag1", "ag2", "ag3"] = "ag3",
        *,
        power: float = 1 / 3,
        miss_power: float = 2 / 3,
        forgetting_factor: float = 1.0,
    ) -> None:
        if not isinstance(rule, str) or rule not in RULES:
            raise ValueError(f"rule must be 'ag1', 'ag2' or 'ag3', got {rule!r}")
        if not is_number(power) or not 0 < power <= 1:
            raise ValueError(f"power must be a number in (0, 1], got {power!r}")
        if rule == "ag1":
            miss_power = power
        if not is_number(miss_power) or not power <= miss_power <= 1:
            raise ValueError(
                f"miss_power must be a number from power={power!r} to 1, got {miss_power!r}"
            )
        if not is_number(forgetting_factor) or not 0 < forgetting_factor <= 1:
            raise ValueError(
                f"forgetting_factor must be a number in (0, 1], got {forgetting_factor!r}"
            )
        self.rule = rule
        self.power = float(power)
        self.miss_power = float(miss_power)
        self.forgetting_factor = float(forgetting_factor)

    def __repr__(self):
        return (
            f"{type(self).__name__}({self.rule!r}, power={self.power!r}, "
            f"miss_power={self.miss_power!r}, forgetting_factor={self.forgetting_factor!r})"
        )

    def _make_schedule(self):
        """Return a new compiled schedule, before the first round."""
        return RULES[self.rule](self.power, self.miss_power, self.forgetting_factor)
