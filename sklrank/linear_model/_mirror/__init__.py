"""Mirror maps, and the constraints and the text of the parameter `mirror_map`."""

from sklrank._estimators import StrOptions
from sklrank.linear_model._mirror._maps import FunctionMap
from sklrank.linear_model._mirror._norms import MIRROR_MAPS

CONSTRAINTS = [StrOptions(set(MIRROR_MAPS)), callable]


def make_map(mirror_map, n_classes, width):
    """Return the map of a name, or of a function."""
    if callable(mirror_map):
        return FunctionMap(mirror_map, n_classes, width)
    return MIRROR_MAPS[mirror_map](n_classes, width)


# A table for the notes of docstrings.
MAPS_TEXT = r"""
============  ==================================================================================
mirror_map    weights W
============  ==================================================================================
"euclidean"   :math:`\Theta`
"p-norm"      few nonzero ones: a norm close to the sum of their absolute values
"group-norm"  of few features: a norm close to the sum over features of the norms of their weights
"schatten"    of low rank: a norm close to the sum of the singular values
"entropy"     those of a class are a distribution over the features (exponentiated gradient)
"positive"    :math:`\Theta` with negative entries set to zero
============  ==================================================================================

A norm whose sum has fewer than 8 terms is the Euclidean one. A function of your own is given
:math:`\Theta`, of shape (n_vectors, n_features + 1) with an intercept, and returns W.
"""
