"""Commands killed at random moments: train|embed|predict|report|reproduce FOLDER SEED [KILLS].

FOLDER has edges.csv, and for embed and report a run. Commands run in children that are forked when
all is loaded, on one thread: the seconds this takes are spent once. A child tells the parent
whenever it begins to write a file, and takes its time between writing and renaming, so that kills
fall before, into and after writes. Prints what is left as JSON.
"""

import importlib
import json
import os
import random
import secrets
import shutil
import signal
import sys
import time
import tomllib
import traceback
from pathlib import Path

from cli_helpers import outcome

PAUSE = 0.004
TRAIN = ["train", "edges.csv", "--epochs", "6", "--sets", "4", "--threads", "1", "--quiet"]
WRITES = 6  # of 14 in a run of 6 epochs: a run that is resumed has fewer


def run_child(arguments, pipe):
    """Run the command in this process, which ends with it."""
    from pgnn.cli.app import main
    from pgnn.training import fit as train

    train._CHECKPOINT_SECONDS = -1.0  # after every epoch
    token_hex, replace = secrets.token_hex, os.replace

    def begin(size):
        os.write(pipe, b".")
        time.sleep(PAUSE)
        return token_hex(size)

    def slow_replace(*paths):
        time.sleep(PAUSE)
        replace(*paths)
        time.sleep(PAUSE)

    secrets.token_hex, os.replace = begin, slow_replace
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    sys.argv = ["pgnn", *arguments]
    code = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)  # never back into the parent's loop


