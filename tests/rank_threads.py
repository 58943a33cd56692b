"""Ranks as threads of one process: gloo does not mind, and tests start in milliseconds."""

import threading
from datetime import timedelta

import torch.distributed as dist

from pgnn.distributed.group import Group
from pgnn.threads import working_with


def on_ranks(size, work, timeout=60):
    """Call work(group) on each of `size` ranks at once, and return the results by rank."""
    store = dist.HashStore()
    results, failures = {}, []
    connections = []  # kept until all ranks are finished: others may still be connecting

    def run(rank):
        try:
            gloo = dist.ProcessGroupGloo(store, rank, size, timedelta(seconds=timeout))
            connections.append(gloo)
            group = Group(rank, size, gloo)
            with working_with(group):
                results[rank] = work(group)
        except BaseException as failure:  # raised again below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[rank] for rank in range(size)]
