"""Standard errors, quasi-variances and tests of the Plackett-Luce model.

Numbers "printed by R" are those of the documentation of the R package PlackettLuce.
"""

import pickle
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import norm

from sklrank.label_ranking import (
    PlackettLuceRanker,
    likelihood_ratio_test,
    positions_from_orderings,
    quasi_variances,
)
from sklrank.label_ranking._plackett_luce.inference import _compared_labels
from sklrank.label_ranking._plackett_luce.likelihood import PenalizedLikelihood

WORTHS = np.array([0.8, 0.2, -0.3, -0.7])
EXACT = {"alpha": 0.0, "tol": 1e-8}


def draw_rankings(seed, scores, n_samples):
    noise = np.random.RandomState(seed).gumbel(size=(n_samples, scores.shape[-1]))
    return np.argsort(np.argsort(-scores - noise, axis=1), axis=1) + 1.0


def constant(n_samples):
    """Respondents without features."""
    return np.ones((n_samples, 1))


@pytest.fixture(scope="module")
def survey():
    """200 respondents with two features; some rank only their two best options, or tie them."""
    random = np.random.RandomState(1)
    X = random.normal(size=(200, 2))
    Y = draw_rankings(2, X @ random.normal(size=(2, 4)) / 2 + WORTHS, 200)
    Y[::4] = np.where(Y[::4] > 2, np.nan, Y[::4])
    Y[1::4] = np.ceil(Y[1::4] / 2)
    weight = np.repeat([1.0, 2.0], 100)
    return X, Y, weight


def test_table_printed_by_r():
    """Five comparisons of three labels."""
    pairs = positions_from_orderings([[0, 1], [2, 0], [1, 0], [1, 2]])
    ranker = PlackettLuceRanker(**EXACT).fit(constant(4), pairs)
    found = ranker.summary(reference=0)
    assert_allclose(found["estimate"], [0.0, 0.8392, 0.4196], atol=5e-5)
    assert_allclose(found["std_error"], [0.0, 1.3596, 1.5973], atol=5e-5)
    assert_allclose(found["z"][1:], [0.617, 0.263], atol=5e-4)
    assert_allclose(found["p_value"][1:], [0.537, 0.793], atol=5e-4)
    assert -2 * ranker.log_likelihood_ == pytest.approx(5.1356, abs=5e-5)
    assert ranker.aic() == pytest.approx(9.1356, abs=5e-5)
    assert ranker.bic() == pytest.approx(5.1356 + 2 * np.log(4), abs=5e-5)


@pytest.mark.parametrize("ties", ["exclude", "breslow", "davidson"])
@pytest.mark.parametrize("n_item_features", [0, 2])
def test_information_is_the_derivative_of_the_gradient(ties, n_item_features):
    """Of long and short rankings, with ties, in tables with and without a column for each label."""
    random = np.random.RandomState(0)
    positions = np.ceil(random.uniform(size=(60, 9)).argsort(axis=1).argsort(axis=1) / 1.5)
    positions[:40][positions[:40] > 2] = np.nan
    design = None
    if n_item_features:
        design, _ = np.linalg.qr(random.normal(size=(9, n_item_features)))
    weight = random.uniform(size=60)
    problem = PenalizedLikelihood(random.normal(size=(60, 2)), positions, weight, ties, design)
    assert {table.labels is None for table, _ in problem.tables} == {False, True}
    at = random.normal(size=problem.n_parameters)
    above, below = (
        [problem.loss_and_gradient(at + sign * step, 0.0)[1] for step in 1e-5 * np.eye(len(at))]
        for sign in (1, -1)
    )
    assert_allclose(problem.information(at), np.subtract(above, below) / 2e-5, atol=1e-6)


