"""The public interface of MCSSBClassifier."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.estimator_checks import check_classifiers_classes

from sklrank._boosters.rounds import ClassifierLearner
from sklrank.semi_supervised import MCSSBClassifier
from sklrank.semi_supervised._similarity import diffused_affinities, neighbor_graph, standardized

X, TRUTH = make_blobs(120, centers=4, n_features=3, cluster_std=1.5, random_state=3)
Y = np.full(120, -1)
for k in range(4):
    Y[np.flatnonzero(TRUTH == k)[:3]] = k
PRINTED = {
    "estimator": DecisionTreeClassifier(max_depth=2),
    "labeled_weight": 1e4,
    "similarity": "rbf",
    "weighting": "resampling",
    "learning_rate": 1.0,
}
WEIGHTED = {**PRINTED, "weighting": "auto"}
CONFIGURATIONS = [{}, PRINTED, WEIGHTED, {"similarity": "identity"}]


def mcssb(**parameters):
    return MCSSBClassifier(**{"n_estimators": 6, "random_state": 0, **parameters})


def assert_same(one, other):
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert_array_equal(one.loss_curve_, other.loss_curve_)
    assert_array_equal(one.transduction_, other.transduction_)
    assert_array_equal(one._random_state.get_state()[1], other._random_state.get_state()[1])


@pytest.fixture(params=CONFIGURATIONS, ids=str)
def model(request):
    return mcssb(**request.param)


# -- Guarantees.


def slow_mcssb(S, q, labels, weak_learner, n_rounds, *, C, rate, train_on, size=None):
    """Return the scores of Algorithm 3 for affinities q, and the number of rounds."""
    n, K = q.shape
    H, random = np.zeros((n, K)), np.random.RandomState(0)
    for t in range(n_rounds):
        b = np.exp(H) / np.exp(H).sum(axis=1, keepdims=True)
        Z = b @ b.T
        costs = np.zeros((n, K))
        for i in range(n):
            # Eq. 2.12, with sums over the classes of the labeled term.
            shares = q[i] / b[i]
            for k in range(K):
                alpha = sum(
                    S[i, j] * (b[i, k] - b[i, k] * b[j, k] / Z[i, j]) / Z[i, j] for j in range(n)
                )
                costs[i, k] = alpha + C / 2 * (b[i, k] * shares.sum() - shares[k])
        assigned = np.where(labels < 0, costs.argmin(axis=1), labels)
        weights = np.maximum(0, -costs[np.arange(n), assigned])
        if train_on == "unlabeled":
            weights[labels >= 0] = 0
        model = clone(weak_learner).set_params(random_state=random.randint(2**31 - 1))
        if size is None:
            used = weights > 0
            model.fit(X[used], assigned[used], sample_weight=weights[used] / weights[used].mean())
        else:
            drawn = random.choice(n, size=size, p=weights / weights.sum())
            assert len(set(assigned[drawn])) > 1
            model.fit(X[drawn], assigned[drawn])
        h = np.eye(K)[model.predict(X)]
        # Eqs. 2.15 to 2.19.
        A = B = 0.0
        for i in range(n):
            k = h[i].argmax()
            for j in range(n):
                A += S[i, j] / Z[i, j] * b[i, k]
                B += S[i, j] / Z[i, j] * b[i, k] * b[j, k] / Z[i, j]
            A += C / 2 * b[i, k] * np.sum(q[i] / b[i])
            B += C / 2 * q[i, k] / b[i, k]
        if B <= A * (1 + 1e-12):
            return H, t
        H += rate * min(np.log(B / A), np.log(1e6)) / 4 * h
    return H, n_rounds


@pytest.mark.parametrize("printed", [False, True])
def test_the_rounds_are_those_of_algorithm_3(printed):
    """By default with its weak learner, and as printed, where boosting ends if a step is <= 0.

    After two rounds by default, rounding errors decide whether leaves of an extra tree are pure,
    and so which numbers are drawn.
    """
    if printed:
        apart = euclidean_distances(X)
        off = apart[~np.eye(120, dtype=bool)]
        S = np.exp(-(apart**2) / (2 * (0.15 * np.ptp(off)) ** 2)) * (1 - np.eye(120))
        q = np.stack([S[:, Y == k].sum(axis=1) for k in range(4)], axis=1)
        model = mcssb(**PRINTED, train_on="unlabeled", n_estimators=4)
        rules = {"C": 1e4, "rate": 1.0, "train_on": "unlabeled", "size": 24}
        weak_learner = PRINTED["estimator"]
    else:
        graph = neighbor_graph(StandardScaler().fit_transform(X), 7)
        S, q = graph.toarray(), diffused_affinities(graph, Y, np.ones(120), 4)
        model = MCSSBClassifier(n_estimators=2, random_state=0)
        rules = {"C": 1.0, "rate": 2.0, "train_on": "all"}
        weak_learner = ExtraTreeClassifier(max_depth=8, max_features=0.5)
    model.fit(X, Y)
    expected, n_rounds = slow_mcssb(S, q, Y, weak_learner, model.n_estimators, **rules)
    assert len(model.estimators_) == n_rounds > 1
    assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-8)


def test_the_rounds_change_the_labels_of_the_affinities():
    """They are not the labels that were spread before the first round."""
    digits, truth = load_digits(return_X_y=True)
    digits, truth = digits[:300], truth[:300]
    labels = np.full(300, -1)
    labels[:30] = truth[:30]
    model = MCSSBClassifier(random_state=0).fit(digits, labels)
    graph = neighbor_graph(standardized(digits), 7)
    spread = diffused_affinities(graph, labels, np.ones(300), 10).argmax(axis=1)
    assert np.mean(spread != model.transduction_) > 0.02
    assert np.mean(model.transduction_ == truth) > 0.9


@pytest.mark.parametrize("similarity", ["identity", lambda X: np.eye(len(X))])
def test_a_fit_without_rounds_warns(similarity):
    model = mcssb(similarity=similarity, train_on="unlabeled")
    with pytest.warns(UserWarning, match="MCSSBClassifier fitted no round.*all weights are zero"):
        model.fit(X, Y)
    assert model.estimators_ == []
    # Labeled samples have weights: this reading agrees with the figures of the dissertation.
    assert model.set_params(train_on="all").fit(X, Y).score(X, TRUTH) > 0.7


def test_the_objective_never_rises(model):
    model.fit(X, Y)
    assert len(model.estimators_) > 1
    assert (np.diff(model.loss_curve_) <= 1e-9 * model.loss_curve_[:-1]).all()


def test_default_labels_unlabeled_samples():
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
    assert_array_equal(model.predict(X), stages[-1])
    assert len(stages) == len(model.estimators_) == len(model.loss_curve_) - 1
    assert_array_equal(model.transduction_, np.where(Y < 0, model.predict(X), Y))
    assert_allclose(model.feature_importances_.sum(), 1)


def test_weak_learners_without_features_add_no_importance():
    model = mcssb(estimator=DecisionTreeClassifier(max_depth=1)).fit(X, Y)
    model.estimators_ = [DummyClassifier().fit(X, Y)] * len(model.estimators_)
    assert len(model.estimators_) > 0
    assert_array_equal(model.feature_importances_, np.zeros(3))


def test_decision_function_of_two_classes_is_a_difference():
    model = mcssb().fit(X, np.where(Y > 1, 1, Y))
    proba = model.predict_proba(X)
    assert_allclose(model.decision_function(X), np.log(proba[:, 1] / proba[:, 0]), atol=1e-9)


# -- Invariances.


def test_same_seed_same_model(model):
    assert_same(model.fit(X, Y), clone(model).fit(X, Y))


@pytest.mark.parametrize("parameters", CONFIGURATIONS[1:3], ids=str)
def test_names_and_order_of_the_classes_do_not_matter(parameters):
    model = mcssb(**parameters)
    names = np.array(["d", "b", "c", "a"], dtype=object)
    named = np.where(Y < 0, -1, names[Y])
    expected = names[model.fit(X, Y).predict(X)]
    renamed = clone(model).fit(X, named)
    assert_array_equal(renamed.predict(X), expected)
    assert_allclose(renamed.loss_curve_, model.loss_curve_, rtol=1e-6)
    assert_array_equal(renamed.classes_, ["a", "b", "c", "d"])


DETERMINISTIC = {"estimator": DecisionTreeClassifier(max_depth=2, random_state=0)}


@pytest.mark.parametrize("parameters", [DETERMINISTIC, WEIGHTED], ids=str)
def test_order_of_the_samples_does_not_matter(parameters):
    order = np.random.RandomState(0).permutation(120)
    expected = mcssb(**parameters).fit(X, Y)
    found = mcssb(**parameters).fit(X[order], Y[order])
    assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-6)
    assert_array_equal(found.transduction_, expected.transduction_[order])


def test_pickle_predicts_the_same(model):
    model.fit(X, Y)
    assert_same(pickle.loads(pickle.dumps(model)), model)


@pytest.mark.parametrize("parameters", [{}, WEIGHTED], ids=str)
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
def test_similarity_as_a_callable(storage):
    model = mcssb(similarity=lambda X: storage(rbf_kernel(X)))
    assert model.fit(X, Y).score(X, TRUTH) > 0.8
    assert np.isfinite(cross_val_score(clone(model), X, TRUTH, cv=3)).all()


@pytest.mark.parametrize(
    ("weighting", "estimator"),
    [
        ("auto", GaussianNB()),
        ("auto", KNeighborsClassifier(3)),
        ("resampling", LogisticRegression()),
        ("auto", DecisionTreeClassifier(max_depth=3, max_features=1)),
    ],
    ids=str,
)
def test_any_weak_learner(weighting, estimator):
    model = mcssb(estimator=estimator, weighting=weighting)
    assert model.fit(X, Y).score(X, TRUTH) > 0.8


@pytest.mark.parametrize(
    ("n_samples", "drawn"),
    [(120, 24), (60, 20)],
)
def test_number_of_drawn_samples(n_samples, drawn):
    samples = X[:n_samples]
    learner = ClassifierLearner(
        DecisionTreeClassifier(),
        samples,
        weighting="resampling",
        n_classes=4,
    )
    assert learner.n_drawn == drawn
    model = mcssb(**PRINTED, n_estimators=1)
    model.fit(samples, Y[:n_samples])
    assert model.estimators_[0].tree_.weighted_n_node_samples[0] == drawn


def test_trees_may_be_fitted_to_unlabeled_samples_only():
    """The labeled samples are moved far away, but their similarities stay the same."""
    S, unlabeled = rbf_kernel(X), Y < 0
    moved = np.where(unlabeled[:, np.newaxis], X, 1e3)

    def first_tree(X, train_on):
        model = mcssb(
            estimator=DecisionTreeClassifier(max_depth=2, random_state=0),
            n_estimators=1,
            similarity=lambda X: S,
            train_on=train_on,
        )
        return model.fit(X, Y).estimators_[0].tree_.threshold

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
    model = mcssb(**{**WEIGHTED, "similarity": lambda X: np.ones((len(X), len(X)))})
    model.fit(X, one_more)
    assert np.mean(model.predict(X) == 2) > 0.95
    assert (np.diff(model.loss_curve_) <= 0).all()


SPARSE = [make(X) for make in (sparse.csr_matrix, sparse.coo_array, sparse.bsr_array)]


def test_score_leaves_out_unlabeled_samples():
    model, known, weights = mcssb().fit(X, Y), Y >= 0, np.arange(120.0)
    is_correct = model.predict(X[known]) == Y[known]
    for Z in (X, X.tolist(), pd.DataFrame(X), *SPARSE):
        assert model.score(Z, Y) == pytest.approx(is_correct.mean())
        expected = np.average(is_correct, weights=weights[known])
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
    model = mcssb(n_estimators=2).fit(X, y)
    assert_array_equal(model.classes_, np.arange(30))


def test_extreme_weight_of_labels():
    model = mcssb(**{**WEIGHTED, "labeled_weight": 1e300}).fit(np.repeat(X[::4], 4, axis=0), Y)
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
        (Y[:9], "inconsistent numbers of samples"),
        (np.where(Y < 0, "-1", "a"), r"strings and has '-1'.*dtype=object"),
        (np.where(Y < 0, "-1", "a").astype("S"), r"strings and has '-1'.*dtype=object"),
        (np.where(Y == 2, "a", Y.astype(object)), "labels of one kind"),
    ],
)
def test_refuses_malformed_targets(y, message, fingerprint):
    model = mcssb().fit(X, Y)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert fingerprint(model) == before


def test_lists_of_strings_and_numbers():
    names = [-1 if label < 0 else chr(97 + label) for label in Y]
    model = mcssb().fit(X, names)
    assert model.classes_.tolist() == sorted(set(names) - {-1}, key=str)
    assert_array_equal(model.decision_function(X), mcssb().fit(X, Y).decision_function(X))
    assert model.score(X, names) == mcssb().fit(X, Y).score(X, Y)


def test_refuses_nan_and_unfitted_models():
    with pytest.raises(ValueError, match="NaN"):
        mcssb().fit(np.where(X > 0, X, np.nan), Y)
    with pytest.raises(NotFittedError):
        mcssb().predict(X)
    with pytest.raises(NotFittedError):
        mcssb().staged_predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"similarity": lambda X: np.eye(7)}, r"shape \(120, 120\); got \(7, 7\)"),
        ({"similarity": lambda X: -np.eye(120)}, "must not have negative entries"),
        ({"similarity": lambda X: np.triu(np.ones((120, 120)))}, "must be a symmetric"),
        ({"similarity": "cosine"}, "'similarity' parameter"),
        ({"labeled_weight": 0}, "'labeled_weight' parameter"),
        ({"labeled_weight": 1e308}, "'labeled_weight' parameter"),
        ({"learning_rate": 2.1}, "'learning_rate' parameter"),
        ({"estimator": Ridge()}, "must be a classifier"),
        ({"weighting": "sample_weight"}, "'weighting' parameter"),
    ],
)
def test_refuses_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        mcssb(**parameters).fit(X, Y)


def test_score_refuses_malformed_arguments():
    model = mcssb().fit(X, Y)
    with pytest.raises(ValueError, match="labels no sample"):
        model.score(X, np.full(120, -1))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score(X, Y, np.ones(7))


def test_whole_weights_are_copies_of_samples():
    """The similarity to a copy is that to the sample itself; trees do not count samples."""
    weights = np.random.RandomState(0).randint(1, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weights)
    model = mcssb(estimator=DecisionTreeClassifier(max_depth=3), similarity=rbf_kernel)
    expected = clone(model).fit(X[copies], Y[copies]).decision_function(X)
    assert np.ptp(expected) > 0.1
    model.fit(X, Y, sample_weight=10 * weights)
    assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-9)
