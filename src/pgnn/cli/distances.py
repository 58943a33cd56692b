"""`pgnn distances`: positions of all nodes, also of a graph too large for one memory."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pgnn.cli.inputs import GraphFile
from pgnn.cli.options import Common, Reading, check_seed, option_groups
from pgnn.cli.processes import are_several, join
from pgnn.cli.show import counted, keep_remark, say, say_kept_remarks, working
from pgnn.errors import Parameter, PGNNError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pgnn.positions.anchors import AnchorSets
    from pgnn.positions.distances import AnchorDistances

# What a graph in parts does not have: it is made of edges alone.
_WHOLE_ONLY = (
    *("features", "id_column", "label", "feature_columns", "time", "until", "type_column"),
    "between",
)


@option_groups
def distances(
    graph: GraphFile,
    reading: Reading,
    common: Common,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="New folder to write to."),
    ] = None,
    sets: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=1, help="Number of anchor-sets. Default: log^2 n, as in the paper."
        ),
    ] = None,
    cutoff: Annotated[
        float | None,
        typer.Option(metavar="Q", min=0, help="Look no farther than this. Default: no bound."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            callback=check_seed,
            help="Decides which anchor-sets are drawn: the same number, the same sets.",
        ),
    ] = 0,
) -> None:
    """Write how far each node is from each anchor-set, and which anchor is nearest.

    An anchor-set is a random set of nodes; the distances to all of them are
    the position of a node. The folder holds one file per process with the rows
    of its nodes; `pgnn.distributed.read_distances` reads them all.

    A graph too large for one memory is shared by the processes that torchrun
    starts, also on several machines. Each reads its part of a parquet or csv
    file (not compressed, without weights) and has the rows of its nodes. The
    distances are the same, bit for bit.

    For example:

      pgnn distances edges.csv --sets 64 -o distances
      torchrun --nproc-per-node 2 -m pgnn distances edges.parquet -o distances
    """
    from pgnn.distributed.results import Summary, write_distances

    if out is None:
        raise PGNNError("give a folder to write to: -o distances")
    join(threads=1, device="cpu")
    search = _search_parts if are_several() else _search_whole
    result = search(graph, reading, out, _Drawing(sets, cutoff, seed))
    summary = Summary(
        num_parts=result.num_parts,
        num_nodes=result.num_nodes,
        num_edges=result.num_edges,
        directed=result.directed,
        num_sets=result.distances.num_sets,
        seed=seed,
        cutoff=cutoff,
    )
    write_distances(out, result.distances, result.node_ids, summary)
    say_kept_remarks()
    if common.as_json:
        typer.echo(json.dumps({"folder": str(out), **asdict(summary)}, indent=2))
    else:
        nodes = counted(summary.num_nodes, "node")
        say(f"{nodes}, {counted(summary.num_sets, 'anchor-set')} each, in {out}")


class _Drawing(NamedTuple):
    """Which anchor-sets are drawn, and how far they are searched."""

    num_sets: int | None
    cutoff: float | None
    seed: int

    def sets(self, num_nodes: int) -> AnchorSets:
        from pgnn.positions.anchors import sample_anchor_sets

        return sample_anchor_sets(num_nodes, num_sets=self.num_sets, rng=self.seed)


class _Result(NamedTuple):
    """The rows of this process, and the size of the whole graph."""

    distances: AnchorDistances
    node_ids: NDArray[Any]
    num_nodes: int
    num_edges: int
    directed: bool
    num_parts: int


def _search_whole(path: Path, reading: Reading, out: Path, drawing: _Drawing) -> _Result:
    """Read the whole graph and search it on all cores."""
    from pgnn.distributed.results import check_folder
    from pgnn.positions.distances import anchor_distances

    check_folder(out)
    graph = reading.read(path)
    with working("searching ..."):
        sets = drawing.sets(graph.num_nodes)
        result = anchor_distances(graph, sets, cutoff=drawing.cutoff)
    return _Result(result, graph.node_ids, graph.num_nodes, graph.num_edges, graph.directed, 1)


def _search_parts(path: Path, reading: Reading, out: Path, drawing: _Drawing) -> _Result:
    """Read this process's part of the graph, and search together with the others."""
    from pgnn.distributed.agreement import agreed
    from pgnn.distributed.partitioned import read_partitioned_graph, resolve_group
    from pgnn.distributed.results import check_folder
    from pgnn.distributed.search import partitioned_distances

    group = resolve_group(None)
    with agreed(group):
        for name in _WHOLE_ONLY:
            if getattr(reading, name) is not None:
                raise PGNNError(
                    Parameter(name), " is not for a graph in parts, which is read from edges alone"
                )
        check_folder(out)
    graph = read_partitioned_graph(path, **reading.edge_columns())
    keep_remark(
        f"{path}: {counted(graph.num_nodes, 'node')} and {counted(graph.num_edges, 'edge')} "
        f"in {group.size} parts"
    )
    with agreed(group):
        sets = drawing.sets(graph.num_nodes)
    result = partitioned_distances(graph, sets, cutoff=drawing.cutoff)
    size = graph.num_nodes, graph.num_edges
    return _Result(result, graph.node_ids, *size, graph.directed, group.size)