@pytest.mark.parametrize(("ties", "alpha"), [("exclude", 0.0), ("breslow", 3.0), ("davidson", 3.0)])
@pytest.mark.filterwarnings("ignore:the ridge penalty")
def test_covariances_are_those_of_second_derivatives(survey, ties, alpha):
    """The parameters of the slow statement are differences to the first label."""
    X, Y, weight = survey
    ranker = PlackettLuceRanker(alpha=alpha, ties=ties, tol=1e-8).fit(X, Y, weight)
    standard = ranker.features_.transform(X)
    orders = list(ranker.tie_prevalences_)
    # In units of the standardized features.
    coef = ranker.coef_ * ranker.features_.scale_
    intercept = ranker.intercept_ + ranker.coef_ @ ranker.features_.mean_

    clone = pickle.loads(pickle.dumps(ranker))

    def likelihoods(flat):
        scores = np.hstack([np.zeros((200, 1)), standard @ flat[3:9].reshape(2, 3) + flat[:3]])
        clone.tie_prevalences_ = dict(zip(orders, np.exp(flat[9:])))
        clone._linear_terms = lambda X: (scores, np.eye(4))
        return clone.score_samples(X, Y)

    def penalty(flat):
        coef = np.hstack([np.zeros((2, 1)), flat[3:9].reshape(2, 3)])
        return alpha / 2 * np.sum((coef - coef.mean(axis=1, keepdims=True)) ** 2)

    at = np.concatenate(
        [
            intercept[1:] - intercept[0],
            (coef[1:] - coef[0]).T.ravel(),
            np.log(list(ranker.tie_prevalences_.values())),
        ]
    )

    def derivatives(function):
        slope = lambda x: approx_fprime(x, function, 1e-5)  # noqa: E731
        return np.array([(slope(at + h) - slope(at - h)) / 2e-3 for h in 1e-3 * np.eye(len(at))])

    information = derivatives(lambda flat: -weight @ likelihoods(flat))
    bread = np.linalg.inv(information + derivatives(penalty))
    gradients = np.array(
        [(likelihoods(at + h) - likelihoods(at - h)) / 2e-5 for h in 1e-5 * np.eye(len(at))]
    )
    groups = np.arange(200) // 2
    by_group = np.array([(gradients * weight)[:, groups == g].sum(axis=1) for g in range(100)])
    expected = {
        "observed": bread @ information @ bread,
        "sandwich": bread @ by_group.T @ by_group @ bread,
    }
    for name, covariance in expected.items():
        options = {"covariance": name, "groups": groups, "reference": 0}
        rows = 3 + len(orders)
        errors = np.sqrt(np.diag(covariance))
        found = ranker.summary(**options)
        assert_allclose(found["estimate"][1:], np.append(at[:3], at[9:]), atol=1e-6)
        assert_allclose(found["std_error"][1:], np.append(errors[:3], errors[9:]), rtol=2e-3)
        assert len(found) == rows + 1
        found = ranker.summary(feature=1, **options)
        scale = ranker.features_.scale_[1]
        assert_allclose(found["estimate"][1:], at[6:9] / scale, atol=1e-6)
        assert_allclose(found["std_error"][1:], errors[6:9] / scale, rtol=2e-3)


@pytest.mark.parametrize("ties", ["exclude", "breslow", "davidson"])
def test_inference_from_sparse_rankings(survey, ties):
    X, Y, weight = survey
    at = np.nonzero(~np.isnan(Y))
    games = sparse.csr_array((Y[at], at), shape=Y.shape)
    dense, found = (PlackettLuceRanker(ties=ties, **EXACT).fit(X, y, weight) for y in (Y, games))
    for options in (
        {},
        {"covariance": "sandwich", "groups": np.arange(200) // 2},
        {"covariance": "bootstrap", "n_bootstrap": 3, "random_state": 0},
    ):
        tables = (ranker.summary(**options) for ranker in (found, dense))
        assert_allclose(*tables, atol=1e-8)
    assert found.goodness_of_fit() == pytest.approx(dense.goodness_of_fit(), abs=1e-6)
    assert (found.aic(), found.bic()) == pytest.approx((dense.aic(), dense.bic()))
    small = PlackettLuceRanker(ties=ties, **EXACT).fit(constant(200), games, weight)
    assert likelihood_ratio_test(small, found) == pytest.approx(likelihood_ratio_test(small, dense))


@pytest.mark.parametrize("ties", ["exclude", "breslow"])
def test_parts_of_labels_that_are_compared(ties):
    """Labels are in the same part if each is ranked before the other, in any number of steps."""
    for seed in range(30):
        random = np.random.RandomState(seed)
        Y = random.randint(1, 4, size=(3, 6)).astype(float)
        Y[random.uniform(size=Y.shape) < 0.5] = np.nan
        before = np.less if ties == "exclude" else np.less_equal
        reached = before(Y[:, :, np.newaxis], Y[:, np.newaxis]).any(axis=0) | np.eye(6, dtype=bool)
        for _ in range(3):
            reached = reached @ reached
        together = reached & reached.T
        problem = PenalizedLikelihood(constant(3), Y, np.ones(3), ties)
        n_parts, parts = _compared_labels(problem)
        assert_array_equal(parts[:, np.newaxis] == parts, together)
        assert n_parts == len(np.unique(together, axis=0))


def test_bootstrap_is_near_the_sandwich(survey):
    X, Y, weight = survey
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y, weight)
    groups = np.arange(200) // 2
    sandwich = ranker.summary(covariance="sandwich", groups=groups)["std_error"]
    options = {"covariance": "bootstrap", "groups": groups, "n_bootstrap": 100}
    found = ranker.summary(random_state=0, **options)["std_error"]
    assert_allclose(found, sandwich, rtol=0.2)
    # With one group, all draws are the same.
    single = ranker.worth_covariance("bootstrap", groups=np.zeros(200), n_bootstrap=3)
    assert_allclose(single, 0.0, atol=1e-9)


