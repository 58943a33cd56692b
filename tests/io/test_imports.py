"""The rooms of graphs, pairs and files load fast: what is heavy is imported where it is used."""

import ast
from pathlib import Path

import pytest

import pgnn

HEAVY = {"torch", "torch_geometric", "numba", "polars", "networkx", "scipy", "sklearn"}
ROOT = Path(pgnn.__file__).parent
MODULES = [path for room in ("graph", "io", "pairs") for path in sorted((ROOT / room).glob("*.py"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_nothing_heavy_is_imported_at_the_top(path):
    names = {
        name.split(".")[0]
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }
    assert not names & HEAVY
