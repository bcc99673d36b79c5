"""Online linear models with several penalties or learning rates, of unit norm, and of sketches."""

import pickle

import numpy as np
import pytest
from feature_maps import features_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax
from sklrank.linear_model._regression._feature_map import FeatureMap

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 5)) * [1, 5, 0.1, 1, 1] + [0, 2, -1, 0, 0]
X[:, 4] = RANDOM.uniform(size=80) < 0.1
y = (X[:, 0] + 0.2 * X[:, 1] + 0.5 * RANDOM.normal(size=80) > 0).astype(int)
y[X[:, 3] > 1] = 2
WEIGHTS = RANDOM.choice([0.0, 0.5, 1.0, 3.0], 80)


def progressive_scores(model):
    """Scores of each sample of positive weight before it is learned."""
    scores = []
    for i in np.flatnonzero(WEIGHTS > 0):
        before = hasattr(model, "classes_")
        scores.append(model.decision_function(X[i : i + 1])[0] if before else np.zeros(3))
        model.partial_fit(X[i : i + 1], y[i : i + 1], [0, 1, 2], WEIGHTS[i : i + 1])
    return np.array(scores), np.eye(3)[y[WEIGHTS > 0]], WEIGHTS[WEIGHTS > 0]


def check_mean(model, singles, log_shares):
    """The scores of the model are the mean of those of single models, weighted by the shares."""
    shares = np.exp(log_shares - np.max(log_shares))
    shares /= shares.sum()
    assert shares.max() < 0.99
    assert_allclose(model.model_shares_, shares, rtol=1e-7)
    expected = sum(p * one.decision_function(X) for p, one in zip(shares, singles, strict=True))
    assert_allclose(model.decision_function(X), expected, rtol=1e-7, atol=1e-9)
    if hasattr(model, "coef_"):
        expected = sum(p * one.coef_ for p, one in zip(shares, singles))
        assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"normalize": "l2"}])
def test_ridge_with_several_penalties(options):
    """Shares E ** (-N / 2), E the weighted sum of squared errors before each sample was learned."""
    alphas = [0.5, 2.0, 20.0]
    singles = [OnlineRidgeClassifier(alpha=alpha, **options, shuffle=False) for alpha in alphas]
    log_shares = []
    for single in singles:
        scores, labels, weights = progressive_scores(single)
        squares = (weights[:, np.newaxis] * (labels - 1 / 3 - scores) ** 2).sum()
        log_shares.append(-weights.sum() / 2 * np.log(squares))
    model = OnlineRidgeClassifier(alpha=alphas, **options, shuffle=False).fit(X, y, WEIGHTS)
    check_mean(model, singles, log_shares)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_logistic_with_several_learning_rates(multi_class):
    """Shares exp(-loss), the loss that of each sample before it was learned."""
    rates = [0.5, 0.6, 0.65]
    singles = [
        OnlineLogisticRegression(multi_class=multi_class, learning_rate=r, shuffle=False)
        for r in rates
    ]
    log_shares = []
    for single in singles:
        scores, labels, weights = progressive_scores(single)
        if multi_class == "multinomial":
            losses = -(labels * log_softmax(scores, axis=1)).sum(axis=1)
        else:
            losses = -np.log(np.where(labels, expit(scores), expit(-scores))).sum(axis=1)
        log_shares.append(-(weights * losses).sum())
    model = OnlineLogisticRegression(multi_class=multi_class, learning_rate=rates, shuffle=False)
    check_mean(model.fit(X, y, WEIGHTS), singles, log_shares)


@pytest.mark.parametrize(
    "several, best",
    [
        (
            OnlineRidgeClassifier(alpha=(1, 1e6), shuffle=False),
            OnlineRidgeClassifier(shuffle=False),
        ),
        (
            OnlineLogisticRegression(learning_rate=(1e-4, 1), shuffle=False),
            OnlineLogisticRegression(learning_rate=1, shuffle=False),
        ),
    ],
)
def test_models_with_a_negligible_share_are_dropped(several, best):
    """Their share is exactly 0, and the best model remains, also after a pickle."""
    rows = np.tile(np.arange(80), 15)
    several.fit(X[rows], y[rows])
    best.fit(X[rows], y[rows])
    assert sorted(several.model_shares_) == [0.0, 1.0]
    several = pickle.loads(pickle.dumps(several))
    assert_array_equal(several.decision_function(X), best.decision_function(X))


MODELS = [
    OnlineRidgeClassifier(
        alpha=[1, 10], normalize="l2", sketch_size=3, random_state=0, shuffle=False
    ),
    OnlineRidgeClassifier(
        kernel="rbf", normalize="l2", sketch_size=2, n_components=4, random_state=0, shuffle=False
    ),
    OnlineLogisticRegression(
        learning_rate=[0.1, 1], normalize="l2", intercept_scaling=0.3, shuffle=False
    ),
    OnlineLogisticRegression(standardize=False, normalize="l2", multi_class="ovr", shuffle=False),
]


@pytest.mark.parametrize("model", MODELS)
def test_chunks_and_pickles(model, fingerprint):
    """One call, or chunks and pickles: the same to the bit."""
    model.fit(X, y, WEIGHTS)
    before = fingerprint(model)
    model.__dict__.pop("classes_")
    other = pickle.loads(pickle.dumps(type(model)(**model.get_params())))
    for start in range(0, 80, 7):
        rows = slice(start, start + 7)
        other.partial_fit(X[rows], y[rows], [0, 1, 2], WEIGHTS[rows])
        other = pickle.loads(pickle.dumps(other))
    assert fingerprint(other) == before


