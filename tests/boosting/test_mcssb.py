"""The public interface of MCSSBClassifier."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_classifiers_classes

from sklrank.boosting import MCSSBClassifier
from sklrank.boosting._weak_learners import ClassifierLearner
from sklrank.tree import StumpClassifier

X, TRUTH = make_blobs(120, centers=4, n_features=3, cluster_std=1.5, random_state=3)
Y = np.full(120, -1)
for k in range(4):
    Y[np.flatnonzero(TRUTH == k)[:3]] = k
RECOMMENDED = {"similarity": "auto", "scale": "auto", "weighting": "cost", "learning_rate": 2.0}
PRINTED = {"similarity": "rbf", "scale": False, "weighting": "resampling", "learning_rate": 1.0}
WEIGHTED = {**PRINTED, "weighting": "sample_weight"}
CONFIGURATIONS = [
    {},
    PRINTED,
    WEIGHTED,
    {"similarity": "knn", "weighting": "sample_weight"},
    {"similarity": "identity", "weighting": "sample_weight"},
]


def mcssb(**parameters):
    return MCSSBClassifier(**{"n_estimators": 12, "random_state": 0, **parameters})


def assert_same(one, other):
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert_array_equal(one.loss_curve_, other.loss_curve_)
    assert_array_equal(one.transduction_, other.transduction_)
    assert_array_equal(one._random_state.get_state()[1], other._random_state.get_state()[1])


@pytest.fixture(params=CONFIGURATIONS, ids=str)
def model(request):
    return mcssb(**request.param)


# -- Guarantees.


def test_defaults_are_the_recommended_setting():
    assert MCSSBClassifier().n_estimators == 200
    explicit = MCSSBClassifier(n_estimators=200, random_state=0, **RECOMMENDED).fit(X, Y)
    assert_same(MCSSBClassifier(random_state=0).fit(X, Y), explicit)


def test_the_objective_never_rises(model):
    model.fit(X, Y)
    assert len(model.estimators_) > 1
    assert (np.diff(model.loss_curve_) <= 1e-9 * model.loss_curve_[:-1]).all()


def test_recommended_setting_labels_unlabeled_samples():
    model = mcssb().fit(X, Y)
    assert np.mean(model.transduction_ == TRUTH) > 0.95
    assert model.score(X, TRUTH) > 0.95


def test_unlabeled_samples_help():
    few = Y >= 0
    alone = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[few], Y[few])
    assert mcssb().fit(X, Y).score(X, TRUTH) > alone.score(X, TRUTH)


def test_scores_are_sums_of_steps(model):
    model.fit(X, Y)
    scores = np.zeros((120, 4))
    stages = list(model.staged_predict(X))
    for weak, step, stage in zip(model.estimators_, model.estimator_weights_, stages):
        scores[np.arange(120), weak.predict(X)] += step
        assert_array_equal(stage, scores.argmax(axis=1))
    assert_allclose(model.decision_function(X), scores, rtol=1e-10)
    assert_allclose(model.predict_proba(X), softmax(scores, axis=1), rtol=1e-10)
    log_sums = np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert_allclose(model.predict_log_proba(X), scores - log_sums, atol=1e-9)
    assert_array_equal(model.predict(X), stages[-1])
    assert len(stages) == len(model.estimators_) == len(model.loss_curve_) - 1
    assert_array_equal(model.transduction_, np.where(Y < 0, model.predict(X), Y))
    assert_allclose(model.feature_importances_.sum(), 1)


def test_weak_learners_without_features_add_no_importance():
    """Single samples are drawn, so that all weak learners are dummies."""
    model = mcssb(**PRINTED, max_samples=1).fit(X, Y)
    assert len(model.estimators_) > 0
    assert_array_equal(model.feature_importances_, np.zeros(3))


def test_decision_function_of_two_classes_is_a_difference():
    model = mcssb().fit(X, np.where(Y > 1, 1, Y))
    proba = model.predict_proba(X)
    assert_allclose(model.decision_function(X), np.log(proba[:, 1] / proba[:, 0]), atol=1e-9)


# -- Invariances.


def test_same_seed_same_model(model):
    assert_same(model.fit(X, Y), clone(model).fit(X, Y))


def test_names_and_order_of_the_classes_do_not_matter(model):
    names = np.array(["d", "b", "c", "a"], dtype=object)
    named = np.where(Y < 0, -1, names[Y])
    expected = names[model.fit(X, Y).predict(X)]
    renamed = clone(model).fit(X, named)
    assert_array_equal(renamed.predict(X), expected)
    assert_allclose(renamed.loss_curve_, model.loss_curve_, rtol=1e-6)
    assert_array_equal(renamed.classes_, ["a", "b", "c", "d"])


DETERMINISTIC = {"similarity": "diffusion", "estimator": DecisionTreeRegressor(max_depth=2)}


@pytest.mark.parametrize(
    "parameters", [DETERMINISTIC, WEIGHTED, {**WEIGHTED, "similarity": "knn"}], ids=str
)
def test_order_of_the_samples_does_not_matter(parameters):
    order = np.random.RandomState(0).permutation(120)
    expected = mcssb(**parameters).fit(X, Y)
    found = mcssb(**parameters).fit(X[order], Y[order])
    assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-6)
    assert_array_equal(found.transduction_, expected.transduction_[order])


def test_warm_start_equals_one_fit(model):
    grown = clone(model).set_params(warm_start=True, n_estimators=5).fit(X, Y)
    grown.set_params(n_estimators=12).fit(X, Y)
    assert_same(grown, model.fit(X, Y))


def test_pickle_predicts_the_same(model):
    model.fit(X, Y)
    assert_same(pickle.loads(pickle.dumps(model)), model)


@pytest.mark.parametrize("parameters", [{}, WEIGHTED, {**WEIGHTED, "similarity": "knn"}], ids=str)
def test_sparse_matrices_and_data_frames(parameters):
    expected = mcssb(**parameters).fit(X, Y)
    from_sparse = mcssb(**parameters).fit(sparse.csr_matrix(X), Y)
    assert_array_equal(from_sparse.predict(sparse.csr_matrix(X)), expected.predict(X))
    frame = pd.DataFrame(X, columns=list("abc"))
    from_frame = mcssb(**parameters).fit(frame, pd.Series(Y))
    assert_array_equal(from_frame.predict(frame), expected.predict(X))
    assert_array_equal(from_frame.feature_names_in_, list("abc"))


# -- Parameters.


@pytest.mark.parametrize("parameters", [{}, WEIGHTED], ids=str)
def test_sparse_matrices_with_indices_of_64_bits(parameters, wide_csr):
    expected = mcssb(**parameters).fit(X, Y).predict(X)
    assert_array_equal(mcssb(**parameters).fit(wide_csr(X), Y).predict(wide_csr(X)), expected)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_similarity_as_a_matrix_or_a_callable(storage):
    def kernel(X):
        return storage(rbf_kernel(X))

    called = mcssb(**{**WEIGHTED, "similarity": kernel}).fit(X, Y)
    precomputed = mcssb(**{**WEIGHTED, "similarity": "precomputed"})
    given = precomputed.fit(X, Y, similarities=kernel(X))
    assert_array_equal(given.predict(X), called.predict(X))
    assert_allclose(given.loss_curve_, called.loss_curve_, rtol=1e-10)
    assert np.isfinite(cross_val_score(clone(called), X, TRUTH, cv=3)).all()


@pytest.mark.parametrize(
    ("weighting", "estimator"),
    [
        ("auto", GaussianNB()),
        ("auto", KNeighborsClassifier(3)),
        ("resampling", LogisticRegression()),
        ("auto", Ridge()),
        ("cost", Ridge()),
        ("cost", DecisionTreeRegressor(max_depth=3, max_features=1)),
    ],
    ids=str,
)
def test_any_weak_learner(weighting, estimator):
    model = mcssb(estimator=estimator, similarity="diffusion", weighting=weighting)
    assert model.fit(X, Y).score(X, TRUTH) > 0.8


@pytest.mark.parametrize(
    ("max_samples", "n_samples", "drawn"),
    [(None, 120, 24), (None, 60, 20), (33, 120, 33), (0.5, 120, 60)],
)
def test_number_of_drawn_samples(max_samples, n_samples, drawn):
    samples = X[:n_samples]
    learner = ClassifierLearner(
        DecisionTreeClassifier(),
        samples,
        weighting="resampling",
        max_samples=max_samples,
        n_classes=4,
    )
    assert learner.n_drawn == drawn
    model = mcssb(**PRINTED, max_samples=max_samples).set_params(n_estimators=1)
    model.fit(samples, Y[:n_samples])
    assert model.estimators_[0].tree_.weighted_n_node_samples[0] == drawn


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_trees_may_be_fitted_to_unlabeled_samples_only(tree):
    """The labeled samples are moved far away, but their similarities stay the same."""
    S, unlabeled = rbf_kernel(X), Y < 0
    moved = np.where(unlabeled[:, np.newaxis], X, 1e3)

    def first_tree(X, train_on):
        model = mcssb(
            estimator=tree(max_depth=2, random_state=0),
            n_estimators=1,
            similarity="precomputed",
            train_on=train_on,
        )
        [fitted] = model.fit(X, Y, similarities=S).estimators_
        return getattr(fitted, "regressor", fitted).tree_.threshold

    assert_array_equal(first_tree(moved, "unlabeled"), first_tree(X, "unlabeled"))
    assert not np.array_equal(first_tree(moved, "all"), first_tree(X, "all"))


@pytest.mark.parametrize("train_on", ["all", "unlabeled"])
def test_all_samples_may_be_labeled(model, train_on):
    model.set_params(train_on=train_on)
    assert model.fit(X, TRUTH).score(X, TRUTH) > 0.9
    assert_array_equal(model.transduction_, TRUTH)


def test_uniform_similarity_predicts_the_largest_class():
    one_more = Y.copy()
    one_more[np.flatnonzero(TRUTH == 2)[-1]] = 2
    model = mcssb(**{**WEIGHTED, "similarity": "uniform"}).fit(X, one_more)
    assert np.mean(model.predict(X) == 2) > 0.95
    assert (np.diff(model.loss_curve_) <= 0).all()
    balanced = clone(model).fit(X, Y)
    assert balanced.estimators_ == []
    assert "all weights are zero" in balanced.stop_reason_


SPARSE = [make(X) for make in (sparse.csr_matrix, sparse.coo_array, sparse.bsr_array)]


@pytest.mark.parametrize("Z", [X, X.tolist(), pd.DataFrame(X), *SPARSE], ids=type)
@pytest.mark.parametrize("weights", [None, np.arange(120.0)], ids=["", "weighted"])
def test_score_leaves_out_unlabeled_samples(Z, weights):
    model = mcssb().fit(np.asarray(X), Y)
    known = Y >= 0
    is_correct = model.predict(X[known]) == Y[known]
    expected = np.average(is_correct, weights=None if weights is None else weights[known])
    assert model.score(Z, Y, weights) == pytest.approx(expected)


def test_cross_validation_with_strings_as_classes():
    names = np.array(["a", "b", "c", "d"], dtype=object)
    y = np.where(Y < 0, -1, names[Y])
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(mcssb(), X, y, cv=folds)
    assert_array_equal(scores, cross_val_score(mcssb(), X, Y, cv=folds))
    assert scores.mean() > 0.5


def test_one_label_for_each_of_many_classes_is_a_classification_target():
    y = np.full(120, -1)
    y[:30] = np.arange(30)
    model = mcssb(n_estimators=2, weighting="cost").fit(X, y)
    assert_array_equal(model.classes_, np.arange(30))


@pytest.mark.parametrize(
    "parameters", [{"labeled_weight": 1e300}, {"bandwidth": 1e-300}, {"bandwidth": 1e300}], ids=str
)
def test_extreme_parameters(parameters):
    model = mcssb(**WEIGHTED, **parameters).fit(np.repeat(X[::4], 4, axis=0), Y)
    assert np.isfinite(model.loss_curve_).all()
    assert np.isfinite(model.decision_function(X)).all()


def test_check_of_classes_without_minus_one():
    """scikit-learn's check, with the exception for its own semi-supervised classifiers."""
    check_classifiers_classes("SelfTrainingClassifier", mcssb())


