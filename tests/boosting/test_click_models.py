"""Models of the user against enumeration, and the ranker that learns from clicks."""

from itertools import product

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklrank._checks.queries import Queries
from sklrank.boosting import HistGradientBoostingRanker
from sklrank.boosting import _clicks as click_models
from sklrank.boosting._clicks import (
    CascadeModel,
    ClickObjective,
    PositionModel,
    Sessions,
    SmoothModel,
    check_position,
    distinct_rows,
)
from sklrank.datasets import make_clicks
from sklrank.metrics import ndcg_score

RELEVANCE = np.array([0.7, 0.2, 0.55, 0.35])


def position_model():
    return PositionModel(np.array([1.0, 0.6, 0.5, 0.1]), np.array([0.4, 0.2, 0.0, 0.1]))


def cascade_model():
    return CascadeModel(0.8, 0.3)


def position_outcomes(model, clicks):
    """Yield probability, examined and relevant positions of all ways to the clicks."""
    for examined, relevant in product(product([0, 1], repeat=4), repeat=2):
        p = 1.0
        for i in range(4):
            theta, r, mistake = model.propensities[i], RELEVANCE[i], model.mistakes[i]
            p *= theta if examined[i] else 1 - theta
            p *= r if relevant[i] else 1 - r
            click = examined[i] * (1.0 if relevant[i] else mistake)
            p *= click if clicks[i] else 1 - click
        yield p, np.array(examined), np.array(relevant) * clicks


def cascade_outcomes(model, clicks):
    for end in range(4):  # the last position examined
        examined = np.arange(4) <= end
        if clicks[~examined].any():
            continue
        p = 1.0
        for i in range(end + 1):
            p *= RELEVANCE[i] if clicks[i] else 1 - RELEVANCE[i]
            odds = (1 - RELEVANCE[i]) / RELEVANCE[i]
            on = min(1.0, model.odds_factor * odds) if clicks[i] else model.continuation
            if i < 3:
                p *= on if i < end else 1 - on
        yield p, examined, clicks


@pytest.mark.parametrize(
    ("make", "outcomes"), [(position_model, position_outcomes), (cascade_model, cascade_outcomes)]
)
def test_expectations_against_enumeration(make, outcomes):
    total = 0.0
    for clicks in product([0, 1], repeat=4):
        model, clicks = make(), np.array(clicks)
        probability, examined, relevant = 0.0, np.zeros(4), np.zeros(4)
        for p, e, r in outcomes(model, clicks):
            probability, examined, relevant = probability + p, examined + p * e, relevant + p * r
        total += probability
        sessions = Sessions(np.arange(4)[np.newaxis], clicks[np.newaxis] > 0, np.array([[3]]))
        found = model.expect(sessions, RELEVANCE[np.newaxis])
        if probability > 0:
            assert_allclose(found[0][0], examined / probability, atol=1e-5)
            assert_allclose(found[1][0], relevant / probability, atol=1e-5)
            assert_allclose(model.log_likelihood, 3 * np.log(probability), rtol=1e-5)
    assert_allclose(total, 1.0)


def draw_sessions(random, n_documents=8, n_sessions=12):
    documents = np.array([random.permutation(n_documents)[:4] for _ in range(n_sessions)])
    clicks = random.random_sample(documents.shape) < 0.4
    documents[0, 1], clicks[0, 1] = -1, False  # a document that is not known
    return Sessions(documents, clicks, random.randint(1, 5, size=(n_sessions, 1)))


def test_maximize_is_a_fixed_point_at_the_true_probabilities():
    """With the expected numbers of all click patterns, EM does not move."""
    patterns = np.array(list(product([0, 1], repeat=4)))
    documents = np.tile(np.arange(4), (16, 1))
    for make, outcomes in [(cascade_model, cascade_outcomes), (position_model, position_outcomes)]:
        model = make()
        counts = [[sum(p for p, *_ in outcomes(model, clicks))] for clicks in patterns]
        sessions = Sessions(documents, patterns > 0, np.array(counts))
        shown = RELEVANCE[documents]
        before = {name: np.copy(value) for name, value in vars(model).items()}
        model.maximize(sessions, shown, *model.expect(sessions, shown))
        for name, value in before.items():
            assert_allclose(getattr(model, name), value, atol=1e-4)


