"""Sums of the values of trees, by one compiled loop.

The names below are what other rooms may take.
"""

from sklrank.tree._sums.sums import add_trees, kept_sum
from sklrank.tree._sums.tree_sum import TreeSum

__all__ = ["TreeSum", "add_trees", "kept_sum"]
