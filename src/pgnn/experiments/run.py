"""One run of one cell of the paper's tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pgnn import checks
from pgnn.errors import Parameter, PGNNError
from pgnn.experiments.config import COLUMNS, Setup, setup_of
from pgnn.graph import Graph
from pgnn.names import MODELS, Protocol
from pgnn.training.fit import Epoch
from pgnn.training.outcome import Experiment, Outcome, versions
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe
from pgnn.training.splits import make_splits


@dataclass(frozen=True)
class Job:
    """One run: a column, a row, a protocol and a seed."""

    column: str
    model: str
    protocol: Protocol
    seed: int


def load_graphs(column: str, setup: Setup, seed: int, data_dir: str | None) -> list[Graph]:
    """Load a column's graphs as its models read them.

    For task "pair", graphs in which all nodes have one label, or no two have the same, have no
    pairs to tell apart and are left out.
    """
    from pgnn import datasets

    spec = COLUMNS[column]
    graphs = datasets.load(
        spec.dataset,
        seed=seed,
        data_dir=data_dir,
        standardize=setup.standardize,
        keep=setup.keep,
    )
    if spec.one_hot:
        graphs = datasets.with_one_hot_features(graphs)
    if spec.task == "pair":
        graphs = [graph for graph in graphs if 1 < _num_labels(graph) < graph.num_nodes]
    return graphs


def _num_labels(graph: Graph) -> int:
    return 0 if graph.y is None else len(np.unique(graph.y))


def load_problem(
    job: Job, setup: Setup, *, data_dir: str | None = None, command: str | None = None
) -> Problem:
    """Load and split a column's graphs: what the training pipeline is handed."""
    graphs = load_graphs(job.column, setup, job.seed, data_dir)
    task = COLUMNS[job.column].task
    return Problem(
        graphs,
        make_splits(graphs, task, rng=job.seed, protocol=job.protocol),
        standardise=False,
        experiment=Experiment(job.column, job.protocol),
        command=command,
    )


def recipe_of(job: Job, setup: Setup, epochs: int | None = None) -> Recipe:
    """Return the recipe of one run."""
    task = COLUMNS[job.column].task
    recipe = replace(setup.recipe, task=task, model=job.model, seed=job.seed)
    return recipe if epochs is None else replace(recipe, epochs=epochs)


def run_job(
    job: Job, *, data_dir: str | None = None, epochs: int | None = None, setup: Setup | None = None
) -> dict[str, Any]:
    """Run one job in this process and return its record; `setup` replaces the cell's own."""
    setup = setup or setup_of(job.column, job.protocol, job.model)
    problem = load_problem(job, setup, data_dir=data_dir, command=_command(job, epochs))
    outcome = train(problem, recipe_of(job, setup, epochs), heuristics=False).outcome
    return {
        **asdict(job),
        "test_auc": outcome.test_auc,
        "val_auc": outcome.val_auc,
        "best_epoch": outcome.best_epoch,
        "epochs": outcome.epochs,
        "seconds": outcome.seconds,
        "graphs": outcome.graph.graphs,
        "settings": {
            "protocol": setup.protocol,
            "standardize": setup.standardize,
            "keep": setup.keep,
            "recipe": asdict(outcome.recipe),
        },
        "command": outcome.command,
        "versions": outcome.versions,
    }


def _command(job: Job, epochs: int | None) -> str:
    """Return the command that does this run again."""
    spec = COLUMNS[job.column]
    return (
        f"pgnn train {spec.dataset} --task {spec.task} --model {job.model} "
        f"--protocol {job.protocol} --seed {job.seed}"
        + (" --one-hot" if spec.one_hot else "")
        + ("" if epochs is None else f" --epochs {epochs}")
    )


def train_dataset(
    dataset: str,
    task: str,
    model: str,
    *,
    protocol: Protocol = "paper",
    one_hot: bool = False,
    seed: int = 0,
    epochs: int | None = None,
    out: Path | None = None,
    resume: bool = False,
    data_dir: str | None = None,
    device: str = "cpu",
    progress: Callable[[Epoch, int], object] | None = None,
) -> Outcome:
    """Train on a data set of the paper, as `pgnn train DATASET` does.

    Args:
        dataset: Name of the data set.
        task: "link" or "pair".
        model: Name of the model.
        protocol: Whose splits and settings.
        one_hot: Whether nodes have one-hot features (the paper's -T columns).
        seed: Decides everything random.
        epochs: Most epochs; None for the cell's own.
        out: The run directory; None for none.
        resume: Whether to go on from the directory's checkpoint.
        data_dir: Folder of data sets.
        device: Where the model computes.
        progress: Called with each epoch's record and the most epochs there can be.

    Raises:
        PGNNError: If the paper has no such experiment, or training is not possible.
    """
    checks.one_of("model", model, MODELS)
    job = Job(_find_column(dataset, task, one_hot), model, protocol, seed)
    setup = setup_of(job.column, protocol, model)
    recipe = recipe_of(job, setup, epochs)
    most_epochs = recipe.resolved(1).epochs or 0
    if resume and out is None:
        raise PGNNError(
            Parameter("resume"), " needs ", Parameter("out"), ", the folder with the checkpoint"
        )
    options = {"task": task, "model": model, "protocol": protocol, "one_hot": one_hot}
    options |= {"seed": seed, "epochs": epochs, "data_dir": data_dir, "device": device}
    return train(
        load_problem(job, setup, data_dir=data_dir, command=_command(job, epochs)),
        recipe,
        out=out,
        config={"train": {"graph": dataset, **options}},
        device=device,
        resume=resume,
        progress=None if progress is None else lambda epoch: progress(epoch, most_epochs),
    ).outcome


def _find_column(dataset: str, task: str, one_hot: bool) -> str:
    for column in COLUMNS.values():
        if (column.dataset, column.task, column.one_hot) == (dataset, task, one_hot):
            return column.name
    names = {column.dataset for column in COLUMNS.values()}
    if dataset not in names:
        raise PGNNError(
            f"there is no data set {dataset!r}; the names are {', '.join(sorted(names))}"
        )
    known = [
        f"{c.dataset} --task {c.task}" + (" --one-hot" if c.one_hot else "")
        for c in COLUMNS.values()
    ]
    raise PGNNError(f"the paper has no such experiment; it has {', '.join(known)}")


def run_heuristics(
    column: str, protocol: Protocol, seed: int, data_dir: str | None
) -> list[dict[str, Any]]:
    """Score a column's test pairs without learning; one record per heuristic."""
    from pgnn.evaluation.heuristics import all_heuristics
    from pgnn.evaluation.metrics import roc_auc

    setup = setup_of(column, protocol, "gcn")
    problem = load_problem(Job(column, "", protocol, seed), setup, data_dir=data_dir)
    tested = [split for split in problem.splits if len(split.test)]
    labels = [split.test.labels for split in tested]
    groups = np.repeat(np.arange(len(tested)), [len(part) for part in labels])
    start = time.perf_counter()
    scored = [all_heuristics(split.graph, split.test.pairs) for split in tested]
    names = [name for name in scored[0] if all(name in scores for scores in scored)]
    seconds = round((time.perf_counter() - start) / len(names), 2)  # they share their work
    records = []
    for name in names:
        scores = np.concatenate([scores[name] for scores in scored])
        auc = roc_auc(np.concatenate(labels), scores, groups=groups)
        record: dict[str, Any] = asdict(Job(column, name, protocol, seed))
        record |= {"test_auc": auc, "seconds": seconds}
        record["command"] = f"pgnn reproduce {column} --protocol {protocol}"
        records.append(record | {"versions": versions()})
    return records
