"""What numbers below 1e-38 cost: GraphSAGE on PPI, with them and without.

Run `PGNN_DATA=FOLDER python benchmarks/denormals.py`. Weights that weight decay alone moves shrink
to denormal numbers, with which processors compute many times more slowly; `fit` takes those for
zero (`pgnn.nn.threads.without_denormals`). The same run is timed with that switched off: seconds of
the processor per epoch on one thread, the median of each ten epochs. It writes
results/denormals.json.
"""

from __future__ import annotations

import statistics
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from result_files import write_rows

from pgnn.experiments.run import train_dataset
from pgnn.nn.threads import without_denormals
from pgnn.threads import set_default_threads
from pgnn.training import fit
from pgnn.training.fit import Epoch

_EPOCHS, _TEN = 160, 10


def seconds_by_tens(switch: Any) -> tuple[list[float], float | None]:
    """Train; return the seconds per epoch of each ten epochs, and the validation AUC."""
    seconds: list[float] = []
    last = time.process_time()

    def note(_epoch: Epoch, _most: int) -> None:
        nonlocal last
        now = time.process_time()
        seconds.append(now - last)
        last = now

    with patch.object(fit, "without_denormals", switch):
        outcome = train_dataset(
            "ppi", "link", "sage", protocol="released", epochs=_EPOCHS, progress=note
        )
    tens = [seconds[first : first + _TEN] for first in range(0, _EPOCHS, _TEN)]
    return [round(statistics.median(ten), 4) for ten in tens], outcome.val_auc


def main() -> None:
    """Train twice and write both."""
    torch.set_num_threads(1)
    set_default_threads(1)

    def kept() -> AbstractContextManager[None]:
        return nullcontext()

    rows: list[dict[str, Any]] = []
    for title, switch in (("taken for zero", without_denormals), ("kept", kept)):
        seconds, auc = seconds_by_tens(switch)
        rows.append({"denormals": title, "val_auc": auc, "seconds_per_epoch_by_tens": seconds})
        print(title, auc, *seconds, flush=True)
    times = rows[1]["seconds_per_epoch_by_tens"][-1] / rows[0]["seconds_per_epoch_by_tens"][-1]
    print(f"{times:.1f} times as long with them, in epochs {_EPOCHS - _TEN + 1} to {_EPOCHS}")
    write_rows("denormals", rows)


if __name__ == "__main__":
    main()
