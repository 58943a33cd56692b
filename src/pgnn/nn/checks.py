"""Checks of what users give to layers and models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pgnn.errors import PGNNError
from pgnn.nn.positions import Positions, as_positions
from pgnn.nn.whole_sets import MemberProximity


def check_choice(name: str, value: object, valid: Sequence[str]) -> None:
    """Raise if a value is not one of the valid ones."""
    if value not in valid:
        raise PGNNError(f"{name} must be one of {', '.join(valid)} (got {value!r})")


def check_features(x: Tensor, in_channels: int, parameter: Tensor) -> None:
    """Raise if x is not finite floats `[n, in_channels]` of the parameters' type and device."""
    if not isinstance(x, Tensor):
        raise PGNNError(f"x must be a tensor (got {type(x).__name__}); use torch.as_tensor(x)")
    if x.ndim != 2 or x.shape[1] != in_channels:
        raise PGNNError(f"x must have shape [n, {in_channels}] (got {list(x.shape)})")
    if not x.is_floating_point():
        raise PGNNError(f"x must be floating-point features (got {x.dtype}); use x.float()")
    if x.device != parameter.device:
        raise PGNNError(
            f"x is on {x.device} but the model is on {parameter.device}; move one of them"
        )
    if x.dtype != parameter.dtype:
        raise PGNNError(
            f"x is {x.dtype} but the model is {parameter.dtype}; use x.to({parameter.dtype})"
        )
    if x.is_meta or math.isfinite(x.sum().item()):  # far cheaper than asking each number
        return
    bad = (~torch.isfinite(x)).any(1).nonzero()
    if len(bad):
        row = int(bad[0])
        raise PGNNError(f"x must be finite, but row {row} holds NaN or infinity")


def prepare_distances(x: Tensor, distances: Any, agg_m: str) -> Positions | MemberProximity:
    """Return distances in the form that layers read, checked against x and AGG_M."""
    prepared: Positions | MemberProximity
    if not isinstance(distances, Positions) and isinstance(distances, MemberProximity):
        if agg_m == "closest":
            raise PGNNError(
                "agg_m='closest' reads pgnn.anchor_distances(graph, sets); distances to all "
                "members are for agg_m 'mean', 'min', 'max' or 'sum'"
            )
        prepared = distances
    else:
        prepared = as_positions(distances)
        if prepared.members is not None and agg_m != "mean":
            raise PGNNError(
                f"these proximities are of whole sets, which speak with their mean; the layer has "
                f"agg_m={agg_m!r}, make it with agg_m='mean'"
            )
        if prepared.members is None and agg_m != "closest":
            raise PGNNError(
                f"agg_m={agg_m!r} needs the distance to every member, "
                "pgnn.MemberDistances(graph, sets); these know only the nearest"
            )
    if prepared.num_nodes != len(x):
        raise PGNNError(
            f"x has {len(x)} rows, but the distances are of a graph of {prepared.num_nodes} nodes"
        )
    if prepared.num_sets == 0:
        raise PGNNError("at least one anchor-set is needed (got distances to none)")
    if isinstance(prepared, Positions):
        if prepared.device != x.device:
            if isinstance(distances, Positions):
                raise PGNNError(
                    f"x is on {x.device} but the positions are on {prepared.device}; "
                    "use positions.to(x.device)"
                )
            prepared = prepared.to(x.device)
        floats = prepared.proximity if prepared.levels is None else prepared.levels
        if floats is not None and floats.dtype != x.dtype:
            prepared = prepared.to(dtype=x.dtype)
    return prepared
