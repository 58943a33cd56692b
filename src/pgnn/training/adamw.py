"""AdamW without torch.optim, which imports torch's compiler: seconds, for a fit of seconds."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_BETAS = (0.9, 0.999)
_EPS = 1e-8


class AdamW:
    """Adam with decoupled weight decay (Loshchilov & Hutter, arXiv:1711.05101).

    Args:
        parameters: What to train.
        decayed: Which of these weight decay shrinks.
        weight_decay: By which share of the learning rate.

    Attributes:
        means: Running means of gradients.
        squares: Running means of their squares.
        num_steps: Steps so far, one number per parameter.
    """

    def __init__(
        self, parameters: Sequence[Tensor], decayed: Sequence[bool], *, weight_decay: float
    ) -> None:
        self.parameters = list(parameters)
        self.means = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]
        self.squares = [torch.zeros_like(m) for m in self.means]
        self.num_steps = [torch.zeros((), device=m.device) for m in self.means]
        places = range(len(self.parameters))
        self._groups = [
            ([i for i in places if decayed[i]], weight_decay),
            ([i for i in places if not decayed[i]], 0.0),
        ]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move all parameters along their gradients and forget the gradients."""
        torch._foreach_add_(self.num_steps, 1)
        for places, decay in self._groups:
            if not places:
                continue
            torch._fused_adamw_(
                [self.parameters[i] for i in places],
                [_gradient(self.parameters[i]) for i in places],
                [self.means[i] for i in places],
                [self.squares[i] for i in places],
                [],
                [self.num_steps[i] for i in places],
                lr=rate,
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                weight_decay=decay,
                eps=_EPS,
                amsgrad=False,
                maximize=False,
            )
        for parameter in self.parameters:
            parameter.grad = None


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None, "backward() comes before step()"
    return parameter.grad
