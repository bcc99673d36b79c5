"""Fits by joblib on a dask cluster: the same models as without it, and the bytes that are sent."""

import time
from contextlib import suppress

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate

from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker

distributed = pytest.importorskip("distributed")
sizeof = pytest.importorskip("dask.sizeof").sizeof

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(200, 6))
Y = np.argsort(np.argsort(-X @ RANDOM.normal(size=(6, 5)), axis=1), axis=1) + 1.0
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)


def place():
    """Return the address of this worker, or None outside of the cluster."""
    with suppress(ValueError):
        return distributed.get_worker().address


class Where:
    """Records the worker that fits it, and those of nested parallel calls.

    It also records how many different arrays of samples the worker has received.
    """

    def fit(self, X, y):
        self.worker_ = place()
        self.nested_ = set(joblib.Parallel()(joblib.delayed(place)() for _ in range(8)))
        if self.worker_ is not None:
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
    workers = {model.worker_ for model in together.estimators_}
    assert len(workers) == 2 and None not in workers
    # Forests of the labels are not distributed tree by tree.
    assert all(model.nested_ == {model.worker_} for model in together.estimators_)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_samples_reach_each_worker_once(client):
    client.run(lambda dask_worker: vars(dask_worker).pop("received", None))
    with joblib.parallel_config(backend="dask", wait_for_workers_timeout=30):
        ranker = LabelwiseRanker(WhereRidge()).fit(X, Y)
    assert [model.n_received_ for model in ranker.estimators_] == [1] * 5


class SlowLogistic(WhereLogistic):
    def fit(self, X, y):
        time.sleep(0.05)  # so that idle workers would take fits of others
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_fits_of_a_search_stay_on_their_worker(client):
    """Otherwise, the samples of each of them would be sent to the other workers."""
    options = {"cv": 3, "return_estimator": True}
    with joblib.parallel_config(backend="dask", wait_for_workers_timeout=30):
        rankers = cross_validate(PairwiseRanker(SlowLogistic()), X, Y, **options)["estimator"]
    workers = [{model.worker_ for model in ranker.estimators_} for ranker in rankers]
    assert [len(each) for each in workers] == [1, 1, 1]
    assert len(set.union(*workers)) == 2
    alone = cross_validate(PairwiseRanker(LogisticRegression()), X, Y, **options)["estimator"]
    for ranker, expected in zip(rankers, alone):
        assert_array_equal(ranker.decision_function(X), expected.decision_function(X))


WIDE = RANDOM.normal(size=(3000, 40))
WIDE_RANKS = np.argsort(np.argsort(-WIDE[:, :5], axis=1), axis=1) + 1.0


def search():
    search = GridSearchCV(LabelwiseRanker(Ridge()), {"estimator__alpha": [1, 2, 3]}, cv=3)
    return search.fit(WIDE, WIDE_RANKS).cv_results_["mean_test_score"]


def stack():
    members = [(f"{alpha}", LabelwiseRanker(Ridge(alpha))) for alpha in (1.0, 2.0)]
    return StackedRanker(members, random_state=0).fit(WIDE, WIDE_RANKS).decision_function(WIDE)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("fit", [search, stack])
def test_samples_that_are_scattered_are_sent_once(client, fit, monkeypatch):
    """All parallel calls of the fit use them, and so do those in workers that are threads."""
    scatter, sizes = distributed.Client.scatter, []

    def noting(client, data, *args, **options):
        sizes.extend(map(sizeof, data if isinstance(data, list) else [data]))
        return scatter(client, data, *args, **options)

    monkeypatch.setattr(distributed.Client, "scatter", noting)
    with joblib.parallel_config(
        backend="dask", wait_for_workers_timeout=30, scatter=[WIDE, WIDE_RANKS]
    ):
        found = fit()
    # Indices of folds are small.
    large = [size for size in sizes if size > WIDE_RANKS.nbytes / 2]
    assert large == [sizeof(WIDE), sizeof(WIDE_RANKS)]
    assert_array_equal(found, fit())
