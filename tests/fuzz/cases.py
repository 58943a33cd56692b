"""One case of each kind: made of its number alone, so that a failure can be seen again."""

import os
import random
import shutil
import threading
import traceback
import warnings
from array import array
from collections import Counter, UserList, deque
from datetime import date
from decimal import Decimal
from fractions import Fraction
from io import BytesIO, StringIO
from pathlib import Path

import mutators
from calls import public_calls

from pgnn.checks import shown

CLEAR = ("ok", "refused")


def outcome_of(call):
    """Call, and say how it ended: "ok", "refused" (an error of ours), or what else it raised."""
    from pgnn.errors import PGNNError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except PGNNError:
        return "refused"
    except OSError as error:
        if error.filename is not None:  # which file, and why it cannot be read
            return "refused"
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        if type(error) is TypeError and " must be " in str(error) and "/pgnn/" in where.filename:
            return "refused"  # of ours, as scikit-learn wants it of its estimators
        return f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    return "ok"


# ---------------------------------------------------------------------- files


def one_file(number, folder):
    """Read a mutated graph, table of events, node table or pair file; use what was accepted."""
    from pgnn.distributed import read_partitioned_graph
    from pgnn.graph import Graph
    from pgnn.io import read_events, read_graph, read_pairs

    rng = random.Random(f"file {number}")
    kind = rng.choices(
        ("text", "pairs", "nodes", "events", "gz", "npz", "flipped npz", "graphml", "parquet"),
        (34, 8, 14, 8, 7, 14, 4, 6, 5),
    )[0]
    suffix, data = _contents(rng, kind)
    path = folder / f"case{suffix}"
    path.write_bytes(data)
    if kind == "pairs":
        graph = Graph.from_edges([(v, v + 1) for v in range(11)])
        return outcome_of(lambda: read_pairs(path, graph))
    if kind == "nodes":
        (folder / "edges.csv").write_text("source,target\n0,1\n1,2\n")
        label = rng.choice((None, None, 1, -1, "a", "label"))
        column = rng.choice((None, None, 0, 1, "id", "u"))
        return outcome_of(
            lambda: read_graph(folder / "edges.csv", features=path, label=label, id_column=column)
        )
    if kind == "events":
        time = rng.choice((2, 2, -1, 0, "weight", "x", 99))
        until = rng.choice((None, None, "5", "2024-02", "nan", "x"))
        return outcome_of(lambda: use(read_events(path, time, until=until).graph(), folder))
    if kind in ("text", "parquet") and rng.random() < 0.1:
        return outcome_of(lambda: read_partitioned_graph(path))
    options = _options(rng, suffix) if rng.random() < 0.4 else {}
    return outcome_of(lambda: use(read_graph(path, **options), folder))


def _contents(rng, kind):
    """Return how the name of a file ends, and what is in it."""
    suffix, data = rng.choice((".csv", ".csv", ".tsv", ".txt")), mutators.table(rng)
    if kind in ("text", "pairs", "nodes", "events"):
        mutate = rng.choice((bytes, mutators.mutated_text, mutators.mutated_bytes))
        return suffix, data if mutate is bytes else mutate(rng, data)
    if kind == "gz":
        return f"{suffix}.gz", mutators.gz(rng, data)
    if kind == "npz":
        return ".npz", mutators.npz_matrix(rng)
    if kind == "flipped npz":
        return ".npz", mutators.mutated_bytes(rng, mutators.npz_matrix(rng))
    if kind == "graphml":
        return ".graphml", mutators.graphml(rng)
    data = mutators.parquet(rng)
    return ".parquet", mutators.mutated_bytes(rng, data) if rng.random() < 0.6 else data


def _options(rng, suffix):
    """Return options of `read_graph`, often ones that do not fit."""
    tables = suffix not in (".npz", ".graphml")
    weights = (None, False, 0, 1, 2, -1, "weight", "x", 99) if tables else (None, False, "weight")
    options = {"weight": rng.choice(weights), "directed": rng.choice((None, True, False))}
    options["repeats"] = rng.choice(("sum", "shortest", "shortest", "x"))
    if tables:
        options["header"] = rng.choice((None, True, False))
        if rng.random() < 0.5:
            ends = (0, 1, 2, -1, "source", "u", "target")
            options |= {"source": rng.choice(ends), "target": rng.choice(ends)}
    return options


