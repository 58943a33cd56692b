"""Write what a benchmark measured to results/."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pgnn.training.outcome import versions

ROOT = Path(__file__).parents[1]


def write_result(name: str, document: Mapping[str, Any]) -> None:
    """Write a document to results/."""
    path = ROOT / "results" / name
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"written to {path.relative_to(ROOT)}")


def write_rows(benchmark: str, rows: Sequence[Mapping[str, Any]], **more: Any) -> None:
    """Write the rows that benchmarks/BENCHMARK.py measured, with its command and the versions."""
    about = {"command": f"python benchmarks/{benchmark}.py", "seed": 0, "versions": versions()}
    write_result(f"{benchmark}.json", {**about, **more, "rows": rows})
