"""Tensors and a description in one file: safetensors and JSON, never pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pgnn.errors import PGNNError
from pgnn.io.write import open_atomic

FORMAT = 1


def save_checkpoint(
    path: str | Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]
) -> None:
    """Write tensors and a JSON-able description; a crash leaves the old file or the new one.

    Raises:
        PGNNError: If the file cannot be written.
    """
    from safetensors.torch import save

    # One key: several would be written in an order of their own each time.
    metadata = {"pgnn": json.dumps({"format": FORMAT, "description": description})}
    # Shared memory (tied or viewed tensors) is not allowed in the file.
    data = save({name: t.detach().contiguous().clone() for name, t in tensors.items()}, metadata)
    with open_atomic(Path(path)) as file:
        file.write(data)


def load_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the description of a file; nothing in it is executed.

    Raises:
        PGNNError: If the file is absent, damaged, or of a newer format.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise PGNNError(f"{path}: there is no such checkpoint")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        document = json.loads(metadata["pgnn"])
        written = int(document["format"])
        if written > FORMAT:
            raise PGNNError(
                f"{path}: this checkpoint has format {written}, newer than {FORMAT}; update pgnn"
            )
        description = document["description"]
        if not isinstance(description, dict):
            raise TypeError("its description is no table")
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        if isinstance(error, PGNNError):
            raise
        raise PGNNError(f"{path}: the checkpoint is damaged ({error}); delete it") from error
    return tensors, description


def pack_training(
    modules: nn.Module, best: Mapping[str, Tensor], optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Return the state of training as tensors: parameters now and at their best, and Adam's."""
    tensors = {f"now.{name}": value for name, value in modules.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value for name, value in state.items()}
    return tensors


def unpack_training(
    tensors: Mapping[str, Tensor], modules: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Load what `pack_training` returned, and return the best parameters."""

    def under(prefix: str) -> dict[str, Tensor]:
        return {name[len(prefix) :]: t for name, t in tensors.items() if name.startswith(prefix)}

    modules.load_state_dict(under("now."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in under("adam.").items():
        index, key = name.split(".", 1)
        state.setdefault(int(index), {})[key] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    return under("best.")
