"""Samples of weight 0 have no effect."""

import inspect

import numpy as np
import pytest
from fitted_models import fit, predictions
from numpy.testing import assert_allclose
from sklearn.base import clone
from test_common import KINDS

WEIGHTED = {
    name: one
    for name, one in KINDS.items()
    if "sample_weight" in inspect.signature(one.fit).parameters
    # These hold out a share of all rows.
    and "calibration_size" not in one.get_params()
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", WEIGHTED.values(), ids=WEIGHTED)
def test_a_weight_of_zero_equals_a_removed_row(estimator):
    model, (X, *rest) = fit(estimator)
    if "shuffle" in model.get_params():  # fewer samples have another random order
        model.set_params(shuffle=False)
    weights = np.tile([1.0, 1.0, 0.0], len(X) // 3)
    kept = weights > 0
    others = clone(model).fit(X[kept], *[each[kept] for each in rest])
    # What is removed must not matter.
    X[~kept] = X[~kept][::-1]
    model.fit(X, *rest, sample_weight=weights)
    expected = predictions(others, X)
    for name, predicted in predictions(model, X).items():
        assert_allclose(predicted, expected[name], rtol=1e-6, atol=1e-9, err_msg=name)
