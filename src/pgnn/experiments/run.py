"""One run of one cell of the paper's tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pgnn.errors import PGNNError
from pgnn.experiments.config import COLUMNS, MODELS, Setup, setup_of
from pgnn.graph import Graph
from pgnn.io.atomic import make_folder
from pgnn.training.runs import CHECKPOINT, check_free, save_run
from pgnn.training.splits import Protocol, Split, make_splits
from pgnn.training.versions import versions


@dataclass(frozen=True)
class Job:
    """One run: a column, a row, a protocol and a seed."""

    column: str
    model: str
    protocol: Protocol
    seed: int


def load_graphs(
    column: str,
    protocol: Protocol,
    seed: int,
    data_dir: str | None,
    setup: Setup | None = None,
) -> list[Graph]:
    """Load a column's graphs as its models read them, by default as the protocol says.

    For task "pair", graphs in which all nodes have one label, or no two have the same, have no
    pairs to tell apart and are left out.
    """
    from pgnn import datasets

    spec, setup = COLUMNS[column], setup or setup_of(column, protocol)
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


def make_model(name: str, in_channels: int, setup: Any, seed: int) -> tuple[Any, Any, Any]:
    """Return a model with weights drawn from the seed, its decoder and its draws."""
    import torch

    from pgnn.nn import PRESETS, DistanceDecoder, DotDecoder, make_baseline, make_pgnn
    from pgnn.training.batches import Draws

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        decoder = DotDecoder() if setup.decoder == "dot" else DistanceDecoder()
        if name not in PRESETS:
            return make_baseline(name, in_channels), decoder, None
        model = make_pgnn(name, in_channels, variant=setup.variant)
        preset = PRESETS[name]
    draws = Draws(preset.proximity, preset.cutoff, c=setup.c or preset.c, scheme=setup.scheme)
    return model, decoder, draws


@dataclass(frozen=True, eq=False)
class Done:
    """A run of a job: what is stored of it, and what was trained on what."""

    record: dict[str, Any]
    setup: Setup
    model: Any
    decoder: Any
    draws: Any
    graphs: list[Graph]
    splits: list[Split]
    fit: Any


def run_job(job: Job, *, data_dir: str | None = None, epochs: int | None = None) -> dict[str, Any]:
    """Run one job in this process and return its record."""
    return train_job(job, data_dir=data_dir, epochs=epochs).record


def train_job(
    job: Job,
    *,
    data_dir: str | None = None,
    epochs: int | None = None,
    setup: Setup | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    device: str = "cpu",
    progress: Callable[[Any], object] | None = None,
) -> Done:
    """Run one job in this process and return all of it; `setup` replaces the cell's own."""
    from pgnn.nn import PRESETS
    from pgnn.training.fit import fit

    spec = COLUMNS[job.column]
    setup = setup or setup_of(job.column, job.protocol, job.model)
    if epochs is not None:
        setup = replace(setup, fit=replace(setup.fit, epochs=epochs))
    graphs = load_graphs(job.column, job.protocol, job.seed, data_dir, setup)
    splits = make_splits(graphs, spec.task, rng=job.seed, protocol=job.protocol)
    assert graphs[0].x is not None
    model, decoder, draws = make_model(job.model, graphs[0].x.shape[1], setup, job.seed)
    if job.model in PRESETS and setup.c is None:
        setup = replace(setup, fit=replace(setup.fit, eval_draws=PRESETS[job.model].eval_draws))
    found = fit(
        model.to(device),
        decoder.to(device),
        splits,
        settings=setup.fit,
        draws=draws,
        seed=job.seed,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
    )
    record = {
        **asdict(job),
        "test_auc": found.test_auc,
        "val_auc": found.val_auc,
        "best_epoch": found.best_epoch,
        "epochs": len(found.history),
        "seconds": round(found.seconds, 2),
        "graphs": len(graphs),
        "settings": asdict(setup),
        "command": _command(job, epochs),
        "versions": versions(),
    }
    return Done(record, setup, model, decoder, draws, graphs, splits, found)


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
    protocol: str = "paper",
    one_hot: bool = False,
    seed: int = 0,
    epochs: int | None = None,
    out: Path | None = None,
    resume: bool = False,
    data_dir: str | None = None,
    device: str = "cpu",
    progress: Callable[[Any, int], object] | None = None,
) -> dict[str, Any]:
    """Do what `pgnn train` does with a data set of the paper."""
    column = _find_column(dataset, task, one_hot)
    if model not in (*MODELS, "mlp"):
        raise PGNNError(f"there is no model {model!r}; the names are {', '.join(MODELS)}, mlp")
    setup = setup_of(column, protocol, model)  # type: ignore[arg-type]
    if resume and out is None:
        raise PGNNError("--resume needs --out, the folder with the checkpoint")
    if out is not None:
        if not resume:
            check_free(out)
        make_folder(out)
    job = Job(column, model, setup.protocol, seed)
    total = epochs or setup.fit.epochs
    done = train_job(
        job,
        data_dir=data_dir,
        epochs=epochs,
        checkpoint=None if out is None else out / CHECKPOINT,
        resume=resume,
        device=device,
        progress=None if progress is None else lambda epoch: progress(epoch, total),
    )
    if out is not None:
        asked = {"task": task, "model": model, "protocol": protocol, "one_hot": one_hot}
        asked |= {"seed": seed, "epochs": epochs, "data_dir": data_dir, "device": device}
        _save(out, job, done, {"graph": dataset, **asked})
    return done.record


