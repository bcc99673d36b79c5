"""Mirror maps, and the constraints and the text of the parameter `mirror_map`."""

from sklrank._estimators import StrOptions
from sklrank.linear_model._mirror._norms import MIRROR_MAPS

CONSTRAINTS = [StrOptions(set(MIRROR_MAPS))]

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

A norm whose sum has fewer than 8 terms is the Euclidean one.
"""