# The E-step leaves out that the relevance of a clicked document determines who leaves: nobody does.
@pytest.mark.parametrize("model", [position_model(), CascadeModel(0.8, 1e9)])
def test_gradient_by_finite_differences(model, monkeypatch):
    monkeypatch.setattr(click_models, "N_UPDATES", 0)
    random = np.random.RandomState(0)
    objective = ClickObjective(draw_sessions(random), model, 8)
    scores = random.normal(size=8)
    objective.set_scores(scores)
    gradient = objective.negative_gradient
    for i in range(8):
        step = 1e-5 * (np.arange(8) == i)
        slope = (objective.value_at(scores - step) - objective.value_at(scores + step)) / 2e-5
        assert_allclose(gradient[i], slope, rtol=1e-4, atol=1e-6)


def test_curvature_by_finite_differences(monkeypatch):
    monkeypatch.setattr(click_models, "N_UPDATES", 0)
    monkeypatch.setattr(click_models, "MIN_INFORMATION", 0.0)
    random = np.random.RandomState(0)
    objective = ClickObjective(draw_sessions(random), position_model(), 8)
    scores = random.normal(size=8)
    objective.set_scores(scores)
    curvature = objective.hessians
    for i in range(8):
        gradients = []
        for sign in (1, -1):
            objective.set_scores(scores + sign * 1e-5 * (np.arange(8) == i))
            gradients.append(objective.negative_gradient[i])
        assert_allclose(curvature[i], max((gradients[1] - gradients[0]) / 2e-5, 1e-6), rtol=1e-3)


# The scale of the propensities and the smallest mistake are fixed, not estimated: one update. In a
# cascade of documents of relevance 1/2, the probability to go on after a click is the factor.
@pytest.mark.parametrize(
    ("model", "relevance", "n_updates"),
    [
        (position_model(), expit(np.random.RandomState(2).normal(size=8)), 1),
        (cascade_model(), np.full(8, 0.5), 20),
    ],
)
def test_updates_increase_the_likelihood(model, relevance, n_updates):
    sessions = draw_sessions(np.random.RandomState(1))
    shown, values = relevance[sessions.documents], []
    for _ in range(n_updates + 1):
        expected = model.expect(sessions, shown)
        values.append(model.log_likelihood)
        model.maximize(sessions, shown, *expected)
    assert (np.diff(values) >= -1e-9).all()


def make_log(n_queries=60, size=8, n_sessions=30, seed=0, **options):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_queries * size, 4))
    quality = np.abs(X[:, 0]) + X[:, 1] + 0.2 * random.normal(size=len(X))
    y = np.digitize(quality, np.quantile(quality, [0.6, 0.8, 0.95]))
    qid = np.repeat(np.arange(n_queries), size)
    scores = X[:, 1] + 0.5 * random.normal(size=len(X))
    log = make_clicks(X, y, qid, scores, n_sessions=n_sessions, random_state=seed, **options)
    return log, X, y, qid


RANKER = HistGradientBoostingRanker(max_iter=40, max_leaf_nodes=8, init=None, random_state=0)
QUICK = HistGradientBoostingRanker(max_iter=3, max_leaf_nodes=8, init=None, random_state=0)


@pytest.fixture
def few_rounds(monkeypatch):
    """Fit models of the user in three rounds, for tests that do not look at the estimates."""
    monkeypatch.setattr(click_models.fit_click_model, "__defaults__", (3, 1))
    monkeypatch.setattr(click_models, "N_FOLD_ROUNDS", 2)


def test_propensities_of_positions():
    log, *_ = make_log(40, n_sessions=20)
    ranker = sklearn.clone(RANKER).fit(log.X, log.y, qid=log.qid, position=log.position)
    assert ranker.click_model_ == "position"
    assert ranker.position_propensities_.shape == (8,)
    assert_allclose(ranker.position_propensities_, 1 / np.arange(1, 9), atol=0.2)


@pytest.mark.parametrize(
    "shown_by", [pytest.param("nothing", marks=pytest.mark.slow), "a good ranker"]
)
def test_propensities_of_documents_that_are_shown_once(shown_by):
    """Lists at random, where counting clicks is unbiased, and lists in the order of relevance."""
    random = np.random.RandomState(0)
    X = random.normal(size=(6000, 3))
    y = (X[:, 0] + 0.5 * random.normal(size=6000) > 0).astype(int)
    scores = random.normal(size=6000) if shown_by == "nothing" else X[:, 0]
    scores = scores + 0.3 * random.normal(size=6000)
    qid = np.repeat(np.arange(600), 10)
    log = make_clicks(X, y, qid, scores, n_sessions=1, noise=0.0, random_state=0)
    ranker = sklearn.clone(RANKER).set_params(max_iter=1)
    found = ranker.fit(log.X, log.y, qid=log.qid, position=log.position).position_propensities_
    assert_allclose(found, 1 / np.arange(1, 11), atol=0.08)


