"""Common parts of online estimators: training in batches, labels that change, exploring.

`base` and `classifier` are base classes, `label_rankers` those of the rankers of labels, and
`exploring` the methods of those that learn from what they show. `batches` cuts calls into batches;
`learner` is the interface that a compiled learner implements so that it can be boosted;
`label_sets` learns sets of labels and probabilities, `shown` are labels shown, `voting` weights
learners, `drift` detects changes. The names below are what other rooms may take.
"""

from sklrank._online.base import BaseOnline, copy_of, multiplies_entries
from sklrank._online.batches import (
    BATCH,
    SMALL_BATCH,
    WorkingMemory,
    in_order,
    lists_of,
    lists_of_rows,
    mask_rows,
    row_blocks,
    slices,
    timed_slices,
    to_dense,
)
from sklrank._online.classifier import BaseOnlineClassifier, CompiledClassifier, of_online
from sklrank._online.exploring import ExploringMixin, of_exploring
from sklrank._online.label_rankers import LabelSetRanker, of_label_sets
from sklrank._online.label_sets import LabelSets
from sklrank._online.learner import check_lists
from sklrank._online.shown import ShownLabels, SimulatedLabels
from sklrank._online.voting import VotingLearner
