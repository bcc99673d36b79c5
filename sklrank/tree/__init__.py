"""Decision trees for data streams, honest regression trees and forests, and stumps.

:class:`HoeffdingTreeClassifier` is an incremental tree. Its loops are compiled and its memory is
proportional to the number of leaves. It is a weak learner of :mod:`sklrank.online_boosting`.

:class:`LevelSplitsRegressor` and :class:`HonestTreeRegressor` can choose their splits with one half
of the samples and compute their leaf values with the other half; :class:`HonestForestRegressor`
averages trees of either kind. They suit :class:`~sklrank.label_ranking.LabelwiseRanker` as well as
regression in general.

:class:`StumpClassifier` is a compiled tree with one split, the weak learner of
:mod:`sklrank.boosting`.
"""

from sklrank.tree._hoeffding_tree import HoeffdingTreeClassifier
from sklrank.tree._honest_forest import HonestForestRegressor
from sklrank.tree._honest_tree import HonestTreeRegressor
from sklrank.tree._level_splits import LevelSplitsRegressor
from sklrank.tree._stump import StumpClassifier

__all__ = [
    "HoeffdingTreeClassifier",
    "HonestForestRegressor",
    "HonestTreeRegressor",
    "LevelSplitsRegressor",
    "StumpClassifier",
]
