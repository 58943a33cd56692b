"""`pgnn explain`: why a pair of nodes has its score."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pgnn.cli.inputs import BaseRate, GraphFile, RunDir, load_run_and_graph, remark_unused
from pgnn.cli.options import Common, Computing, Reading, option_groups
from pgnn.cli.show import reason_table, remark, say, working

if TYPE_CHECKING:
    from pgnn.prediction.explain import Explanation

_WORTH_SAYING = 10  # edges of evidence that are listed for people


@option_groups
def explain(
    run: RunDir,
    graph: GraphFile,
    one: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of a node.")],
    other: Annotated[str, typer.Argument(metavar="TARGET", help="Id of another node.")],
    reading: Reading,
    computing: Computing,
    common: Common,
    base_rate: BaseRate = None,
) -> None:
    """Say why two nodes have their score.

    The reasons are groups of what the model reads about the pair. The effect
    of a reason is how much higher the score is than if this group were as for
    random pairs of the graph. Each reason also names the edges that it rests
    on, and the pair is scored once more without them. The first reason is one
    that passes both tests.

    The shortest paths and what heuristics say stand below. If the pair is an
    edge of the graph, it is explained without that edge; for a run of task
    pair, where an edge is no answer, with it.

    For example:

      pgnn explain run edges.csv alice bob
      pgnn explain run edges.csv alice bob --json
    """
    from pgnn.io import find_nodes

    loaded, data = load_run_and_graph(run, graph, reading, computing)
    source, target = find_nodes(data, [one, other]).tolist()
    with working("explaining ..."):
        from pgnn.prediction.explain import explain as explain_pair

        explanation = explain_pair(loaded.learner, data, source, target, base_rate=base_rate)
    remark_unused(loaded, data)
    if explanation.is_edge and explanation.task == "link":
        remark("the graph has an edge between the two; it was not read")
    if common.as_json:
        typer.echo(json.dumps(explanation.to_json(), indent=2))
        return
    _show(explanation)


def _show(explanation: Explanation) -> None:
    """Print it for people."""
    document = explanation.to_json()
    what = "a link" if explanation.task == "link" else "the same label"
    say(
        f"{document['source']} - {document['target']}: chance of {what} {explanation.score:.3g} "
        f"(spread {explanation.spread:.2g}; base rate {explanation.base_rate:.3g})"
    )
    Console().print(reason_table(document["reasons"]))
    first = document["reasons"][0]
    if first["without"] is not None:
        edges = [" - ".join(map(str, edge)) for edge in first["evidence"]]
        listed = ", ".join(edges[:_WORTH_SAYING]) + (", ..." if len(edges) > _WORTH_SAYING else "")
        number = f"{len(edges):,} edge{'s' * (len(edges) != 1)}"
        say(f"the first reason rests on {number}: {listed}")
    for place, path in enumerate(document["paths"]):
        title = "shortest paths: " if place == 0 else " " * len("shortest paths: ")
        say(title + " - ".join(map(str, path)))
    if not document["paths"]:
        say("no path joins the two")
    say("heuristics, and the share of random pairs that score lower:")
    for name, says in document["heuristics"].items():
        say(f"  {name:<24}{says['score']:>10.4g}{says['above']:>8.0%}")
