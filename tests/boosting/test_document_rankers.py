"""The public interface of NDCGBoost, RankBoost and AdaRank."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import DataConversionWarning, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from sklrank._checks.queries import Queries
from sklrank.boosting import AdaRank, HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.boosting._base import DocumentTarget, split_queries
from sklrank.metrics import ndcg_score, ndcg_scorer
from sklrank.model_selection import QueryKFold, query_permutation_importance
from sklrank.tree import HistogramTreeClassifier
from sklrank.tree._histogram import HistogramTreeRegressor


def make_queries(seed, n=240):
    """Return features, grades by the first two of them, and thirty queries in mixed order."""
    random = np.random.RandomState(seed)
    X, qid = random.normal(size=(n, 4)), random.randint(30, size=n)
    y = np.digitize(2 * X[:, 0] + X[:, 1] + random.normal(size=n), [1, 3])
    return X, y, qid


X, Y, QID = make_queries(0)
# Grades whose exponential gains, linear gains and order differ.
GRADES = 2 * Y

ALGORITHMS = [NDCGBoost, RankBoost, AdaRank]
TREE = DecisionTreeClassifier(max_depth=2)
STUMP = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
CONFIGURATIONS = {
    "ndcg": NDCGBoost(STUMP, 5),
    "ndcg-default": NDCGBoost(n_estimators=5),
    "trees": HistGradientBoostingRanker(max_iter=5, max_leaf_nodes=4, early_stopping=False),
    "trees-options": HistGradientBoostingRanker(
        "expected-ndcg",
        max_leaf_nodes=4,
        l2_regularization=2.0,
        max_iter=5,
        gain="linear",
        learning_rate=1.0,
        early_stopping=False,
    ),
    "ndcg-options": NDCGBoost(STUMP, 5, gain="linear", learning_rate=0.5),
    "ndcg-k": NDCGBoost(STUMP, 5, k=2),
    "ndcg-logistic": NDCGBoost(LogisticRegression(), 5),
    "rank": RankBoost(n_estimators=5),
    "rank-tree": RankBoost(TREE, 5, random_state=0),
    "rank-binned": RankBoost(HistogramTreeClassifier(max_leaf_nodes=4, min_samples_leaf=8), 5),
    "ada": AdaRank(n_estimators=5),
    "ada-options": AdaRank(n_estimators=5, metric="map", k=5, rule="xu-li"),
    "ada-tree": AdaRank(TREE, 5, weighting="auto", random_state=0),
}
DRAWN = {
    "ndcg-drawn": NDCGBoost(KNeighborsClassifier(3), 5, random_state=0),
    "rank-drawn": RankBoost(weighting="resampling", n_estimators=5, random_state=0),
    "ada-drawn": AdaRank(TREE, 5, random_state=0),
}


# Each of their parameters, or kinds of trees, is also that of another ranker.
LONG = {"ndcg-options", "rank-tree", "rank-binned"}


def with_each(configurations):
    return pytest.mark.parametrize(
        "ranker",
        [
            pytest.param(ranker, id=name, marks=pytest.mark.slow if name in LONG else ())
            for name, ranker in configurations.items()
        ],
    )


def options_of_score(ranker):
    """Return the options of NDCG that are parameters of the ranker."""
    return {name: value for name, value in ranker.get_params().items() if name in ("gain", "k")}


def fit(ranker, **parameters):
    if isinstance(ranker, HistGradientBoostingRanker) and "n_estimators" in parameters:
        parameters["max_iter"] = parameters.pop("n_estimators")
    return clone(ranker).set_params(**parameters).fit(X, Y, qid=QID)


# -- All algorithms.


@with_each(CONFIGURATIONS | DRAWN)
def test_learns_to_rank(ranker):
    X_test, grades, qid = make_queries(1)
    chance = ndcg_score(grades, np.zeros(len(grades)), qid=qid)
    fitted = fit(ranker)
    assert fitted.score(X_test, grades, qid=qid) > chance + 0.1
    expected = ndcg_score(grades, fitted.predict(X_test), qid=qid, **options_of_score(ranker))
    assert_allclose(fitted.score(X_test, grades, qid=qid), expected)


@pytest.mark.parametrize("name", sorted(n for n in CONFIGURATIONS if not n.startswith("ada")))
@pytest.mark.parametrize("learning_rate", [0.2, 2.0])
def test_the_objective_never_rises(name, learning_rate):
    losses = fit(CONFIGURATIONS[name], n_estimators=15, learning_rate=learning_rate).loss_curve_
    assert len(losses) > 2
    assert (losses[1:] <= losses[:-1] * (1 + 1e-12)).all()


@with_each(CONFIGURATIONS | DRAWN)
def test_score_of_a_document_does_not_depend_on_others(ranker):
    fitted = fit(ranker)
    scores = fitted.predict(X)
    assert_array_equal(np.concatenate([fitted.predict(X[[i]]) for i in range(5)]), scores[:5])
    assert_array_equal(fitted.predict(X[::-3]), scores[::-3])


@with_each(CONFIGURATIONS)
def test_order_of_the_samples_does_not_matter(ranker):
    order = np.random.RandomState(3).permutation(len(X))
    permuted = clone(ranker).fit(X[order], Y[order], qid=QID[order])
    assert_allclose(permuted.predict(X), fit(ranker).predict(X), atol=1e-9)


@with_each({name: one for name, one in CONFIGURATIONS.items() if name != "ndcg-default"})
def test_sign_of_the_features_does_not_matter(ranker):
    negated = X * [-1, 1, -1, 1]
    assert_allclose(
        clone(ranker).fit(negated, Y, qid=QID).predict(negated), fit(ranker).predict(X), atol=1e-9
    )


@with_each(CONFIGURATIONS | DRAWN)
def test_names_of_queries_do_not_matter(ranker):
    scores = fit(ranker).predict(X)
    names = pd.Series([f"q{-q}" for q in QID], index=QID)
    assert_allclose(clone(ranker).fit(X, Y, qid=names).predict(X), scores, atol=1e-9)


@with_each(CONFIGURATIONS)
def test_without_qid_all_documents_are_of_one_query(ranker):
    alone = clone(ranker).fit(X, Y)
    same = clone(ranker).fit(X, Y, qid=np.full(len(X), "same"))
    assert_array_equal(alone.predict(X), same.predict(X))
    expected = ndcg_score(Y, alone.predict(X), **options_of_score(ranker))
    assert_allclose(alone.score(X, Y), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_score_checks_relevance_like_fit(algorithm):
    ranker = algorithm(n_estimators=3).fit(X, Y, qid=QID)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert ranker.score(X, Y[:, np.newaxis], qid=QID) == ranker.score(X, Y, qid=QID)
    for bad in (-Y, Y[:5], np.column_stack([Y, Y]), None):
        for method in (ranker.fit, ranker.score):
            with pytest.raises(ValueError, match=r"\by\b") as error:
                method(X, bad, qid=QID)
            assert "y_true" not in str(error.value) and "y_score" not in str(error.value)


@with_each(CONFIGURATIONS | DRAWN)
def test_staged_predictions(ranker):
    fitted = fit(ranker)
    stages = [*fitted.staged_predict(X)]
    assert len(stages) == len(fitted.estimators_) == len(fitted.estimator_weights_)
    assert_array_equal(stages[-1], fitted.predict(X))
    for n in range(1, len(stages), 3):
        assert_allclose(stages[n - 1], fit(ranker, n_estimators=n).predict(X), atol=1e-12)


EARLY = {
    "trees-early": HistGradientBoostingRanker(
        max_iter=12, early_stopping=True, n_iter_no_change=3, random_state=0
    ),
}


@with_each({name: CONFIGURATIONS[name] for name in ("trees", "trees-options")} | EARLY)
@pytest.mark.parametrize("n_first", [3, 10])
def test_warm_start_equals_one_fit(ranker, n_first):
    """Also with a pickle in between, and where the first fit stopped early."""
    at_once = fit(ranker, n_estimators=12)
    first = fit(ranker, n_estimators=n_first, warm_start=True)
    first = pickle.loads(pickle.dumps(first))
    second = first.set_params(max_iter=12).fit(X, Y, qid=QID)
    for name in ("estimator_weights_", "loss_curve_", "validation_loss_curve_"):
        assert_array_equal(getattr(second, name, None), getattr(at_once, name, None))
    assert second.stop_reason_ == at_once.stop_reason_
    assert_array_equal(second.predict(X), at_once.predict(X))


@with_each(DRAWN)
def test_seeds(ranker):
    assert_array_equal(fit(ranker).predict(X), fit(ranker).predict(X))
    assert not np.array_equal(fit(ranker).predict(X), fit(ranker, random_state=1).predict(X))
    generator = np.random.RandomState(0)
    assert_array_equal(fit(ranker, random_state=generator).predict(X), fit(ranker).predict(X))


def test_warm_start_cannot_remove_rounds(fingerprint):
    options = {"max_leaf_nodes": 8, "init": None, "early_stopping": False}
    ranker = fit(HistGradientBoostingRanker(max_iter=5, warm_start=True, **options))
    before = fingerprint(ranker.set_params(max_iter=4))
    with pytest.raises(ValueError, match="max_iter=4 is less than the 5 rounds"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before
    assert len(ranker.set_params(warm_start=False).fit(X, Y, qid=QID).estimators_) == 4


@pytest.mark.parametrize("stopped_before", [False, True])
def test_warm_start_holds_out_no_query_of_earlier_rounds(stopped_before, fingerprint):
    ranker = HistGradientBoostingRanker(
        max_iter=2, n_iter_no_change=9, warm_start=True, random_state=0
    )
    ranker = fit(ranker, early_stopping=stopped_before)
    ranker.set_params(early_stopping=True, max_iter=3)
    if stopped_before:
        ranker.set_params(validation_fraction=0.2)
    before = fingerprint(ranker)
    with pytest.raises(ValueError, match="hold out queries that the rounds so far learned from"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before
    # All queries of X are learned from if there is a validation set.
    ranker.fit(X, Y, qid=QID, **dict(zip(("X_val", "y_val", "qid_val"), make_queries(1))))
    with pytest.raises(ValueError, match="fit before, 0.0"):
        ranker.set_params(validation_fraction=0.1).fit(X, Y, qid=QID)


@pytest.mark.parametrize("loss", ["logistic", "expected-ndcg"])
@pytest.mark.parametrize("parameters", [{}, {"k": 2}, {"gain": "linear"}], ids=str)
def test_early_stopping_by_held_out_queries(loss, parameters):
    """The validation loss is the objective of the held-out queries."""
    ranker = HistGradientBoostingRanker(
        loss,
        max_iter=50,
        max_leaf_nodes=8,
        init=None,
        early_stopping=True,
        n_iter_no_change=3,
        validation_fraction=0.2,
        random_state=0,
        **parameters,
    ).fit(X, GRADES, qid=QID)
    train, held_out = split_queries(Queries.from_qid(QID, len(X)), 0.2, ranker._split_seed)
    assert not np.isin(QID[held_out], QID[train]).any()
    assert 0 < len(set(QID[held_out])) < 9
    y_held_out, queries = GRADES[held_out], Queries.from_qid(QID[held_out], len(held_out))
    objective = ranker._make_objective(DocumentTarget.of(y_held_out.astype(float), queries))
    stages = [np.zeros(len(X)), *ranker.staged_predict(X)]
    history = [objective.value_at(scores[held_out]) for scores in stages]
    assert_allclose(ranker.validation_loss_curve_, history)
    assert ranker.stop_reason_ == "the validation loss has not decreased for 3 rounds"

    def stops(n):
        return n > 3 and min(history[n - 3 : n]) >= min(history[: n - 3]) - ranker.tol

    assert [stops(n) for n in range(2, len(history) + 1)] == [False] * (len(history) - 2) + [True]
    best = 1 + int(np.argmin(history[1:]))
    assert ranker.n_iter_ == best < len(ranker.estimators_)
    assert_array_equal(ranker.predict(X), stages[best])


def test_validation_loss_of_a_warm_start_is_that_of_the_last_validation_set():
    first, second = make_queries(1), make_queries(2)
    ranker = HistGradientBoostingRanker(
        max_iter=3,
        max_leaf_nodes=4,
        init=None,
        early_stopping=True,
        n_iter_no_change=9,
        warm_start=True,
    )
    for n_rounds, data in (3, first), (5, second), (5, first):
        validation = dict(zip(("X_val", "y_val", "qid_val"), data))
        ranker.set_params(max_iter=n_rounds).fit(X, Y, qid=QID, **validation)
        anew = clone(ranker).fit(X, Y, qid=QID, **validation)
        assert_allclose(ranker.validation_loss_curve_, anew.validation_loss_curve_)
        assert ranker.n_iter_ == anew.n_iter_
    ranker.set_params(max_iter=6, early_stopping=False).fit(X, Y, qid=QID)
    assert len(ranker.validation_loss_curve_) == 0
    assert ranker.n_iter_ == len(ranker.estimators_) == 6


@pytest.mark.parametrize(
    "ranker",
    [
        NDCGBoost(gain="linear"),
        RankBoost(),
        AdaRank(metric="map"),
        HistGradientBoostingRanker(gain="linear", early_stopping=True),
    ],
)
def test_grades_that_fit_accepts(ranker):
    """The exponential gain of these grades would overflow."""
    ranker = clone(ranker).fit(X, 1000 * Y, qid=QID)
    # Y is the number of distinct lower grades.
    expected = ndcg_score(Y, ranker.predict(X), qid=QID, gain="linear")
    assert_allclose(ranker.score(X, 1000 * Y, qid=QID), expected)


def gain_of_the_best(grades):
    return np.maximum(grades - 1, 0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_score_without_relevant_documents(algorithm):
    ranker = fit(algorithm(n_estimators=2))
    irrelevant = np.where(QID < 15, 0, Y)
    weight = (QID < 15).astype(float)
    for arguments in ((np.zeros(len(Y)), QID), (irrelevant, QID, weight)):
        with pytest.raises(ValueError, match="^y has no relevant document.* include a query"):
            ranker.score(X, *arguments)
    assert 0 < ranker.score(X, irrelevant, QID, 1 - weight) <= 1


def test_validation_sets_without_gain(fingerprint):
    ranker = HistGradientBoostingRanker(max_iter=3, gain=gain_of_the_best, random_state=0)
    ranker.fit(X, Y, qid=QID)
    before = fingerprint(ranker)
    few = np.where(QID == 0, Y, np.minimum(Y, 1))
    for y_val, part in ((np.minimum(Y, 1), "of X_val"), (None, "held out")):
        validation = {} if y_val is None else {"X_val": X, "y_val": y_val, "qid_val": QID}
        changed = clone(ranker).set_params(early_stopping=True)
        name = "y" if y_val is None else "y_val"
        message = f"^{name} has no documents of different gain .* {part}.*gain$"
        with pytest.raises(ValueError, match=message):
            changed.fit(X, few, qid=QID, **validation)
    with pytest.raises(ValueError, match="^y has no relevant document, one of a gain above 0"):
        ranker.score(X, np.minimum(Y, 1), QID)
    assert fingerprint(ranker) == before


def test_early_stopping_needs_grades_in_both_parts():
    ranker = HistGradientBoostingRanker(early_stopping=True, n_iter_no_change=2)
    # Only one query has different grades.
    grades = np.where(QID == 3, Y, 0)
    with pytest.raises(ValueError, match="no query with documents of different relevance in the"):
        ranker.fit(X, grades, qid=QID)


@pytest.mark.parametrize("name", ["ndcg", "rank-tree", "ada", "ada-tree", "rank-drawn"])
def test_importances(name):
    importances = fit((CONFIGURATIONS | DRAWN)[name]).feature_importances_
    assert_allclose(importances.sum(), 1)
    assert importances.argmax() == 0


def test_importances_of_adarank_are_shares_of_the_coefficients():
    """Each feature is selected in one direction only, so that the scores are linear."""
    ranker = fit(AdaRank())
    assert len({weak.factor for weak in ranker.estimators_}) > 1
    coefficients = np.abs(ranker.predict(np.eye(4)))
    assert_allclose(ranker.feature_importances_, coefficients / coefficients.sum())


def test_no_importances_if_weak_learners_have_none():
    assert not hasattr(fit(DRAWN["ndcg-drawn"]), "feature_importances_")
    assert not hasattr(NDCGBoost(), "feature_importances_")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_matrices_if_the_weak_learner_accepts_them(algorithm, container):
    ranker = algorithm(DecisionTreeClassifier(max_depth=2), 5, random_state=0)
    expected = clone(ranker).fit(X, Y, qid=QID).predict(X)
    fitted = clone(ranker).fit(container(X), Y, qid=QID)
    assert_allclose(fitted.predict(container(X)), expected)
    if algorithm is AdaRank:  # ranks by single features
        found = AdaRank(n_estimators=5).fit(container(X), Y, qid=QID).predict(container(X))
        assert_allclose(found, AdaRank(n_estimators=5).fit(X, Y, qid=QID).predict(X))
        return
    with pytest.raises(TypeError, match="[Ss]parse"):
        algorithm().fit(container(X), Y, qid=QID)


def test_fitted_ranker_accepts_the_input_that_it_was_fitted_to():
    """Parameters set after `fit` apply to the next `fit`."""
    ranker = RankBoost(TREE, 8, random_state=0).fit(sparse.csr_array(X), Y, qid=QID)
    expected = ranker.predict(sparse.csr_array(X))
    ranker.set_params(estimator=None)
    assert_array_equal(ranker.predict(sparse.csr_array(X)), expected)
    with pytest.raises(TypeError, match="[Ss]parse"):
        ranker.fit(sparse.csr_array(X), Y, qid=QID)
    assert_array_equal(ranker.predict(sparse.csr_array(X)), expected)


def test_sparse_matrices_with_indices_of_64_bits(wide_csr):
    ranker = NDCGBoost(DecisionTreeClassifier(max_depth=2, random_state=0), 5)
    expected = clone(ranker).fit(X, Y, qid=QID).predict(X)
    assert_allclose(ranker.fit(wide_csr(X), Y, qid=QID).predict(wide_csr(X)), expected)


def test_data_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = NDCGBoost(n_estimators=5, random_state=0).fit(frame, pd.Series(Y), qid=pd.Series(QID))
    assert_array_equal(ranker.feature_names_in_, list("abcd"))
    assert_array_equal(ranker.predict(frame), fit(ranker).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_single_precision(algorithm):
    """Scores do not depend on the precision of X, whatever the precision in `fit`."""
    single = X.astype(np.float32)
    double = fit(algorithm())
    assert_allclose(double.predict(single), double.predict(single.astype(float)), rtol=1e-6)
    fitted = algorithm().fit(single, Y, qid=QID)
    assert_allclose(fitted.predict(single), fitted.predict(single.astype(float)), rtol=1e-6)
    # Rounding moves 0.1 above the threshold, and would round the threshold to the same number.
    weak = {"estimator": STUMP} if algorithm is NDCGBoost else {}
    close = algorithm(n_estimators=1, **weak).fit([[0.1], [np.float32(0.1)]], [0, 1])
    assert np.diff(close.predict(np.array([[0.0], [0.1]], dtype=np.float32))) > 0


# -- Histogram trees as weak learners.


def test_trees_of_other_rankers_are_refused():
    with pytest.raises(ValueError, match="estimator must be a classifier"):
        RankBoost(HistogramTreeRegressor()).fit(X, Y, QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_trees_whose_features_are_binned_once(algorithm):
    """They rank as well as scikit-learn's trees, and accept missing values."""
    parameters = {"n_estimators": 15, "weighting": "auto", "random_state": 0}
    tree = HistogramTreeClassifier(max_leaf_nodes=4, min_samples_leaf=5)
    peer = DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=5)
    X_new, y_new, qid_new = make_queries(1)
    ours, others = (fit(algorithm(one, **parameters)) for one in (tree, peer))
    assert ours.score(X_new, y_new, qid_new) > others.score(X_new, y_new, qid_new) - 0.02
    missing = np.where(np.abs(X) > 2, np.nan, X)
    fitted = algorithm(tree, **parameters).fit(missing, Y, QID)
    assert np.isfinite(fitted.predict(missing)).all()


