"""Groups of options: made from `Recipe`, gathered, applied."""

from dataclasses import dataclass, field, fields
from typing import Literal

import pytest
import typer
from typer.main import get_command

from pgnn import io
from pgnn.cli import options
from pgnn.cli.app import app
from pgnn.cli.options import Common, Training, check_seed, option_groups, options_of
from pgnn.errors import Parameter, PGNNError
from pgnn.training.recipe import Recipe


def train_options():
    return {option.name: option for option in get_command(app).commands["train"].params}


def test_every_setting_with_help_is_an_option_with_that_help():
    found = train_options()
    settings = [f for f in fields(Recipe) if "help" in f.metadata]
    assert len(settings) >= 14
    for setting in settings:
        option = found["sets" if setting.name == "num_sets" else setting.name]
        assert option.help.startswith(setting.metadata["help"])
        if setting.default is None:
            assert "Default: " in setting.metadata["help"], "only the help can tell the default"
        else:
            assert option.help.endswith(f"Default: {setting.default}.")


def test_flags_of_training_keep_their_names():
    flags = {flag for option in train_options().values() for flag in option.opts}
    names = "task model decoder hidden-channels dropout sets weights val test folds epochs lr"
    assert {f"--{name}" for name in (names + " patience seed").split()} <= flags


def test_new_setting_becomes_an_option(monkeypatch):
    @dataclass(frozen=True)
    class Larger:
        num_sets: int | None = field(default=None, metadata={"help": "Sets."})
        mood: Literal["good", "bad"] = field(default="good", metadata={"help": "Mood."})
        hidden: int = 3

    monkeypatch.setattr(options, "Recipe", Larger)
    seen = []

    @option_groups
    def run(training: Training) -> None:
        seen.append(training.recipe())

    small = typer.Typer()
    small.command()(run)
    small(["--mood", "bad", "--sets", "7"], standalone_mode=False)
    small([], standalone_mode=False)
    assert seen == [Larger(num_sets=7, mood="bad"), Larger()]
    assert options_of(Larger(7)) == {"sets": 7, "mood": "good"}


def test_what_is_not_typed_is_not_among_the_settings():
    values = {parameter.name: None for parameter in Training.parameters()}
    values |= {"sets": 4, "test": 0.0, "other": 1}
    training = Training.gather(values)
    assert training.typed == {"num_sets": 4, "test": 0.0}
    assert values == {"other": 1}
    assert training.recipe() == Recipe(num_sets=4, test=0.0)


def test_weights_of_a_file_are_not_taken_for_the_option_of_that_name(trained, command, monkeypatch):
    def read_graph(path, **_):
        parts = (Parameter("weights"), " or ", Parameter("weight=False"), " or ", Parameter("path"))
        raise PGNNError(f"{path}: ", *parts)

    monkeypatch.setattr(io, "read_graph_with_notes", read_graph)
    done = command("train", "edges.csv")
    assert done.stderr == "pgnn: edges.csv: weights or --unweighted or GRAPH_OR_DATASET\n"


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seed_that_torch_cannot_take_is_refused(seed):
    with pytest.raises(typer.BadParameter, match="below 2"):
        check_seed(seed)
    assert check_seed(2**63 - 1) == 2**63 - 1


def test_groups_are_applied_before_the_command_runs(monkeypatch):
    quiet = []

    @option_groups
    def run(common: Common, number: int = 1) -> None:
        quiet.append((options.people.quiet, number))

    monkeypatch.setattr(options.people, "quiet", False)
    small = typer.Typer()
    small.command()(run)
    small(["-q", "--number", "3"], standalone_mode=False)
    assert quiet == [(True, 3)]
