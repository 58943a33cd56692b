"""Every public function and method, with good arguments: what the fuzzer makes wrong.

`documented_names` reads which there are: the pages of docs/api and the faces of the rooms. A name
that is missing here fails a test, so a new public function is fuzzed from its first day.
"""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Types of results, constants and errors: nobody calls them, or they only store what they get.
RESULTS = {
    "pgnn.distributed.StoredDistances",
    *("pgnn.PGNNError", "pgnn.PGNNError.worded", "pgnn.io.BusyError", "pgnn.Distortion"),
    *("pgnn.nn.PRESETS", "pgnn.datasets.Standardize", "pgnn.datasets.Keep", "pgnn.io.HowToRead"),
    *("pgnn.datasets.DatasetInfo", "pgnn.io.Header", "pgnn.io.PairTable", "pgnn.io.ReadNotes"),
    *("pgnn.io.ReadNotes.line", "pgnn.io.ReadNotes.warned", "pgnn.io.FeatureEncoding"),
    *("pgnn.evaluation.evaluate.Evaluation", "pgnn.training.fit.Fit", "pgnn.training.fit.Epoch"),
    *("pgnn.training.outcome.Outcome", "pgnn.training.outcome.GraphFacts"),
    *("pgnn.training.pipeline.Trained", "pgnn.training.runs.Run", "pgnn.training.runs.RunData"),
    *("pgnn.report.Link", "pgnn.report.Row", "pgnn.report.RunReport", "pgnn.io.Events"),
    # Written by a model's maker, called by the model.
    *(f"pgnn.nn.{name}.make_layer" for name in ("GCN", "GraphSAGE", "GAT", "GIN", "MLP")),
    *(f"pgnn.nn.{name}.apply_kernels" for name in ("GCN", "GraphSAGE", "GAT", "GIN")),
    "pgnn.nn.MLP.apply_layer",
}


def documented_names():
    """Return the dotted name of every public function, class and method that takes arguments."""
    names = []
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        names += re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.M)
    for face in sorted((ROOT / "src" / "pgnn").glob("*/__init__.py")):
        room = f"pgnn.{face.parent.name}"
        names += [
            f"{room}.{name}" for name in re.findall(r" import \w+ as (\w+)", face.read_text())
        ]
    objects = {}
    for name in names:
        value = resolve(name)
        if not inspect.isfunction(value) or inspect.signature(value).parameters:
            objects.setdefault(id(value), name)  # one name for each
    return sorted(name for first in objects.values() for name in (first, *methods(first)))