# -- Nothing to gain, and errors.


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_constant_features(algorithm):
    with pytest.warns(UserWarning, match="gives all samples the score 0: (no weak|the last)"):
        ranker = algorithm().fit(np.ones_like(X), Y, qid=QID)
    assert ranker.estimators_ == []
    assert_array_equal(ranker.predict(X), np.zeros(len(X)))
    assert not ranker.feature_importances_.any()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("learning_rate", [1.0, 2.0])
def test_separable_data(algorithm, learning_rate):
    """The rounds end, or continue without overflow."""
    grades = np.digitize(X[:, 2], [-1, 0, 1])
    rate = {} if algorithm is AdaRank else {"learning_rate": learning_rate}
    ranker = algorithm(n_estimators=200, **rate).fit(X, grades, qid=QID)
    assert_allclose(ranker.score(X, grades, qid=QID), 1.0)
    assert np.isfinite(ranker.predict(X)).all()
    assert (ranker.loss_curve_[1:] <= ranker.loss_curve_[:-1] * (1 + 1e-12)).all()


def replaced(values, value):
    values = np.array(values, dtype=float)
    values[3] = value
    return values


BAD_INPUT = [
    ((replaced(X, np.nan), Y, QID), "X contains NaN"),
    ((replaced(X, np.inf), Y, QID), "X contains infinity"),
    ((X, replaced(Y, np.nan), QID), "y contains NaN"),
    ((X, replaced(Y, np.inf), QID), "y contains infinity"),
    ((X, replaced(Y, -1), QID), "0 or more; got -1"),
    ((X, Y + 1j, QID), "type complex128"),
    ((X, Y.astype("M8[D]"), QID), "type datetime64"),
    ((X, Y.astype("M8[D]").astype(object), QID), "got dates"),
    ((X, pd.Series(Y.astype("M8[s]")).dt.tz_localize("UTC"), QID), "got dates"),
    ((X, np.array(["a", "b", "c"])[Y], QID), "y must be relevance, numbers"),
    ((X, np.ones(len(X)), QID), "no query with documents of different relevance"),
    ((X, Y, np.arange(len(X))), "no query with documents of different relevance"),
    ((X, Y[:-1], QID), "y must have a value for each of the 240 rows"),
    ((X, Y, QID[:-1]), "qid must be of shape"),
    ((X, Y, QID[:, np.newaxis]), "qid must be of shape"),
    ((X, Y, [None, *QID[1:]]), "qid must hold ids of one kind"),
    ((X, Y, replaced(QID, np.nan)), "qid must be known for every sample"),
    ((X, np.column_stack([Y, Y]), QID), "1d array"),
    ((X, None, QID), "y is None"),
    ((X[:, 0], Y, QID), "2D array"),
]


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, partial(NDCGBoost, STUMP)])
def test_bad_input_leaves_the_model_as_it_was(algorithm, fingerprint):
    ranker = fit(algorithm(n_estimators=4, random_state=0))
    before = fingerprint(ranker.set_params(n_estimators=6))
    allows_nan = get_tags(ranker).input_tags.allow_nan
    for arguments, message in BAD_INPUT[1:] if allows_nan else BAD_INPUT:
        with pytest.raises(ValueError, match=message):
            ranker.fit(*arguments)
        assert fingerprint(ranker) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_failing_weak_learner_leaves_the_model_as_it_was(algorithm, fingerprint):
    class Failing(DecisionTreeClassifier):
        fits_left = 6

        def fit(self, X, y, sample_weight=None):
            Failing.fits_left -= 1
            if Failing.fits_left < 0:
                raise RuntimeError("out of luck")
            return super().fit(X, y, sample_weight)

    ranker = algorithm(Failing(max_depth=2), 4, random_state=0, weighting="resampling")
    ranker.fit(X, Y, qid=QID)
    before = fingerprint(ranker.set_params(n_estimators=8))
    with pytest.raises(RuntimeError, match="out of luck"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"estimator": Ridge()}, ValueError, "must be a classifier, got Ridge"),
        ({"estimator": NDCGBoost()}, ValueError, "must be a classifier, got NDCGBoost"),
        ({"estimator": "tree"}, ValueError, "'estimator' parameter"),
        ({"n_estimators": 0}, ValueError, "n_estimators"),
    ],
)
def test_bad_parameters(algorithm, parameters, error, message):
    with pytest.raises(error, match=message):
        algorithm(**parameters).fit(X, Y, qid=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_refuses_an_estimator_class(algorithm):
    pytest.importorskip("sklearn", "1.8", reason="its message is another")
    with pytest.raises(TypeError, match="got estimator class instead"):
        algorithm(DecisionTreeClassifier).fit(X, Y, qid=QID)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (NDCGBoost(gain="square"), "'gain' parameter"),
        (NDCGBoost(learning_rate=0), "learning_rate"),
        (RankBoost(learning_rate=2.1), "learning_rate"),
        (HistGradientBoostingRanker("lambdarank"), "'loss' parameter"),
        (HistGradientBoostingRanker(max_leaf_nodes=1), "'max_leaf_nodes' parameter"),
        (HistGradientBoostingRanker(learning_rate=2.1), "'learning_rate' parameter"),
        (NDCGBoost(gain=np.negative), "gain must be from 0"),
        (NDCGBoost(HistogramTreeClassifier(max_leaf_nodes=1)), "'max_leaf_nodes' parameter"),
        (AdaRank(metric="mrr"), "'metric' parameter"),
        (AdaRank(k=0), "'k' parameter"),
        (NDCGBoost(k=0), "'k' parameter"),
    ],
)
def test_bad_parameters_of_one_algorithm(ranker, message):
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y, qid=QID)


