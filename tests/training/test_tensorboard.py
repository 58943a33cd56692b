import sys

import pytest

from pgnn import PGNNError
from pgnn.training.fit import Epoch
from pgnn.training.tensorboard import tensorboard_log


def test_losses_and_aucs_are_logged(tmp_path):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with tensorboard_log(tmp_path) as log:
        log(Epoch(1, 0.5))
        log(Epoch(2, 0.25, val_auc=0.75, test_auc=0.7))
    found = accumulators.EventAccumulator(str(tmp_path)).Reload()
    assert [(event.step, event.value) for event in found.Scalars("loss")] == [(1, 0.5), (2, 0.25)]
    assert [(event.step, event.value) for event in found.Scalars("val_auc")] == [(2, 0.75)]
    assert "test_auc" in found.Tags()["scalars"]


def test_without_tensorboard_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with (
        pytest.raises(PGNNError, match=r"position-gnn\[tensorboard\]"),
        tensorboard_log(tmp_path),
    ):
        pass
