"""The package as a whole: its rooms, which layers know which, and what importing them loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pgnn

SOURCE = Path(pgnn.__file__).parent
TESTS = Path(__file__).parent
HEAVY = ("torch", "torch_geometric", "numba", "polars", "networkx", "sklearn", "matplotlib")
# Rooms that work without torch.
ENGINE = ["pgnn", "pgnn.graph", "pgnn.io", "pgnn.positions", "pgnn.pairs", "pgnn.datasets"]
ROOT = {
    *("__init__", "__main__", "checks", "errors", "estimator", "names", "threads", "transforms"),
    "version",
}


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def module_paths():
    """Every module of the package by its dotted name."""
    paths = {}
    for path in SOURCE.rglob("*.py"):
        parts = ["pgnn", *path.relative_to(SOURCE).with_suffix("").parts]
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


def imported_by(path, modules):
    """The modules that a file imports anywhere: at the top, in functions, for type checkers."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                names.add(full if full in modules else node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def import_graph():
    modules = module_paths()
    return {
        name: (imported_by(path, modules) & set(modules)) - {name} for name, path in modules.items()
    }


def cycles(graph):
    """Groups of modules that import each other, found by Tarjan's algorithm."""
    order, low, stack, groups = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                groups.append(sorted(group))

    for node in graph:
        if node not in order:
            visit(node)
    return groups


# ---------------------------------------------------------------------- imports


def test_imports_have_no_cycles_lazy_ones_included():
    assert cycles(import_graph()) == []


def test_a_cycle_would_be_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


@pytest.mark.parametrize("room", ["graph", "io", "positions", "pairs"])
def test_rooms_of_the_engine_do_not_import_torch_at_the_top(room):
    for path in (SOURCE / room).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or "", *(a.name for a in node.names)]
                assert not any(name.split(".")[0].startswith("torch") for name in names), path


def test_networks_import_no_graph_code():
    outside = {"graph", "io", "pairs", "positions", "training", "datasets", "prediction"}
    for name, others in import_graph().items():
        if name.startswith("pgnn.nn"):
            assert not {other.split(".")[1] for other in others if "." in other} & outside, name


def test_the_group_of_processes_knows_no_room_but_errors_and_threads():
    graph = import_graph()
    assert graph["pgnn.distributed.group"] <= {
        *("pgnn.distributed.launch", "pgnn.errors", "pgnn.threads")
    }
    assert graph["pgnn.distributed.launch"] == {"pgnn.errors"}  # torch takes seconds to load
    for name, others in graph.items():
        if name.split(".")[1:2] and name.split(".")[1] in (
            "graph",
            "io",
            "positions",
            "pairs",
            "nn",
        ):
            assert not any(other.startswith("pgnn.distributed") for other in others), name


def test_nothing_imports_the_command():
    for name, others in import_graph().items():
        if not name.startswith("pgnn.cli") and name != "pgnn.__main__":
            assert not any(other.startswith("pgnn.cli") for other in others), name


def test_commands_do_not_reach_under_io():
    for name, others in import_graph().items():
        if name.startswith("pgnn.cli"):
            assert not any(other.startswith("pgnn.io.") for other in others), name


@pytest.mark.parametrize("module", ENGINE)
def test_engine_does_not_load_heavy_libraries(module):
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run_python(code) == "[]"


def test_files_are_loaded_when_they_are_first_named():
    code = """
import sys, pgnn
before = [name for name in ("pgnn.io", "pgnn.cli", "tempfile") if name in sys.modules]
print(before, "read_graph" in dir(pgnn), pgnn.read_graph.__name__, "pgnn.io" in sys.modules)
"""
    assert run_python(code) == "[] True read_graph True"


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
print("works")
"""
    assert run_python(code) == "works"


# ---------------------------------------------------------------------- rooms


def test_root_holds_only_what_it_should():
    assert {path.stem for path in SOURCE.glob("*.py")} == ROOT


def test_every_module_has_a_test_file_of_its_name():
    missing = []
    for path in SOURCE.rglob("*.py"):
        if path.stem in ("__init__", "__main__"):
            continue
        place = path.relative_to(SOURCE)
        if not (TESTS / place.parent / f"test_{place.name}").exists():
            missing.append(str(place))
    assert missing == []


def test_public_names_are_there():
    fixed = [
        *("AnchorDistances", "AnchorSets", "Graph", "PGNNEmbedding", "PGNNError"),
        *("anchor_distances", "anchor_ppr", "bourgain_embedding", "distortion", "read_graph"),
        *("sample_anchor_sets", "write_embeddings", "write_scores", "datasets", "nn", "transforms"),
    ]
    assert [name for name in fixed if not hasattr(pgnn, name)] == []
