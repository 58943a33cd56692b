"""Outcome: what training came to, in one typed value with one JSON form."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from pgnn.checks import checked, integer, number, one_of, true_or_false
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.judging import Judgement, read_curve, read_metrics
from pgnn.graph import Graph
from pgnn.names import PROTOCOLS, Protocol, Task
from pgnn.training.recipe import Recipe
from pgnn.training.splits import TimeFacts
from pgnn.version import __version__

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class GraphFacts:
    """A few numbers that describe a graph, or several graphs together.

    `between` names the two kinds of nodes that links are asked about; None for any two nodes.
    """

    graphs: int
    nodes: int
    edges: int
    directed: bool
    weighted: bool
    features: int
    classes: int
    dropped_self_loops: int
    dropped_repeats: int
    between: list[str] | None = None

    @classmethod
    @checked
    def of(cls, *graphs: Graph) -> GraphFacts:
        """Count; of several graphs, nodes and edges of all together."""
        if not graphs:
            raise PGNNError(Parameter("graphs"), " must be at least one")
        return cls(
            graphs=len(graphs),
            nodes=sum(graph.num_nodes for graph in graphs),
            edges=sum(graph.num_edges for graph in graphs),
            directed=graphs[0].directed,
            weighted=graphs[0].weights is not None,
            features=0 if graphs[0].x is None else graphs[0].x.shape[1],
            classes=max(graph.num_classes for graph in graphs),
            dropped_self_loops=sum(graph.dropped_self_loops for graph in graphs),
            dropped_repeats=sum(graph.dropped_repeats for graph in graphs),
            between=None if graphs[0].sides is None else list(graphs[0].sides.names),
        )


@checked
@dataclass(frozen=True)
class Experiment:
    """Which cell of the paper's tables a run belongs to."""

    column: str
    protocol: Protocol


