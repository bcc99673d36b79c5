"""Sums of the values of trees, by one compiled loop.

The names below are what other rooms may take.
"""

from sklrank.tree._sums.sums import SumOfTrees, kept_sum
