"""`pgnn evaluate`: how good a run is on pairs that it has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pgnn.cli.inputs import (
    BaseRate,
    GraphFile,
    OutFile,
    RunDir,
    SkipUnknown,
    load_run_and_graph,
    read_own_pairs,
    remark_unused,
)
from pgnn.cli.options import Common, Computing, Reading, check_seed, option_groups
from pgnn.cli.show import (
    counted,
    metric_table,
    remark,
    remark_few,
    say_how_sure,
    say_more,
    working,
)
from pgnn.names import NEGATIVES

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
    negatives: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(NEGATIVES),
            help="Which pairs without an edge are drawn. two-hop: with a common neighbour. degree: "
            "of nodes with many neighbours. Default: uniform, or as the run was judged.",
        ),
    ] = None,
    base_rate: BaseRate = None,
    skip_unknown: SkipUnknown = False,
    seed: Annotated[
        int,
        typer.Option(callback=check_seed, help="Decides which pairs are held out or drawn."),
    ] = 0,
    out: OutFile = None,
) -> None:
    """Judge a run by pairs that it has not seen.

    The metrics are ROC AUC, average precision, hits@10, hits@100 and MRR, and
    how true the chances are. The pairs are those of --pairs. Without it they
    are the test pairs of the graph that the run was trained on; of any other
    graph, a share is held out. Edges to be judged by are always hidden from
    the model first. With -o, a file gets the label and the chance of each
    pair.

    For example:

      pgnn evaluate run edges.csv
      pgnn evaluate run edges.csv --pairs held_out.csv -o scores.csv
      pgnn evaluate run edges.csv --negatives two-hop
      pgnn evaluate run other_graph.csv --share 0.2 --json
    """
    from pgnn.io import check_writable, write_scores

    if out is not None:
        check_writable(out)
    loaded, data = load_run_and_graph(run, graph, reading, computing)
    table = read_own_pairs(pairs, data, skip_unknown=skip_unknown)
    with working("judging ..."):
        from pgnn.evaluation.evaluate import evaluate as judge_run

        verdict = judge_run(
            loaded,
            data,
            pairs=None if table is None else table.pairs,
            labels=None if table is None else table.labels,
            share=share,
            negatives=negatives,  # type: ignore[arg-type]  # checked there
            base_rate=base_rate,
            seed=seed,
        )
    if out is not None:
        scored = verdict.scored
        write_scores(
            out,
            scored.pairs.pairs,
            scored.scores,
            data,
            spread=scored.spread,
            labels=scored.pairs.labels,
        )
    remark_unused(loaded, data)
    if verdict.repeated_pairs:
        remark(f"left out {counted(verdict.repeated_pairs, 'pair')} that repeat others")
    if common.as_json:
        typer.echo(json.dumps(verdict.to_json(), indent=2))
    else:
        _show(verdict)
    remark_few(verdict.num_positive + verdict.num_negative, "judge by more pairs")
    if out is not None and not common.as_json:
        remark(f"written to {out}")


def _show(verdict: Evaluation) -> None:
    """Print the metrics and what they were measured on."""
    Console().print(metric_table({verdict.model: verdict.metrics}))
    others = verdict.without_lone
    for line in say_how_sure(
        verdict.metrics,
        verdict.base_rate,
        verdict.lone_pairs,
        None if others is None else others.metrics,
    ):
        typer.echo(line)
    left = (verdict.graph.between or ["node"])[0]
    for line in say_more(verdict.model, verdict.metrics, {}, left):
        typer.echo(line)
    typer.echo(f"judged by {verdict.pairs}")
    hidden = verdict.hidden_edges
    remark(
        f"{verdict.num_positive:,} positive and {verdict.num_negative:,} negative pairs"
        + (f"; {hidden:,} edges of the file were hidden from the model" if hidden else "")
    )
