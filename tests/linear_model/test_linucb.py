"""LinUCBClassifier: standardization, parameters, and errors on data sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine

from sklrank.datasets import make_keyword_documents
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier

MODELS = {
    "full": LinUCBClassifier(random_state=0),
    "full, bare": LinUCBClassifier(
        exploration="ag3", alpha=1.0, fit_intercept=False, random_state=0
    ),
    "full, not standardized": LinUCBClassifier(clip=None, exploration=0.1, random_state=0),
    "diagonal": LinUCBClassifier(covariance="diagonal", bonus=0.5, clip=1.5, random_state=0),
}


def stream(seed=0, n_rows=150, n_classes=4, n_features=6):
    random = np.random.RandomState(seed)
    y = random.randint(n_classes, size=n_rows)
    X = (
        random.poisson(0.7, (n_rows, n_features))
        + random.randint(3, size=(n_classes, n_features))[y]
    )
    return X.astype(np.float64), y


@pytest.mark.parametrize("name", MODELS)
def test_sparse_samples_are_not_standardized(name):
    """The first samples of a model decide: later ones are treated like them."""
    X, y = stream()
    rows = sparse.csr_array(X)
    model = clone(MODELS[name]).partial_fit(rows, y)
    assert_allclose(model.decision_function(rows), model.decision_function(X), atol=1e-9)
    mixed = clone(MODELS[name]).partial_fit(rows[:50], y[:50], range(4)).partial_fit(X[50:], y[50:])
    assert_allclose(mixed.coef_, model.coef_, rtol=1e-6, atol=1e-8)
    dense = clone(MODELS[name]).partial_fit(X[:50], y[:50], range(4))
    dense.partial_fit(rows[50:], y[50:])
    at_once = clone(MODELS[name]).partial_fit(X, y, range(4))
    assert_allclose(dense.coef_, at_once.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("factor", [2.0**20, 2.0**-20, 2.0 ** np.arange(-30, 30, 10)])
@pytest.mark.parametrize("offset", [0.0, 2.0**10])
def test_units_do_not_matter(name, factor, offset):
    """Equal scores for features in other units and with another origin."""
    if not (MODELS[name].clip and MODELS[name].fit_intercept):
        if np.ndim(factor):
            pytest.skip("samples are divided by a common factor only")
        offset = 0.0
    X, y = stream()
    scores = clone(MODELS[name]).progressive_fit(X, y)
    found = clone(MODELS[name]).progressive_fit(factor * (X + offset), y)
    assert_allclose(found, scores, atol=1e-6)


X0, Y0 = stream(n_rows=20)
BAD_PARAMETERS = {
    "covariance": ["half", 1, None],
    "bonus": [-1, None],
    "alpha": [0, 1e-11, None],
    "clip": [0, -1, "no"],
    "exploration": [-0.1, 1.5, "ag4", None],
    "fit_intercept": ["yes", None],
    "max_iter": [0, 1.5],
    "random_state": ["seed", -1],
}


def test_every_parameter_is_checked():
    assert set(BAD_PARAMETERS) == set(LinUCBClassifier().get_params())


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in BAD_PARAMETERS for value in BAD_PARAMETERS[name]]
)
def test_bad_parameter_is_named(name, value, fingerprint):
    model = LinUCBClassifier(**{name: value})
    before = fingerprint(model)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=name):
            call(X0, Y0)
    with pytest.raises(ValueError, match=name):
        model.explore(X0, classes=range(4))
    assert fingerprint(model) == before


def test_too_many_features_for_matrices(fingerprint):
    """Matrices of some petabytes."""
    X, y = stream()
    model = LinUCBClassifier().fit(X, y)
    before = fingerprint(model)
    wide = sparse.csr_matrix((10, 10_000_000))
    with pytest.raises(MemoryError, match="covariance='diagonal'"):
        model.fit(wide, np.arange(10))
    assert fingerprint(model) == before


# -- Errors on data sets.


def played_error(model, X, y, n_seeds=3, n_passes=1):
    errors = []
    for seed in range(n_seeds):
        order = np.random.RandomState(seed).permutation(X.shape[0])
        model = clone(model).set_params(random_state=seed, max_iter=n_passes)
        errors.append(model.fit(X[order], y[order]).error_rate_)
    return np.mean(errors)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_errors_on_digits(covariance):
    """On raw pixels, where Banditron is wrong in more than half of the rounds."""
    X, y = load_digits(return_X_y=True)
    model = LinUCBClassifier(covariance=covariance)
    assert played_error(model, X, y) < 0.16
    assert played_error(model, X, y, n_passes=10, n_seeds=1) < 0.04
    assert played_error(BanditronClassifier(exploration="ag3-forgetting"), X, y) > 0.5


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_errors_on_features_of_all_units(covariance):
    """The largest feature has a thousand times the standard deviation of the others."""
    X, y = load_wine(return_X_y=True)
    assert played_error(LinUCBClassifier(covariance=covariance), X, y, n_passes=5) < 0.05


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_errors_on_documents_with_noise(covariance):
    """5 % of the labels are random, and 8/9 of these are wrong."""
    X, y = make_keyword_documents(10_000, label_noise=0.05, random_state=0)
    assert played_error(LinUCBClassifier(covariance=covariance), X, y) < 0.06


@pytest.mark.slow
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("name", ["optdigits", "pendigits", "letter"])
def test_errors_on_the_benchmark_sets(name, covariance, benchmark_folder):
    bounds = {
        "optdigits": {"full": 0.11, "diagonal": 0.105},
        "pendigits": {"full": 0.13, "diagonal": 0.16},
        "letter": {"full": 0.41, "diagonal": 0.46},
    }
    with np.load(benchmark_folder / "multiclass" / f"{name}.npz") as data:
        X = np.vstack([data["X_train"], data["X_test"]])
        y = np.concatenate([data["y_train"], data["y_test"]])
    assert played_error(LinUCBClassifier(covariance=covariance), X, y) < bounds[name][covariance]
