"""What a layer reads of the graph: how near nodes are to sets, and who speaks for a set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pgnn.errors import PGNNError

_NUM_LEVELS = 256
_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    r"""Proximity s(v, S_i) of every node to every anchor-set, as tensors on one device.

    Proximities are numbers >= 0 that grow with nearness, 0 for "not reached". They are held either
    as small integer codes and a table of what each code means, or exactly. `PGNN` and `PGNNLayer`
    make this themselves from `pgnn.anchor_distances`; make it yourself to move it to another
    device once, to use personalised PageRank, or to quantise.

    Attributes:
        nearest: Who speaks for the set, int32 `[n, k]`: the index of the nearest anchor, or of a
            group of `members`; -1 for nobody.
        codes: Integers `[n, k]`, or None if `proximity` is given.
        levels: The proximity that each code means, `[codes]`: code c means levels[c - first_code].
        first_code: The code that `levels` begins with: -1 for hops, where -1 is "not reached".
        proximity: Exact proximities `[n, k]`, or None if `codes` are given.
        members: Groups of nodes that speak with their mean, as bounds `[groups + 1]` and nodes, or
            None where single nodes speak.
    """

    nearest: Tensor
    codes: Tensor | None = None
    levels: Tensor | None = None
    first_code: int = 0
    proximity: Tensor | None = None
    members: tuple[Tensor, Tensor] | None = None
    _checked: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        """Check what a user made; kernels read memory by these numbers."""
        if not self._checked:
            _check_positions(self)
            object.__setattr__(self, "_checked", True)

    @classmethod
    def from_distances(cls, distances: Any) -> Positions:
        """Build from `pgnn.AnchorDistances`, or anything with its fields, as arrays or tensors.

        s = 1 / (d + 1), 0 where the set is not reached. Hops become codes, without a copy; weighted
        lengths are held exactly.

        Raises:
            PGNNError: If a field is missing or has a wrong shape or type.

        Example:
            >>> from types import SimpleNamespace
            >>> d = SimpleNamespace(hops=torch.tensor([[0], [2], [-1]]),
            ...                     nearest=torch.tensor([[0], [0], [-1]]))
            >>> Positions.from_distances(d).levels
            tensor([0.0000, 1.0000, 0.5000, 0.3333], dtype=torch.float64)
        """
        nearest = _field(distances, "nearest")
        if nearest is None:
            raise PGNNError(
                "distances must be the result of pgnn.anchor_distances or Positions "
                f"(got {type(distances).__name__})"
            )
        hops, lengths = _field(distances, "hops"), _field(distances, "lengths")
        if (hops is None) == (lengths is None):
            raise PGNNError("distances must have either hops or lengths")
        if lengths is not None:
            if not bool((lengths >= 0).all()):
                raise PGNNError("lengths must be numbers >= 0, infinite for not reached")
            return cls(_as_int32(nearest), proximity=1 / (lengths + 1))
        assert hops is not None
        highest = int(hops.max()) if hops.numel() else 0
        levels = 1 / torch.arange(max(highest, 0) + 2, dtype=torch.float64, device=hops.device)
        levels[0] = 0
        return cls(_as_int32(nearest), codes=hops, levels=levels, first_code=-1)

    @classmethod
    def from_proximity(cls, proximity: Any, sets: Any, *, batch: Any = None) -> Positions:
        """Build from the proximity of nodes to whole sets, such as `pgnn.anchor_ppr`.

        No single anchor speaks for a set, so its members do together, with the mean of their
        features: F(s(v, S_i), h_v, mean of h_u over S_i). That is AGG_M = MEAN with the mean taken
        before F. Layers that read it need `agg_m="mean"`.

        Args:
            proximity: `[n, k]`, >= 0, an array or tensor.
            sets: `pgnn.AnchorSets`, or k sequences of nodes.
            batch: Which graph each node is of, `[n]`, in a disjoint union; only members of a node's
                own graph speak to it.

        Raises:
            PGNNError: If shapes do not match, or a proximity is negative or not a number.

        Example:
            >>> p = Positions.from_proximity(torch.tensor([[0.5], [0.2], [0.3]]), [[0, 2]])
            >>> p.members
            (tensor([0, 2]), tensor([0, 2]))
        """
        s = _tensor(proximity)
        if s.ndim != 2 or s.shape[1] == 0 or not s.is_floating_point():
            raise PGNNError(
                f"proximity must be floats [n, k], k >= 1 (got {s.dtype} of shape {list(s.shape)})"
            )
        n, k = s.shape
        indptr, nodes = _flat(sets)
        if len(indptr) - 1 != k:
            raise PGNNError(f"proximity has {k} sets, but {len(indptr) - 1} sets were given")
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < n:
            raise PGNNError(f"the sets hold nodes that are not in 0..{n - 1}")
        graph = _graph_of_nodes(batch, n)
        from pgnn.nn.kernels.positions import group_members

        num_graphs = int(graph.max()) + 1 if n else 1
        found = group_members(indptr, nodes, graph, num_graphs)
        bounds, members, nearest = (torch.from_numpy(array).to(s.device) for array in found)
        return cls(nearest, proximity=s, members=(bounds, members))

    def standardised(self) -> Positions:
        r"""Replace proximities to whole sets by how they stand among the nodes of the graph.

        s' = logistic((log s - mean) / deviation), mean and deviation of log s over the nodes of
        the same graph for the same set; 0 stays 0. Personalised PageRank falls by orders of
        magnitude within a few hops and with the size of a graph; its standing does not, so what is
        learned on one graph holds on another.

        Raises:
            PGNNError: If the proximities are not of whole sets, or are quantised already.

        Example:
            >>> p = Positions.from_proximity(torch.tensor([[0.1], [0.01], [0.001]]), [[0]])
            >>> p.standardised().proximity.squeeze(1)
            tensor([0.7729, 0.5000, 0.2271])
        """
        s = self.proximity
        if s is None or self.members is None:
            raise PGNNError("standing needs exact proximities to whole sets; see from_proximity")
        from pgnn.nn.kernels.positions import standardise_groups

        numbers, group = (tensor.cpu().numpy().reshape(-1) for tensor in (s, self.nearest))
        reached: Any = slice(None)  # nothing to pick out and to put back, mostly
        if numbers.size and not (numbers.min() > 0 and group.min() >= 0):
            reached = np.flatnonzero((numbers > 0) & (group >= 0))
        logs = torch.from_numpy(numbers[reached]).double().log()
        standardise_groups(logs.numpy(), group[reached], len(self.members[0]) - 1, 1e-9)
        standing = np.zeros_like(numbers)
        standing[reached] = logs.sigmoid_().numpy()
        return replace(self, proximity=torch.from_numpy(standing).view(s.shape).to(s.device))

    def quantised(self) -> Positions:
        r"""Round exact proximities to 255 levels a byte can name, evenly spaced in their logarithm.

        0 stays 0. The relative error is at most (max / min)^(1/508) - 1 over the positive
        proximities: 2.8% if they span six orders of magnitude. Layers then evaluate a learned gate
        once a level, not once a pair, and read a quarter of the memory.

        Example:
            >>> s = torch.tensor([[1.0, 0.0], [0.25, 0.5]])
            >>> p = Positions.from_proximity(s, [[0], [1]]).quantised()
            >>> p.codes.tolist(), p.codes.dtype
            ([[255, 0], [1, 128]], torch.uint8)
        """
        if self.proximity is None:
            return self
        s = self.proximity
        top = _NUM_LEVELS - 2
        lowest, highest = s.aminmax() if s.numel() else (s.new_zeros(()),) * 2
        with_zeros = not lowest > 0
        if with_zeros and highest > 0:
            lowest = s.where(s > 0, highest).amin()
        low, high = (0.0, 0.0)
        if highest > 0:
            low, high = torch.stack([lowest, highest]).double().log().tolist()
        step = max((high - low) / top, 1e-12)
        scaled = s.log().sub_(low).div_(step).round_().clamp_(0, top).add_(1)
        codes = (scaled.mul_(s > 0) if with_zeros else scaled).to(torch.uint8)
        levels = (low + step * torch.arange(top + 1, dtype=torch.float64, device=s.device)).exp()
        levels = torch.cat([levels.new_zeros(1), levels]).to(s.dtype)
        return replace(self, codes=codes, levels=levels, first_code=0, proximity=None)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Positions:
        """Return a copy on another device, or with proximities of another float type."""

        def moved(tensor: Tensor | None) -> Any:
            return None if tensor is None else tensor.to(device)

        def cast(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, dtype)

        return replace(
            self,
            nearest=moved(self.nearest),
            codes=moved(self.codes),
            levels=cast(self.levels),
            proximity=cast(self.proximity),
            members=None if self.members is None else tuple(map(moved, self.members)),
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""
        return len(self.nearest)

    @property
    def num_sets(self) -> int:
        """Number of sets k."""
        return int(self.nearest.shape[1])

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.nearest.device

    def __repr__(self) -> str:
        kind = "exact" if self.levels is None else f"{len(self.levels)} levels"
        who = "closest" if self.members is None else "mean"
        return f"Positions({kind}, {who}, num_nodes={self.num_nodes}, num_sets={self.num_sets})"


def as_positions(distances: Any) -> Positions:
    """Return Positions as they are; make them of anything else."""
    return distances if isinstance(distances, Positions) else Positions.from_distances(distances)


def _field(distances: Any, name: str) -> Tensor | None:
    value = getattr(distances, name, None)
    return None if value is None else _tensor(value)


def _tensor(value: Any) -> Tensor:
    """A tensor of a tensor, array or sequence; shares memory where torch may write to it."""
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _flat(sets: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Bounds and nodes of sets: those that `pgnn.AnchorSets` has, or made of sequences."""
    if hasattr(sets, "indptr"):
        return sets.indptr, sets.nodes
    groups = [_tensor(nodes).cpu().long().numpy() for nodes in sets]
    indptr = np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
    return indptr, np.concatenate(groups)


