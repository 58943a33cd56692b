"""What sections 3 to 5 of the paper claim, as statements that can fail; see docs/theory.md."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from pgnn import AnchorSets, Graph, MemberDistances, anchor_distances, sample_anchor_sets
from pgnn.bench.graphs import grid_graph
from pgnn.nn import PGNN, PGNNLayer, Positions
from strategies import anchor_sets, graphs

SCRIPT = Path(__file__).parents[2] / "docs" / "figures" / "theory.py"
SPEC = importlib.util.spec_from_file_location("theory", SCRIPT)
theory = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(theory)

NAMES = list(theory.BASELINES)
AGG_S = ["mean", "min", "max", "sum"]
few = settings(max_examples=10)
plain_graphs = graphs(max_nodes=12, directed=False, weighted=False)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Tensors here are small; threads that wait for each other are slow on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_features(num_nodes: int, channels: int, *, seed: int) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(num_nodes, channels, generator=rng, dtype=torch.float64)


def close(got: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------------- Figure 1: symmetry


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("depth", [1, 3, 6])
def test_baselines_embed_v1_and_v2_of_figure_1_alike(name, depth):
    graph = theory.to_graph(theory.figure_1())
    for seed in range(3):
        embedding = theory.gnn_embedding(name, graph, depth, seed=seed)
        assert embedding.abs().max() > 0
        assert theory.gap(embedding, theory.V1, theory.V2) < 1e-12


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_pgnn_with_anchor_v3_tells_v1_from_v2_of_figure_1(depth):
    graph = theory.to_graph(theory.figure_1())
    for seed in range(3):
        z = theory.pgnn_embedding(graph, [[theory.V3]], depth, seed=seed)
        assert theory.gap(z, theory.V1, theory.V2) > 1e-3


def orbit_gap(name: str, graph: Graph, x: Tensor, image: np.ndarray, depth: int) -> float:
    """Largest difference between embeddings of nodes and of their images, in units of the scale."""
    with theory.seeded(depth), torch.no_grad():
        model = theory.BASELINES[name](x.shape[1], num_layers=depth).double().eval()
        embedding = model(x, graph.to_pyg().edge_index)
    return float((embedding - embedding[image]).abs().max() / (embedding.abs().max() + 1e-300))


@pytest.mark.parametrize("name", NAMES)
@given(half=plain_graphs, depth=st.integers(1, 6), data=st.data())
@few
def test_baselines_agree_on_mirrored_nodes_of_any_graph(name, half, depth, data):
    """A graph and its copy, with any node joined to its own copy, swapped: an automorphism."""
    n = half.num_nodes
    joined = data.draw(st.lists(st.integers(0, n - 1), max_size=n, unique=True))
    edges = [*half.edges(), *(half.edges() + n), *((v, v + n) for v in joined)]
    graph = Graph.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), 2 * n)
    x = random_features(n, 3, seed=0).repeat(2, 1)
    assert orbit_gap(name, graph, x, (np.arange(2 * n) + n) % (2 * n), depth) < 1e-9


@pytest.mark.parametrize("name", NAMES)
@given(height=st.integers(1, 5), width=st.integers(1, 5), flip=st.sampled_from([0, 1, (0, 1)]))
@few
def test_baselines_agree_on_reflected_nodes_of_a_grid(name, height, width, flip):
    image = np.flip(np.arange(height * width).reshape(height, width), flip).ravel().copy()
    x = torch.ones(height * width, 1, dtype=torch.float64)
    assert orbit_gap(name, grid_graph(height, width), x, image, depth=3) < 1e-9


# ---------------------------------------------------------------------- section 5.1: GNNs as P-GNNs


class NearbyFeatures(nn.Module):
    """The paper's F of a GCN: h_u / (d + 1), 0 beyond the cutoff."""

    def forward(self, s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        return s * h_u


@given(graph=graphs(max_nodes=12, weighted=False), agg_m=st.sampled_from(["mean", "closest"]))
@few
def test_pgnn_with_single_nodes_as_sets_is_the_papers_gcn(graph, agg_m):
    n = graph.num_nodes
    x = random_features(n, 3, seed=1)
    sets = [[v] for v in range(n)]
    whole = agg_m == "mean"
    distances = (MemberDistances if whole else anchor_distances)(graph, sets, cutoff=1)
    _, h = PGNNLayer(3, 3, message=NearbyFeatures(), agg_m=agg_m).double()(x, distances)
    adjacency = torch.from_numpy(graph.to_scipy().toarray().astype(np.float64))
    close(h, (x + adjacency @ x / 2) / n)


class KipfMessage(nn.Module):
    """F of Kipf and Welling's GCN: the degree rides along as the last feature."""

    def __init__(self, num_nodes: int, weight: Tensor) -> None:
        super().__init__()
        self.num_nodes, self.weight = num_nodes, weight

    def forward(self, s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        norm = torch.sqrt((h_v[:, -1:] + 1) * (h_u[:, -1:] + 1))
        return self.num_nodes * (s > 0) / norm * (h_u[:, :-1] @ self.weight.T)


@given(graph=plain_graphs)
@few
def test_pgnn_whose_f_reads_degrees_is_pyg_gcn(graph):
    from torch_geometric.nn import GCNConv

    n = graph.num_nodes
    x = random_features(n, 3, seed=2)
    with theory.seeded(0):
        conv = GCNConv(3, 4, bias=False).double()
    degrees = torch.from_numpy(graph.degrees.astype(np.float64))[:, None]
    layer = PGNNLayer(4, 4, message=KipfMessage(n, conv.lin.weight)).double()
    distances = anchor_distances(graph, [[v] for v in range(n)], cutoff=1)
    _, h = layer(torch.cat([x, degrees], 1), distances)
    close(h, conv(x, graph.to_pyg().edge_index))


class SageMessage(nn.Module):
    """F of GraphSAGE: W_1 h_v + W_2 h_u + b, with PyG's own weights."""

    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        return self.conv.lin_r(h_v) + self.conv.lin_l(h_u)


@given(seed=st.integers(0, 1000), count=st.integers(1, 5))
@few
def test_pgnn_with_own_size_1_sets_is_graphsage_on_sampled_neighbours(seed, count):
    from torch_geometric.nn import SAGEConv

    graph = theory.to_graph(nx.connected_watts_strogatz_graph(15, 4, 0.3, seed=seed))
    rng = np.random.default_rng(seed)
    sampled = np.stack([rng.choice(graph.neighbors(v), count) for v in range(15)])  # [n, count]
    own = SimpleNamespace(hops=np.ones_like(sampled), nearest=sampled)
    x = random_features(15, 3, seed=seed)
    with theory.seeded(seed):
        conv = SAGEConv(3, 4).double()
    _, mean = PGNNLayer(3, 3, message=NearbyFeatures()).double()(x, Positions.from_distances(own))
    close(2 * mean, x[torch.from_numpy(sampled).long()].mean(1))  # s = 1/2 a hop away
    _, h = PGNNLayer(3, 4, message=SageMessage(conv)).double()(x, Positions.from_distances(own))
    to, of = np.repeat(np.arange(15), count), sampled.ravel()
    close(h, conv(x, torch.from_numpy(np.stack([of, to])).long()))


# ---------------------------------------------------------------------- permutations


def two_layers(channels: int, *, kernel: str, agg_m: str, agg_s: str) -> list[PGNNLayer]:
    options = {"agg_m": agg_m, "agg_s": agg_s, "sigma": "tanh"}
    with theory.seeded(0):
        kinds = [(channels, "paper", "none"), (5, "released", "vector")]
        return [
            PGNNLayer(d, 5, message=message, gate=gate, kernel=kernel, **options).double()
            for d, message, gate in kinds
        ]


def run(
    layers: list[PGNNLayer], graph: Graph, sets: AnchorSets, x: Tensor
) -> tuple[Tensor, Tensor]:
    whole = layers[0].agg_m != "closest"
    distances = (MemberDistances if whole else anchor_distances)(graph, sets)
    for layer in layers:
        z, x = layer(x, distances)
    return z, x


def relabelled(graph: Graph, sets: AnchorSets, new: np.ndarray) -> tuple[Graph, AnchorSets]:
    edges = new[graph.edges()]
    moved = Graph.from_edges(edges, graph.num_nodes, weights=graph.edge_weights())
    return moved, AnchorSets.from_sets([new[nodes] for nodes in sets], graph.num_nodes)


CHOICES = [("fused", "closest", agg_s) for agg_s in ("mean", "sum")]
CHOICES += [("eager", agg_m, agg_s) for agg_m in ("closest", *AGG_S) for agg_s in AGG_S]
choices = pytest.mark.parametrize(("kernel", "agg_m", "agg_s"), CHOICES)


@choices
@given(data=st.data(), graph=graphs(max_nodes=9, directed=False, weighted=False))
@settings(max_examples=4)
def test_permuting_sets_permutes_columns_of_z_and_leaves_h(kernel, agg_m, agg_s, data, graph):
    sets = data.draw(anchor_sets(graph.num_nodes, max_sets=6))
    order = data.draw(st.permutations(range(len(sets))))
    layers = two_layers(3, kernel=kernel, agg_m=agg_m, agg_s=agg_s)
    x = random_features(graph.num_nodes, 3, seed=3)
    z, h = run(layers, graph, sets, x)
    permuted = AnchorSets.from_sets([sets[i] for i in order], graph.num_nodes)
    z_permuted, h_permuted = run(layers, graph, permuted, x)
    close(z_permuted, z[:, order])
    close(h_permuted, h)


@choices
@given(data=st.data(), graph=graphs(max_nodes=9, directed=False, weighted=False))
@settings(max_examples=4)
def test_relabelling_nodes_permutes_rows(kernel, agg_m, agg_s, data, graph):
    """Sets of one node where only the closest member speaks: no ties between members."""
    n = graph.num_nodes
    single = st.lists(st.integers(0, n - 1).map(lambda v: [v]), min_size=1, max_size=6)
    sets = (
        AnchorSets.from_sets(data.draw(single), n)
        if agg_m == "closest"
        else data.draw(anchor_sets(n, max_sets=6))
    )
    new = np.array(data.draw(st.permutations(range(n))))
    layers = two_layers(3, kernel=kernel, agg_m=agg_m, agg_s=agg_s)
    x = random_features(n, 3, seed=4)
    z, h = run(layers, graph, sets, x)
    z_moved, h_moved = run(layers, *relabelled(graph, sets, new), x[np.argsort(new)])
    close(z_moved[new], z)
    close(h_moved[new], h)


@pytest.mark.parametrize(("kernel", "agg_s"), [(c[0], c[2]) for c in CHOICES if c[1] == "closest"])
@given(data=st.data(), graph=graphs(max_nodes=9, directed=False, weighted=False))
@few
def test_relabelling_nodes_permutes_rows_of_one_layer_on_constant_features(
    kernel, agg_s, data, graph
):
    """Any sets: equally near members say the same thing."""
    n = graph.num_nodes
    sets = data.draw(anchor_sets(n, max_sets=6))
    new = np.array(data.draw(st.permutations(range(n))))
    layers = two_layers(1, kernel=kernel, agg_m="closest", agg_s=agg_s)[:1]
    x = torch.ones(n, 1, dtype=torch.float64)
    z, h = run(layers, graph, sets, x)
    z_moved, h_moved = run(layers, *relabelled(graph, sets, new), x)
    close(z_moved[new], z)
    close(h_moved[new], h)


@pytest.mark.parametrize(("num_layers", "broken"), [(1, False), (2, True)])
def test_ties_between_closest_anchors_break_relabelling_from_the_second_layer_on(
    num_layers, broken
):
    """On the path 0 - 1 - 2, node 1 is as near to 0 as to 2, which {0} tells apart in layer 1."""
    path = Graph.from_edges([(0, 1), (1, 2)])
    sets = AnchorSets.from_sets([[0, 2], [0]], 3)
    new = np.array([2, 1, 0])
    layers = two_layers(1, kernel="eager", agg_m="closest", agg_s="mean")[:num_layers]
    x = torch.ones(3, 1, dtype=torch.float64)
    z, _ = run(layers, path, sets, x)
    z_moved, _ = run(layers, *relabelled(path, sets, new), x)
    assert torch.allclose(z_moved[new], z) is not broken


# ---------------------------------------------------------------------- Proposition 1


@pytest.mark.parametrize("name", NAMES)
def test_no_map_from_structure_to_distance_if_neighbourhoods_repeat(name):
    """Nodes 8 and 9 of a long leg: g(z_8, z_8) = 0 and g(z_8, z_9) = 1, on the same input."""
    drawn = theory.spider(1, 2, 9)
    q, u, v = 2, 8, 9
    assert theory.rooted_isomorphic(drawn, u, v, q)
    assert nx.shortest_path_length(drawn, u, v) == 1
    assert theory.gap(theory.gnn_embedding(name, theory.to_graph(drawn), q, seed=0), u, v) < 1e-12


def test_spiders_have_no_symmetry():
    """So twins are the fault of looking q hops far, not of an automorphism."""
    for drawn in (theory.spider(1, 2, 9), theory.spider(1, 2, 3), nx.frucht_graph()):
        matcher = nx.algorithms.isomorphism.GraphMatcher(drawn, drawn)
        assert len(list(matcher.isomorphisms_iter())) == 1


def test_map_from_structure_to_distance_if_all_neighbourhoods_differ():
    drawn = theory.spider(1, 2, 3)
    assert theory.num_twins(drawn, q=3) == 0
    embedding = theory.gnn_embedding("GIN", theory.to_graph(drawn), 3, seed=0)
    keys = [tuple(row.tolist()) for row in embedding / embedding.abs().max()]
    node = {tuple(np.round(key, 6)): v for v, key in enumerate(keys)}
    assert len(node) == len(drawn)
    hops = dict(nx.all_pairs_shortest_path_length(drawn))

    def g(z_u: tuple[float, ...], z_v: tuple[float, ...]) -> int:  # the map, by memory
        return hops[node[tuple(np.round(z_u, 6))]][node[tuple(np.round(z_v, 6))]]

    # Read the embeddings of the same tree with its nodes in another order.
    new = np.random.default_rng(0).permutation(len(drawn))
    moved = nx.relabel_nodes(drawn, dict(enumerate(new.tolist())))
    other = theory.gnn_embedding("GIN", theory.to_graph(moved), 3, seed=0)
    rows = [tuple(row.tolist()) for row in other / other.abs().max()]
    true = dict(nx.all_pairs_shortest_path_length(moved))
    assert all(g(rows[u], rows[v]) == true[u][v] for u in moved for v in moved)


@pytest.mark.parametrize("name", NAMES)
def test_different_neighbourhoods_do_not_help_baselines_on_a_regular_graph(name):
    """All 3-hop neighbourhoods of the Frucht graph differ; message passing sees only degrees."""
    drawn = nx.frucht_graph()
    graph = theory.to_graph(drawn)
    assert theory.num_twins(drawn, q=3) == 0
    assert theory.num_distinct(theory.gnn_embedding(name, graph, 3, seed=0)) == 1
    assert theory.num_distinct(theory.pgnn_embedding(graph, [[0], [1], [2]], 1, seed=0)) > 6


@pytest.mark.parametrize(("name", "differ"), [("GCN", True), ("GIN", False), ("GraphSAGE", False)])
def test_gcn_of_q_layers_sees_degrees_beyond_q_hops(name, differ):
    """Nodes 2 and 5 have two neighbours each; one of node 2's has degree 3."""
    drawn = nx.path_graph(8)
    drawn.add_edge(1, 8)
    assert theory.rooted_isomorphic(drawn, 2, 5, q=1)
    embedding = theory.gnn_embedding(name, theory.to_graph(drawn), 1, seed=0)
    assert (theory.gap(embedding, 2, 5) > 1e-6) is differ


# ---------------------------------------------------------------------- section 5.2: own sets


def all_hops(graph: Graph) -> np.ndarray:
    return anchor_distances(graph, list(range(graph.num_nodes))).hops


@given(graph=graphs(max_nodes=12, directed=False, weighted=False), seed=st.integers(0, 1000))
@few
def test_own_distances_are_distances_to_the_nodes_they_name(graph, seed):
    hops = all_hops(graph)
    own = theory.own_distances(hops, theory.by_distance(hops), rng=np.random.default_rng(seed))
    rows = np.arange(graph.num_nodes)[:, None]
    assert np.array_equal(own.hops >= 0, own.nearest >= 0)
    assert np.array_equal(own.hops, np.where(own.nearest < 0, -1, hops[rows, own.nearest]))


def test_own_distances_of_one_node_are_distributed_as_shared_ones():
    """Node by node, only the sharing differs: the same chance of each nearest anchor."""
    graph = grid_graph(4, 4)
    hops, rng = all_hops(graph), np.random.default_rng(0)
    order = theory.by_distance(hops)
    draws = 500
    counts = np.zeros((2, 4, 16))  # of node 5: who is nearest, by size class
    for _ in range(draws):
        shared = anchor_distances(graph, sample_anchor_sets(16, rng=rng), num_threads=1)
        own = theory.own_distances(hops, order, rng=rng)
        for kind, drawn in enumerate((shared, own)):
            for size in range(4):
                nearest = drawn.nearest[5, 4 * size : 4 * size + 4]
                counts[kind, size] += np.bincount(nearest, minlength=16)
    assert np.abs(counts[0] - counts[1]).max() / (4 * draws) < 0.06


def test_own_sets_differ_from_node_to_node():
    """In a clique all nodes but the members are at distance 1 of a set, so shared sets agree."""
    graph = theory.to_graph(nx.complete_graph(64))
    hops = all_hops(graph)
    own = theory.own_distances(hops, theory.by_distance(hops), rng=np.random.default_rng(0))
    shared = anchor_distances(graph, sample_anchor_sets(64, rng=0))

    def agreement(nearest: np.ndarray) -> float:  # of nodes that are not in the set
        last = nearest[:, -6:].astype(float)  # the smallest sets
        return float(np.mean([np.mean(c == np.bincount(c.astype(int)).argmax()) for c in last.T]))

    assert agreement(shared.nearest) > 0.9
    assert agreement(own.nearest) < 0.5


def test_pgnn_reads_own_distances():
    hops = all_hops(grid_graph(4, 4))
    own = theory.own_distances(hops, theory.by_distance(hops), rng=np.random.default_rng(0))
    z = PGNN(1)(torch.ones(16, 1), own)
    assert z.shape == (16, 16)
    assert z.isfinite().all()


# ---------------------------------------------------------------------- the page


def test_code_of_the_page_runs():
    """Its blocks are whole programs, and check what they show."""
    text = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 1
    for block in blocks:
        assert "assert_close" in block
        exec(compile(block, "docs/theory.md", "exec"), {"__name__": "docs"})
