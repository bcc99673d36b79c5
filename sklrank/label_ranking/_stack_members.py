"""The rankers that are stacked by default."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from sklrank.label_ranking._kernel_features import KernelFeatures
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._pairwise import PairwiseRanker
from sklrank.label_ranking._plackett_luce import PlackettLuceRanker


def recommended_rankers(
    n_features: int = 1, *, random_state: int | np.random.RandomState | None = None
) -> list:
    """Return the rankers that :class:`StackedRanker` combines by default.

    Parameters
    ----------
    n_features : int, default=1
        Number of features of the samples. With more than 300, there are no splines.
    random_state : int, RandomState instance or None, default=None
        Controls the randomness of the rankers.

    Returns
    -------
    list of (str, label ranker)
        The rankers with their names, which the parameter `estimators` describes.

    Examples
    --------
    >>> from sklrank.label_ranking import StackedRanker, recommended_rankers
    >>> rankers = recommended_rankers(random_state=0)
    >>> [name for name, _ in rankers]
    ['forest', 'kernel', 'linear', 'radial', 'splines', 'pairwise_splines']
    >>> fast = StackedRanker([entry for entry in rankers if entry[0] in ("forest", "linear")])
    """
    linear = PlackettLuceRanker(random_state=random_state)
    ridge = LabelwiseRanker(
        RidgeCV(np.logspace(-3, 1, 5)), multi_output="auto", incomplete="relative"
    )
    rankers = [
        (
            "forest",
            LabelwiseRanker(incomplete="relative", oob_score=True, random_state=random_state),
        ),
        ("kernel", make_pipeline(KernelFeatures(random_state=random_state), ridge)),
        ("linear", linear),
        ("radial", PlackettLuceRanker(kernel="rbf", random_state=random_state)),
    ]
    # Splines have six times as many weights as there are features.
    if n_features <= 300:
        splines = SplineTransformer(5, knots="quantile", extrapolation="linear", include_bias=False)
        logistic = PairwiseRanker(LogisticRegression(max_iter=1000), voting="soft")
        rankers += [
            ("splines", make_pipeline(StandardScaler(), splines, linear)),
            (
                "pairwise_splines",
                make_pipeline(StandardScaler(), splines, StandardScaler(), logistic),
            ),
        ]
    return rankers
