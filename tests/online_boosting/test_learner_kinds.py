"""Weak learners of every kind, against what a slow statement of each kind says they learn."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from recording_learners import make_rows
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklrank.online_boosting._adapter import EstimatorLearner

from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM
from sklrank.online_boosting._learner_kinds import CostSensitiveOneVsAll, copies_of
from sklrank.pipeline import OnlinePipeline

SGD = SGDClassifier(loss="log_loss", random_state=0)


X, Y = make_rows()


class Costs(ClassifierMixin, BaseEstimator):
    """A learner of the protocol of costs. Its votes depend on the sums of the costs."""

    def partial_fit_costs(self, X, costs):
        if not hasattr(self, "calls_"):
            self.calls_, self.sums_ = [], np.zeros(costs.shape[1])
        self.calls_.append((X.copy(), costs.copy()))
        self.sums_ -= costs[0]
        return self

    def predict_proba(self, X):
        votes = np.exp(self.sums_ + np.cos(np.arange(len(self.sums_)) * X[0, 0]))
        return votes[np.newaxis] / votes.sum()


class Rows(Costs):
    """A learner of indicator matrices, which records its calls."""

    partial_fit_costs = property()

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.classes = classes
        return Costs.partial_fit_costs(
            self, X, -y * (1.0 if sample_weight is None else sample_weight[0])
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags


def full_information(model, X, Y):
    """Return the costs of learner 1 in each round, from Eq. 8 at scores of zero."""
    costs = []
    for y in Y:
        c = np.zeros(len(y))
        for a in np.flatnonzero(y):
            for b in np.flatnonzero(1 - y):
                c[a] -= 0.5 / y.sum() / (1 - y).sum()
                c[b] += 0.5 / y.sum() / (1 - y).sum()
        costs.append(c)
    return np.array(costs)


WITH_PAIRS = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)


def test_learners_of_costs_receive_the_cost_vector():
    """The first learner sees the scores 0: Eq. 8, multiplied by the sample weight."""
    weight = np.random.RandomState(1).uniform(1, 2, len(X))
    model = AdaOLMR([Costs()], n_estimators=2, random_state=0, shuffle=False)
    model.fit(X, Y, sample_weight=weight)
    expected = (weight[:, None] * full_information(model, X, Y))[WITH_PAIRS]
    calls = model.estimators_[0].calls_
    assert_allclose(np.vstack([costs for _, costs in calls]), expected, atol=1e-14)
    assert_array_equal(np.vstack([row for row, _ in calls]), X[WITH_PAIRS])
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("make", [TopKBBM, TopKAdaptive, OnlineBMR])
def test_costs_of_other_rules(make):
    """They agree with the importance weights max(c) - c[l] that learners of labels receive."""

    class Labels(Costs):
        partial_fit_costs = property()

        def partial_fit(self, X, y, classes=None, sample_weight=None):
            if not hasattr(self, "calls_"):
                self.calls_ = []
            self.calls_.append((X[0], y, sample_weight))
            return self

        def predict_proba(self, X):
            return np.full((1, 4), 0.25)

    class Uniform(Costs):
        predict_proba = Labels.predict_proba

    models = [make([each], n_estimators=1, random_state=0) for each in (Labels(), Uniform())]
    labels, costs = (model.fit(X, Y).estimators_[0].calls_ for model in models)
    costs = [(x[0], c[0]) for x, c in costs]
    assert len(costs) >= len(labels) > 10
    for x, relevant, weights in labels:
        ((_, c),) = [call for call in costs if call[0][0] == x[0]]
        assert_allclose(weights, c.max() - c[relevant], atol=1e-12)


def test_learners_of_rows_receive_the_indicator_row():
    """Once per sample, with the weight of Eq. 9."""
    model = AdaOLMR([Rows()], n_estimators=1, random_state=0, shuffle=False).fit(X, Y)
    learner = model.estimators_[0]
    c = full_information(model, X, Y)[WITH_PAIRS]
    weights = -np.where(Y[WITH_PAIRS] == 1, c, 0).sum(axis=1)
    found = -np.vstack([row for _, row in learner.calls_])
    assert_allclose(found, weights[:, None] * Y[WITH_PAIRS], atol=1e-14)
    assert [list(values) for values in learner.classes] == [[0, 1]] * 4


def test_unknown_labels_of_rows_are_the_learners_own():
    """With top-k feedback: the labels with more than a uniform share of its votes."""
    model = TopKAdaptive([Rows()], k=2, exploration=1.0, cost_estimate="pairs", random_state=0)
    checked = 0
    for i in range(len(X)):
        x = X[i : i + 1]
        shown = model.explore(x, classes=range(4))
        actions = shown.actions[0]
        learner = model.estimators_[0]
        fitted = hasattr(learner, "calls_")
        own = learner.predict_proba(x)[0] > 0.25 if fitted else np.zeros(4, dtype=bool)
        n_calls = len(learner.calls_) if fitted else 0
        model.partial_fit_feedback(x, shown, Y[i : i + 1, actions])
        calls = getattr(model.estimators_[0], "calls_", [])
        # Without a pair of a relevant and an irrelevant label, the costs are zero.
        if Y[i, actions].sum() != 1:
            assert len(calls) == n_calls
            continue
        expected = own.astype(int)
        expected[actions] = Y[i, actions]
        assert_array_equal(calls[-1][1][0] < 0, expected)
        checked += fitted
    assert checked > 10


# -- Votes.


def fitted_votes(estimator, row, m=4):
    return EstimatorLearner(estimator, 2, m, is_fitted=True).predict_votes(row)


def test_votes_of_per_label_arrays():
    """MultiOutputClassifier: in proportion to the probabilities that labels are relevant."""
    model = AdaOLMR([MultiOutputClassifier(SGD)], n_estimators=2, random_state=0)
    model.fit(X[:30], Y[:30])
    learner = model.estimators_[1]
    for x in X[:10]:
        alone = np.array([each.predict_proba(x[None])[0, 1] for each in learner.estimators_])
        expected = alone / alone.sum()
        assert_allclose(fitted_votes(learner, x[None]), expected, atol=1e-14)
    assert rank_loss(Y, model.decision_function(X)) < 0.5


class Online:
    """Adds a `partial_fit` that does nothing: the votes of a fitted estimator are tested."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return self


