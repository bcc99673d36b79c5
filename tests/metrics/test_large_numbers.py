"""Metrics of finite arguments as large as floats can be: no overflow, and no warning of one."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank import metrics
from sklrank.metrics import (
    _documents,
    alpha_inconsistency,
    beta_tau_gap,
    dcg_score,
    kendall_tau_distance,
    kendall_tau_score,
    propensity_scored_precision_at_k_score,
    rank_loss,
    reject_loss,
    spearman_distance,
)

SMALL = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 1.0]])
POSITIONS = [[1, 2, 3], [3, 1, 2]]
GRADES = [[2, 0, 1], [1, 0, 3]]
# Metrics that depend only on the order of the scores or positions.
OF_ORDERS = {
    "rank_loss": partial(rank_loss, [[1, 0, 0], [1, 1, 0]]),
    "propensity_scored_precision_at_k_score": partial(
        propensity_scored_precision_at_k_score, [[1, 0, 0], [1, 1, 0]], k=2
    ),
    "kendall_tau_score": partial(kendall_tau_score, POSITIONS),
    "kendall_tau_distance": partial(kendall_tau_distance, POSITIONS),
    "spearman_distance": partial(spearman_distance, POSITIONS),
    "alpha_inconsistency": partial(alpha_inconsistency, POSITIONS),
    "beta_tau_gap": partial(beta_tau_gap, POSITIONS),
    **{
        name: partial(getattr(metrics, name), GRADES, k=2)
        for name in _documents.__all__
        if name.endswith("_score")
    },
}
# A metric of predicted classes, and metrics of scores that test_pairwise_loss.py tests.
OTHERS = {"reject_loss"}
OTHERS |= {"hinge_rank_loss", "logistic_rank_loss"}
# Weights of labels, and a metric of probabilities.
OTHERS |= {"label_propensities", "pair_brier_score"}


def test_every_metric_is_listed():
    names = {name for name in metrics.__all__ if not name.endswith("_scorer")}
    assert names == OF_ORDERS.keys() | OTHERS


@pytest.mark.parametrize("factor", [1e308, 1.79e308, 1e-308, 5e-324])
@pytest.mark.parametrize("name", OF_ORDERS)
def test_only_the_order_matters(name, factor):
    assert_array_equal(OF_ORDERS[name](SMALL * factor), OF_ORDERS[name](SMALL))


@pytest.mark.parametrize("weight", [1e150, 1e-200, 5e-324])
@pytest.mark.parametrize("name", sorted(OF_ORDERS.keys() - {"alpha_inconsistency", "beta_tau_gap"}))
def test_scale_of_weights_does_not_matter(name, weight):
    metric = OF_ORDERS[name]
    expected = metric(SMALL, sample_weight=[1.0, 1.0])
    assert_allclose(metric(SMALL, sample_weight=[weight, weight]), expected, rtol=1e-14)


def test_gains_and_weights_may_both_be_large():
    grades, scores = [[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]
    value = dcg_score(grades, scores, gain=lambda grade: 1e300 * grade, sample_weight=[1e150] * 2)
    assert_allclose(value, 1e300)


def test_costs_of_rejections():
    y_true, y_pred = [0, 1, 1], [-1, -1, 1]
    assert_allclose(reject_loss(y_true, y_pred, reject_cost=1.5e308), 1e308)
    assert_allclose(
        reject_loss(y_true, y_pred, reject_cost=1.5e308, sample_weight=[1e150] * 3), 1e308
    )
