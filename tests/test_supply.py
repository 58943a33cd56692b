"""What the source does not do: run code from data, or start a shell."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "pgnn"
NAMES = {"eval", "exec", "compile", "__import__"}
MODULES = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
ATTRIBUTES = {("os", "system"), ("os", "popen"), ("torch", "load"), ("torch", "save")}


def problems(text):
    """Yield what a module does of that kind."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
            yield node.func.id
        if isinstance(node, ast.Import):
            yield from ({name.name.split(".")[0] for name in node.names} & MODULES)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield node.module
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from (
                {".".join(pair) for pair in [(node.value.id, node.attr)] if pair in ATTRIBUTES}
            )
        if isinstance(node, ast.keyword) and node.arg in ("shell", "allow_pickle"):
            is_off = isinstance(node.value, ast.Constant) and node.value.value is False
            yield from [] if is_off else [node.arg]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: p.name)
def test_no_module_runs_data(path):
    assert list(problems(path.read_text())) == []


@pytest.mark.parametrize(
    "text",
    [
        *("eval('1')", "import pickle", "from pickle import loads", "import os; os.system('x')"),
        *("torch.load('x')", "subprocess.run('x', shell=True)", "np.load(f, allow_pickle=flag)"),
    ],
)
def test_such_code_would_be_seen(text):
    assert list(problems(text)) != []
