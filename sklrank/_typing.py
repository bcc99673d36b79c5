"""Types for annotations in several modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

if TYPE_CHECKING:
    from typing_extensions import Self

    from sklrank.feedback import SelfTunedExploration
else:  # Neither is installed with the package, or imported, for a name in annotations.
    Self = SelfTunedExploration = Any

# A function that a decorator returns with the types of the one that it decorates.
Method = TypeVar("Method", bound=Callable[..., Any])


class RankingLoss(Protocol):
    """Type of a user-defined loss of rankings."""

    def gains(self, relevance: np.ndarray, /) -> ArrayLike: ...

    def discounts(self, n_positions: int, /) -> ArrayLike: ...


# The number of features used by a model: an integer, a fraction of all features, the square root or
# the logarithm of their number, or None for all features.
MaxFeatures = int | float | Literal["sqrt", "log2"] | None

# A source of random draws: an integer, numbers of a SeedSequence, or a generator.
RandomSource = int | Sequence[int] | np.random.SeedSequence | np.random.RandomState | None

# The rule by which label sets are chosen, or a probability.
Threshold = float | Literal["auto", "f1", "f1_macro", "hamming", "jaccard", "subset", "cardinality"]

# The exploration rate of a linear bandit: a number, or a schedule.
ExplorationRate = (
    float
    | Literal["decay", "ag0", "ag1", "ag2", "ag3"]
    | SelfTunedExploration
    | Callable[[int], float]
)

MirrorMap = (
    Literal["euclidean", "p-norm", "group-norm", "schatten", "entropy", "positive"]
    | Callable[[np.ndarray], np.ndarray]
)

# The file readers return a Bunch or tuples, depending on their arguments. With a union of both
# types, type checkers would require every caller to check the type of the result.
Loaded = Bunch | Any
