"""Properties of all Predtrons, whatever they predict."""

import inspect
import pickle
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import polynomial_kernel

from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker, PredtronQueryRanker

N = 60


def stream(model, seed=0):
    """Samples with many zeros, all representable in single precision, and the targets.

    Features of few values would make tied scores, which the rounding of sums breaks.
    """
    random = np.random.RandomState(seed)
    X = random.normal(size=(N, 12)).astype(np.float32) * (random.rand(N, 12) < 0.6)
    X = X.astype(np.float64)
    grades = random.randint(3, size=(N, 4))
    if isinstance(model, PredtronQueryRanker):
        return X, (grades[:, 0], np.arange(N) // 5)
    if isinstance(model, PredtronLabelRanker):
        return X, (grades,)
    return X, ((grades > 0).astype(int) if model.loss == "hamming" else np.arange(N) % 3,)


LINEAR = {
    "classes": PredtronClassifier(shuffle=False),
    "classes, mean": PredtronClassifier(
        average=True, loss="absolute", update="loss-driven", shuffle=False
    ),
    "rejections": PredtronClassifier(reject_cost=[0.0, 0.1, 0.2], learning_rate=0.3, shuffle=False),
    "rejections, mean": PredtronClassifier(
        reject_cost=0.3,
        average=True,
        mirror_map="positive",
        representation="ordinal",
        shuffle=False,
    ),
    "sets": PredtronClassifier(loss="hamming", average=True, fit_intercept=False, shuffle=False),
    "classes, entropy": PredtronClassifier(
        mirror_map="entropy", learning_rate=0.1, average=True, shuffle=False
    ),
    "classes, positive": PredtronClassifier(mirror_map="positive", average=True, shuffle=False),
    "classes, p-norm": PredtronClassifier(mirror_map="p-norm", learning_rate=0.3, shuffle=False),
    "labels": PredtronLabelRanker(average=True, shuffle=False),
    "labels, group": PredtronLabelRanker(
        mirror_map="group-norm", representation="linear", k=2, shuffle=False
    ),
    "labels, schatten": PredtronLabelRanker(
        mirror_map="schatten", update="loss-driven", shuffle=False
    ),
    "documents": PredtronQueryRanker(shuffle=False),
    "documents, mean": PredtronQueryRanker(
        average=True, learning_rate=0.3, loss="precision", k=2, shuffle=False
    ),
    "documents, p-norm": PredtronQueryRanker(mirror_map="p-norm", learning_rate=0.3, shuffle=False),
}
KERNEL = {
    "classes, rbf": PredtronClassifier(kernel="rbf", average=True, shuffle=False),
    "rejections, rbf": PredtronClassifier(kernel="rbf", reject_cost=0.2, shuffle=False),
    "sets, poly": PredtronClassifier(kernel="poly", loss="hamming", shuffle=False),
    "labels, rbf": PredtronLabelRanker(kernel="rbf", learning_rate=0.3, shuffle=False),
    "documents, rbf": PredtronQueryRanker(kernel="rbf", average=True, shuffle=False),
    "documents, kernel": PredtronQueryRanker(kernel="linear", update="loss-driven", shuffle=False),
}
MODELS = LINEAR | KERNEL
# Each of their parameters is also that of another model.
LONG = {"classes, p-norm", "classes, positive", "documents", "rejections, rbf", "documents, kernel"}
each_model = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in MODELS]
)


def partial_fit(model, X, targets, chosen=slice(None)):
    """Train on some of the samples, with all classes given."""
    named = isinstance(model, PredtronClassifier) and np.ndim(targets[0]) == 1
    classes = {"classes": np.unique(targets[0])} if named else {}
    return model.partial_fit(X[chosen], *[target[chosen] for target in targets], **classes)


def scores_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