def test_draws_of_the_bootstrap_without_an_estimate_are_warned_about():
    """Five in twelve respondents rank label 0 before label 1, and two rank label 2 before 0."""
    positions = [[1, 2, 3]] * 5 + [[2, 1, 3]] * 5 + [[2, 3, 1]] * 2
    ranker = PlackettLuceRanker(alpha=0.0).fit(np.ones((12, 1)), positions)
    random, n_infinite = np.random.RandomState(0), 0
    for _ in range(50):
        drawn = np.bincount(random.randint(12, size=12), minlength=12)
        n_infinite += not (drawn[:5].any() and drawn[10:].any())
    with pytest.warns(UserWarning, match=f"{n_infinite} of n_bootstrap=50 draws") as caught:
        ranker.summary(covariance="bootstrap", n_bootstrap=50, random_state=0)
    assert n_infinite > 0
    assert caught[0].filename == __file__


def test_quasi_variances_minimize_the_errors_of_the_logarithms():
    """At the minimum, the derivative by each quasi-variance is 0."""
    factor = np.random.RandomState(0).normal(size=(5, 9))
    covariance = factor @ factor.T
    q = quasi_variances(covariance)

    def error(q):
        return sum(
            (np.log(q[i] + q[j]) - np.log(covariance[[i, j]][:, [i, j]] @ [1, -1] @ [1, -1])) ** 2
            for i in range(5)
            for j in range(i)
        )

    assert_allclose(approx_fprime(q, error, 1e-7), 0.0, atol=1e-5)
    assert all(error(q * np.exp(0.1 * move)) > error(q) for move in (*np.eye(5), *-np.eye(5)))
    assert_allclose(quasi_variances(covariance + 7.0), q)  # differences have the same variances
    assert_allclose(quasi_variances([[1.0, 0.5], [0.5, 2.0]]), [1.0, 1.0])
    for wrong in (np.eye(3)[:2], np.ones((3, 3))):
        with pytest.raises(ValueError, match="covariance must"):
            quasi_variances(wrong)


def test_wald_test_of_two_labels_is_the_z_test(survey):
    ranker = PlackettLuceRanker(**EXACT).fit(*survey)
    row = ranker.summary(reference=1).iloc[3]
    found = ranker.wald_test([1, 3])
    assert (found.df, found.statistic) == (1, pytest.approx(row["z"] ** 2))
    assert found.p_value == pytest.approx(row["p_value"])
    assert ranker.wald_test().df == 3
    for wrong in ([1], [1, 1], [0, 9]):
        with pytest.raises(ValueError, match="labels must be at least two"):
            ranker.wald_test(wrong)


