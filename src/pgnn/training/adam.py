"""Adam and AdamW, the project's optimizer: importing `torch.optim` loads torch's compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

_BETAS = (0.9, 0.999)
_EPS = 1e-8


class Adam:
    """Adam (Kingma & Ba, arXiv:1412.6980); torch's fused kernel moves all parameters in one call.

    A parameter without a gradient stays as it is.

    Args:
        parameters: What to train.
        weight_decay: How much weights shrink.
        decoupled: Whether they shrink by this share of the learning rate (AdamW, Loshchilov &
            Hutter, arXiv:1711.05101). Otherwise this share of a weight is added to its gradient.
        decayed: Which of the parameters shrink; by default all.

    Attributes:
        means: Running means of gradients.
        squares: Running means of their squares.
        num_steps: Steps so far.

    Example:
        >>> weight = torch.ones(1, requires_grad=True)
        >>> weight.sum().backward()
        >>> Adam([weight], weight_decay=0.0).step(0.1)
        >>> weight
        tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        *,
        weight_decay: float,
        decoupled: bool = False,
        decayed: Sequence[bool] | None = None,
    ) -> None:
        self.parameters = list(parameters)
        self.means = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]
        self.squares = [torch.zeros_like(m) for m in self.means]
        device = self.means[0].device if self.means else None
        self.num_steps = torch.zeros((), device=device)
        self._move = torch._fused_adamw_ if decoupled else torch._fused_adam_
        shrinks = [True] * len(self.parameters) if decayed is None else list(decayed)
        states = list(zip(self.parameters, self.means, self.squares, strict=True))
        self._groups = [
            (
                [state for state, chosen in zip(states, shrinks, strict=True) if chosen],
                weight_decay,
            ),
            ([state for state, chosen in zip(states, shrinks, strict=True) if not chosen], 0.0),
        ]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move all parameters along their gradients and forget the gradients."""
        self.num_steps += 1
        for states, decay in self._groups:
            moved = [(*state, state[0].grad) for state in states if state[0].grad is not None]
            if not moved:
                continue
            parameters, means, squares, gradients = zip(*moved, strict=True)
            self._move(
                parameters,
                gradients,
                means,
                squares,
                (),
                (self.num_steps,) * len(moved),
                lr=rate,
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                weight_decay=decay,
                eps=_EPS,
                amsgrad=False,
                maximize=False,
            )
            for parameter in parameters:
                parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint needs to keep; the tensors are not copied."""
        tensors = {"steps": self.num_steps}
        for i, (mean, square) in enumerate(zip(self.means, self.squares, strict=True)):
            tensors |= {f"mean.{i}": mean, f"square.{i}": square}
        return tensors

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what `state` returned.

        Raises:
            KeyError: If something is missing.
        """
        for name, tensor in self.state().items():
            tensor.copy_(tensors[name])
