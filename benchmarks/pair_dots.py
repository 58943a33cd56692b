"""Dot products of node pairs, forward and backward: one kernel against gathering rows in torch.

Times are those of the processor, on one thread.

Run: python benchmarks/pair_dots.py, which writes results/pair_dots.json
"""

from __future__ import annotations

from time import process_time

import torch
from result_files import write_rows
from torch import Tensor

from pgnn.bench.measure import best_time
from pgnn.nn.pairs import pair_dots


def gathered(z: Tensor, pairs: Tensor) -> Tensor:
    """Return the dot products as the released code computes them."""
    return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(-1)


def main() -> None:
    """Measure three sizes; print and write times and ratios."""
    torch.set_num_threads(1)
    random = torch.Generator().manual_seed(0)
    rows = []
    for nodes, sets, count in ((400, 64, 1_216), (400, 64, 6_080), (3_000, 121, 70_000)):
        z = torch.randn(nodes, sets, generator=random).requires_grad_()
        pairs = torch.randint(0, nodes, (count, 2), generator=random)
        grad = torch.randn(count, generator=random)
        times = []
        for dots in (pair_dots, gathered):

            def step(dots=dots, z=z, pairs=pairs, grad=grad) -> None:  # type: ignore[no-untyped-def]
                torch.autograd.grad(dots(z, pairs), z, grad)

            step()
            times.append(best_time(step, 20 if count > 10_000 else 100, clock=process_time))
        row = {
            "nodes": nodes,
            "sets": sets,
            "pairs": count,
            "seconds": times[0],
            "gathered_seconds": times[1],
            "ratio": times[1] / times[0],
        }
        print("   ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
        rows.append(row)
    write_rows("pair_dots", rows, threads=1)


if __name__ == "__main__":
    main()
