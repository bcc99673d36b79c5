"""Online linear learners against slow statements that standardize by all samples before."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from feature_maps import features_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklrank.linear_model._regression._feature_map import FeatureMap

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier


def stream(seed=0, n_samples=150, n_classes=3):
    """Features of all scales and distributions, one constant, one constant at first; weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    center = rng.normal(0, 1.5, (n_classes, 6))[y]
    X = rng.normal(size=(n_samples, 6)) + center
    X[:, 1] = 1e3 + 5 * X[:, 1]
    X[:, 2] = 1e-6 * np.exp(X[:, 2])
    X[:, 3] = 0.1
    X[:20, 4] = -7.0
    X[:, 5] = y == 1
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], n_samples)


def standardized(row, before, clip=3.0):
    """(row - mean) / deviation by the rows `before`, clipped; 0 for features constant in these."""
    if len(before) == 0:
        return np.zeros(len(row))
    deviations = np.where(np.ptp(before, axis=0) > 0, np.std(before, axis=0), np.inf)
    return np.clip((row - np.mean(before, axis=0)) / deviations, -clip, clip)


def learned_samples(X, y, weights, n_classes, clip=3.0):
    """(z, one-hot label, weight) of samples of positive weight; z standardized by those before."""
    rows, labels = X[weights > 0], y[weights > 0]
    for t, (row, label) in enumerate(zip(rows, labels, strict=True)):
        yield standardized(row, rows[:t], clip), np.eye(n_classes)[label], weights[weights > 0][t]


# -- Features.


def test_running_standardization(clip=3.0):
    """Predictions standardize by all samples learned, which excludes those of weight zero."""
    X, y, weights = stream()
    model = OnlineRidgeClassifier(shuffle=False)
    for start, stop in ((0, 1), (1, 2), (2, 19), (19, 20), (20, 21), (21, 150)):
        model.partial_fit(X[start:stop], y[start:stop], [0, 1, 2], weights[start:stop])
        features = features_of(model._learner.feature_map, X)
        assert_array_equal(features[:, -1], np.ones(150))
        before = X[:stop][weights[:stop] > 0]
        expected = [standardized(row, before, clip) for row in X]
        assert_allclose(features[:, :-1], expected, rtol=1e-9, atol=1e-9)
    model = OnlineLogisticRegression(shuffle=False).fit(X, y, weights)
    learned = X[weights > 0]
    assert_allclose(model.mean_, learned.mean(axis=0), rtol=1e-12)
    expected = np.where(np.ptp(learned, axis=0) > 0, learned.std(axis=0), 1.0)
    assert_allclose(model.scale_, expected, rtol=1e-10)


def test_random_features():
    """cos(z . omega + phase) of the standardized columns, then the 1 of the intercept."""
    X, y, _ = stream()
    model = OnlineRidgeClassifier(kernel="rbf", n_components=7, random_state=3).fit(X, y)
    state = model._learner.feature_map.__getstate__()
    frequencies, phases = state["frequencies"], state["phases"]
    assert frequencies.shape == (6, 7)
    features = features_of(model._learner.feature_map, X)
    assert features.shape == (len(X), 8)
    for row, feature in zip(X, features, strict=True):
        z = standardized(row, X)
        expected = [np.cos(z @ frequencies[:, q] + phases[q]) for q in range(7)]
        assert_allclose(feature, [*expected, 1.0], atol=1e-9)


@pytest.mark.parametrize("greatest", [1.0, 7.0, 1e3, 1e8])
def test_cosines(greatest):
    """Equal to those of NumPy within the rounding of the angles; also for quarter turns."""
    angles = np.random.default_rng(0).uniform(-greatest, greatest, 20_001)
    angles[:60] = np.outer([1.0, -1.0], np.append(np.pi / 2 * np.arange(29), 1e-200)).ravel()
    rounding = 1e-15 + 2.0**-52 * np.abs(angles).max()
    assert_allclose(cosines(angles), np.cos(angles), rtol=0, atol=rounding)


