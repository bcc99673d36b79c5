"""Compiled classes for the loops of other rooms."""

from sklrank.feedback._sampler cimport TopKSampler, check_mask, mask_of
from sklrank.feedback._schedules cimport Schedule