# -- Invariances.


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(1, N // 5 - 1), unique=True, max_size=5).map(sorted),
    between=st.lists(st.sampled_from(["predict", "pickle", "nothing"]), min_size=6, max_size=6),
    kind=st.sampled_from([np.asarray, sparse.csr_array, sparse.csr_matrix]),
)
@each_model
def test_chunks_do_not_matter(name, seed, cuts, between, kind, fingerprint):
    """One call equals chunks, with predictions and pickling between; kernels up to rounding."""
    model = clone(MODELS[name])
    X, targets = stream(model, seed)
    at_once = partial_fit(clone(model), kind(X), targets)
    for chunk, action in zip(np.split(np.arange(N), 5 * np.array(cuts, dtype=int)), between):
        partial_fit(model, kind(X), targets, chunk)
        if action == "predict":
            model.predict(kind(X))
        elif action == "pickle":
            model = pickle.loads(pickle.dumps(model))
    if name in LINEAR:
        assert_array_equal(scores_of(model, X), scores_of(at_once, X))
        assert_array_equal(model.predict(X), at_once.predict(X))
        assert fingerprint(model._model) == fingerprint(at_once._model)
    else:
        assert_allclose(scores_of(model, X), scores_of(at_once, X), rtol=1e-9, atol=1e-9)
        assert (model.n_mistakes_, model.n_rounds_) == (at_once.n_mistakes_, at_once.n_rounds_)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "model",
    [
        PredtronLabelRanker(shuffle=False),
        PredtronLabelRanker(update="loss-driven", average=True, shuffle=False),
        PredtronQueryRanker(representation="reciprocal", shuffle=False),
        PredtronClassifier(loss="absolute", shuffle=False),
    ],
    ids=str,
)
def test_chunks_give_the_same_support_vectors(model, seed, fingerprint):
    """Kernel values of integers are exact; no sum depends on points that are not yet supports."""
    random = np.random.RandomState(seed)
    X = random.randint(-2, 3, size=(60, 2)).astype(float)
    y = random.randint(3, size=(60, 2))
    targets = (y,) if isinstance(model, PredtronLabelRanker) else (y[:, 0],)
    if isinstance(model, PredtronQueryRanker):
        targets += (np.arange(60) // 4,)
    model = clone(model).set_params(kernel="linear")
    at_once = partial_fit(clone(model), X, targets)
    for chunk in np.split(np.arange(60), [8, 20, 24]):
        partial_fit(model, X, targets, chunk)
    assert_array_equal(model.support_vectors_, at_once.support_vectors_)
    assert fingerprint(model._model) == fingerprint(at_once._model)


@pytest.mark.parametrize("mode", ["r", "r+"])
@each_model
def test_models_mapped_from_files_can_be_trained(name, mode, tmp_path):
    """They learn as before, also from label sets of new sizes; the file does not change."""
    model = clone(MODELS[name])
    X, targets = stream(model)
    partial_fit(model, X, targets, slice(5))
    joblib.dump(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of joblib, on small arrays
        loaded = joblib.load(tmp_path / "model", mmap_mode=mode)
    for each in (model, loaded):
        partial_fit(each, X, targets, slice(5, None))
    assert_array_equal(scores_of(loaded, X), scores_of(model, X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert (loaded.n_mistakes_, loaded.mean_loss_) == (model.n_mistakes_, model.mean_loss_)
    assert (tmp_path / "model").read_bytes() == before


@each_model
def test_samples_are_scored_independently(name):
    """The scores and prediction of a sample do not depend on the other samples."""
    X, targets = stream(MODELS[name])
    model = partial_fit(clone(MODELS[name]), X, targets)
    scores, predictions = scores_of(model, X), model.predict(X)
    for rows in ([0], [7], [N - 1, 3]):
        assert_allclose(scores_of(model, X[rows]), scores[rows], atol=1e-12 * (name in KERNEL))
        assert_allclose(model.predict(X[rows]), predictions[rows], atol=1e-12)


@each_model
def test_dense_and_sparse_calls_may_alternate(name):
    X, targets = stream(MODELS[name])
    parts = slice(N // 3), slice(N // 3, 2 * N // 3), slice(2 * N // 3, N)
    model = clone(MODELS[name])
    for part in parts:
        partial_fit(model, X, targets, part)
    for kinds in (np.asarray, sparse.csr_array, np.asarray), (sparse.csr_array, np.asarray) * 2:
        other = clone(MODELS[name])
        for part, kind in zip(parts, kinds):
            partial_fit(other, kind(X), targets, part)
        assert_allclose(scores_of(other, X), scores_of(model, X), rtol=1e-9, atol=1e-9)


@each_model
def test_formats_of_X(name):
    """Sparse matrices, also unsorted and with duplicates; single precision, lists, data frames."""
    X, targets = stream(MODELS[name])
    model = clone(MODELS[name]).fit(X, *targets)
    scores = scores_of(model, X)
    rows = sparse.csr_array(X)
    entries = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    wide = rows.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    doubled = sparse.csr_array(entries, shape=X.shape)
    for known in (rows, sparse.csr_matrix(X), sparse.csc_array(X), doubled, wide):
        other = clone(model).fit(known, *targets)
        for asked in (known, X):
            assert_allclose(scores_of(other, asked), scores, rtol=1e-9, atol=1e-9)
        assert other.n_mistakes_ == model.n_mistakes_
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    for known in (X.astype(np.float32), X.tolist(), np.asfortranarray(X), frame):
        other = clone(model).fit(known, *[pd.DataFrame(t).squeeze("columns") for t in targets])
        assert_array_equal(scores_of(other, known), scores)
    assert other.feature_names_in_.tolist() == list("abcdefghijkl")
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame[list("bacdefghijkl")])


@each_model
def test_fit_starts_from_scratch(name, fingerprint):
    """Each of its passes equals a call of partial_fit."""
    X, targets = stream(MODELS[name])
    kept = pickle.dumps((X, targets))
    twice = clone(MODELS[name]).set_params(max_iter=2).fit(X, *targets)
    assert twice.n_iter_ == 2
    parts = partial_fit(partial_fit(clone(MODELS[name]), X, targets), X, targets)
    # Under a kernel, a repeated sample is another point.
    assert_allclose(scores_of(parts, X), scores_of(twice, X), rtol=1e-9, atol=1e-9)
    before = fingerprint(twice)
    assert fingerprint(twice.fit(X, *targets)) == before
    assert fingerprint(pickle.loads(pickle.dumps(twice))) == before
    assert pickle.dumps((X, targets)) == kept


@each_model
def test_progressive_fit(name, fingerprint):
    """It returns the scores of each sample before it is learned, and makes the same model."""
    X, targets = stream(MODELS[name])
    model = clone(MODELS[name])
    if isinstance(model, PredtronQueryRanker):
        assert not hasattr(model, "progressive_fit")
        return
    y = targets[0]
    found = model.progressive_fit(X, y)
    whole = partial_fit(clone(MODELS[name]), X, targets)
    assert_allclose(scores_of(model, X), scores_of(whole, X), atol=1e-12)
    assert model.n_mistakes_ == whole.n_mistakes_
    # Scores are those of the current weights, not of their mean.
    learner = clone(MODELS[name]).set_params(average=False)
    for i in range(10):
        if i > 0:
            assert_allclose(found[i], scores_of(learner, X[[i]])[0], atol=1e-9)
        partial_fit(learner, X, targets, [i])


# -- Attributes.


@each_model
def test_attributes(name):
    """They reproduce the scores; those of the other kind of model are missing."""
    X, targets = stream(MODELS[name])
    model = clone(MODELS[name])
    for attribute in ("coef_", "dual_coef_", "n_rounds_", "mean_loss_"):
        with pytest.raises(NotFittedError):
            getattr(model, attribute)
    model.fit(X, *targets)
    assert model.n_rounds_ == (N // 5 if len(targets) == 2 else N)
    assert 0 < model.n_mistakes_ <= model.n_rounds_
    if name in KERNEL:
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "intercept_")
        assert model.dual_coef_.shape[1] == len(model.support_vectors_)
        assert model.support_vectors_.shape[1] == 12
        return
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "support_vectors_")
    scores = X @ model.coef_.T + model.intercept_
    assert_allclose(scores.squeeze(), model._scores(X).squeeze(), atol=1e-9)
    if not getattr(model, "fit_intercept", False):
        assert not model.intercept_.any()


@each_model
def test_parameters_take_effect_when_a_model_is_started(name, fingerprint):
    """Later changes affect neither the data that it accepts nor its training."""
    X, targets = stream(MODELS[name])
    whole = partial_fit(clone(MODELS[name]), X, targets)
    others = {"kernel": "rbf", "mirror_map": "p-norm", "average": True}
    others |= {"update": "loss-driven", "learning_rate": 0.5}
    if isinstance(whole, PredtronClassifier):
        others |= {"loss": "absolute", "reject_cost": 0.4}
    else:
        others |= {"loss": "ndcg", "k": 1, "representation": "reciprocal"}
    model = partial_fit(clone(MODELS[name]), X, targets, slice(30)).set_params(**others)
    partial_fit(model, X, targets, slice(30, None))
    if name in LINEAR:
        assert fingerprint(model._model) == fingerprint(whole._model)
    else:
        assert_allclose(scores_of(model, X), scores_of(whole, X), rtol=1e-9, atol=1e-9)


# -- Invalid arguments.


def replaced(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


def of_shape_2(A, B):
    return np.ones((2, 2))


def of_infinity(A, B):
    return np.full((A.shape[0], B.shape[0]), np.inf)


BAD_PARAMETERS = {
    "update": ["newest", None],
    "mirror_map": ["hyperbolic", None],
    "learning_rate": [0, -1.0, np.nan, np.inf, 1e61, "fast", None],
    "average": ["yes", None],
    "kernel": ["cubic", 3, of_shape_2, of_infinity, lambda A, B: "none"],
    "max_iter": [0, 1.5],
    "shuffle": ["yes", None],
    "random_state": ["seed", -1],
}
TOGETHER = [
    ({"mirror_map": "p-norm", "kernel": "rbf"}, "mirror_map='p-norm' does not go with kernel"),
]
SOME = ["classes", "sets", "labels", "documents", "documents, rbf"]


def methods(model):
    """Names of the methods that train."""
    names = ("fit", "partial_fit", "progressive_fit")
    return [name for name in names if hasattr(model, name)]


@pytest.mark.parametrize("name", SOME)
def test_bad_parameters_are_named(name, fingerprint):
    """Whatever method starts the model; the model is not started then."""
    X, targets = stream(MODELS[name])
    defaults = {"mirror_map": "euclidean", "average": False, "kernel": None}
    cases = [({p: value}, p) for p in BAD_PARAMETERS for value in BAD_PARAMETERS[p]] + TOGETHER
    for parameters, message in cases:
        model = clone(MODELS[name]).set_params(**defaults).set_params(**parameters)
        before = fingerprint(model)
        for method in methods(model):
            with pytest.raises(ValueError, match=message):
                getattr(model, method)(X, *targets)
            assert fingerprint(model) == before, (parameters, method)


def test_every_common_parameter_is_tried():
    known = {
        "loss",
        "reject_cost",
        "fit_intercept",
        "k",
        "representation",
        "power",
    }
    for kind in (PredtronClassifier, PredtronLabelRanker, PredtronQueryRanker):
        assert set(inspect.signature(kind).parameters) <= set(BAD_PARAMETERS) | known


@each_model
def test_invalid_X_does_not_change_the_model(name, fingerprint):
    X, targets = stream(MODELS[name])
    model = partial_fit(clone(MODELS[name]), X, targets)
    before = fingerprint(model)
    none = [target[:0] for target in targets]
    for bad, known, message in [
        (replaced(X, np.nan), targets, "X contains NaN"),
        (replaced(X, np.inf), targets, "X contains infinity"),
        (sparse.csr_array(replaced(X, np.nan)), targets, "X contains NaN"),
        (replaced(X, -1e61), targets, "X has an entry of the size 1e.61"),
        (sparse.csr_array(replaced(X, 1e61)), targets, "X has an entry of the size 1e.61"),
        (X[0], targets, "2D array"),
        (X[:0], none, "minimum of 1 is required"),
        (X[:-1], targets, str(N - 1)),
        (X.astype(str)[:, :1] + "a", targets, "could not convert string"),
        (X, [None, *targets[1:]], "y is None"),
    ]:
        for method in methods(model):
            with pytest.raises(ValueError, match=message):
                getattr(model, method)(bad, *known)
            assert fingerprint(model) == before
    for method in ("partial_fit", "progressive_fit", "predict"):
        if hasattr(model, method):
            rest = () if method == "predict" else targets
            with pytest.raises(ValueError, match="X has 5 features"):
                getattr(model, method)(X[:, :5], *rest)
            assert fingerprint(model) == before


@each_model
@pytest.mark.filterwarnings("error")
def test_extreme_values(name):
    """Scores are finite for the largest and smallest numbers that are accepted."""
    X, targets = stream(MODELS[name])
    for scale in (9e59, 1e-60, 1e-160, 1e-300, 0.0):
        model = clone(MODELS[name])
        if model.kernel == "poly":
            model.set_params(kernel=partial(polynomial_kernel, gamma=1e-60))
        far = np.sign(X) * scale
        partial_fit(model.fit(far, *targets), far, targets)
        assert np.isfinite(scores_of(model, far)).all()
        model.predict(far)


@pytest.mark.filterwarnings("ignore:row 500 of X is")
@pytest.mark.parametrize("name", KERNEL)
def test_a_kernel_that_fails_later_does_not_change_the_model(name, fingerprint):
    """Earlier rounds of the same call are undone."""

    def kernel(A, B):
        if (abs(A) > 1e6).sum() > 0:
            raise ValueError("out of range")
        return np.asarray(A @ B.T)

    X, targets = stream(MODELS[name])
    many = [np.resize(target, (600, *target.shape[1:])) for target in targets]
    if len(many) == 2:
        many[1] = np.arange(600) // 5
    model = clone(MODELS[name]).set_params(kernel=kernel)
    far = np.resize(X, (600, 12))
    far[500] = 1e9
    for method in methods(model):
        with pytest.raises(ValueError, match="out of range"):
            getattr(model, method)(far, *many)
        assert not hasattr(model, "n_features_in_")
    partial_fit(model, X, targets)
    before = fingerprint(model)
    for method in methods(model):
        with pytest.raises(ValueError, match="out of range"):
            getattr(model, method)(far, *many)
        assert fingerprint(model) == before
