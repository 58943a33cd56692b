"""Recipe: all that decides what training on one's own graph does, apart from the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.training.fit import FitSettings

MODEL_NAMES = (
    *("pgnn-best", "pgnn-f-1l", "pgnn-f-2l", "pgnn-e-1l", "pgnn-e-2l", "pgnn-p-2l"),
    *("gcn", "sage", "gat", "gin", "mlp"),
)
_CHOICES = {
    "task": ("link", "pair"),
    "model": MODEL_NAMES,
    "decoder": ("distance", "dot"),
    "weights": ("length", "strength"),
    "scheme": ("bernoulli", "fixed"),
}
_LARGE = 5_000  # nodes
_AT_LEAST_ONE = ("hidden_channels", "epochs", "eval_every", "eval_draws", "max_pairs")


_Value = TypeVar("_Value")


def _setting(default: _Value, help_text: str) -> _Value:
    """Declare a field that is an option of `pgnn train`, with the help shown there."""
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class Recipe:
    """How to train on a graph of one's own. The defaults are what the library recommends.

    Attributes:
        task: "link": is there an edge between two nodes? "pair": have they the same label?
        model: A P-GNN of `pgnn.nn.PRESETS`, or a baseline: gcn, sage, gat, gin, mlp.
        decoder: How two embeddings become a score: "distance" or "dot".
        hidden_channels: Width of a P-GNN; of a baseline, the length of its embeddings.
        dropout: Chance of a number between layers to be dropped in training.
        num_sets: Number of anchor-sets; None for the model's c log^2 n.
        scheme: How anchor-sets are sampled: "bernoulli" or "fixed".
        weights: What weights of edges say: "length" (nodes far apart) or "strength" (close).
        val: Share of the pairs that the best epoch is chosen by.
        test: Share of the pairs that the result is judged by.
        folds: Task "link": training edges are hidden a fold at a time and predicted from the
            others, as missing links will be. 0: all are visible while they are learnt (the paper).
            None: 5, of a large graph 2.
        epochs: Most passes over the training pairs.
        lr: Learning rate of Adam.
        weight_decay: Adam's.
        eval_every: Epochs between evaluations; None: 5, of a large graph 1.
        patience: Evaluations without a better validation AUC after which to stop; None for never.
        eval_draws: Anchor draws that final scores are averaged over.
        max_pairs: Most pairs learnt from in one step, drawn anew each time; None for all.
        seed: Decides split, weights, anchors and dropout.

    Raises:
        PGNNError: If a value is not one of those.

    Example:
        >>> Recipe(task="pair").model
        'pgnn-best'
    """

    task: Literal["link", "pair"] = _setting(
        "link", "What to learn. link: is there an edge? pair: do both nodes have the same label?"
    )
    model: str = _setting("pgnn-best", f"What to train: {', '.join(MODEL_NAMES)}.")
    decoder: Literal["distance", "dot"] = _setting(
        "distance", "What of two embeddings is turned into a score."
    )
    hidden_channels: int = _setting(32, "Width of the model.")
    dropout: float = _setting(0.5, "Chance that a number between layers is dropped.")
    num_sets: int | None = _setting(
        None, "Number of anchor-sets. Default: c log^2 n, with the c of the model."
    )
    scheme: Literal["bernoulli", "fixed"] = "bernoulli"
    weights: Literal["length", "strength"] = _setting(
        "length", "What a large weight means. length: far apart. strength: close together."
    )
    val: float = _setting(0.1, "Share of the pairs that the best epoch is chosen by.")
    test: float = _setting(0.1, "Share of the pairs that the result is judged by; 0 for none.")
    folds: int | None = _setting(
        None,
        "Task link: hide the training edges in this many parts, one part at a time; 0 hides none. "
        "Default: 5, for a large graph 2.",
    )
    epochs: int = _setting(200, "Most passes over the training pairs.")
    lr: float = _setting(0.01, "Learning rate.")
    weight_decay: float = 5e-4
    eval_every: int | None = None
    patience: int | None = _setting(8, "Stop after this many evaluations without progress.")
    eval_draws: int = 8
    max_pairs: int | None = 200_000
    seed: int = _setting(0, "Decides the split, first weights, anchor-sets and dropout.")

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise PGNNError(
                    f"{name} must be one of {', '.join(allowed)} (got {getattr(self, name)!r})"
                )
        for name in (*_AT_LEAST_ONE, "num_sets", "patience", "folds", "seed"):
            self._check_integer(name, 0 if name in ("folds", "seed") else 1)
        for name in ("dropout", "lr", "weight_decay", "val", "test"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise PGNNError(f"{name} must be a number (got {value!r})")
        if not 0 <= self.dropout < 1:
            raise PGNNError(f"dropout must be at least 0 and below 1 (got {self.dropout:g})")
        if not (0 < self.lr < math.inf and 0 <= self.weight_decay < math.inf):
            raise PGNNError(
                "lr must be positive and weight_decay not negative, both finite "
                f"(got {self.lr:g} and {self.weight_decay:g})"
            )
        if not (0 < self.val < 1 and 0 <= self.test < 1 and self.val + self.test < 1):
            raise PGNNError(
                "val must be positive, test not negative, and both together below 1 "
                f"(got {self.val:g} and {self.test:g})"
            )
        if self.folds == 1:
            raise PGNNError("folds must be 0 or at least 2: one fold would hide every edge")

    def _check_integer(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if value is None and name in ("num_sets", "patience", "max_pairs", "folds", "eval_every"):
            return
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PGNNError(f"{name} must be an integer of at least {least} (got {value!r})")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """Make a recipe of what `dataclasses.asdict` gave.

        Raises:
            PGNNError: If a name is unknown or a value is not allowed.
        """
        known = {setting.name for setting in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise PGNNError(f"there is no setting {unknown[0]!r}; the settings are {sorted(known)}")
        return cls(**values)

    def resolved(self, num_nodes: int) -> Recipe:
        """Decide what was left open by the size of the graph.

        A step on a large graph takes seconds and teaches more, so it has fewer steps an epoch.
        """
        large = num_nodes > _LARGE
        folds, eval_every = self.folds, self.eval_every
        return replace(
            self,
            folds=(2 if large else 5) if folds is None else folds,
            eval_every=(1 if large else 5) if eval_every is None else eval_every,
        )

    def fit_settings(self) -> FitSettings:
        """Return what `pgnn.training.fit.fit` reads of it."""
        from pgnn.training.fit import FitSettings

        return FitSettings(
            epochs=self.epochs,
            lr=self.lr,
            lr_drop=None,
            weight_decay=self.weight_decay,
            batch_graphs=1,
            eval_every=self.eval_every or 5,
            patience=self.patience,
            eval_draws=self.eval_draws,
            max_pairs=self.max_pairs,
        )
