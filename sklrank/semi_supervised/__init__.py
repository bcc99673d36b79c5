"""Classifiers of labeled and unlabeled samples; the label -1 marks unlabeled ones.

- :class:`PooledLabelSpreading` fits a forest to labels that come from a pool of graphs of neighbors
  and classifiers;
- :class:`MCSSBClassifier` boosts any classifier, with similarities between samples;
- :class:`AssembleClassifier` boosts any classifier, with the labels that the ensemble predicts for
  unlabeled samples.
"""

from sklrank.semi_supervised._assemble import AssembleClassifier
from sklrank.semi_supervised._mcssb import MCSSBClassifier
from sklrank.semi_supervised._pooled_label_spreading import PooledLabelSpreading

__all__ = ["AssembleClassifier", "MCSSBClassifier", "PooledLabelSpreading"]
