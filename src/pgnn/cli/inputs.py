"""A run and a graph: what `pgnn evaluate`, `embed` and `predict` begin with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgnn.cli.options import Computing, Reading
from pgnn.cli.show import counted, remark, say_kept_remarks, working
from pgnn.errors import Parameter, PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.io import PairTable
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
BaseRate = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of links among the pairs in question that chances are stated for.",
    ),
]
SkipUnknown = Annotated[
    bool,
    typer.Option(
        "--skip-unknown",
        help="Skip rows of --pairs with nodes that the graph does not have. Default: an error.",
    ),
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
    say_kept_remarks()
    if not run.learner.num_features and graph.x is not None:
        remark("the run was trained without features; those of this graph are not read")


def read_own_pairs(path: Path | None, graph: Graph, *, skip_unknown: bool) -> PairTable | None:
    """Read the table of --pairs, if there is one; say how many of its pairs were skipped."""
    from pgnn.io import read_pair_table

    if path is None:
        if skip_unknown:
            raise PGNNError(
                Parameter("skip_unknown"), " is for the pairs of a file; give ", Parameter("pairs")
            )
        return None
    table = read_pair_table(path, graph, skip_unknown=skip_unknown)
    if table.num_skipped:
        names = ", ".join(map(repr, table.unknown))
        remark(
            f"skipped {counted(table.num_skipped, 'pair')} of nodes that the graph does not have: "
            f"{names}" + (", ..." if table.num_unknown > len(table.unknown) else "")
        )
    return table
