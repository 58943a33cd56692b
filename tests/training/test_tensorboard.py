import sys

import pytest

from pgnn import PGNNError
from pgnn.training.fit import Epoch
from pgnn.training.tensorboard import TensorBoardLog


def test_losses_and_aucs_are_logged(tmp_path):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with TensorBoardLog(tmp_path / "deep" / "logs") as log:
        assert not (tmp_path / "deep").exists()  # not before there is something to write
        log(Epoch(1, 0.5))
        log(Epoch(2, 0.25, val_auc=0.75, test_auc=0.7))
    logged = accumulators.EventAccumulator(str(tmp_path / "deep" / "logs")).Reload()
    assert [(event.step, event.value) for event in logged.Scalars("loss")] == [(1, 0.5), (2, 0.25)]
    assert [(event.step, event.value) for event in logged.Scalars("val_auc")] == [(2, 0.75)]
    assert "test_auc" in logged.Tags()["scalars"]


def test_without_tensorboard_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(PGNNError, match=r"position-gnn\[tensorboard\]"):
        TensorBoardLog(tmp_path)


def test_file_in_the_place_of_the_folder_is_noticed_at_once(tmp_path):
    (tmp_path / "logs").write_text("")
    with pytest.raises(PGNNError, match="logs: is a file; give a folder"):
        TensorBoardLog(tmp_path / "logs")