# -- Errors.


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(120, -1), "labels no sample"),
        (np.where(Y == 2, 2, -1), r"one class only, \[2\]"),
        (np.where(Y < 0, -1, Y + 0.5), "Unknown label type: continuous"),
        (np.where(Y < 0, np.nan, Y), "NaN"),
        (Y[:9], "inconsistent numbers of samples"),
        (np.where(Y < 0, "-1", "a"), r"strings and has '-1'.*dtype=object"),
        (np.where(Y < 0, "-1", "a").astype("S"), r"strings and has '-1'.*dtype=object"),
        (np.where(Y < 0, None, Y.astype(object)), "mark unlabeled samples by -1"),
        (np.where(Y == 2, "a", Y.astype(object)), "classes of one kind"),
    ],
)
def test_refuses_malformed_targets(y, message, fingerprint):
    model = mcssb().fit(X, Y)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert fingerprint(model) == before


def test_refuses_nan_and_unfitted_models():
    with pytest.raises(ValueError, match="NaN"):
        mcssb().fit(np.where(X > 0, X, np.nan), Y)
    with pytest.raises(NotFittedError):
        mcssb().predict(X)
    with pytest.raises(NotFittedError):
        mcssb().staged_predict(X)


@pytest.mark.parametrize(
    ("parameters", "matrix", "message"),
    [
        ({}, np.eye(120), "only then; similarity is 'auto'"),
        ({"similarity": "precomputed"}, None, "similarity is 'precomputed'"),
        ({"similarity": "precomputed"}, np.eye(7), r"shape \(120, 120\); got \(7, 7\)"),
        ({"similarity": "precomputed"}, -np.eye(120), "must not have negative entries"),
        (
            {"similarity": "precomputed"},
            np.triu(np.ones((120, 120))),
            "similarities must be a symmetric",
        ),
        ({"similarity": "cosine"}, None, "'similarity' parameter"),
        ({"labeled_weight": 0}, None, "'labeled_weight' parameter"),
        ({"labeled_weight": 1e308}, None, "'labeled_weight' parameter"),
        ({"learning_rate": 2.1}, None, "'learning_rate' parameter"),
        ({"n_jobs": 0}, None, "'n_jobs' parameter"),
        ({"weighting": "cost", "estimator": GaussianNB()}, None, "needs a regressor"),
        ({"weighting": "resampling", "estimator": Ridge()}, None, "must be a classifier"),
        ({"estimator": StumpClassifier()}, None, "must distinguish 4 classes, got StumpClass"),
        (
            {"weighting": "resampling", "estimator": StumpClassifier()},
            None,
            "must distinguish 4 classes",
        ),
        (
            {"weighting": "sample_weight", "estimator": KNeighborsClassifier()},
            None,
            "takes no sample_weight",
        ),
    ],
)
def test_refuses_parameters(parameters, matrix, message):
    with pytest.raises(ValueError, match=message):
        mcssb(**parameters).fit(X, Y, similarities=matrix)


def test_score_refuses_malformed_arguments():
    model = mcssb().fit(X, Y)
    with pytest.raises(ValueError, match="labels no sample"):
        model.score(X, np.full(120, -1))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score(X, Y, np.ones(7))


def test_warm_start_refuses_fewer_rounds_and_other_classes():
    model = mcssb(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="can only grow"):
        model.set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="cannot change"):
        model.set_params(n_estimators=20).fit(X, np.where(Y == 3, 2, Y))
    with pytest.raises(ValueError, match="2 features, but MCSSBClassifier is expecting 3"):
        model.fit(X[:, :2], Y)
