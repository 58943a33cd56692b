"""`pgnn reproduce`: the experiments of the paper, beside the paper's numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pgnn.cli.boundary import StoppedError, nothing_left_behind
from pgnn.cli.datasets import DataDir
from pgnn.cli.options import Common, option_groups
from pgnn.cli.progress import counting_bar


@option_groups
def reproduce(
    common: Common,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="table1, table2, all, or one column: grid-t, communities-t, grid, communities, "
            "ppi, communities-pairs, email, protein.",
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="paper|released",
            help="Whose splits and settings. Default: both, one after the other.",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, help="Runs for each model and column, with seeds 0, 1, ...")
    ] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes, of one thread each.")] = 1,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this row of the table. May be given again. Default: all, and heuristics."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("results"),
    resume: Annotated[
        bool, typer.Option(help="Keep the runs that are stored, and do the others.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Repeat the paper's experiments and compare with its numbers.

    Every run is stored as soon as it ends. If the command is cut off,
    --resume does only what is missing. At the end the folder has all runs
    (reproduction.jsonl), the tables (reproduction.md) and a picture of them
    for each protocol. Both tables take hours, one small column a few minutes.

    For example:

      pgnn reproduce grid --runs 3
      pgnn reproduce table2 --protocol paper --jobs 2 --resume
    """
    from pgnn.experiments.reproduce import reproduce as run_tables
    from pgnn.experiments.store import RESULTS

    try:
        with nothing_left_behind(out, unless=RESULTS), counting_bar("runs") as progress:
            reproduction = run_tables(
                table,
                protocols=[protocol] if protocol else ["released", "paper"],
                runs=runs,
                jobs=jobs,
                models=model,
                out=out,
                resume=resume,
                data_dir=data_dir,
                progress=progress,
            )
    except KeyboardInterrupt as error:
        raise StoppedError("stopped; --resume does only the runs that are missing") from error
    document = json.dumps(reproduction.to_json(), indent=2)
    typer.echo(document if common.as_json else reproduction.markdown)
