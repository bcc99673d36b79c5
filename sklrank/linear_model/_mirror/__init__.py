"""Mirror maps: the table of their names, and the constraints of the parameter `mirror_map`."""

from sklrank._sklearn import HasMethods, StrOptions
from sklrank.linear_model._mirror._norms import MIRROR_MAPS, make_mirror_map, scores_poorly

__all__ = ["CONSTRAINTS", "MIRROR_MAPS", "make_mirror_map", "scores_poorly"]

CONSTRAINTS = [StrOptions(set(MIRROR_MAPS)), HasMethods("weights")]
