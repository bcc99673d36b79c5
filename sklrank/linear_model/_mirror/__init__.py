"""Mirror maps, and the constraints of the parameter `mirror_map`."""

from sklrank._estimators import StrOptions
from sklrank.linear_model._mirror._norms import MIRROR_MAPS

CONSTRAINTS = [StrOptions(set(MIRROR_MAPS))]