def test_likelihood_ratio_is_that_of_fits_from_scratch(survey):
    X, Y, weight = survey
    full = PlackettLuceRanker(**EXACT).fit(X, Y, weight)
    small = PlackettLuceRanker(**EXACT).fit(constant(200), Y, weight)
    found = likelihood_ratio_test(small, full)
    assert found.df == 6
    expected = 2 * weight @ (full.score_samples(X, Y) - small.score_samples(constant(200), Y))
    assert found.statistic == pytest.approx(expected)
    null = likelihood_ratio_test(None, small)
    uniform = PlackettLuceRanker(**EXACT).fit(constant(24), list(permutations(range(4))))
    expected = small.score_samples(constant(200), Y) - uniform.score_samples(constant(200), Y)
    assert (null.df, null.statistic) == (3, pytest.approx(2 * weight @ expected))
    with pytest.raises(ValueError, match="more parameters"):
        likelihood_ratio_test(full, small)
    ties = PlackettLuceRanker(ties="davidson", **EXACT).fit(X, Y, weight)
    for other in (
        PlackettLuceRanker(**EXACT).fit(constant(200), 5 - Y, weight),
        PlackettLuceRanker(**EXACT).fit(constant(200), Y, 2 * weight),
        PlackettLuceRanker(ties="davidson", **EXACT).fit(constant(200), Y, weight),
    ):
        with pytest.raises(ValueError, match="same rankings, weights and ties"):
            likelihood_ratio_test(other, full)
    for models, name in (((None, None), "full"), ((3, full), "restricted")):
        with pytest.raises(TypeError, match=f"{name} must be a PlackettLuceRanker"):
            likelihood_ratio_test(*models)
    with pytest.raises(ValueError, match="ties"):
        likelihood_ratio_test(None, ties)
    noise = np.random.RandomState(0).normal(size=(200, 3))
    with pytest.raises(ValueError, match="restricted has a larger likelihood than full"):
        likelihood_ratio_test(full, PlackettLuceRanker(**EXACT).fit(noise, Y, weight))


def test_goodness_of_fit_is_the_ratio_against_two_models(survey):
    """The first choice is a ranking whose other labels are tied; the later ones lack a label."""
    _, Y, _ = survey
    Y, X = Y[3::4], constant(50)
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y)
    first = PlackettLuceRanker(**EXACT).fit(X, np.where(Y > 1, 2.0, 1.0))
    later = PlackettLuceRanker(**EXACT).fit(X, np.where(Y == 1, np.nan, Y))
    found = ranker.goodness_of_fit()
    expected = first.log_likelihood_ + later.log_likelihood_ - ranker.log_likelihood_
    assert (found.df, found.statistic) == (3, pytest.approx(2 * expected, abs=1e-6))
    with pytest.raises(ValueError, match="second choice"):
        first.goodness_of_fit()


def test_goodness_of_fit_finds_other_worths_of_later_choices():
    Y = draw_rankings(0, np.tile(WORTHS, (300, 1)), 300)
    ranker = PlackettLuceRanker(**EXACT)
    assert ranker.fit(constant(300), Y).goodness_of_fit().p_value > 0.01
    # All later choices are reversed.
    reversed_ = np.where(Y == 1, 1.0, 6.0 - Y)
    assert ranker.fit(constant(300), reversed_).goodness_of_fit().p_value < 1e-6


def test_preferences_have_the_intervals_of_the_scores(survey):
    """The probability of two labels is a function of their difference, so its limits are, too."""
    X, Y, weight = survey
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y, weight)
    center = np.average(X, axis=0, weights=weight)[np.newaxis]
    found = ranker.preferences(center, "wins", n_draws=4000, random_state=0)
    row = ranker.summary(reference=1).iloc[3]
    assert_allclose(found.loc[(3, 1)], expit(row[["estimate", "lower", "upper"]]), atol=0.01)
    assert_allclose(found.loc[(0, 0)], 0.5)
    X = X[:40]
    for kind, expected in [
        ("mean_rank", ranker.expected_positions(X)),
        ("top_k", ranker.predict_topk_proba(X, 2)),
    ]:
        found = ranker.preferences(X, kind, k=2, random_state=0, confidence_level=0.9)
        assert_allclose(found["estimate"], expected.mean(axis=0))
        assert (found["lower"] < found["estimate"]).all()
        assert (found["upper"] > found["estimate"]).all()
        wide = ranker.preferences(X, kind, k=2, random_state=0, covariance="sandwich")
        assert (wide["lower"] < found["lower"]).all()
    for options, message in [
        ({"kind": "best"}, "kind must be one of"),
        ({"kind": "top_k", "k": 9}, "k must be"),
        ({"confidence_level": 0}, "confidence_level must be"),
        ({"n_draws": 0}, "n_draws must be an integer of 1 or more"),
    ]:
        with pytest.raises(ValueError, match=message):
            ranker.preferences(X, **options)