def test_adarank_and_grades_without_gain():
    """2^y - 1 is rounded to 0: NDCG leaves such queries out, average precision does not."""
    ranker = fit(AdaRank())
    grades = np.where(QID < 15, Y, 1e-17 * Y)
    half = ranker.fit(X, grades, qid=QID).loss_curve_
    assert_array_equal(half, ranker.fit(X, np.where(QID < 15, Y, 0), qid=QID).loss_curve_)
    with pytest.raises(ValueError, match="no document whose gain differs from 0.* 2e-17"):
        AdaRank().fit(X, 1e-17 * Y, qid=QID)
    assert np.isfinite(AdaRank(metric="map").fit(X, 1e-17 * Y, qid=QID).loss_curve_).all()


@pytest.mark.filterwarnings("ignore:AdaRank gives all samples the score 0")
def test_adarank_stops_if_the_classifier_does_not_beat_chance():
    """A constant prediction ranks nothing."""
    ranker = fit(AdaRank(DummyClassifier(strategy="most_frequent"), 3))
    assert ranker.stop_reason_ == "the last weak learner was no better than chance"
    assert ranker.estimators_ == []


def test_adarank_accepts_stumps_for_two_grades():
    ranker = AdaRank(STUMP, 3, weighting="auto").fit(X, 3 * (Y > 0), qid=QID)
    tree = clone(ranker).set_params(estimator=DecisionTreeClassifier(max_depth=1), random_state=0)
    assert_allclose(tree.fit(X, 3 * (Y > 0), qid=QID).estimator_weights_, ranker.estimator_weights_)


