"""Commands killed by SIGKILL: no half file, and training ends as if nothing had happened."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kill_commands.py")


def killed(what, folder):
    seed = random.randrange(1000)  # other moments each time; a failure shows it
    command = [sys.executable, str(SCRIPT), what, str(folder), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_killed_training_resumes_to_the_same_result(trained):
    found = killed("train", trained)
    assert found["broken"] == []
    assert found["killed"] > 0
    assert found["same"]
    assert found["litter"] == []


def test_killed_reproduce_resumes_to_the_same_tables(tmp_path):
    found = killed("reproduce", tmp_path)
    assert found["same"]
    assert found["litter"] == []


@pytest.mark.parametrize("what", ["embed", "predict", "report"])
def test_killed_command_leaves_the_old_file_or_the_new_one(trained, what):
    found = killed(what, trained)
    assert found["different"]
    assert found["old"] + found["new"] > 0
    assert found["neither"] == 0
    assert found["litter"] == []
