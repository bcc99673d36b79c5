"""The parameter `mirror_map`: names of maps, and what else it may be."""

from __future__ import annotations

from sklrank._sklearn import HasMethods, StrOptions
from sklrank.linear_model._mirror._custom import CustomMap
from sklrank.linear_model._mirror._maps import EntropicMap, EuclideanMap, MirrorMap, PositiveMap
from sklrank.linear_model._mirror._norms import GroupNormMap, PNormMap
from sklrank.linear_model._mirror._schatten import SchattenMap

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
    """The map of this name or object, with dual weights zero."""
    if isinstance(mirror_map, str):
        return MIRROR_MAPS[mirror_map](n_classes, width)
    return CustomMap(n_classes, width, mirror_map)


def scores_poorly(mirror_map, *, one_score: bool) -> bool:
    """Whether data that linear scores tell apart may not be learnt: the tag `poor_score`.

    Weights that are a distribution learn little where features speak against a class. Weights of 0
    or more do learn such data, by the features that speak for other classes; but not two classes
    that share one score (`one_score`), for the first of which nothing can speak then. Of a user's
    map it is not known.
    """
    if not isinstance(mirror_map, str):
        return True
    return mirror_map == "entropy" or (mirror_map == "positive" and one_score)
