"""The paper's models by name, as the paper describes them and as the released code builds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pgnn.checks import checked, one_of
from pgnn.nn.model import PGNN


@checked
@dataclass(frozen=True)
class Preset:
    """What a name stands for.

    Attributes:
        num_layers: Number of layers.
        proximity: "hops", to `pgnn.anchor_distances`; "ppr", to `pgnn.anchor_ppr`.
        cutoff: The q of P-GNN-F: hops beyond it count as not reached; None for all.
        agg_m: AGG_M.
        gate: What becomes of s within F; None for the variant's choice.
        c: The paper's constant: k = c log^2 n sets.
        eval_draws: Anchor draws that scores are averaged over in evaluation.
        alpha: Probability that the walk of "ppr" restarts.
        tol: How exact "ppr" is on large graphs.
    """

    num_layers: int
    proximity: Literal["hops", "ppr"] = "hops"
    cutoff: int | None = None
    agg_m: Literal["closest", "mean"] = "closest"
    gate: Literal["none", "scalar", "vector"] | None = None
    c: float = 1.0
    eval_draws: int = 1
    alpha: float = 0.05
    tol: float = 1e-6


PRESETS = {
    "pgnn-f-1l": Preset(1, cutoff=2),
    "pgnn-f-2l": Preset(2, cutoff=2),
    "pgnn-e-1l": Preset(1),
    "pgnn-e-2l": Preset(2),
    "pgnn-p-2l": Preset(2, "ppr", agg_m="mean", gate="vector", c=4.0, eval_draws=8),
}

_PAPER: dict[str, Any] = {"message": "paper", "gate": "none", "sigma": "tanh", "normalize": False}
_RELEASED: dict[str, Any] = {"message": "released", "gate": "scalar", "sigma": None}


@checked
def make_pgnn(
    name: str,
    in_channels: int,
    *,
    variant: Literal["paper", "released"] = "released",
    hidden_channels: int = 32,
    dropout: float = 0.5,
) -> PGNN:
    r"""Build one of the paper's models; `PRESETS[name]` says which distances it reads.

    | | "paper" | "released" |
    |---|---|---|
    | message F | ReLU(W (s [h_v ; h_u]) + b) | ReLU(W [s' h_u ; h_v] + b) |
    | s | 1/(d + 1) | s' = a learned number, an MLP 1 -> r -> 1 of 1/(d + 1) |
    | z | tanh(M w + b) | M w + b |
    | rows of z | as they are | of length 1, with two layers or more |

    Both begin with a Linear to `hidden_channels` and drop out between layers; "pgnn-p-2l" has a
    vector gate in both. The experiments of the paper were run with a layer like the released one.

    Args:
        name: One of `PRESETS`.
        in_channels: Number of features per node.
        variant: Whose reading.
        hidden_channels: Length of messages and of h.
        dropout: Probability that a number of h between layers is dropped in training.

    Raises:
        PGNNError: If a name is unknown.

    Example:
        >>> make_pgnn("pgnn-e-2l", in_channels=1)
        PGNN(1, 32, num_layers=2)
    """
    one_of("name", name, PRESETS)
    one_of("variant", variant, ["paper", "released"])
    preset = PRESETS[name]
    several = preset.num_layers > 1
    settings = _PAPER if variant == "paper" else {**_RELEASED, "normalize": several}
    if preset.gate is not None:
        settings = {**settings, "gate": preset.gate}
    return PGNN(
        in_channels,
        hidden_channels,
        preset.num_layers,
        agg_m=preset.agg_m,
        dropout=dropout,
        **settings,
    )
