"""A run and a graph: what `pgnn evaluate`, `embed` and `predict` begin with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgnn.cli.options import Computing, Reading
from pgnn.cli.show import counted, keep_remark, remark, say_kept_remarks, working
from pgnn.errors import Parameter, PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.io import FeatureEncoding, PairTable
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
TestFrom = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="With --time: where the future begins, which the result is judged by. Default of "
        "train: so that a share --test of the new links is judged by; of evaluate: as the run has "
        "it.",
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
    loaded, how, encoding = load_run_and_reading(run, graph, reading, computing)
    weights = loaded.learner.recipe.weights
    return loaded, how.read(graph, weights=weights, encoding=encoding)


def load_run_and_reading(
    run: Path, graph: Path, reading: Reading, computing: Computing
) -> tuple[Run, Reading, FeatureEncoding | None]:
    """Load a run, and decide how to read a graph for it."""
    with working("loading the run ..."):
        from pgnn.training.runs import load_run

        loaded = load_run(run, device=computing.place)
    how = reading.or_as(loaded.config.get("train", {}), graph)
    encoding = None
    if "features" in loaded.config:
        encoding = _encoding(loaded)
        how = remembered_features(loaded, how, graph)
    return loaded, how, encoding if how.features is not None else None


def _encoding(run: Run) -> FeatureEncoding:
    """Return how the run's columns became features."""
    from pgnn.io import FeatureEncoding

    table = run.config["features"]
    try:
        return FeatureEncoding.from_json(table.get("columns") if isinstance(table, dict) else None)
    except PGNNError as error:
        raise PGNNError(f"{run.folder / 'config.toml'}: {error}") from error


def remembered_features(run: Run, reading: Reading, graph: Path) -> Reading:
    """Read the run's own table of nodes again, if none was typed.

    A run may come from a stranger, so a file is read only if it is the very one that training
    read: its hash is that in the run. It is looked for where it was, where it was typed, and beside
    the graph. Labels are taken over only for the graph file of the run.

    Raises:
        PGNNError: If the model needs features and the table is not there, or has changed.
    """
    from pgnn.io import format_suffix, sha256_of

    options, table = run.config.get("train", {}), run.config["features"]
    own_graph = Path(str(options.get("graph", ""))).resolve() == graph.resolve()
    needed = run.learner.num_features > 0
    if reading.features is not None:
        return reading
    if not own_graph and (not needed or format_suffix(graph) == ".graphml"):
        return reading
    places = [Path(str(table.get("path", ""))), Path(str(options.get("features", "")))]
    places.append(graph.parent / places[0].name)
    files = [place for place in places if place.is_file()]
    for place in files:
        if sha256_of(place) == table.get("sha256"):
            keep_remark(f"the table of nodes that the run was trained with is read again: {place}")
            stored = ["id_column", "label"] if own_graph else ["id_column"]
            columns = {name: str(options[name]) for name in stored if name in options}
            typed = {k: v for k, v in asdict(reading).items() if v is not None}
            return Reading(**{**columns, **typed, "features": place})
    if needed:
        state = "has changed since" if files else "is not there any more"
        raise PGNNError(
            f"the run was trained with features of {places[0].name}, which {state}; give the table "
            "of nodes with ",
            Parameter("features"),
        )
    return reading


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
