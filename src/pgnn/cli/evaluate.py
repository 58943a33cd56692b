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
    TestFrom,
    load_run_and_reading,
    read_own_pairs,
    remark_unused,
)
from pgnn.cli.options import (
    Common,
    Computing,
    Reading,
    check_seed,
    completing,
    option_groups,
    say_how_read,
)
from pgnn.cli.processes import is_first
from pgnn.cli.show import (
    counted,
    metric_table,
    remark,
    remark_few,
    say,
    say_how_sure,
    say_more,
    working,
)
from pgnn.errors import Parameter, PGNNError
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
            autocompletion=completing(*NEGATIVES),
            help="Which pairs without an edge are drawn. two-hop: with a common neighbour. degree: "
            "of nodes with many neighbours. Default: uniform, or as the run was judged.",
        ),
    ] = None,
    test_from: TestFrom = None,
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
    how true the chances are; a sentence says whether a heuristic is as good.
    The pairs are those of --pairs. Without it they
    are the test pairs of the graph that the run was trained on; of any other
    graph, a share is held out. Edges to be judged by are always hidden from
    the model first. With -o, a file gets the label and the chance of each
    pair.

    With --time the model sees edges before --test-from, and is judged by
    links that are new from then on.

    For example:

      pgnn evaluate run edges.csv
      pgnn evaluate run edges.csv --pairs held_out.csv -o scores.csv
      pgnn evaluate run edges.csv --negatives two-hop
      pgnn evaluate run other_graph.csv --share 0.2 --json
      pgnn evaluate run later.csv --time date --test-from 2024-06
    """
    from pgnn.io import check_writable, write_scores

    if out is not None:
        check_writable(out)
    loaded, how, encoding = load_run_and_reading(run, graph, reading, computing)
    weights = loaded.learner.recipe.weights
    if how.time is None and test_from is not None:
        raise PGNNError(Parameter("test_from"), " needs ", Parameter("time"), " COLUMN")
    if how.time is not None and pairs is None and loaded.learner.recipe.task == "link":
        events = how.read_events(graph, weights=weights, encoding=encoding)
        say_how_read(events.graph_with_notes()[1])
        with working("judging ..."):
            from pgnn.evaluation.evaluate import evaluate_by_time

            evaluation, data = evaluate_by_time(
                loaded,
                events,
                test_from=test_from,
                share=share,
                negatives=negatives,  # type: ignore[arg-type]  # checked there
                base_rate=base_rate,
                seed=seed,
            )
    else:
        if test_from is not None:
            raise PGNNError(Parameter("test_from"), " is for new links, not for pairs of your own")
        data = how.read(graph, weights=weights, encoding=encoding)
        table = read_own_pairs(pairs, data, skip_unknown=skip_unknown)
        with working("judging ..."):
            from pgnn.evaluation.evaluate import evaluate as judge_run

            evaluation = judge_run(
                loaded,
                data,
                pairs=None if table is None else table.pairs,
                labels=None if table is None else table.labels,
                share=share,
                negatives=negatives,  # type: ignore[arg-type]  # checked there
                base_rate=base_rate,
                seed=seed,
            )
    if out is not None and is_first():
        scored = evaluation.scored
        write_scores(
            out,
            scored.pairs.pairs,
            scored.scores,
            data,
            spread=scored.spread,
            labels=scored.pairs.labels,
        )
    remark_unused(loaded, data)
    if evaluation.repeated_pairs:
        remark(f"left out {counted(evaluation.repeated_pairs, 'pair')} that repeat others")
    if common.as_json:
        typer.echo(json.dumps(evaluation.to_json(), indent=2))
    else:
        _show(evaluation)
    remark_few(evaluation.num_positive + evaluation.num_negative, "judge by more pairs")
    if out is not None and not common.as_json:
        remark(f"written to {out}")


def _show(evaluation: Evaluation) -> None:
    """Print the metrics and what they were measured on."""
    Console().print(metric_table({evaluation.model: evaluation.metrics}))
    others = evaluation.without_lone
    for line in say_how_sure(
        evaluation.metrics,
        evaluation.base_rate,
        evaluation.lone_pairs,
        None if others is None else others.metrics,
    ):
        say(line)
    left = (evaluation.graph.between or ["node"])[0]
    for line in say_more(evaluation.model, evaluation.metrics, {}, left):
        say(line)
    say(evaluation.verdict)
    say(f"judged by {evaluation.pairs}")
    if evaluation.time is not None:
        remark(evaluation.time.sentence())
    hidden = evaluation.hidden_edges
    remark(
        f"{evaluation.num_positive:,} positive and {evaluation.num_negative:,} negative pairs"
        + (f"; {hidden:,} edges of the file were hidden from the model" if hidden else "")
    )
