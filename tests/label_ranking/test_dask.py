"""Label rankers on a dask cluster of two processes: the same models as without it."""

import os
import sys

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge

from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker

distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(200, 6))
Y = np.argsort(np.argsort(-X @ RANDOM.normal(size=(6, 5)), axis=1), axis=1) + 1.0
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)


class WhereRidge(Ridge):
    """Records the process that fits it."""

    def fit(self, X, y):
        self.process_ = os.getpid()
        return super().fit(X, y)


class WhereLogistic(LogisticRegression):
    """Records the process that fits it."""

    def fit(self, X, y):
        self.process_ = os.getpid()
        return super().fit(X, y)


@pytest.fixture(scope="module")
def client():
    # The workers cannot import this file.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda: LabelwiseRanker(WhereRidge()),
        lambda: PairwiseRanker(WhereLogistic()),
    ],
    ids=["labelwise", "pairwise"],
)
def test_workers_make_the_same_model(client, make):
    Y_seen = Y if isinstance(make(), LabelwiseRanker) else INCOMPLETE
    alone = make().fit(X, Y_seen)
    with joblib.parallel_config(backend="dask", wait_for_workers_timeout=30):
        together = make().fit(X, Y_seen)
    assert_array_equal(together.decision_function(X), alone.decision_function(X))
    processes = {model.process_ for model in together.estimators_}
    assert len(processes) == 2 and os.getpid() not in processes
