"""Online label ranking: decomposition by learners that have `partial_fit`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker
from sklrank.linear_model import OnlineLogisticRegression
from sklrank.metrics import kendall_tau_score
from sklrank.model_selection import progressive_val_score
from sklrank.pipeline import OnlinePipeline

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(60, 4))
Y = rankdata(-X - 0.3 * RANDOM.normal(size=X.shape), axis=1)
INCOMPLETE = np.where(RANDOM.rand(60, 4) < 0.3, np.nan, Y)
WEIGHTS = RANDOM.randint(3, size=60).astype(float)
REGRESSOR = SGDRegressor(shuffle=False, random_state=0)
RANKERS = [
    LabelwiseRanker(REGRESSOR, incomplete="relative"),
    LabelwiseRanker(OnlinePipeline([("scale", StandardScaler()), ("sgd", REGRESSOR)])),
    PairwiseRanker(SGDClassifier("log_loss", shuffle=False, random_state=0)),
    PairwiseRanker(OnlineLogisticRegression(), voting="soft"),
]


def kendall_tau_of_rows(positions, scores):
    rows = range(len(scores))
    return [kendall_tau_score(positions[[row]], -scores[[row]]) for row in rows]


def targets_of(ranker):
    return Y if getattr(ranker, "incomplete", "") == "raise" else INCOMPLETE


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("ranker", RANKERS)
def test_chunks_give_the_model_of_one_call(ranker, weights):
    if "scale" in repr(ranker):
        # The scaler learns each chunk before it transforms it.
        ranker = clone(ranker).set_params(estimator__scale="passthrough")
    targets = targets_of(ranker)
    whole = clone(ranker).partial_fit(X, targets, weights)
    parts = clone(ranker)
    for rows in np.split(np.arange(60), [1, 20, 43]):
        part = None if weights is None else weights[rows]
        assert parts.partial_fit(X[rows], targets[rows], part) is parts
    assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)
    assert whole.score(X, Y) > 0.5
    n_rounds = 60 if weights is None else np.count_nonzero(weights)
    assert parts.n_rounds_ == whole.n_rounds_ == n_rounds
    assert clone(ranker).fit(X, targets).partial_fit(X, targets, weights).n_rounds_ == 60 + n_rounds


def test_each_label_has_the_regressor_of_its_samples():
    ranker = clone(RANKERS[0]).partial_fit(X[:30], INCOMPLETE[:30])
    ranker.partial_fit(X[30:], INCOMPLETE[30:], WEIGHTS[30:])
    for label in range(4):
        model = clone(REGRESSOR)
        for rows in np.arange(30), 30 + np.flatnonzero(WEIGHTS[30:]):
            rows = [row for row in rows if not np.isnan(INCOMPLETE[row, label])]
            ranked = [rankdata(INCOMPLETE[row], nan_policy="omit") for row in rows]
            shares = [ranks[label] / (1 + np.sum(~np.isnan(ranks))) for ranks in ranked]
            weights = WEIGHTS[rows] if rows[0] >= 30 else None
            model.partial_fit(X[rows], np.array(shares) * 5 / 4, sample_weight=weights)
        assert_allclose(ranker.estimators_[label].coef_, model.coef_)


def test_each_pair_has_the_classifier_of_its_comparisons():
    ranker = clone(RANKERS[2]).partial_fit(X[:30], INCOMPLETE[:30])
    ranker.partial_fit(X[30:], INCOMPLETE[30:])
    for (a, b), fitted in zip(ranker.pairs_, ranker.estimators_):
        model = clone(ranker.estimator)
        rows = np.flatnonzero(~np.isnan(INCOMPLETE[:, a] + INCOMPLETE[:, b]))
        wins = INCOMPLETE[rows, a] < INCOMPLETE[rows, b]
        model.partial_fit(X[rows], wins.astype(int), classes=[0, 1])
        assert_allclose(fitted.coef_, model.coef_)
        assert ranker.frequencies_[list(map(tuple, ranker.pairs_)).index((a, b))] == wins.mean()


@pytest.mark.parametrize("ranker", [RANKERS[0], RANKERS[2]])
def test_labels_that_were_not_ranked_yet(ranker):
    """They are in the middle, which is 2 of 3, and are learned later."""
    first, later = [[2.0, 1, np.nan]], [[np.nan, 1, 2]]
    ranker = clone(ranker).partial_fit(X[:1], first)
    middle = -2 / 3 if isinstance(ranker, LabelwiseRanker) else 1 + 1 / 12
    assert_allclose(ranker.decision_function(X[:5])[:, 2], middle)
    ranker.partial_fit(X[1:2], later)
    assert ranker.estimators_[2] is not None


def test_a_pair_that_fit_saw_in_one_order_only_keeps_its_frequency():
    """Its classifier would have seen the later samples only."""
    ranker = PairwiseRanker(GaussianNB()).fit(X[:10], np.tile([1, 2], (10, 1)))
    ranker.partial_fit(X[10:15], np.tile([2, 1], (5, 1)))
    assert ranker.estimators_ == [None]
    assert_allclose(ranker.predict_pair_proba(X[:1])[0, 0, 1], 10 / 15)


def test_fit_starts_again():
    ranker = clone(RANKERS[0]).partial_fit(X, Y)
    again = clone(ranker).fit(X, Y)
    assert_array_equal(ranker.fit(X, Y).decision_function(X), again.decision_function(X))


def test_exists_if_the_learner_has_it():
    for ranker in (
        LabelwiseRanker(),
        PairwiseRanker(LogisticRegression()),
        LabelwiseRanker(RandomForestRegressor()),
    ):
        assert not hasattr(ranker, "partial_fit")
    assert all(hasattr(ranker, "partial_fit") for ranker in RANKERS)


def test_progressive_validation():
    ranker = clone(RANKERS[0])
    values = progressive_val_score(ranker, X, Y, scoring=kendall_tau_of_rows, chunk_size=5)
    parts = clone(ranker)
    for rows in np.split(np.arange(60), 12):
        if rows[0] > 0:
            expected = kendall_tau_of_rows(Y[rows], parts.decision_function(X[rows]))
            assert_allclose(values[rows], expected)
        parts.partial_fit(X[rows], Y[rows])
    assert values[30:].mean() > 0.5


@pytest.mark.parametrize("ranker", [RANKERS[0], RANKERS[2]])
def test_bad_input_leaves_the_model_unchanged(ranker):
    model = clone(ranker).partial_fit(X, Y)
    before = model.decision_function(X)
    for data, message in [
        ((X, Y[:, :3]), "a position for each fitted label"),
        ((X[:, :2], Y), "features"),
        ((X, Y, -WEIGHTS), "must not be negative"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*data)
    with pytest.raises(ValueError, match="use multi_output=False"):
        clone(model).set_params(multi_output=True).partial_fit(X, Y)
    # The last model fails after the others have learned.
    model.estimators_[-1].alpha = "no number"
    with pytest.raises(TypeError, match="must be real number"):
        model.partial_fit(X, Y)
    assert_array_equal(model.decision_function(X), before)
    assert model.n_rounds_ == 60