@pytest.mark.parametrize("features", [0, 2])
def test_infinite_estimates_are_refused(features):
    """One label is always last."""
    Y = np.array([[1, 2, 3], [2, 1, 3], [1, 2, 3], [2, 1, np.nan]])
    X = np.random.RandomState(0).normal(size=(4, 2)) if features else constant(4)
    ranker = PlackettLuceRanker(alpha=1.0).fit(X, pd.DataFrame(Y, columns=list("abc")))
    with pytest.raises(ValueError, match=r"labels \['c'\] are always, or never"):
        ranker.summary()
    with pytest.raises(ValueError, match=r"labels \['c'\]"):
        ranker.aic()


def test_separable_features_are_refused():
    """One feature tells the order of two labels without exception."""
    X = np.arange(20.0)[:, np.newaxis]
    Y = np.where(X > 9.5, [[1, 2]], [[2, 1]])
    ranker = PlackettLuceRanker(alpha=0.0, tol=1e-10).fit(X, Y)
    with pytest.raises(ValueError, match="do not determine all parameters"):
        ranker.summary()


def test_penalties_are_said_to_bias(survey):
    X, Y, weight = survey
    ranker = PlackettLuceRanker(alpha=2.0).fit(X, Y, weight)
    with pytest.warns(UserWarning, match="alpha_=2 biases the estimates"):
        ranker.summary()
    for test in (ranker.goodness_of_fit, lambda: likelihood_ratio_test(None, ranker)):
        with pytest.raises(ValueError, match="biases the estimates"):
            test()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = PlackettLuceRanker(**EXACT).fit(X, Y, weight)
        # Intercepts are not penalized.
        PlackettLuceRanker(alpha=2.0).fit(constant(200), Y).summary()
        # The effective number of parameters is smaller with a penalty.
        n_parameters = ranker.aic() / 2 + ranker.log_likelihood_
        assert 3 < n_parameters < 9 == pytest.approx(free.aic() / 2 + free.log_likelihood_)


def test_rows_have_the_names_of_labels_and_features(survey):
    X, Y, _ = survey
    frames = pd.DataFrame(X, columns=["age", "income"]), pd.DataFrame(Y, columns=list("abcd"))
    ranker = PlackettLuceRanker(ties="davidson", **EXACT).fit(*frames)
    assert ranker.summary().index.tolist() == ["a", "b", "c", "d", "ties of 2"]
    assert ranker.summary("age").index.tolist() == ["a", "b", "c", "d"]
    table = ranker.summary(reference="b", confidence_level=0.8)
    assert table.loc["b", "estimate"] == table.loc["b", "std_error"] == 0.0
    reach = norm.ppf(0.9) * table["std_error"]
    assert_allclose(table["upper"] - table["estimate"], reach)
    assert_allclose(table["estimate"] - table["lower"], reach)
    for options, message in [
        ({"feature": "size"}, "feature must be one of"),
        ({"reference": "z"}, "reference must be one of"),
        ({"of": "item_features"}, "of must be"),
        ({"confidence_level": 1.0}, "confidence_level must be"),
        ({"covariance": "robust"}, "covariance must be one of"),
        ({"covariance": "bootstrap", "n_bootstrap": 1}, "n_bootstrap must be"),
        ({"groups": [1]}, "inconsistent"),
        ({"groups": [1, None] * 100}, "groups must be a column with the name of the respondent"),
        ({"groups": ["a", np.nan] * 100}, "groups must be a column with the name of the respond"),
        ({"groups": [[1]] * 200}, "groups must be a column .*got the shape .200, 1."),
    ]:
        with pytest.raises(ValueError, match=message):
            ranker.summary(**options)
    constant = PlackettLuceRanker(**EXACT).fit(np.ones((len(survey[1]), 1)), survey[1])
    with pytest.raises(ValueError, match="feature=0 is constant"):
        constant.summary(0)


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="scikit-learn looks pandas up itself")
def test_without_pandas_the_table_is_a_bunch(survey, monkeypatch):
    ranker = PlackettLuceRanker(**EXACT).fit(*survey)
    expected = ranker.summary()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    found = ranker.summary()
    assert_allclose(found.estimate, expected["estimate"])
    assert found["index"].tolist() == [0, 1, 2, 3]


