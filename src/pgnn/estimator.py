"""PGNNEmbedding: embeddings of graphs in the manner of scikit-learn."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pgnn import checks
from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.metrics import roc_auc
from pgnn.graph import Graph
from pgnn.graph.like import as_graph, index_pairs, with_labels
from pgnn.names import Task
from pgnn.training.checkpoint import load_checkpoint
from pgnn.training.fit import Epoch
from pgnn.training.learners import AnyLearner, load_learner
from pgnn.training.pipeline import Problem, split_graph, train
from pgnn.training.recipe import Recipe

if TYPE_CHECKING:
    from pgnn.graph.like import GraphLike

_OF_FIT = ("history_", "best_epoch_", "val_auc_", "test_auc_")  # what a file holds besides a model


class PGNNEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn on one graph, then embed the nodes and score the pairs of any graph.

    A graph is a `pgnn.Graph`, a networkx graph, a PyTorch Geometric `Data`, a data frame of polars
    or pandas with one row per edge (see `pgnn.Graph.from_frame`), or an adjacency matrix: scipy
    sparse, or square and dense (0 for no edge, any other number for a weight; all ones for no
    weights). It is not a matrix of samples and features, so what cuts samples out of one, such as
    k-fold cross-validation, does not apply; `score` holds pairs of nodes out instead.

    Rows of an embedding are in the graph's order of nodes. Embeddings of different graphs do not
    compare number by number, because their anchor-sets differ; scores of pairs do. A graph that has
    most of the nodes (by id) and edges of the one it was fitted on is measured to the same sets:
    there, old nodes stay where they were, and new ones are placed among them.

    Args:
        task: "link": is there an edge between two nodes? "pair": do they have the same label?
        model: A name of `pgnn.names.MODELS`.
        epochs: Most passes over the training pairs.
        random_state: Decides everything random.
        recipe: All other settings, a `pgnn.training.recipe.Recipe`; the library's recommendation by
            default. What is passed above wins over it.
        device: Where the model computes.
        verbose: Whether to print a line for each evaluation.

    Attributes:
        embedding_: Of the graph it was fitted on, all its edges seen, float32 `[n, d]`.
        node_ids_: The id of each of its nodes, such as networkx's.
        history_: A `pgnn.training.fit.Epoch` for each epoch.
        best_epoch_: The epoch whose state was kept.
        val_auc_: Area under the ROC curve of the pairs it was chosen by.
        test_auc_: Of pairs that training never saw; None if the recipe's `test` is 0.
        num_sets_: Number of anchor-sets, 0 for a baseline.
        n_features_in_: Number of features a node; absent if the graph had none.
        learner_: The `pgnn.training.learner.Learner` behind it.

    Example:
        >>> import networkx as nx
        >>> emb = PGNNEmbedding(epochs=2).fit(nx.connected_caveman_graph(6, 5))
        >>> emb.embedding_.shape == (30, emb.num_sets_)
        True
        >>> emb.score_pairs(nx.path_graph(4), [(0, 1), (0, 3)]).shape
        (2,)
    """

    def __init__(
        self,
        task: Task | None = None,
        *,
        model: str | None = None,
        epochs: int | None = None,
        random_state: int | None = None,
        recipe: Recipe | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.task = task
        self.model = model
        self.epochs = epochs
        self.random_state = random_state
        self.recipe = recipe
        self.device = device
        self.verbose = verbose

    # ------------------------------------------------------------------ scikit-learn's methods

    @checked
    def fit(self, X: GraphLike, y: ArrayLike | None = None) -> PGNNEmbedding:
        """Train on a graph; what an earlier fit found is forgotten.

        Args:
            X: The graph. Held-out edges are hidden from the model while it trains.
            y: For task "pair", a label a node, integers or strings; by default the graph's own.
                Task "link" does not read it.

        Raises:
            PGNNError: If a setting is not allowed, or the graph cannot be trained on.
        """
        recipe = self._recipe()
        graph = _read(X, y, recipe)
        checks.true_or_false("verbose", self.verbose)
        trained = train(
            Problem.of_graph(graph, recipe),
            recipe,
            device=self.device,
            heuristics=False,
            progress=_tell if self.verbose else None,
        )
        self._adopt(trained.learner)
        self.embedding_ = trained.learner.embed(graph)
        self.node_ids_ = graph.node_ids
        self.history_ = trained.fit.history
        self.best_epoch_ = trained.outcome.best_epoch
        self.val_auc_ = trained.outcome.val_auc
        self.test_auc_ = trained.outcome.test_auc
        return self

    @checked
    def transform(self, X: GraphLike) -> NDArray[np.float32]:
        """Return the embedding of each node of a graph, of any size, float32 `[n, d]`.

        Raises:
            PGNNError: If the graph has not the features that the model was fitted with.
        """
        check_is_fitted(self, "learner_")
        return self.learner_.embed(_read_graph(X, self.learner_.recipe))

    @checked
    def fit_transform(self, X: GraphLike, y: ArrayLike | None = None) -> NDArray[np.float32]:
        """Fit on a graph and return `embedding_`."""
        return self.fit(X, y).embedding_

    @checked
    def score(self, X: GraphLike, y: ArrayLike | None = None) -> float:
        """Return the area under the ROC curve of pairs held out of a graph: 1 is best, 0.5 chance.

        Edges that are asked about are hidden from the model first. Of the graph it was fitted on
        these are the pairs that training never saw, and the result is `test_auc_`. Any other graph
        is split the same way.

        Args:
            X: The graph.
            y: For task "pair", a label a node; by default the graph's own.

        Raises:
            PGNNError: If the graph is too small to be split, or the recipe's `test` is 0.
        """
        check_is_fitted(self, "learner_")
        area = _test_auc(self.learner_, _read(X, y, self.learner_.recipe))
        if area is None:
            raise PGNNError(
                "the recipe has test=0, which left no pairs to judge by; fit with a recipe that "
                "has a share, such as Recipe(test=0.1)"
            )
        return area

    @checked
    def score_pairs(
        self, X: GraphLike, pairs: ArrayLike | Iterable[tuple[Any, Any]], *, ids: bool = False
    ) -> NDArray[np.float64]:
        """Return the chance of each pair of nodes to be joined (task "pair": to be of one label).

        It is the mean over `eval_draws` draws of anchor-sets, float64 `[m]`. The model sees all
        edges of the graph, those between asked nodes too; to measure how good it is use `score`.

        Args:
            X: Any graph.
            pairs: Two nodes a pair, `[m, 2]`: indices, which are rows of the embedding.
            ids: Whether `pairs` holds ids instead, as networkx's nodes are named.

        Raises:
            PGNNError: If a node is not one of the graph's.
        """
        check_is_fitted(self, "learner_")
        graph = _read_graph(X, self.learner_.recipe)
        chosen: Any = index_pairs(graph, pairs) if ids else pairs
        return self.learner_.scorer(graph)(chosen)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True  # of a matrix, rows and columns are nodes
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = (self.task or getattr(self.recipe, "task", "link")) == "pair"
        tags.transformer_tags.preserves_dtype = []  # always float32
        return tags

    # ------------------------------------------------------------------ files

    @checked
    def save(self, path: str | Path) -> None:
        """Write the fitted model to one safetensors file, whole or not at all.

        It holds the model and the course of training, not the graph: `embedding_` and `node_ids_`
        are not in it; `transform` gives the same numbers again. `Learner.load` reads it too.
        """
        check_is_fitted(self, "learner_")
        known = {name: getattr(self, name) for name in _OF_FIT if hasattr(self, name)}
        if "history_" in known:
            known["history_"] = [asdict(epoch) for epoch in known["history_"]]
        self.learner_.save(path, fit=known)

    @classmethod
    @checked
    def load(cls, path: str | Path, *, device: str = "cpu") -> PGNNEmbedding:
        """Read what `save` wrote, or `model.safetensors` of a run directory of `pgnn train`.

        Nothing in the file is executed. Parameters that were None, for the size of the graph to
        decide, are as they were decided.

        Raises:
            PGNNError: If the file is absent, damaged, of a newer format, or something else.
        """
        learner = load_learner(path, device=device)
        known = load_checkpoint(path)[1].get("fit", {})
        estimator = cls(recipe=learner.recipe, device=device)
        estimator._adopt(learner)
        try:
            for name in _OF_FIT:
                if name in known:
                    setattr(estimator, name, known[name])
            if "history_" in known:
                estimator.history_ = [Epoch(**epoch) for epoch in known["history_"]]
        except TypeError as error:
            raise PGNNError(f"{path}: the course of training is damaged ({error})") from error
        return estimator

    def __getstate__(self) -> dict[str, Any]:
        """Leave torch's modules out of a pickle: the bytes of a safetensors file stand for them."""
        state = dict(super().__getstate__())
        learner = state.pop("learner_", None)
        if learner is not None:
            state["learner_"] = (_pack(learner), str(learner.device))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        packed = state.pop("learner_", None)
        super().__setstate__(state)
        if packed is not None:
            self.learner_ = _unpack(*packed)

    # ------------------------------------------------------------------ parts

    def _recipe(self) -> Recipe:
        base = Recipe() if self.recipe is None else self.recipe
        if not isinstance(base, Recipe):
            raise PGNNError(Parameter("recipe"), f" must be a Recipe (got {base!r})")
        flat = {"task": self.task, "model": self.model, "epochs": self.epochs}
        changes = {name: _plain(value) for name, value in flat.items() if value is not None}
        if self.random_state is not None:
            seed = _plain(self.random_state)
            changes["seed"] = checks.integer("random_state", seed, at_least=0)
        return replace(base, **changes)

    def _adopt(self, learner: AnyLearner) -> None:
        self.learner_ = learner
        self.num_sets_ = learner.num_sets
        self._n_features_out = learner.embedding_width
        if learner.num_features:
            self.n_features_in_ = learner.num_features
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_


def _read(X: GraphLike, y: ArrayLike | None, recipe: Recipe) -> Graph:
    graph = _read_graph(X, recipe)
    return with_labels(graph, y) if recipe.task == "pair" else graph


def _read_graph(X: GraphLike, recipe: Recipe) -> Graph:
    """Read a graph; of repeated edges strengths add up, and the shortest length stays."""
    return as_graph(X, repeats="sum" if recipe.weights == "strength" else "shortest")


def _test_auc(learner: AnyLearner, graph: Graph) -> float | None:
    split = split_graph(graph, learner.recipe)  # of the training graph, the split of training
    if not len(split.test):
        return None
    return roc_auc(split.test.labels, learner.scorer(split.graph)(split.test.pairs))


def _plain(value: Any) -> Any:
    """Return numpy's numbers, which a search over settings gives, as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _tell(record: Epoch) -> None:
    if record.val_auc is not None:
        print(f"epoch {record.epoch}: loss {record.loss:.4f}, validation AUC {record.val_auc:.4f}")


def _pack(learner: AnyLearner) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "learner")
        return (Path(folder) / "learner").read_bytes()


def _unpack(data: bytes, device: str) -> AnyLearner:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        path.write_bytes(data)
        try:
            return load_learner(path, device=device)
        except PGNNError:
            if device == "cpu":
                raise
            warnings.warn(f"device {device!r} is not there; the model is on the CPU", stacklevel=3)
            return load_learner(path)