@dataclass(frozen=True)
class Outcome:
    """The result of one training run.

    Attributes:
        task: "link" or "pair".
        model: Name of the model.
        test_auc: ROC AUC of test pairs, the mean over test graphs; None without test pairs.
        val_auc: ROC AUC of the pairs that the best epoch was chosen by.
        seconds: How long training took.
        best_epoch: The epoch whose state was kept.
        epochs: How many epochs were run.
        seed: The recipe's seed.
        num_sets: Number of anchor-sets; 0 for a baseline.
        graph: What the model was trained on.
        test_pairs: Number of test pairs, of all graphs.
        test: How good the model's scores of the test pairs are; None without test pairs.
        heuristics: The same of scores that need no learning, by name.
        recipe: The settings as they were used.
        versions: Of the libraries that results depend on.
        experiment: The cell of the paper's tables, for a data set of the paper.
        command: The command that does this run again, for a data set of the paper.
        base_rate: The share of links among the test pairs, which the model's chances are stated
            for; None without test pairs.
        lone_pairs: How many test pairs have a node that hiding edges left without any. Most are
            links, which flatters a model that reads degrees.
        test_without_lone: How good the model is on the other pairs; None if there are no lone
            pairs, or the others are all of one kind.
        verdict: A sentence: which is best, the model or a heuristic, by how much, whether that is
            more than chance, and what to do; None without heuristics.
        as_good: The heuristic that is as good as the model or better; None if there is none.
        time: How events were split into past and future; None without times.
    """

    task: Task
    model: str
    test_auc: float | None
    val_auc: float
    seconds: float
    best_epoch: int
    epochs: int
    seed: int
    num_sets: int
    graph: GraphFacts
    test_pairs: int
    test: Judgement | None
    heuristics: dict[str, Judgement]
    recipe: Recipe
    versions: dict[str, str]
    experiment: Experiment | None = None
    command: str | None = None
    base_rate: float | None = None
    lone_pairs: int = 0
    test_without_lone: Judgement | None = None
    verdict: str | None = None
    as_good: str | None = None
    time: TimeFacts | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the one JSON form, the same keys for a file and for a data set."""
        document = {name: getattr(self, name) for name in _PLAIN}
        return document | {
            "graph": asdict(self.graph),
            "direction_auc": None if self.test is None else self.test.metrics.get("direction_auc"),
            "test": None if self.test is None else self.test.metrics,
            "roc": None if self.test is None else self.test.roc,
            "heuristics": {name: peer.to_json() for name, peer in self.heuristics.items()},
            "test_without_lone": (
                None if self.test_without_lone is None else self.test_without_lone.to_json()
            ),
            "recipe": asdict(self.recipe),
            "experiment": None if self.experiment is None else asdict(self.experiment),
            "time": None if self.time is None else asdict(self.time),
        }

    @classmethod
    @checked
    def from_json(cls, document: Mapping[str, Any]) -> Outcome:
        """Read what `to_json` gave, or the metrics of a run directory of format 1.

        Raises:
            PGNNError: If something is missing or of another kind.
        """
        try:
            recipe = _recipe_of(document)
            if (document["task"], document["model"]) != (recipe.task, recipe.model):
                raise ValueError("its recipe is of another task or model")
            test = None
            if document.get("test"):
                metrics = read_metrics(document["test"])
                test = Judgement(
                    _count("test_pairs", document["test_pairs"]),
                    {"roc_auc": metrics["roc_auc"], **metrics},
                    read_curve(document.get("roc")),
                )
            experiment = document.get("experiment")
            if experiment is None and "column" in document:  # format 1
                experiment = {name: document[name] for name in ("column", "protocol")}
            # Older versions judged by ranks alone.
            rate, others, verdict = map(document.get, ("base_rate", "test_without_lone", "verdict"))
            graph = {"graphs": document.get("graphs", 1), **_NO_FACTS, **document.get("graph", {})}
            return cls(
                task=recipe.task,
                model=recipe.model,
                test_auc=None if test is None else float(test.metrics["roc_auc"]),
                val_auc=_real("val_auc", document["val_auc"]),
                seconds=_real("seconds", document["seconds"]),
                best_epoch=_count("best_epoch", document["best_epoch"]),
                epochs=_count("epochs", document["epochs"]),
                seed=integer("seed", document.get("seed", recipe.seed), at_least=0),
                num_sets=_count("num_sets", document["num_sets"]),
                graph=_facts(graph),
                test_pairs=_count("test_pairs", document.get("test_pairs", 0)),
                test=test,
                heuristics={
                    _text("heuristics", name): Judgement.from_json(
                        peer, _count("test_pairs", document.get("test_pairs", 0))
                    )
                    for name, peer in document.get("heuristics", {}).items()
                },
                recipe=recipe,
                versions={
                    _text("versions", k): _text("versions", v)
                    for k, v in document["versions"].items()
                },
                experiment=None if experiment is None else _experiment(experiment),
                command=_optional(_text, "command", document.get("command")),
                base_rate=_optional(number, "base_rate", rate),
                lone_pairs=_count("lone_pairs", document.get("lone_pairs", 0)),
                test_without_lone=None if others is None else Judgement.from_json(others, 0),
                verdict=_optional(_text, "verdict", verdict),
                as_good=_optional(_text, "as_good", document.get("as_good")),
                time=_time_facts(document.get("time")),
            )
        except (
            *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError),
            RecursionError,
        ) as error:
            text = str(error) or type(error).__name__
            raise PGNNError(f"the result cannot be read ({text})") from error


_PLAIN = (
    *("task", "model", "test_auc", "val_auc", "seconds", "best_epoch", "epochs", "seed"),
    *("num_sets", "test_pairs", "versions", "command", "base_rate", "lone_pairs", "verdict"),
    "as_good",
)
_NO_FACTS: dict[str, Any] = {
    **dict.fromkeys(("nodes", "edges", "features", "classes"), 0),
    **dict.fromkeys(("dropped_self_loops", "dropped_repeats"), 0),
    **dict.fromkeys(("directed", "weighted"), False),
}


_MOST = 10**15  # of anything that is counted
_LONGEST = 10_000  # characters of a text


def _count(name: str, value: Any) -> int:
    return integer(name, value, at_least=0, at_most=_MOST)


def _real(name: str, value: Any) -> float:
    """Return a number; NaN is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PGNNError(f"{name} must be a number (got {str(value)[:50]!r})")
    return float(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise PGNNError(f"{name} must be a text of at most {_LONGEST:,} characters")
    return value


def _optional(read: Callable[[str, Any], _Value], name: str, value: Any) -> _Value | None:
    return None if value is None else read(name, value)


def _facts(values: dict[str, Any]) -> GraphFacts:
    """Return facts whose values are of the kinds that the class says."""
    flags = ("directed", "weighted")
    sides = values.get("between")
    if sides is not None and len([_text("between", name) for name in list(sides)]) != 2:
        raise PGNNError("between must be two names")
    for name, value in values.items():
        if name != "between":
            (true_or_false if name in flags else _count)(name, value)
    return GraphFacts(**values)


def _experiment(values: dict[str, Any]) -> Experiment:
    protocol: Any = one_of("protocol", values["protocol"], PROTOCOLS)
    return Experiment(_text("column", values["column"]), protocol)


def _recipe_of(document: Mapping[str, Any]) -> Recipe:
    """Return the recipe of a run; a data-set run of format 1 has `settings` in its place."""
    values = document.get("recipe")
    if values is None and "settings" in document:
        settings = document["settings"]
        values = {name: document[name] for name in ("task", "model", "seed")}
        values |= {name: settings[name] for name in ("variant", "decoder", "scheme", "c")}
        values |= {**settings["fit"], "folds": 0, "judged": "epoch"}
    if not isinstance(values, dict):
        raise TypeError("its recipe is no table")
    return Recipe.from_dict(values)


def _time_facts(values: Any) -> TimeFacts | None:
    """Return how a run split events by time, if it did."""
    if values is None:
        return None
    texts, counts = ("column", "test_from", "until"), set(values) - {"column", "test_from", "until"}
    if not all(isinstance(values[name], int) for name in counts):
        raise TypeError("its events are no counts")
    return TimeFacts(**{**values, **{name: values[name] and str(values[name]) for name in texts}})


def versions() -> dict[str, str]:
    """Return the versions that results depend on."""
    import numba
    import torch

    return {
        "pgnn": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
