"""What torchrun says is read, and what it does not say is not made up."""

import pytest

from pgnn.distributed.launch import Launch
from pgnn.errors import PGNNError

LAUNCHED = {"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}


def test_launch_is_read_from_the_environment(monkeypatch):
    for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in LAUNCHED.items():
        monkeypatch.setenv(name, value)
    assert Launch.of_environment() == Launch(1, 4, 1, 4, 0)
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    monkeypatch.setenv("GROUP_RANK", "1")
    assert Launch.of_environment() == Launch(1, 4, 0, 1, 1)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert Launch.of_environment() is None
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(PGNNError, match="WORLD_SIZE must be an integer"):
        Launch.of_environment()
    monkeypatch.delenv("WORLD_SIZE")
    assert Launch.of_environment() is None
