"""AGG_M over all members of a set: every pair (v, u), a block of nodes at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
from torch import Tensor

if TYPE_CHECKING:
    from pgnn.nn.layer import PGNNLayer

_BLOCK_NUMBERS = 1 << 22  # largest tensor of messages, in numbers

REDUCE: dict[str, Callable[[Tensor], Tensor]] = {  # [rows, members or sets, r] -> [rows, r]
    "mean": lambda messages: messages.mean(1),
    "min": lambda messages: messages.amin(1),  # equal entries share the gradient
    "max": lambda messages: messages.amax(1),
    "sum": lambda messages: messages.sum(1),
}


@runtime_checkable
class MemberProximity(Protocol):
    """Proximity of nodes to single members of sets, computed when asked: `pgnn.MemberDistances`."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes n."""

    @property
    def num_sets(self) -> int:
        """Number of sets k."""

    def blocks(self, max_rows: int) -> Iterator[tuple[int, int, Sequence[Any]]]:
        """Give ranges start..stop of nodes of one graph, and the members of the k sets there."""

    def proximity(self, start: int, stop: int) -> Any:
        """Return s(v, u) of the nodes v in start..stop and all nodes u, `[stop - start, n]`."""


def aggregate_whole_sets(
    layer: PGNNLayer, x: Tensor, distances: MemberProximity
) -> tuple[Tensor, Tensor]:
    """Return M w `[n, k]` and h `[n, r]`, with M_v[i] = AGG_M over all members of set i."""
    own, anchor = layer.project(x, x)
    rows = max(1, _BLOCK_NUMBERS // (max(len(x), distances.num_sets) * max(anchor.shape[1], 1)))

    def block(
        own: Tensor, anchor: Tensor, start: int, stop: int, sets: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        s = torch.as_tensor(distances.proximity(start, stop)).to(x)[..., None]  # [b, n, 1]
        own = own[start:stop, None]
        messages = layer.messages(layer.gated(s), own, anchor)  # [b, n, r]
        nothing = torch.zeros_like(s[:, :1])  # what a set without a member in this graph says
        silent = layer.messages(layer.gated(nothing), own, torch.zeros_like(anchor[:1]))
        reduce = REDUCE[layer.agg_m]
        stacked = torch.stack(
            [reduce(messages[:, nodes]) if len(nodes) else silent[:, 0] for nodes in sets], 1
        )  # [b, k, r]
        return layer.reduced(stacked)

    outputs = []
    for start, stop, sets in distances.blocks(rows):
        members = [torch.tensor(nodes, dtype=torch.long, device=x.device) for nodes in sets]
        outputs.append(layer.computed_anew(block, own, anchor, start, stop, members))
    products, hs = zip(*outputs, strict=True)
    return torch.cat(products), torch.cat(hs)
