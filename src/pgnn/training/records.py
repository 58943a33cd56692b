"""How to train, and what training found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pgnn.errors import PGNNError


@dataclass(frozen=True)
class FitSettings:
    """How to train. The defaults are those of the released code.

    Attributes:
        epochs: Passes over the training graphs.
        lr: Learning rate of Adam.
        lr_drop: Epoch from which on the rate is a tenth; None for never.
        weight_decay: Adam's.
        batch_graphs: Graphs a step, joined to a disjoint union.
        eval_every: Epochs between evaluations.
        patience: Evaluations without a better validation AUC after which to stop; None for never.
        eval_draws: Anchor draws that scores are averaged over when the best state is judged.
        reuse_draw: Whether evaluation reuses the anchors of the last training pass (released).
        max_pairs: Most training pairs scored a step, drawn anew each time; None for all.
    """

    epochs: int = 2000
    lr: float = 0.01
    lr_drop: int | None = 200
    weight_decay: float = 5e-4
    batch_graphs: int = 8
    eval_every: int = 10
    patience: int | None = None
    eval_draws: int = 1
    reuse_draw: bool = False
    max_pairs: int | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_graphs", "eval_every", "eval_draws"):
            if getattr(self, name) < 1:
                raise PGNNError(f"{name} must be a positive integer (got {getattr(self, name)})")
        for name in ("patience", "max_pairs", "lr_drop"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise PGNNError(f"{name} must be a positive integer (got {value})")
        if not (self.lr > 0 and self.weight_decay >= 0):
            raise PGNNError("lr must be positive and weight_decay not negative")


@dataclass(frozen=True)
class Epoch:
    """One line of the history; AUCs where it was evaluated."""

    epoch: int
    loss: float
    val_auc: float | None = None
    test_auc: float | None = None


@dataclass
class Fit:
    """What training found: history, the best epoch by validation AUC, and how long it took."""

    history: list[Epoch] = field(default_factory=list)
    best_epoch: int = 0
    val_auc: float = -math.inf
    test_auc: float | None = None
    seconds: float = 0.0
    stopped_early: bool = False