def use(graph, folder):
    """Search a graph that was read, write its edges, and read these again: they must be the same.

    Ids may be read back as integers, where all of them look like some.
    """
    import numpy as np

    import pgnn
    from pgnn.io import id_array, write_columns

    sets = pgnn.sample_anchor_sets(graph.num_nodes, num_sets=3, rng=0)
    pgnn.anchor_distances(graph, sets)
    names = id_array(graph)
    edges = graph.edges()
    if not len(edges):
        return
    columns = {"source": names[edges[:, 0]], "target": names[edges[:, 1]]}
    write_columns(folder / "back.csv", columns, {})
    again = pgnn.read_graph(folder / "back.csv", directed=True, header=True)
    ends = id_array(again)[again.edges()]
    written = sorted(zip(*(map(str, column) for column in columns.values()), strict=True))
    assert sorted(map(tuple, np.asarray(ends, dtype=str).tolist())) == written, written[:5]


# ---------------------------------------------------------------------- arguments


def one_call(number, folder):
    """Call a public function with one or two wrong arguments."""
    rng = random.Random(f"call {number}")
    name, function, arguments = rng.choice(public_calls(folder))
    arguments = dict(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch does not like some of them
        pool = wrong_values(folder)
    for key in rng.sample(sorted(arguments), min(len(arguments), rng.choice((1, 1, 2)))):
        near = rng.random() < 0.5  # of the right kind, and so past the door
        value = mutators.mutated_argument(rng, arguments[key]) if near else None
        arguments[key] = rng.choice(pool) if value is None else value
    outcome = outcome_of(lambda: function(**arguments))
    if outcome in CLEAR:
        return outcome
    values = {key: shown(value) for key, value in arguments.items()}
    return f"{outcome[:200]} from {name} of {values}"


def wrong_values(folder):
    """Return values that few arguments take.

    A pipe of our own stands for all devices: a function that wrote to /dev/null by renaming would
    take it from every program of the machine.
    """
    pipe = folder / "pipe"
    if not pipe.is_fifo():
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
    import numpy as np
    import scipy.sparse as sp
    import torch

    import pgnn

    bad = sp.csr_array(np.eye(4))
    bad.indices[0] = 10**8
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2)])
    return [
        *(None, True, 0, -1, 3, 2.7, 10**6, 2**40, 10**30, float("nan"), float("inf"), 1j, "", "x"),
        *(b"x", [], {}, (), object(), [[]], [None], [[1, 2], [3]], range(4), {1, 2}, print),
        *(np.zeros(0), np.arange(20), np.arange(20)[::-1], np.arange(40).reshape(20, 2)),
        np.full((20, 16), 10**8),
        np.full((20, 16), -(10**8), dtype=np.int32),
        np.zeros((20, 16), dtype=np.int8),
        np.full((20, 16), np.nan),
        *(np.arange(20).astype(">i4"), np.arange(20.0), np.array("x"), np.array([b"a", "b"], "O")),
        np.arange(21, dtype=np.int64),
        np.full(38, 2**31 - 1, dtype=np.int32),
        np.full(19, -1.0),
        np.full((3, 2), 2**63, dtype=np.uint64),
        *(torch.zeros(20, 16), torch.full((20, 16), 10**8), torch.zeros(20, 16, dtype=torch.int32)),
        torch.full((20, 16), 2**32 + 1),
        torch.zeros(1, 1, dtype=torch.int32).expand(20, 16),
        torch.zeros(20, 2, requires_grad=True),
        torch.zeros(3).to_sparse(),
        *(bad, sp.eye_array(3), graph, [[0], [99]], [[0, 1.5]], ["a", "b"], pipe),
        *odd_objects(),
        *odd_arrays(),
    ]


class Liar:
    """Has a length, a path and an array, until somebody wants one of them."""

    def __len__(self):
        return 3

    def __fspath__(self):
        return 7

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __index__(self):
        raise RuntimeError("no integer")


def odd_objects():
    """Return numbers, texts and containers that are not what one expects of them."""
    endless, deep = [], []
    endless.append(endless)
    for _ in range(5000):
        deep = [deep]
    return [
        *(Liar(), endless, deep, Ellipsis, slice(3), int, (each for each in range(3)), iter([])),
        *(Decimal("NaN"), Decimal(3), Fraction(1, 3), date(2020, 1, 1), 10**400, -(10**5000)),
        *(1e308, 5e-324, -0.0, 2**53 + 1, -(2**63), memoryview(b"abc"), bytearray(b"abc")),
        *(array("d", [1, 2]), deque([1, 2]), Counter("ab"), UserList([1]), frozenset([1])),
        *("a" * 10**6, "\ud800", "\x00", "../../etc", "1e400", "nan", " ", "\n", b"\xff"),
        *(Path("\x00"), Path("/"), Path("a" * 250), Path("a" * 5000), {0: 1}, {"a": {"b": []}}),
        *(BytesIO(b"1"), StringIO("a"), threading.Lock()),
    ]