def test_cosines_of_absurd_angles():
    """Angles too large to have an accurate cosine give a number in [-1, 1]."""
    angles = np.array([1e10, -1e18, 1e300, -np.inf, np.inf, np.nan])
    assert np.all(np.abs(cosines(angles)) <= 1.0)


def cosines(phases):
    """Compute cosines as random features before the first sample, when z is 0."""
    found = []
    for part in np.array_split(phases, len(phases) // 100 + 1):
        frequencies = np.zeros((1, len(part)))
        features = FeatureMap(1, clip=3.0, frequencies=frequencies, phases=part)
        found.append(features_of(features, np.ones((1, 1)))[0, :-1])
    return np.concatenate(found)


@pytest.mark.parametrize("gamma", [2.0, 0.5, 0.06])
def test_random_features_estimate_the_kernel(gamma):
    """2 / D times the inner product is exp(-gamma |z - z'|^2 / d) within about 1 / sqrt(D)."""
    X = np.random.default_rng(0).normal(size=(30, 5))
    # Many small models, because a large one would need D^2 numbers.
    models = [
        OnlineRidgeClassifier(kernel="rbf", n_components=150, gamma=gamma, random_state=seed).fit(
            X, np.arange(30) % 2
        )
        for seed in range(50)
    ]
    features = np.hstack([features_of(model._learner.feature_map, X)[:, :-1] for model in models])
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((z[:, None] - z[None]) ** 2).sum(axis=2)
    expected = np.exp(-gamma * squares / 5)
    assert_allclose(2 / features.shape[1] * features @ features.T, expected, atol=0.05)


# -- Ridge.


def ridge_solution(rows, alpha):
    """Weights and intercepts (last row) that minimize the penalized squared errors."""
    F = np.array([[*z, 1.0] for z, _, _ in rows])
    T = np.array([label - 1 / len(label) for _, label, _ in rows])
    w = np.array([weight for _, _, weight in rows])
    penalty = np.diag([alpha] * (F.shape[1] - 1) + [min(alpha, 1.0)])
    return np.linalg.solve(F.T @ (w[:, None] * F) + penalty, F.T @ (w[:, None] * T))


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_ridge_solves_the_normal_equations(alpha, n_classes):
    """Exact after every chunk, for samples standardized by those before them."""
    X, y, weights = stream(1, n_classes=n_classes)
    rows = list(learned_samples(X, y, weights, n_classes))
    model = OnlineRidgeClassifier(alpha=alpha)
    n_learned = 0
    for chunk in np.array_split(np.arange(len(X)), 10):
        model.partial_fit(X[chunk], y[chunk], np.arange(n_classes), weights[chunk])
        n_learned += np.sum(weights[chunk] > 0)
        expected = ridge_solution(rows[:n_learned], alpha)
        assert_allclose(model._learner.weight_table, expected, rtol=1e-8, atol=1e-10)


def test_ridge_on_random_features_solves_the_normal_equations():
    """The same with random features."""
    X, y, weights = stream(2)
    model = OnlineRidgeClassifier(kernel="rbf", n_components=12, alpha=0.1, random_state=0)
    rows = []
    for i in range(len(X)):
        if i == 0:
            model._init_model(6, np.arange(3))
        features = features_of(model._learner.feature_map, X[i : i + 1])[0]
        if weights[i] > 0:
            rows.append((features[:-1], np.eye(3)[y[i]], weights[i]))
            model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i])
    expected = ridge_solution(rows, 0.1)
    assert_allclose(model._learner.weight_table, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("alpha, weight, seed", [(1e-10, 1.0, 0), (1.0, 1e10, 2)])
def test_ridge_is_stable_if_rounding_outweighs_the_penalty(alpha, weight, seed):
    """Wide kernels have nearly collinear features; with a tiny penalty P then spans more orders of
    magnitude than a double. Without the safeguard the weights diverge."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(100_000, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    kernel = {"kernel": "rbf", "n_components": 40, "gamma": 0.00125, "random_state": 0}
    model, usual = (OnlineRidgeClassifier(alpha=a, **kernel) for a in (alpha, 1.0))
    model.partial_fit(X[:95_000], y[:95_000], sample_weight=np.full(95_000, weight))
    usual.partial_fit(X[:95_000], y[:95_000])
    assert model.score(X[95_000:], y[95_000:]) > usual.score(X[95_000:], y[95_000:]) - 0.02


@pytest.mark.parametrize("n_dense", [0, 1, 3, 10])
def test_ridge_of_sparse_samples(n_dense, fingerprint):
    """The same filter, for runs of 10 samples with mostly zeros, of which some are dense."""
    rng = np.random.default_rng(n_dense)
    X = rng.normal(size=(100, 21))
    X[rng.random(X.shape) < 0.95] = 0.0
    dense = np.arange(100) % 10 < n_dense
    X[dense] = rng.normal(size=(dense.sum(), 21))
    y, weights = rng.integers(0, 3, 100), rng.choice([0.0, 1.0, 2.5], 100)
    model = OnlineRidgeClassifier(alpha=0.5, standardize=False, drift_threshold=None)
    P, W = 2.0 * np.eye(22), np.zeros((22, 3))
    for row, label, weight in zip(X, y, weights):
        model.partial_fit(row[None], [label], np.arange(3), [weight])
        if weight == 0:
            continue
        f = np.append(row, 1.0)
        gain = P @ f / (f @ P @ f + 1 / weight)
        W = W + np.outer(gain, np.eye(3)[label] - 1 / 3 - f @ W)
        keep = np.eye(22) - np.outer(gain, f)
        P = keep @ P @ keep.T + np.outer(gain, gain) / weight
        assert_allclose(model._learner.weight_table, W, rtol=1e-8, atol=1e-10)
    for n in (1, 2, 3, 58):
        part = clone(model).partial_fit(X[:n], y[:n], np.arange(3), weights[:n])
        part = pickle.loads(pickle.dumps(part)).partial_fit(X[n:], y[n:], None, weights[n:])
        assert fingerprint(part) == fingerprint(model)


def test_ridge_probabilities():
    """max(0, 1 / m + v), normalized; v estimates the deviation from a uniform vote."""
    X, y, weights = stream(5)
    model = OnlineRidgeClassifier(shuffle=False).fit(X, y, weights)
    solution = ridge_solution(list(learned_samples(X, y, weights, 3)), 1.0)
    learned = X[weights > 0]
    for row, actual in zip(X, model.predict_proba(X), strict=True):
        votes = np.append(standardized(row, learned), 1.0) @ solution
        expected = [max(0.0, 1 / 3 + vote) for vote in votes]
        assert_allclose(actual, np.array(expected) / sum(expected), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_ridge_attributes_explain_the_prediction(n_classes):
    """decision_function is linear in the standardized features; probabilities follow from it."""
    X, y, weights = stream(9, n_classes=n_classes)
    model = OnlineRidgeClassifier(shuffle=False).fit(X, y, weights)
    decision = model.decision_function(X)
    table = model._learner.weight_table
    table = table[:, 1:] - table[:, :1] if n_classes == 2 else table
    expected = np.clip((X - model.mean_) / model.scale_, -3, 3) @ table[:-1] + table[-1]
    assert decision.shape == ((len(X),) if n_classes == 2 else (len(X), n_classes))
    assert_allclose(decision, expected[:, 0] if n_classes == 2 else expected, atol=1e-9)
    estimates = np.column_stack([-decision, decision]) / 2 if n_classes == 2 else decision
    votes = np.maximum(1 / n_classes + estimates, 0.0)
    votes /= votes.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), votes, atol=1e-9)
    assert_array_equal(model.predict(X), np.argmax(estimates, axis=1))


def test_ridge_on_random_features_has_scores_but_no_coef():
    """The kernel of the fitted model decides, not the current parameter."""
    X, y, _ = stream()
    model = OnlineRidgeClassifier(kernel="rbf", random_state=0)
    for name in ("coef_", "intercept_", "mean_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    model.fit(X, y).set_params(kernel="linear")
    table = model._learner.weight_table
    scores = features_of(model._learner.feature_map, X) @ table
    assert_allclose(model.decision_function(X), scores, atol=1e-9)
    for name in ("coef_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"^{name} does not .*kernel='rbf'"):
            getattr(model, name)
    assert model.set_params(kernel="rbf").mean_.shape == (6,)


def test_features_are_selected_by_the_weights():
    """Informative features are selected, noise is not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = (X[:, 1] - X[:, 4] > 0).astype(int)
    ridge = OnlineRidgeClassifier(standardize=False, shuffle=False)
    for model in (ridge, OnlineLogisticRegression(shuffle=False)):
        chosen = SelectFromModel(model, max_features=2).fit(X, y)
        assert np.flatnonzero(chosen.get_support()).tolist() == [1, 4]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_ridge_weights_are_relative_to_alpha(kernel):
    """Sample weights and penalty times c: the same minimum (if the intercept's penalty follows)."""
    X, y, weights = stream(7)
    model = OnlineRidgeClassifier(kernel=kernel, alpha=0.1, n_components=10, random_state=0)
    expected = model.fit(X, y, weights).predict_proba(X)
    scaled = clone(model).set_params(alpha=0.8).fit(X, y, 8 * weights)
    assert_allclose(scaled.predict_proba(X), expected, atol=1e-9)


def test_sample_weights_are_limited_by_the_penalty(fingerprint):
    """Beyond the limit rounding outweighs the penalty and the model is useless."""
    X, y, weights = stream(7)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        OnlineRidgeClassifier(alpha=1e-11, shuffle=False).fit(X, y)
    model = OnlineRidgeClassifier(alpha=1e-3, shuffle=False)
    for call in (model.fit, model.partial_fit, model.progressive_fit):
        with pytest.raises(ValueError, match="sample_weight must be 1e[+]10 times alpha=0.001"):
            call(X, y, sample_weight=1e8 * weights)
    assert not hasattr(model, "classes_")
    before = fingerprint(model.fit(X, y, 1e6 * weights))
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="sample_weight must be"):
            call(X, y, sample_weight=1e8 * weights)
    assert fingerprint(model) == before