def test_samples_of_weight_zero_are_left_out(survey):
    X, Y, weight = survey
    groups, kept = np.arange(200) // 3, np.arange(200) % 4 > 0
    options = {"covariance": "sandwich"}
    found = PlackettLuceRanker(**EXACT).fit(X, Y, weight * kept)
    expected = PlackettLuceRanker(**EXACT).fit(X[kept], Y[kept], weight[kept])
    table = expected.summary(groups=groups[kept], **options)
    assert_allclose(found.summary(groups=groups, **options), table, atol=1e-6)


def test_files_hold_no_rankings(survey):
    X, Y, weight = survey
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y, weight)
    loaded = pickle.loads(pickle.dumps(ranker))
    assert_allclose(loaded.predict(X), ranker.predict(X))
    for other in (loaded, PlackettLuceRanker(kernel="rbf", alpha=1.0).fit(X, Y)):
        with pytest.raises(ValueError, match="holds no training samples"):
            other.summary()


# -- Item features.

PRICES = pd.DataFrame({"price": [1.0, 2.0, 4.0, 3.0], "size": [5.0, 1.0, 2.0, 2.0]}, list("abcd"))


@pytest.fixture(scope="module")
def priced():
    X = np.random.RandomState(0).normal(size=(300, 1))
    scores = (1 + X) * PRICES["price"].to_numpy() / 2 - 0.3 * PRICES["size"].to_numpy()
    return X, pd.DataFrame(draw_rankings(1, scores, 300), columns=list("abcd"))


def test_item_features_have_the_largest_likelihood(priced):
    """In units of the columns: the standard errors are those of the second derivatives."""
    _, Y = priced
    ranker = PlackettLuceRanker(**EXACT).fit(constant(300), Y, item_features=PRICES)

    def loss(weights):
        scores = PRICES.to_numpy() @ weights
        ordered = scores[np.argsort(Y.to_numpy(), axis=1)]
        return sum(
            np.sum(np.log(np.exp(ordered[:, place:]).sum(axis=1)) - ordered[:, place])
            for place in range(4)
        )

    table = ranker.summary()
    assert table.index.tolist() == ["price", "size"]
    at = table["estimate"].to_numpy()
    assert_allclose(approx_fprime(at, loss, 1e-6), 0.0, atol=1e-3)
    slope = lambda x: approx_fprime(x, loss, 1e-5)  # noqa: E731
    hessian = [(slope(at + h) - slope(at - h)) / 2e-3 for h in 1e-3 * np.eye(2)]
    assert_allclose(table["std_error"], np.sqrt(np.diag(np.linalg.inv(hessian))), rtol=1e-3)
    assert ranker.log_likelihood_ == pytest.approx(-loss(at))
    # A model with a parameter for each label is more general.
    free = PlackettLuceRanker(**EXACT).fit(constant(300), Y)
    found = likelihood_ratio_test(ranker, free)
    assert found.df == 1 and found.p_value > 0.01


def test_as_many_item_features_as_parameters_are_no_restriction(priced):
    X, Y = priced
    free = PlackettLuceRanker(**EXACT).fit(X, Y)
    items = PlackettLuceRanker(**EXACT).fit(X, Y, item_features=np.eye(4))
    assert_allclose(items.decision_function(X), free.decision_function(X), atol=1e-6)
    assert_allclose(
        items.summary(of="labels").to_numpy(), free.summary().to_numpy(), rtol=1e-4, atol=1e-6
    )
    assert_allclose(items.summary(0, of="labels"), free.summary(0), rtol=1e-4, atol=1e-6)
    assert_allclose(
        PlackettLuceRanker(alpha=5.0).fit(X, Y, item_features=np.eye(4)).decision_function(X),
        PlackettLuceRanker(alpha=5.0).fit(X, Y).decision_function(X),
        atol=1e-2,
    )


def test_other_labels_by_their_features(priced):
    X, Y = priced
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y, item_features=PRICES)
    same = ranker.with_item_features(PRICES.iloc[::-1])
    assert same.classes_.tolist() == list("dcba")
    assert_allclose(same.predict(X), ranker.predict(X)[:, ::-1])
    # A quasi-variance is 0 up to the square of this.
    assert_allclose(same.summary(of="labels")[::-1], ranker.summary(of="labels"), atol=1e-7)
    new = ranker.with_item_features([[5.0, 1.0], [0.5, 4.0], [2.0, 2.0]])
    assert new.classes_.tolist() == [0, 1, 2]
    assert new.predict([[1.0]]).tolist() == [[1, 3, 2]]
    found = new.preferences([[1.0]], "top_k", random_state=0)
    assert_allclose(found["estimate"], new.predict_proba([[1.0]])[0])
    assert (found["lower"] < found["estimate"]).all() and (found["upper"] <= 1).all()
    assert ranker.classes_.tolist() == list("abcd")


