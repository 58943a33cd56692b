"""Small data sets in the place of the paper's, and records of runs that were never run."""

import numpy as np
import pytest

from pgnn import Graph, datasets


def _labelled(num_nodes, labels):
    ring = [(node, (node + 1) % num_nodes) for node in range(num_nodes)]
    x = np.ones((num_nodes, 1), dtype=np.float32)
    return Graph.from_edges(ring, num_nodes, x=x, y=np.asarray(labels))


def _several_graphs():
    """Five graphs with two labels, and two without pairs to tell apart."""
    graphs = [_labelled(8 + i, np.arange(8 + i) % 2) for i in range(5)]
    return [_labelled(6, [3] * 6), *graphs, _labelled(6, np.arange(6))]


@pytest.fixture(autouse=True)
def one_thread():
    """Such small graphs are slower on several threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small_data(monkeypatch):
    """Replace `datasets.load`; gives the list of its calls."""
    calls = []

    def load(name, *, seed, data_dir, standardize, keep):
        calls.append(
            {
                "name": name,
                "seed": seed,
                "data_dir": data_dir,
                "standardize": standardize,
                "keep": keep,
            }
        )
        if name == "grid":
            return [datasets.grid(5, 6)]
        if name == "communities":
            return [datasets.communities(4, 6, rng=seed)]
        return _several_graphs()

    monkeypatch.setattr(datasets, "load", load)
    return calls


@pytest.fixture
def record():
    """Make the record of a run."""

    def make(column="grid", model="gcn", protocol="paper", seed=0, test_auc=0.5, **more):
        job = {"column": column, "model": model, "protocol": protocol, "seed": seed}
        return {**job, "test_auc": test_auc, "seconds": 1.5, **more}

    return make
