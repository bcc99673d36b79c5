"""Compiled classes for the loops of other rooms."""

from sklrank.feedback._protocol.sampler cimport TopKSampler, check_mask, mask_of
from sklrank.feedback._protocol.schedules cimport Schedule
