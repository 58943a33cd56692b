"""A run and a graph: what `pgnn evaluate`, `embed` and `predict` begin with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgnn.cli.options import Computing, Reading
from pgnn.cli.progress import working
from pgnn.cli.show import remark, remark_dropped

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.training.runs import Run

RunDir = Annotated[
    Path, typer.Argument(metavar="RUN", help="Run directory that `pgnn train` wrote.")
]
GraphFile = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        help="Graph file: csv, tsv or other text, each also .gz; parquet, npz, graphml.",
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="File to write: .csv, .csv.gz, .parquet or .npz."),
]


def load_run_and_graph(
    run: Path, graph: Path, reading: Reading, computing: Computing
) -> tuple[Run, Graph]:
    """Load a run, and read a graph as the run's own was read where nothing else was typed."""
    with working("loading the run ..."):
        from pgnn.training.runs import load_run

        loaded = load_run(run, device=computing.place)
    how = reading.or_as(loaded.config.get("train", {}), graph)
    return loaded, how.read(graph, weights=loaded.learner.recipe.weights)


def remark_unused(run: Run, graph: Graph) -> None:
    """Say what of a graph was not used."""
    remark_dropped(graph)
    if not run.learner.num_features and graph.x is not None:
        remark("the run was trained without features; those of this graph are not read")
