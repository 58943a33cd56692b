"""PairModel: what `pgnn-best` learns, in one module that a file can hold."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pgnn.evaluation.calibration import Calibration
from pgnn.names import Task
from pgnn.nn.heads import PairHeads
from pgnn.pairs.columns import Links, column_names
from pgnn.training.column_scale import NUM_KNOTS, ColumnScale
from pgnn.training.recipe import Recipe
from pgnn.training.seeds import Purpose, seed_of

MEMBERS = 8
_AROUND_MEMBERS = 4  # wider ones, which cost more each
_WIDTH = 64
_DROPOUT = 0.1  # of task "pair", whose graphs differ more than those of links


class PairModel(nn.Module):
    """The heads, the tables that columns are scaled by, and the line that calibrates logits.

    Args:
        task: What the model is asked about pairs.
        num_features: Number of features per node; 0 for none.
        width: Width of the heads.
        links: Which pairs may be links.
        around: Whether task "link" reads the features around both nodes, too.
    """

    knots: Tensor
    scores: Tensor
    line: Tensor

    def __init__(
        self,
        task: Task,
        num_features: int,
        width: int,
        links: Links = "any",
        *,
        around: bool = False,
    ) -> None:
        super().__init__()
        count = len(column_names(task, links))
        # In means over neighbours the other end of a link is one of them, so task "link" reads
        # none, or those of `Surroundings`, without the link.
        inputs = num_features if task == "link" else 2 * num_features
        drop = 0.0 if task == "link" else _DROPOUT
        self.heads = PairHeads(
            count,
            inputs,
            num_members=_AROUND_MEMBERS if around else MEMBERS,
            width=width,
            feature_width=width if around else 32,
            dropout=drop,
            ordered=task == "link" and links != "any",
            around=around,
        )
        self.register_buffer("knots", torch.zeros(count, NUM_KNOTS))
        self.register_buffer("scores", torch.zeros(count, NUM_KNOTS))
        self.register_buffer("line", torch.tensor([1.0, 0.0], dtype=torch.float64))

    @property
    def column_scale(self) -> ColumnScale:
        """The tables that columns are scaled by."""
        return ColumnScale(self.knots.cpu().numpy(), self.scores.cpu().numpy())

    @property
    def calibration(self) -> Calibration:
        """The line through logits."""
        slope, offset = self.line.tolist()
        return Calibration(slope, offset)

    def set_column_scale(self, scale: ColumnScale) -> None:
        """Take over tables."""
        self.knots.copy_(torch.from_numpy(scale.knots))
        self.scores.copy_(torch.from_numpy(scale.scores))

    def set_calibration(self, calibration: Calibration) -> None:
        """Take over a line."""
        self.line.copy_(torch.tensor([calibration.slope, calibration.offset]))


def make_pair_model(recipe: Recipe, num_features: int, links: Links, *, around: bool) -> PairModel:
    """Make a model with the fresh weights that the seed of a recipe gives; see `PairModel`."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed_of(recipe.seed, Purpose.HEAD))
        width = recipe.hidden_channels or _WIDTH
        return PairModel(recipe.task, num_features, width, links, around=around)
