"""A dask cluster of two workers, which all tests of a file share.

The workers are threads, and processes in slow tests: these need seconds to start. The threads
allocate memory, which tests of other files measure: the cluster ends with the file.
"""

import signal
import sys
from contextlib import contextmanager

import pytest

SECONDS = 240  # until a test ends with an error, whatever it waits for


@contextmanager
def cluster_of(processes):
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    # Tasks for a worker that has died are an error: by default, they wait for it forever.
    options = {"distributed.scheduler.no-workers-timeout": "30s", "scheduler": None}
    # Tests of other files do not use the cluster, nor the clients that its tasks make.
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def prepared(client, module):
    """Let the workers receive what the test file defines, and the test end in time."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[module.__name__])
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        with client.as_current():
            yield client
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        cloudpickle.unregister_pickle_by_value(sys.modules[module.__name__])


def give_up(*_):
    raise TimeoutError(f"the test has not ended after {SECONDS} seconds")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="threads"),
        pytest.param(True, id="processes", marks=pytest.mark.slow),
    ],
)
def cluster_client(request):
    with cluster_of(processes=request.param) as client:
        yield client


@pytest.fixture
def client(cluster_client, request):
    with prepared(cluster_client, request.module):
        yield cluster_client


@pytest.fixture
def mortal_client(request):
    """Return the client of a cluster of the test, which may kill one of its two processes.

    dask starts another process, but gives up if the machine is too busy: do not wait for it.
    """
    with cluster_of(processes=True) as client, prepared(client, request.module):
        yield client
