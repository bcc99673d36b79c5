"""Label rankers on a dask cluster of two processes: the same models as without it."""

import os
import sys
from contextlib import suppress

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


class Where:
    """Records the process that fits it, and those of nested parallel calls.

    In a worker, it also records how many different arrays of samples the worker has received.
    """

    def fit(self, X, y):
        self.process_ = os.getpid()
        self.nested_ = set(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(8)))
        with suppress(ValueError):  # not in a worker
            worker = distributed.get_worker()
            received = vars(worker).setdefault("received", [])
            if not any(X is other for other in received):
                received.append(X)
            self.n_received_ = len(received)
        return super().fit(X, y)


class WhereRidge(Where, Ridge):
    pass


class WhereLogistic(Where, LogisticRegression):
    pass


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
    # Forests of the labels are not distributed tree by tree.
    assert all(model.nested_ == {model.process_} for model in together.estimators_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_samples_reach_each_worker_once(client):
    client.run(lambda dask_worker: vars(dask_worker).pop("received", None))
    with joblib.parallel_config(backend="dask", wait_for_workers_timeout=30):
        ranker = LabelwiseRanker(WhereRidge()).fit(X, Y)
    assert [model.n_received_ for model in ranker.estimators_] == [1] * 5
