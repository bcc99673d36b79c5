"""Label ranking: each row has a ranking of the labels, which may be incomplete or have ties.

A ranking as a target holds the *position* of each label: smaller is better, only the order counts,
NaN is a label that is not ranked, equal numbers are tied labels. Texts and files often hold
*orderings* instead, the labels best first; for a > c > b

- the ordering is (a, c, b): who stands at places 1, 2, 3;
- the positions are (1, 3, 2): where a, b, c stand.

Both are permutations of the same numbers, so nothing complains when one is taken for the other;
:func:`positions_from_orderings` and :func:`orderings_from_positions` turn one into the other.
"""

from sklrank.label_ranking._positions import orderings_from_positions, positions_from_orderings

__all__ = ["orderings_from_positions", "positions_from_orderings"]