class OnlineForest(Online, RandomForestClassifier):
    pass


class OnlineChain(Online, ClassifierChain):
    pass


def test_votes_of_forests_on_indicators():
    """Also if a label was always relevant, or never."""
    constant = Y.copy()
    constant[:, 1], constant[:, 2] = 1, 0
    for target in (Y, constant):
        forest = OnlineForest(5, random_state=0).fit(X, target)
        for x in X[:10]:
            expected = np.zeros(4)
            for tree in forest.estimators_:
                for l, part in enumerate(tree.predict_proba(x[None])):
                    values = forest.classes_[l]
                    expected[l] += sum(p for p, value in zip(part[0], values) if value == 1)
            expected = expected / expected.sum() if expected.any() else np.full(4, 0.25)
            assert_allclose(fitted_votes(forest, x[None]), expected, atol=1e-12)


def test_votes_of_chains():
    """ClassifierChain returns the probabilities of all labels in one row."""
    chain = OnlineChain(LogisticRegression(), random_state=0).fit(X, Y)
    for x in X[:10]:
        expected = chain.predict_proba(x[None])[0]
        assert_allclose(fitted_votes(chain, x[None]), expected / expected.sum(), atol=1e-14)


@pytest.mark.parametrize(
    "votes", [[np.ones((1, 2))] * 3, [np.ones((1, 3))] * 4, [np.ones((1, 1))] * 4]
)
def test_bad_lists_of_arrays_are_refused(votes):
    weak = Rows()
    weak.predict_proba = lambda X: votes
    with pytest.raises(ValueError, match=r"predict_proba of Rows"):
        fitted_votes(weak, X[:1])


class Ranker(BaseEstimator):
    """A ranker of labels, which is no classifier. It ranks by its counts of relevant labels."""

    def partial_fit(self, X, y, sample_weight=None):
        self.counts_ = getattr(self, "counts_", 0) + sample_weight @ y
        return self

    def predict_ranks(self, X):
        return np.tile(np.argsort(np.argsort(-self.counts_, kind="stable")) + 1, (len(X), 1))


def test_rankers_vote_by_borda_counts():
    model = OnlineBMR([Ranker()], n_estimators=3, random_state=0).fit(X, Y)
    m = 4
    for learner in model.estimators_:
        counts = learner.counts_
        # A label beats the labels with smaller counts, and those of equal counts behind it.
        beaten = [
            sum(counts[l] > counts[j] or (counts[l] == counts[j] and l < j) for j in range(m))
            for l in range(m)
        ]
        assert_allclose(fitted_votes(learner, X[:1]), np.array(beaten) / (m * (m - 1) / 2))


