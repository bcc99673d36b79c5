"""Estimates and tests that the documentation of the R package PlackettLuce prints, and choix.

The data are in the folder `rankings` of SKLRANK_DATA, one file a data set, with a column for each
label and one of weights: pudding (Davidson, 1970), salad (Critchlow and Fligner, 1991), nascar
(Hunter, 2004), netflix (set 00004-00000138 of PrefLib).
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklrank.datasets import sample_plackett_luce
from sklrank.label_ranking import PlackettLuceRanker, likelihood_ratio_test, quasi_variances

EXACT = {"alpha": 0.0, "tol": 1e-8}


@pytest.fixture
def fit(benchmark_folder):
    def fitted(name, n_labels=None, item_features=None, **parameters):
        path = benchmark_folder / "rankings" / f"{name}.csv"
        if not path.exists():
            pytest.skip(f"SKLRANK_DATA has no {path.name}")
        table = pd.read_csv(path)
        weight = table.pop("weight")
        ranker, X = PlackettLuceRanker(**EXACT, **parameters), np.ones((len(table), 1))
        return ranker.fit(X, table.iloc[:, :n_labels], weight, item_features=item_features)

    return fitted


def test_pudding(fit):
    """Comparisons with ties. The estimates printed are those after seven iterations."""
    ranker = fit("pudding", ties="davidson")
    worths = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    assert_allclose(ranker.predict_proba([[1.0]])[0], worths, atol=3e-5)
    assert ranker.tie_prevalences_[2] == pytest.approx(0.7468147, abs=3e-5)
    errors = ranker.summary(reference="1")["std_error"]
    assert_allclose(errors, [0, 0.1872, 0.1935, 0.1882, 0.1927, 0.1924, 0.0825], atol=6e-5)
    errors = ranker.summary()["std_error"][:6]
    expected = [0.121949, 0.121818, 0.126823, 0.122003, 0.127054, 0.126594]
    assert_allclose(errors, expected, atol=1e-6)
    expected = [0.01766108, 0.01761919, 0.01948091, 0.01769538, 0.01957908, 0.01937796]
    assert_allclose(quasi_variances(ranker.worth_covariance()), expected, rtol=1e-4)
    assert -2 * ranker.log_likelihood_ == pytest.approx(1619.4, abs=0.05)
    assert ranker.aic() == pytest.approx(1631.4, abs=0.05)


def test_salad(fit):
    """The worths of four dressings, and a model of their acids."""
    free = fit("salad")
    table = free.summary(reference="A")
    assert_allclose(table["estimate"], [0, 2.7299, 1.5615, 1.0268], atol=6e-5)
    assert_allclose(table["std_error"], [0, 0.4481, 0.3965, 0.3771], atol=6e-5)
    assert_allclose(table["p_value"][1:], [1.11e-9, 8.20e-5, 0.00646], rtol=5e-3)
    acids = pd.DataFrame({"acetic": [0.5, 0.5, 1, 0], "gluconic": [0, 10, 0, 10]}, list("ABCD"))
    items = fit("salad", item_features=acids)
    table = items.summary()
    assert_allclose(table["estimate"], [3.27431, 0.27392], rtol=2e-4)
    assert_allclose(table["std_error"], [0.57650, 0.04505], rtol=2e-4)
    found = likelihood_ratio_test(items, free)
    assert (found.df, found.statistic) == (1, pytest.approx(0.074411, abs=1e-5))
    assert found.p_value == pytest.approx(0.785, abs=5e-4)
    assert (free.aic(), items.aic()) == pytest.approx((158.83, 156.9), abs=0.01)
    new = items.with_item_features([[0.5, 5], [0, 5]])
    assert new.predict_proba([[1.0]])[0, 0] == pytest.approx(0.8371473, abs=5e-5)


def test_nascar(fit):
    """36 rankings of half of the drivers; four drivers are always last."""
    table = fit("nascar", 83).summary(reference="Austin Cameron")
    names = ["PJ Jones", "Scott Pruett", "Mark Martin", "Dave Marcis", "Dick Trickle", "Joe Varde"]
    expected = [4.15, 3.62, 2.08, 0.03, -0.31, -0.15]
    assert_allclose(table.loc[names, "estimate"], expected, atol=6e-3)
    with pytest.raises(ValueError, match="Andy Hillenburg"):
        fit("nascar").summary()


def test_netflix(fit):
    """The numbers printed are those with pseudo-rankings of half a respondent."""
    ranker = fit("netflix")
    table = ranker.summary(reference="Mean Girls")[1:]
    assert_allclose(table["estimate"], [0.67080, -0.31404, -0.43128], atol=1e-3)
    assert_allclose(table["std_error"], [0.07472, 0.07593, 0.07489], atol=1e-4)
    assert -2 * ranker.log_likelihood_ == pytest.approx(3493.5, abs=0.05)


def test_worths_are_those_of_choix():
    choix = pytest.importorskip("choix")
    Y = sample_plackett_luce(np.tile([0.8, 0.2, -0.3, -0.7], (60, 1)), random_state=0)
    Y[::3] = np.where(Y[::3] == 2, np.nan, Y[::3])
    orderings = [np.argsort(row)[: (~np.isnan(row)).sum()].tolist() for row in Y]
    ranker = PlackettLuceRanker(**EXACT).fit(np.ones((60, 1)), Y)
    assert_allclose(ranker.intercept_, choix.ilsr_rankings(4, orderings), atol=1e-6)