@pytest.mark.filterwarnings("ignore:NDCGBoost gives all samples the score 0")
def test_subclasses_of_stumps_are_not_compiled():
    class OppositeFit(HistogramTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, 1 - y, sample_weight)

    class OppositePredict(HistogramTreeClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    for stump in (OppositeFit(max_leaf_nodes=2), OppositePredict(max_leaf_nodes=2)):
        assert fit(NDCGBoost(stump, 3)).stop_reason_.endswith("no better than chance")


def test_adarank_is_scored_at_its_k():
    ranker = fit(AdaRank(k=2))
    assert ranker.score(X, Y, qid=QID) == ndcg_score(Y, ranker.predict(X), qid=QID, k=2)
    assert ranker.score(X, Y, qid=QID) != ndcg_score(Y, ranker.predict(X), qid=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_score_without_qid(algorithm):
    with pytest.raises(ValueError, match="fitted with queries.*enable_metadata_routing=True"):
        fit(algorithm(n_estimators=2)).score(X, Y)


# -- With scikit-learn's tools.


def test_a_search_over_a_pipeline(routing):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), NDCGBoost(DecisionTreeClassifier(random_state=0), 5)),
        {"ndcgboost__learning_rate": [1.0], "ndcgboost__estimator__max_depth": [1, 2]},
        scoring=clone(ndcg_scorer).set_params(k=10),
        cv=QueryKFold(2),
        error_score="raise",
    ).fit(X, Y, qid=QID)
    for n, (train, test) in enumerate(QueryKFold(2).split(X, Y, QID)):
        for parameters, found in zip(
            search.cv_results_["params"], search.cv_results_[f"split{n}_test_score"]
        ):
            pipeline = clone(search.estimator).set_params(**parameters)
            scores = pipeline.fit(X[train], Y[train], qid=QID[train]).predict(X[test])
            assert_allclose(found, ndcg_score(Y[test], scores, qid=QID[test], k=10))
    assert_allclose(search.score(X, Y, qid=QID), ndcg_score(Y, search.predict(X), qid=QID, k=10))


