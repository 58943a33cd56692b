"""`pgnn predict`: the most likely missing links, or the most similar nodes."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from pgnn.cli.inputs import GraphFile, OutFile, RunDir, load_run_and_graph, remark_unused
from pgnn.cli.options import Common, Computing, Reading, option_groups
from pgnn.cli.progress import working
from pgnn.cli.show import link_table, remark, remark_rows


@option_groups
def predict(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    computing: Computing,
    common: Common,
    top: Annotated[
        int, typer.Option(min=1, help="How many to list; with --node, how many for each node.")
    ] = 20,
    node: Annotated[
        list[str] | None, typer.Option(help="Only links of this node. May be given again.")
    ] = None,
    out: OutFile = None,
) -> None:
    """List the most likely missing links, or the most similar nodes.

    A run of task link lists links, one of task pair similar nodes. In a small
    graph all pairs are scored; in a large one, only pairs that are a few hops
    apart or have similar embeddings. The command says which. The spread tells
    how far a score varies with the random anchor-sets: the smaller it is, the
    surer the score.

    For example:

      pgnn predict run edges.csv --top 10
      pgnn predict run edges.csv --node alice --node bob -o links.csv
    """
    from pgnn.io import check_writable, find_nodes, id_array, write_scores

    if out is not None:
        check_writable(out)
    loaded, data = load_run_and_graph(run, graph, reading, computing)
    nodes = find_nodes(data, node) if node else None
    with working("predicting ..."):
        from pgnn.prediction.ranking import predict as rank_pairs

        ranking = rank_pairs(loaded.learner, data, top=top, nodes=nodes)
    if out is not None:
        write_scores(out, ranking.pairs, ranking.scores, data, spread=ranking.spread)
    ids = id_array(data)
    rows = [
        {"source": ids[u].item(), "target": ids[v].item(), "score": score, "spread": spread}
        for (u, v), score, spread in zip(
            ranking.pairs, ranking.scores.tolist(), ranking.spread.tolist(), strict=True
        )
    ]
    remark_unused(loaded, data)
    if common.as_json:
        document = {"scored": ranking.how, "exact": ranking.exact, "links": rows}
        typer.echo(json.dumps(document, indent=2))
        return
    Console().print(link_table(rows, loaded.learner.recipe.task))
    remark(f"scored: {ranking.how}")
    remark_rows(len(rows))
    if out is not None:
        remark(f"written to {out}")
