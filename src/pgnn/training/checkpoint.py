"""Tensors and a description in one file: safetensors and JSON, never pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pgnn.checks import checked
from pgnn.distributed.group import current_group, writes_files
from pgnn.errors import Parameter, PGNNError
from pgnn.io.limits import read_file
from pgnn.io.write import open_atomic
from pgnn.positions.anchors import MAX_SETS
from pgnn.training.adam import Adam
from pgnn.training.recipe import Recipe

FORMAT = 2
"""Since 2, the description has the hash of all that was written."""


@checked
def save_checkpoint(
    path: str | Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]
) -> str:
    """Write tensors and a JSON-able description; a crash leaves the old file or the new one.

    Returns:
        The SHA-256 of the file, as it was written.

    Raises:
        PGNNError: If the file cannot be written.
    """
    from safetensors.torch import save

    # Shared memory (tied or viewed tensors) is not allowed in the file.
    plain = {name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}
    text = json.dumps(description)
    # One key: several would be written in an order of their own each time.
    document = {"format": FORMAT, "sha256": _digest(plain, text), "description": description}
    data = save(plain, {"pgnn": json.dumps(document)})
    with open_atomic(Path(path)) as file:
        file.write(data)
    return hashlib.sha256(data).hexdigest()


def _digest(tensors: Mapping[str, Tensor], description: str) -> str:
    """Return the hash of names, types, shapes and numbers, and of the description."""
    digest = hashlib.sha256(description.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


@checked
def load_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the description of a file; nothing in it is executed.

    Raises:
        PGNNError: If the file is absent, damaged, or of a newer format.
    """
    return parse_checkpoint(Path(path), _read(Path(path)))


def _read(path: Path) -> bytes:
    """Return the bytes of a checkpoint."""
    if not path.is_file():
        raise PGNNError(f"{path}: there is no such checkpoint")
    try:
        return read_file(path)
    except OSError as error:
        raise PGNNError(f"{path}: cannot be read ({error.strerror})") from error


def parse_checkpoint(path: Path, data: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the description in the bytes of a file; see `load_checkpoint`."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(data)
        size = int.from_bytes(data[:8], "little")
        document = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["pgnn"])
        written = int(document["format"])
        if written > FORMAT:
            raise PGNNError(
                f"{path}: this checkpoint has format {written}, newer than {FORMAT}; update pgnn"
            )
        description = document["description"]
        if not isinstance(description, dict):
            raise TypeError("its description is no table")
        hashed = document.get("sha256") if written == 1 else document["sha256"]
        if hashed is not None and hashed != _digest(tensors, json.dumps(description)):
            raise ValueError("its contents are not what was written")
    except PGNNError:
        raise
    except (
        *(SafetensorError, LookupError, TypeError, ValueError, AttributeError),
        *(RecursionError, ArithmeticError, RuntimeError),
    ) as error:
        raise PGNNError(f"{path}: the checkpoint is damaged ({error}); delete it") from error
    return tensors, description


def keep_checkpoint(
    path: str | Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]
) -> None:
    """Write a checkpoint of training; of several processes, one does."""
    if writes_files():
        save_checkpoint(path, tensors, description)


def kept_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Return what `keep_checkpoint` wrote, None if nothing; of several processes, one reads it.

    Raises:
        PGNNError: If it cannot be read, or is damaged.
    """
    path, group = Path(path), current_group()
    if group is None:
        return load_checkpoint(path) if path.exists() else None
    data = _read(path) if group.is_first and path.exists() else b""
    data = group.broadcast_bytes(data)
    return parse_checkpoint(path, data) if data else None


def check_widths(recipe: Recipe, num_sets: int, tensors: Mapping[str, Tensor]) -> None:
    """Refuse a description that asks for a model far larger than the tensors beside it.

    Raises:
        ValueError: If there is no tensor as wide as the model, or too many anchor-sets.
    """
    widest = max((max(t.shape, default=0) for t in tensors.values()), default=0)
    if (recipe.hidden_channels or 0) > widest:
        raise ValueError(f"a model of {recipe.hidden_channels} channels is not in it")
    if num_sets > MAX_SETS:
        raise ValueError(f"it has {num_sets} anchor-sets, and {MAX_SETS:,} are the most")


@checked
def pack_training(
    modules: nn.Module, best: Mapping[str, Tensor], optimizer: Adam
) -> dict[str, Tensor]:
    """Return the state of training as tensors: parameters now and at their best, and Adam's."""
    tensors = {f"now.{name}": value for name, value in modules.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    return tensors | {f"adam.{name}": value for name, value in optimizer.state().items()}


@checked
def unpack_training(
    tensors: Mapping[str, Tensor], modules: nn.Module, optimizer: Adam
) -> dict[str, Tensor]:
    """Load what `pack_training` returned, and return the best parameters.

    Raises:
        PGNNError: If an earlier version wrote it, which had another optimizer.
    """

    def under(prefix: str) -> dict[str, Tensor]:
        return {name[len(prefix) :]: t for name, t in tensors.items() if name.startswith(prefix)}

    try:
        optimizer.load_state(under("adam."))
    except KeyError as error:
        raise PGNNError(
            "an earlier version of pgnn wrote this checkpoint, and this one cannot go on from it; "
            "train anew"
        ) from error
    except RuntimeError as error:
        raise PGNNError(Parameter("tensors"), " do not fit the optimizer") from error
    try:
        modules.load_state_dict(under("now."))
    except RuntimeError as error:
        raise PGNNError(
            Parameter("tensors"), f" do not fit the model ({str(error).splitlines()[-1].strip()})"
        ) from error
    return under("best.")
