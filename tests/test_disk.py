"""Disks that are full, folders that cannot be written to, two writers: one line, nothing lost."""

import contextlib
import resource
import shutil
import subprocess

import pytest

from cli_helpers import FEW, listing, run_command
from pgnn.experiments import reproduce
from pgnn.io.write import locked_folder

BYTES = 100  # that a file may have: less than any of these commands writes


@contextlib.contextmanager
def full_disk():
    """Let no file grow beyond a few bytes, as a disk does that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


COMMANDS = {
    "train": ["train", "edges.csv", *FEW, "--out", "{}/new"],
    "embed": ["embed", "run", "edges.csv", "-o", "{}/z.csv"],
    "embed to parquet": ["embed", "run", "edges.csv", "-o", "{}/z.parquet"],
    "predict": ["predict", "run", "edges.csv", "--top", "9", "-o", "{}/p.npz"],
    "evaluate": ["evaluate", "run", "edges.csv", "-o", "{}/e.csv.gz"],
    "report": ["report", "run", "-o", "{}/r.html"],
    "distances": ["distances", "edges.csv", "--sets", "6", "-o", "{}/distances"],
    "reproduce": ["reproduce", "grid-t", "--model", "gcn", "--runs", "1", "--out", "{}/results"],
}


def records(jobs, **options):
    """Stand for hours of training."""
    for job in jobs:
        about = {"column": job.column, "model": job.model, "protocol": job.protocol}
        yield [{**about, "seed": job.seed, "test_auc": 0.8, "seconds": 1.0, "epochs": 2}]


@pytest.fixture
def place(trained, monkeypatch):
    """Be in a folder with a graph and a run."""
    monkeypatch.chdir(trained)
    monkeypatch.setattr(reproduce, "run_jobs", records)
    return trained


def command_in(folder, name):
    return [str(word).format(folder) for word in COMMANDS[name]] + ["--quiet"]


def is_one_line(done):
    assert done.code == 2, done.stderr
    assert done.stderr.startswith("pgnn: ")
    assert len(done.stderr.strip().splitlines()) == 1
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_full_disk_is_one_line_and_keeps_what_was(place, name):
    before = listing(place)
    with full_disk():
        done = run_command(*command_in(".", name))
    assert is_one_line(done)
    after = listing(place)
    assert {path: after.get(path) for path in before} == before
    assert [path for path in after if path.endswith(".tmp")] == []
    shutil.rmtree("results", ignore_errors=True)  # a line that was cut off; readers skip it
    assert run_command(*command_in(".", name)).code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_folder_that_cannot_be_written_to_is_one_line(place, name):
    done = run_command(*command_in("/proc", name))
    assert is_one_line(done)
    assert "/proc" in done.stderr


@pytest.mark.parametrize("name", ["train", "reproduce"])
def test_second_writer_is_told_and_changes_nothing(place, name):
    folder = place / {"train": "new", "reproduce": "results"}[name]
    folder.mkdir()
    with locked_folder(folder):
        done = run_command(*command_in(".", name))
    assert is_one_line(done)
    assert "another process is writing" in done.stderr
    assert listing(folder) == {}


# ---------------------------------------------------------------------- real file systems


@pytest.fixture
def mounted(tmp_path):
    """Give a function that mounts a file system in memory; where that is forbidden, skip."""
    places = []

    def mount(options):
        place = tmp_path / f"mounted{len(places)}"
        place.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            pytest.skip(f"no file system can be mounted here ({error})")
        if ended.returncode:
            pytest.skip(f"no file system can be mounted here ({ended.stderr.strip()})")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_full_file_system_is_one_line_and_keeps_what_was(place, mounted, name):
    """Unlike where files are limited, folders and names of files can still be made."""
    folder = mounted("size=8k")
    older = b"x" * 8192
    (folder / "older").write_bytes(older)
    done = run_command(*command_in(folder, name))
    assert is_one_line(done)
    assert "No space left on device" in done.stderr
    assert (folder / "older").read_bytes() == older
    assert [path for path in listing(folder) if path.endswith(".tmp")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_read_only_file_system_is_one_line_with_the_reason(place, mounted, name):
    folder = mounted("size=64k")
    for path in ("new", "results"):
        (folder / path).mkdir()
    (folder / "z.csv").write_text("older")
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    done = run_command(*command_in(folder, name))
    assert is_one_line(done)
    assert "Read-only file system" in done.stderr
    assert (folder / "z.csv").read_text() == "older"
