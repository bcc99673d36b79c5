"""Sparse samples give the same models as dense ones; few are converted to dense at a time."""

import numpy as np
import pytest
from fitted_models import make_data, predictions
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from test_common import KINDS

from sklrank._checks.samples import canonical_rows
from sklrank._online.batches import row_blocks, to_dense
from sklrank.boosting import AdaRank, NDCGBoost, RankBoost, ResidualRefiner
from sklrank.label_ranking import LabelwiseRanker, PlackettLuceRanker, StackedRanker
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronLabelRanker,
    SemiBanditRanker,
)
from sklrank.linear_model._bandit import _base as _bandit_base
from sklrank.metrics import rank_loss
from sklrank.model_selection import (
    progressive_val_score,
    query_train_test_split,
)
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM
from sklrank.semi_supervised import AssembleClassifier
from sklrank.semi_supervised._base import PartlyLabeledMixin
from sklrank.tree import HoeffdingTreeClassifier, HonestTreeRegressor

RNG = np.random.default_rng(0)
X = np.where(RNG.random((80, 8)) < 0.3, RNG.normal(size=(80, 8)), 0.0)
Y = (X @ RNG.normal(size=(8, 4)) > 0).astype(int)
BOOSTERS = [
    AdaOLMR("trees", n_estimators=3, random_state=0, max_iter=2, shuffle=True),
    AdaOLMR(n_estimators=4, n_jobs=2),
    OnlineBMR(n_estimators=3, random_state=0),
    TopKAdaptive("trees", n_estimators=3, k=2, random_state=0),
    SemiBanditRanker(k=2, random_state=0),
    TopKBBM(n_estimators=4, k=2, random_state=0),
]
CLASSIFIERS = [
    HoeffdingTreeClassifier(grace_period=10, tau=0.5, random_state=0),
    OnlineLogisticRegression(random_state=0),
    OnlineRidgeClassifier(kernel="rbf", random_state=0),
]
BANDITS = [
    LinUCBClassifier(kernel="linear", random_state=0),
    LinUCBClassifier(kernel="rbf", n_components=10, random_state=0),
    LinUCBClassifier(covariance="diagonal", exploration=0.1, random_state=0),
]
FORMATS = {1: sparse.csr_array, 50: sparse.csc_matrix, 2**24: sparse.coo_array}


@pytest.fixture(params=FORMATS)
def max_dense_entries(request, set_constant):
    """Limit the dense copies, down to one row at a time."""
    set_constant("MAX_DENSE_ENTRIES", request.param)
    return request.param


@pytest.fixture
def container(max_dense_entries):
    """Each limit has its own format, which is converted before rows are counted."""
    return FORMATS[max_dense_entries]


