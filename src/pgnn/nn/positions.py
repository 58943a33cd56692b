"""What a layer reads of the graph: how near nodes are to sets, and who speaks for a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pgnn import checks
from pgnn.checks import integer, is_dense_tensor, shown
from pgnn.errors import Parameter, PGNNError

_NUM_LEVELS = 256
_MOST_HOPS = 2**31 - 2  # a path visits no node twice
_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    r"""Proximity s(v, S_i) of every node to every anchor-set, as tensors on one device.

    Proximities are numbers >= 0 that grow with nearness, 0 for "not reached". They are held either
    as small integer codes and a table of what each code means, or exactly. `PGNN` and `PGNNLayer`
    make this themselves from `pgnn.anchor_distances`; make it yourself to move it to another
    device once, to use personalised PageRank, or to quantise. However it is made, its numbers are
    checked, because kernels address memory by them. A layer checks them again if a tensor was
    changed in place since.

    Attributes:
        nearest: Who speaks for the set, int32 `[n, k]`: the index of the nearest anchor, or of a
            group of `members`; -1 if no anchor is reached.
        codes: Integers `[n, k]`, or None if `proximity` is there.
        levels: The proximity that each code means, `[codes]`: code c means levels[c - first_code].
        first_code: The code that `levels` begins with: -1 for hops, where -1 is "not reached".
        proximity: Exact proximities `[n, k]`, or None if `codes` are there.
        members: Groups of nodes that speak with their mean, as bounds `[groups + 1]` and nodes, or
            None where single nodes speak.

    Raises:
        PGNNError: If the tensors do not fit each other, or hold numbers out of range.
    """

    nearest: Tensor
    codes: Tensor | None = None
    levels: Tensor | None = None
    first_code: int = 0
    proximity: Tensor | None = None
    members: tuple[Tensor, Tensor] | None = None

    def __post_init__(self) -> None:
        _check_positions(self)
        # Kernels walk over rows of one piece, and read who speaks as int32.
        object.__setattr__(self, "nearest", self.nearest.int().contiguous())
        for name in ("codes", "proximity"):
            tensor = getattr(self, name)
            if tensor is not None:
                object.__setattr__(self, name, tensor.contiguous())
        object.__setattr__(self, "_versions", self._current_versions())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check again what was pickled or copied."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def checked(self) -> Positions:
        """Return itself; checked again if a tensor was changed in place since the last check.

        Raises:
            PGNNError: If it now holds numbers out of range.
        """
        versions = self._current_versions()
        if versions is None or versions != self._versions:  # type: ignore[attr-defined]
            _check_positions(self)
            object.__setattr__(self, "_versions", versions)
        return self

    def _current_versions(self) -> tuple[int, ...] | None:
        """Return how often each tensor was changed, as torch counts; None where it does not."""
        tensors = (self.nearest, self.codes, self.levels, self.proximity, *(self.members or ()))
        known = [tensor for tensor in tensors if tensor is not None]
        if any(tensor.is_inference() for tensor in known):
            return None
        return tuple(tensor._version for tensor in known)

    @classmethod
    @checks.checked
    def from_distances(cls, distances: Any) -> Positions:
        """Build from `pgnn.AnchorDistances`, or anything with its fields, as arrays or tensors.

        s = 1 / (d + 1), 0 where the set is not reached. Hops become codes; weighted lengths are
        held exactly. Arrays are copied: a tensor may be written to, and distances may not.

        Raises:
            PGNNError: If a field is missing or has a wrong shape or type.

        Example:
            >>> from types import SimpleNamespace
            >>> d = SimpleNamespace(hops=torch.tensor([[0], [2], [-1]]),
            ...                     nearest=torch.tensor([[0], [0], [-1]]))
            >>> Positions.from_distances(d).levels
            tensor([0.0000, 1.0000, 0.5000, 0.3333], dtype=torch.float64)
        """
        return _of_distances(distances, share=False)

    @classmethod
    @checks.checked
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
                Parameter("proximity"),
                f" must be floats [n, k], k >= 1 (got {s.dtype} of shape {list(s.shape)})",
            )
        n, k = s.shape
        indptr, nodes = _flat(sets)
        if len(indptr) - 1 != k:
            raise PGNNError(f"proximity has {k} columns, but there are {len(indptr) - 1} sets")
        if indptr[0] != 0 or indptr[-1] != len(nodes) or (indptr[1:] < indptr[:-1]).any():
            raise PGNNError(Parameter("sets"), " must have bounds that ascend to their last node")
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < n:
            raise PGNNError(f"the sets hold nodes that are not in 0..{n - 1}")
        graph = _graph_of_nodes(batch, n)
        from pgnn.nn.kernels.positions import group_members

        num_graphs = int(graph.max()) + 1 if n else 1
        groups = group_members(indptr, nodes, graph, num_graphs)
        bounds, members, nearest = (torch.from_numpy(array).to(s.device) for array in groups)
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

        # What is not reached has the logarithm minus infinity, and keeps it: its logistic is 0.
        logs = s.cpu().double().log()
        group = self.nearest.cpu().numpy().reshape(-1)
        standardise_groups(logs.view(-1).numpy(), group, len(self.members[0]) - 1, 1e-9)
        return self._with(proximity=logs.sigmoid_().to(s.device, s.dtype))

    def quantised(self) -> Positions:
        r"""Round exact proximities to 255 levels, evenly spaced in their logarithm.

        A code of one byte names the level. 0 stays 0. The relative error is at most
        (max / min)^(1/508) - 1 over the positive proximities: 2.8% if they span six orders of
        magnitude. Layers then evaluate a learned gate
        once per level, not once per pair, and read a quarter of the memory.

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
        return self._with(codes=codes, levels=levels, first_code=0, proximity=None)

    @checks.checked
    def split(self, num_parts: int) -> list[Positions]:
        """Return the positions to the first sets, to the next, and so on, equally many each.

        Each part has the levels that it needs, so it is what it would be without the others.

        Raises:
            PGNNError: If the sets cannot be cut into so many parts, or the positions are not hops.

        Example:
            >>> from types import SimpleNamespace
            >>> d = SimpleNamespace(hops=torch.tensor([[0, 1], [2, 0]]),
            ...                     nearest=torch.tensor([[0, 1], [0, 1]]))
            >>> first, second = Positions.from_distances(d).split(2)
            >>> first.codes.tolist(), len(first.levels), len(second.levels)
            ([[0], [2]], 4, 3)
        """
        n, k = self.nearest.shape
        if self.codes is None or self.levels is None or self.members is not None:
            raise PGNNError("only positions that are hops to the nearest anchor can be split")
        if integer("num_parts", num_parts, at_least=1) > k or k % num_parts:
            raise PGNNError(
                Parameter("num_parts"), f" must divide the number of sets, {k} (got {num_parts})"
            )
        shape = (n, num_parts, k // num_parts)
        nearest, codes = (
            tensor.view(shape).transpose(0, 1).contiguous() for tensor in (self.nearest, self.codes)
        )
        highest = codes.flatten(1).amax(1).tolist() if n else [0] * num_parts
        ends = [max(most, 0) - self.first_code + 1 for most in highest]
        return [
            self._with(nearest=near, codes=code, levels=self.levels[:end])
            for near, code, end in zip(nearest, codes, ends, strict=True)
        ]

    @checks.checked
    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> Positions:
        """Return a copy on another device, or with proximities of another float type."""
        if isinstance(device, str):
            try:
                device = torch.device(device)
            except RuntimeError as error:
                raise PGNNError(
                    Parameter("device"), f" {device!r} is none that torch knows"
                ) from error
        if dtype is not None and not dtype.is_floating_point:
            raise PGNNError(Parameter("dtype"), f" must be a float type (got {dtype})")

        def moved(tensor: Tensor | None) -> Any:
            return None if tensor is None else tensor.to(device)

        def cast(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, dtype)

        return self._with(
            nearest=moved(self.nearest),
            codes=moved(self.codes),
            levels=cast(self.levels),
            proximity=cast(self.proximity),
            members=None if self.members is None else tuple(map(moved, self.members)),
        )

    def _with(self, **changes: Any) -> Positions:
        """Return a copy with tensors that a method made of checked ones: these need no new check.

        `dataclasses.replace` calls `__init__`, so that it does check.
        """
        changed = object.__new__(Positions)
        for name, value in {**vars(self), **changes}.items():
            object.__setattr__(changed, name, value)  # the class is frozen
        object.__setattr__(changed, "_versions", changed._current_versions())
        return changed

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


def shared_positions(distances: Any) -> Positions:
    """Build as `Positions.from_distances` does, in the memory of read-only arrays.

    For distances that nobody else has, or positions that are not handed on: what is written to
    their tensors is written to the distances.
    """
    return _of_distances(distances, share=True)


def _of_distances(distances: Any, *, share: bool) -> Positions:
    nearest = _field(distances, "nearest", share)
    if nearest is None:
        raise PGNNError(
            Parameter("distances"),
            " must be the result of pgnn.anchor_distances or Positions "
            f"(got {type(distances).__name__})",
        )
    hops, lengths = _field(distances, "hops", share), _field(distances, "lengths", share)
    if (hops is None) == (lengths is None):
        raise PGNNError(Parameter("distances"), " must have either hops or lengths")
    if lengths is not None:
        if lengths.is_complex() or not bool((lengths >= 0).all()):
            raise PGNNError(Parameter("lengths"), " must be numbers >= 0, infinite for not reached")
        return Positions(nearest, proximity=1 / (lengths + 1))
    assert hops is not None
    if hops.dtype not in _INTEGERS:
        raise PGNNError(f"hops must be integers (got {hops.dtype})")
    highest = int(hops.max()) if hops.numel() else 0
    if highest > _MOST_HOPS:
        raise PGNNError(Parameter("hops"), f" must be below 2^31 (got {highest})")
    checks.fits_memory("hops", f"up to {highest:,}", 32 * max(highest, 0))  # a level for each
    levels = 1 / torch.arange(max(highest, 0) + 2, dtype=torch.float64, device=hops.device)
    levels[0] = 0
    return Positions(nearest, codes=hops, levels=levels, first_code=-1)


@runtime_checkable
class MemberProximity(Protocol):
    """Proximity of nodes to single members of sets, computed on demand: `pgnn.MemberDistances`."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""

    @property
    def num_sets(self) -> int:
        """Number of sets k."""

    def blocks(self, max_rows: int) -> Iterator[tuple[int, int, Sequence[Any]]]:
        """Yield ranges start..stop of nodes of one graph, and the members of the k sets there."""

    def proximity(self, start: int, stop: int) -> Any:
        """Return s(v, u) of the nodes v in start..stop and all nodes u, `[stop - start, n]`."""


def prepare_distances(x: Tensor, distances: Any, agg_m: str) -> Positions | MemberProximity:
    """Return distances in the form that layers read, checked against x and AGG_M."""
    prepared: Positions | MemberProximity
    if not isinstance(distances, Positions) and isinstance(distances, MemberProximity):
        if agg_m == "closest":
            raise PGNNError(
                "agg_m='closest' reads pgnn.anchor_distances(graph, sets); distances to all "
                "members are for agg_m 'mean', 'min', 'max' or 'sum'"
            )
        prepared = distances
    else:
        prepared = (
            distances.checked() if isinstance(distances, Positions) else shared_positions(distances)
        )
        if prepared.members is not None and agg_m != "mean":
            raise PGNNError(
                f"these proximities are of whole sets, which speak with their mean; the layer has "
                f"agg_m={agg_m!r}, make it with agg_m='mean'"
            )
        if prepared.members is None and agg_m != "closest":
            raise PGNNError(
                f"agg_m={agg_m!r} needs the distance to every member, "
                "pgnn.MemberDistances(graph, sets); these know only the nearest"
            )
    if prepared.num_nodes != len(x):
        raise PGNNError(
            f"x has {len(x)} rows, but the distances are of a graph of {prepared.num_nodes} nodes"
        )
    if prepared.num_sets == 0:
        raise PGNNError("at least one anchor-set is needed (got distances to none)")
    if isinstance(prepared, Positions):
        if prepared.device != x.device:
            if isinstance(distances, Positions):
                raise PGNNError(
                    f"x is on {x.device} but the positions are on {prepared.device}; "
                    "use positions.to(x.device)"
                )
            prepared = prepared.to(x.device)
        floats = prepared.proximity if prepared.levels is None else prepared.levels
        if floats is not None and floats.dtype != x.dtype:
            prepared = prepared.to(dtype=x.dtype)
    return prepared


def _field(distances: Any, name: str, share: bool) -> Tensor | None:
    value = getattr(distances, name, None)
    return None if value is None else _tensor(value, share=share)


def _tensor(value: Any, *, share: bool = True) -> Tensor:
    """Return a tensor of a tensor, array or sequence.

    Memory of an array that cannot be written to may be shared; another is copied, since nobody
    would see that it is changed later.

    Raises:
        PGNNError: If it is none of numbers.
    """
    if isinstance(value, Tensor):
        return value
    try:
        array = np.asarray(value)
        array = array.astype(array.dtype.newbyteorder("="), copy=array.flags.writeable or not share)
        if array.flags.writeable or not array.flags.c_contiguous:
            return torch.from_numpy(np.ascontiguousarray(array))
        return torch.from_numpy(np.asarray(_Writable(array)))
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(f"an array of numbers is needed ({error})") from error


def _on_cpu(value: Any) -> Tensor:
    """Return a tensor whose numbers can be read."""
    tensor = _tensor(value)
    if tensor.is_meta or not is_dense_tensor(tensor):
        raise PGNNError(f"a dense tensor with numbers is needed (got {shown(value)})")
    return tensor.cpu()


class _Writable:
    """An array that says that it may be written to: torch warns of others, and has no such type."""

    def __init__(self, array: NDArray[Any]) -> None:
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self.array = array  # which owns the memory


def _flat(sets: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the bounds and nodes that `pgnn.AnchorSets` has, or make them of sequences."""
    if hasattr(sets, "indptr") and hasattr(sets, "nodes"):
        return np.ascontiguousarray(sets.indptr, dtype=np.int64), np.ascontiguousarray(sets.nodes)
    try:
        groups = [_integers(nodes) for nodes in sets]
    except TypeError as error:
        raise PGNNError(Parameter("sets"), f" must be sequences of nodes ({error})") from error
    if not groups:
        raise PGNNError(Parameter("sets"), " must be one or more (got none)")
    indptr = np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
    return indptr, np.concatenate(groups)


def _integers(nodes: Any) -> NDArray[np.int64]:
    tensor = _on_cpu(nodes)
    if tensor.ndim != 1 or (tensor.numel() and tensor.dtype not in _INTEGERS):
        raise PGNNError(
            f"a set must be a list of nodes (got {tensor.dtype} of shape {list(tensor.shape)})"
        )
    return tensor.long().numpy()


def _graph_of_nodes(batch: Any, num_nodes: int) -> NDArray[np.int64]:
    if batch is None:
        return np.zeros(num_nodes, dtype=np.int64)
    graph = _on_cpu(batch).long().numpy()
    if graph.shape != (num_nodes,):
        raise PGNNError(
            Parameter("batch"), f" must have shape [{num_nodes}] (got {list(graph.shape)})"
        )
    if num_nodes and not 0 <= graph.min() <= graph.max() < num_nodes:
        bad = graph.min() if graph.min() < 0 else graph.max()
        raise PGNNError(Parameter("batch"), f" must number the graphs from 0 (got {bad})")
    return graph


def _check_kinds(positions: Positions) -> None:
    """Refuse what is no tensor, or is on another device than the rest."""
    tensors = {name: getattr(positions, name) for name in ("nearest", "codes", "levels")}
    tensors |= {"proximity": positions.proximity}
    if positions.members is not None:
        if not isinstance(positions.members, tuple) or len(positions.members) != 2:
            raise PGNNError(Parameter("members"), " must be two tensors: bounds and nodes")
        tensors |= dict(zip(("bounds of members", "members"), positions.members, strict=True))
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor) and (tensor is not None or name == "nearest"):
            raise PGNNError(Parameter(name), f" must be a tensor (got {type(tensor).__name__})")
        fits = tensor is None or (
            is_dense_tensor(tensor) and tensor.device == positions.nearest.device
        )
        if not fits:
            raise PGNNError(Parameter(name), " must be dense, and on the device of nearest")
    integer("first_code", positions.first_code, at_least=-(2**31))


