"""Decision trees that learn from streams.

:class:`HoeffdingTreeClassifier` is an incremental tree: its rules are compiled, its memory follows
the number of leaves. The boosters of :mod:`sklrank.online_boosting` use it by default.
"""

from sklrank.tree._hoeffding_tree import HoeffdingTreeClassifier

__all__ = ["HoeffdingTreeClassifier"]