def odd_arrays():
    """Return arrays, matrices, tensors and tables of kinds that few functions have thought of."""
    import networkx as nx
    import numpy as np
    import polars as pl
    import scipy.sparse as sp
    import torch

    import pgnn

    return [
        *(np.datetime64("NaT"), np.float16(3), np.int8(-1), np.uint8(200), np.uint64(2**64 - 1)),
        *(np.array(5), np.array(np.nan), np.zeros((0, 2)), np.zeros((20, 0)), np.zeros((1,) * 30)),
        *(np.zeros(20, dtype=kind) for kind in ("M8[s]", "S3", "V7", "g", "c16", "i4,f8")),
        np.ma.masked_array(np.arange(20), mask=True),
        np.broadcast_to(np.int64(1), (2**40,)),
        *(sp.coo_array(np.eye(3)), sp.lil_array(np.eye(20)), sp.dok_array((3, 3))),
        *(sp.csr_array(np.eye(20) * np.nan), sp.csr_array(np.eye(20), dtype=complex)),
        *(nx.path_graph(20), nx.MultiDiGraph([(0, 1), (0, 1)]), nx.Graph()),
        *(pl.DataFrame({"a": [1]}), pl.Series([1, 2]), np.random.RandomState(0)),
        *(pgnn.sample_anchor_sets(n, num_sets=2, rng=0) for n in (3, 20)),
        *(torch.zeros(20, 16, device="meta"), torch.zeros(20, 16, dtype=torch.bfloat16)),
        *(torch.zeros(0), torch.tensor(3), torch.tensor(float("nan")), torch.zeros(20, 16).t()),
        *(torch.zeros(20, 16, dtype=kind) for kind in (torch.complex64, torch.bool, torch.uint16)),
        torch.zeros(20, 16).to_sparse_csr(),
        torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]),
        torch.quantize_per_tensor(torch.zeros(20, 16), 0.1, 0, torch.qint8),
        *(torch.nn.Linear(2, 2), torch.Generator(), torch.device("cpu")),
    ]


# ---------------------------------------------------------------------- run directories