def _check_positions(positions: Positions) -> None:
    _check_kinds(positions)
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
    num_speakers, kind = len(nearest), "nodes"
    if positions.members is not None:
        _check_members(*positions.members, len(nearest))
        num_speakers, kind = len(positions.members[0]) - 1, "groups"
    low, high = (int(bound) for bound in nearest.aminmax())
    if low < -1 or high >= num_speakers:
        raise PGNNError(
            f"nearest names {kind[:-1]} {low if low < -1 else high}, "
            f"but there are {num_speakers} {kind}"
        )
    if s is not None:
        least, most = s.aminmax()  # NaN both, if one is
        if not (least >= 0 and most < torch.inf):
            raise PGNNError("proximities must be finite numbers >= 0")
    if codes is not None:
        assert positions.levels is not None
        _check_codes(codes, positions.levels, positions.first_code)


def _check_codes(codes: Tensor, levels: Tensor, first_code: int) -> None:
    if levels.ndim != 1 or not levels.is_floating_point():
        raise PGNNError(
            Parameter("levels"),
            f" must be floats [codes] (got {levels.dtype} of shape {list(levels.shape)})",
        )
    if len(levels) and not (levels.min() >= 0 and levels.max() < torch.inf):
        raise PGNNError(Parameter("levels"), " must be finite numbers >= 0")
    last_code = first_code + len(levels) - 1
    low, high = (int(bound) for bound in codes.aminmax())
    if low < first_code or high > last_code:
        raise PGNNError(
            Parameter("codes"),
            f" must lie in {first_code}..{last_code}, hops be >= 0, or -1 for not "
            f"reached (got {low if low < first_code else high})",
        )


def _check_members(bounds: Tensor, nodes: Tensor, num_nodes: int) -> None:
    if bounds.dtype != torch.int64 or nodes.dtype != torch.int64 or bounds.ndim * nodes.ndim != 1:
        raise PGNNError(Parameter("members"), " must be bounds [groups + 1] and nodes, both int64")
    ends = bounds[[0, -1]].tolist() if len(bounds) else None
    if ends != [0, len(nodes)] or bool((bounds[1:] < bounds[:-1]).any()):
        raise PGNNError("the bounds of members must ascend from 0 to the number of their nodes")
    if len(nodes):
        low, high = (int(bound) for bound in nodes.aminmax())
        if low < 0 or high >= num_nodes:
            raise PGNNError(f"the members hold nodes that are not in 0..{num_nodes - 1}")
