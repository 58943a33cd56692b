"""Errors of the library in the words of the command line, and what a failure leaves."""

import pytest
import typer
from typer.main import get_command

from pgnn.cli.app import app
from pgnn.cli.boundary import Command, nothing_left_behind, with_zeros, word_for
from pgnn.errors import Parameter, PGNNError


@pytest.mark.parametrize(
    ("command", "parameter", "word"),
    [
        ("train", "num_sets", "--sets"),
        ("train", "hidden_channels", "--hidden-channels"),
        ("train", "val", "--val"),
        ("train", "seed", "--seed"),
        ("train", "rng", "--seed"),
        ("train", "random_state", "--seed"),
        ("train", "source", "--source"),
        ("train", "source='a'", "--source 'a'"),
        ("train", "id_column", "--id-column"),
        ("train", "header", "--header"),
        ("train", "header=False", "--no-header"),
        ("train", "directed=True", "--directed"),
        ("train", "weight", "--weight"),
        ("train", "weight=False", "--unweighted"),
        ("train", "y", "--features FILE --label COLUMN"),
        ("train", "resume", "--resume"),
        ("train", "resume=True", "--resume"),
        ("train", "out", "--out"),
        ("train", "path", "GRAPH_OR_DATASET"),
        ("train", "as_json", "--json"),
        ("train", "alpha", None),
        ("evaluate", "share", "--share"),
        ("evaluate", "path", "GRAPH"),
        ("predict", "nodes", "--node"),
        ("predict", "num_sets", None),
        ("reproduce", "num_processes", "--jobs"),
        ("reproduce", "protocols", "--protocol"),
        ("reproduce", "table", "TABLE"),
        ("reproduce", "y", None),
        ("datasets", "data_dir", "--data-dir"),
    ],
)
def test_parameter_is_said_as_the_command_has_it(command, parameter, word):
    assert word_for(parameter, get_command(app).commands[command].params) == word


def one_command(function):
    small = typer.Typer()
    small.command(cls=Command)(function)
    return lambda *words: small(list(words), standalone_mode=False)


def test_command_says_errors_in_its_own_words_and_leaves_other_text_alone():
    def run(sets: int = 3) -> None:
        raise PGNNError(
            "num_sets=web/a.csv: ", Parameter("num_sets"), f" must be even (got {sets})"
        )

    with pytest.raises(PGNNError) as caught:
        one_command(run)("--sets", "5")
    assert str(caught.value) == "num_sets=web/a.csv: --sets must be even (got 5)"


def test_command_of_the_other_name_keeps_the_name_of_the_library():
    def run(count: int = 3) -> None:
        raise PGNNError(Parameter("num_sets"), f" must be even (got {count})")

    with pytest.raises(PGNNError, match=r"^num_sets must be even"):
        one_command(run)()


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("can't allocate memory: 99 bytes"), RuntimeError("a bug")]
)
def test_full_memory_is_the_users_to_change_and_a_bug_is_not(error):
    def run(sets: int = 3) -> None:
        raise error

    expected = RuntimeError if "bug" in str(error) else PGNNError
    with pytest.raises(expected) as caught:
        one_command(run)()
    if expected is PGNNError:
        advice = "there is not enough memory; use a smaller graph or --sets"
        assert str(caught.value) == advice


# ---------------------------------------------------------------------- what is left


def fail(folder, *files, **options):
    def work():
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:
            (folder / name).write_text("new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), nothing_left_behind(folder, **options):
        work()


def test_folders_without_work_are_removed(tmp_path):
    fail(tmp_path / "a" / "b", "begun", unless="work", begun="begun")
    assert list(tmp_path.iterdir()) == []


def test_folders_with_work_stay(tmp_path):
    fail(tmp_path / "a" / "b", "begun", "work", unless="work", begun="begun")
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["begun", "work"]


def test_folders_and_files_that_were_there_stay(tmp_path):
    (tmp_path / "a").mkdir()
    fail(tmp_path / "a", unless="work")
    assert (tmp_path / "a").is_dir()
    (tmp_path / "a" / "begun").write_text("old")
    fail(tmp_path / "a", unless="work", begun="begun")
    assert (tmp_path / "a" / "begun").read_text() == "old"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["run", "g.csv", "--groups"], ["run", "g.csv", "--groups", "0"]),
        (["--groups", "run", "g.csv"], ["--groups", "0", "run", "g.csv"]),
        (["run", "g.csv", "--groups", "5"], ["run", "g.csv", "--groups", "5"]),
        (["--groups", "-2"], ["--groups", "-2"]),
        (["--groups=5", "--json"], ["--groups=5", "--json"]),
        (["--top", "run"], ["--top", "run"]),
    ],
)
def test_a_number_in_brackets_may_be_left_out(typed, read):
    options = get_command(app).commands["predict"].params
    assert with_zeros(typed, options) == read
