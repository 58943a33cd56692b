"""Baselines: shapes, sizes, and what no message-passing network can tell apart."""

from __future__ import annotations

import ast
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

import pgnn.nn
from pgnn import PGNNError
from pgnn.nn import GAT, GCN, GIN, MLP, GraphSAGE, make_baseline, make_pgnn

NAMES = ["gcn", "sage", "gat", "gin", "mlp"]
CLASSES = [GCN, GraphSAGE, GAT, GIN, MLP]

# Two triangles joined by an edge, as Figure 1: turning the graph around maps node v to 5 - v.
TRIANGLES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]


@pytest.fixture(autouse=True)
def fixed_seed():
    """Modules draw their initial weights from torch's global generator."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def both_directions(edges: list[tuple[int, int]]) -> Tensor:
    directed = edges + [(v, u) for u, v in edges]
    return torch.tensor(directed, dtype=torch.int64).reshape(-1, 2).T


def count_parameters(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("in_channels", [1, 2, 10, 29, 50])
def test_parameter_count_is_near_that_of_pgnn_2l(name, in_channels):
    expected = count_parameters(make_pgnn("pgnn-e-2l", in_channels))
    assert count_parameters(make_baseline(name, in_channels)) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(("name", "kind"), list(zip(NAMES, CLASSES, strict=True)))
def test_make_baseline_builds_the_named_class(name, kind):
    model = make_baseline(name, 3, out_channels=7, dropout=0.25)
    assert type(model) is kind
    assert (model.in_channels, model.out_channels, model.dropout) == (3, 7, 0.25)
    assert model.num_layers == len(model.layers) == 3


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("num_layers", [1, 2, 4])
@pytest.mark.parametrize("num_edges", [0, 7])
def test_embeddings_have_one_row_per_node(kind, num_layers, num_edges):
    model = kind(2, hidden_channels=5, out_channels=3, num_layers=num_layers)
    edge_index = both_directions(TRIANGLES[:num_edges])
    z = model(torch.rand(6, 2), edge_index)
    assert z.shape == (6, 3)
    assert z.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_relu_stands_between_layers_alone(name):
    model = make_baseline(name, 2).eval()
    x, edge_index = torch.randn(6, 2), both_directions(TRIANGLES)
    edges = () if name == "mlp" else (edge_index,)
    h = model.layers[0](model.input(x), *edges)
    h = model.layers[1](h.relu(), *edges)
    torch.testing.assert_close(model(x, edge_index), model.layers[2](h.relu(), *edges))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_kernels_compute_what_pyg_does(name, seed, monkeypatch):
    """Embeddings and gradients, on directed edges with loops and repeats."""
    random = torch.Generator().manual_seed(seed)
    model = make_baseline(name, 2).double().eval()
    x = torch.randn(9, 2, generator=random, dtype=torch.float64)
    edge_index = torch.randint(0, 8, (2, 30), generator=random)  # node 8 has no edges
    results = []
    for pyg in (False, True):
        if pyg:
            monkeypatch.setattr("pgnn.nn.baselines.has_kernels", lambda _: False)
        z = model(x, edge_index)
        results.append((z, *torch.autograd.grad(z.square().sum(), model.parameters())))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_relabelling_nodes_permutes_rows(name):
    model = make_baseline(name, 4).double().eval()
    x = torch.rand(6, 4, dtype=torch.float64)
    edge_index = both_directions(TRIANGLES)
    old = torch.tensor([3, 0, 5, 1, 4, 2])  # new node i is old[i]
    relabelled = model(x[old], old.argsort()[edge_index])
    torch.testing.assert_close(relabelled, model(x, edge_index)[old])


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("num_layers", range(1, 7))
def test_symmetric_nodes_get_the_same_embedding_at_any_depth(kind, num_layers):
    model = kind(1, num_layers=num_layers).double().eval()
    z = model(torch.ones(6, 1, dtype=torch.float64), both_directions(TRIANGLES))
    torch.testing.assert_close(z, z.flip(0))
    torch.testing.assert_close(z[0], z[1])


@pytest.mark.parametrize("kind", [GCN, GIN])
def test_nodes_of_other_degree_get_another_embedding(kind):
    """So that the test above cannot pass by giving all nodes the same."""
    z = kind(1).double().eval()(torch.ones(6, 1, dtype=torch.float64), both_directions(TRIANGLES))
    assert not torch.allclose(z[0], z[2])


@pytest.mark.parametrize("name", NAMES)
def test_depth_is_how_far_features_travel(name):
    """On a path, three layers carry a change at one end three hops; an MLP keeps it at home."""
    model = make_baseline(name, 1).double().eval()
    edge_index = both_directions(list(pairwise(range(6))))
    x = torch.rand(6, 1, dtype=torch.float64, requires_grad=True)
    reached = [
        bool(torch.autograd.grad(row.square().sum(), x, retain_graph=True)[0][0] != 0)
        for row in model(x, edge_index)
    ]
    assert reached[0]
    assert not any(reached[1:] if name == "mlp" else reached[4:])


@pytest.mark.parametrize("name", NAMES)
def test_dropout_acts_in_training_alone(name):
    model = make_baseline(name, 2)
    x, edge_index = torch.rand(6, 2), both_directions(TRIANGLES)
    assert not torch.equal(model(x, edge_index), model(x, edge_index))
    model.eval()
    assert torch.equal(model(x, edge_index), model(x, edge_index))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_gets_a_gradient(name):
    model = make_baseline(name, 2, dropout=0.0)
    model(torch.rand(6, 2), both_directions(TRIANGLES)).square().sum().backward()
    assert [key for key, value in model.named_parameters() if value.grad is None] == []


@pytest.mark.parametrize("name", NAMES)
def test_reset_parameters_draws_anew(name):
    model = make_baseline(name, 2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(9.0)
    model.reset_parameters()
    assert [key for key, value in model.named_parameters() if (value == 9).any()] == []


def test_reset_parameters_is_repeatable():
    model = make_baseline("gin", 2)
    torch.manual_seed(0)
    model.reset_parameters()
    first = {key: value.clone() for key, value in model.state_dict().items()}
    torch.manual_seed(0)
    model.reset_parameters()
    assert all(torch.equal(value, first[key]) for key, value in model.state_dict().items())


# ---------------------------------------------------------------------- bad input


def test_unknown_name_is_rejected_with_the_valid_ones():
    with pytest.raises(PGNNError, match=r"gcn, sage, gat, gin, mlp \(got 'transformer'\)"):
        make_baseline("transformer", 1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"in_channels": 0}, r"in_channels must be a positive integer \(got 0\)"),
        ({"in_channels": 1, "hidden_channels": 0}, r"hidden_channels must be .*got 0"),
        ({"in_channels": 1, "hidden_channels": 10**6}, r"hidden_channels = 1000000 needs .* GiB"),
        ({"in_channels": 1, "out_channels": -1}, r"out_channels must be .*got -1"),
        ({"in_channels": 1, "num_layers": 0}, r"num_layers must be .*got 0"),
        ({"in_channels": 1, "dropout": 1.5}, r"dropout must lie in 0..1 \(got 1.5\)"),
    ],
)
def test_arguments_out_of_range_are_rejected(options, match):
    with pytest.raises(PGNNError, match=match):
        GCN(**options)


@pytest.mark.parametrize("name", ["gcn", "mlp"])
@pytest.mark.parametrize(
    ("x", "edge_index", "match"),
    [
        (torch.ones(6, 2), both_directions(TRIANGLES), r"x must have shape \[n, 1\] .*\[6, 2\]"),
        (torch.ones(6), both_directions(TRIANGLES), r"x must have shape \[n, 1\] \(got \[6\]\)"),
        (torch.ones(6, 1), both_directions(TRIANGLES).T, r"edge_index must .*shape \[14, 2\]"),
        (torch.ones(6, 1), both_directions(TRIANGLES).float(), r"edge_index must .*torch.float32"),
    ],
)
def test_bad_input_is_named(name, x, edge_index, match):
    with pytest.raises(PGNNError, match=match):
        make_baseline(name, 1)(x, edge_index)


# ---------------------------------------------------------------------- the package


def test_nn_imports_no_graph_code():
    """Read from the source: `import pgnn` itself loads the engine, so sys.modules cannot tell."""
    graph_code = {"pgnn.graph", "pgnn.io", "pgnn.positions"}
    graph_imports = []
    for path in Path(pgnn.nn.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            graph_imports += [(path.name, name) for name in names if name in graph_code]
    assert graph_imports == []


def test_pyg_is_not_loaded_before_a_convolution_is_made():
    code = """
import sys, pgnn.nn
pgnn.nn.make_baseline("mlp", 1)
print("torch_geometric" in sys.modules)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "False"
