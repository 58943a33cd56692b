"""`pgnn reproduce`: the paper's tables and the benchmark of links, beside published numbers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgnn import checks
from pgnn.cli.boundary import StoppedError, nothing_left_behind, word_of_running_command
from pgnn.cli.datasets import DataDir
from pgnn.cli.options import Common, completing, option_groups
from pgnn.cli.show import counting_bar, remark, say
from pgnn.errors import PGNNError
from pgnn.names import LINK_GRAPHS, LINK_PROTOCOLS, MODELS, NODE2VEC, PROTOCOLS, TABLE_ROWS

if TYPE_CHECKING:
    from pgnn.experiments.link_tables import LinkResults
    from pgnn.experiments.reproduce import Reproduction

_LINKS = "links"
_TABLES = ("table1", "table2", _LINKS, "all")
# Columns of the paper's tables: the list of these is `pgnn.experiments.config.COLUMNS`, which takes
# as long to import as a shell should take to complete a word.
_COLUMNS = (
    *("grid-t", "communities-t", "grid", "communities", "ppi"),
    *("communities-pairs", "email", "protein"),
)


@option_groups
def reproduce(
    common: Common,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            autocompletion=completing(*_TABLES, *_COLUMNS, *LINK_GRAPHS),
            help="table1, table2, links, all, or one column: grid-t, communities-t, grid, "
            "communities, ppi, communities-pairs, email, protein of the paper; usair, ns, yeast, "
            "power, facebook of links.",
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="|".join((*PROTOCOLS, *LINK_PROTOCOLS)),
            autocompletion=completing(*PROTOCOLS, *LINK_PROTOCOLS),
            help="Whose splits and settings: paper or released for the paper's tables, published "
            "or honest for links. Default: both, one after the other.",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, help="Runs for each model and column, with seeds 0, 1, ...")
    ] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes, of one thread each.")] = 1,
    model: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing(*MODELS, NODE2VEC, "heuristics"),
            help="Only this row of the table. May be given again. Default: the paper's models, and "
            "heuristics; for links pgnn-best, pgnn-e-2l, pgnn-p-2l, node2vec and heuristics.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("results"),
    resume: Annotated[
        bool, typer.Option(help="Keep the runs that are stored, and do the others.")
    ] = False,
    graphs: Annotated[
        Path | None,
        typer.Option(
            help="For links: a folder of graph files, each of which becomes a column. Default: the "
            "five public graphs, links/*.csv.gz in the folder with data sets."
        ),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Repeat the paper's experiments, and a benchmark of missing links.

    table1 and table2 are the paper's, beside its numbers. links hides a
    tenth of the edges of five public graphs and asks pgnn, heuristics and
    node2vec (if the extra peers is installed) for them, beside published
    numbers of SEAL and WalkPool. all does the tables, then links if its
    graphs are there.

    Every run is stored as soon as it ends. If the command is cut off,
    --resume does only what is missing. At the end the folder has all runs
    (reproduction.jsonl, links.jsonl), the tables (reproduction.md, links.md)
    and pictures of them. Both tables take hours, one small column a few
    minutes.

    For example:

      pgnn reproduce grid --runs 3
      pgnn reproduce table2 --protocol paper --jobs 2 --resume
      pgnn reproduce links --data-dir data --protocol honest
      pgnn reproduce links --graphs my_graphs --model pgnn-best --model heuristics
    """
    from pgnn.experiments.store import RESULTS

    order = _Order(runs=runs, jobs=jobs, out=out, resume=resume, data_dir=data_dir)
    try:
        with nothing_left_behind(out, unless=RESULTS):
            results: list[Reproduction | LinkResults]
            if table == "all" and graphs is None:
                results = _run_all(order, protocol, model)
            elif table in (_LINKS, *LINK_GRAPHS) or graphs is not None:
                results = [_run_links(order, table, protocol, model, graphs)]
            else:
                results = [_run_tables(order, table, protocol, model)]
    except KeyboardInterrupt as error:
        raise StoppedError("stopped; --resume does only the runs that are missing") from error
    if common.as_json:
        cells = [cell for result in results for cell in result.to_json()["cells"]]
        typer.echo(json.dumps({"cells": cells}, indent=2))
    else:
        say("\n".join(result.markdown for result in results))


@dataclass(frozen=True)
class _Order:
    """What both benchmarks are told alike."""

    runs: int
    jobs: int
    out: Path
    resume: bool
    data_dir: str | None


def _run_tables(
    order: _Order, table: str, protocol: str | None, models: list[str] | None
) -> Reproduction:
    """Run tables of the paper."""
    from pgnn.experiments.reproduce import reproduce as run_tables

    with counting_bar("runs") as progress:
        return run_tables(
            table,
            protocols=[protocol] if protocol else ["released", "paper"],
            models=models,
            progress=progress,
            **asdict(order),
        )


def _run_links(
    order: _Order,
    table: str,
    protocol: str | None,
    models: list[str] | None,
    folder: Path | None = None,
) -> LinkResults:
    """Run the benchmark of links."""
    from pgnn.experiments.links import find_link_graphs, reproduce_links

    graphs = find_link_graphs(table, folder=folder, data_dir=order.data_dir)
    with counting_bar("runs") as progress:
        return reproduce_links(
            graphs,
            protocols=[protocol] if protocol else list(LINK_PROTOCOLS),
            runs=order.runs,
            jobs=order.jobs,
            models=models,
            out=order.out,
            resume=order.resume,
            progress=progress,
            folder=folder,
        )


def _run_all(
    order: _Order, protocol: str | None, models: list[str] | None
) -> list[Reproduction | LinkResults]:
    """Run the paper's tables, then links; of each what has the protocol and the rows."""
    from pgnn.experiments.links import ROWS, find_link_graphs

    if protocol is not None:
        checks.one_of("protocol", protocol, (*PROTOCOLS, *LINK_PROTOCOLS))
    known = (*TABLE_ROWS, *(row for row in ROWS if row not in TABLE_ROWS))
    for name in models or ():
        if name not in known:
            raise PGNNError(f"there is no row {name!r}; the rows are {', '.join(known)}")
    of_tables = None if models is None else [name for name in models if name in TABLE_ROWS]
    with_links = protocol not in PROTOCOLS
    if with_links:
        try:  # said before the hours that the tables take
            find_link_graphs(data_dir=order.data_dir)
        except PGNNError as error:
            with_links = False
            remark(f"without links: {error.worded(word_of_running_command)}")
    results: list[Reproduction | LinkResults] = []
    if protocol not in LINK_PROTOCOLS and of_tables != []:
        results.append(_run_tables(order, "all", protocol, of_tables))
    if with_links:
        results.append(_run_links(order, _LINKS, protocol, models))
    return results
