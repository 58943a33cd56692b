"""Ridge logistic regression on the columns of pairs: what the heads of a small graph lean on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PENALTY = 30.0  # on squared weights, where a link that is got wrong costs about 1
_MAX_STEPS = 30
_ENOUGH = 1e-5  # gain per link below which the search ends


def fit_ridge(
    columns: NDArray[np.floating],
    num_links: int,
    *,
    log_density: NDArray[np.floating],
    log_missing: NDArray[np.floating],
    start: Array | None = None,
) -> Array:
    r"""Fit f(c) = w . c + b to the loss of the heads, plus a penalty \|w\|^2.

    Links and negatives have the same total weight. Gauss-Newton steps, halved until they help.

    Args:
        columns: Scaled columns, links first, `[m, columns]`.
        num_links: How many rows are links.
        log_density: Of each row, as in `HeadData`.
        log_missing: Of each row, as in `HeadData`.
        start: Where to begin; by default at 0.

    Returns:
        The weights and, last, b: `[columns + 1]`.
    """
    count = len(columns)
    x = np.concatenate([columns, np.ones((count, 1))], axis=1, dtype=np.float64)
    labels = np.arange(count) < num_links
    weights = np.where(labels, 1.0, num_links / (count - num_links))
    penalty = np.append(np.full(columns.shape[1], _PENALTY), 1e-6)

    def logits_of(solution: Array) -> tuple[Array, Array]:
        """Return the logits that training compares with labels, and their slope in f."""
        f = x @ solution
        return f - np.logaddexp(0, f + log_missing) - log_density, 1 - _sigmoid(f + log_missing)

    def cost_of(solution: Array) -> float:
        logits, _ = logits_of(solution)
        losses = np.logaddexp(0, logits) - labels * logits
        return float(weights @ losses + 0.5 * penalty @ solution**2)

    solution = np.zeros(x.shape[1]) if start is None else start
    cost = cost_of(solution)
    for _ in range(_MAX_STEPS):
        logits, slope = logits_of(solution)
        chance = _sigmoid(logits)
        gradient = x.T @ (weights * (chance - labels) * slope) + penalty * solution
        bend = weights * chance * (1 - chance) * slope**2
        step = np.linalg.solve((x * bend[:, None]).T @ x + np.diag(penalty), gradient)
        length = 1.0
        while (reached := cost_of(solution - length * step)) > cost and length > 1e-4:
            length /= 2
        if reached > cost:
            break
        solution, gain, cost = solution - length * step, cost - reached, reached
        if gain < _ENOUGH * num_links:
            break
    return solution


def _sigmoid(values: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)))