def test_a_search_with_a_validation_set(routing):
    validation = dict(zip(("X_val", "y_val", "qid_val"), make_queries(1, n=200)))
    ranker = HistGradientBoostingRanker(max_leaf_nodes=4, init=None)
    search = GridSearchCV(ranker, {"max_iter": [2, 3]}, cv=QueryKFold(2))
    with pytest.raises(UnsetMetadataPassedError, match="X_val"):
        search.fit(X, Y, qid=QID, **validation)
    ranker.set_fit_request(X_val=True, y_val=True, qid_val=True)
    best = search.fit(X, Y, qid=QID, **validation).best_estimator_
    alone = clone(best).fit(X, Y, qid=QID, **validation)
    assert_array_equal(best.validation_loss_curve_, alone.validation_loss_curve_)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nested_validation(routing, algorithm):
    pytest.importorskip("sklearn", "1.8", reason="its searches leave the ids of pipelines out")
    search = GridSearchCV(algorithm(random_state=0), {"n_estimators": [1, 3]}, cv=QueryKFold(2))
    scores = cross_validate(
        search, X, Y, cv=QueryKFold(2), params={"qid": QID}, error_score="raise"
    )["test_score"]
    for score, (train, test) in zip(scores, QueryKFold(2).split(X, Y, QID)):
        alone = clone(search).fit(X[train], Y[train], qid=QID[train])
        assert_allclose(score, ndcg_score(Y[test], alone.predict(X[test]), qid=QID[test]))


def test_a_search_without_routing_says_how():
    search = GridSearchCV(NDCGBoost(), {"n_estimators": [2]}, cv=3, error_score="raise")
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        search.fit(X, Y, qid=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_permutation_importance(algorithm):
    ranker = fit(algorithm(n_estimators=10))
    means = query_permutation_importance(
        ranker, X, Y, qid=QID, n_repeats=3, random_state=0
    ).importances_mean
    assert means.argsort()[::-1][:2].tolist() == [0, 1]
