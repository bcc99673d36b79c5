"""A stream of samples with class labels, for the bandit classifiers."""

import numpy as np


def stream(seed=0, n_rows=150, n_classes=4, n_features=6):
    """Integers, whose sums are exact in any order: sparse and dense rows have equal scores."""
    random = np.random.RandomState(seed)
    y = random.randint(n_classes, size=n_rows)
    X = (
        random.poisson(0.7, (n_rows, n_features))
        + random.randint(3, size=(n_classes, n_features))[y]
    )
    return X.astype(np.float64), y
