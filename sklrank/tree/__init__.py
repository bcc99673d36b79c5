"""Trees for data streams, honest trees and forests, and histogram trees.

:class:`HoeffdingTreeClassifier` is an incremental tree, used as a weak learner in
:mod:`sklrank.online_boosting`. :class:`ProbabilisticLabelTree` learns very many labels online.

:class:`LevelSplitsRegressor` and :class:`HonestTreeRegressor` can choose their splits with one half
of the samples and compute their leaf values with the other half; :class:`HonestForestRegressor`
averages trees of either kind. They can be used in :class:`~sklrank.label_ranking.LabelwiseRanker`
and for regression. Each has a twin for classes, :class:`LevelSplitsClassifier`,
:class:`HonestTreeClassifier` and :class:`HonestForestClassifier`, for
:class:`~sklrank.label_ranking.PairwiseRanker` and for classification.

:class:`HistogramTreeClassifier`, a weak learner of :mod:`sklrank.boosting`, is grown leaf by leaf
on features that are binned once for all rounds.
"""

from sklrank.tree._histogram.trees import HistogramTreeClassifier
from sklrank.tree._hoeffding.classifier import HoeffdingTreeClassifier
from sklrank.tree._honest.forest import HonestForestClassifier, HonestForestRegressor
from sklrank.tree._honest.level_splits import LevelSplitsClassifier, LevelSplitsRegressor
from sklrank.tree._honest.tree import HonestTreeClassifier, HonestTreeRegressor
from sklrank.tree._labels.ranker import ProbabilisticLabelTree

__all__ = [
    "HistogramTreeClassifier",
    "HoeffdingTreeClassifier",
    "HonestForestClassifier",
    "HonestForestRegressor",
    "HonestTreeClassifier",
    "HonestTreeRegressor",
    "LevelSplitsClassifier",
    "LevelSplitsRegressor",
    "ProbabilisticLabelTree",
]
