"""Label ranking: each row has a ranking of the labels, which may be incomplete or have ties.

A ranking as a target holds the *position* of each label: smaller is better, only the order counts,
NaN is a label that is not ranked, equal numbers are tied labels. Texts and files often hold
*orderings* instead, the labels best first; for a > c > b

- the ordering is (a, c, b): who stands at places 1, 2, 3;
- the positions are (1, 3, 2): where a, b, c stand.

Both are permutations of the same numbers, so nothing complains when one is taken for the other;
:func:`positions_from_orderings` and :func:`orderings_from_positions` turn one into the other.

Rankings are taken apart into targets that any regressor or classifier learns, and what they predict
is put together again:

- :class:`LabelwiseRanker`: the position of each label, by regression; then sort.
- :class:`PairwiseRanker`: which of two labels comes first, by classification; then vote. It learns
  from incomplete and partial rankings too.

:class:`StackedRanker` combines such rankers, weighted by how they rank rows held out from them.
With its defaults it is what to try first where time allows.

Scikit-learn's `cross_val_predict` with ``method="decision_function"`` is not for rankings, which it
changes without a word: `LabelwiseRanker.decision_function` shows the loop that takes its place.
"""

from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._pairwise import PairwiseRanker
from sklrank.label_ranking._positions import orderings_from_positions, positions_from_orderings
from sklrank.label_ranking._stacked import StackedRanker

__all__ = [
    "LabelwiseRanker",
    "PairwiseRanker",
    "StackedRanker",
    "orderings_from_positions",
    "positions_from_orderings",
]
