"""`pgnn train`, `evaluate`, `embed`, `predict`: from a graph file to answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pgnn._cli_options import Common, Reading, people, shared_options
from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.runs import Run
    from pgnn.train import Epoch

DATASETS = ("grid", "communities", "ppi", "email", "protein")
_SHOWN = 50  # rows of a table on a terminal
RunDir = Annotated[Path, typer.Argument(metavar="RUN", help="What `pgnn train --out` made.")]
GraphFile = Annotated[
    Path,
    typer.Argument(metavar="GRAPH", help="Edge list (csv, tsv, parquet, .gz), npz, graphml."),
]
OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="File: .csv, .csv.gz, .parquet or .npz.")
]


@shared_options
def train(
    graph: Annotated[
        Path, typer.Argument(metavar="GRAPH_OR_DATASET", help="Graph file, or a data set's name.")
    ],
    reading: Reading,
    common: Common,
    task: Annotated[str, typer.Option(help="link: is there an edge? pair: same label?")] = "link",
    model: Annotated[
        str | None,
        typer.Option(help="pgnn-best, pgnn-f-1l ... pgnn-p-2l, gcn, sage, gat, gin, mlp."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run directory. Default: NAME-run."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was cut off.")] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Decides split, weights, anchors and dropout.")
    ] = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Most epochs.")] = None,
    decoder: Annotated[str | None, typer.Option(help="distance or dot.")] = None,
    hidden_channels: Annotated[int | None, typer.Option(min=1, help="Width of the model.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Chance, 0 to below 1.")] = None,
    sets: Annotated[
        int | None, typer.Option(min=1, help="Number of anchor-sets. Default: c log^2 n.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="What weights say: length (far) or strength (close).")
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Evaluations without progress before it stops.")
    ] = None,
    val: Annotated[float | None, typer.Option(help="Share to choose the best epoch by.")] = None,
    test: Annotated[float | None, typer.Option(help="Share to judge by; 0 for none.")] = None,
    folds: Annotated[
        int | None, typer.Option(min=0, help="Folds in which training edges are hidden; 0: none.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Data sets only: paper, or released (flawed, to compare).")
    ] = None,
    one_hot: Annotated[
        bool, typer.Option("--one-hot", help="Data sets only: the paper's -T columns.")
    ] = False,
    data_dir: Annotated[
        str | None, typer.Option(help="Data sets only. Default: $PGNN_DATA, then the cache.")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder to log losses and AUCs to, for TensorBoard.")
    ] = None,
) -> None:
    """Train on your own graph, or on a data set of the paper, and say how good the model is.

    A tenth of the edges is held out to choose the best epoch by, another tenth to judge by; the
    model never sees them. Beside the result stand heuristics that need no learning. The same seed
    gives the same numbers. A run that was cut off goes on with --resume, and ends as if it had not
    been.

    For example:

      pgnn train edges.csv --out run

      pgnn train edges.csv --features nodes.csv --label team --task pair --out run

      pgnn train email --task pair --model pgnn-p-2l --json

      pgnn train --config run/config.toml --out again
    """
    given = {
        "task": task,
        "model": model,
        "seed": seed,
        "epochs": epochs,
        "decoder": decoder,
        "hidden_channels": hidden_channels,
        "dropout": dropout,
        "num_sets": sets,
        "weights": weights,
        "lr": lr,
        "patience": patience,
        "val": val,
        "test": test,
        "folds": folds,
    }
    if str(graph) in DATASETS and not graph.exists():
        record = _train_dataset(
            str(graph),
            given,
            reading,
            common,
            out,
            resume,
            tensorboard,
            protocol=protocol,
            one_hot=one_hot,
            data_dir=data_dir,
        )
    else:
        if (protocol, one_hot, data_dir) != (None, False, None):
            raise PGNNError(
                "--protocol, --one-hot and --data-dir are for the data sets of the paper "
                f"({', '.join(DATASETS)}), and {graph} is a file"
            )
        record = _train_file(graph, given, reading, common, out, resume, tensorboard)
    if common.as_json:
        typer.echo(json.dumps(record, indent=2))


def _train_file(
    path: Path,
    given: dict[str, Any],
    reading: Reading,
    common: Common,
    out: Path | None,
    resume: bool,
    tensorboard: Path | None,
) -> dict[str, Any]:
    from pgnn.recipe import Recipe

    recipe = Recipe(**{name: value for name, value in given.items() if value is not None})
    if not path.exists():
        raise PGNNError(
            f"{path}: there is no such file, and no such data set ({', '.join(DATASETS)})"
        )
    graph = _read(path, reading)
    folder = out or Path(f"{path.name.split('.')[0]}-run")
    asked = {"graph": str(path), **_texts(asdict(reading)), "device": common.device}
    asked |= {"sets" if k == "num_sets" else k: v for k, v in asdict(recipe).items() if k in given}
    from pgnn.workflow import train_on

    def work(progress: Any) -> dict[str, Any]:
        return train_on(
            graph,
            recipe,
            out=folder,
            config={"train": asked},
            device=common.device,
            resume=resume,
            progress=lambda epoch: progress(epoch, recipe.epochs),
        )

    metrics: dict[str, Any] = _with_progress(f"{recipe.model} on {path.name}", work, tensorboard)
    if not common.as_json:
        Console().print(_result_table(metrics))
        typer.echo(
            f"best epoch {metrics['best_epoch']} of {metrics['epochs']}, validation AUC "
            f"{metrics['val_auc']:.4f}, {metrics['seconds']:.1f} s; the run is in {folder}"
        )
        people.print(
            f"next:  pgnn predict {folder} {path} --top 10\n       pgnn report {folder}",
            highlight=False,
            markup=False,
        )
    return {**metrics, "run": str(folder)}


def _train_dataset(
    name: str,
    given: dict[str, Any],
    reading: Reading,
    common: Common,
    out: Path | None,
    resume: bool,
    tensorboard: Path | None,
    *,
    protocol: str | None,
    one_hot: bool,
    data_dir: str | None,
) -> dict[str, Any]:
    from pgnn.experiments.run import train_dataset

    free = {"task", "model", "seed", "epochs"}
    extra = [k for k, v in {**asdict(reading), **given}.items() if v is not None and k not in free]
    if extra:
        raise PGNNError(
            f"--{extra[0].replace('_', '-')} is for your own graph; {name} is a data set of the "
            "paper, with settings of its own"
        )
    model, task = given["model"] or "pgnn-e-2l", given["task"]
    record: dict[str, Any] = _with_progress(
        f"{model} on {name}",
        lambda progress: train_dataset(
            name,
            task,
            model,
            protocol=protocol or "paper",
            one_hot=one_hot,
            seed=given["seed"],
            epochs=given["epochs"],
            out=out,
            resume=resume,
            data_dir=data_dir,
            device=common.device,
            progress=progress,
        ),
        tensorboard,
    )
    if not common.as_json:
        typer.echo(
            f"{name} {task}, {model}, protocol {record['protocol']}, seed {record['seed']}: test "
            f"AUC {record['test_auc']:.4f} (validation {record['val_auc']:.4f}, best of epoch "
            f"{record['best_epoch']} of {record['epochs']}, {record['seconds']:.1f} s)"
        )
    return record


@shared_options
def evaluate(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    common: Common,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Table of held-out pairs, perhaps with a column `label` of 0 and 1."),
    ] = None,
    share: Annotated[
        float, typer.Option(help="Of another graph: the share of pairs to hold out.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Decides what is held out or drawn.")] = 0,
) -> None:
    """Judge a run on held-out pairs: ROC AUC, average precision, Hits@K, MRR.

    Pairs come from a table, or are the test pairs of the graph the run was trained on, or are held
    out of a graph that it has never seen. Edges that are asked about are always hidden from the
    model first, whether the graph file has them or not.

    Example: pgnn evaluate run edges.csv --pairs held_out.csv
    """
    from pgnn._pair_files import read_pairs
    from pgnn.workflow import evaluate as judge_run

    loaded, data = _load(run, graph, reading, common)
    asked, labels = (None, None) if pairs is None else read_pairs(pairs, data)
    found = judge_run(loaded, data, pairs=asked, labels=labels, share=share, seed=seed)
    if common.as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    table = Table(title=f"{found['model']} on {escape(graph.name)}: {found['pairs']}")
    table.add_column("metric")
    table.add_column("value", justify="right")
    for name, value in found["metrics"].items():
        table.add_row(name, f"{value:.4f}")
    Console().print(table)
    people.print(
        f"{found['num_positive']:,} positive and {found['num_negative']:,} negative pairs; "
        f"{found['hidden_edges']:,} edges of the file were hidden from the model"
    )


@shared_options
def embed(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    common: Common,
    out: OutFile = None,
    draw: Annotated[
        int, typer.Option(min=0, help="Which draw of anchor-sets: the same gives the same.")
    ] = 0,
) -> None:
    """Write the embedding of each node, of the graph trained on or of one never seen.

    A row a node: its id, then z0, z1, ... Embeddings of one draw compare with each other.

    Example: pgnn embed run edges.csv -o embeddings.parquet
    """
    from pgnn._write import check_writable
    from pgnn.io import write_embeddings

    if out is None:
        raise PGNNError("give a file to write to: -o embeddings.parquet (or .csv, .csv.gz, .npz)")
    check_writable(out)
    loaded, data = _load(run, graph, reading, common)
    with people.status("embedding ..."):
        found = loaded.learner.embed(data, draw=draw)
    write_embeddings(out, found, data)
    summary = {"file": str(out), "nodes": len(found), "dimensions": found.shape[1], "draw": draw}
    if common.as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        typer.echo(f"{len(found):,} nodes, {found.shape[1]} numbers each, in {out}")


@shared_options
def predict(
    run: RunDir,
    graph: GraphFile,
    reading: Reading,
    common: Common,
    top: Annotated[int, typer.Option(min=1, help="How many; with --node, of each node.")] = 20,
    node: Annotated[
        list[str] | None, typer.Option(help="Only for this node (may be given again).")
    ] = None,
    out: OutFile = None,
) -> None:
    """List the most likely missing links, or each node's most similar nodes (task pair).

    Of a graph with few pairs all are scored; of a large one those within a few hops and those of
    nearest embeddings; it is said which. The spread is how far a score varies with the random
    anchor-sets: of two scores, the one with less spread is surer.

    For example:

      pgnn predict run edges.csv --top 10

      pgnn predict run edges.csv --node alice --node bob -o links.csv
    """
    from pgnn._pair_files import find_nodes
    from pgnn._write import check_writable
    from pgnn.io import id_array, write_scores
    from pgnn.predict import predict as find

    if out is not None:
        check_writable(out)
    loaded, data = _load(run, graph, reading, common)
    asked = find_nodes(data, node) if node else None
    with people.status("predicting ..."):
        found = find(loaded.learner, data, top=top, nodes=asked)
    if out is not None:
        write_scores(out, found.pairs, found.scores, data, spread=found.spread)
    ids = id_array(data)
    rows = [
        {"source": ids[u].item(), "target": ids[v].item(), "score": score, "spread": spread}
        for (u, v), score, spread in zip(
            found.pairs, found.scores.tolist(), found.spread.tolist(), strict=True
        )
    ]
    if common.as_json:
        document = {"scored": found.how, "exact": found.exact, "links": rows}
        typer.echo(json.dumps(document, indent=2))
        return
    _print_links(rows, found.how, loaded.learner.recipe.task, out)


@shared_options
def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN_OR_RESULTS", help="A run, or a folder of results.")
    ],
    common: Common,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file.")] = Path("report.html"),
    top: Annotated[int, typer.Option(min=1, help="How many predicted links to list.")] = 20,
) -> None:
    """Write one HTML page that opens offline: results, curves, the graph, its map, predictions.

    Of a run, choose an anchor-set in the page to see what a P-GNN sees of the graph. Of the folder
    that `pgnn reproduce` wrote, the page has both tables of the paper with the paper's numbers.

    For example:

      pgnn report run -o report.html

      pgnn report results -o tables.html
    """
    from pgnn._atomic import check_place
    from pgnn.report import collect_run, render_results, render_run, write_report
    from pgnn.runs import load_run

    check_place(out)
    with people.status("making the report ..."):
        if (run / "reproduction.jsonl").exists():
            from pgnn.experiments.run import Store

            html = render_results(Store(run / "reproduction.jsonl").records())
        else:
            html = render_run(collect_run(load_run(run, device=common.device), top=top))
    write_report(out, html)
    summary = {"file": str(out), "bytes": len(html.encode())}
    typer.echo(json.dumps(summary, indent=2) if common.as_json else f"the report is in {out}")


def _print_links(rows: list[dict[str, Any]], how: str, task: str, out: Path | None) -> None:
    title = "most likely missing links" if task == "link" else "most similar nodes"
    table = Table(title=title)
    for name in ("source", "target", "score", "spread"):
        table.add_column(name, justify="left" if name in ("source", "target") else "right")
    for row in rows[:_SHOWN]:
        ends = escape(str(row["source"])), escape(str(row["target"]))
        table.add_row(*ends, f"{row['score']:.4f}", f"{row['spread']:.4f}")
    Console().print(table)
    people.print(f"scored: {how}", highlight=False)
    if len(rows) > _SHOWN:
        people.print(f"{len(rows) - _SHOWN:,} more rows; -o FILE writes all, --json prints them")
    if out is not None:
        people.print(f"written to {out}", highlight=False, markup=False)


# ---------------------------------------------------------------------- what they share


def _load(run: Path, graph: Path, reading: Reading, common: Common) -> tuple[Run, Graph]:
    from pgnn.runs import load_run

    loaded = load_run(run, device=common.device)
    data = _read(graph, reading.or_as(loaded.config.get("train", {}), graph))
    if loaded.learner.mean is None and data.x is not None:
        people.print("the run was trained without features; those of this graph are not read")
    return loaded, data


def _read(path: Path, reading: Reading) -> Graph:
    with people.status(f"reading {escape(path.name)} ..."):
        graph = reading.read(path)
    dropped = graph.dropped_self_loops, graph.dropped_repeats
    if any(dropped):
        people.print(f"left out {dropped[0]:,} self-loops and {dropped[1]:,} repeated edges")
    return graph


def _texts(values: dict[str, Any]) -> dict[str, Any]:
    return {k: str(v) if isinstance(v, Path) else v for k, v in values.items()}


def _result_table(metrics: dict[str, Any]) -> Table:
    """Make a table of the model and the heuristics on the test pairs."""
    names = ("roc_auc", "average_precision", "hits@10", "hits@50", "hits@100", "mrr")
    table = Table(title=f"on {metrics.get('test_pairs', 0):,} test pairs")
    table.add_column("")
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    if "test" in metrics:
        table.add_row(metrics["model"], *(f"{metrics['test'][n]:.4f}" for n in names), style="bold")
        for heuristic, found in metrics["heuristics"].items():
            label = heuristic
            if found["num_pairs"] < metrics["test_pairs"]:
                label += f" ({found['num_pairs']:,} of the pairs)"
            table.add_row(label, *(f"{found['metrics'][n]:.4f}" for n in names))
    return table


def _with_progress(title: str, work: Any, log_folder: Path | None) -> Any:
    """Run work(report) under a bar that shows loss and validation AUC."""
    from pgnn._tensorboard import tensorboard_log

    logging = nullcontext() if log_folder is None else tensorboard_log(log_folder)
    with logging as log, progress_bar(TextColumn("{task.fields[note]}")) as bar:
        task = bar.add_task(escape(title), total=None, note="")
        best = {"auc": 0.0}

        def report(epoch: Epoch, total: int) -> None:
            bar.start()
            best["auc"] = max(best["auc"], epoch.val_auc or 0.0)
            note = f"loss {epoch.loss:.4f}  best validation AUC {best['auc']:.4f}"
            bar.update(task, completed=epoch.epoch, total=total, note=note)
            if log is not None:
                log(epoch)

        return work(report)


@contextmanager
def progress_bar(*more: TextColumn) -> Iterator[Progress]:
    """Give a bar that its first report starts, so that a mistake before it is one line alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), *more, console=people)
    try:
        yield bar
    finally:
        if bar.live.is_started:
            bar.stop()
