"""LinUCBClassifier: standardization, and errors on data sets."""

import numpy as np
import pytest
from _keyword_documents import make_keyword_documents
from bandit_regret import make_topics, regret
from class_streams import stream
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from sklrank._estimators.random import draw_frequencies
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier

MODELS = {
    "full": LinUCBClassifier(kernel="linear", random_state=0),
    "full, bare": LinUCBClassifier(
        exploration="ag3", alpha=1.0, fit_intercept=False, random_state=0
    ),
    "full, not standardized": LinUCBClassifier(clip=None, exploration=0.1, random_state=0),
    "diagonal": LinUCBClassifier(covariance="diagonal", bonus=0.5, clip=1.5, random_state=0),
    "rbf": LinUCBClassifier(kernel="rbf", n_components=10, random_state=0),
}
LINEAR = [name for name in MODELS if name != "rbf"]


@pytest.mark.parametrize("name", LINEAR)
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


def test_sparse_samples_of_the_rbf_kernel(fingerprint):
    """The kernel "rbf" standardizes all samples; "auto" depends on the first samples."""
    X, y = stream()
    rows = sparse.csr_array(X)
    dense = clone(MODELS["rbf"]).partial_fit(X, y)
    same = clone(MODELS["rbf"]).partial_fit(rows, y)
    assert fingerprint(same._rounds) == fingerprint(dense._rounds)
    assert_array_equal(dense.decision_function(rows), dense.decision_function(X))
    for start, options in (
        (X, {"kernel": "rbf"}),
        (X, {"kernel": "linear", "covariance": "diagonal"}),
        (X, {"kernel": "linear", "clip": None}),
        (X, {"kernel": "linear", "fit_intercept": False}),
    ):
        model = clone(MODELS["rbf"]).set_params(**options).partial_fit(start[:20], y[:20])
        auto = clone(model).set_params(kernel="auto").partial_fit(start[:20], y[:20])
        for continued in (model, auto):
            continued.partial_fit(X[20:80], y[20:80]).partial_fit(rows[80:], y[80:])
        assert_array_equal(auto.decision_function(X), model.decision_function(X))


def test_rbf_kernel_requires_standardized_samples(fingerprint):
    X, y = stream()
    model = clone(MODELS["rbf"]).fit(X, y)
    before = fingerprint(model._rounds)
    for options in ({"clip": None}, {"fit_intercept": False}):
        with pytest.raises(ValueError, match="kernel='rbf' requires standardized samples"):
            clone(model).set_params(**options).fit(X, y)
        with pytest.raises(ValueError, match="kernel='rbf' requires standardized samples"):
            model.set_params(**options).fit(X, y)
        model.set_params(clip=5.0, fit_intercept=True)
    assert fingerprint(model._rounds) == before


def test_rbf_kernel_has_no_coefficients():
    """Also if the parameter changes after training has started."""
    X, y = stream()
    model = LinUCBClassifier(n_components=3, random_state=0).fit(X, y).set_params(kernel="linear")
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match=f"{name} is not available"):
            getattr(model, name)
    assert not hasattr(LinUCBClassifier(shuffle=False), "coef_")
    assert model.fit(X, y).coef_.shape == (4, 6)


def test_random_features_are_drawn_from_random_state(fingerprint):
    X, y = stream()
    seeded = clone(MODELS["rbf"]).set_params(exploration=0.2).partial_fit(X, y)
    random = np.random.RandomState(0)
    shared = clone(seeded).set_params(random_state=random).partial_fit(X, y)
    assert fingerprint(shared._rounds) == fingerprint(seeded._rounds)
    again = clone(seeded).set_params(random_state=random).partial_fit(X, y)
    other = clone(seeded).set_params(random_state=1).partial_fit(X, y)
    scores = [model.decision_function(X) for model in (seeded, again, other)]
    assert not np.allclose(scores[0], scores[1])
    assert not np.allclose(scores[0], scores[2])


@pytest.mark.parametrize("gamma", [0.1, 0.5, 2.0])
def test_random_features_approximate_the_kernel(gamma):
    random = np.random.RandomState(0)
    Z = random.randn(20, 5)
    frequencies, phases = draw_frequencies(5, 20_000, gamma, random)
    features = np.sqrt(2 / 20_000) * np.cos(Z @ frequencies + phases)
    assert_allclose(features @ features.T, rbf_kernel(Z, gamma=gamma / 5), atol=0.04)


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


