"""`pgnn train`: from a graph file, or a data set of the paper, to a run."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pgnn.cli.boundary import StoppedError, nothing_left_behind
from pgnn.cli.inputs import TestFrom
from pgnn.cli.options import (
    Common,
    Computing,
    Reading,
    Training,
    completing,
    option_groups,
    option_name,
    options_of,
    read_table,
    say_how_read,
)
from pgnn.cli.processes import check_same_graph, is_first, own_device, resuming
from pgnn.cli.show import (
    Listener,
    TrainingBar,
    all_of,
    keep_remark,
    remark,
    remark_few,
    result_table,
    say,
    say_how_sure,
    say_kept_remarks,
    say_more,
)
from pgnn.errors import Parameter, PGNNError
from pgnn.names import DATASETS, PROTOCOLS
from pgnn.training.recipe import Recipe

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.io import Events, ReadNotes
    from pgnn.training.outcome import Outcome
    from pgnn.training.pipeline import Problem

CONFIG = "config.toml"
_ALSO_OF_DATASETS = ("task", "model", "seed", "epochs")  # settings that a data set leaves open
_MAY_CHANGE = ("features", "data_dir", "device")  # where things are; a checkpoint knows its data


@option_groups
def train(
    training: Training,
    reading: Reading,
    computing: Computing,
    common: Common,
    graph: Annotated[
        Path | None,
        typer.Argument(
            metavar="GRAPH_OR_DATASET",
            help="Graph file, or the name of a data set. With --resume: as the run began.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Run directory. Default for a file: its name and -run. For a data set: none.",
        ),
    ] = None,
    test_from: TestFrom = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on where a run was cut off, with the same options."),
    ] = False,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PROTOCOLS),
            autocompletion=completing(*PROTOCOLS),
            help="Data sets only. released: as the authors' code, flaws included. Default: paper.",
        ),
    ] = None,
    one_hot: Annotated[
        bool | None,
        typer.Option(
            "--one-hot", help="Data sets only: one-hot features, as in the paper's columns -T."
        ),
    ] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(
            help="Data sets only: the folder they are in. Default: $PGNN_DATA, then the cache."
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder to write curves to, for TensorBoard.")
    ] = None,
) -> None:
    """Train on your own graph, or on a data set of the paper.

    A tenth of the edges is held out to choose the best epoch, another tenth
    to judge the result; the model sees neither. The result stands beside
    those of heuristics that need no learning, and a sentence says which is
    best, and whether that is more than chance. The same seed gives the same
    numbers.

    With --time, training sees the past alone and is judged by the future: by
    the last tenth of new links, or all from --test-from on.

    The run directory keeps the model, its options and a checkpoint. If a run
    is cut off, --resume goes on with the options it began with and ends as if
    nothing had happened. A data set of the paper is trained with the paper's
    settings and, unless you choose a model, with pgnn-e-2l.

    For example:

      pgnn train edges.csv --out run
      pgnn train edges.csv --features nodes.csv --label team --task pair
      pgnn train orders.csv --time date --test-from 2024-06
      pgnn train email --task pair --model pgnn-p-2l --json
      pgnn train --resume --out run
      pgnn train --config run/config.toml --out again
    """
    typed = {
        **asdict(reading),
        **{option_name(setting): value for setting, value in training.typed.items()},
        "test_from": test_from,
        "protocol": protocol,
        "one_hot": one_hot,
        "data_dir": data_dir,
        "device": computing.device,
    }
    typed = {name: value for name, value in typed.items() if value is not None}
    order = _order(graph, typed, out, resume=resume)
    if order.dataset is None:
        document = _train_file(order, resume, tensorboard, common)
    else:
        document = _train_dataset(order, order.dataset, resume, tensorboard, common)
    if common.as_json:
        typer.echo(json.dumps(document, indent=2))


# ---------------------------------------------------------------------- what to train


@dataclass(frozen=True)
class _Order:
    """What to train on what: options that were typed, and those that a run began with.

    Attributes:
        graph: The file, or the name of a data set.
        options: Values by the names of options; those without a value are not in it.
        out: The run directory; None for none.
    """

    graph: Path
    options: Mapping[str, Any]
    out: Path | None

    @property
    def dataset(self) -> str | None:
        """The name of the data set; None for a file, also for one of the same name."""
        return str(self.graph) if _is_dataset(self.graph) else None

    @property
    def device(self) -> str:
        return str(self.options.get("device", "cpu"))

    def reading(self) -> Reading:
        values = {p.name: self.options.get(p.name) for p in Reading.parameters()}
        if values["features"] is not None:
            values["features"] = Path(values["features"])
        return Reading.gather(values)

    def training(self) -> Training:
        return Training.gather({p.name: self.options.get(p.name) for p in Training.parameters()})


def _is_dataset(graph: Path) -> bool:
    return str(graph) in DATASETS and not graph.is_file()


def _order(graph: Path | None, typed: dict[str, Any], out: Path | None, *, resume: bool) -> _Order:
    """Put together what was typed and, to resume, what the run began with."""
    if out is None and graph is not None and not _is_dataset(graph):
        out = Path(f"{graph.name.split('.')[0]}-run")
    config = None if out is None else out / CONFIG
    if not resume or config is None or not config.is_file():
        if graph is None and resume and config is not None:
            raise PGNNError(f"{config}: there is no such file to resume from; give a graph, too")
        if graph is None:
            raise PGNNError("missing argument 'GRAPH_OR_DATASET'; see `pgnn train --help`")
        return _Order(graph, typed, out)
    stored = dict(read_table(config, "train"))
    began_with = Path(str(stored.pop("graph", "")))
    if graph is not None and _is_dataset(graph) != _is_dataset(began_with):
        raise PGNNError(f"{config}: the run began with {began_with}, not {graph}; leave it out")
    _check_same(typed, stored, config)
    order = _Order(graph or began_with, {**stored, **typed}, out)
    Computing(device=order.device).apply()  # the device may be gone by now
    return order


def _check_same(typed: Mapping[str, Any], stored: Mapping[str, Any], config: Path) -> None:
    """Raise PGNNError if an option that was typed is not what the run began with."""
    defaults = {**options_of(Recipe()), "one_hot": False, "protocol": "paper"}
    for name, value in typed.items():
        began_with = stored.get(name, defaults.get(name))
        same = str(value) == str(began_with) or (value is False and not began_with)
        if same or name in _MAY_CHANGE:
            continue
        wording = "had no such option" if began_with is None else f"has {name} = {began_with}"
        raise PGNNError(
            Parameter(f"{name}={value}"),
            f" is not what the run began with: {config} {wording}; leave it out, or give another ",
            Parameter("out"),
        )


# ---------------------------------------------------------------------- training


def _train_file(
    order: _Order, resume: bool, tensorboard: Path | None, common: Common
) -> dict[str, Any]:
    path, folder = order.graph, order.out
    assert folder is not None
    for name in ("protocol", "one_hot", "data_dir"):
        if order.options.get(name):
            raise PGNNError(
                Parameter(name),
                f" is for the data sets of the paper ({', '.join(DATASETS)}), and {path} is none "
                "of them; leave it out",
            )
    reading, training = order.reading(), order.training()
    if reading.time is not None:  # several events of a pair are a stronger link
        training = Training({"weights": "strength", **training.typed})
    elif order.options.get("test_from") is not None:
        raise PGNNError(Parameter("test_from"), " needs ", Parameter("time"), " COLUMN")
    recipe = training.recipe()
    if not path.exists():
        raise PGNNError(
            f"{path}: there is no such file, and no such data set ({', '.join(DATASETS)})"
        )
    if reading.time is None:
        events = None
        graph, notes = reading.read_with_notes(path, weights=recipe.weights)
    else:
        events = reading.read_events(path, weights=recipe.weights)
        graph, notes = events.graph_with_notes()
        check_same_graph(graph)
        say_how_read(notes)
    config = _config(order, recipe, notes)

    def work(listener: Listener) -> Outcome:
        problem = _problem(graph, events, recipe, config["train"])
        return train_problem(
            problem,
            recipe,
            out=folder,
            config=config,
            device=own_device(order.device),
            resume=resume,
            progress=listener,
        )

    bar = TrainingBar(f"{recipe.model} on {path.name}", recipe.resolved(graph.num_nodes).epochs)
    outcome = _watched(work, bar, folder, tensorboard)
    if not common.as_json:
        _show_outcome(outcome, folder)
        place = shlex.quote(str(folder))
        ask = f"pgnn predict {place} {shlex.quote(str(path))} --top 10"
        remark(f"next:  {ask}")
        if outcome.as_good is not None:
            remark(f"       {ask} --model {shlex.quote(outcome.as_good)}")
        remark(f"       pgnn report {place}")
    if outcome.test is not None:
        remark_few(outcome.test_pairs, "hold out more with --test, or compare several --seed")
    say_kept_remarks()
    return {**outcome.to_json(), "run": str(folder)}


def _config(order: _Order, recipe: Recipe, notes: ReadNotes) -> dict[str, Any]:
    """Return what a run keeps: every option, and how its features were read."""
    reading = order.reading()
    columns = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(reading).items()}
    if notes.sides is not None:  # recognised once, the run keeps to it
        columns["between"] = ",".join(notes.sides.names)
    options = {"graph": str(order.graph), **columns, "device": order.device, **options_of(recipe)}
    config: dict[str, Any] = {"train": {**options, "test_from": order.options.get("test_from")}}
    if notes.feature_notes is not None and reading.features is not None:
        config["features"] = {
            "path": str(reading.features.resolve()),
            "sha256": notes.feature_notes.sha256,
            "columns": notes.feature_notes.encoding.to_json(),
        }
    return config


def _problem(
    graph: Graph, events: Events | None, recipe: Recipe, options: dict[str, Any]
) -> Problem:
    """Split a graph, or events by time; the moment that parts them is kept among the options.

    Libraries that take seconds to load are loaded here, under the spinner.
    """
    from pgnn.training.pipeline import Problem

    if events is None:
        return Problem.of_graph(graph, recipe)
    typed = options["test_from"]
    test_from = None if typed is None else events.scale.earliest("test_from", str(typed))
    problem = Problem.of_events(events, recipe, test_from=test_from)
    if problem.time is not None:
        options["test_from"] = typed or problem.time.test_from
        keep_remark(problem.time.sentence())
    return problem


def train_problem(problem: Problem, recipe: Recipe, **options: Any) -> Outcome:
    """Train, and return the result alone."""
    from pgnn.training.pipeline import train as run_pipeline

    return run_pipeline(problem, recipe, **options).outcome


def _show_outcome(outcome: Outcome, folder: Path) -> None:
    """Print how good a model is on its test pairs, if it has any, and how training went."""
    if outcome.test is not None:
        heuristics = {
            name: (judged.metrics, judged.num_pairs) for name, judged in outcome.heuristics.items()
        }
        Console().print(
            result_table(outcome.model, outcome.test.metrics, outcome.test_pairs, heuristics)
        )
        others = outcome.test_without_lone
        for line in say_how_sure(
            outcome.test.metrics,
            outcome.base_rate,
            outcome.lone_pairs,
            None if others is None else others.metrics,
        ):
            say(line)
        peers = {name: judged.metrics for name, judged in outcome.heuristics.items()}
        left = (outcome.graph.between or ["node"])[0]
        for line in say_more(outcome.model, outcome.test.metrics, peers, left):
            say(line)
        if outcome.verdict is not None:
            say(outcome.verdict)
    say(
        f"best epoch {outcome.best_epoch} of {outcome.epochs}, validation AUC "
        f"{outcome.val_auc:.4f}, {outcome.seconds:.1f} s; the run is in {folder}"
    )


def _train_dataset(
    order: _Order, name: str, resume: bool, tensorboard: Path | None, common: Common
) -> dict[str, Any]:
    settings = [*Reading.parameters(), *Training.parameters()]
    not_for_datasets = {p.name for p in settings} - set(_ALSO_OF_DATASETS) | {"test_from"}
    for option in sorted(not_for_datasets & order.options.keys()):
        raise PGNNError(
            Parameter(option),
            f" is for your own graph, and {name} is a data set of the paper with settings of its "
            "own; leave it out",
        )
    training = order.training()
    recipe = training.recipe()  # checks what was typed
    model = training.typed.get("model", "pgnn-e-2l")
    protocol = order.options.get("protocol", "paper")
    bar = TrainingBar(f"{model} on {name}")

    def work(listener: Listener) -> Outcome:
        from pgnn.experiments.run import train_dataset

        def progress(epoch: Any, total: int) -> None:
            bar.total = total
            listener(epoch)

        return train_dataset(
            name,
            recipe.task,
            model,
            protocol=protocol,
            one_hot=bool(order.options.get("one_hot")),
            seed=recipe.seed,
            epochs=training.typed.get("epochs"),
            out=order.out,
            resume=resume,
            data_dir=order.options.get("data_dir"),
            device=own_device(order.device),
            progress=progress,
        )

    outcome = _watched(work, bar, order.out, tensorboard)
    if not common.as_json:
        say(
            f"{name} {recipe.task}, {model}, protocol {protocol}, seed {recipe.seed}: test AUC "
            f"{outcome.test_auc or math.nan:.4f} (validation {outcome.val_auc:.4f}, best epoch "
            f"{outcome.best_epoch} of {outcome.epochs}, {outcome.seconds:.1f} s)"
        )
        if outcome.verdict is not None:
            say(outcome.verdict)
    return {**outcome.to_json(), "run": None if order.out is None else str(order.out)}


def _watched(
    work: Callable[[Listener], Outcome],
    bar: TrainingBar,
    folder: Path | None,
    tensorboard: Path | None,
) -> Outcome:
    """Train while listeners show and log it; if it is stopped, say what was kept."""
    from pgnn.distributed.group import LostRankError
    from pgnn.training.runs import CHECKPOINT

    checkpoint = None if folder is None else folder / CHECKPOINT
    try:
        with ExitStack() as stack:
            if is_first():
                places = nothing_left_behind(folder, tensorboard, unless=CHECKPOINT, begun=CONFIG)
                stack.enter_context(places)
            listeners: list[Listener] = [stack.enter_context(bar)]
            if tensorboard is not None and is_first():
                from pgnn.training.tensorboard import TensorBoardLog

                listeners.append(stack.enter_context(TensorBoardLog(tensorboard)))
            return work(all_of(listeners))
    except KeyboardInterrupt as error:
        if checkpoint is None or not checkpoint.exists():
            raise StoppedError("stopped before there was a checkpoint; nothing was kept") from error
        if (checkpoint.parent / CONFIG).exists():
            place = shlex.quote(str(folder))
            raise StoppedError(f"stopped; {resuming(place)} goes on") from error
        raise StoppedError(f"stopped; --resume goes on from {checkpoint}") from error
    except LostRankError as error:
        if checkpoint is None or not checkpoint.exists():
            raise
        place = shlex.quote(str(folder))
        raise LostRankError(f"{error}; {resuming(place)} goes on") from error
