"""Off-policy evaluation and learning: what another policy would have earned, from a log."""

from sklrank.off_policy._classifier import OffPolicyClassifier
from sklrank.off_policy._intervals import confidence_sequence
from sklrank.off_policy._lists import list_policy_value
from sklrank.off_policy._log import OffPolicyWarning
from sklrank.off_policy._values import OffPolicyDisplay, policy_value, policy_value_score

__all__ = [
    "OffPolicyClassifier",
    "OffPolicyDisplay",
    "OffPolicyWarning",
    "confidence_sequence",
    "list_policy_value",
    "policy_value",
    "policy_value_score",
]