def _graph_of_nodes(batch: Any, num_nodes: int) -> NDArray[np.int64]:
    if batch is None:
        return np.zeros(num_nodes, dtype=np.int64)
    graph = _tensor(batch).cpu().long().numpy()
    if graph.shape != (num_nodes,):
        raise PGNNError(f"batch must have shape [{num_nodes}] (got {list(graph.shape)})")
    if num_nodes and graph.min() < 0:
        raise PGNNError(f"batch must number the graphs from 0 (got {graph.min()})")
    return graph


def _as_int32(nearest: Tensor) -> Tensor:
    return nearest.int() if nearest.dtype in _INTEGERS else nearest


def _check_positions(positions: Positions) -> None:
    nearest, codes, s = positions.nearest, positions.codes, positions.proximity
    if (codes is None) == (s is None) or (codes is None) != (positions.levels is None):
        raise PGNNError("positions need either codes and levels, or proximities")
    like = s if codes is None else codes
    assert like is not None
    if nearest.ndim != 2 or nearest.shape != like.shape:
        raise PGNNError(
            "nearest and the distances must have the same shape [n, k] "
            f"(got {list(nearest.shape)} and {list(like.shape)})"
        )
    if nearest.shape[1] == 0:
        raise PGNNError("at least one anchor-set is needed (got distances to none)")
    for name, tensor in (("nearest", nearest), ("hops", codes)):
        if tensor is not None and tensor.dtype not in _INTEGERS:
            raise PGNNError(f"{name} must be integers (got {tensor.dtype})")
    if s is not None and not s.is_floating_point():
        raise PGNNError(f"proximities must be floats (got {s.dtype})")
    if nearest.numel() == 0:
        return
    groups = len(nearest) if positions.members is None else len(positions.members[0]) - 1
    low, high = (int(bound) for bound in nearest.aminmax())
    if low < -1 or high >= groups:
        raise PGNNError(
            f"nearest names node {low if low < -1 else high}, but there are {groups} nodes"
        )
    if s is not None:
        least, most = s.aminmax()  # NaN both, if one is
        if not (least >= 0 and most < torch.inf):
            raise PGNNError("proximities must be finite numbers >= 0")
    if codes is not None:
        assert positions.levels is not None
        last = positions.first_code + len(positions.levels) - 1
        low, high = (int(bound) for bound in codes.aminmax())
        if low < positions.first_code or high > last:
            raise PGNNError(
                f"codes must lie in {positions.first_code}..{last}, hops be >= 0, or -1 for not "
                f"reached (got {low if low < positions.first_code else high})"
            )
