"""Recipe: all that decides what training does, apart from the data. FitSettings: its loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

import numpy as np

from pgnn import checks
from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.names import BEST, MODELS, NEGATIVES, TASKS, Negatives, Task

MAX_DRAWS = 1_000  # draws of anchor-sets that scores are averaged over
_LARGE = 5_000  # nodes
# No training needs more, and a run directory from a stranger may ask for it.
_MOST = {
    **dict.fromkeys(("epochs", "batch_graphs", "eval_every", "patience", "lr_drop"), 1_000_000),
    "eval_draws": MAX_DRAWS,
    "max_pairs": 1_000_000_000,
    "hidden_channels": 16_384,
    "num_sets": 100_000,
    "folds": 1_000_000,
}
_MAX_SEED = 2**63 - 1  # torch's
_Value = TypeVar("_Value")


def _setting(default: _Value, help_text: str) -> _Value:
    """Declare a field that is an option of `pgnn train`, with the help shown there."""
    return field(default=default, metadata={"help": help_text})


@checked
@dataclass(frozen=True)
class FitSettings:
    """How the loop over epochs trains a model. The defaults are those of the released code.

    Attributes:
        epochs: Most passes over the training pairs.
        lr: Learning rate of Adam.
        lr_drop: Epoch after which the learning rate is a tenth; None for never.
        weight_decay: Adam's weight decay.
        batch_graphs: Graphs per step, joined to a disjoint union.
        eval_every: Epochs between evaluations.
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
    eval_every: int = 10
    patience: int | None = None
    eval_draws: int = 1
    reuse_draw: bool = False
    max_pairs: int | None = None

    def __post_init__(self) -> None:
        _check_loop(self, optional=("patience", "max_pairs", "lr_drop"))


