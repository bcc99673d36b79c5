"""OffPolicyClassifier: the reduction to weighted samples, and what it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklrank.feedback import Exploration
from sklrank.off_policy import OffPolicyClassifier, policy_value

METHODS = ["ips", "snips", "dm", "dr"]


class Recorder(ClassifierMixin, BaseEstimator):
    """Classifier that records its samples and predicts the label of the largest weight."""

    fits = []

    def fit(self, X, y, sample_weight=None):
        self.fits.append((np.asarray(X), y, sample_weight))
        self.classes_ = np.unique(y)
        self.label_ = np.bincount(y, sample_weight).argmax()
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


def make_log(n, seed=0, shift=0.0):
    random = np.random.RandomState(seed)
    X, chances = random.normal(size=(n, 3)), np.array([0.5, 0.2, 0.3])
    actions = random.choice(3, p=chances, size=n)
    wanted = np.where(X[:, 0] > 0, 2, np.where(X[:, 1] > 0, 1, 0))
    rewards = shift + (actions == wanted) + 0.3 * random.normal(size=n)
    return X, rewards, Exploration(actions, chances[actions]), wanted


@pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
@pytest.mark.parametrize("method", ["ips", "dm", "dr"])
def test_weighted_samples_are_the_estimated_rewards(method):
    """The weighted number of correct predictions is the estimated value, up to a constant."""
    X, rewards, log, _ = make_log(60, shift=-0.2)
    cv, model = KFold(3), Ridge()
    Recorder.fits.clear()
    OffPolicyClassifier(Recorder(), method=method, reward_model=model, cv=cv).fit(
        X, rewards, exploration=log
    )
    (samples, labels, weights) = Recorder.fits[-1]
    assert np.all(weights > 0) and weights.mean() == pytest.approx(1)
    rows = np.array([np.flatnonzero((X == x).all(axis=1))[0] for x in samples])
    random, values, scores = np.random.RandomState(0), [], []
    for _ in range(5):
        policy = random.randint(3, size=60)
        options = {"method": method, "reward_model": model, "cv": cv, "X": X}
        values.append(policy_value(rewards, log, policy, **options).value)
        scores.append(weights[policy[rows] == labels].sum())
    ratios = np.diff(values) / np.diff(scores)
    assert_allclose(ratios, ratios[0], rtol=1e-9)
    assert ratios[0] > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [0.0, -3.0, 5.0])
def test_policies_are_learned_from_rewards_of_any_origin(method, shift):
    X, rewards, log, wanted = make_log(3000, shift=shift)
    rewards_of_labels = DecisionTreeRegressor(max_depth=8, random_state=0)
    model = OffPolicyClassifier(
        DecisionTreeClassifier(max_depth=3), method=method, reward_model=rewards_of_labels
    )
    model.fit(X, rewards, exploration=log)
    right = np.mean(model.predict(X) == wanted)
    # Without a baseline, rewards far from 0 have a variance from which trees of this size learn
    # less, as they should.
    assert right > (0.6 if method == "ips" and shift else 0.9)
    assert_allclose(model.score(X, rewards, exploration=log), shift + right, atol=0.15)


def test_self_normalized_policies_do_not_depend_on_the_origin():
    X, rewards, log, _ = make_log(1000)
    rewards = np.round(rewards, 2)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = OffPolicyClassifier(tree, method="snips")
    fits = [clone(model).fit(X, rewards + shift, exploration=log) for shift in (0, 64)]
    assert_array_equal(*(model.predict(X) for model in fits))


def test_boosting_learns_from_flags():
    """Batch learning with a label and a flag for each sample: any classifier can be boosted."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 4], y[y < 4]
    shown = np.random.RandomState(0).randint(4, size=len(y))
    log, flags = Exploration(shown, np.full(len(y), 1 / 4)), shown == y
    model = OffPolicyClassifier(GradientBoostingClassifier(n_estimators=20, random_state=0))
    model.fit(X[:500], flags[:500], exploration=log[:500])
    assert np.mean(model.predict(X[500:]) == y[500:]) > 0.7


def test_labels_have_names_and_rewards_may_be_missing():
    X, _, log, wanted = make_log(800)
    names, clicks = np.array(["z", "a", "m", "never shown"]), (wanted == log.actions).astype(float)
    clicks[:10] = np.nan
    model = OffPolicyClassifier(LogisticRegression())
    model.fit(sparse.coo_array(X), clicks, exploration=log, classes=names)
    assert_array_equal(model.classes_, names)
    assert np.mean(model.predict(X) == names[wanted]) > 0.8
    assert model.propensities(X).shape == (800, 4)
    assert_array_equal(names[model.propensities(X).argmax(axis=1)], model.predict(X))
    assert_array_equal(model.propensities(X).sum(axis=1), 1)
    again = OffPolicyClassifier(LogisticRegression()).fit(X[10:], clicks[10:], exploration=log[10:])
    assert_array_equal(again.predict(X), model.estimator_.predict(X))


