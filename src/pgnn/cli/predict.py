"""`pgnn predict`: the most likely missing links, the most similar nodes, or groups of nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from pgnn.cli.options import Common, Computing, Reading, option_groups
from pgnn.cli.processes import is_first
from pgnn.cli.show import counted, group_table, link_table, remark, remark_rows, working
from pgnn.errors import Parameter, PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.training.runs import Run


@option_groups
def predict(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    computing: Computing,
    common: Common,
    top: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many to list; with --node, how many for each node. Default: 20."
        ),
    ] = None,
    node: Annotated[
        list[str] | None, typer.Option(help="Only links of this node. May be given again.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Score the pairs of this table, two ids per row, and no others."),
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Add the first reason to each row.")] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Answer with a heuristic instead, such as 'resource allocation'; names are those "
            "of the table that train prints.",
        ),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option(
            metavar="[K]",
            min=0,
            help="Runs of task pair: the group of each node, and labels of unlabelled nodes. "
            "Without K, the number of groups is chosen.",
        ),
    ] = None,
    base_rate: BaseRate = None,
    skip_unknown: SkipUnknown = False,
    out: OutFile = None,
) -> None:
    """List the most likely missing links, the most similar nodes, or groups.

    A run of task link lists links, one of task pair similar nodes. In a small
    graph all pairs are scored; in a large one, only pairs that are a few hops
    apart or have similar embeddings. The command says which. With --pairs,
    your own pairs are scored, in the order of the file; the edge of a pair
    that is one is not read.

    Of a run that was trained with --directed a link leads from its source to
    its target; of any other, its two nodes stand in no order. Where a graph
    has two kinds of nodes, all links are across them: --node CUSTOMER lists
    products.

    The score is the chance of a link for a base rate, the share of links among
    the pairs in question, which the command names. The spread tells how far a
    score varies: the smaller it is, the surer the score. With --model, the
    score is that of a heuristic, and no chance.

    With --groups, a run of task pair divides the nodes into groups that have
    the same label, as far as it can tell, and predicts the labels that are
    missing.

    For example:

      pgnn predict run edges.csv --top 10 --why
      pgnn predict run edges.csv --node alice --node bob -o links.csv
      pgnn predict run edges.csv --pairs mine.csv --base-rate 0.1
      pgnn predict run edges.csv --model resource-allocation
      pgnn predict run edges.csv --groups -o groups.csv
    """
    from pgnn.io import check_writable, find_nodes, id_array, write_scores

    typed = {
        "pairs": pairs is not None,
        "node": bool(node),
        "top": top is not None,
        "why": why,
        "model": model is not None,
        "base_rate": base_rate is not None,
    }
    if groups is not None:
        _refuse(typed, "groups", " lists every node")
    if pairs is not None:
        _refuse({name: typed[name] for name in ("node", "top")}, "pairs", " scores its own pairs")
    if out is not None:
        check_writable(out)
    loaded, data = load_run_and_graph(run, graph, reading, computing)
    if groups is not None:
        _predict_groups(loaded, data, groups or None, out, common)
        return
    if model == loaded.learner.recipe.model:
        model = None
    if model is not None:
        from pgnn.evaluation.heuristics import heuristic_named

        model = heuristic_named(model, data)
        _refuse({name: typed[name] for name in ("why", "base_rate")}, "model", " has no chances")
    learner = loaded.learner
    nodes = find_nodes(data, node) if node else None
    table = read_own_pairs(pairs, data, skip_unknown=skip_unknown)
    own = None if table is None else table.pairs
    with working("predicting ..."):
        from pgnn.prediction import ranking as ranker

        if model is not None and own is not None:
            ranking = ranker.score_by_heuristic(model, data, own)
        elif model is not None:
            ranking = ranker.rank_by_heuristic(
                model, data, task=learner.recipe.task, top=top or 20, nodes=nodes
            )
        elif own is not None:
            ranking = ranker.score_pairs(learner, data, own, base_rate=base_rate)
        else:
            ranking = ranker.predict(learner, data, top=top or 20, nodes=nodes, base_rate=base_rate)
    reasons = None
    if why:
        with working("finding reasons ..."):
            from pgnn.prediction.explain import first_reasons

            reasons = first_reasons(learner, data, ranking.pairs, base_rate=ranking.base_rate)
    if out is not None and is_first():
        write_scores(
            out,
            ranking.pairs,
            ranking.scores,
            data,
            spread=ranking.spread,
            reasons=None if reasons is None else [reason.name for reason in reasons],
            ends=ranking.ends,
        )
    ids = id_array(data)
    rows: list[dict[str, Any]] = [
        {"source": ids[u].item(), "target": ids[v].item(), "score": score, "spread": spread}
        for (u, v), score, spread in zip(
            ranking.pairs, ranking.scores.tolist(), ranking.spread.tolist(), strict=True
        )
    ]
    for row, reason in zip(rows, reasons or [], strict=False):
        row |= {"why": reason.name, "reason": reason.to_json(data)}
    remark_unused(loaded, data)
    if ranking.num_edges:
        remark(
            f"{counted(ranking.num_edges, 'edge')} of the graph among the pairs; a pair's own edge "
            "was not read"
        )
    if common.as_json:
        document = {
            "model": model or learner.recipe.model,
            "scored": ranking.how,
            "exact": ranking.exact,
            "base_rate": ranking.base_rate,
            "asked_edges": ranking.num_edges,
            "directed": ranking.ends == ("source", "target"),
            "ends": ranking.ends,
            "links": rows,
        }
        typer.echo(json.dumps(document, indent=2))
        return
    title = "most likely missing links" if learner.recipe.task == "link" else "most similar nodes"
    if own is not None:
        title = "scores of your pairs" if model else "chances of your pairs"
    title = title if model is None else f"{title}, by {model}"
    Console().print(link_table(rows, title, ranking.ends))
    remark(f"scored: {ranking.how}")
    if ranking.base_rate is None:
        remark(f"scores are those of {model}, no chances; a higher one is a likelier link")
    else:
        remark(
            f"chances are for a base rate of {ranking.base_rate:.3g}, the share of links among the "
            "pairs in question; --base-rate sets another"
        )
    remark_rows(len(rows))
    if out is not None:
        remark(f"written to {out}")


def _refuse(typed: dict[str, bool], option: str, clause: str) -> None:
    """Raise PGNNError if one of some options was typed beside one that excludes it."""
    for name, is_typed in typed.items():
        if is_typed:
            raise PGNNError(Parameter(option), f"{clause}; leave out ", Parameter(name))


def _predict_groups(
    loaded: Run, data: Graph, num_groups: int | None, out: Path | None, common: Common
) -> None:
    """Show or write the group of each node, and the labels of unlabelled nodes."""
    from pgnn.io import write_columns

    with working("finding groups ..."):
        from pgnn.prediction.groups import find_groups

        groups = find_groups(loaded.learner, data, num_groups=num_groups)
    if out is not None and is_first():
        columns = groups.columns()
        write_columns(out, columns, columns)
    remark_unused(loaded, data)
    if common.as_json:
        typer.echo(json.dumps(groups.to_json(), indent=2))
        return
    rows = groups.rows()
    Console().print(group_table(rows))
    remark(groups.how)
    if groups.predicted.any():
        remark(f"{counted(int(groups.predicted.sum()), 'label')} predicted")
    remark_rows(len(rows))
    if out is not None:
        remark(f"written to {out}")
