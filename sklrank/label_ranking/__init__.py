"""Label ranking: the target of each sample is a ranking of the labels.

The target holds the *position* of each label: a smaller one is better, and only their order
matters. NaN marks a label that is not ranked, and equal positions mark tied labels. Articles and
files often contain *orderings* instead, the labels from best to worst: for the ranking a > c > b,
the ordering is (a, c, b), and the positions of a, b, c are (1, 3, 2). If labels are numbers, no
check can tell one from the other: convert orderings by :func:`positions_from_orderings`, and
numbers of which larger ones are better, such as ratings, by :func:`positions_from_scores`.

- :class:`LabelwiseRanker` learns the position of each label by regression, then sorts the labels.
- :class:`PairwiseRanker` learns by classification which of two labels comes first, then counts
  votes. It also learns from incomplete and tied rankings.
- :class:`PlackettLuceRanker` learns a probability distribution over rankings, also from these.
- :class:`StackedRanker` combines such rankers by weights from held-out samples. With its default
  parameters, it is the recommended ranker if its training time is acceptable.
- :class:`CalibratedLabelRanker` wraps any ranker, and predicts the probability that one label comes
  before another (`predict_pair_proba`), as all of them but :class:`LabelwiseRanker` do.
- :class:`ConformalTopLabels` and :class:`ConformalRanks` wrap any ranker, too: their sets of labels
  and intervals of positions contain the truth with a given probability.
"""

from sklrank.label_ranking._calibrated import CalibratedLabelRanker
from sklrank.label_ranking._conformal import ConformalRanks, ConformalTopLabels
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._pairwise import PairwiseRanker
from sklrank.label_ranking._plackett_luce.inference import likelihood_ratio_test, quasi_variances
from sklrank.label_ranking._plackett_luce.ranker import PlackettLuceRanker
from sklrank.label_ranking._positions import (
    orderings_from_positions,
    positions_from_long,
    positions_from_orderings,
    positions_from_scores,
    positions_from_survey,
)
from sklrank.label_ranking._stacked import StackedRanker, recommended_rankers

__all__ = [
    "CalibratedLabelRanker",
    "ConformalRanks",
    "ConformalTopLabels",
    "LabelwiseRanker",
    "PairwiseRanker",
    "PlackettLuceRanker",
    "StackedRanker",
    "likelihood_ratio_test",
    "orderings_from_positions",
    "positions_from_long",
    "positions_from_orderings",
    "positions_from_scores",
    "positions_from_survey",
    "quasi_variances",
    "recommended_rankers",
]
