"""Types of the annotations of several modules; only type checkers import them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

__all__ = [
    "ExplorationRate",
    "Loaded",
    "MaxFeatures",
    "MirrorMap",
    "RandomizationName",
    "RankingLoss",
]


class HasWeights(Protocol):
    """User-defined mirror map."""

    def weights(self, dual_weights: np.ndarray, /) -> ArrayLike: ...


class RankingLoss(Protocol):
    """User-defined loss of rankings."""

    def gains(self, relevance: np.ndarray, /) -> ArrayLike: ...

    def discounts(self, n_positions: int, /) -> ArrayLike: ...


# The number of features of one model: an integer, a share of all features, or None for all.
MaxFeatures = int | float | Literal["sqrt", "log2"] | None

# The exploration rate of a linear bandit: a number, or the name of a schedule.
ExplorationRate = float | Literal["decay", "ag1", "ag2", "ag3", "ag2-unbiased", "ag3-forgetting"]

MirrorMap = (
    Literal["euclidean", "p-norm", "group-norm", "schatten", "entropy", "positive"] | HasWeights
)

# Exploration schemes of top-k feedback: the keys of `RANDOMIZATIONS` in `sklrank.feedback`.
RandomizationName = Literal["uniform", "single-swap"]

# Return type of the file readers: a Bunch, or tuples, depending on arguments. With a union of both,
# type checkers would make every caller check which it is.
Loaded = Bunch | Any
