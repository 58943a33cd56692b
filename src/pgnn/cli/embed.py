"""`pgnn embed`: an embedding of each node, in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pgnn.cli.inputs import GraphFile, OutFile, RunDir, load_run_and_graph, remark_unused
from pgnn.cli.options import Common, Computing, Reading, check_seed, option_groups
from pgnn.cli.processes import is_first
from pgnn.cli.show import counted, remark, say, working
from pgnn.errors import PGNNError
from pgnn.names import ANCHOR_CHOICES

if TYPE_CHECKING:
    from pgnn.training.anchors import PlacedAnchors


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
    anchors: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(ANCHOR_CHOICES),
            help="run: the anchor-sets of the run's own graph, found by node id. Its nodes stay "
            "where they are when a graph grows; new nodes are placed among them. fresh: sets drawn "
            "anew. Default: run where the graph has most of the run's nodes and edges, else fresh.",
        ),
    ] = None,
) -> None:
    """Write an embedding of each node.

    The graph may be the one that the run was trained on, also with nodes and
    edges added since, or one that it has never seen. The file has one row per
    node: its id, then z0, z1, ... Only embeddings with the same anchor-sets
    can be compared with each other.

    For example:

      pgnn embed run edges.csv -o embeddings.parquet
      pgnn embed run edges_of_today.csv -o embeddings.csv --anchors run
      pgnn embed run other_graph.csv -o embeddings.csv
    """
    from pgnn.io import check_writable, write_embeddings

    if out is None:
        raise PGNNError("give a file to write to: -o embeddings.parquet (or .csv, .csv.gz, .npz)")
    check_writable(out)
    loaded, data = load_run_and_graph(run, graph, reading, computing)
    with working("embedding ..."):
        placed = loaded.learner.place_anchors(data, anchors, draw=draw)
        used = None if not loaded.learner.num_sets else "fresh" if placed is None else "run"
        embeddings = loaded.learner.embed(data, draw=draw, anchors=used)
    if is_first():
        write_embeddings(out, embeddings, data)
    remark_unused(loaded, data)
    if used is not None:
        _remark_anchors(placed, data.num_nodes)
    num_nodes, num_dimensions = embeddings.shape
    summary = {
        "file": str(out),
        "nodes": num_nodes,
        "dimensions": num_dimensions,
        "draw": draw,
        "anchors": used,
    }
    if common.as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        say(f"{num_nodes:,} nodes, {num_dimensions} numbers each, in {out}")


def _remark_anchors(placed: PlacedAnchors | None, num_nodes: int) -> None:
    """Say which anchor-sets were used."""
    if placed is None:
        remark("anchor-sets: drawn for this graph; its embeddings compare with each other only")
        return
    new = num_nodes - len(placed.known)
    text = "anchor-sets: those of the run's graph"
    if new:
        text += f"; {counted(new, 'node')} of {num_nodes:,} are new"
    remark(text)
    if placed.redrawn.any():
        remark(
            f"{counted(int(placed.redrawn.sum()), 'anchor-set')} of {len(placed.redrawn)} had lost "
            "all nodes, and were drawn anew: those columns do not compare with earlier ones"
        )
