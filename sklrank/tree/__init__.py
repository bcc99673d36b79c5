"""Decision trees that learn from streams, and regression trees.

:class:`HoeffdingTreeClassifier` is an incremental tree: its rules are compiled, its memory follows
the number of leaves. The boosters of :mod:`sklrank.online_boosting` use it by default.

:class:`LevelSplitsRegressor` splits all cells of a level alike; it can choose its splits by one half
of the rows and fill its leaves by the other.
"""

from sklrank.tree._hoeffding_tree import HoeffdingTreeClassifier
from sklrank.tree._level_splits import LevelSplitsRegressor

__all__ = [
    "HoeffdingTreeClassifier",
    "LevelSplitsRegressor",
]
