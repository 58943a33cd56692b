"""`pgnn bench`: measurements against peers."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from pgnn.cli.boundary import Command, only_about
from pgnn.cli.show import people

if TYPE_CHECKING:
    from pgnn.bench import distances as distances_bench
    from pgnn.bench import layer as layer_bench
    from pgnn.bench import pairs as pairs_bench
    from pgnn.bench import scale as scale_bench
    from pgnn.bench import train as train_bench
    from pgnn.bench import updates as updates_bench

bench = typer.Typer(
    help="Measure speed and memory, beside other methods.",
    no_args_is_help=True,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@bench.command("distances", cls=Command)
def bench_distances(
    family: Annotated[
        list[str] | None,
        typer.Option(help="Measure only this family. May be given again. Default: all."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads. Default: one per core.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure distances to anchor-sets, beside scipy and the released method.

    The families of graphs are random-3000 (the only one that the released
    method, which searches all pairs, is measured on), random, grid,
    preferential, random-1m (needs 3 GB), and with lengths of edges
    weighted-random and weighted-grid. In pagerank the distance is personalised
    PageRank, beside scipy's sparse products at the same error. Each is measured
    in a process of its own, so that peaks of memory do not mix. scipy searches
    one set per call: a sample of the sets is measured, and the time for all is
    estimated.

    For example:

      pgnn bench distances --family grid --family random
    """
    from pgnn.bench.distances import FAMILIES, run

    rows: list[distances_bench.Row] = []
    with people.status("measuring ...") as status:
        for name in family or FAMILIES:
            status.update(f"measuring {name} ...")
            rows += run([name], threads)
            if not as_json:
                people.print(f"  {name}: {rows[-1].seconds:.4g} s, {_times(rows[-1].ratio)} scipy")
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2))
        return
    Console().print(_distances_table(rows))
    for row in rows:
        if row.error is not None:
            Console().print(f"{row.family}: error {row.error:.1e}, scipy {row.scipy_error:.1e}")
    Console().print(
        f"compiling or loading kernels: {max(row.compile_seconds for row in rows):.1f} s"
    )


@bench.command("updates", cls=Command)
def bench_updates(
    added: Annotated[
        list[int] | None,
        typer.Option(
            help="Number of edges that arrive. May be given again. Default: 1, 100, 10000."
        ),
    ] = None,
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 100_000,
    edges: Annotated[int, typer.Option(help="Number of edges.")] = 1_000_000,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads. Default: one per core.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure distances updated after edges arrived, beside a search.

    Random edges are added to a random graph. The earlier distances to its
    anchor-sets are updated in place, and all sets are searched. Where many
    edges arrive the update is a search. A million nodes need 6 GB.

    For example:

      pgnn bench updates --nodes 1000000 --edges 10000000 --added 100
    """
    from pgnn.bench.updates import measure

    rows: list[updates_bench.Row] = []
    with people.status("measuring ...") as status, only_about("added", "num_threads"):
        for count in added or (1, 100, 10_000):
            status.update(f"measuring {count:,} new edges ...")
            rows.append(measure(nodes, edges, count, threads))
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2))
        return
    table = Table(title=f"Distances after edges arrived, {rows[0].threads} threads")
    for title in ("nodes", "edges", "sets", "new edges", "update s", "search s", "ratio", "equal"):
        table.add_column(title, justify="right")
    for row in rows:
        counts = (f"{count:,}" for count in (row.nodes, row.edges, row.sets, row.added))
        numbers = (f"{row.seconds:.4g}", f"{row.search_seconds:.4g}", f"{row.ratio:.1f}x")
        table.add_row(*counts, *numbers, "yes" if row.equal else "NO")
    Console().print(table)


@bench.command("layer", cls=Command)
def bench_layer(
    nodes: Annotated[
        list[int] | None,
        typer.Option(help="Measure only this many nodes. May be given again. Default: all."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads. Default: as torch chooses.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure one P-GNN layer, forward and backward, beside the released one.

    Graphs of 400, 3000 and 20000 nodes are computed with 32 channels by
    compiled kernels ("fused"), by plain torch ("eager") and by the released
    formulation, written anew, which needs 4 GB. A graph of 200000 nodes is
    computed by compiled kernels alone. A peak of memory is what was added
    while computing. Takes about two minutes.

    For example:

      pgnn bench layer --nodes 400 --nodes 3000
    """
    from pgnn.bench.layer import SIZES, run

    rows: list[layer_bench.Row] = []
    with people.status("measuring ...") as status:
        for count in nodes or SIZES:
            status.update(f"measuring {count:,} nodes ...")
            rows += run([count], threads)
            if not as_json:
                people.print(f"  {count:,} nodes: {1000 * rows[-1].seconds:.4g} ms")
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2))
        return
    Console().print(_layer_table(rows))


