"""scikit-learn's functions that inspect models, on HistGradientBoostingRanker."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_score, ndcg_scorer
from sklrank.model_selection import query_permutation_importance

pd = pytest.importorskip("pandas")

RANDOM = np.random.RandomState(0)
QID = np.repeat(np.arange(20), 10)
X = pd.DataFrame(RANDOM.normal(size=(200, 2)), columns=["a", "b"])
X["kind"] = pd.Categorical(RANDOM.choice(["x", "y", "z"], size=200))
Y = (X["a"] + RANDOM.normal(size=200) > 0.5).astype(int) + (X["kind"] == "y")


@pytest.fixture(scope="module")
def ranker():
    ranker = HistGradientBoostingRanker(max_iter=10, init=None, monotonic_cst={"a": 1})
    return ranker.fit(X, Y, qid=QID)


def test_partial_dependence(ranker):
    scores = TransformedTargetRegressor(FrozenEstimator(ranker)).fit(X, Y)
    for name, options in [("a", {"grid_resolution": 20}), ("kind", {"categorical_features": [2]})]:
        found = partial_dependence(scores, X, [name], **options)
        [grid] = found["grid_values"]
        for value, mean in zip(grid, found["average"][0], strict=True):
            changed = X.copy()
            changed[name] = value if name == "a" else pd.Categorical([value] * 200, ["x", "y", "z"])
            assert mean == pytest.approx(ranker.predict(changed).mean())
        if name == "a":
            assert (np.diff(found["average"][0]) >= 0).all()
            assert np.ptp(found["average"]) > 0.5


def test_permutation_importance(ranker):
    by_query = query_permutation_importance(
        ranker, X, Y, qid=QID, scoring=ndcg_scorer, random_state=0
    )
    # The same with a scorer that knows the queries.
    expected = permutation_importance(
        ranker,
        X,
        Y,
        scoring=lambda model, X, y: ndcg_score(y, model.predict(X), qid=QID),
        random_state=0,
    )
    assert_allclose(by_query.importances, expected.importances)
    assert by_query.importances_mean[[0, 2]].min() > 0.02
    with pytest.raises(ValueError, match="query_permutation_importance"):
        permutation_importance(ranker, X, Y)
