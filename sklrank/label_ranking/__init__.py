"""Label ranking: the target of each sample is a ranking of the labels, maybe incomplete or tied.

A ranking as a target holds the *position* of each label: smaller is better, only the order counts,
NaN is a label that is not ranked, equal numbers are tied labels. Articles and files often hold
*orderings* instead, the labels listed best first. For a > c > b

- the ordering is (a, c, b): the labels at places 1, 2, 3;
- the positions are (1, 3, 2): the places of a, b, c.

Both are permutations of the same numbers, so no check can notice when one is passed for the other;
:func:`positions_from_orderings` and :func:`orderings_from_positions` convert between them.

A ranker decomposes rankings into targets for any regressor or classifier, and combines the
predictions into a ranking:

- :class:`LabelwiseRanker` learns the position of each label by regression, then sorts the labels.
- :class:`PairwiseRanker` learns which of two labels comes first by classification, then counts
  votes. It learns from incomplete and tied rankings too.

:class:`StackedRanker` combines several such rankers, weighted by their scores of held-out samples.
With its defaults it is the recommended ranker where time allows.

Do not use scikit-learn's `cross_val_predict` with ``method="decision_function"``: it changes the
rankings without a warning. `LabelwiseRanker.decision_function` shows the loop to use instead.
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
