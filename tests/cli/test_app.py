"""The command as a whole: help, exit codes, what goes to stdout, and the path of a user."""

import inspect
import os
import subprocess
import sys

import polars as pl
import pytest

from cli_helpers import FEW, community_edges, document, metrics_of, write_table

COMMANDS = [
    *(["datasets"], ["train"], ["evaluate"], ["embed"], ["predict"], ["explain"]),
    ["distances"],
    *(["report"], ["reproduce"]),
    *(["bench", "distances"], ["bench", "layer"], ["bench", "train"], ["bench", "pairs"]),
    *(["bench", "updates"], ["bench", "scale"]),
]
ODD_NAMES = ["a [b]", "[red]x[/red]", "[/]", "müller", "東京", "O'Hara", "-1", "007", "x y"]


def pgnn_command(*arguments):
    command = [sys.executable, "-m", "pgnn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_version_is_the_package_version():
    import pgnn

    done = pgnn_command("--version")
    assert done.stdout == f"pgnn {pgnn.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["bench"], *COMMANDS])
def test_help_explains(command, arguments):
    done = command(*arguments, "--help")
    assert done.code == 0
    assert "Usage" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", COMMANDS)
def test_help_of_every_command_has_an_example(command, arguments):
    text = command(*arguments, "--help").stdout
    assert "xample" in text
    assert f"pgnn {' '.join(arguments)}" in text.split("xample", 1)[1]


@pytest.mark.parametrize("arguments", [[], ["bench"], *COMMANDS])
def test_help_fits_in_80_columns_as_it_is_written(command, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "80")
    text = command(*arguments, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    shown = [line.strip() for line in text.splitlines()]
    help_text = typer_command(arguments).help
    for line in inspect.cleandoc(help_text).splitlines():
        assert line.strip() in shown, "the line is too long for a narrow terminal"


def typer_command(arguments):
    from typer.main import get_command

    from pgnn.cli.app import app

    found = get_command(app)
    for name in arguments:
        found = found.commands[name]
    return found


def test_every_command_is_in_the_list_of_these_tests():
    top = typer_command([]).commands
    names = [[name] for name in top if name != "bench"]
    names += [["bench", name] for name in top["bench"].commands]
    assert sorted(names) == sorted(COMMANDS)


def test_no_command_reaches_under_io():
    from pathlib import Path

    import pgnn.cli

    for path in Path(pgnn.cli.__file__).parent.glob("*.py"):
        assert "from pgnn.io." not in path.read_text(), path.name


def test_help_costs_little_time():
    code = """
import resource, sys
from pgnn.cli.app import main
sys.argv = ["pgnn", "--help"]
try:
    main()
except SystemExit:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_utime, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stderr) < 1.0  # seconds of work; about 0.4


def test_a_command_loads_no_other_command():
    code = """
import sys
from pgnn.cli.app import main
sys.argv = ["pgnn", "embed", "--help"]
try:
    main()
except SystemExit:
    print([name for name in ("train", "embed", "bench") if f"pgnn.cli.{name}" in sys.modules],
        file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "['embed']\n"


@pytest.mark.parametrize("arguments", [["--help"], ["datasets"], ["datasets", "--json"]])
def test_light_commands_import_no_heavy_library(arguments):
    code = f"""
import sys
from pgnn.cli.app import main
sys.argv = ["pgnn", *{arguments!r}]
try:
    main()
except SystemExit as ended:
    heavy = {{"torch", "numba", "polars", "sklearn", "jinja2"}} & set(sys.modules)
    print(ended.code, sorted(heavy), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "0 []\n"
    assert done.stdout


def test_completion_is_offered(command, monkeypatch):
    help_text = command("--help").stdout
    assert "--install-completion" in help_text
    assert "--show-completion" in help_text
    monkeypatch.setenv("_PGNN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "pgnn ev")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert command().stdout.split() == ["evaluate"]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("pgnn train edges.csv --model pgnn-e", "pgnn-e-1l pgnn-e-2l"),
        ("pgnn train edges.csv --model pgnn-b", "pgnn-best"),
        ("pgnn train edges.csv --task p", "pair"),
        ("pgnn train grid --protocol r", "released"),
        ("pgnn evaluate run edges.csv --negatives t", "two-hop"),
        ("pgnn predict run edges.csv --device c", "cpu cuda"),
        ("pgnn reproduce t", "table1 table2"),
        ("pgnn reproduce links --model h", "heuristics"),
    ],
)
def test_values_of_options_are_completed(command, monkeypatch, typed, words):
    monkeypatch.setenv("_PGNN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert sorted(command().stdout.split()) == words.split()


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "no such command 'nosuch'"),
        (["evaluate"], "missing argument"),
        (["train", "grid", "--epochs", "many"], "--epochs"),
        (["train", "grid", "--seed", "-1"], "--seed"),
        (["train", "grid", "--threads", "0"], "--threads"),
        (["train", "grid", "--nosuch"], "--nosuch"),
        (["reproduce"], "missing argument"),
        (["reproduce", "grid", "--runs", "0"], "--runs"),
        (["reproduce", "grid", "--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_options_are_explained_with_exit_code_2(command, arguments, message):
    done = command(*arguments)
    assert done.code == 2
    assert message in done.stderr
    assert done.stderr.startswith("pgnn: ")
    assert done.stderr.endswith("--help`\n")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_users_mistake_leaves_no_traceback_in_a_shell():
    done = pgnn_command("train", "nosuch")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("pgnn: nosuch: there is no such file")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [["datasets"], ["datasets", "--json"], ["train", "--help"]])
def test_broken_pipe_gives_no_traceback(arguments):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "pgnn", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode in (0, 1)


def test_error_of_our_own_is_not_hidden(trained, command, monkeypatch):
    from pgnn.prediction import ranking as predict

    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(predict, "predict", broken)
    done = command("predict", "run", "edges.csv")
    assert done.code == 1
    assert "RuntimeError: a bug" in done.stderr


def test_interrupted_question_is_one_line(trained, command, monkeypatch):
    from pgnn.prediction import ranking as predict

    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(predict, "predict", pressed)
    done = command("predict", "run", "edges.csv")
    assert (done.code, done.stdout, done.stderr) == (130, "", "pgnn: stopped\n")


def test_interruption_before_a_command_begins_is_one_line(command, monkeypatch):
    from pgnn.cli import app

    def pressed():
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "together", pressed)
    done = command("predict", "run", "edges.csv")
    assert (done.code, done.stdout, done.stderr) == (130, "", "pgnn: stopped\n")


# ---------------------------------------------------------------------- the path of a user


def odd_name(index):
    return ODD_NAMES[index] if index < len(ODD_NAMES) else f"n{index}"


def strings(folder):
    write_table(folder / "g.csv", [(odd_name(u), odd_name(v)) for u, v in community_edges()])
    return []


def integers(folder):
    edges = community_edges()
    write_table(folder / "g.csv", [(10 * u, 10 * v) for u, v in [*edges, (0, 0), edges[0]]])
    return []


def weighted(folder):
    edges = [(u, v, 0.5 + (u * v) % 5) for u, v in community_edges()]
    write_table(folder / "g.csv", edges, ("u", "v", "km"))
    return ["--weight", "km", "--weights", "length"]


def directed(folder):
    write_table(folder / "g.csv", community_edges(), ("from", "to"))
    return ["--directed"]


def disconnected(folder):
    edges = community_edges()
    write_table(folder / "g.csv", [*edges, *((u + 50, v + 50) for u, v in edges)], ("u", "v"))
    return []


def attributed(folder):
    write_table(folder / "g.csv", community_edges(), ("u", "v"))
    write_table(folder / "x.csv", [(v, v % 4, v / 9) for v in range(24)], ("id", "a", "b"))
    return ["--features", "x.csv"]


KINDS = [strings, integers, weighted, directed, disconnected, attributed]


@pytest.mark.parametrize("write", KINDS, ids=lambda write: write.__name__)
def test_path_from_file_to_report_works_for_graphs_of_every_kind(command, tmp_path, write):
    options = write(tmp_path)
    trained = document(command("train", "g.csv", "--out", "run", *options, *FEW, "--json"))
    stored = metrics_of(tmp_path / "run", without=("format", "sha256"))
    assert trained == {**stored, "run": "run"}
    assert trained["graph"]["directed"] == (write is directed)
    assert trained["graph"]["weighted"] == (write is weighted)
    assert trained["graph"]["features"] == (2 if write is attributed else 0)

    judged = document(command("evaluate", "run", "g.csv", "--json"))
    assert judged["pairs"].startswith("the test pairs of the training graph")
    assert judged["metrics"] == pytest.approx(trained["test"])

    made = document(command("embed", "run", "g.csv", "-o", "z.csv", "--json"))
    ids = pl.read_csv(tmp_path / "z.csv", infer_schema=False)["id"].to_list()
    assert (made["nodes"], made["dimensions"]) == (trained["graph"]["nodes"], 6)
    assert len(set(ids)) == len(ids) == made["nodes"]

    found = document(command("predict", "run", "g.csv", "--top", 3, "-o", "p.csv", "--json"))
    table = pl.read_csv(tmp_path / "p.csv", infer_schema=False)
    assert [str(link["source"]) for link in found["links"]] == table[:, 0].to_list()
    assert [link["score"] for link in found["links"]] == table["score"].cast(float).to_list()
    assert {str(link[end]) for link in found["links"] for end in ("source", "target")} <= set(ids)

    if write in (strings, directed):  # a page takes a second
        written = document(command("report", "run", "-o", "r.html", "--json"))
        assert written["bytes"] == (tmp_path / "r.html").stat().st_size
    if write is strings:
        assert set(ODD_NAMES) < set(ids)
    if write is integers:
        assert (trained["graph"]["dropped_self_loops"], trained["graph"]["dropped_repeats"]) == (
            1,
            1,
        )
        assert all(link["source"] % 10 == 0 for link in found["links"])


def test_quiet_leaves_stderr_empty(trained, command):
    for arguments in (
        ["train", "edges.csv", "--out", "new", *FEW],
        ["evaluate", "run", "edges.csv"],
        ["embed", "run", "edges.csv", "-o", "z.csv"],
        ["predict", "run", "edges.csv"],
        ["report", "run"],
    ):
        done = command(*arguments, "--quiet")
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout


def test_predictions_show_odd_ids_as_they_are(command, tmp_path):
    strings(tmp_path)
    assert command("train", "g.csv", "--out", "run", *FEW).code == 0
    nodes = [option for name in ODD_NAMES for option in ("--node", name)]
    text = command("predict", "run", "g.csv", "--top", 1, *nodes).stdout
    for name in ODD_NAMES:
        assert f"│ {name} " in text


def test_escapes_in_a_file_name_are_shown(command):
    ended = command("train", "a\x1b[2Jb.csv")
    assert ended.code == 2
    assert "\x1b" not in ended.stderr
    assert "a\\x1b[2Jb.csv" in ended.stderr


def test_sigterm_keeps_a_checkpoint_and_says_so(tmp_path):
    write_table(tmp_path / "edges.csv", community_edges(groups=6, size=20))
    script = (
        "import os, signal\n"
        "from pgnn.cli.app import main\n"
        "import pgnn.cli.show as show\n"
        "call = show.TrainingBar.__call__\n"
        "def stop(self, record):\n"
        "    call(self, record)\n"
        "    if record.epoch == 3: os.kill(os.getpid(), signal.SIGTERM)\n"
        "show.TrainingBar.__call__ = stop\n"
        "main()\n"
    )
    options = ["train", "edges.csv", "--out", "run", "--epochs", "50", "--model", "pgnn-e-1l"]
    command = [sys.executable, "-c", script, *options, "--sets", "4"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 143, ended.stderr
    assert "--resume --out run` goes on" in ended.stderr
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()