def test_too_many_features_for_matrices(fingerprint):
    """Matrices of some petabytes."""
    X, y = stream()
    model = LinUCBClassifier(shuffle=False).fit(X, y)
    before = fingerprint(model)
    wide = sparse.csr_matrix((10, 5_000_000))
    with pytest.raises(ValueError, match="covariance='diagonal'"):
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
    assert played_error(model, X, y, n_seeds=1) < 0.16
    assert played_error(model, X, y, n_seeds=1, n_passes=4) < 0.06
    assert played_error(BanditronClassifier(exploration="ag3"), X, y) > 0.5


def test_errors_on_nonlinear_rewards():
    """The correct class is the parity of two signs; a line finds at most 3/4 of the samples."""
    X = np.random.RandomState(0).uniform(-1, 1, (1500, 2))
    y = (X > 0).sum(axis=1) % 2
    assert played_error(LinUCBClassifier(), X, y) < 0.15
    assert played_error(LinUCBClassifier(kernel="linear"), X, y) > 0.25


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_errors_on_features_of_all_units(covariance):
    """The largest feature has a thousand times the standard deviation of the others."""
    X, y = load_wine(return_X_y=True)
    assert played_error(LinUCBClassifier(covariance=covariance), X, y, n_passes=5) < 0.05


@pytest.mark.parametrize("covariance", [pytest.param("full", marks=pytest.mark.slow), "diagonal"])
def test_errors_on_documents_with_noise(covariance):
    """5 % of the labels are random, and 8/9 of these are wrong."""
    X, y = make_keyword_documents(10_000, label_noise=0.05, random_state=0)
    assert played_error(LinUCBClassifier(covariance=covariance), X, y, n_seeds=1) < 0.06


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
    error = played_error(LinUCBClassifier(covariance=covariance), X, y, n_seeds=1)
    assert error < bounds[name][covariance]


def test_penalty_of_many_weights():
    """With full matrices, the samples of 500 rounds outweigh it; and never a larger penalty."""
    X, y = np.random.RandomState(0).normal(size=(40, 200)), np.arange(40) % 20
    for parameters, columns, alpha in [
        ({"kernel": "linear"}, 200, 500 / (20 * 200)),
        ({"kernel": "linear"}, 9, 0.2),
        ({"kernel": "rbf", "n_components": 3}, 200, 500 / (20 * 200)),
        ({"covariance": "diagonal"}, 200, 0.4),
        ({"kernel": "linear", "alpha": 3.0}, 200, 3.0),
    ]:
        model = LinUCBClassifier(**parameters).partial_fit(X[:, :columns], y)
        assert model._rounds.model.alpha == alpha


@pytest.mark.parametrize(
    "n_classes, n_features, expected", [(3, 4, 200), (200, 20, 29), (26, 617, 0), (2, 30, 200)]
)
def test_number_of_random_features(n_classes, n_features, expected):
    """As many as keep the matrices of all classes within 500,000 entries."""
    model = LinUCBClassifier(random_state=0)
    model.explore(np.eye(1, n_features), classes=range(n_classes))
    assert model._rounds.model.n_components == expected
    assert n_classes * model._rounds.model.width**2 <= 500_000 or expected in (0, 200)
    assert hasattr(model, "coef_") == (expected == 0)


@pytest.mark.parametrize("randomization, rate", [("inverse-gap", 0.25 / 4), ("thompson", 0.25)])
def test_policies_with_positive_propensities(randomization, rate):
    """They make about as few mistakes as the largest bound, and may show each class."""
    X, y = load_digits(return_X_y=True)
    bound = LinUCBClassifier(kernel="linear").partial_fit(X, y)
    model = LinUCBClassifier(kernel="linear", randomization=randomization, random_state=0)
    model.partial_fit(X[:15], y[:15], classes=range(10))
    assert_allclose(model.exploration_, rate)
    model.partial_fit(X[15:], y[15:])
    assert model.error_rate_ < bound.error_rate_ + 0.05
    chances = model.propensities(X)
    assert chances.min() >= 1e-5
    assert_allclose(chances.sum(axis=1), 1)
    assert bound.exploration_ == 0
    assert set(np.unique(bound.propensities(X))) == {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_regret_grows_more_slowly_than_the_square_root_of_rounds(seed):
    """Where rewards are linear in the features, so that the square root is the proved order."""
    found = regret(LinUCBClassifier(kernel="linear", random_state=seed), *make_topics(8000, seed))
    assert 0 < found[-1] < found[499] * np.sqrt(8000 / 500)
