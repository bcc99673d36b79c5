"""A dask cluster of two processes, which all tests of a file share.

Its threads allocate memory, which tests of other files measure: it ends with the file.
"""

import sys

import pytest


@pytest.fixture(scope="module")
def cluster_client():
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    # Tasks for a worker that has died are an error: by default, they wait for it forever.
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "30s"}):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
    # Tests of other files do not use it.
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(cluster_client, request):
    """Return a client of the cluster, whose workers receive what the test file defines."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[request.module.__name__])
    with cluster_client.as_current():
        yield cluster_client
    cloudpickle.unregister_pickle_by_value(sys.modules[request.module.__name__])
