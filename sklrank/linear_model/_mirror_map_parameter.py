"""The parameter `mirror_map`: names of maps, and what else it may be."""

from __future__ import annotations

from sklrank._sklearn import HasMethods, StrOptions
from sklrank.linear_model._custom_map import CustomMap
from sklrank.linear_model._mirror_maps import EntropicMap, EuclideanMap, MirrorMap, PositiveMap
from sklrank.linear_model._norm_maps import GroupNormMap, PNormMap
from sklrank.linear_model._schatten_map import SchattenMap

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
