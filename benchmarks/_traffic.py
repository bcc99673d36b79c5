"""Bytes that the processes of a dask cluster on this machine send to each other."""

from contextlib import contextmanager

from distributed.comm.tcp import TCP


def count_sent():
    """Count from now on the bytes that this process sends."""
    if hasattr(TCP, "n_sent"):
        TCP.n_sent = 0
        return
    write = TCP.write

    async def counted(comm, *arguments, **options):
        n_bytes = await write(comm, *arguments, **options)
        TCP.n_sent += n_bytes
        return n_bytes

    TCP.n_sent, TCP.write = 0, counted


def n_sent():
    return TCP.n_sent


@contextmanager
def traffic(client):
    """Yield a dict, which then has the bytes sent by this process and by the workers.

    This process is the client and the scheduler.
    """
    client.run(count_sent)
    count_sent()
    found = {}
    yield found
    found["client and scheduler"] = n_sent()
    found["workers"] = sum(client.run(n_sent).values())
