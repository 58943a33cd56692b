"""`pgnn embed`: an embedding of each node, in a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from pgnn.cli.inputs import GraphFile, OutFile, RunDir, load_run_and_graph, remark_unused
from pgnn.cli.options import Common, Computing, Reading, check_seed, option_groups
from pgnn.cli.show import working
from pgnn.errors import PGNNError


@option_groups
def embed(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    computing: Computing,
    common: Common,
    out: OutFile = None,
    draw: Annotated[
        int,
        typer.Option(
            callback=check_seed,
            help="Decides which anchor-sets are drawn: the same number, the same embeddings.",
        ),
    ] = 0,
) -> None:
    """Write an embedding of each node.

    The graph may be the one that the run was trained on, or one that it has
    never seen. The file has one row per node: its id, then z0, z1, ... Only
    embeddings of the same draw can be compared with each other.

    For example:

      pgnn embed run edges.csv -o embeddings.parquet
      pgnn embed run other_graph.csv -o embeddings.csv
    """
    from pgnn.io import check_writable, write_embeddings

    if out is None:
        raise PGNNError("give a file to write to: -o embeddings.parquet (or .csv, .csv.gz, .npz)")
    check_writable(out)
    loaded, data = load_run_and_graph(run, graph, reading, computing)
    with working("embedding ..."):
        embeddings = loaded.learner.embed(data, draw=draw)
    write_embeddings(out, embeddings, data)
    remark_unused(loaded, data)
    num_nodes, num_dimensions = embeddings.shape
    summary = {"file": str(out), "nodes": num_nodes, "dimensions": num_dimensions, "draw": draw}
    if common.as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        typer.echo(f"{num_nodes:,} nodes, {num_dimensions} numbers each, in {out}")
