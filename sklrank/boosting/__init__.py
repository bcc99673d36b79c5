"""Boosting in function space, on whole data.

From rows with and without labels:

- :class:`MCSSBClassifier` boosts any classifier by the similarities of rows;
- :class:`AssembleClassifier` boosts by the labels that the ensemble gives to unlabeled rows.
"""

from sklrank.boosting._assemble import AssembleClassifier
from sklrank.boosting._mcssb import MCSSBClassifier

__all__ = ["AssembleClassifier", "MCSSBClassifier"]