def test_the_smooth_model_is_at_a_maximum():
    """Small steps do not increase the slow statement of the likelihood."""
    sessions = draw_sessions(np.random.RandomState(1))
    logits = np.random.RandomState(2).normal(size=8)[sessions.documents]
    model = SmoothModel.start(4)
    model.fit(sessions, logits, [(0.0, 0.9), (-8.0, 8.0), (0.05, 5.0)], 500)

    def loss(parameters):
        deviations, (power, mistake, offset, slope) = parameters[:4], parameters[4:]
        value = np.sum(deviations**2) / (2 * click_models.DEVIATION**2)
        value += (power - click_models.POWER) ** 2 / (2 * click_models.POWER_DEVIATION**2)
        for row, clicks, shown, (count,) in zip(
            logits, sessions.clicks, sessions.shown, sessions.counts
        ):
            for i in np.flatnonzero(shown):
                wrong = mistake * (1 / (i + 1) - 1 / 4) / (1 - 1 / 4)
                relevance = expit(offset + slope * row[i])
                p = (i + 1) ** -power * np.exp(deviations[i]) * (wrong + (1 - wrong) * relevance)
                value -= count * np.log(p if clicks[i] else 1 - p)
        return value

    best = loss(model.parameters)
    for i in range(8):
        for step in (-1e-3, 1e-3):
            moved = model.parameters + step * (np.arange(8) == i)
            inside = moved[0] <= 0 and 0 <= moved[5] <= 0.9 and 0 <= moved[4] <= 3
            assert not inside or loss(moved) > best - 1e-5


def test_cascade_is_recognized():
    log, *_ = make_log(40, n_sessions=20, model="cascade", continuation=0.8, noise=0.05)
    ranker = sklearn.clone(RANKER).fit(log.X, log.y, qid=log.qid, position=log.position)
    assert ranker.click_model_ == "cascade"
    assert (np.diff(ranker.position_propensities_) < 0).all()


@pytest.mark.parametrize(
    "model", ["trust", "cascade", pytest.param("position", marks=pytest.mark.slow)]
)
def test_positions_help(model):
    log, *_ = make_log(40, n_sessions=20, model=model, seed=1)
    _, X, y, qid = make_log(n_sessions=1, seed=2)
    naive = sklearn.clone(RANKER).fit(log.X, log.y, qid=log.qid)
    ranker = sklearn.clone(RANKER).fit(log.X, log.y, qid=log.qid, position=log.position)
    ours, theirs = (ndcg_score(y, one.predict(X), qid=qid, k=5) for one in (ranker, naive))
    assert ours - theirs > 0.005


@pytest.mark.usefixtures("few_rounds")
def test_order_and_names_of_the_rows_do_not_matter():
    log, X, *_ = make_log(30, 5, 4)
    first = sklearn.clone(QUICK).fit(log.X, log.y, qid=log.qid, position=log.position)
    names = np.array([f"s{i}" for i in range(log.qid.max() + 1)])[log.qid]
    second = sklearn.clone(QUICK).fit(
        log.X.tolist(), log.y.tolist(), qid=names, position=log.position.astype(float).tolist()
    )
    # Sessions named otherwise are in another order.
    assert_allclose(second.position_propensities_, first.position_propensities_)
    assert_array_equal(second.predict(X), first.predict(X))
    first.fit(log.X, log.y, qid=log.qid)
    assert not hasattr(first, "position_propensities_") and not hasattr(first, "click_model_")


@pytest.mark.usefixtures("few_rounds")
def test_positions_that_do_not_occur_have_no_propensity():
    log, *_ = make_log(30, 5, 4)
    position = np.where(log.position > 2, log.position + 1, log.position)
    ranker = sklearn.clone(QUICK).fit(log.X, log.y, qid=log.qid, position=position)
    assert_array_equal(np.isnan(ranker.position_propensities_), np.arange(6) == 2)


