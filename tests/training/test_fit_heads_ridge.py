"""fit_ridge: the penalised fit of a linear part."""

import numpy as np
import pytest
import torch

from pgnn.training.fit_heads import _PENALTY, fit_ridge


def _cost(solution, columns, num_links, density, missing):
    f = columns @ solution[:-1] + solution[-1]
    logits = f - np.logaddexp(0, f + missing) - density
    labels = np.arange(len(f)) < num_links
    weights = np.where(labels, 1.0, num_links / (len(f) - num_links))
    losses = np.logaddexp(0, logits) - labels * logits
    return weights @ losses + 0.5 * _PENALTY * (solution[:-1] ** 2).sum()


@pytest.mark.parametrize("missing", [-np.inf, -4.0])
def test_fit_ridge_reaches_the_least_cost(missing: float) -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(300, 4))
    columns[:60] += [1.0, 0.5, 0.0, -1.0]
    density, absent = rng.normal(size=300), np.full(300, missing)
    solution = fit_ridge(
        torch.from_numpy(columns),
        60,
        log_density=torch.from_numpy(density),
        log_missing=torch.from_numpy(absent),
    ).numpy()
    least = _cost(solution, columns, 60, density, absent)
    for place in range(5):
        for change in (-0.02, 0.02):
            moved = solution.copy()
            moved[place] += change
            assert _cost(moved, columns, 60, density, absent) > least
    assert solution[0] > solution[1] > 0 > solution[3]


def test_fit_ridge_from_its_solution_stays_there() -> None:
    columns = torch.from_numpy(np.random.default_rng(1).normal(size=(50, 3)))
    none = {"log_density": torch.zeros(50), "log_missing": torch.full((50,), -torch.inf)}
    solution = fit_ridge(columns, 20, **none)
    again = fit_ridge(columns, 20, **none, start=solution)
    torch.testing.assert_close(again, solution, atol=1e-3, rtol=0)