def one_run(number, folder):
    """Mutate a run directory, or results, and give it to a command."""
    from cli_helpers import run_command

    rng = random.Random(f"run {number}")
    home = trained(folder)
    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(home, place)
    name = rng.choice(("run", "run", "teams"))
    run = place / name
    kind = rng.choice(
        ("bytes", "metrics", "metrics", "config", "arrays", "model", "odd", "records")
    )
    what = mutate_run(rng, kind, run, place)
    commands = [
        ["predict", run, place / "edges.csv", "--top", "3"],
        ["evaluate", run, place / "edges.csv"],
        ["embed", run, place / "edges.csv", "-o", place / "z.csv"],
        ["report", run, "-o", place / "r.html"],
    ]
    command = rng.choice(commands)
    if kind in ("metrics", "arrays", "odd") and rng.random() < 0.5:
        command = commands[3]
    if kind == "records":
        command = ["report", place / "results", "-o", place / "r.html"]
    if kind == "odd" and what == "resume":
        command = ["train", "--resume", "--out", run]
    before = Path.cwd()
    os.chdir(place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ended = run_command(*command, "--quiet")
    finally:
        os.chdir(before)
    if ended.code == 0:
        return "ok"
    if ended.code == 2 and "Traceback" not in ended.stderr and "pgnn:" in ended.stderr:
        return "refused"
    return f"{command[0]} of {kind} {what}: exit {ended.code}: {ended.stderr[-300:]}"


_trained = {}


def trained(folder):
    """Return a folder with two finished runs and results, made once."""
    if folder in _trained:
        return _trained[folder]
    from cli_helpers import TRAINED_WITH, run_command, write_graph

    home = folder / "home"
    home.mkdir()
    write_graph(home)
    before = Path.cwd()
    os.chdir(home)
    try:
        pair = ["--features", "nodes.csv", "--label", "team", "--task", "pair"]
        for options in (["--out", "run"], [*pair, "--model", "pgnn-e-2l", "--out", "teams"]):
            ended = run_command("train", "edges.csv", *options, *TRAINED_WITH)
            assert ended.code == 0, ended.stderr
    finally:
        os.chdir(before)
    (home / "results").mkdir()
    _trained[folder] = home
    return home


RECORD = {
    "column": "grid-t", "model": "gcn", "protocol": "paper", "seed": 0, "test_auc": 0.9,
    "seconds": 5.9, "settings": {"protocol": "paper"}, "command": "pgnn train grid --seed 0",
    "versions": {"pgnn": "0.1.0"},
}  # fmt: skip


def mutate_run(rng, kind, run, place):
    """Change something; return what, for a report."""
    import io
    import json
    import tomllib

    import numpy as np
    import tomli_w

    from pgnn.training.checkpoint import load_checkpoint, save_checkpoint

    files = sorted(path.name for path in run.iterdir())
    if kind == "bytes":
        name = rng.choice(files)
        data = mutators.mutated_bytes(rng, (run / name).read_bytes())
        (run / name).write_bytes(data)
        rehash(run)
        return name
    if kind == "metrics":
        metrics = json.loads((run / "metrics.json").read_bytes())
        if rng.random() < 0.03:
            (run / "metrics.json").write_bytes(mutators.deep())
            return "deep"
        document = mutators.mutated_tree(rng, metrics)
        (run / "metrics.json").write_bytes(mutators.json_bytes(document))
        return "tree"
    if kind == "config":
        config = tomllib.loads((run / "config.toml").read_text())
        config = mutators.mutated_tree(rng, config)
        try:
            text = tomli_w.dumps(config).encode()
        except Exception:
            text = rng.choice((b"train = 3", b"[train]\ngraph = 3", b"[[train]]", b"\xff"))
        (run / "config.toml").write_bytes(text)
        return "config"
    if kind == "arrays":
        with np.load(run / "graph.npz") as file:
            arrays = dict(file)
        name = rng.choice(list(arrays))
        arrays[name] = mutators.mutated_array(rng, arrays[name])
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        (run / "graph.npz").write_bytes(buffer.getvalue())
        rehash(run)
        return name
    if kind == "model":
        tensors, description = load_checkpoint(run / "model.safetensors")
        description = mutators.mutated_tree(rng, description)
        if not isinstance(description, dict):
            description = {}
        if rng.random() < 0.3:
            tensors.pop(rng.choice(list(tensors)))
        save_checkpoint(run / "model.safetensors", tensors, description)
        rehash(run)
        return "description"
    if kind == "records":
        lines = [mutators.json_bytes(RECORD)]
        changed = (mutators.mutated_tree(rng, RECORD) for _ in range(rng.randint(1, 3)))
        lines.extend(map(mutators.json_bytes, changed))
        if rng.random() < 0.1:
            lines.append(mutators.deep())
        (place / "results" / "reproduction.jsonl").write_bytes(b"\n".join(lines))
        return "records"
    what = rng.choice(("pipe", "device", "folder", "gone", "swap", "resume", "link"))
    path = run / rng.choice(files)
    if what == "resume":
        (run / "metrics.json").unlink()
        name = rng.choice(("checkpoint.safetensors", "config.toml"))
        (run / name).write_bytes(mutators.mutated_bytes(rng, (run / name).read_bytes()))
        return what
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "folder":
        path.mkdir()
    elif what == "swap":
        other = place / ("teams" if run.name == "run" else "run") / path.name
        shutil.copy(other, path)
    elif what == "link":
        path.symlink_to(path.name)
    return f"{what} {path.name}"


def rehash(run):
    """Let metrics.json vouch for what is there, as whoever made it would."""
    import hashlib
    import json

    try:
        metrics = json.loads((run / "metrics.json").read_bytes())
        for name in metrics["sha256"]:
            metrics["sha256"][name] = hashlib.sha256((run / name).read_bytes()).hexdigest()
        (run / "metrics.json").write_text(json.dumps(metrics))
    except (OSError, ValueError, KeyError, TypeError):
        pass


KINDS = {"files": one_file, "arguments": one_call, "runs": one_run}


def warm_up(kind, folder):
    """Do what takes long the first time, so that a case which takes long is a finding."""
    import pgnn

    for more in ({}, {"directed": True}, {"weights": [1.0, 2.5]}):
        use(pgnn.Graph.from_edges([(0, 1), (1, 2)], **more), folder)
    if kind == "arguments":
        public_calls(folder)
    if kind == "runs":
        trained(folder)
