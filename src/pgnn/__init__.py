"""Position-aware graph neural networks: learn where nodes are in a graph."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgnn.errors import PGNNError as PGNNError
from pgnn.graph import Graph as Graph
from pgnn.pairs.proximities import PairProximities as PairProximities
from pgnn.pairs.proximities import pair_proximities as pair_proximities
from pgnn.positions import AnchorDistances as AnchorDistances
from pgnn.positions import MemberDistances as MemberDistances
from pgnn.positions import anchor_distances as anchor_distances
from pgnn.positions import anchor_ppr as anchor_ppr
from pgnn.positions.anchors import AnchorSets as AnchorSets
from pgnn.positions.anchors import sample_anchor_sets as sample_anchor_sets
from pgnn.positions.bourgain import Distortion as Distortion
from pgnn.positions.bourgain import bourgain_embedding as bourgain_embedding
from pgnn.positions.bourgain import distortion as distortion

if TYPE_CHECKING:
    from pgnn import datasets as datasets
    from pgnn import distributed as distributed
    from pgnn import nn as nn
    from pgnn import transforms as transforms
    from pgnn.estimator import PGNNEmbedding as PGNNEmbedding
    from pgnn.io import read_graph as read_graph
    from pgnn.io import write_embeddings as write_embeddings
    from pgnn.io import write_scores as write_scores
    from pgnn.memory import memory_limit as memory_limit

from pgnn.version import __version__ as __version__

_LAZY_ROOMS = ("datasets", "distributed", "nn", "transforms")  # torch alone takes seconds
_LAZY_NAMES = {
    "PGNNEmbedding": "pgnn.estimator",
    "memory_limit": "pgnn.memory",
    "read_graph": "pgnn.io",
    "write_embeddings": "pgnn.io",
    "write_scores": "pgnn.io",
}


def __getattr__(name: str) -> Any:
    """Import the parts that not every program needs when they are first named."""
    if name in _LAZY_ROOMS:
        return import_module(f"pgnn.{name}")
    if name in _LAZY_NAMES:
        globals()[name] = getattr(import_module(_LAZY_NAMES[name]), name)
        return globals()[name]
    raise AttributeError(f"module 'pgnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_ROOMS, *_LAZY_NAMES})
