"""Anchor distances as attributes of PyTorch Geometric's `Data`, safe to batch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import get_worker_info
from torch_geometric.data import Batch, Data
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.nn.positions import Positions
from pgnn.positions.anchors import AnchorSets, Scheme, sample_anchor_sets
from pgnn.positions.distances import anchor_distances, check_cutoff

# How the attributes are stored, and why. PyG batches graphs by joining their attributes, guided by
# nothing but the attributes' names: a name with "index" in it is shifted by the number of nodes
# before it, -1 included, and joined along the last dimension; any other is joined as it is.
#
# - The nearest anchor is stored as its offset, nearest - v in row v. All nodes of a graph shift
#   alike, so offsets need no shift: they are right in a batch, in a batch of batches, in the files
#   of an InMemoryDataset, and in the graphs taken out of a batch.
# - Where no anchor is reached, the hops are -1 or the length is infinite, and the offset is 0.
# - Hops are always int32. In a loader's worker PyG joins tensors into memory of the first one's
#   type, where torch lets numbers overflow without a word: 300 hops after a graph whose hops are
#   int8 come out as 44.
_KINDS = ("hops", "lengths", "offset")
_CHECKED_ROWS = 4096  # all rows of small graphs; a sample of large ones, to stay cheap


@functional_transform("add_anchor_distances")
class AddAnchorDistances(BaseTransform):  # type: ignore[misc]
    r"""Draw anchor-sets and store every node's distance to them (`add_anchor_distances`).

    Adds to a `Data` of n nodes, for k sets:

    - `anchor_hops`, int32 `[n, k]`, -1 where no anchor is reached; or, if the data has
      `edge_weight`, `anchor_lengths`, float64 `[n, k]`, infinite there
    - `anchor_offset`, int32 `[n, k]`: index of the nearest anchor minus the node's own

    `positions_of` makes of them what `pgnn.nn.PGNNLayer` and `PGNN` read. Distances follow
    `edge_index` from its first row to its second; an undirected graph has each edge both ways, as
    PyG stores it. Data can be batched afterwards, or a `Batch` transformed as a whole: sets are
    then drawn in each of its graphs. Graphs that meet in one batch need equally many sets, so give
    `num_sets` if they differ in size. Without it, the transform refuses a graph that would get
    another number of sets than the graphs before, rather than let the loader fail on the batch; for
    graphs that are never batched, make one transform per graph.

    Apply it after transforms that change edges or number nodes anew, such as a split or a subgraph.

    Args:
        c: The paper's constant: k = L * floor(c L) sets, L = floor(log2 n).
        num_sets: Draw this many sets instead, however large the graph is.
        cutoff: Look no farther than this distance; what lies beyond counts as unreachable.
        scheme: "bernoulli" or "fixed"; see `pgnn.sample_anchor_sets`.
        weighted: Whether `edge_weight`, if there, holds lengths. Say False if it holds strengths.
        prefix: What the attributes' names begin with. Two transforms with two prefixes give two
            draws, such as one per layer.
        rng: Seed or generator. It makes one stream of draws, and each call takes the next one: two
            graphs, or two visits of the same graph, get different draws, and a draw depends on
            what was drawn before it. So a dataset's `transform` draws anew at every access, and its
            `pre_transform` once for all. Each worker of a loader has a stream of its own, which the
            loader's generator (by default `torch.manual_seed`) decides too, anew for every epoch.

    Raises:
        PGNNError: If an argument is out of range; when called, if the data has no `edge_index` or
            is not a homogeneous graph, or graphs would get different numbers of sets.

    Example:
        >>> import pgnn
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> data = AddAnchorDistances(num_sets=2, rng=0)(path)
        >>> data
        Data(edge_index=[2, 4], num_nodes=3, anchor_hops=[3, 2], anchor_offset=[3, 2])
        >>> layer = pgnn.nn.PGNNLayer(8, 16)
        >>> z, h = layer(torch.rand(3, 8), positions_of(data))
    """

    @checked
    def __init__(
        self,
        c: float = 1.0,
        *,
        num_sets: int | None = None,
        cutoff: float | None = None,
        scheme: Scheme = "bernoulli",
        weighted: bool = True,
        prefix: str = "anchor",
        rng: int | np.random.Generator = 0,
    ) -> None:
        sample_anchor_sets(1, c, num_sets=num_sets, scheme=scheme, rng=0)  # complains early
        check_cutoff(cutoff)
        _check_prefix(prefix)
        if not isinstance(rng, np.random.Generator | int | np.integer) or isinstance(rng, bool):
            raise PGNNError(Parameter("rng"), f" must be a seed or a numpy Generator (got {rng!r})")
        if isinstance(rng, int | np.integer) and rng < 0:
            raise PGNNError(
                Parameter("rng"), f" must be a seed >= 0 or a numpy Generator (got {rng})"
            )
        self.c, self.num_sets, self.cutoff = c, num_sets, cutoff
        self.scheme, self.weighted, self.prefix, self.rng = scheme, weighted, prefix, rng
        self._generator = np.random.default_rng(rng)
        self._worker_seed: int | None = None
        self._last_num_sets: int | None = None

    def __call__(self, data: Any) -> Any:
        """Check what PyG copies, and copy and change it."""
        _check_data(data)
        return super().__call__(data)

    @checked
    def forward(self, data: Any) -> Any:
        """Add the attributes to a copy of a `Data` or `Batch` that PyG has made."""
        graph = _graph_of(data, self.weighted)
        sizes = _graph_sizes(data)
        draws = [self._sample(size) for size in sizes]
        sets = draws[0] if len(draws) == 1 else AnchorSets.union(draws)
        if not isinstance(data, Batch):
            self._check_num_sets(len(sets))
        distances = anchor_distances(
            graph,
            sets,
            cutoff=self.cutoff,
            # A worker is one of many already.
            num_threads=None if get_worker_info() is None else 1,
        )
        own = np.arange(graph.num_nodes, dtype=np.int32)[:, None]
        nearest = distances.nearest
        values = {"offset": np.where(nearest >= 0, nearest - own, 0)}
        if distances.hops is not None:
            values["hops"] = distances.hops.astype(np.int32)
        else:
            assert distances.lengths is not None
            values["lengths"] = distances.lengths.copy()
        for kind in _KINDS:
            name = f"{self.prefix}_{kind}"
            if kind in values:
                data[name] = torch.from_numpy(values[kind]).to(data.edge_index.device)
                _register(data, name)
            elif name in data:  # of an earlier draw, with or without weights
                del data[name]
        return data

    def _sample(self, num_nodes: int) -> AnchorSets:
        return sample_anchor_sets(
            num_nodes, self.c, num_sets=self.num_sets, scheme=self.scheme, rng=self._stream()
        )

    def _check_num_sets(self, num_sets: int) -> None:
        """Raise if a graph has another number of sets than the one before.

        PyG joins the attributes of a batch without asking us, and fails where their widths differ.
        The graphs of a batch come from one transform in one process, so here it can be told.
        """
        before, self._last_num_sets = self._last_num_sets, num_sets
        if self.num_sets is None and before not in (None, num_sets):
            raise PGNNError(
                f"graphs of different sizes get different numbers of anchor-sets (here {before} "
                f"and {num_sets}), and could not share a batch; give ",
                Parameter("num_sets"),
            )

    def _stream(self) -> np.random.Generator:
        """Return the generator of this process, which a loader's worker has to make its own.

        Every worker of every epoch begins with a copy of this object, so the copied generator
        would give all of them the same draws.
        """
        worker = get_worker_info()
        if worker is not None and worker.seed != self._worker_seed:
            self._worker_seed = worker.seed
            common = int(self._generator.integers(1 << 62))
            self._generator = np.random.default_rng([common, worker.seed])
        return self._generator

    def __repr__(self) -> str:
        names = ("c", "num_sets", "cutoff", "scheme", "weighted", "prefix")
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({settings}, rng={self.rng!r})"


@checked
def positions_of(data: Data, *, prefix: str = "anchor") -> Positions:
    """Read what `AddAnchorDistances` stored, as layers and models take it.

    Args:
        data: A `Data` or `Batch` on any device.
        prefix: That of the transform.

    Raises:
        PGNNError: If the attributes are missing, or the nodes were numbered anew since.

    Example:
        >>> pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> positions_of(AddAnchorDistances(num_sets=3)(pair))
        Positions(3 levels, closest, num_nodes=2, num_sets=3)
    """
    hops, lengths, offset = (data.get(f"{prefix}_{kind}") for kind in _KINDS)
    distance = lengths if hops is None else hops
    if distance is None or offset is None:
        raise PGNNError(
            f"data has no {prefix}_hops or {prefix}_lengths, and {prefix}_offset; apply "
            "pgnn.transforms.AddAnchorDistances first"
        )
    own = torch.arange(len(offset), dtype=offset.dtype, device=offset.device)[:, None]
    reached = hops >= 0 if hops is not None else torch.isfinite(distance)
    nearest = torch.where(reached, own + offset, -1)
    _check_same_nodes(nearest, distance, data.num_nodes)
    return Positions.from_distances(SimpleNamespace(hops=hops, lengths=lengths, nearest=nearest))


def _check_same_nodes(nearest: Tensor, distance: Tensor, num_nodes: int | None) -> None:
    """Raise if rows were taken out or reordered: an anchor is at distance 0 of its set."""
    rows = nearest[:: -(-max(len(nearest), 1) // _CHECKED_ROWS)]
    at = distance.gather(0, rows.clamp(0, max(len(nearest) - 1, 0)).long())
    fine = (rows == -1) | ((rows >= 0) & (rows < len(nearest)) & (at == 0))
    if len(nearest) != num_nodes or not bool(fine.all()):
        raise PGNNError(
            "the anchors that AddAnchorDistances stored are not those of these nodes: nodes were "
            "removed, added or reordered since; apply it afterwards"
        )


def _check_data(data: Any) -> None:
    if not isinstance(data, Data):
        raise PGNNError(
            f"AddAnchorDistances needs a homogeneous Data or Batch (got {type(data).__name__})"
        )


def _graph_of(data: Any, weighted: bool) -> Graph:
    _check_data(data)
    if data.edge_index is None:
        raise PGNNError("data.edge_index is missing; AddAnchorDistances reads the edges from it")
    structure = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    if weighted and data.get("edge_weight") is not None:
        structure.edge_weight = data.edge_weight
    # Edges as they are stored: nothing is lost for an undirected graph, which has both ways, and
    # finding out whether it is one takes longer than the search.
    return Graph.from_pyg(structure, directed=True)


def _graph_sizes(data: Data) -> list[int]:
    if not isinstance(data, Batch):
        return [data.num_nodes]
    ptr = data.get("ptr")  # missing in a batch of batches
    counts = data.batch.bincount() if ptr is None else ptr.diff()
    return [int(count) for count in counts]


def _register(data: Data, name: str) -> None:
    """Tell a batch where its graphs' rows are, so that it can be taken apart again."""
    slices, shifts = (getattr(data, key, None) for key in ("_slice_dict", "_inc_dict"))
    if not isinstance(data, Batch) or slices is None or shifts is None or "ptr" not in data:
        return
    data._slice_dict = {**slices, name: data.ptr.cpu()}
    data._inc_dict = {**shifts, name: torch.zeros(data.num_graphs, dtype=torch.long)}


def _check_prefix(prefix: str) -> None:
    # PyG takes attributes with these words in their names for something else.
    bad = [word for word in ("index", "batch", "edge") if word in str(prefix)]
    if bad or not str(prefix).isidentifier():
        raise PGNNError(
            Parameter("prefix"),
            " must be a name without the words index, batch and edge, to which PyG gives "
            f"a meaning (got {prefix!r})",
        )