def start(arguments):
    """Fork a child; return its process id and what tells of its writes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        run_child(arguments, write)
    os.close(write)
    return child, read


def run(arguments):
    """Run a command to its end."""
    child, read = start(arguments)
    while os.read(read, 64):
        pass
    os.close(read)
    _, status = os.waitpid(child, 0)
    assert status == 0, arguments


def kill(arguments, *, writes, seconds):
    """Kill a command some time after it began its n-th write; return whether it still ran."""
    child, read = start(arguments)
    while writes and os.read(read, 1):
        writes -= 1
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.close(read)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or status == 0, arguments
    return os.WIFSIGNALED(status)


# ---------------------------------------------------------------------- what is left


def parse(path):
    """Read a file of a run to its end; raises if it is not whole."""
    import numpy as np

    from pgnn.training.checkpoint import load_checkpoint

    if path.suffix == ".safetensors":
        load_checkpoint(path)
    elif path.suffix == ".npz":
        with np.load(path) as file:
            assert {"indptr", "pairs"} <= set(dict(file))
    elif path.suffix == ".json":
        json.loads(path.read_text())
    elif path.suffix == ".toml":
        assert tomllib.loads(path.read_text())["train"]["graph"] == "edges.csv"
    else:
        first, *others = path.read_text().splitlines()
        assert others
        assert path.read_text().endswith("\n")
        assert all(line.count(",") == first.count(",") for line in others)


def broken_files(folder):
    """Return the names of files that are there and not whole; hidden ones have no name yet."""
    found = []
    for path in folder.iterdir() if folder.exists() else ():
        if path.name.startswith("."):
            continue
        try:
            parse(path)
        except Exception as error:
            found.append(f"{path.name}: {error}")
    return found


def litter(folder):
    """Return the names of hidden files that writers left."""
    return sorted(path.name for path in Path(folder).glob(".*.tmp"))


def kill_training(chance, *, kills):
    """Train once in peace, and once killed again and again; compare."""
    run([*TRAIN, "--out", "whole"])
    broken, killed, unfinished, same = [], 0, 0, True
    for _ in range(kills):
        wait = {"writes": chance.randrange(WRITES), "seconds": chance.uniform(0, 4 * PAUSE)}
        is_killed = kill([*TRAIN, "--out", "killed", "--resume"], **wait)
        killed += is_killed
        broken += broken_files(Path("killed"))
        unfinished += not Path("killed/metrics.json").exists()
        if not is_killed:  # it came to its end; kill another
            same = same and outcome(Path("whole")) == outcome(Path("killed"))
            shutil.rmtree("killed")
    run([*TRAIN, "--out", "killed", "--resume"])
    broken += broken_files(Path("killed"))
    return {
        "broken": broken,
        "litter": litter("killed"),
        "killed": killed,
        "unfinished": unfinished,
        "same": same and outcome(Path("whole")) == outcome(Path("killed")),
    }


def kill_writing(chance, name, old, new, *, kills):
    """Write a file, and kill a command that writes another over it; say which is there."""
    path = Path(name)
    run(new)
    after = path.read_bytes()
    found = {"old": 0, "new": 0, "neither": 0}
    run(old)
    before, killed = path.read_bytes(), 0
    for _ in range(kills):
        path.write_bytes(before)
        killed += kill(new, writes=1, seconds=chance.uniform(0, 5 * PAUSE))
        data = path.read_bytes()
        found["old" if data == before else "new" if data == after else "neither"] += 1
    run(new)
    found["killed"] = killed
    return {**found, "different": before != after, "litter": litter(".")}


def kill_report(chance, *, kills):
    """Write one page over another, and be killed in it.

    Each page is made once: what is killed is the writing.
    """
    from pgnn.cli import report

    command = ["report", "run", "-o", "r.html", "--threads", "1", "--quiet", "--top"]
    pages = {}
    for top in (2, 3):
        run([*command, str(top)])
        pages[top] = Path("r.html").read_text()
    report._render = lambda run, computing, top: pages[top]
    return kill_writing(chance, "r.html", [*command, "2"], [*command, "3"], kills=kills)


REPRODUCE = ["reproduce", "grid-t", "--protocol", "paper", "--model", "gcn", "--runs", "4"]


def kill_reproduce(chance, *, kills):
    """Reproduce a column in peace, and killed again and again; compare what is stored.

    Runs of models are replaced by records that are there at once: what is killed is the storing.
    """
    from pgnn.experiments import reproduce

    def records(jobs, **options):
        for job in jobs:
            about = {"column": job.column, "model": job.model, "protocol": job.protocol}
            time.sleep(PAUSE)
            yield [{**about, "seed": job.seed, "test_auc": 0.8 + job.seed / 100, "seconds": 1.0}]

    reproduce.run_jobs = records
    reproduce.missing_for_pictures = lambda: "no pictures here"
    reproduce.is_whole = lambda *_: True
    command = [*REPRODUCE, "--quiet", "--resume"]
    began = time.monotonic()
    run([*command, "--out", "whole"])
    longest = time.monotonic() - began
    killed, same = 0, True
    for _ in range(kills):
        is_killed = kill(
            [*command, "--out", "killed"], writes=0, seconds=chance.uniform(0, longest)
        )
        killed += is_killed
        if not is_killed:
            same = same and stored("whole") == stored("killed")
            shutil.rmtree("killed")
    run([*command, "--out", "killed"])
    return {
        "killed": killed,
        "same": same and stored("whole") == stored("killed"),
        "litter": litter("killed"),
    }


def stored(folder):
    """Return the runs that results hold, and the table that shows them."""
    lines = (Path(folder) / "reproduction.jsonl").read_text().splitlines()
    runs = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # cut off by a kill, and skipped by readers
            continue
        runs[record["seed"]] = record["test_auc"]
    return sorted(runs.items()), (Path(folder) / "reproduction.md").read_text()


def warm_up(*modules):
    """Load what children need; nothing here may start a thread, which a fork would lose."""
    import torch

    torch.set_num_threads(1)
    from pgnn.graph import Graph
    from pgnn.training.pipeline import Problem, train
    from pgnn.training.recipe import Recipe

    for name in (
        "pgnn.cli.app",
        "pgnn.evaluation.evaluate",
        "pgnn.prediction.ranking",
        "pgnn.io",
        "numba.core.event",
        "rich.live",
        *modules,
    ):
        importlib.import_module(name)
    ring = Graph.from_edges([(v, (v + 1) % 20) for v in range(20)])
    recipe = Recipe(epochs=1, num_sets=4)
    train(Problem.of_graph(ring, recipe), recipe).learner.embed(ring)


def main():
    what, folder, seed, *more = sys.argv[1:]
    kills = int(more[0]) if more else None
    os.chdir(folder)
    pages = ("pgnn.report", "jinja2", "sklearn.manifold")
    warm_up(*(pages if what == "report" else ()))
    chance = random.Random(int(seed))
    if what == "train":
        found = kill_training(chance, kills=kills or 6)
    elif what == "embed":
        embed = ["embed", "run", "edges.csv", "-o", "z.csv", "--threads", "1", "--quiet", "--draw"]
        found = kill_writing(chance, "z.csv", [*embed, "0"], [*embed, "1"], kills=kills or 8)
    elif what == "predict":
        predict = ["predict", "run", "edges.csv", "-o", "p.parquet", "--threads", "1", "--quiet"]
        few, more = [*predict, "--top", "2"], [*predict, "--top", "3"]
        found = kill_writing(chance, "p.parquet", few, more, kills=kills or 4)
    elif what == "reproduce":
        found = kill_reproduce(chance, kills=kills or 4)
    else:
        found = kill_report(chance, kills=kills or 3)
    print(json.dumps({**found, "seed": seed}))


if __name__ == "__main__":
    main()
