"""Ridge logistic regression on the columns of pairs: what the heads of a small graph lean on."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

_PENALTY = 30.0  # on squared weights, where a link that is got wrong costs about 1
_MAX_STEPS = 30
_ENOUGH = 1e-5  # gain per link below which the search ends


def fit_ridge(
    columns: Tensor,
    num_links: int,
    *,
    log_density: Tensor,
    log_missing: Tensor,
    start: Tensor | None = None,
) -> Tensor:
    r"""Fit f(c) = w . c + b to the loss of the heads, plus a penalty \|w\|^2.

    Links and negatives have the same total weight. Gauss-Newton steps, halved until they help.

    Args:
        columns: Scaled columns, links first, `[m, columns]`.
        num_links: How many rows are links.
        log_density: Of each row, as in `HeadData`.
        log_missing: Of each row, as in `HeadData`.
        start: Where to begin; by default at 0.

    Returns:
        The weights and, last, b: float64 `[columns + 1]`.
    """
    count = len(columns)
    x = torch.cat([columns, columns.new_ones(count, 1)], dim=1).double()
    labels = (torch.arange(count, device=x.device) < num_links).double()
    weights = labels + (1 - labels) * num_links / (count - num_links)
    penalty = x.new_full((x.shape[1],), _PENALTY)
    penalty[-1] = 1e-6

    def logits_of(solution: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits that training compares with labels, and their slope in f."""
        f = x @ solution
        return f - softplus(f + log_missing) - log_density, torch.sigmoid(-f - log_missing)

    def cost_of(solution: Tensor) -> float:
        logits, _ = logits_of(solution)
        return float(weights @ (softplus(logits) - labels * logits) + 0.5 * penalty @ solution**2)

    solution = torch.zeros_like(penalty) if start is None else start
    cost = cost_of(solution)
    for _ in range(_MAX_STEPS):
        logits, slope = logits_of(solution)
        chance = torch.sigmoid(logits)
        gradient = x.T @ (weights * (chance - labels) * slope) + penalty * solution
        bend = weights * chance * (1 - chance) * slope**2
        step = torch.linalg.solve((x * bend[:, None]).T @ x + penalty.diag(), gradient)
        length = 1.0
        while (reached := cost_of(solution - length * step)) > cost and length > 1e-4:
            length /= 2
        if reached > cost:
            break
        solution, gain, cost = solution - length * step, cost - reached, reached
        if gain < _ENOUGH * num_links:
            break
    return solution
