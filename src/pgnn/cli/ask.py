"""`pgnn evaluate`, `embed`, `predict`, `report`: what a run says of a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pgnn.cli.options import MAX_SEED, Common, Reading, shared_options
from pgnn.cli.show import (
    add_metrics,
    link_table,
    metric_table,
    people,
    remark,
    remark_dropped,
    remark_rows,
)
from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.training.runs import Run

RunDir = Annotated[Path, typer.Argument(metavar="RUN", help="What `pgnn train --out` made.")]
GraphFile = Annotated[
    Path,
    typer.Argument(metavar="GRAPH", help="Edge list (csv, tsv, parquet, .gz), npz, graphml."),
]
OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="File: .csv, .csv.gz, .parquet or .npz.")
]


@shared_options
def evaluate(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    common: Common,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Table of held-out pairs, perhaps with a column `label` of 0 and 1."),
    ] = None,
    share: Annotated[
        float, typer.Option(help="Of another graph: the share of pairs to hold out.")
    ] = 0.1,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Decides what is held out or drawn.")
    ] = 0,
) -> None:
    """Judge a run on held-out pairs: ROC AUC, average precision, Hits@K, MRR.

    Pairs come from a table, or are the test pairs of the graph the run was trained on, or are held
    out of a graph that it has never seen. Edges that are asked about are always hidden from the
    model first, whether the graph file has them or not.

    For example:

      pgnn evaluate run edges.csv
      pgnn evaluate run edges.csv --pairs held_out.csv
      pgnn evaluate run other_graph.csv --share 0.2 --json
    """
    from pgnn.evaluation.evaluate import evaluate as judge_run
    from pgnn.io.pair_files import read_pairs

    loaded, data = _load(run, graph, reading, common)
    asked, labels = (None, None) if pairs is None else read_pairs(pairs, data)
    with people.status("judging ..."):
        found = judge_run(
            loaded, data, pairs=asked, labels=labels, share=share, seed=seed
        ).to_json()
    _remark_graph(loaded, data)
    if common.as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    table = metric_table()
    add_metrics(table, found["model"], found["metrics"])
    Console().print(table)
    typer.echo(f"judged by {found['pairs']}")
    hidden = found["hidden_edges"]
    remark(
        f"{found['num_positive']:,} positive and {found['num_negative']:,} negative pairs"
        + ("" if hidden is None else f"; {hidden:,} edges of the file were hidden from the model")
    )


@shared_options
def embed(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    common: Common,
    out: OutFile = None,
    draw: Annotated[
        int,
        typer.Option(
            min=0, max=MAX_SEED, help="Which draw of anchor-sets: the same gives the same."
        ),
    ] = 0,
) -> None:
    """Write the embedding of each node, of the graph trained on or of one never seen.

    A row a node: its id, then z0, z1, ... Embeddings of one draw compare with each other.

    For example:

      pgnn embed run edges.csv -o embeddings.parquet
      pgnn embed run other_graph.csv -o embeddings.csv
    """
    from pgnn.io import write_embeddings
    from pgnn.io.write import check_writable

    if out is None:
        raise PGNNError("give a file to write to: -o embeddings.parquet (or .csv, .csv.gz, .npz)")
    check_writable(out)
    loaded, data = _load(run, graph, reading, common)
    with people.status("embedding ..."):
        found = loaded.learner.embed(data, draw=draw)
    write_embeddings(out, found, data)
    _remark_graph(loaded, data)
    summary = {"file": str(out), "nodes": len(found), "dimensions": found.shape[1], "draw": draw}
    if common.as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        typer.echo(f"{len(found):,} nodes, {found.shape[1]} numbers each, in {out}")


@shared_options
def predict(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    common: Common,
    top: Annotated[int, typer.Option(min=1, help="How many; with --node, of each node.")] = 20,
    node: Annotated[
        list[str] | None, typer.Option(help="Only for this node (may be given again).")
    ] = None,
    out: OutFile = None,
) -> None:
    """List the most likely missing links, or each node's most similar nodes (task pair).

    Of a graph with few pairs all are scored; of a large one those within a few hops and those of
    nearest embeddings; it is said which. The spread is how far a score varies with the random
    anchor-sets: of two scores, the one with less spread is surer.

    For example:

      pgnn predict run edges.csv --top 10
      pgnn predict run edges.csv --node alice --node bob -o links.csv
    """
    from pgnn.io import id_array, write_scores
    from pgnn.io.pair_files import find_nodes
    from pgnn.io.write import check_writable
    from pgnn.prediction.ranking import predict as find

    if out is not None:
        check_writable(out)
    loaded, data = _load(run, graph, reading, common)
    asked = find_nodes(data, node) if node else None
    with people.status("predicting ..."):
        found = find(loaded.learner, data, top=top, nodes=asked)
    if out is not None:
        write_scores(out, found.pairs, found.scores, data, spread=found.spread)
    ids = id_array(data)
    rows = [
        {"source": ids[u].item(), "target": ids[v].item(), "score": score, "spread": spread}
        for (u, v), score, spread in zip(
            found.pairs, found.scores.tolist(), found.spread.tolist(), strict=True
        )
    ]
    _remark_graph(loaded, data)
    if common.as_json:
        document = {"scored": found.how, "exact": found.exact, "links": rows}
        typer.echo(json.dumps(document, indent=2))
        return
    Console().print(link_table(rows, loaded.learner.recipe.task))
    remark(f"scored: {found.how}")
    remark_rows(len(rows))
    if out is not None:
        remark(f"written to {out}")


@shared_options
def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN_OR_RESULTS", help="A run, or a folder of results.")
    ],
    common: Common,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file.")] = Path("report.html"),
    top: Annotated[int, typer.Option(min=1, help="How many predicted links to list.")] = 20,
) -> None:
    """Write one HTML page that opens offline: results, curves, the graph, its map, predictions.

    Of a run, choose an anchor-set in the page to see what a P-GNN sees of the graph. Of the folder
    that `pgnn reproduce` wrote, the page has both tables of the paper with the paper's numbers.

    For example:

      pgnn report run -o report.html
      pgnn report results -o tables.html
    """
    from pgnn.io.atomic import check_place
    from pgnn.report import collect_run, render_results, render_run, write_report
    from pgnn.training.runs import load_run

    check_place(out)
    with people.status("making the report ..."):
        if (run / "reproduction.jsonl").exists():
            from pgnn.experiments.run import Store

            html = render_results(Store(run / "reproduction.jsonl").records())
        else:
            html = render_run(collect_run(load_run(run, device=common.device), top=top))
    write_report(out, html)
    summary = {"file": str(out), "bytes": out.stat().st_size}
    typer.echo(json.dumps(summary, indent=2) if common.as_json else f"the report is in {out}")


def _load(run: Path, graph: Path, reading: Reading, common: Common) -> tuple[Run, Graph]:
    from pgnn.training.runs import load_run

    loaded = load_run(run, device=common.device)
    return loaded, reading.or_as(loaded.config.get("train", {}), graph).read(graph)


def _remark_graph(run: Run, graph: Graph) -> None:
    """Say what of a graph was not used."""
    remark_dropped(graph)
    if not run.learner.num_features and graph.x is not None:
        remark("the run was trained without features; those of this graph are not read")
