"""Both kinds of learner by the name of their model: networks of nodes, and heads of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgnn.graph import Graph
from pgnn.names import BEST
from pgnn.training.checkpoint import load_checkpoint
from pgnn.training.learner import Learner, make_learner
from pgnn.training.pair_learner import KIND, PairLearner, make_pair_learner
from pgnn.training.recipe import Recipe

AnyLearner = Learner | PairLearner


def make_any_learner(
    recipe: Recipe, graphs: Sequence[Graph], *, device: str = "cpu", standardise: bool = True
) -> AnyLearner:
    """Make a learner with fresh weights for visible graphs; see `make_learner`."""
    make = make_pair_learner if recipe.model == BEST else make_learner
    return make(recipe, graphs, device=device, standardise=standardise)


def load_learner(path: str | Path, *, device: str = "cpu") -> AnyLearner:
    """Read a learner of either kind; nothing in the file is executed.

    Raises:
        PGNNError: If the file is absent, damaged, of a newer format, or something else.
    """
    kind = load_checkpoint(path)[1].get("kind")
    return (PairLearner if kind == KIND else Learner).load(path, device=device)
