"""Training curves for TensorBoard, an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.training.fit import Epoch, Progress


@contextmanager
def tensorboard_log(folder: str | Path) -> Iterator[Progress]:
    """Give a function for `fit`'s `progress` that writes losses and AUCs for TensorBoard.

    Raises:
        PGNNError: If tensorboard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise PGNNError(
            "tensorboard is not installed; pip install 'position-gnn[tensorboard]'"
        ) from error
    writer: Any = SummaryWriter(str(folder))

    def log(epoch: Epoch) -> None:
        for name in ("loss", "val_auc", "test_auc"):
            value = getattr(epoch, name)
            if value is not None:
                writer.add_scalar(name, value, epoch.epoch)

    try:
        yield log
    finally:
        writer.close()