@pytest.mark.parametrize(
    "learner", [PredtronLabelRanker(), PredtronClassifier(loss="hamming")], ids=repr
)
def test_predtron_is_a_weak_learner(learner):
    """A ranker, and a classifier without weights."""
    scores = AdaOLMR([learner], n_estimators=2, random_state=0).progressive_fit(X, Y)
    assert np.isfinite(scores).all()


# -- Binary learners.


class Binary(GaussianNB):
    """A classifier of two classes, which records its calls."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        assert set(y) <= {0, 1} == set(classes)
        self.calls_ = [*getattr(self, "calls_", []), (X[0], y, sample_weight)]
        return super().partial_fit(X, y, classes, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def test_binary_learners_one_a_label():
    """Each label is learned with the weight |c[l]|; both sides have the same total (Eq. 9)."""
    model = AdaOLMR([Binary()], n_estimators=1, random_state=0, shuffle=False).fit(X, Y)
    c = full_information(model, X, Y)[WITH_PAIRS]
    learner = model.estimators_[0]
    assert len(learner.estimators_) == 4
    for label, each in enumerate(learner.estimators_):
        assert_array_equal([y for _, (y,), _ in each.calls_], Y[WITH_PAIRS][:, label])
        found = np.array([weight for _, _, (weight,) in each.calls_])
        assert_allclose(found, np.abs(c[:, label]), atol=1e-14)
    assert_allclose(np.maximum(c, 0).sum(axis=1), np.maximum(-c, 0).sum(axis=1))
    for x in X[:5]:
        alone = [each.predict_proba(x[None])[0, 1] for each in learner.estimators_]
        assert_allclose(fitted_votes(learner, x[None]), np.array(alone) / np.sum(alone))


def test_binary_learners_follow_costs_that_do_not_sum_to_zero():
    """A label is positive if a vote for it costs less than a uniform vote."""
    learner = CostSensitiveOneVsAll(Binary())
    costs = np.array([[3.0, 1.0, 2.0, 2.0]])
    learner.partial_fit_costs(X[:1], costs)
    calls = [getattr(each, "calls_", None) for each in learner.estimators_]
    assert calls[2] is calls[3] is None
    assert [(y[0], weight[0]) for ((_, y, weight),) in calls[:2]] == [(0, 1.0), (1, 1.0)]
    # The other two classifiers have learned nothing.
    with np.errstate(all="ignore"):
        assert_array_equal(learner.predict_proba(X[:1])[0, 2:], [0.5, 0.5])


def test_binary_learners_of_two_labels_learn_single_labels():
    """With two labels, a classifier of two classes needs no decomposition."""
    model = AdaOLMR([Binary()], n_estimators=1, random_state=0).fit(X, Y[:, 0])
    assert type(model.estimators_[0]) is Binary


# -- Learners without weights.


@given(
    st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=1, max_size=30),
)
def test_copies_replace_weights(rows):
    """Copies are the whole part of the sum of the relative weights, in exact numbers."""
    remainders, total = np.zeros(3), np.zeros(2)
    exact, given, weight_sum, count = [Fraction(0)] * 3, np.zeros(3, dtype=int), 0, 0
    for row in rows:
        given += copies_of(np.array(row, dtype=float), remainders, total)
        weight_sum, count = weight_sum + sum(row), count + sum(w > 0 for w in row)
        for l, weight in enumerate(row):
            exact[l] += Fraction(weight * count, weight_sum) if weight else 0
            # Rounding may shift a copy by one sample if the sum is an integer.
            assert -1e-9 <= exact[l] - given[l] <= 1 + 1e-9
        assert remainders.min() >= 0 and remainders.max() < 1


class Unweighted(Binary):
    """A classifier of several classes without `sample_weight`, such as those of river."""

    def partial_fit(self, X, y, classes=None):
        self.calls_ = [*getattr(self, "calls_", []), (X.copy(), y.copy())]
        return GaussianNB.partial_fit(self, X, y, classes)

    def __sklearn_tags__(self):
        return GaussianNB.__sklearn_tags__(self)


def test_learners_without_weights_learn_copies():
    model = AdaOLMR([Unweighted()], n_estimators=1, random_state=0, shuffle=False).fit(X, Y)
    c = full_information(model, X, Y)[WITH_PAIRS]
    remainders, weight_sum, count, expected = np.zeros(4), 0.0, 0, []
    for x, y, costs in zip(X[WITH_PAIRS], Y[WITH_PAIRS], c):
        weights = {l: costs.max() - costs[l] for l in np.flatnonzero(y)}
        weight_sum, count = weight_sum + sum(weights.values()), count + len(weights)
        for l, weight in weights.items():
            remainders[l] += weight / (weight_sum / count)
            while remainders[l] >= 1:
                remainders[l] -= 1
                expected.append((*x, l))
    calls = model.estimators_[0].calls_
    found = [(*x, l) for rows, labels in calls for x, l in zip(rows, labels)]
    assert len(found) > 20
    assert_allclose(found, expected, atol=1e-14)


class UnweightedBinary(Unweighted):
    def __sklearn_tags__(self):
        return Binary.__sklearn_tags__(self)


ALL_KINDS = {
    "costs": Costs(),
    "rows": Rows(),
    "multi-output": MultiOutputClassifier(SGD),
    "multi-output, no weights": MultiOutputClassifier(Unweighted()),
    "binary": Binary(),
    "binary, no weights": UnweightedBinary(),
    "no weights": Unweighted(),
    "ranker": Ranker(),
    "Predtron": PredtronLabelRanker(shuffle=False),
}


@pytest.mark.parametrize(
    "make",
    [
        AdaOLMR,
        TopKBBM,
        *(pytest.param(one, marks=pytest.mark.slow) for one in (OnlineBMR, TopKAdaptive)),
    ],
)
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_all_kinds_in_chunks(make, kind, fingerprint):
    """Chunks, pickles in between and threads do not change the model."""
    model = make([ALL_KINDS[kind], Costs()], random_state=0)
    at_once = clone(model).partial_fit(X[:8], Y[:8])
    pieces = clone(model).set_params(n_jobs=2)
    for rows in (slice(0, 1), slice(1, 5), slice(5, 8)):
        pieces = pickle.loads(pickle.dumps(pieces.partial_fit(X[rows], Y[rows])))
    scores = at_once.decision_function(X[:5])
    assert_array_equal(pieces.decision_function(X[:5]), scores)
    assert fingerprint(pieces.estimator_weights_) == fingerprint(at_once.estimator_weights_)
    assert np.isfinite(scores).all()


def test_learners_of_costs_need_no_partial_fit():
    """A single estimator, not in a list."""
    model = AdaOLMR(Costs(), n_estimators=2, random_state=0).fit(X, Y)
    assert not hasattr(model.estimators_[0], "partial_fit")


@pytest.mark.parametrize(
    "estimator", [StandardScaler(), ClassifierChain(SGD), RandomForestClassifier()], ids=repr
)
def test_estimators_that_cannot_learn_online_are_refused(estimator):
    with pytest.raises(TypeError, match=r"partial_fit.*which .* lacks"):
        AdaOLMR([estimator]).fit(X, Y)


def test_river():
    """Through its interface to scikit-learn: a classifier of several classes, and of two."""
    compat = pytest.importorskip("river.compat")
    from river import linear_model, naive_bayes, tree

    X, Y = make_rows(120)
    Y[:, 0] = X[:, 0] > 0
    learners = [
        compat.convert_river_to_sklearn(each)
        for each in (
            tree.HoeffdingTreeClassifier(grace_period=10),
            naive_bayes.GaussianNB(),
            linear_model.LogisticRegression(),
        )
    ]
    model = AdaOLMR(learners, random_state=0)
    scores = model.progressive_fit(X, Y)
    assert rank_loss(Y[60:], scores[60:]) < 0.4
    assert len(model.estimators_[2].estimators_) == 4


@pytest.mark.parametrize(
    "last", [SGD, GaussianNB(), PredtronClassifier(), MultiOutputClassifier(SGD)]
)
def test_a_pipeline_is_a_weak_learner_as_its_last_step(last):
    boosters = [
        AdaOLMR(each, n_estimators=2, random_state=0).fit(X[:20], Y[:20])
        for each in (last, OnlinePipeline([("none", "passthrough"), ("last", last)]))
    ]
    scores, expected = [booster.decision_function(X) for booster in boosters]
    assert_array_equal(scores, expected)
    assert np.ptp(scores) > 0