@pytest.mark.usefixtures("few_rounds")
def test_early_stopping_holds_out_lists():
    log, X, y, qid = make_log(30, 5, 4)
    options = {"qid": log.qid, "position": log.position}
    ranker = sklearn.clone(QUICK).set_params(early_stopping=True).fit(log.X, log.y, **options)
    assert len(ranker.validation_loss_curve_) > 1
    # The relevance of validation documents needs no positions.
    ranker.fit(log.X, log.y, **options, X_val=X, y_val=y, qid_val=qid)
    assert len(ranker.validation_loss_curve_) > 1


@pytest.mark.usefixtures("few_rounds")
def test_search_passes_positions():
    log, *_ = make_log(30, 5, 4)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            sklearn.clone(QUICK),
            {"max_leaf_nodes": [2]},
            cv=GroupKFold(2).set_split_request(groups="qid"),
        ).fit(log.X, log.y, qid=log.qid, position=log.position)
    assert len(search.best_estimator_.position_propensities_) == 5


@pytest.fixture
def two_sessions(few_rounds):
    """Return a ranker that has learned two sessions, and these."""
    arguments = {
        "X": np.arange(16.0).reshape(8, 2),
        "y": [0, 1, 0, 0, 0, 1, 0, 0],
        "qid": ["x"] * 4 + ["y"] * 4,
        "position": [1, 2, 3, 4, 1, 2, 3, 4],
    }
    return sklearn.clone(QUICK).fit(**arguments), arguments


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position": [1, 2, 1]}, r"position must be of shape \(8,\)"),
        ({"position": [0, 1, 2, 3, 1, 2, 3, 4]}, "position must hold integers from 1 to .* got 0"),
        ({"position": [1.5, 2, 3, 4, 1, 2, 3, 4]}, "position must hold integers .* got 1.5"),
        ({"position": [np.nan, 2, 3, 4, 1, 2, 3, 4]}, "position must hold integers .* got nan"),
        ({"position": [1, 2, 3, 9, 1, 2, 3, 4]}, "n_samples=8, got 9"),
        ({"position": ["a"] * 8}, "position must be positions of documents"),
        ({"position": [1, 2, 2, 4, 1, 2, 3, 4]}, "position 2 occurs 2 times in the session x"),
        ({"y": [0, 2, 0, 0, 0, 1, 0, 0]}, "y must be clicks, 0 or 1, if position is passed"),
        ({"y": [0] * 8}, "y has no click"),
        ({"sample_weight": np.ones(8)}, "sample_weight and query_weight must be None if position"),
        ({"query_weight": np.ones(8)}, "sample_weight and query_weight must be None if position"),
    ],
)
def test_invalid_input(changes, message, two_sessions):
    ranker, arguments = two_sessions
    before = ranker.predict(arguments["X"])
    with pytest.raises(ValueError, match=message):
        ranker.fit(**{**arguments, **changes})
    assert_array_equal(ranker.predict(arguments["X"]), before)


def test_distinct_rows():
    X = np.array([[0.0, 1.0], [2.0, np.nan], [-0.0, 1.0], [2.0, -np.nan], [1.0, 0.0]])
    samples, rows = distinct_rows(X)
    assert len(samples) == 3
    assert_array_equal(X[samples][rows], X)
    assert rows[0] == rows[2] and rows[1] == rows[3]


def test_positions_are_counted_from_zero_inside():
    queries = Queries.from_qid([5, 5, 6], 3)
    assert_array_equal(check_position([2, 1, 3], queries), [1, 0, 2])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["trust", "cascade"])
def test_most_of_the_gap_is_closed(model):
    """Four fifths of the gap between clicks as relevance and the relevance itself."""
    log, X, y, qid = make_log(200, 10, 100, model=model)
    _, X_new, y_new, qid_new = make_log(200, 10, 1, seed=10)
    fits = [
        sklearn.clone(RANKER).fit(log.X, log.y, qid=log.qid),
        sklearn.clone(RANKER).fit(log.X, log.y, qid=log.qid, position=log.position),
        sklearn.clone(RANKER).fit(X, y, qid=qid),
    ]
    naive, ours, full = (ndcg_score(y_new, one.predict(X_new), qid=qid_new, k=10) for one in fits)
    assert (ours - naive) / (full - naive) > 0.8


def test_a_position_among_the_features_is_said():
    log, *_ = make_log()
    X = np.column_stack([log.X, log.position])
    with pytest.warns(UserWarning, match="the feature 4 of X is the position"):
        sklearn.clone(RANKER).fit(X, log.y, qid=log.qid, position=log.position)
