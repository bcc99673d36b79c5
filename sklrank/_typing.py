"""Types that annotations of several modules share; only type checkers import them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

__all__ = ["Loaded", "MaxFeatures", "MirrorMap", "RandomizationName", "RankingLoss"]


class HasWeights(Protocol):
    """A mirror map of a user's own."""

    def weights(self, dual_weights: np.ndarray, /) -> ArrayLike: ...


class RankingLoss(Protocol):
    """A loss of rankings of a user's own."""

    def gains(self, relevance: np.ndarray, /) -> ArrayLike: ...

    def discounts(self, n_positions: int, /) -> ArrayLike: ...


# How many features one model looks at: a number, a share of them, or all.
MaxFeatures = int | float | Literal["sqrt", "log2"] | None

MirrorMap = (
    Literal["euclidean", "p-norm", "group-norm", "schatten", "entropy", "positive"] | HasWeights
)

# Exploration schemes of top-k feedback: the keys of `RANDOMIZATIONS` in `sklrank.feedback`.
RandomizationName = Literal["uniform", "single-swap"]

# What readers of files return: a Bunch, or tuples where arguments ask for them. A union of both
# would have every caller prove which it is.
Loaded = Bunch | Any