def test_ridge_stays_exact_on_long_streams():
    """Rounding errors do not grow over 20,000 samples with nearly collinear features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    X[:, 2] = X[:, 0] + X[:, 1] + 1e-3 * rng.normal(size=20_000)
    y = (X[:, 0] + rng.normal(size=20_000) > 0).astype(int)
    model = OnlineRidgeClassifier(shuffle=False).fit(X, y)
    counts = np.arange(1, 20_001)[:, None]
    mean = np.cumsum(X, axis=0) / counts
    deviation = np.sqrt(np.cumsum(X**2, axis=0) / counts - mean**2)
    Z = np.zeros_like(X)
    Z[2:] = np.clip((X[2:] - mean[1:-1]) / deviation[1:-1], -3, 3)
    rows = list(zip(Z, np.eye(2)[y], np.ones(20_000), strict=True))
    assert_allclose(model._learner.weight_table, ridge_solution(rows, 1.0), rtol=1e-5, atol=1e-8)


# -- Logistic regression.


def adagrad(rows, n_features, n_classes, multi_class, learning_rate):
    """Weights (n_classes, n_features + 1) after one adaptive step per sample, entry by entry."""
    W, squares = np.zeros((n_classes, n_features + 1)), np.ones((n_classes, n_features + 1))
    for z, label, weight in rows:
        f = [*(z / np.sqrt(n_features)), 1.0]
        margins = W @ f
        votes = softmax(margins) if multi_class == "multinomial" else expit(margins)
        slopes = weight * (votes - label)
        for c in range(n_classes):
            for j in range(n_features + 1):
                g = slopes[c] * f[j]
                squares[c, j] += g * g
                W[c, j] -= learning_rate * g / np.sqrt(squares[c, j])
    return W


LOGISTICS = [
    {"multi_class": multi_class, "learning_rate": learning_rate}
    for multi_class, learning_rate in [
        ("multinomial", 0.1),
        ("multinomial", 0.7),
        ("ovr", 0.1),
        ("ovr", 1.0),
    ]
]


@pytest.mark.parametrize("params", LOGISTICS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_takes_adagrad_steps(params, n_classes):
    """Weights, intercepts and probabilities, with sample weights and penalty."""
    X, y, weights = stream(8, n_classes=n_classes)
    model = OnlineLogisticRegression(**params, shuffle=False).fit(X, y, weights)
    W = adagrad(learned_samples(X, y, weights, n_classes, 10.0), 6, n_classes, **params)
    shown = W[1:] - W[:1] if n_classes == 2 else W
    assert_allclose(model.coef_ * model.scale_, shown[:, :-1] / np.sqrt(6), rtol=1e-9, atol=1e-10)
    at_means = model.intercept_ + model.coef_ @ model.mean_
    assert_allclose(at_means, shown[:, -1], rtol=1e-9, atol=1e-10)
    learned = X[weights > 0]
    features = [np.append(standardized(row, learned, 10.0) / np.sqrt(6), 1.0) for row in X]
    margins = np.array(features) @ W.T
    votes = softmax(margins, axis=1) if params["multi_class"] == "multinomial" else expit(margins)
    expected = votes / votes.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-10)


def test_first_step_by_hand():
    """After one sample z is 0, and the intercepts take a step towards the label."""
    model = OnlineLogisticRegression(learning_rate=0.25)
    model.partial_fit([[5.0, -3.0]], ["b"], classes=["a", "b", "c"], sample_weight=[3.0])
    assert_array_equal(model.coef_, np.zeros((3, 2)))
    sides, label = 0.25 * 1 / np.sqrt(1 + 1), 0.25 * 2 / np.sqrt(1 + 4)
    assert_allclose(model.intercept_, [-sides, label, -sides])
    assert_allclose(model.mean_, [5.0, -3.0])
    assert_allclose(model.scale_, [1.0, 1.0])


@pytest.mark.parametrize("params", LOGISTICS)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_attributes_explain_the_prediction(params, n_classes):
    """decision_function is linear in the features; probabilities follow from it."""
    X, y, weights = stream(9, n_classes=n_classes)
    model = OnlineLogisticRegression(**params, shuffle=False).fit(X, y, weights)
    decision, probabilities = model.decision_function(X), model.predict_proba(X)
    assert np.abs((X - model.mean_) / model.scale_).max() < 10
    expected = X @ model.coef_.T + model.intercept_
    assert decision.shape == ((len(X),) if n_classes == 2 else (len(X), n_classes))
    assert model.coef_.shape == (1 if n_classes == 2 else n_classes, 6)
    assert_allclose(decision, expected[:, 0] if n_classes == 2 else expected, atol=1e-9)
    if n_classes == 2:
        assert_array_equal(model.predict(X), (decision > 0).astype(int))
    else:
        assert_array_equal(model.predict(X), decision.argmax(axis=1))
    if params["multi_class"] == "multinomial":
        votes = softmax(decision, axis=1) if n_classes > 2 else expit(decision)
        assert_allclose(probabilities if n_classes > 2 else probabilities[:, 1], votes, atol=1e-12)
    elif n_classes > 2:
        votes = expit(decision)
        assert_allclose(probabilities, votes / votes.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("params", LOGISTICS)
def test_predictions_if_probabilities_are_tied(params):
    """The scores decide among classes whose probabilities round to the same number."""
    X, y, _ = stream(9)
    model = (
        OnlineLogisticRegression(**params, shuffle=False).set_params(learning_rate=1e3).fit(X, y)
    )
    probabilities = np.sort(model.predict_proba(X), axis=1)
    if params["multi_class"] == "ovr":
        assert np.any(probabilities[:, -1] == probabilities[:, -2])
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


MODELS = {
    "logistic": OnlineLogisticRegression(learning_rate=0.5, shuffle=False),
    "logistic-ovr": OnlineLogisticRegression(multi_class="ovr", shuffle=False),
    "ridge": OnlineRidgeClassifier(shuffle=False),
    "ridge-rbf": OnlineRidgeClassifier(
        kernel="rbf", n_components=10, random_state=0, shuffle=False
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_scale_of_features_does_not_matter(name):
    """Powers of two for each feature give equal bits; other units and origins, equal numbers."""
    X, y, weights = stream(10)
    model = clone(MODELS[name])
    expected = model.fit(X, y, weights).predict_proba(X)
    powers = 2.0 ** np.array([-100, 60, 3, -1, 300, 0])
    assert_array_equal(model.fit(X * powers, y, weights).predict_proba(X * powers), expected)
    shifted = X * [7.3, 0.01, 1e5, 3.0, 1e-9, 12.0] + [5.0, -2.0, 0.0, 1.0, 0.0, 100.0]
    assert_allclose(model.fit(shifted, y, weights).predict_proba(shifted), expected, atol=1e-6)


RAW = [
    OnlineLogisticRegression(standardize=False, shuffle=False),
    OnlineRidgeClassifier(standardize=False, shuffle=False),
    OnlineRidgeClassifier(standardize=False, sketch_size=3, random_state=0, shuffle=False),
    OnlineRidgeClassifier(
        standardize=False, kernel="rbf", n_components=10, random_state=0, shuffle=False
    ),
]


@pytest.mark.parametrize("model", RAW, ids=str)
def test_large_entries_of_samples_that_are_not_scaled(model, fingerprint):
    """Scores of entries up to 1e60 are finite. Larger entries are refused."""
    X, y, weights = stream()
    X *= 1e60 / np.abs(X).max()
    model = clone(model).fit(X, y, weights)
    assert np.isfinite(model.decision_function(X)).all()
    before = fingerprint(model)
    for larger in (1.1 * X, 1e95 * X, sparse.csr_array(1.1 * X)):
        for call in (model.fit, model.partial_fit, model.progressive_fit):
            with pytest.raises(ValueError, match="X has an entry of the size"):
                call(larger, y)
        for call in (model.predict, model.predict_proba, model.decision_function):
            with pytest.raises(ValueError, match="X has an entry of the size"):
                call(larger)
        assert fingerprint(model) == before


@pytest.mark.parametrize("model", RAW, ids=str)
def test_large_entries_of_samples_that_are_scaled(model):
    """They are accepted; which samples a model scales does not change after `fit`."""
    X, y, _ = stream()
    for parameters in ({"standardize": True}, {"normalize": "l2"}):
        scaled = clone(model).set_params(**parameters).fit(1e95 * X, y)
        scaled.set_params(standardize=False, normalize=None)
        assert np.isfinite(scaled.decision_function(1e95 * X)).all()
        raw = clone(model).fit(X, y).set_params(**parameters)
        with pytest.raises(ValueError, match="X has an entry of the size"):
            raw.predict(1e95 * X)
        assert np.isfinite(raw.fit(1e95 * X, y).decision_function(1e95 * X)).all()


@pytest.mark.parametrize("model", RAW[:2], ids=str)
def test_samples_that_are_not_standardized(model):
    """The features are the values, scaled at most to the norm one; mean_ is 0 and scale_ is 1."""
    X, y, weights = stream()
    model = clone(model).fit(X, y, weights)
    assert_array_equal(features_of(model._learner.feature_map, X)[:, :-1], X)
    assert_allclose(
        model.decision_function(X), X @ model.coef_.T + model.intercept_, rtol=1e-9, atol=1e-9
    )
    normalized = clone(model).set_params(normalize="l2").fit(X, y, weights)
    features = features_of(normalized._learner.feature_map, X)[:, :-1]
    assert_allclose(features, X / np.linalg.norm(X, axis=1, keepdims=True), rtol=1e-12)
    for fitted in (model, normalized):
        assert_array_equal(fitted.mean_, np.zeros(6))
        assert_array_equal(fitted.scale_, np.ones(6))


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("name", MODELS)
def test_memory_mapped_models_learn(name, mode, tmp_path, fingerprint):
    """They learn like the model in memory, and the file is left unchanged."""
    X, y, weights = stream()
    model = clone(MODELS[name]).partial_fit(X[:20], y[:20], [0, 1, 2], weights[:20])
    joblib.dump(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of joblib, on small arrays
        loaded = joblib.load(tmp_path / "model", mmap_mode=mode)
    for continued in (model, loaded):
        continued.partial_fit(X[20:], y[20:], sample_weight=weights[20:])
    assert fingerprint(loaded) == fingerprint(model)
    assert (tmp_path / "model").read_bytes() == before


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_gradient_whose_square_is_zero(multi_class):
    """A gradient whose square underflows makes no infinite step."""
    model = OnlineLogisticRegression(multi_class=multi_class, shuffle=False)
    # The mean of the first two rows is 0, so the third is 1e-200 deviations from it.
    model.fit([[-1.0], [1.0], [1e-200], [0.5], [0.7]], [0, 1, 0, 1, 0])
    assert np.all(np.isfinite([model.coef_, model.intercept_[:, None]]))
    model.fit([[-1.0], [1.0], [2.0], [0.5]], [0, 1, 0, 1], sample_weight=np.full(4, 1e-200))
    assert np.all(np.isfinite([model.coef_, model.intercept_[:, None]]))


def test_large_margins():
    """Probabilities of 0 and 1 are reached without overflow."""
    X = np.tile([[-1.0], [1.0]], (200, 1))
    y = np.tile([0, 1], 200)
    for multi_class in ("multinomial", "ovr"):
        model = OnlineLogisticRegression(
            multi_class=multi_class, learning_rate=1e4, shuffle=False
        ).fit(X, y)
        assert_allclose(model.predict_proba([[-1.0], [1.0]]), np.eye(2))


def test_accuracy():
    """All models learn a linear rule; only the kernel learns a ring."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    line, ring = (X @ [1.0, -2.0] > 0.3).astype(int), (np.sum(X**2, axis=1) > 1.4).astype(int)
    rbf = OnlineRidgeClassifier(kernel="rbf", random_state=0)
    for model in (
        OnlineLogisticRegression(shuffle=False),
        OnlineRidgeClassifier(shuffle=False),
        rbf,
    ):
        assert model.fit(X[:1500], line[:1500]).score(X[1500:], line[1500:]) > 0.93
    assert rbf.fit(X[:1500], ring[:1500]).score(X[1500:], ring[1500:]) > 0.9
    assert (
        OnlineRidgeClassifier(shuffle=False).fit(X[:1500], ring[:1500]).score(X[1500:], ring[1500:])
        < 0.7
    )


def test_too_many_features_for_matrices():
    """Matrices of two hundred terabytes."""
    wide = sparse.csr_matrix((10, 5_000_000))
    with pytest.raises(ValueError, match="set sketch_size .* OnlineLogisticRegression"):
        OnlineRidgeClassifier(shuffle=False).fit(wide, np.arange(10) % 2)
    model = OnlineRidgeClassifier(kernel="rbf", n_components=5_000_000, shuffle=False)
    with pytest.raises(ValueError, match="kernel='rbf': n_components"):
        model.fit(np.ones((10, 1)), np.arange(10) % 2)
