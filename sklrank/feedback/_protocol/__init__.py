"""The record of what was shown, and the schemes and schedules by which it is chosen.

The names below are what estimators may take.
"""

from sklrank.feedback._protocol.exploration import (
    arrays_of_record,
    check_exploration,
    check_rewards,
    check_shown,
)
from sklrank.feedback._protocol.rates import DECAYS, SCHEDULES, exploration_rates, make_schedule
from sklrank.feedback._protocol.schemes import LIST_RANDOMIZATIONS, RANDOMIZATIONS, make_sampler
