"""The benchmark of links: which graphs, which rows, run what is missing, write the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pgnn.checks import one_of, positive_integer
from pgnn.datasets.places import data_folders, find
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import node2vec
from pgnn.experiments.jobs import run_on_processes
from pgnn.experiments.link_run import LinkGraph, LinkJob, LinkRecord, run_link_job
from pgnn.experiments.link_tables import LinkResults, draw_links, link_tables
from pgnn.experiments.render import missing_for_pictures
from pgnn.experiments.reproduce import Progress
from pgnn.experiments.store import LINKS, Store, open_store
from pgnn.io import format_suffix, make_folder, open_atomic
from pgnn.io.write import locked_folder
from pgnn.names import BEST, LINK_GRAPHS, LINK_MODELS, LINK_PROTOCOLS, MODELS, NODE2VEC

TABLE = "links"  # what the command calls all graphs together
_ALL_HEURISTICS = "heuristics"  # one name for all of their rows
ROWS = (*MODELS, NODE2VEC, _ALL_HEURISTICS, *HEURISTICS)
_SUFFIXES = (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".parquet", ".npz", ".graphml")


@dataclass(frozen=True)
class LinkGraphs:
    """Which graphs of the benchmark there are.

    Attributes:
        graphs: Those that were found.
        missing: Names of those that were not.
        looked_in: Folders that should have them.
    """

    graphs: tuple[LinkGraph, ...]
    missing: tuple[str, ...] = ()
    looked_in: tuple[Path, ...] = ()

    @property
    def remark(self) -> str:
        """A sentence about the graphs that are missing; empty if none is."""
        if not self.missing:
            return ""
        return (
            f"{_listed([f'{name}.csv.gz' for name in self.missing])} not found in "
            f"{_listed([str(folder) for folder in self.looked_in])}"
        )


def find_link_graphs(
    name: str = TABLE, *, folder: Path | None = None, data_dir: str | None = None
) -> LinkGraphs:
    """Find the graphs of the benchmark, or those in a folder of one's own.

    Args:
        name: "links" for all graphs, or the name of one.
        folder: A folder of graph files, each of which becomes a column; None for the five public
            graphs, `links/*.csv.gz` in the folders of data sets.
        data_dir: Folder of data sets, looked at before `$PGNN_DATA` and the cache.

    Raises:
        PGNNError: If there is no such graph, or none at all.
    """
    if folder is not None:
        graphs = {graph.name: graph for graph in _graphs_in(folder)}
        if name not in (TABLE, *graphs):
            raise PGNNError(f"{folder} has no graph {name!r}; it has {', '.join(graphs)}")
        return LinkGraphs(tuple(graphs.values()) if name == TABLE else (graphs[name],))
    if name not in (TABLE, *LINK_GRAPHS):
        raise PGNNError(
            f"there is no graph {name!r}; the graphs are {', '.join(LINK_GRAPHS)}; graphs of "
            "your own are read from a folder, ",
            Parameter("graphs"),
        )
    folders = data_folders(data_dir)
    found, missing = [], []
    for wanted in LINK_GRAPHS if name == TABLE else (name,):
        paths = find([f"links/{wanted}.csv.gz"], folders)
        if paths is None:
            missing.append(wanted)
        else:
            found.append(LinkGraph(wanted, paths[0]))
    places = tuple(place / "links" for place in folders)
    graphs_found = LinkGraphs(tuple(found), tuple(missing), places)
    if not found:
        raise PGNNError(
            f"{graphs_found.remark}; name the folder above links with ",
            Parameter("data_dir"),
            " or PGNN_DATA, or give a folder of graph files of your own, ",
            Parameter("graphs"),
        )
    return graphs_found


def _graphs_in(folder: Path) -> list[LinkGraph]:
    """Return the graph files of a folder, by name."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise PGNNError(
            Parameter("graphs"), f" must be a folder that exists (got {str(folder)!r})"
        ) from error
    graphs: dict[str, LinkGraph] = {}
    for path in paths:
        if path.name.startswith(".") or format_suffix(path) not in _SUFFIXES:
            continue
        name = path.name.partition(".")[0]
        if name in graphs:
            raise PGNNError(
                f"{folder} has two graphs {name!r}, {graphs[name].path.name} and {path.name}; "
                "leave one"
            )
        graphs[name] = LinkGraph(name, path)
    if not graphs:
        raise PGNNError(
            f"{folder} has no graph files; their names end in {', '.join(_SUFFIXES)}, or in one of "
            "these and .gz"
        )
    return list(graphs.values())


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def reproduce_links(
    graphs: LinkGraphs,
    *,
    protocols: Sequence[str],
    runs: int,
    jobs: int,
    models: Sequence[str] | None,
    out: Path,
    resume: bool,
    progress: Progress,
    folder: Path | None = None,
) -> LinkResults:
    """Run the benchmark of links.

    The files in `out` show everything that is stored there; the returned tables only what this
    call is about.

    Args:
        graphs: The columns; see `find_link_graphs`.
        protocols: "published", "honest" or both; see `pgnn.experiments.link_run.hide_links`.
        runs: Runs for each row and column, with seeds 0, 1, ...
        jobs: Number of processes.
        models: Rows: models, "node2vec", heuristics by name or "heuristics" for all of them. None
            for pgnn-best, two variants of the paper, node2vec where PecanPy is installed, and all
            heuristics.
        out: Folder for the results.
        resume: Whether to keep the runs that are stored, and do the others.
        progress: Called with (jobs that are ready, jobs in all, a line to print or "").
        folder: The folder that the graphs are from, if it is one of the user's own.

    Raises:
        PGNNError: If a name is unknown, a graph cannot be read, there are stored runs and `resume`
            is False, or node2vec is asked for by name and cannot be run.
    """
    runs = positive_integer("runs", runs)
    why_no_peer = node2vec.why_not() if models is None or NODE2VEC in models else None
    groups = _groups(models, why_no_peer)
    for protocol in protocols:
        one_of("protocol", protocol, LINK_PROTOCOLS)
    ordered = sorted(graphs.graphs, key=lambda graph: graph.read().num_edges)
    make_folder(out)
    with locked_folder(out):
        store = open_store(out, LINKS, resume=resume)
        wanted = [
            LinkJob(graph, protocol, seed, rows, None if folder is None else str(folder))  # type: ignore[arg-type]
            for rows in groups
            for graph in ordered
            for seed in range(runs)
            for protocol in protocols
        ]
        missing = [job for job in wanted if _missing_rows(job, store)]
        ready = len(wanted) - len(missing)
        for line in (_remarks(graphs, why_no_peer) if missing else ["nothing left to do"]) or [""]:
            progress(ready, len(wanted), line)
        for records in run_on_processes(run_link_job, missing, num_processes=jobs):
            store.add_new(record.to_json() for record in records)
            ready += 1
            progress(ready, len(wanted), _line(records))
        stored = [LinkRecord.from_json(record) for record in store.records()]
        _write_tables(LinkResults(link_tables(stored)), out)
    names = {graph.name for graph in graphs.graphs}
    chosen = [r for r in stored if r.column in names and r.protocol in protocols]
    return LinkResults(link_tables(chosen))