def test_errors_leave_the_model_unchanged(fingerprint):
    X, rewards, log, _ = make_log(50)
    model = OffPolicyClassifier(DecisionTreeClassifier()).fit(X, rewards, exploration=log)
    before = fingerprint(model.predict(X))
    bad = [
        ("rewards must differ", np.zeros(50), log, {}),
        ("actions", rewards, log[:20], {}),
        ("actions", rewards, log, {"classes": ["a", "b"]}),
        ("rewards", np.full(50, np.inf), log, {}),
        ("exploration", rewards, 7, {}),
    ]
    for message, target, exploration, options in bad:
        with pytest.raises(ValueError, match=message):
            model.fit(X, target, exploration=exploration, **options)
    assert fingerprint(model.predict(X)) == before
    with pytest.raises(ValueError, match="sample_weight cannot be used"):
        OffPolicyClassifier(KNeighborsClassifier()).fit(X, rewards, exploration=log)
    with pytest.raises(ValueError, match="method"):
        OffPolicyClassifier(DecisionTreeClassifier(), method="sndr").fit(X, rewards, log)


@pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
def test_scores_of_a_log_need_the_log():
    X = np.arange(8.0).reshape(-1, 1)
    log = Exploration(np.tile([0, 1], 4), np.full(8, 0.5))
    rewards = np.tile([1, 0], 4)
    model = OffPolicyClassifier(DecisionTreeClassifier()).fit(X, rewards, exploration=log)
    with pytest.raises(ValueError, match="exploration is None.*enable_metadata_routing"):
        model.score(X, rewards)
    assert model.score(X, rewards, exploration=log) == 1.0
    # Without a log, weights are those of samples.
    model.fit(X, rewards)
    assert model.score(X, 1 - rewards, sample_weight=np.ones(8)) == 0.0


@pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
def test_without_metadata_routing_a_search_reaches_fit_but_not_score():
    """The scores are NaN, with an error that names the remedy."""
    X, rewards, log, _ = make_log(300)
    model, arguments = OffPolicyClassifier(DecisionTreeClassifier()), {"exploration": log}
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        cross_val_score(model, X, rewards, params=arguments, cv=2, error_score="raise")
    with pytest.warns(UserWarning, match="Scoring failed"):
        assert np.isnan(cross_val_score(model, X, rewards, params=arguments, cv=2)).all()
    with config_context(enable_metadata_routing=True):
        assert np.isfinite(cross_val_score(model, X, rewards, params=arguments, cv=2)).all()


@pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
@pytest.mark.parametrize("method", ["ips", "dr"])
def test_weights_reach_the_last_step_of_pipelines_and_searches(method):
    X, rewards, log, _ = make_log(300)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    expected = OffPolicyClassifier(tree, method=method).fit(X, rewards, exploration=log)
    pipeline = make_pipeline(FunctionTransformer(), tree)
    grid = {"decisiontreeclassifier__max_depth": [2]}
    for estimator in pipeline, GridSearchCV(tree, {"max_depth": [2]}), GridSearchCV(pipeline, grid):
        model = OffPolicyClassifier(estimator, method=method).fit(X, rewards, exploration=log)
        assert_array_equal(model.predict(X), expected.predict(X))
    unweighted = clone(tree).fit(X, log.actions)
    assert np.mean(unweighted.predict(X) != expected.predict(X)) > 0.1


@pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
def test_a_pipeline_goes_around_the_classifier():
    X, rewards, log, _ = make_log(300)
    scaler, tree = StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0)
    pipeline = make_pipeline(scaler, OffPolicyClassifier(tree))
    expected = clone(pipeline[-1]).fit(scaler.fit_transform(X), rewards, exploration=log)
    pipeline.fit(X, rewards, offpolicyclassifier__exploration=log)
    labels = expected.predict(scaler.transform(X))
    assert_array_equal(pipeline.predict(X), labels)
    with config_context(enable_metadata_routing=True):
        pipeline = clone(pipeline).fit(X, rewards, exploration=log)
        assert_array_equal(pipeline.predict(X), labels)
        value = policy_value(rewards, log, labels, method="snips").value
        assert pipeline.score(X, rewards, exploration=log) == value


def test_refuses_regressors():
    with pytest.raises(ValueError, match="estimator must be a classifier, got Ridge"):
        OffPolicyClassifier(Ridge()).fit([[0.0], [1.0]], [0, 1])


def test_names_of_the_record_are_those_of_its_labels():
    X, rewards, log, _ = make_log(300)
    named = Exploration(log.actions, log.propensities, ["c", "a", "b"])
    model = OffPolicyClassifier(LogisticRegression(), method="ips")
    found = clone(model).fit(X, rewards, exploration=named)
    assert_array_equal(found.classes_, ["c", "a", "b"])
    plain = clone(model).fit(X, rewards, exploration=log)
    assert_array_equal(found.predict(X), np.array(["c", "a", "b"])[plain.predict(X)])
    other = clone(model).fit(X, rewards, exploration=named, classes=["a", "b", "c"])
    assert_array_equal(other.predict(X), found.predict(X))
    with pytest.raises(ValueError, match="labels that the model does not have"):
        clone(model).fit(X, rewards, exploration=named, classes=["a", "b"])
