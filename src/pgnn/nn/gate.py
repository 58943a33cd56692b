"""A learned function of the proximity, in its place within a message."""

from __future__ import annotations

from torch import Tensor, nn

from pgnn.checks import channels, checked
from pgnn.errors import Parameter, PGNNError


class Gate(nn.Module):
    r"""A learned function of the proximity: s -> Linear(ReLU(Linear(s))), one number or a vector.

    The released code learns one number; a vector opens and closes channels one by one.

    Args:
        hidden_channels: Width of the hidden layer.
        out_channels: Length of the result.
    """

    @checked
    def __init__(self, hidden_channels: int, out_channels: int) -> None:
        super().__init__()
        channels(hidden_channels=hidden_channels, out_channels=out_channels)
        self.hidden = nn.Linear(1, hidden_channels)
        self.out = nn.Linear(hidden_channels, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, as the released code does."""
        for linear in (self.hidden, self.out):
            nn.init.xavier_uniform_(linear.weight, gain=nn.init.calculate_gain("relu"))
            nn.init.zeros_(linear.bias)

    @checked
    def forward(self, s: Tensor) -> Tensor:
        """Return the gate of each proximity, `[..., 1]` -> `[..., out_channels]`."""
        if s.ndim == 0 or s.shape[-1] != 1 or s.dtype != self.hidden.weight.dtype:
            raise PGNNError(
                Parameter("s"),
                f" must be {self.hidden.weight.dtype} of shape [..., 1] "
                f"(got {s.dtype} of shape {list(s.shape)})",
            )
        gate: Tensor = self.out(self.hidden(s).relu())
        return gate
