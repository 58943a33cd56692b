"""`pgnn train`: from a graph file, or a data set of the paper, to a run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pgnn.cli.options import MAX_SEED, Common, Reading, StoppedError, no_empty_folders
from pgnn.cli.options import shared_options as shared_options
from pgnn.cli.show import remark, remark_dropped, result_table, with_training_bar
from pgnn.errors import PGNNError

DATASETS = ("grid", "communities", "ppi", "email", "protein")
_OF_DATASETS = ("task", "model", "seed", "epochs")  # options that data sets have, too


@dataclass(frozen=True)
class _Asked:
    """What was asked: of `options`, those that were not given are None."""

    graph: Path
    options: dict[str, Any]
    reading: Reading
    common: Common
    out: Path | None
    resume: bool
    tensorboard: Path | None


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
        typer.Option(
            help="pgnn-best, pgnn-f-1l, pgnn-f-2l, pgnn-e-1l, pgnn-e-2l, pgnn-p-2l, gcn, sage, "
            "gat, gin, mlp. Default: pgnn-best; of a data set, pgnn-e-2l."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run directory. Default: NAME-run; of a data set, none."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was cut off.")] = False,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Decides split, weights, anchors and dropout.")
    ] = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Most epochs.")] = None,
    decoder: Annotated[
        str | None, typer.Option(help="How two embeddings become a score: distance or dot.")
    ] = None,
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
    options = {
        "task": task,
        "model": model,
        "seed": seed,
        "epochs": epochs,
        "decoder": decoder,
        "hidden_channels": hidden_channels,
        "dropout": dropout,
        "sets": sets,
        "weights": weights,
        "lr": lr,
        "patience": patience,
        "val": val,
        "test": test,
        "folds": folds,
    }
    asked = _Asked(graph, options, reading, common, out, resume, tensorboard)
    if str(graph) in DATASETS and not graph.is_file():
        record = _train_dataset(asked, protocol=protocol, one_hot=one_hot, data_dir=data_dir)
    else:
        if (protocol, one_hot, data_dir) != (None, False, None):
            raise PGNNError(
                "--protocol, --one-hot and --data-dir are for the data sets of the paper "
                f"({', '.join(DATASETS)}), and {graph} is none of them; leave them out"
            )
        record = _train_file(asked)
    if common.as_json:
        typer.echo(json.dumps(record, indent=2))


def _train_file(asked: _Asked) -> dict[str, Any]:
    from pgnn.training.recipe import Recipe

    given = {name: value for name, value in asked.options.items() if value is not None}
    recipe = Recipe(**{"num_sets" if k == "sets" else k: v for k, v in given.items()})
    path, common = asked.graph, asked.common
    if not path.exists():
        raise PGNNError(
            f"{path}: there is no such file, and no such data set ({', '.join(DATASETS)})"
        )
    graph = asked.reading.read(path)
    folder = asked.out or Path(f"{path.name.split('.')[0]}-run")
    used = {"sets" if k == "num_sets" else k: v for k, v in asdict(recipe).items()}
    reading = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(asked.reading).items()}
    config = {"graph": str(path), **reading, "device": common.device}
    config |= {name: value for name, value in used.items() if name in asked.options}

    from pgnn.training.pipeline import Problem
    from pgnn.training.pipeline import train as train_graph

    def work(progress: Callable[..., None]) -> dict[str, Any]:
        return train_graph(
            Problem.of_graph(graph, recipe),
            recipe,
            out=folder,
            config={"train": config},
            device=common.device,
            resume=asked.resume,
            progress=lambda epoch: progress(epoch, recipe.epochs),
        ).outcome.to_json()

    metrics = _watched(f"{recipe.model} on {path.name}", work, folder, asked.tensorboard)
    if not common.as_json:
        if metrics["test"]:
            Console().print(result_table(metrics))
        typer.echo(
            f"best epoch {metrics['best_epoch']} of {metrics['epochs']}, validation AUC "
            f"{metrics['val_auc']:.4f}, {metrics['seconds']:.1f} s; the run is in {folder}"
        )
        place = shlex.quote(str(folder))
        remark(f"next:  pgnn predict {place} {shlex.quote(str(path))} --top 10")
        remark(f"       pgnn report {place}")
    remark_dropped(graph)
    return {**metrics, "run": str(folder)}


def _train_dataset(
    asked: _Asked, *, protocol: str | None, one_hot: bool, data_dir: str | None
) -> dict[str, Any]:
    from pgnn.experiments.run import train_dataset

    name, options = str(asked.graph), asked.options
    given = {k for k, v in {**asdict(asked.reading), **options}.items() if v is not None}
    extra = sorted(given - set(_OF_DATASETS))
    if extra:
        raise PGNNError(
            f"--{extra[0].replace('_', '-')} is for your own graph, and {name} is a data set of "
            "the paper with settings of its own; leave it out"
        )
    model, task = options["model"] or "pgnn-e-2l", options["task"]

    def work(progress: Callable[..., None]) -> dict[str, Any]:
        return train_dataset(
            name,
            task,
            model,
            protocol=protocol or "paper",  # type: ignore[arg-type]
            one_hot=one_hot,
            seed=options["seed"],
            epochs=options["epochs"],
            out=asked.out,
            resume=asked.resume,
            data_dir=data_dir,
            device=asked.common.device,
            progress=progress,
        ).to_json()

    record = _watched(f"{model} on {name}", work, asked.out, asked.tensorboard)
    if not asked.common.as_json:
        typer.echo(
            f"{name} {task}, {model}, protocol {record['experiment']['protocol']}, seed {record['seed']}: test "
            f"AUC {record['test_auc']:.4f} (validation {record['val_auc']:.4f}, best of epoch "
            f"{record['best_epoch']} of {record['epochs']}, {record['seconds']:.1f} s)"
        )
    return record


def _watched(
    title: str,
    work: Callable[[Callable[..., None]], dict[str, Any]],
    folder: Path | None,
    tensorboard: Path | None,
) -> dict[str, Any]:
    """Train under a bar; if it is stopped, say what was kept."""
    from pgnn.training.runs import CHECKPOINT

    try:
        with no_empty_folders(folder, tensorboard):
            return with_training_bar(title, work, tensorboard)
    except KeyboardInterrupt as error:
        kept = None if folder is None else folder / CHECKPOINT
        if kept is None or not kept.exists():
            raise StoppedError("stopped before the first checkpoint; nothing was kept") from error
        raise StoppedError(f"stopped; --resume goes on from {kept}") from error
