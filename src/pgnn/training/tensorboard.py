"""Training curves for TensorBoard, an extra."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.training.fit import Epoch

_CURVES = ("loss", "val_auc", "test_auc")


class TensorBoardLog:
    """A listener of training that writes losses and AUCs for TensorBoard.

    Pass it as `progress`. The folder is made when the first epoch is over, so a mistake found
    before leaves none.

    Args:
        folder: Where to write.

    Raises:
        PGNNError: If tensorboard is not installed, or there is a file where the folder should be.
    """

    def __init__(self, folder: str | Path) -> None:
        if find_spec("tensorboard") is None:
            raise PGNNError("tensorboard is not installed; pip install 'position-gnn[tensorboard]'")
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise PGNNError(f"{self.folder}: is a file; give a folder to write curves to")
        self._writer: Any = None

    def __call__(self, epoch: Epoch) -> None:
        """Write what an epoch has of each curve."""
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.folder))
        for name in _CURVES:
            value = getattr(epoch, name)
            if value is not None:
                self._writer.add_scalar(name, value, epoch.epoch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Write what is still in memory."""
        if self._writer is not None:
            self._writer.close()
