"""Self-tuned exploration rates with support functions of choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._validation import is_number
from sklrank.feedback._schedules import (
    HitMissSchedule,
    HitSchedule,
    MissSchedule,
    SupportSchedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["SelfTunedExploration"]

# Relative rounding error that is tolerated in the conditions on support functions.
TOLERANCE = 1e-9
RULES = {"ag1": HitSchedule, "ag2": MissSchedule, "ag3": HitMissSchedule}


class SelfTunedExploration:
    r"""Self-tuned exploration rate of the bandit classifiers, with support functions of choice.

    Pass it as the parameter `exploration` of :class:`~sklrank.linear_model.BanditronClassifier`.
    The rate of round t is in (0, 1/2]. With hits :math:`\mu_i`, which are 2 if the predicted label
    was shown and is correct, otherwise 0, with misses :math:`\tau_i = 1 - \mu_i / 2`, and with
    support functions :math:`\omega_1` and :math:`\omega_2`, it is ([1]_, Eqs. 6.3 to 6.5)

    - "ag1": :math:`\omega_2'(\sum (1 + \mu_i)) / (2 \omega_2'(0))`,
    - "ag2": :math:`\omega_2'(t) / (2 \omega_1'(\sum \tau_i))`,
    - "ag3": :math:`\omega_2'(\sum (1 + \mu_i)) / (2 \omega_1'(\sum \tau_i))`,

    where the sums run over the rounds i < t. The support functions are powers,
    :math:`\omega_j(z) = (1 + z)^{\lambda_j}`, or any functions given by their derivatives.

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
    derivative : callable, default=None
        Derivative :math:`\omega_2'` of a support function that replaces the power. It maps an
        array of numbers z >= 0 to an array of slopes, which must be positive and must not increase
        in z (Definition 15). For example, ``lambda z: 1 / (1 + z)`` belongs to the logarithm
        (Proposition 6). If None, the support functions are powers.
    miss_derivative : callable, default=None
        Derivative :math:`\omega_1'`, which must not be smaller than `derivative` for any z. If
        None, it is the same function. It has no effect on "ag1".

    Raises
    ------
    ValueError
        If a parameter is invalid. The values of derivatives are checked when a model is fitted.

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
        derivative: Callable[[NDArray], ArrayLike] | None = None,
        miss_derivative: Callable[[NDArray], ArrayLike] | None = None,
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
        for name, function in (("derivative", derivative), ("miss_derivative", miss_derivative)):
            if function is not None and not callable(function):
                raise ValueError(f"{name} must be callable or None, got {function!r}")
        if derivative is None and miss_derivative is not None:
            raise ValueError("miss_derivative requires derivative")
        if derivative is not None and forgetting_factor != 1:
            raise ValueError(
                f"forgetting_factor must be 1 if derivative is given, got {forgetting_factor!r}"
            )
        self.rule = rule
        self.power = float(power)
        self.miss_power = float(miss_power)
        self.forgetting_factor = float(forgetting_factor)
        self.derivative = derivative
        self.miss_derivative = miss_derivative

    def __repr__(self):
        if self.derivative is not None:
            parameters = f"derivative={self.derivative!r}, miss_derivative={self.miss_derivative!r}"
        else:
            parameters = (
                f"power={self.power!r}, miss_power={self.miss_power!r}, "
                f"forgetting_factor={self.forgetting_factor!r}"
            )
        return f"{type(self).__name__}({self.rule!r}, {parameters})"

    def _make_schedule(self):
        """Return a new compiled schedule, before the first round."""
        if self.derivative is not None:
            return SupportSchedule(self)
        return RULES[self.rule](self.power, self.miss_power, self.forgetting_factor)

    def _slopes(self, gains, misses):
        """Return the numerators and denominators of rates, without the factor 2.

        Parameters
        ----------
        gains, misses : ndarray of shape (n_gains,) and (n_misses,)
            Arguments of the derivatives of both support functions, in increasing order.

        Returns
        -------
        slopes : ndarray of shape (n_gains,)
            Derivative of the second support function.
        miss_slopes : ndarray of shape (n_misses,)
            Derivative of the first support function; for "ag1", that of the second one at 0.

        Raises
        ------
        ValueError
            If the functions do not satisfy the conditions of the parameters. Then rates might be
            larger than 1/2.
        """
        uses_misses = self.rule != "ag1"
        lower = misses if uses_misses else np.zeros(1)
        z = np.concatenate((lower, gains))
        all_slopes = _evaluate("derivative", self.derivative, z)
        ordered = all_slopes[np.argsort(z, kind="stable")]
        if np.any(ordered[1:] > (1.0 + TOLERANCE) * ordered[:-1]):
            raise ValueError("derivative must not increase: the support function must be concave")
        bounds, slopes = all_slopes[: len(lower)], all_slopes[len(lower) :]
        if not uses_misses:
            return slopes, np.full(len(misses), bounds[0])
        if self.miss_derivative is None:
            return slopes, bounds
        miss_slopes = _evaluate("miss_derivative", self.miss_derivative, misses)
        if np.any(miss_slopes < (1.0 - TOLERANCE) * bounds):
            raise ValueError("miss_derivative must not be smaller than derivative")
        return slopes, miss_slopes


def _evaluate(name, function, z):
    """Return the positive slopes that a function of the user returns for the numbers `z`."""
    slopes = np.ascontiguousarray(function(z), dtype=np.float64)
    if slopes.shape != z.shape or not np.all((slopes > 0.0) & np.isfinite(slopes)):
        raise ValueError(
            f"{name} must map an array of numbers, here from {z.min():g} to {z.max():g}, to an "
            f"array of positive numbers of the same shape, but {function!r} does not"
        )
    return slopes
