"""Decision trees that learn from streams, and honest regression trees and forests.

:class:`HoeffdingTreeClassifier` is an incremental tree: its rules are compiled, its memory follows
the number of leaves. The boosters of :mod:`sklrank.online_boosting` use it by default.

:class:`LevelSplitsRegressor` and :class:`HonestTreeRegressor` can choose their splits by one half
of the rows and fill their leaves by the other; :class:`HonestForestRegressor` averages either kind.
They serve :class:`~sklrank.label_ranking.LabelwiseRanker`, and regression at large.

:class:`StumpClassifier` is one compiled split, the weak learner of :mod:`sklrank.boosting`.
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