def test_item_features_of_polars(priced):
    """They have no index: the rows are in the order of the labels."""
    polars = pytest.importorskip("polars")
    _, Y = priced
    X, items = constant(300), polars.DataFrame(PRICES.to_dict("list"))
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y, item_features=items)
    expected = PlackettLuceRanker(**EXACT).fit(X, Y, item_features=PRICES)
    assert_allclose(ranker.item_intercept_, expected.item_intercept_)
    assert ranker.with_item_features(items).classes_.tolist() == [0, 1, 2, 3]


def test_item_features_are_matched_by_name(priced):
    X, Y = priced
    ranker = PlackettLuceRanker(**EXACT).fit(X, Y, item_features=PRICES)
    shuffled = PlackettLuceRanker(**EXACT).fit(X, Y, item_features=PRICES.loc[list("dacb")])
    assert_allclose(shuffled.coef_, ranker.coef_)
    numbered = PRICES.set_axis(range(4)).iloc[[3, 0, 2, 1]]
    shuffled.fit(X, Y.set_axis(range(4), axis=1), item_features=numbered)
    assert_allclose(shuffled.coef_, ranker.coef_)
    for wrong, message in [
        (PRICES.iloc[:3], "one row for each of the 4 labels"),
        (PRICES.rename({"a": "x"}), "must have the index"),
        (PRICES.rename({"a": "b"}), "must have the index"),
        (np.ones((4, 2)), "all are constant"),
        (PRICES.replace(1.0, np.nan), "item_features contains NaN"),
        (PRICES * 1e300, "item_features has an entry of the size"),
    ]:
        before = vars(ranker).copy()
        with pytest.raises(ValueError, match=message):
            ranker.fit(X, Y, item_features=wrong)
        assert vars(ranker) == before
    with pytest.raises(ValueError, match="must have the columns"):
        ranker.with_item_features(PRICES[["size", "price"]])
    with pytest.raises(ValueError, match="no item features"):
        ranker.fit(X, Y).with_item_features(PRICES)
    assert not hasattr(ranker, "item_coef_")


# -- Simulations.


def draw_pairs(random, n_samples):
    """Two labels are compared, which tie by Davidson's model with a prevalence of 1."""
    pairs = np.array([random.permutation(4)[:2] for _ in range(n_samples)])
    worths = np.exp(WORTHS[pairs])
    weights = np.column_stack([worths, np.sqrt(worths.prod(axis=1))])
    limits = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    outcome = (random.uniform(size=(n_samples, 1)) > limits).sum(axis=1)
    Y = np.full((n_samples, 4), np.nan)
    np.put_along_axis(Y, pairs, np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])[outcome], axis=1)
    return Y


def draw_answers(random, n_samples):
    """Labels are missing at random; a third of the respondents tell the best label only."""
    seed = random.randint(2**31)
    Y = draw_rankings(seed, np.tile(WORTHS, (n_samples, 1)), n_samples)
    Y[random.uniform(size=Y.shape) < 0.3] = np.nan
    Y[::3] = np.minimum(Y[::3], 2)
    return Y[~np.isnan(Y).all(axis=1)]


@pytest.mark.slow
@pytest.mark.parametrize(("ties", "draw"), [("exclude", draw_answers), ("davidson", draw_pairs)])
def test_intervals_cover_the_worths(ties, draw):
    """95 % intervals cover 95 % of 200 samples, up to three standard errors of this share."""
    covered = np.zeros((200, 4))
    for seed in range(200):
        Y = draw(np.random.RandomState(seed), 150)
        table = PlackettLuceRanker(alpha=0.0, ties=ties).fit(constant(len(Y)), Y).summary()[:4]
        covered[seed] = (table["lower"] <= WORTHS) & (WORTHS <= table["upper"])
    error = np.sqrt(0.95 * 0.05 / 200)
    assert_allclose(covered.mean(axis=0), 0.95, rtol=0, atol=3 * error)
