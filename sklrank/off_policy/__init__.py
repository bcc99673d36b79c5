r"""Off-policy evaluation and learning: what another policy would have earned, from a log.

A log has, for each sample, the label that a *logging policy* showed, its propensity
:math:`p_i`, the probability with which it was shown, and its reward :math:`r_i`, any real number.
A policy to evaluate shows label a with probability :math:`\pi(a | x)`. With the importance weights
:math:`w_i = \pi(a_i | x_i) / p_i` and a model :math:`\hat q(x, a)` of the rewards, all estimates of
its value are

.. math:: \hat V = \frac{1}{n} \sum_i \Big[ \sum_a \pi(a | x_i) \, \hat q(x_i, a)
          + h(w_i) \, (r_i - \hat q(x_i, a_i)) \Big],

and a method is the function h of the weights, with :math:`\hat q = 0` if it has no model.
"""

from sklrank.off_policy._classifier import OffPolicyClassifier
from sklrank.off_policy._display import OffPolicyDisplay
from sklrank.off_policy._intervals import confidence_sequence
from sklrank.off_policy._lists import list_policy_value, list_propensities
from sklrank.off_policy._log import OffPolicyWarning
from sklrank.off_policy._values import policy_value, policy_value_score

__all__ = [
    "OffPolicyClassifier",
    "OffPolicyDisplay",
    "OffPolicyWarning",
    "confidence_sequence",
    "list_policy_value",
    "list_propensities",
    "policy_value",
    "policy_value_score",
]