@bench.command("train", cls=Command)
def bench_train(
    data: Annotated[
        list[str] | None,
        typer.Option(help="grid or ppi-sized. May be given again. Default: both."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads. Default: as torch chooses.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a training run of P-GNN-E-2L, beside the released formulation.

    Both get the same data, weights, anchors and dropout, and have the same
    losses. The released way first finds the distances of all pairs in
    Python, then takes a maximum for each set in every epoch. The graphs are
    Grid, for 200 epochs, and a random graph of the size of PPI, for 5. Takes
    two minutes.

    For example:

      pgnn bench train --data grid
    """
    from pgnn.bench.train import DATA, run

    rows: list[train_bench.Row] = []
    with people.status("measuring ...") as status:
        for name in data or DATA:
            status.update(f"measuring {name} ...")
            rows += run([name], threads)
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2))
        return
    table = Table(title=f"Training P-GNN-E-2L, {rows[0].threads} threads")
    for title in ("data", "epochs", "pgnn s", "released s", "ratio", "loss difference"):
        table.add_column(title, justify="left" if title == "data" else "right")
    for row in rows:
        numbers = (f"{row.seconds:.3g}", f"{row.released_seconds:.3g}", f"{row.ratio:.1f}x")
        table.add_row(row.dataset, str(row.epochs), *numbers, f"{row.loss_difference:.2g}")
    Console().print(table)


@bench.command("pairs")
def bench_pairs(
    family: Annotated[
        list[str] | None,
        typer.Option(help="Measure only this family (may be given again). Default: all."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure proximities of pairs beside networkx.

    Random pairs are described by all columns. networkx computes two of them,
    common neighbours and the shortest path, one pair per call: a sample of
    the pairs is measured and its time extrapolated to all. Families:
    random-3000 (exact), grid, preferential, and random: 100000 nodes,
    1000000 edges, 200000 pairs.

    For example:

      pgnn bench pairs --family random
    """
    from pgnn.bench.pairs import FAMILIES, run

    rows: list[pairs_bench.Row] = []
    with people.status("measuring ...") as status:
        for name in family or FAMILIES:
            status.update(f"measuring {name} ...")
            rows += run([name], threads)
            if not as_json:
                people.print(f"  {name}: {rows[-1].seconds:.4g} s, {rows[-1].ratio:.0f}x networkx")
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2))
        return
    table = Table(title=f"Proximities of pairs, {rows[0].threads} threads")
    sizes = ("nodes", "edges", "pairs", "columns")
    for title in ("family", *sizes, "seconds", "networkx s, 2 columns", "ratio", "peak MB"):
        table.add_column(title, justify="left" if title == "family" else "right")
    for row in rows:
        counts = (f"{count:,}" for count in (row.nodes, row.edges, row.pairs, row.columns))
        theirs = f"{row.networkx_seconds:.4g} ({row.networkx_pairs_measured} pairs)"
        peak = f"{row.peak_bytes / 1e6:.0f}"
        table.add_row(row.family, *counts, f"{row.seconds:.4g}", theirs, f"{row.ratio:.0f}x", peak)
    Console().print(table)


@bench.command("scale", cls=Command)
def bench_scale(
    nodes: Annotated[
        list[int] | None,
        typer.Option(
            help="Number of nodes. May be given again. Default: 10000, 30000, 100000, 300000, "
            "1000000."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the graphs and the runs.")] = 0,
    warm_up: Annotated[
        bool, typer.Option(help="Whether a small graph comes first, so that kernels are compiled.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Measure train, evaluate and predict on graphs of up to a million nodes.

    A graph with communities and hubs, ten edges per node, is written to a
    file. The commands then run in processes of their own, with pgnn-best as
    it is by default. Further edges of the same graph were kept aside: how
    many of the 100 links that predict lists are among them, and how many of
    the best heuristic's? A million nodes take minutes and 4 GB.

    For example:

      pgnn bench scale --nodes 10000 --nodes 100000
    """
    from pgnn.bench.scale import SIZES, WARM_UP, run
    from pgnn.training.outcome import versions

    rows: list[scale_bench.Row] = []
    with people.status("measuring ...") as status, only_about("nodes", "seed"):
        for row in run(
            nodes or SIZES,
            seed=seed,
            warm_up=WARM_UP if warm_up else None,
            say=lambda text: status.update(f"{text} ..."),
        ):
            rows.append(row)
            people.print(f"  {row.nodes:,} nodes: {row.seconds:.0f} s")
    if as_json:
        document = {"seed": seed, "versions": versions(), "rows": [asdict(row) for row in rows]}
        typer.echo(json.dumps(document, indent=2))
        return
    Console().print(_scale_table(rows))
    for row in rows:
        best, count = row.best_top
        typer.echo(
            f"{row.nodes:,} nodes: of the {row.top} links that each lists, {row.top_hidden} of "
            f"pgnn-best and {count} of {best}, the best heuristic, are edges that were kept aside"
        )


def _scale_table(rows: list[scale_bench.Row]) -> Table:
    table = Table(title=f"Train, evaluate, predict --top {rows[0].top}, {rows[0].threads} threads")
    for name in ("nodes", "edges", "train s", "evaluate s", "predict s", "peak MB", "AUC"):
        table.add_column(name, justify="right")
    table.add_column("best heuristic", justify="right")
    for row in rows:
        steps = (f"{step.seconds:.1f}" for step in (row.train, row.evaluate, row.predict))
        table.add_row(
            f"{row.nodes:,}",
            f"{row.edges:,}",
            *steps,
            f"{row.peak_bytes / 1e6:.0f}",
            f"{row.auc:.4f}",
            f"{row.heuristic} {row.heuristic_auc:.4f}",
        )
    return table


def _layer_table(rows: list[layer_bench.Row]) -> Table:
    table = Table(title=f"One layer, forward and backward, {rows[0].threads} threads")
    for name in ("nodes", "sets", "what", "fused", "eager", "released", "released/fused"):
        table.add_column(name, justify="right")

    def shown(value: float | None, scale: float) -> str:
        return "" if value is None else f"{value * scale:.4g}"

    for row in rows:
        table.add_row(
            f"{row.nodes:,}",
            f"{row.sets}",
            "ms",
            *(shown(t, 1e3) for t in (row.seconds, row.eager_seconds, row.released_seconds)),
            shown(row.ratio, 1),
        )
        peaks = (row.peak_bytes, row.eager_peak_bytes, row.released_peak_bytes)
        table.add_row(
            "", "", "peak MB", *(shown(peak, 1e-6) for peak in peaks), shown(row.peak_ratio, 1)
        )
        table.add_row("", "", "process MB", shown(row.process_bytes, 1e-6), "", "", "")
    return table


def _times(ratio: float) -> str:
    """Write a ratio with a decimal where that matters."""
    return f"{ratio:.1f}x" if ratio < 20 else f"{ratio:.0f}x"


def _distances_table(rows: list[distances_bench.Row]) -> Table:
    table = Table(title=f"Distance to and nearest member of k sets, {rows[0].threads} threads")
    for name in ("family", "nodes", "edges", "sets", "seconds", "scipy s", "ratio", "peak/held"):
        table.add_column(name, justify="left" if name == "family" else "right")
    table.add_column("released s", justify="right")
    table.add_column("ratio", justify="right")
    for row in rows:
        released = row.released_seconds
        table.add_row(
            row.family,
            f"{row.nodes:,}",
            f"{row.edges:,}",
            f"{row.sets}",
            f"{row.seconds:.4g}",
            f"{row.scipy_seconds:.4g} ({row.scipy_sets_measured} sets)",
            _times(row.ratio),
            f"{row.peak_bytes / row.result_and_graph_bytes:.2f}",
            "" if released is None else f"{released:.4g}",
            "" if row.released_ratio is None else f"{row.released_ratio:,.0f}x",
        )
    return table