def _save(out: Path, job: Job, done: Done, asked: dict[str, Any]) -> None:
    """Leave a run directory with the first graph the model was judged by."""
    from pgnn.evaluation.judging import judge, roc_points
    from pgnn.training.batches import default_num_sets
    from pgnn.training.learner import Learner
    from pgnn.training.recipe import Recipe

    fit, draws = done.setup.fit, done.draws
    first = next(i for i, split in enumerate(done.splits) if len(split.test))
    split = done.splits[first]
    largest = max(split.graph.num_nodes for split in done.splits)
    recipe = Recipe(
        task=COLUMNS[job.column].task,
        model=job.model,
        decoder=done.setup.decoder,
        scheme=done.setup.scheme,
        folds=0,
        epochs=fit.epochs,
        eval_draws=fit.eval_draws,
        seed=job.seed,
    )
    num_sets = 0 if draws is None else default_num_sets(largest, draws.c)
    learner = Learner.of(recipe, done.model, done.decoder, graph=split.graph, num_sets=num_sets)
    scores = learner.scorer(split.graph)(split.test.pairs)
    heuristics = run_heuristics(job.column, job.protocol, job.seed, asked["data_dir"])
    metrics = {
        **done.record,
        "task": recipe.task,
        "num_sets": num_sets,
        "test_pairs": sum(len(split.test) for split in done.splits),
        "test": {"roc_auc": done.record["test_auc"]},
        "first_graph": judge(split.test.labels, scores),
        "roc": roc_points(split.test.labels, scores),
        "heuristics": {r["model"]: {"metrics": {"roc_auc": r["test_auc"]}} for r in heuristics},
    }
    save_run(
        out,
        learner=learner,
        graph=done.graphs[first],
        seen=split.graph,
        pairs=split.test,
        metrics=metrics,
        history=done.fit.history,
        config={"train": asked},
    )


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


def run_heuristics(column: str, protocol: Protocol, seed: int, data_dir: str | None) -> list[Any]:
    """Score a column's test pairs without learning; one record a heuristic."""
    from pgnn.evaluation.heuristics import HEURISTICS, heuristic_scores
    from pgnn.evaluation.metrics import roc_auc

    graphs = load_graphs(column, protocol, seed, data_dir)
    splits = make_splits(graphs, COLUMNS[column].task, rng=seed, protocol=protocol)
    tested = [split for split in splits if len(split.test)]
    records = []
    for name in HEURISTICS:
        start = time.perf_counter()
        scores = [_heuristic(split, name, heuristic_scores) for split in tested]
        labels = [split.test.labels for split in tested]
        groups = np.repeat(np.arange(len(tested)), [len(part) for part in labels])
        auc = roc_auc(np.concatenate(labels), np.concatenate(scores), groups=groups)
        seconds = round(time.perf_counter() - start, 2)
        record: dict[str, Any] = asdict(Job(column, name, protocol, seed))
        record |= {"test_auc": auc, "seconds": seconds}
        record["command"] = f"pgnn reproduce {column} --protocol {protocol}"
        records.append(record | {"versions": versions()})
    return records


def _heuristic(split: Split, name: str, scorer: Any) -> Any:
    return scorer(split.graph, split.test.pairs, name)