@pytest.mark.parametrize("model", BOOSTERS)
def test_boosters(model, container, fingerprint):
    dense = clone(model).set_params(random_state=0).fit(X, Y)
    same = clone(dense).fit(container(X), Y)
    assert fingerprint(same) == fingerprint(dense)
    assert_array_equal(same.decision_function(container(X)), dense.decision_function(X))
    assert_array_equal(same.progressive_fit(container(X), Y), dense.progressive_fit(X, Y))
    if hasattr(model, "explore"):
        shown, shown_dense = same.explore(container(X)), dense.explore(X)
        assert_array_equal(shown.actions, shown_dense.actions)
        rewards = np.take_along_axis(Y, shown.actions, axis=1)
        same.partial_fit_feedback(container(X), shown, rewards)
        dense.partial_fit_feedback(X, shown_dense, rewards)
    assert fingerprint(same) == fingerprint(dense)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_classifiers(model, container, fingerprint):
    y = np.array(["a", "b", "c"])[Y[:, 0] + Y[:, 1]]
    dense, same = clone(model).fit(X, y), clone(model).fit(container(X), y)
    assert fingerprint(same) == fingerprint(dense)
    assert_array_equal(same.predict_proba(container(X)), dense.predict_proba(X))
    assert_array_equal(same.progressive_fit(container(X), y), dense.progressive_fit(X, y))
    if hasattr(model, "decision_function"):
        # The rounding of a matrix product depends on the shapes.
        scores = same.decision_function(container(X))
        assert_allclose(scores, dense.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("model", BANDITS)
def test_bandits_that_standardize(model, container, max_dense_entries, fingerprint, monkeypatch):
    """A model that started with dense samples converts sparse ones in small blocks."""
    y = Y[:, 0] + Y[:, 1]
    dense, same = [clone(model).partial_fit(X, y) for _ in range(2)]
    shown = clone(dense).partial_fit(X, y).explore(X)
    sizes = []

    def spy(rows):
        sizes.append(rows.shape[0])
        return to_dense(rows)

    monkeypatch.setattr(_bandit_base, "to_dense", spy)
    rows = container(X)
    for call in (
        lambda model, X: model.partial_fit(X, y),
        lambda model, X: model.progressive_fit(X, y),
        lambda model, X: model.decision_function(X),
        lambda model, X: model.predict(X),
        lambda model, X: model.explore(X),
        lambda model, X: model.partial_fit_feedback(X, shown, shown.actions == y),
    ):
        expected = call(dense, X)
        sizes.clear()
        found = call(same, rows)
        assert sum(sizes) == len(y)
        assert max(sizes) <= max(1, max_dense_entries // X.shape[1])
        assert fingerprint(found) == fingerprint(expected)
        assert fingerprint(same) == fingerprint(dense)


SPARSE = {name: one for name, one in KINDS.items() if get_tags(one).input_tags.sparse}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPARSE)
def test_the_container_does_not_decide_the_model(name):
    """Arrays, CSR matrices and single precision of the same whole numbers, many of which are 0."""
    model = clone(SPARSE[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X, *targets = make_data(model)
    X = np.round(np.maximum(2 * X, 0))
    if isinstance(model, PartlyLabeledMixin):
        targets = [np.where(np.arange(len(X)) % 3, -1, targets[0])]
    expected = predictions(clone(model).fit(X, *targets), X)
    for same in (sparse.csr_array(X), X.astype(np.float32)):
        for method, found in predictions(clone(model).fit(same, *targets), X).items():
            if np.asarray(found).dtype.kind == "f":
                # Members of a stack stop at tolerances.
                assert_allclose(found, expected[method], atol=1e-5, err_msg=method)
            elif hasattr(model, "partial_fit") or isinstance(model, PartlyLabeledMixin):
                assert_array_equal(found, expected[method], err_msg=method)


@pytest.mark.parametrize("n_columns", [1, 7, 60, 1000])
def test_blocks_hold_every_row_once_and_stay_small(n_columns, max_dense_entries):
    matrix = sparse.csr_array((120, n_columns))
    blocks = row_blocks(matrix, 40)
    assert_array_equal(np.concatenate([np.arange(120)[rows] for rows in blocks]), np.arange(120))
    lengths = [rows.stop - rows.start for rows in blocks]
    assert max(lengths) <= 40
    assert max(lengths) == 1 or max(lengths) * n_columns <= max_dense_entries


def written_to(change):
    """Return a matrix whose arrays are changed after it cached that its format is canonical."""
    X = sparse.random(30, 40, density=0.5, format="csr", random_state=0)
    X.sum_duplicates()
    assert X.has_canonical_format
    change(X)
    return X


def fold(X):
    X.indices %= 4
    X.resize((30, 4))
    X.data -= X.data.mean()


@pytest.mark.parametrize(
    "model",
    [
        BanditronClassifier(random_state=0),
        LinUCBClassifier(covariance="diagonal", exploration=0.1, random_state=0),
        LinUCBClassifier(exploration=0.1, random_state=0),
    ],
)
def test_duplicates_made_in_place_are_summed(model):
    """The hashing trick on a matrix whose cached flags deny duplicate entries."""
    X, y = written_to(fold), np.arange(30) % 3
    summed = np.zeros(X.shape)
    np.add.at(summed, (np.repeat(np.arange(30), np.diff(X.indptr)), X.indices), X.data)
    models = [clone(model).partial_fit(rows, y) for rows in (X, sparse.csr_array(summed))]
    scores = [each.decision_function(summed) for each in models]
    assert_allclose(scores[0], scores[1], atol=1e-12)


def set_item(name, index, value):
    def change(X):
        getattr(X, name)[index] = value

    return change


BROKEN = [
    set_item("indptr", -1, 50_000_000),
    set_item("indptr", 7, -1_000_000),
    set_item("indptr", 7, 50_000_000),
    set_item("indices", 3, 40),
    set_item("indices", 3, -1),
]


@pytest.mark.parametrize("change", BROKEN)
@pytest.mark.parametrize("model", [BanditronClassifier(), OnlineLogisticRegression()])
def test_broken_index_arrays_are_refused(model, change):
    """Compiled loops would read or write out of bounds."""
    X, y = written_to(lambda X: None), np.arange(30) % 3
    model = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="X is not a valid CSR matrix"):
        model.predict(written_to(change))
    with pytest.raises(ValueError, match="X is not a valid CSR matrix"):
        model.partial_fit(written_to(change), y)


def test_columns_beyond_32_bits_are_refused():
    """Cast to 32 bits, their indices would be those of other columns."""
    entries = np.ones(2), np.array([5, 2**32 + 5]), np.array([0, 1, 2])
    with pytest.raises(ValueError, match="X has 8589934592 columns"):
        canonical_rows(sparse.csr_array(entries, shape=(2, 2**33)))


def broken(container, matrix, name, entry):
    matrix = container(matrix.astype(float))
    (matrix.coords[0] if name == "coords" else getattr(matrix, name))[-1] = entry
    return matrix


DAMAGES = [
    (sparse.csr_array, "indptr", 10**8),
    (sparse.csr_matrix, "indices", 10**8),
    (sparse.csc_array, "indptr", 10**8),
    (sparse.csc_array, "indices", 10**8),
    (sparse.bsr_array, "indptr", 10**8),
    (sparse.coo_array, "coords", 10**8),
]
INDEX_SAMPLES = {
    "query_train_test_split": lambda X: query_train_test_split(X, qid=np.arange(80) // 3),
    "progressive_val_score": lambda X: progressive_val_score(GaussianNB(), X, Y[:, 0]),
    "booster": lambda X: NDCGBoost(LogisticRegression(), 2).fit(X, Y[:, 0]),
    "refiner": lambda X: ResidualRefiner(0).fit(X, Y[:, 0]),
    "label ranker": lambda X: LabelwiseRanker(Ridge()).fit(X, Y.argsort(axis=1)),
    "semi-supervised": lambda X: AssembleClassifier(n_estimators=2).fit(X, Y[:, 0]),
}
INDEX_TARGETS = {
    "booster": lambda Y: AdaOLMR(n_estimators=2).fit(X, Y),
    "relevance": lambda Y: PredtronLabelRanker().fit(X, Y),
    "numbers": lambda Y: HonestTreeRegressor().fit(X, Y),
    "metric": lambda Y: rank_loss(Y, X[:, :4]),
    "progressive_val_score": lambda Y: progressive_val_score(AdaOLMR(n_estimators=2), X, Y),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("call", INDEX_SAMPLES)
def test_no_function_indexes_damaged_samples(call, damage):
    """SciPy would read beyond the ends of the arrays, which ends the process."""
    container, name, entry = damage
    with pytest.raises(ValueError, match="is not a valid (BSR|COO|CSC|CSR) matrix"):
        INDEX_SAMPLES[call](broken(container, X, name, entry))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("call", INDEX_TARGETS)
def test_no_function_indexes_damaged_targets(call, damage):
    container, name, entry = damage
    with pytest.raises(ValueError, match="is not a valid (BSR|COO|CSC|CSR) matrix"):
        INDEX_TARGETS[call](broken(container, Y, name, entry))


TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
LINEAR = [("ridge", LabelwiseRanker(Ridge())), ("luce", PlackettLuceRanker(alpha=1.0))]


@pytest.mark.parametrize(
    "ranker",
    [
        NDCGBoost(TREE, 5, random_state=0),
        RankBoost(TREE, 5, random_state=0),
        AdaRank(TREE, 5, random_state=0),
        AdaRank(n_estimators=5),
        PlackettLuceRanker(random_state=0),
        PlackettLuceRanker(kernel="rbf", alpha=1.0, n_components=10, random_state=0),
        StackedRanker(LINEAR, cv=2, random_state=0),
    ],
    ids=repr,
)
def test_rankers(ranker):
    of_queries = hasattr(ranker, "n_estimators")
    target = (Y[:, 0], np.arange(80) // 10) if of_queries else (scores_to_positions(Y + X[:, :4]),)
    dense = clone(ranker).fit(X, *target)
    same = clone(ranker).fit(sparse.csr_array(X), *target)
    assert_allclose(same.predict(sparse.csc_array(X)), dense.predict(X), atol=1e-6)


def scores_to_positions(scores):
    return 1.0 + (-scores).argsort(axis=1).argsort(axis=1)