# ---------------------------------------------------------------------- what to run


def _groups(models: Sequence[str] | None, why_no_peer: str | None) -> list[tuple[str, ...]]:
    """Return rows that are run in one job; what people look at first is run first."""
    groups: list[tuple[str, ...]]
    if models is None:
        others = [(model,) for model in LINK_MODELS if model != BEST]
        return [(BEST,), HEURISTICS, *([] if why_no_peer else [(NODE2VEC,)]), *others]
    unknown = sorted(set(models) - set(ROWS))
    if unknown:
        raise PGNNError(f"there is no row {unknown[0]!r}; the rows are {', '.join(ROWS)}")
    if why_no_peer:
        raise PGNNError(f"{NODE2VEC} cannot be run: {why_no_peer}")
    chosen = dict.fromkeys(models)  # each once
    groups = [(model,) for model in chosen if model in (*MODELS, NODE2VEC)]
    every = _ALL_HEURISTICS in chosen
    heuristics = tuple(name for name in HEURISTICS if every or name in chosen)
    return [*groups, heuristics] if heuristics else groups


def _missing_rows(job: LinkJob, store: Store) -> list[str]:
    return [r for r in job.rows if not store.has(job.graph.name, r, job.protocol, job.seed)]


def _remarks(graphs: LinkGraphs, why_no_peer: str | None) -> list[str]:
    """Say before hours of training what will not be done."""
    remarks = [f"{graphs.remark}: left out"] if graphs.missing else []
    if why_no_peer:
        remarks.append(f"there will be no row {NODE2VEC}: {why_no_peer}")
    missing = missing_for_pictures()
    return remarks if missing is None else [*remarks, missing]


def _line(records: Sequence[LinkRecord]) -> str:
    best = max(records, key=lambda record: record.test_auc)
    row = best.model if len(records) == 1 else f"best of {len(records)}: {best.model}"
    hits = "" if best.top_hits is None else f"  top hits {best.top_hits}"
    return (
        f"{best.protocol:9} {best.column:10} {row:28} seed {best.seed:2}  "
        f"AUC {best.test_auc:.4f}{hits}  {best.seconds:.1f} s"
    )


def _write_tables(results: LinkResults, out: Path) -> None:
    """Write all that is stored as Markdown and, where it can be drawn, as a picture."""
    with open_atomic(out / "links.md") as file:
        file.write(results.markdown.encode())
    if missing_for_pictures() is None:
        draw_links(results.tables, out / "links.png")
