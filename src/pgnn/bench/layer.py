"""`pgnn bench layer`: one layer, forward and backward, against the released formulation."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pgnn.bench.graphs import random_graph
from pgnn.bench.measure import best_time, in_child
from pgnn.bench.memory import peak_bytes, reset_peak
from pgnn.errors import PGNNError
from pgnn.nn import PGNNLayer, Positions
from pgnn.positions import anchor_distances
from pgnn.positions.anchors import sample_anchor_sets

CHANNELS = 32
DEGREE = 10


@dataclass(frozen=True)
class Size:
    """A graph to measure, and how often each way is timed; 0 for not at all."""

    fused: int
    eager: int
    released: int


SIZES = {
    400: Size(fused=500, eager=50, released=50),
    3_000: Size(fused=100, eager=10, released=5),
    20_000: Size(fused=20, eager=3, released=2),
    200_000: Size(fused=3, eager=0, released=0),
}


@dataclass(frozen=True)
class Row:
    """One size; times are the best of several, peaks are growth of the process while it computes.

    `process_bytes` is all of the process that ran the fused layer: Python, torch, graph and all.
    """

    nodes: int
    sets: int
    seconds: float
    released_seconds: float | None
    ratio: float | None
    peak_bytes: int
    released_peak_bytes: int | None
    peak_ratio: float | None
    eager_seconds: float | None
    eager_peak_bytes: int | None
    process_bytes: int
    channels: int
    threads: int


def run(nodes: list[int] | None = None, num_threads: int | None = None) -> Iterator[Row]:
    """Measure each size and way in a process of its own, so that peaks of memory do not mix."""
    unknown = set(nodes or ()) - set(SIZES)
    if unknown:
        sizes = ", ".join(map(str, SIZES))
        raise PGNNError(f"there is no size of {min(unknown)} nodes; there are {sizes}")
    for count in nodes or SIZES:
        measured = {
            way: in_child("pgnn.bench.layer", count, way, num_threads or "")
            for way in ("fused", "eager", "released")
            if getattr(SIZES[count], way)
        }
        fused, eager, released = (measured.get(way, {}) for way in ("fused", "eager", "released"))
        yield Row(
            nodes=count,
            sets=fused["sets"],
            seconds=fused["seconds"],
            released_seconds=released.get("seconds"),
            ratio=released["seconds"] / fused["seconds"] if released else None,
            peak_bytes=fused["peak_bytes"],
            released_peak_bytes=released.get("peak_bytes"),
            peak_ratio=released["peak_bytes"] / fused["peak_bytes"] if released else None,
            eager_seconds=eager.get("seconds"),
            eager_peak_bytes=eager.get("peak_bytes"),
            process_bytes=fused["process_bytes"],
            channels=CHANNELS,
            threads=fused["threads"],
        )


def measure(nodes: int, way: str) -> dict[str, Any]:
    """Measure one size and way in this process."""
    steps: dict[str, Callable[[Positions], Callable[[], None]]] = {
        "fused": lambda positions: layer_step(positions, "fused"),
        "eager": lambda positions: layer_step(positions, "eager"),
        "released": released_step,
    }
    make_step = steps[way]
    make_step(_positions(40))()  # compiles or loads kernels
    positions = _positions(nodes)
    step = make_step(positions)
    reset_peak()
    before = peak_bytes()  # what is held now
    step()
    peak = peak_bytes()
    return {
        "sets": positions.num_sets,
        "seconds": best_time(step, getattr(SIZES[nodes], way)),
        "peak_bytes": peak - before,
        "process_bytes": peak,
        "threads": torch.get_num_threads(),
    }


def _positions(nodes: int) -> Positions:
    graph = random_graph(nodes, nodes * DEGREE // 2, rng=0)
    sets = sample_anchor_sets(nodes, rng=0)
    return Positions.from_distances(anchor_distances(graph, sets)).to(dtype=torch.float32)


def _forward_and_backward(
    layer: nn.Module, forward: Callable[[Tensor], Any], positions: Positions
) -> Any:
    parameters = list(layer.parameters())
    random = torch.Generator().manual_seed(0)
    x = torch.randn(positions.num_nodes, CHANNELS, generator=random).requires_grad_()
    grad_z = torch.randn(positions.nearest.shape, generator=random)
    grad_h = torch.randn(x.shape, generator=random)

    def step() -> None:
        for leaf in (x, *parameters):
            leaf.grad = None
        torch.autograd.backward(forward(x), [grad_z, grad_h])

    return step


def layer_step(positions: Positions, kernel: Any) -> Any:
    """Return a function that runs our layer, with the released settings, and its backward."""
    layer = PGNNLayer(CHANNELS, CHANNELS, message="released", gate="scalar", kernel=kernel)
    return _forward_and_backward(layer, lambda x: layer(x, positions), positions)


def released_step(positions: Positions) -> Any:
    """Return a function that runs the released formulation and its backward."""
    assert positions.levels is not None
    assert positions.codes is not None
    layer = ReleasedLayer()
    proximity = positions.levels[positions.codes.long() - positions.first_code]
    nearest = positions.nearest.long().clamp(min=0)
    return _forward_and_backward(layer, lambda x: layer(x, proximity, nearest), positions)


class ReleasedLayer(nn.Module):
    """The released formulation written anew: a message a pair, gathered, joined, multiplied."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(1, CHANNELS), nn.ReLU(), nn.Linear(CHANNELS, 1))
        self.hidden = nn.Linear(2 * CHANNELS, CHANNELS)
        self.out = nn.Linear(CHANNELS, 1)

    def forward(self, x: Tensor, proximity: Tensor, nearest: Tensor) -> tuple[Tensor, Tensor]:
        """Return z and h."""
        gate = self.gate(proximity.unsqueeze(-1))  # [n, k, 1]
        anchors = x[nearest.flatten()].reshape(*nearest.shape, -1)  # [n, k, d]
        own = x.unsqueeze(1).repeat(1, nearest.shape[1], 1)  # [n, k, d]
        messages = self.hidden(torch.cat([anchors * gate, own], dim=-1)).relu()  # [n, k, r]
        return self.out(messages).squeeze(-1), messages.mean(dim=1)


if __name__ == "__main__":
    if sys.argv[3]:
        torch.set_num_threads(int(sys.argv[3]))
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
