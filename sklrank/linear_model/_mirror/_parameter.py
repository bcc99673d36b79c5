"""The parameter `mirror_map`: the names of the maps, the constraints and the tag `poor_score`."""

from __future__ import annotations

from sklrank._sklearn import HasMethods, StrOptions
from sklrank.linear_model._mirror._maps import (
    CustomMap,
    EntropicMap,
    EuclideanMap,
    MirrorMap,
    PositiveMap,
)
from sklrank.linear_model._mirror._norms import GroupNormMap, PNormMap, SchattenMap

__all__ = ["CONSTRAINTS", "MIRROR_MAPS", "make_mirror_map", "scores_poorly"]

MIRROR_MAPS = {
    "euclidean": EuclideanMap,
    "p-norm": PNormMap,
    "group-norm": GroupNormMap,
    "schatten": SchattenMap,
    "entropy": EntropicMap,
    "positive": PositiveMap,
}

CONSTRAINTS = [StrOptions(set(MIRROR_MAPS)), HasMethods("weights")]


def make_mirror_map(mirror_map, n_classes: int, width: int) -> MirrorMap:
    """Return the map with the given name, or of a user's object, with dual weights of zero."""
    if isinstance(mirror_map, str):
        return MIRROR_MAPS[mirror_map](n_classes, width)
    return CustomMap(n_classes, width, mirror_map)


def scores_poorly(mirror_map, *, one_score: bool) -> bool:
    """Return whether a map may fail on linearly separable data, scikit-learn's tag `poor_score`.

    Weights that are a distribution may fail if a feature is evidence against a class. Nonnegative
    weights can use such a feature as evidence for the other classes. But if two classes share one
    score (`one_score`), no feature can be evidence for the first class. A user-defined map may
    always fail, since nothing is known about it.
    """
    if not isinstance(mirror_map, str):
        return True
    return mirror_map == "entropy" or (mirror_map == "positive" and one_score)
