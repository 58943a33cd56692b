"""`pgnn report`: one HTML page about a run, or about results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pgnn.cli.options import Common, Computing, option_groups
from pgnn.cli.show import say, working


@option_groups
def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_OR_RESULTS",
            help="Run directory that `pgnn train` wrote, or folder of `pgnn reproduce`.",
        ),
    ],
    computing: Computing,
    common: Common,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path(
        "report.html"
    ),
    top: Annotated[int, typer.Option(min=1, help="How many predicted links to list.")] = 20,
) -> None:
    """Write one HTML page that opens without a network.

    For a run it opens with the verdict and the predicted links, then shows how
    good the model is, the graph, and a map of the embeddings; click a link to
    see what joins its nodes, choose an anchor-set to see the graph as a P-GNN
    sees it. For the folder that `pgnn reproduce` wrote it shows both tables
    beside the paper's numbers, and the benchmark of links.

    For example:

      pgnn report run -o report.html
      pgnn report results -o tables.html
    """
    from pgnn.io import check_place

    check_place(out)
    with working("making the report ..."):
        from pgnn.report import write_report

        write_report(out, _render(run, computing, top))
    summary = {"file": str(out), "bytes": out.stat().st_size}
    say(json.dumps(summary, indent=2) if common.as_json else f"the report is in {out}")


def _render(run: Path, computing: Computing, top: int) -> str:
    """Return the page about a run, or about results."""
    from pgnn.experiments.store import LINKS, RESULTS, Store
    from pgnn.report import collect_run, render_results, render_run
    from pgnn.training.runs import load_run

    if (run / RESULTS).exists() or (run / LINKS).exists():
        return render_results(Store(run / RESULTS).records(), Store(run / LINKS).records())
    return render_run(collect_run(load_run(run, device=computing.place), top=top))
