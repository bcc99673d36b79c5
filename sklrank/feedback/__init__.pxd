"""Compiled classes for the loops of other rooms."""

from sklrank.feedback._sampler cimport TopKSampler
from sklrank.feedback._schedules cimport Schedule
