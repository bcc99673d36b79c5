"""Random forest that chooses the size of its leaves by out-of-bag error."""

import warnings

from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import check_random_state


class LeafSizeForest(RandomForestRegressor):
    """Random forest regressor that chooses the minimum number of samples in a leaf.

    A forest of ten trees is grown with each of the leaf sizes 1, 5 and 20. The size with the best
    out-of-bag score is that of the forest of 100 trees. Each split considers a third of the
    features, at least three of them.

    Parameters
    ----------
    oob_score : bool, default=False
        Whether to compute `oob_prediction_`.
    random_state : int, RandomState instance or None, default=None
        Controls the bootstrap samples and the choice of features.
    n_jobs : int or None, default=None
        Number of trees that are grown in parallel.
    """

    _doc_link_module = ""  # private, without a page in the documentation

    def __init__(self, *, oob_score=False, random_state=None, n_jobs=None):
        super().__init__(oob_score=oob_score, random_state=random_state, n_jobs=n_jobs)

    def fit(self, X, y, sample_weight=None):
        """Choose the size of the leaves, and grow the forest."""
        n_features = X.shape[1]
        self.max_features = max(n_features // 3, min(3, n_features))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        scores = {}
        with warnings.catch_warnings():
            # Ten trees distinguish the sizes. A hundredth of the samples is in all ten bootstrap
            # samples, which are the same for all sizes; their prediction is 0, with a warning.
            warnings.simplefilter("ignore")
            # Small leaves are best for precise targets, large ones for noisy targets. The sizes are
            # the default of scikit-learn, and about four times as much twice.
            for size in (1, 5, 20):
                first = RandomForestRegressor(
                    10,
                    max_features=self.max_features,
                    min_samples_leaf=size,
                    oob_score=True,
                    random_state=seed,
                    n_jobs=self.n_jobs,
                )
                scores[size] = first.fit(X, y, sample_weight).oob_score_
            self.min_samples_leaf = max(scores, key=scores.get)
            return super().fit(X, y, sample_weight)
