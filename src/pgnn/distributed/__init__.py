"""The same work over several processes and machines, on `torch.distributed`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgnn.distributed.partitioned import PartitionedGraph as PartitionedGraph
    from pgnn.distributed.partitioned import partition as partition
    from pgnn.distributed.partitioned import read_partitioned_graph as read_partitioned_graph
    from pgnn.distributed.results import StoredDistances as StoredDistances
    from pgnn.distributed.results import Summary as Summary
    from pgnn.distributed.results import read_distances as read_distances
    from pgnn.distributed.results import write_distances as write_distances
    from pgnn.distributed.search import partitioned_distances as partitioned_distances

_MODULE_OF = {  # modules that import torch, which takes seconds
    "PartitionedGraph": "partitioned",
    "StoredDistances": "results",
    "Summary": "results",
    "partition": "partitioned",
    "partitioned_distances": "search",
    "read_distances": "results",
    "read_partitioned_graph": "partitioned",
    "write_distances": "results",
}


def __getattr__(name: str) -> Any:
    """Import what is named when it is first named."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'pgnn.distributed' has no attribute {name!r}")
    return getattr(import_module(f"pgnn.distributed.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