@checked
@dataclass(frozen=True)
class Recipe:
    """How to train. The defaults are what the library recommends for a graph of one's own.

    None stands for what the model recommends; `resolved` fills it in.

    Attributes:
        task: "link": is there an edge between two nodes? "pair": do they have the same label?
        model: "pgnn-best", a P-GNN of `pgnn.nn.PRESETS`, or a baseline: gcn, sage, gat, gin, mlp.
        variant: Whose reading of a P-GNN: "paper" or "released"; see `pgnn.nn.make_pgnn`.
        decoder: How two embeddings become a score: "distance" or "dot". Not of pgnn-best.
        hidden_channels: Width of the model: 32, of pgnn-best 64, for links of several graphs with
            features 128. Of a baseline, the length of its embeddings.
        dropout: Chance that a number between layers is dropped in training: 0.5. Not of pgnn-best.
        num_sets: Number of anchor-sets: c log^2 n.
        c: The paper's constant c: the model's own.
        scheme: How anchor-sets are sampled: "bernoulli" or "fixed".
        weights: What weights of edges say: "length" (nodes far apart) or "strength" (close).
        val: Share of the pairs that the best epoch is chosen by: 0.1. Not of pgnn-best, which
            chooses by out-of-fold pairs and so can learn from all.
        test: Share of the pairs that the result is judged by.
        negatives: Task "link": which pairs without an edge the result is judged by: "uniform",
            "two-hop" or "degree"; see `pgnn.pairs.negatives.draw_negatives`.
        folds: Task "link": training edges are hidden one fold at a time and predicted from the
            others, as missing links will be: 5, of a large graph 2. 0: all are visible while they
            are learnt (the paper). Not of pgnn-best, which leaves out each pair's own edge.
        judged: Whose scores of test pairs count: "model", the finished model with anchor-sets of
            its own; "epoch", the evaluation of the best epoch, as the paper's experiments have it.
        seed: Decides split, weights, anchors and dropout.
        epochs: Most passes over the training pairs: 200. Of pgnn-best, rounds of up to 100 steps:
            12.
        lr: Learning rate: 0.01, of pgnn-best 0.003.
        weight_decay: Weight decay: 5e-4, of pgnn-best 0.01.
        lr_drop: See `FitSettings`, as for all that follow.
        batch_graphs: Graphs per step.
        eval_every: Epochs between evaluations: 5, of a large graph 1.
        patience: Evaluations without progress after which training stops: 8.
        eval_draws: Anchor draws that final scores are averaged over.
        reuse_draw: Whether evaluation reuses the anchors of the last training pass.
        max_pairs: Most pairs learnt from in one step.

    Raises:
        PGNNError: If a value is not allowed.

    Example:
        >>> Recipe(task="pair").model, Recipe().resolved(100).lr
        ('pgnn-best', 0.003)
    """

    task: Task = _setting(
        "link", "What to learn. link: is there an edge? pair: do both nodes have the same label?"
    )
    model: str = _setting(BEST, f"What to train: {', '.join(MODELS)}.")
    variant: Literal["paper", "released"] = "released"
    decoder: Literal["distance", "dot"] | None = _setting(
        None,
        "What of two embeddings is turned into a score. Default: distance. Not of pgnn-best.",
    )
    hidden_channels: int | None = _setting(
        None, "Width of the model. Default: 32, of pgnn-best 64."
    )
    dropout: float | None = _setting(
        None, "Chance that a number between layers is dropped. Default: 0.5. Not of pgnn-best."
    )
    num_sets: int | None = _setting(
        None, "Number of anchor-sets. Default: c log^2 n, with the c of the model."
    )
    c: float | None = None
    scheme: Literal["bernoulli", "fixed"] = "bernoulli"
    weights: Literal["length", "strength"] = _setting(
        "length", "What a large weight means. length: far apart. strength: close together."
    )
    val: float | None = _setting(
        None,
        "Share of the pairs that the best epoch is chosen by. Default: 0.1. Not of pgnn-best, "
        "which needs none.",
    )
    test: float = _setting(0.1, "Share of the pairs that the result is judged by; 0 for none.")
    negatives: Negatives = _setting(
        "uniform",
        "Task link: which pairs without an edge the result is judged by. two-hop: with a common "
        "neighbour. degree: of nodes with many neighbours. Both are harder to tell from links.",
    )
    folds: int | None = _setting(
        None,
        "Task link: hide the training edges in this many parts, one part at a time; 0 hides none. "
        "Default: 5, for a large graph 2. Not of pgnn-best.",
    )
    judged: Literal["model", "epoch"] = "model"
    seed: int = _setting(0, "Decides the split, first weights, anchor-sets and dropout.")
    epochs: int | None = _setting(
        None,
        "Most passes over the training pairs. Default: 200. Of pgnn-best, rounds of up to 100 "
        "steps. Default: 12.",
    )
    lr: float | None = _setting(None, "Learning rate. Default: 0.01, of pgnn-best 0.003.")
    weight_decay: float | None = None
    lr_drop: int | None = None
    batch_graphs: int = 1
    eval_every: int | None = None
    patience: int | None = _setting(
        None,
        "Stop after this many evaluations without progress. Default: 8. Not of pgnn-best.",
    )
    eval_draws: int = 8
    reuse_draw: bool = False
    max_pairs: int | None = 200_000

    def __post_init__(self) -> None:
        for setting in fields(self):  # numpy's numbers become Python's, which JSON knows
            value = getattr(self, setting.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, setting.name, value.item())
        for name, allowed in _CHOICES.items():
            if name != "decoder" or self.decoder is not None:
                checks.one_of(name, getattr(self, name), allowed)
        _check_loop(self, optional=(*_OPEN, "lr_drop", "max_pairs"))
        for name, least in (("hidden_channels", 1), ("num_sets", 1), ("folds", 0)):
            if getattr(self, name) is not None:
                checks.integer(name, getattr(self, name), at_least=least, at_most=_MOST[name])
        if checks.integer("seed", self.seed, at_least=0) > _MAX_SEED:
            raise PGNNError(Parameter("seed"), f" must be below 2^63 (got {self.seed})")
        for name in ("dropout", "val", "test", "c"):
            if getattr(self, name) is not None:
                checks.number(name, getattr(self, name))
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise PGNNError(
                Parameter("dropout"), f" must be at least 0 and below 1 (got {self.dropout:g})"
            )
        if self.c is not None and self.c <= 0:
            raise PGNNError(Parameter("c"), f" must be positive (got {self.c:g})")
        self._check_shares()
        if self.task == "pair" and self.negatives != "uniform":
            raise PGNNError(
                Parameter("negatives"), " is a setting of task 'link'; leave it out "
                f"(got {self.negatives!r})",
            )  # fmt: skip
        if self.folds == 1:
            raise PGNNError(
                Parameter("folds"), " must be 0 or at least 2: one fold would hide every edge"
            )
        if self.model == BEST:
            for name in _NOT_OF_BEST:
                if getattr(self, name) is not None:
                    raise PGNNError(
                        Parameter(name),
                        f" is not a setting of {BEST}; leave it out, or choose another model",
                    )

    def _check_shares(self) -> None:
        val = 0.1 if self.val is None else self.val
        if not (0 < val < 1 and 0 <= self.test < 1 and val + self.test < 1):
            raise PGNNError(
                Parameter("val"), " must be positive, ", Parameter("test"),
                f" not negative, and both together below 1 (got {val:g} and {self.test:g})",
            )  # fmt: skip

    @classmethod
    @checked
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """Make a recipe of what `dataclasses.asdict` gave; settings it does not name are default.

        Raises:
            PGNNError: If a name is unknown or a value is not allowed.
        """
        known = {setting.name for setting in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise PGNNError(f"there is no setting {unknown[0]!r}; the settings are {sorted(known)}")
        return cls(**values)

    @checked
    def resolved(self, num_nodes: int) -> Recipe:
        """Fill in what the model recommends for a largest graph of this size.

        A step on a large graph takes seconds and teaches more, so it has fewer steps per epoch.
        """
        large = num_nodes > _LARGE
        if self.model == BEST:
            defaults: dict[str, Any] = dict(_OF_BEST)
        else:
            defaults = {**_OF_OTHERS, "folds": 2 if large else 5, "eval_every": 1 if large else 5}
        changes = {name: value for name, value in defaults.items() if getattr(self, name) is None}
        return replace(self, **changes)

    def fit_settings(self) -> FitSettings:
        """Return what `pgnn.training.fit.fit` reads of a resolved recipe."""
        names = [setting.name for setting in fields(FitSettings)]
        return FitSettings(**{name: getattr(self, name) for name in names})


_CHOICES = {
    "task": TASKS,
    "model": MODELS,
    "variant": ("paper", "released"),
    "decoder": ("distance", "dot"),
    "scheme": ("bernoulli", "fixed"),
    "weights": ("length", "strength"),
    "judged": ("model", "epoch"),
    "negatives": NEGATIVES,
}
_NOT_OF_BEST = ("decoder", "dropout", "val", "folds", "patience", "eval_every", "c")
_OF_BEST = {"hidden_channels": 64, "epochs": 12, "lr": 3e-3, "weight_decay": 1e-2}
_OF_OTHERS = {
    "decoder": "distance",
    "hidden_channels": 32,
    "dropout": 0.5,
    "val": 0.1,
    "epochs": 200,
    "lr": 0.01,
    "weight_decay": 5e-4,
    "patience": 8,
}
_OPEN = ("epochs", "lr", "weight_decay", "eval_every", "patience")  # None: the model decides


def _check_loop(settings: Any, *, optional: tuple[str, ...]) -> None:
    """Check what both classes have."""
    whole = ("epochs", "batch_graphs", "eval_every", "eval_draws", "patience", "max_pairs")
    for name in (*whole, "lr_drop"):
        value = getattr(settings, name)
        if value is not None or name not in optional:
            checks.integer(name, value, at_least=1, at_most=_MOST[name])
    for name in ("lr", "weight_decay"):
        value = getattr(settings, name)
        if value is None and name in optional:
            continue
        checks.number(name, value)
        if value < 0 or (name == "lr" and value == 0):
            kind = "positive" if name == "lr" else "not negative"
            raise PGNNError(Parameter(name), f" must be {kind} (got {value:g})")
