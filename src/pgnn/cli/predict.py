"""`pgnn predict`: the most likely missing links, or the most similar nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

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
from pgnn.cli.show import counted, link_table, remark, remark_rows, working
from pgnn.errors import Parameter, PGNNError


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
    base_rate: BaseRate = None,
    skip_unknown: SkipUnknown = False,
    out: OutFile = None,
) -> None:
    """List the most likely missing links, or the most similar nodes.

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
    score varies: the smaller it is, the surer the score.

    For example:

      pgnn predict run edges.csv --top 10
      pgnn predict run edges.csv --node alice --node bob -o links.csv
      pgnn predict run edges.csv --pairs mine.csv --base-rate 0.1
    """
    from pgnn.io import check_writable, find_nodes, id_array, write_scores

    if pairs is not None and (node or top is not None):
        other = Parameter("node" if node else "top")
        raise PGNNError(Parameter("pairs"), " scores its own pairs; leave out ", other)
    if out is not None:
        check_writable(out)
    loaded, data = load_run_and_graph(run, graph, reading, computing)
    nodes = find_nodes(data, node) if node else None
    table = read_own_pairs(pairs, data, skip_unknown=skip_unknown)
    with working("predicting ..."):
        from pgnn.prediction.ranking import predict as rank_pairs
        from pgnn.prediction.ranking import score_pairs

        learner = loaded.learner
        if table is not None:
            ranking = score_pairs(learner, data, table.pairs, base_rate=base_rate)
        else:
            ranking = rank_pairs(learner, data, top=top or 20, nodes=nodes, base_rate=base_rate)
    if out is not None:
        write_scores(
            out, ranking.pairs, ranking.scores, data, spread=ranking.spread, ends=ranking.ends
        )
    ids = id_array(data)
    rows = [
        {"source": ids[u].item(), "target": ids[v].item(), "score": score, "spread": spread}
        for (u, v), score, spread in zip(
            ranking.pairs, ranking.scores.tolist(), ranking.spread.tolist(), strict=True
        )
    ]
    remark_unused(loaded, data)
    if ranking.num_edges:
        remark(
            f"{counted(ranking.num_edges, 'edge')} of the graph among the pairs; a pair's own edge "
            "was not read"
        )
    if common.as_json:
        document = {
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
    title = title if table is None else "chances of your pairs"
    Console().print(link_table(rows, title, ranking.ends))
    remark(f"scored: {ranking.how}")
    remark(
        f"chances are for a base rate of {ranking.base_rate:.3g}, the share of links among the "
        "pairs in question; --base-rate sets another"
    )
    remark_rows(len(rows))
    if out is not None:
        remark(f"written to {out}")