def resolve(name):
    """Return what a dotted name stands for."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            value = getattr(value, part)
        return value
    raise ImportError(name)


def methods(name):
    """Return the dotted names of the public methods of a class that take arguments."""
    kind = resolve(name)
    for method, value in vars(kind).items() if inspect.isclass(kind) else ():
        function = getattr(value, "__func__", value)
        if not inspect.isfunction(function) or (method[0] == "_" and method != "__call__"):
            continue
        own = 0 if isinstance(value, staticmethod) else 1
        if len(inspect.signature(function).parameters) > own:
            yield f"{name}.{method}"


_made = []


def public_calls(folder):
    """Return names, functions and good arguments; made once."""
    if not _made:
        (folder / "edges.csv").write_text("source,target,when\n0,1,5\n1,2,6\n2,3,7\n")
        (folder / "pairs.csv").write_text("source,target\n0,1\n1,2\n")
        for part in (_graphs, _positions, _networks, _training, _files, _reports, _limited, _parts):
            _made.extend(part(folder))
    return _made


EDGES = [(v, v + 1) for v in range(19)] + [(0, 2), (1, 3), (5, 9)]


def _graph(**more):
    import numpy as np

    import pgnn

    x = np.linspace(0, 1, 40, dtype=np.float32).reshape(20, 2)
    return pgnn.Graph.from_edges(EDGES, x=x, y=[v % 3 for v in range(20)], **more)


def _fields(value, *names):
    names = names or [field.name for field in dataclasses.fields(value)]
    return {name: getattr(value, name) for name in names}


def _graphs(folder):
    import networkx as nx
    import numpy as np
    import polars as pl
    import scipy.sparse as sp

    import pgnn
    from pgnn import datasets

    graph = _graph()
    weighted = pgnn.Graph.from_edges(EDGES, weights=[1.5] * len(EDGES), directed=True)
    sets = pgnn.sample_anchor_sets(20, rng=0)
    frame = pl.DataFrame({"u": [0, 1, 2], "v": [1, 2, 3], "w": [1.0, 2.0, 3.0]})
    fields = ("indptr", "indices", "weights", "directed", "x", "y", "classes", "node_ids")

    def changed(**changes):
        return pgnn.anchor_distances(dataclasses.replace(weighted, **changes), sets)

    return [
        ("pgnn.Graph", changed, _fields(weighted, *fields, "sides", "dropped_repeats")),
        ("pgnn.Graph.from_edges", pgnn.Graph.from_edges, {
            "edges": EDGES, "num_nodes": 20, "weights": [1.0] * len(EDGES), "directed": False,
            "x": np.ones((20, 2)), "y": [0] * 20, "node_ids": list(range(20)), "repeats": "sum"}),
        ("pgnn.Graph.from_frame", pgnn.Graph.from_frame, {
            "frame": frame, "source": "u", "target": 1, "weight": "w", "directed": False,
            "repeats": "sum"}),
        ("pgnn.Graph.from_networkx", pgnn.Graph.from_networkx, {
            "graph": nx.path_graph(5), "weight": "weight", "repeats": "sum"}),
        ("pgnn.Graph.from_scipy", pgnn.Graph.from_scipy, {
            "matrix": sp.eye_array(4).tocsr(), "directed": None, "weighted": None,
            "repeats": "sum"}),
        ("pgnn.Graph.from_pyg", pgnn.Graph.from_pyg, {
            "data": graph.to_pyg(), "directed": None, "repeats": "sum"}),
        ("pgnn.Graph.disjoint_union", pgnn.Graph.disjoint_union, {"graphs": [graph, graph]}),
        ("pgnn.Graph.neighbors", graph.neighbors, {"node": 3}),
        ("pgnn.Graph.with_edges", graph.with_edges, {"kept": np.arange(3)}),
        ("pgnn.Graph.with_sides", graph.with_sides, {
            "types": ["a", "b"] * 10, "between": ("a", "b")}),
        ("pgnn.datasets.load", datasets.load, {
            "name": "grid", "seed": 0, "data_dir": folder, "standardize": "feature",
            "keep": "paper"}),
        ("pgnn.datasets.describe", datasets.describe, {"data_dir": folder}),
        ("pgnn.datasets.grid", datasets.grid, {"rows": 4, "columns": 5}),
        ("pgnn.datasets.communities", datasets.communities, {
            "num_communities": 3, "size": 5, "rewire": 0.1, "rng": 0}),
        ("pgnn.datasets.load_email", datasets.load_email, {"data_dir": folder}),
        ("pgnn.datasets.load_ppi", datasets.load_ppi, {
            "data_dir": folder, "standardize": "feature"}),
        ("pgnn.datasets.load_protein", datasets.load_protein, {
            "data_dir": folder, "keep": "paper", "standardize": "feature"}),
        ("pgnn.datasets.with_constant_features", datasets.with_constant_features, {
            "graphs": [graph]}),
        ("pgnn.datasets.with_one_hot_features", datasets.with_one_hot_features, {
            "graphs": [graph]}),
    ]  # fmt: skip


def _positions(folder):
    import numpy as np

    import pgnn
    from pgnn.nn import PGNN

    graph = _graph()
    sets = pgnn.sample_anchor_sets(20, rng=0)
    distances = pgnn.anchor_distances(graph, sets)
    members = pgnn.MemberDistances(graph, [[0], [1, 2]])
    close = pgnn.pair_proximities(graph, [(0, 5)])
    model, x = PGNN(2, hidden_channels=8), _as_tensor(graph.x)
    new = np.array([(0, 7)])

    def changed(**changes):
        return pgnn.anchor_distances(graph, dataclasses.replace(sets, **changes))

    return [
        ("pgnn.AnchorSets", changed, _fields(sets)),
        ("pgnn.AnchorSets.from_sets", pgnn.AnchorSets.from_sets, {
            "sets": [[0], [1, 2]], "num_nodes": 20}),
        ("pgnn.AnchorSets.of", pgnn.AnchorSets.of, {"sets": [[0], [1, 2]], "num_nodes": 20}),
        ("pgnn.AnchorSets.union", pgnn.AnchorSets.union, {"parts": [sets, sets]}),
        ("pgnn.AnchorSets.chain", pgnn.AnchorSets.chain, {"parts": [sets, sets]}),
        ("pgnn.AnchorSets.select", sets.select, {"numbers": [0, 1]}),
        ("pgnn.AnchorSets.grown", sets.grown, {"num_nodes": 25}),
        ("pgnn.sample_anchor_sets", pgnn.sample_anchor_sets, {
            "num_nodes": 20, "c": 1.0, "num_sets": 5, "scheme": "bernoulli", "rng": 0}),
        ("pgnn.anchor_distances", pgnn.anchor_distances, {
            "graph": graph, "sets": sets, "cutoff": 3, "num_threads": 1, "progress": None,
            "updated_from": None, "removed_edges": None}),
        ("pgnn.anchor_distances", pgnn.anchor_distances, {
            "graph": _graph_with(new), "sets": sets, "updated_from": (distances, new),
            "removed_edges": None, "num_threads": 1}),
        ("pgnn.AnchorDistances", lambda **c: model(x, pgnn.AnchorDistances(**c)),
         _fields(distances, "nearest", "hops", "cutoff")),
        ("pgnn.MemberDistances", pgnn.MemberDistances, {
            "graph": graph, "sets": [[0], [1]], "cutoff": 2, "batch": [0] * 20,
            "num_threads": 1}),
        ("pgnn.MemberDistances.blocks", lambda **c: list(members.blocks(**c)), {"max_rows": 7}),
        ("pgnn.MemberDistances.proximity", members.proximity, {"start": 0, "stop": 5}),
        ("pgnn.anchor_ppr", pgnn.anchor_ppr, {
            "graph": graph, "sets": sets, "alpha": 0.2, "tol": 1e-3, "per_degree": True,
            "num_threads": 1, "progress": None}),
        ("pgnn.bourgain_embedding", pgnn.bourgain_embedding, {
            "graph": graph, "c": 1.0, "rng": 0}),
        ("pgnn.distortion", pgnn.distortion, {
            "graph": graph, "embedding": np.ones((20, 3)), "p": 1, "num_sources": 3, "rng": 0}),
        ("pgnn.pair_proximities", pgnn.pair_proximities, {
            "graph": graph, "pairs": [(0, 5)], "weights": "strength", "max_hops": 8,
            "method": "auto", "ends": "sorted", "num_threads": 1, "progress": None}),
        ("pgnn.PairProximities", pgnn.PairProximities, _fields(close)),
        ("pgnn.PairProximities.column", close.column, {"name": close.columns[0]}),
    ]  # fmt: skip


def _graph_with(new):
    import numpy as np

    import pgnn

    return pgnn.Graph.from_edges(np.concatenate([EDGES, new]), num_nodes=20)


def _as_tensor(x):
    import torch

    return torch.tensor(x)


def _networks(folder):
    import numpy as np
    import torch

    import pgnn
    from pgnn import nn, transforms
    from pgnn.nn import Positions

    torch.set_num_threads(1)
    graph = _graph()
    weighted = pgnn.Graph.from_edges(EDGES, weights=[1.5] * len(EDGES), directed=True)
    sets = pgnn.sample_anchor_sets(20, rng=0)
    coded = Positions.from_distances(pgnn.anchor_distances(graph, sets))
    exact = Positions.from_distances(pgnn.anchor_distances(weighted, sets))
    model, x = nn.PGNN(2, hidden_channels=8), _as_tensor(graph.x)
    layer = nn.PGNNLayer(2, 4)
    z, pairs = torch.ones(20, 4), torch.tensor([[0, 1], [2, 3]])
    data = transforms.AddAnchorDistances(rng=0)(graph.to_pyg())
    edge_index = graph.to_pyg().edge_index

    def run_model(positions):
        return lambda **changes: model(x, dataclasses.replace(positions, **changes))

    shared = {"message": "paper", "gate": "none", "agg_m": "closest", "agg_s": "mean",
              "sigma": None, "bias": True}  # fmt: skip
    calls = [
        ("pgnn.nn.make_pgnn", nn.make_pgnn, {
            "name": "pgnn-e-2l", "in_channels": 2, "variant": "paper", "hidden_channels": 8,
            "dropout": 0.1}),
        ("pgnn.nn.PGNN", nn.PGNN, {
            "in_channels": 2, "hidden_channels": 8, "num_layers": 2, "normalize": False,
            "dropout": 0.0, "project_input": True, **shared}),
        ("pgnn.nn.PGNN.forward", model, {"x": x, "distances": coded}),
        ("pgnn.nn.PGNN.encode", model.encode, {"x": x, "distances": coded}),
        ("pgnn.nn.PGNNLayer", nn.PGNNLayer, {
            "in_channels": 2, "out_channels": 4, "kernel": "auto", **shared}),
        ("pgnn.nn.PGNNLayer.forward", layer, {"x": x, "distances": coded}),
        ("pgnn.nn.Positions", run_model(coded),
         _fields(coded, "nearest", "codes", "levels", "first_code", "members")),
        ("pgnn.nn.Positions", run_model(exact), _fields(exact, "nearest", "proximity")),
        ("pgnn.nn.Positions.from_distances", Positions.from_distances, {
            "distances": pgnn.anchor_distances(graph, sets)}),
        ("pgnn.nn.Positions.from_proximity", Positions.from_proximity, {
            "proximity": np.ones((20, 2)), "sets": [[0], [1]], "batch": [0] * 20}),
        ("pgnn.nn.Positions.split", coded.split, {"num_parts": 2}),
        ("pgnn.nn.Positions.to", coded.to, {"device": "cpu", "dtype": torch.float64}),
        ("pgnn.nn.Preset", nn.Preset, _fields(nn.Preset(2))),
        ("pgnn.nn.Gate", nn.Gate, {"hidden_channels": 3, "out_channels": 2}),
        ("pgnn.nn.Gate.forward", nn.Gate(3, 2), {"s": torch.ones(4, 1)}),
        ("pgnn.nn.make_baseline", nn.make_baseline, {
            "name": "gcn", "in_channels": 2, "out_channels": 4, "dropout": 0.1}),
        ("pgnn.nn.Baseline.forward", nn.make_baseline("gcn", 2), {
            "x": x, "edge_index": edge_index}),
        ("pgnn.transforms.AddAnchorDistances", transforms.AddAnchorDistances, {
            "c": 1.0, "num_sets": 4, "cutoff": 3, "scheme": "bernoulli", "weighted": True,
            "prefix": "anchor", "rng": 0}),
        ("pgnn.transforms.AddAnchorDistances.__call__",
         transforms.AddAnchorDistances(rng=0), {"data": graph.to_pyg()}),
        ("pgnn.transforms.AddAnchorDistances.forward",
         transforms.AddAnchorDistances(rng=0).forward, {"data": graph.to_pyg()}),
        ("pgnn.transforms.positions_of", transforms.positions_of, {
            "data": data, "prefix": "anchor"}),
    ]  # fmt: skip
    widths = {"in_channels": 2, "hidden_channels": 4, "out_channels": 4}
    calls.extend(
        (f"pgnn.nn.{name}", getattr(nn, name), {**widths, "num_layers": 2, "dropout": 0.1})
        for name in ("GCN", "GraphSAGE", "GAT", "GIN", "MLP")
    )
    decoders = {
        "PairDecoder": (nn.PairMLPDecoder, {"hidden": 4}),
        "DotDecoder": (nn.DotDecoder, {}),
        "ScaledDotDecoder": (nn.ScaledDotDecoder, {}),
        "DistanceDecoder": (nn.DistanceDecoder, {"p": 2.0}),
        "PairMLPDecoder": (nn.PairMLPDecoder, {"hidden": 4}),
    }
    for name, (make, arguments) in decoders.items():
        decoder, prefix = make(), f"pgnn.nn.{name}"
        calls += [
            (prefix, make, arguments),
            *([(f"{prefix}.score", decoder.score, {"a": z, "b": z})] if arguments else []),
            (f"{prefix}.forward", decoder, {"z": z, "pairs": pairs}),
            (f"{prefix}.logits", decoder.logits, {"z": z, "pairs": pairs}),
            (
                f"{prefix}.loss",
                decoder.loss,
                {
                    "z": z,
                    "pairs": pairs,
                    "labels": torch.tensor([0.0, 1.0]),
                    "weights": torch.ones(2),
                },
            ),
        ]
    return calls


def _training(folder):
    import numpy as np
    import torch

    import pgnn
    from pgnn import nn
    from pgnn.evaluation import evaluate, heuristics, judging, metrics
    from pgnn.training import (
        batches,
        checkpoint,
        fit,
        learner,
        outcome,
        pipeline,
        recipe,
        runs,
        splits,
    )
    from pgnn.training.adam import Adam

    graph = _graph()
    few = recipe.Recipe(model="pgnn-e-2l", epochs=1, num_sets=4, eval_draws=1)
    problem, settings = pipeline.Problem.of_graph(graph, few), few.resolved(20).fit_settings()
    trained = pipeline.train(problem, few, out=folder / "run", config={"train": {}})
    split = problem.splits[0]
    run = runs.load_run(folder / "run")
    scorer = run.learner.scorer(graph)
    document = run.outcome.to_json()
    judgement = judging.Judgement(4, {"roc_auc": 0.5})
    model, decoder = nn.PGNN(2, hidden_channels=8), nn.DotDecoder()
    batch = batches.Batch([split])
    draws = batches.Draws(num_sets=4)
    pairs = batch.pairs("train")
    estimator = pgnn.PGNNEmbedding(recipe=few, random_state=0).fit(graph)
    optimizer = Adam(list(model.parameters()), weight_decay=0.0)
    packed = checkpoint.pack_training(model, dict(model.state_dict()), optimizer)
    tensors = {"a": torch.ones(3)}
    checkpoint.save_checkpoint(folder / "c.safetensors", tensors, {"format": 1})
    labels, scores = [True, False, True], [0.5, 0.2, 0.9]
    sets = pgnn.sample_anchor_sets(20, num_sets=4, rng=0)
    from pgnn.io import Events

    sources, targets = zip(*EDGES, strict=True)
    events = Events.of(list(sources), list(targets), list(range(len(EDGES))))

    def train(**arguments):
        return pipeline.train(**arguments)

    def estimated(**arguments):
        return pgnn.PGNNEmbedding(**arguments).fit(graph)

    return [
        ("pgnn.evaluation.evaluate.evaluate", evaluate.evaluate, {
            "run": run, "graph": graph, "pairs": None, "labels": None, "share": 0.2,
            "negatives": "uniform", "base_rate": 0.1, "seed": 0}),
        ("pgnn.evaluation.evaluate.evaluate", evaluate.evaluate, {
            "run": run, "graph": graph, "pairs": np.array([(0, 5), (0, 1)]),
            "labels": np.array([False, True])}),
        ("pgnn.evaluation.judging.Judgement", judging.Judgement, {
            "num_pairs": 4, "metrics": {"roc_auc": 0.5}, "roc": None}),
        ("pgnn.evaluation.judging.Judgement.with_metrics", judgement.with_metrics, {
            "more": {"hits": 0.5}}),
        ("pgnn.evaluation.judging.Judgement.from_json", judging.Judgement.from_json, {
            "document": judgement.to_json(), "num_pairs": 4}),
        ("pgnn.evaluation.judging.judge", judging.judge, {"labels": labels, "scores": scores}),
        ("pgnn.evaluation.judging.judge_graphs", judging.judge_graphs, {
            "pair_sets": [split.test], "scores": [np.linspace(0, 1, len(split.test))]}),
        ("pgnn.evaluation.judging.judge_heuristics", judging.judge_heuristics, {
            "tested": [(graph, split.test)], "rng": 0}),
        ("pgnn.evaluation.metrics.pair_metrics", metrics.pair_metrics, {
            "labels": labels, "scores": scores}),
        ("pgnn.evaluation.metrics.roc_auc", metrics.roc_auc, {
            "labels": labels, "scores": scores, "groups": [0, 0, 0]}),
        ("pgnn.evaluation.metrics.hits_at", metrics.hits_at, {
            "k": 1, "labels": labels, "scores": scores}),
        ("pgnn.evaluation.metrics.mrr", metrics.mrr, {"labels": labels, "scores": scores}),
        ("pgnn.evaluation.heuristics.heuristic_scores", heuristics.heuristic_scores, {
            "graph": graph, "pairs": [(0, 5)], "name": "common neighbours"}),
        ("pgnn.evaluation.heuristics.all_heuristics", heuristics.all_heuristics, {
            "graph": graph, "pairs": [(0, 5)]}),
        ("pgnn.training.splits.make_splits", splits.make_splits, {
            "graphs": [graph], "task": "link", "rng": 0, "protocol": "paper", "val": 0.1,
            "test": 0.1, "max_positives": 100}),
        ("pgnn.training.splits.split_links", splits.split_links, {
            "graph": graph, "rng": 0, "protocol": "paper", "val": 0.1, "test": 0.1,
            "negatives": "uniform", "ordered": False}),
        ("pgnn.training.splits.split_pairs", splits.split_pairs, {
            "graph": graph, "rng": 0, "protocol": "paper", "val": 0.1, "test": 0.1,
            "max_positives": 100}),
        ("pgnn.training.splits.Split", lambda **c: batches.Batch([splits.Split(**c)]).pairs(
            "train"), _fields(split)),
        ("pgnn.training.splits.PairSet", splits.PairSet, _fields(split.test)),
        ("pgnn.training.splits.PairSet.join", splits.PairSet.join, {
            "positives": np.array([(0, 1)]), "negatives": np.array([(0, 7)])}),
        ("pgnn.PGNNEmbedding", estimated, {
            "task": "link", "model": "pgnn-e-2l", "epochs": 1, "random_state": 0, "recipe": None,
            "device": "cpu", "verbose": False}),
        ("pgnn.PGNNEmbedding.fit", pgnn.PGNNEmbedding(recipe=few).fit, {"X": graph, "y": None}),
        ("pgnn.PGNNEmbedding.transform", estimator.transform, {"X": graph}),
        ("pgnn.PGNNEmbedding.fit_transform", pgnn.PGNNEmbedding(recipe=few).fit_transform, {
            "X": graph, "y": None}),
        ("pgnn.PGNNEmbedding.score", estimator.score, {"X": graph, "y": None}),
        ("pgnn.PGNNEmbedding.score_pairs", estimator.score_pairs, {
            "X": graph, "pairs": [(0, 5)], "ids": False}),
        ("pgnn.PGNNEmbedding.save", estimator.save, {"path": folder / "e.safetensors"}),
        ("pgnn.PGNNEmbedding.load", pgnn.PGNNEmbedding.load, {
            "path": folder / "run" / "model.safetensors", "device": "cpu"}),
        ("pgnn.training.pipeline.train", train, {
            "problem": problem, "recipe": few, "out": None, "config": None, "device": "cpu",
            "resume": False, "heuristics": True, "progress": None}),
        ("pgnn.training.pipeline.Problem", lambda **c: train(
            problem=pipeline.Problem(**c), recipe=few), _fields(problem)),
        ("pgnn.training.pipeline.Problem.of_graph", pipeline.Problem.of_graph, {
            "graph": graph, "recipe": few}),
        ("pgnn.training.pipeline.Problem.of_events", pipeline.Problem.of_events, {
            "events": events, "recipe": few, "test_from": 18.0}),
        ("pgnn.training.pipeline.split_graph", pipeline.split_graph, {
            "graph": graph, "recipe": few}),
        ("pgnn.training.recipe.Recipe", lambda **c: pipeline.train(problem, recipe.Recipe(
            **{**_fields(few), **c})), {
            name: value for name, value in _fields(few).items() if name != "epochs"}),
        ("pgnn.training.recipe.Recipe.from_dict", recipe.Recipe.from_dict, {
            "values": {"epochs": 3}}),
        ("pgnn.training.recipe.Recipe.resolved", few.resolved, {"num_nodes": 20}),
        ("pgnn.training.recipe.FitSettings", recipe.FitSettings, _fields(settings)),
        ("pgnn.training.learner.make_learner", learner.make_learner, {
            "recipe": few, "graphs": [graph], "device": "cpu", "standardise": True}),
        ("pgnn.training.learner.Learner", lambda **c: learner.Learner(**c).embed(graph), _fields(
            trained.learner, "recipe", "inputs", "model", "decoder", "anchors")),
        ("pgnn.training.learner.Learner.train", trained.learner.train, {
            "splits": [split], "checkpoint": None, "resume": False, "progress": None}),
        ("pgnn.training.learner.Learner.with_anchors", trained.learner.with_anchors, {
            "graph": graph}),
        ("pgnn.training.learner.Learner.place_anchors", trained.learner.place_anchors, {
            "graph": graph, "anchors": None, "draw": 0}),
        ("pgnn.training.learner.Learner.embed", trained.learner.embed, {
            "graph": graph, "draw": 0, "anchors": None}),
        ("pgnn.training.learner.Learner.scorer", trained.learner.scorer, {
            "graph": graph, "num_draws": 1}),
        ("pgnn.training.learner.Learner.ready", trained.learner.ready, {"graph": graph}),
        ("pgnn.training.learner.Learner.save", trained.learner.save, {
            "path": folder / "l.safetensors"}),
        ("pgnn.training.learner.Learner.load", learner.Learner.load, {
            "path": folder / "run" / "model.safetensors", "device": "cpu"}),
        ("pgnn.training.learner.Inputs", learner.Inputs, _fields(trained.learner.inputs)),
        ("pgnn.training.learner.Inputs.of", learner.Inputs.of, {
            "recipe": few, "graphs": [graph], "standardise": True}),
        ("pgnn.training.learner.Scorer", learner.Scorer, {
            "decoder": decoder, "embeddings": [torch.ones(20, 4)]}),
        ("pgnn.training.learner.Scorer.__call__", scorer, {"pairs": [(0, 5)]}),
        ("pgnn.training.learner.Scorer.logits", scorer.logits, {"pairs": [(0, 5)]}),
        ("pgnn.training.learner.Scorer.with_spread", scorer.with_spread, {
            "pairs": [(0, 5)], "base_rate": 0.5}),
        ("pgnn.training.outcome.Outcome.from_json", outcome.Outcome.from_json, {
            "document": document}),
        ("pgnn.training.outcome.GraphFacts.of", lambda graph: outcome.GraphFacts.of(graph), {
            "graph": graph}),
        ("pgnn.training.outcome.Experiment", outcome.Experiment, {
            "column": "grid", "protocol": "paper"}),
        ("pgnn.training.runs.load_run", runs.load_run, {
            "folder": folder / "run", "device": "cpu"}),
        ("pgnn.training.fit.fit", fit.fit, {
            "model": model, "decoder": decoder, "splits": [split],
            "settings": settings, "draws": draws, "seed": 0, "checkpoint": None,
            "resume": False, "progress": None}),
        ("pgnn.training.batches.Draws", lambda **c: batch.draw(
            batches.Draws(**c), np.random.default_rng(0)), _fields(draws)),
        ("pgnn.training.batches.Batch", batches.Batch, {"splits": [split], "device": "cpu"}),
        ("pgnn.training.batches.Batch.pairs", batch.pairs, {"part": "train"}),
        ("pgnn.training.batches.Batch.digest", batch.digest, {"parts": ["train"]}),
        ("pgnn.training.batches.Batch.sample", batch.sample, {
            "draws": draws, "rng": np.random.default_rng(0)}),
        ("pgnn.training.batches.Batch.draw", batch.draw, {
            "draws": draws, "rng": np.random.default_rng(0), "num_threads": 1}),
        ("pgnn.training.batches.Batch.measure", batch.measure, {
            "sets": sets, "draws": draws, "num_threads": 1}),
        ("pgnn.training.batches.Batch.num_positions", batch.num_positions, {"draws": draws}),
        ("pgnn.training.batches.Batch.draw_each", batch.draw_each, {
            "draws": draws, "seeds": [0, 1]}),
        ("pgnn.training.batches.Pairs", batches.Pairs, _fields(pairs)),
        ("pgnn.training.batches.Pairs.sample", pairs.sample, {
            "count": 3, "rng": np.random.default_rng(0)}),
        ("pgnn.training.batches.default_num_sets", batches.default_num_sets, {
            "num_nodes": 20, "c": 1.0}),
        ("pgnn.training.checkpoint.save_checkpoint", checkpoint.save_checkpoint, {
            "path": folder / "s.safetensors", "tensors": tensors, "description": {"a": 1}}),
        ("pgnn.training.checkpoint.load_checkpoint", checkpoint.load_checkpoint, {
            "path": folder / "c.safetensors"}),
        ("pgnn.training.checkpoint.pack_training", checkpoint.pack_training, {
            "modules": model, "best": dict(model.state_dict()), "optimizer": optimizer}),
        ("pgnn.training.checkpoint.unpack_training", checkpoint.unpack_training, {
            "tensors": packed, "modules": model, "optimizer": optimizer}),
    ]  # fmt: skip


def _files(folder):
    import numpy as np

    import pgnn
    from pgnn import io

    graph = _graph()
    events = io.read_events(folder / "edges.csv", "when")
    how = {"source": 0, "target": 1, "weight": None, "directed": None, "header": None,
           "features": None, "repeats": "sum"}  # fmt: skip
    column = {"score": np.array([0.5, 0.2])}

    def opened(path):
        with io.open_atomic(path) as file:
            file.write(b"x")

    return [
        ("pgnn.read_graph", pgnn.read_graph, {
            "path": folder / "edges.csv", "id_column": None, "label": None,
            "feature_columns": None, "encoding": None, "type_column": None, "between": None,
            **how}),
        ("pgnn.write_scores", pgnn.write_scores, {
            "path": folder / "s.csv", "pairs": [(0, 1)], "scores": [0.5], "ids": graph,
            "spread": [0.1], "labels": [True], "reasons": ["near"], "ends": ("a", "b")}),
        ("pgnn.write_embeddings", pgnn.write_embeddings, {
            "path": folder / "z.npz", "values": np.ones((20, 2)), "ids": graph}),
        ("pgnn.io.Events.of", io.Events.of, {
            "source": [0, 1], "target": [1, 2], "times": [1, 2], "weights": [1.0, 2.0],
            "directed": False, "strengths": True}),
        ("pgnn.io.Events.graph", events.graph, {"before": 7.0}),
        ("pgnn.io.Events.graph_with_notes", events.graph_with_notes, {"before": 7.0}),
        ("pgnn.io.Events.places", events.places, {"graph": events.graph()}),
        ("pgnn.io.read_events", io.read_events, {
            "path": folder / "edges.csv", "time": "when", "until": "7", **how}),
        ("pgnn.io.read_graph_with_notes", io.read_graph_with_notes, {
            "path": folder / "edges.csv", **how}),
        ("pgnn.io.read_file", io.read_file, {"path": folder / "edges.csv", "pipes": False}),
        ("pgnn.io.FeatureEncoding.from_json", io.FeatureEncoding.from_json, {
            "values": [{"name": "a", "kind": "number", "mean": 0.0}]}),
        ("pgnn.io.sha256_of", io.sha256_of, {"path": folder / "edges.csv"}),
        ("pgnn.io.find_nodes", io.find_nodes, {"graph": graph, "names": ["0", "3"]}),
        ("pgnn.io.read_pair_table", io.read_pair_table, {
            "path": folder / "pairs.csv", "graph": graph, "skip_unknown": False}),
        ("pgnn.io.read_pairs", io.read_pairs, {"path": folder / "pairs.csv", "graph": graph}),
        ("pgnn.io.format_suffix", io.format_suffix, {"path": folder / "edges.csv"}),
        ("pgnn.io.has_column", io.has_column, {"path": folder / "edges.csv", "column": "when"}),
        ("pgnn.io.check_place", io.check_place, {"path": folder / "new.csv"}),
        ("pgnn.io.check_writable", io.check_writable, {"path": folder / "new.csv"}),
        ("pgnn.io.id_array", io.id_array, {"ids": graph}),
        ("pgnn.io.make_folder", io.make_folder, {"path": folder / "made"}),
        ("pgnn.io.open_atomic", opened, {"path": folder / "opened.txt"}),
        ("pgnn.io.write_columns", io.write_columns, {
            "path": folder / "columns.csv", "columns": column, "arrays": column}),
    ]  # fmt: skip


def _reports(folder):
    import numpy as np

    import pgnn
    from pgnn import report
    from pgnn.training.runs import load_run

    run = load_run(folder / "run")
    collected = report.collect_run(run, top=3)
    sets = pgnn.sample_anchor_sets(20, num_sets=4, rng=0)
    hops = pgnn.anchor_distances(_graph(), sets).hops
    shown = report.Positions(sets, hops)
    record = {"column": "grid-t", "model": "gcn", "protocol": "paper", "seed": 0,
              "test_auc": 0.9, "seconds": 5.9}  # fmt: skip
    return [
        ("pgnn.report.collect_run", report.collect_run, {"run": run, "top": 3}),
        ("pgnn.report.write_report", report.write_report, {
            "path": folder / "r.html", "html": "<p>"}),
        ("pgnn.report.render_results", report.render_results, {"records": [record], "links": ()}),
        ("pgnn.report.Positions", report.Positions, _fields(shown)),
        ("pgnn.report.Positions.column", shown.column, {"index": 0, "nodes": np.arange(5)}),
        ("pgnn.report.render_run", report.render_run, {
            "report": collected, "max_nodes": 100, "rng": 0}),
    ]  # fmt: skip


def _limited(folder):
    import pgnn
    from pgnn import memory

    def limited(size):
        with pgnn.memory_limit(size):
            pass

    return [
        ("pgnn.memory_limit", limited, {"size": "20GB"}),
        ("pgnn.memory.rows_at_once", memory.rows_at_once, {"num_rows": 10, "row_bytes": 4}),
        ("pgnn.memory.more_needed", memory.more_needed, {"num_bytes": 10.0, "work": "this"}),
        ("pgnn.memory.least_needed", memory.least_needed, {"num_bytes": 10.0, "work": "this"}),
        ("pgnn.memory.more_needed", memory.more_needed, {"num_bytes": 10.0, "work": "this"}),
    ]


def _parts(folder):
    import pgnn
    from pgnn import distributed

    graph = pgnn.Graph.from_edges(EDGES)
    part = distributed.partition(graph)
    sets = pgnn.sample_anchor_sets(20, num_sets=4, rng=0)
    distances = distributed.partitioned_distances(part, sets)
    summary = distributed.Summary(1, 20, graph.num_edges, False, 4, 0, None)
    distributed.write_distances(folder / "parts", distances, graph.node_ids, summary)

    def searched(**changes):
        return distributed.partitioned_distances(dataclasses.replace(part, **changes), sets)

    return [
        ("pgnn.distributed.partition", distributed.partition, {"graph": graph, "group": None}),
        ("pgnn.distributed.PartitionedGraph", searched, _fields(part)),
        ("pgnn.distributed.PartitionedGraph.neighbors", part.neighbors, {"place": 3}),
        ("pgnn.distributed.partitioned_distances", distributed.partitioned_distances, {
            "graph": part, "sets": sets, "cutoff": 3, "progress": None, "traffic": None}),
        ("pgnn.distributed.Summary", distributed.Summary, _fields(summary)),
        ("pgnn.distributed.write_distances", distributed.write_distances, {
            "folder": folder / "written", "distances": distances, "node_ids": graph.node_ids,
            "summary": summary, "group": None}),
        ("pgnn.distributed.read_distances", distributed.read_distances, {
            "folder": folder / "parts"}),
        ("pgnn.distributed.read_partitioned_graph", distributed.read_partitioned_graph, {
            "path": folder / "edges.csv", "source": 0, "target": 1, "weight": None,
            "directed": None, "header": None, "group": None}),
    ]  # fmt: skip
