"""The package as a whole: what importing it loads, and which layers know which."""

import subprocess
import sys

import pytest

import pgnn

ENGINE = [
    "pgnn",
    "pgnn.graph",
    "pgnn.io",
    "pgnn.anchors",
    "pgnn.distances",
    "pgnn.bourgain",
    "pgnn.pairs",
    "pgnn.splits",
    "pgnn.metrics",
    "pgnn.heuristics",
    "pgnn.datasets",
]


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("module", ENGINE)
def test_engine_does_not_import_heavy_libraries(module):
    code = f"""
import sys, {module}
heavy = ("torch", "torch_geometric", "numba", "polars", "networkx", "sklearn", "matplotlib")
print([name for name in heavy if name in sys.modules])
"""
    assert run_python(code) == "[]"


def test_engine_runs_without_torch():
    code = """
import sys
sys.modules["torch"] = None
import pgnn
graph = pgnn.Graph.from_edges([(0, 1), (1, 2)])
sets = pgnn.sample_anchor_sets(3, rng=0)
pgnn.anchor_distances(graph, sets)
pgnn.anchor_ppr(graph, sets)
pgnn.bourgain_embedding(graph, rng=0)
pgnn.pair_proximities(graph, [(0, 2)])
print("works")
"""
    assert run_python(code) == "works"


@pytest.mark.parametrize("module", ENGINE)
def test_nothing_imports_the_command(module):
    code = f"import sys, {module}; print('pgnn.cli' in sys.modules)"
    assert run_python(code) == "False"


def test_public_names_are_there():
    fixed = [
        "AnchorDistances", "AnchorSets", "Graph", "PGNNError", "anchor_distances", "anchor_ppr",
        "PairProximities", "bourgain_embedding", "distortion", "pair_proximities", "read_graph",
        "sample_anchor_sets",
        "write_embeddings", "write_scores",
    ]  # fmt: skip
    assert [name for name in fixed if not hasattr(pgnn, name)] == []
