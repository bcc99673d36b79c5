"""A dask cluster of two workers, which all tests of a file share.

The workers are threads, and processes in slow tests: these need seconds to start. The threads
allocate memory, which tests of other files measure: the cluster ends with the file.
"""

import sys

import pytest


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="threads"),
        pytest.param(True, id="processes", marks=pytest.mark.slow),
    ],
)
def cluster_client(request):
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    # Tasks for a worker that has died are an error: by default, they wait for it forever.
    options = {"distributed.scheduler.no-workers-timeout": "30s", "scheduler": None}
    # Tests of other files do not use the cluster, nor the clients that its tasks make.
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=request.param, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(cluster_client, request):
    """Return a client of the cluster, whose workers receive what the test file defines."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[request.module.__name__])
    with cluster_client.as_current():
        yield cluster_client
    cloudpickle.unregister_pickle_by_value(sys.modules[request.module.__name__])
