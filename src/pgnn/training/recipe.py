"""Recipe: all that decides what training does, apart from the data. FitSettings: its loop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from pgnn import checks
from pgnn.errors import Parameter, PGNNError
from pgnn.names import MODELS, TASKS, Task

_LARGE = 5_000  # nodes
_OPTIONAL = ("num_sets", "patience", "max_pairs", "folds", "eval_every", "lr_drop")


@dataclass(frozen=True)
class FitSettings:
    """How the loop over epochs trains. The defaults are those of the released code.

    Attributes:
        epochs: Most passes over the training pairs.
        lr: Learning rate of Adam.
        lr_drop: Epoch after which the learning rate is a tenth; None for never.
        weight_decay: Adam's weight decay.
        batch_graphs: Graphs per step, joined to a disjoint union.
        eval_every: Epochs between evaluations; None: 5, of a large graph 1.
        patience: Evaluations without a better validation AUC after which training stops; None for
            never.
        eval_draws: Anchor draws that final scores are averaged over.
        reuse_draw: Whether evaluation reuses the anchors of the last training pass, as the released
            code does.
        max_pairs: Most pairs learnt from in one step, drawn anew each time; None for all.
    """

    epochs: int = 2000
    lr: float = 0.01
    lr_drop: int | None = 200
    weight_decay: float = 5e-4
    batch_graphs: int = 8
    eval_every: int | None = 10
    patience: int | None = None
    eval_draws: int = 1
    reuse_draw: bool = False
    max_pairs: int | None = None

    def __post_init__(self) -> None:
        for setting in fields(self):  # numpy's numbers become Python's, which JSON knows
            value = getattr(self, setting.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, setting.name, value.item())
        for name in ("epochs", "batch_graphs", "eval_every", "eval_draws", "patience", "max_pairs",
                     "lr_drop"):  # fmt: skip
            self._check_integer(name, at_least=1)
        for name in ("lr", "weight_decay"):
            checks.number(name, getattr(self, name))
        if not (self.lr > 0 and self.weight_decay >= 0):
            raise PGNNError(
                Parameter("lr"), " must be positive and ", Parameter("weight_decay"),
                f" not negative (got {self.lr:g} and {self.weight_decay:g})",
            )  # fmt: skip

    def _check_integer(self, name: str, *, at_least: int) -> None:
        value = getattr(self, name)
        if value is not None or name not in _OPTIONAL:
            checks.integer(name, value, at_least=at_least)


@dataclass(frozen=True)
class Recipe(FitSettings):
    """How to train. The defaults are what the library recommends for a graph of one's own.

    Attributes:
        task: "link": is there an edge between two nodes? "pair": do they have the same label?
        model: A P-GNN of `pgnn.nn.PRESETS`, or a baseline: gcn, sage, gat, gin, mlp.
        variant: Whose reading of a P-GNN: "paper" or "released"; see `pgnn.nn.make_pgnn`.
        decoder: How two embeddings become a score: "distance" or "dot".
        hidden_channels: Width of a P-GNN; of a baseline, the length of its embeddings.
        dropout: Chance that a number between layers is dropped in training.
        num_sets: Number of anchor-sets; None for the model's c log^2 n.
        c: The paper's constant c; None for the model's own.
        scheme: How anchor-sets are sampled: "bernoulli" or "fixed".
        weights: What weights of edges say: "length" (nodes far apart) or "strength" (close).
        val: Share of the pairs that the best epoch is chosen by.
        test: Share of the pairs that the result is judged by.
        folds: Task "link": training edges are hidden one fold at a time and predicted from the
            others, as missing links will be. 0: all are visible while they are learnt (the paper).
            None: 5, of a large graph 2.
        judged: Whose scores of test pairs count: "model", the finished model with anchor-sets of
            its own; "epoch", the evaluation of the best epoch, as the paper's experiments have it.
        seed: Decides split, weights, anchors and dropout.

    The other settings are those of `FitSettings`.

    Raises:
        PGNNError: If a value is not allowed.

    Example:
        >>> Recipe(task="pair").model
        'pgnn-best'
    """

    task: Task = "link"
    model: str = "pgnn-best"
    variant: Literal["paper", "released"] = "released"
    decoder: Literal["distance", "dot"] = "distance"
    hidden_channels: int = 32
    dropout: float = 0.5
    num_sets: int | None = None
    c: float | None = None
    scheme: Literal["bernoulli", "fixed"] = "bernoulli"
    weights: Literal["length", "strength"] = "length"
    val: float = 0.1
    test: float = 0.1
    folds: int | None = None
    judged: Literal["model", "epoch"] = "model"
    seed: int = 0
    epochs: int = 200
    lr_drop: int | None = None
    batch_graphs: int = 1
    eval_every: int | None = None
    patience: int | None = 8
    eval_draws: int = 8
    max_pairs: int | None = 200_000

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, allowed in _CHOICES.items():
            checks.one_of(name, getattr(self, name), allowed)
        for name, least in (("hidden_channels", 1), ("num_sets", 1), ("folds", 0), ("seed", 0)):
            self._check_integer(name, at_least=least)
        for name in ("dropout", "val", "test"):
            checks.number(name, getattr(self, name))
        if not 0 <= self.dropout < 1:
            raise PGNNError(
                Parameter("dropout"), f" must be at least 0 and below 1 (got {self.dropout:g})"
            )
        if self.c is not None and not 0 < checks.number("c", self.c) < math.inf:
            raise PGNNError(Parameter("c"), f" must be positive (got {self.c:g})")
        if not (0 < self.val < 1 and 0 <= self.test < 1 and self.val + self.test < 1):
            raise PGNNError(
                Parameter("val"), " must be positive, ", Parameter("test"),
                " not negative, and both together below 1 "
                f"(got {self.val:g} and {self.test:g})",
            )  # fmt: skip
        if self.folds == 1:
            raise PGNNError(
                Parameter("folds"), " must be 0 or at least 2: one fold would hide every edge"
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """Make a recipe of what `dataclasses.asdict` gave; settings it does not name are default.

        Raises:
            PGNNError: If a name is unknown or a value is not allowed.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise PGNNError(f"there is no setting {unknown[0]!r}; the settings are {sorted(known)}")
        return cls(**values)

    def resolved(self, num_nodes: int) -> Recipe:
        """Decide what was left open by the number of nodes of the largest graph.

        A step on a large graph takes seconds and teaches more, so it has fewer steps per epoch.
        """
        large = num_nodes > _LARGE
        folds, eval_every = self.folds, self.eval_every
        return replace(
            self,
            folds=(2 if large else 5) if folds is None else folds,
            eval_every=(1 if large else 5) if eval_every is None else eval_every,
        )


_CHOICES = {
    "task": TASKS,
    "model": MODELS,
    "variant": ("paper", "released"),
    "decoder": ("distance", "dot"),
    "scheme": ("bernoulli", "fixed"),
    "weights": ("length", "strength"),
    "judged": ("model", "epoch"),
}