def slow_features(standardize, normalize, intercept, clip=3.0):
    """Features of each sample, by the statistics of the samples before."""
    for t, x in enumerate(X):
        z = x.copy()
        if standardize:
            deviation = X[:t].std(axis=0) if t else np.zeros(5)
            mean = X[:t].mean(axis=0) if t else np.zeros(5)
            safe = np.where(deviation > 1e-12, deviation, np.inf)
            z = np.clip((x - mean) / safe, -clip, clip)
        norm = np.sqrt((z**2).sum())
        yield np.append(z / norm if normalize and norm > 0 else z, intercept)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("normalize", ["l2", None])
def test_unit_norm_and_intercept(standardize, normalize):
    """Standardized samples, scaled to the norm one, and the value of the intercept."""
    logistic = OnlineLogisticRegression(intercept_scaling=0.3, shuffle=False).fit(X, y)
    assert np.all(features_of(logistic._learner.feature_map, X)[:, -1] == 0.3)
    model = OnlineRidgeClassifier(standardize=standardize, normalize=normalize, shuffle=False)
    for t, expected in enumerate(slow_features(standardize, normalize, 1.0)):
        if t:
            features = features_of(model._learner.feature_map, X[t : t + 1])[0]
            assert_allclose(features, expected, rtol=1e-7, atol=1e-9)
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1, 2])
    if not standardize:
        assert_array_equal(model.mean_, np.zeros(5))
        assert_array_equal(model.scale_, np.ones(5))
    if not normalize:
        scores = np.clip(
            (X - model.mean_) / model.scale_, *([-3, 3] if standardize else [-1e9, 1e9])
        )
        table = model._learner.weight_table
        expected = scores @ table[:-1] + table[-1]
        assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_unit_norm_of_extreme_values():
    """No overflow and no underflow."""
    features = FeatureMap(2, 3.0, standardize=False, normalize=True)
    rows = [[3e200, 4e200], [3e-200, 4e-200], [0.0, 0.0], [np.inf, 0.0]]
    expected = [[0.6, 0.8, 1], [0.6, 0.8, 1], [0, 0, 1], [1, 0, 1]]
    assert_allclose(features_of(features, np.array(rows)), expected, rtol=1e-12)


def test_sketch():
    """Columns get an entry when they are first nonzero; those that come too late share one."""
    rng = np.random.default_rng(1)
    rows = np.where(rng.uniform(size=(30, 9)) < 0.08, rng.normal(size=(30, 9)), 0.0)
    labels = rng.integers(0, 2, 30)
    model = OnlineRidgeClassifier(sketch_size=4, standardize=False, random_state=0)
    slots = {}
    for t in range(30):
        if t:
            feature_map = model._learner.feature_map
            state = feature_map.__getstate__()
            expected = np.append(np.zeros(4), 1.0)
            for column, slot in slots.items():
                expected[slot] += state["signs"][column] * rows[t, column]
            assert_allclose(features_of(feature_map, rows[t : t + 1])[0], expected)
            scores = expected[:-1] @ model._learner.weight_table[:-1]
            assert_allclose(scores[1] - scores[0], rows[t] @ model.coef_[0], atol=1e-12)
        model.partial_fit(rows[t : t + 1], labels[t : t + 1], classes=[0, 1])
        shared = model._learner.feature_map.__getstate__()["shared_slots"]
        for column in np.flatnonzero(rows[t]):
            if column not in slots:
                slots[column] = len(slots) if len(slots) < 4 else shared[column]
    assert len(slots) > 6


def test_a_sketch_of_few_active_columns_is_exact():
    """Without a loss, although there are more columns than entries.

    The active columns are centered, since at least an eighth of their entries are nonzero.
    """
    rows = X[:, :4]
    wide = np.hstack([np.zeros((80, 30)), rows, np.zeros((80, 10))])
    exact = OnlineRidgeClassifier(normalize="l2", shuffle=False).fit(rows, y)
    model = OnlineRidgeClassifier(normalize="l2", sketch_size=4, random_state=0, shuffle=False).fit(
        wide, y
    )
    assert_allclose(model.decision_function(wide), exact.decision_function(rows), atol=1e-9)
    weights = model._learner.feature_map.column_weights(model._learner.weight_table[:-1])
    assert_allclose(weights[30:34], exact._learner.weight_table[:-1], atol=1e-9)


class Smooth(OnlineRidgeClassifier):
    """As the ridge regressions of the boosters' list, with other numbers."""

    _vote_scale, _vote_smoothing = 50.0, 0.7


def test_smooth_votes():
    """(v + sqrt(v^2 + (s / m)^2)) / 2, normalized, in the order of the predictions."""
    smooth = Smooth().fit(X, y)
    v = 1 / 3 + 50 * smooth.decision_function(X)
    expected = (v + np.sqrt(v**2 + (0.7 / 3) ** 2)) / 2
    probabilities = smooth.predict_proba(X)
    assert_allclose(probabilities, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)
    assert_array_equal(np.argsort(probabilities, axis=1), np.argsort(v, axis=1))


@pytest.mark.parametrize(
    "values", [[], [1.0, 0.0], [[1.0]], [[1.0], 1.0], [-1.0], ["a"], [None], [np.nan]]
)
def test_invalid_candidates(values, fingerprint):
    """The error names the parameter, and a fitted model does not change."""
    for model, name in (
        (OnlineRidgeClassifier(shuffle=False), "alpha"),
        (OnlineLogisticRegression(shuffle=False), "learning_rate"),
    ):
        before = fingerprint(model.fit(X, y))
        with pytest.raises(ValueError, match=name):
            model.set_params(**{name: values}).fit(X, y)
        model.set_params(**{name: 1.0})
        assert fingerprint(model) == before
        with pytest.raises(ValueError, match=name):
            AdaOLMR([model.set_params(**{name: values})], shuffle=False).fit(
                X, np.eye(3, dtype=int)[y]
            )
