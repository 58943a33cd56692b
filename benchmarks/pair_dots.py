"""Dot products of node pairs, forward and backward: one kernel against gathering rows in torch.

Run: python benchmarks/pair_dots.py
"""

from __future__ import annotations

import torch
from torch import Tensor

from pgnn.bench.measure import best_time
from pgnn.nn.pairs import pair_dots


def gathered(z: Tensor, pairs: Tensor) -> Tensor:
    """Return the dot products as the released code computes them."""
    return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(-1)


def main() -> None:
    """Measure three sizes on torch's threads and print times and ratios."""
    random = torch.Generator().manual_seed(0)
    print(f"{torch.get_num_threads()} threads")
    for nodes, sets, count in ((400, 64, 1_216), (400, 64, 6_080), (3_000, 121, 70_000)):
        z = torch.randn(nodes, sets, generator=random).requires_grad_()
        pairs = torch.randint(0, nodes, (count, 2), generator=random)
        grad = torch.randn(count, generator=random)
        times = []
        for dots in (pair_dots, gathered):

            def step(dots=dots, z=z, pairs=pairs, grad=grad) -> None:  # type: ignore[no-untyped-def]
                torch.autograd.grad(dots(z, pairs), z, grad)

            step()
            times.append(best_time(step, 5 if count > 10_000 else 100))
        print(
            f"{nodes:,} nodes, {sets} sets, {count:,} pairs: pgnn {1e3 * times[0]:.3g} ms, "
            f"gathered {1e3 * times[1]:.3g} ms, {times[1] / times[0]:.0f}x"
        )


if __name__ == "__main__":
    main()
