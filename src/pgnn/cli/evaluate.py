"""`pgnn evaluate`: how good a run is on pairs that it has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pgnn.cli.inputs import GraphFile, RunDir, load_run_and_graph, remark_unused
from pgnn.cli.options import Common, Computing, Reading, check_seed, option_groups
from pgnn.cli.progress import working
from pgnn.cli.show import add_metrics, metric_table, remark

if TYPE_CHECKING:
    from pgnn.evaluation.evaluate import Evaluation


@option_groups
def evaluate(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    computing: Computing,
    common: Common,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Table of pairs to judge by: two ids per row, perhaps a column label of 0 and 1."
        ),
    ] = None,
    share: Annotated[
        float, typer.Option(help="For a graph that the run has not seen: the share to hold out.")
    ] = 0.1,
    seed: Annotated[
        int,
        typer.Option(callback=check_seed, help="Decides which pairs are held out or drawn."),
    ] = 0,
) -> None:
    """Judge a run by pairs that it has not seen.

    The metrics are ROC AUC, average precision, hits@10, hits@100 and MRR.
    The pairs are those of --pairs. Without it they are the test pairs of the
    graph that the run was trained on; of any other graph, a share is held
    out. Edges to be judged by are always hidden from the model first.

    For example:

      pgnn evaluate run edges.csv
      pgnn evaluate run edges.csv --pairs held_out.csv
      pgnn evaluate run other_graph.csv --share 0.2 --json
    """
    from pgnn.io import read_pairs

    loaded, data = load_run_and_graph(run, graph, reading, computing)
    nodes, labels = (None, None) if pairs is None else read_pairs(pairs, data)
    with working("judging ..."):
        from pgnn.evaluation.evaluate import evaluate as judge_run

        verdict = judge_run(loaded, data, pairs=nodes, labels=labels, share=share, seed=seed)
    remark_unused(loaded, data)
    if common.as_json:
        typer.echo(json.dumps(verdict.to_json(), indent=2))
    else:
        _show(verdict)


def _show(verdict: Evaluation) -> None:
    """Print the metrics and what they were measured on."""
    table = metric_table()
    add_metrics(table, verdict.model, verdict.metrics)
    Console().print(table)
    typer.echo(f"judged by {verdict.pairs}")
    hidden = verdict.hidden_edges
    remark(
        f"{verdict.num_positive:,} positive and {verdict.num_negative:,} negative pairs"
        + (f"; {hidden:,} edges of the file were hidden from the model" if hidden else "")
    )
