"""The stopwatch takes the least time; a process of its own gives back what it measured."""

import os
import subprocess
import sys

import pytest

from pgnn.bench import measure


def test_best_time_is_the_least_of_all_calls():
    ticks = iter([10.0, 13.0, 20.0, 20.5, 30.0, 31.0])
    calls = []
    assert measure.best_time(lambda: calls.append(1), 3, clock=lambda: next(ticks)) == 0.5
    assert len(calls) == 3


@pytest.fixture
def module_path(monkeypatch, tmp_path):
    """Give a folder from which child processes import modules."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_child_gets_arguments_as_words_and_gives_back_json(module_path):
    code = 'import json, os, sys; print(json.dumps({"words": sys.argv[1:], "id": os.getpid()}))'
    (module_path / "some_job.py").write_text(code, encoding="utf-8")
    found = measure.in_child("some_job", "grid", 3, "")
    assert found["words"] == ["grid", "3", ""]
    assert found["id"] != os.getpid()


def test_child_that_fails_is_an_error(module_path):
    (module_path / "failing_job.py").write_text("raise SystemExit(3)", encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        measure.in_child("failing_job")
    assert raised.value.returncode == 3
    assert raised.value.cmd == [sys.executable, "-m", "failing_job"]
