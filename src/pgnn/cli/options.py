"""Groups of options that commands share: how a graph is read, how to train, how to behave.

Also options from a TOML file: `--config`, and the one that a run keeps.
"""

from __future__ import annotations

import functools
import inspect
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from pgnn.cli.boundary import OPTION_OF, only_about, word_of_running_command
from pgnn.cli.processes import are_several, check_same_graph, join, own_device
from pgnn.cli.show import as_text, keep_remark, people
from pgnn.errors import Parameter, PGNNError
from pgnn.names import MODELS
from pgnn.training.recipe import Recipe

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.io import Events, FeatureEncoding, HowToRead, ReadNotes

MAX_SEED = 2**63 - 1  # torch's
# Bytes that commands take on small graphs, and what pages of large arrays take while they are read.
_LIBRARIES = 600_000_000


def check_seed(value: int | None) -> int | None:
    """Refuse a seed that torch cannot take."""
    if value is not None and not 0 <= value <= MAX_SEED:
        raise typer.BadParameter(f"must be at least 0 and below 2^63 (got {value}).")
    return value


def completing(*words: str) -> Callable[[str], list[str]]:
    """Return a function that a shell asks which of some words begin as what was typed."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


@dataclass(frozen=True)
class Group:
    """Options that several commands have. A command takes the whole group as one parameter."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return a parameter for each option, as typer reads them from a function."""
        hints = get_type_hints(cls, include_extras=True)
        return [_parameter(f.name, hints[f.name], f.default) for f in fields(cls)]

    @classmethod
    def gather(cls, values: dict[str, Any]) -> Self:
        """Make the group of the values of its options, which are taken out of `values`."""
        return cls(**{f.name: values.pop(f.name) for f in fields(cls)})

    def apply(self) -> None:
        """Do what the options ask of the process, before the command runs."""

    def during(self) -> AbstractContextManager[None]:
        """Return what holds while the command runs."""
        return nullcontext()


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def option_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each of its parameters that is a `Group`.

    Typer makes options of a function's parameters, so this function has one for each option of a
    group. When it is called, it gathers their values and passes the groups on.
    """
    hints = inspect.get_annotations(function, eval_str=True)
    groups = {
        name: hint
        for name, hint in hints.items()
        if isinstance(hint, type) and issubclass(hint, Group)
    }
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
        if parameter.name not in groups
    ]
    for group in groups.values():
        parameters += group.parameters()

    @functools.wraps(function)
    def command(**values: Any) -> None:
        with ExitStack() as while_it_runs:
            for name, group in groups.items():
                values[name] = group.gather(values)
                values[name].apply()
                while_it_runs.enter_context(values[name].during())
            function(**values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


# ---------------------------------------------------------------------- reading


def _reading(help_text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel="How the graph is read", **more)


@dataclass(frozen=True)
class Reading(Group):
    """How a graph is read from a file; None: as `pgnn.read_graph` finds out by itself."""

    source: Annotated[
        str | None, _reading("Column of the edges' first ids: a name, or a number from 0.")
    ] = None
    target: Annotated[str | None, _reading("Column of the edges' second ids.")] = None
    weight: Annotated[
        str | None, _reading("Column of weights. Default: the one named weight, if there is one.")
    ] = None
    unweighted: Annotated[bool | None, _reading("Ignore weights.", "--unweighted/--weighted")] = (
        None
    )
    directed: Annotated[
        bool | None, _reading("Whether edges go one way.", "--directed/--undirected")
    ] = None
    header: Annotated[
        bool | None,
        _reading("Whether the first line holds names of columns.", "--header/--no-header"),
    ] = None
    features: Annotated[
        Path | None,
        _reading("A second table, with one row per node: its id, features, perhaps a label."),
    ] = None
    id_column: Annotated[
        str | None, _reading("Column of the ids in --features. Default: the first.")
    ] = None
    label: Annotated[str | None, _reading("Column of the labels in --features.")] = None
    feature_columns: Annotated[
        str | None,
        _reading("Columns of --features to use, such as age,city. Default: all that can be used."),
    ] = None
    time: Annotated[
        str | None,
        _reading("Column of times: dates such as 2024-03-31, or numbers. Repeated edges add up."),
    ] = None
    until: Annotated[
        str | None, _reading("With --time: drop all edges after this time, as if not known yet.")
    ] = None
    type_column: Annotated[
        str | None,
        _reading("Column of the types of nodes in --features. Default: type or kind.", "--type"),
    ] = None
    between: Annotated[
        str | None,
        _reading(
            "The two kinds of nodes that links are between: two types, or the names of the two "
            "columns of ids; all for any nodes. Default: recognised, where no id is in both "
            "columns.",
            metavar="LEFT,RIGHT",
        ),
    ] = None

    def read(
        self, path: Path, *, weights: str = "length", encoding: FeatureEncoding | None = None
    ) -> Graph:
        """Read the graph, and keep what there is to say of it; see `read_with_notes`."""
        return self.read_with_notes(path, weights=weights, encoding=encoding)[0]

    def read_with_notes(
        self, path: Path, *, weights: str = "length", encoding: FeatureEncoding | None = None
    ) -> tuple[Graph, ReadNotes]:
        """Read the graph, and keep one line that says how, and warnings if something looks wrong.

        Args:
            path: The file.
            weights: What weights say: strengths of repeated edges add up, of lengths the shortest
                stays.
            encoding: How columns of --features become numbers; None: as they suggest.
        """
        from pgnn.io import read_graph_with_notes

        if self.time is not None:
            graph, notes = self.read_events(
                path, weights=weights, encoding=encoding
            ).graph_with_notes()
        else:
            if self.until is not None:
                raise PGNNError(Parameter("until"), " needs ", Parameter("time"), " COLUMN")
            with self._reading(path):
                graph, notes = read_graph_with_notes(path, **self._options(weights, encoding))
        check_same_graph(graph)
        say_how_read(notes)
        return graph, notes

    def read_events(
        self, path: Path, *, weights: str, encoding: FeatureEncoding | None = None
    ) -> Events:
        """Read edges with the times of the column --time; nothing is said yet."""
        from pgnn.io import read_events

        time = _column(self.time)
        assert time is not None, "there is no column of times"
        with self._reading(path):
            return read_events(path, time, until=self.until, **self._options(weights, encoding))

    @contextmanager
    def _reading(self, path: Path) -> Iterator[None]:
        status = people.status(f"reading {as_text(path.name)} ...")
        with status, only_about("path", *(f.name for f in fields(self))):
            yield

    def edge_columns(self) -> dict[str, Any]:
        """Return how a table of edges is read, as `read_partitioned_graph` takes it."""
        options = self._options("length", None)
        names = ("source", "target", "weight", "directed", "header")
        return {name: value for name, value in options.items() if name in names}

    def _options(self, weights: str, encoding: FeatureEncoding | None) -> HowToRead:
        chosen = None
        if self.feature_columns is not None:
            chosen = [
                _position_or_name(name) for name in map(str.strip, self.feature_columns.split(","))
            ]
        return {
            "source": _column(self.source),
            "target": _column(self.target),
            "weight": False if self.unweighted else _column(self.weight),
            "directed": self.directed,
            "header": self.header,
            "features": self.features,
            "id_column": _column(self.id_column),
            "label": _column(self.label),
            "feature_columns": chosen,
            "encoding": encoding,
            "type_column": _column(self.type_column),
            "between": self.between,
            "repeats": "sum" if weights == "strength" else "shortest",
        }

    def or_as(self, config: Mapping[str, Any], graph: Path) -> Reading:
        """Fill in from a run's config what was not typed: the user said it once.

        Columns are taken over only for tables, and that of times only if the table has it. Tables
        of nodes are looked for elsewhere, since a file may have changed; see
        `pgnn.cli.inputs.remembered_features`. --until is of one question alone.
        """
        from pgnn.io import format_suffix, has_column

        typed = {name: value for name, value in asdict(self).items() if value is not None}
        not_for_this_graph = {
            *("until", "features", "id_column", "label", "feature_columns", "type_column"),
        }
        if format_suffix(graph) in (".npz", ".graphml"):
            not_for_this_graph |= {"source", "target", "header", "weight", "time"}
        if "weight" in typed:
            not_for_this_graph.add("unweighted")
        time = _column(str(config["time"])) if "time" in config else None
        is_open = "time" not in (*typed, *not_for_this_graph)
        if time is not None and is_open and not has_column(graph, time):
            not_for_this_graph.add("time")
        stored = {
            f.name: config[f.name]
            for f in fields(self)
            if f.name in config and f.name not in not_for_this_graph
        }
        return Reading(**{**stored, **typed})


def say_how_read(notes: ReadNotes) -> None:
    """Keep the line that says how a graph was read, and the warnings."""
    keep_remark(notes.line(word_of_running_command))
    for warning in notes.warned(word_of_running_command):
        keep_remark(f"warning: {warning}")


def _column(name: str | None) -> str | int | None:
    """Return a column by its number, if the name is one; None for none."""
    return None if name is None else _position_or_name(name)


def _position_or_name(name: str) -> str | int:
    text = name.strip()
    return int(text) if text.removeprefix("-").isdecimal() else name


# ---------------------------------------------------------------------- training


@dataclass(frozen=True)
class Training(Group):
    """The settings of training that were typed.

    Each field of `Recipe` that has a help text is an option, so a setting is declared only there.

    Attributes:
        typed: Values by the names of the recipe's fields. What was not typed is not in it.
    """

    typed: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return a parameter for each setting, None by default."""
        hints = get_type_hints(Recipe)
        return [
            _parameter(option_name(f.name), _annotation(f, hints[f.name]), None)
            for f in _settings()
        ]

    @classmethod
    def gather(cls, values: dict[str, Any]) -> Self:
        """Keep what was typed, by the names of the recipe's fields."""
        settings = {f.name: values.pop(option_name(f.name)) for f in _settings()}
        return cls({name: value for name, value in settings.items() if value is not None})

    def recipe(self) -> Recipe:
        """Make the recipe, with the recommended value of every setting that was not typed.

        Raises:
            PGNNError: If a value is not allowed.
        """
        return Recipe(**self.typed)


def option_name(setting: str) -> str:
    """Return the name of the option that sets a field of `Recipe`."""
    return OPTION_OF.get(setting, setting)


def options_of(recipe: Recipe) -> dict[str, Any]:
    """Return the value of each option of training in a recipe, by the option's name."""
    return {option_name(f.name): getattr(recipe, f.name) for f in _settings()}


def _settings() -> list[Field[Any]]:
    return [f for f in fields(Recipe) if "help" in f.metadata]


def _annotation(setting: Field[Any], hint: Any) -> Any:
    """Return what typer reads to make an option of a field."""
    kind, choices = _kind(hint)
    help_text = setting.metadata["help"]
    if setting.default not in (None, MISSING):
        help_text = f"{help_text} Default: {setting.default}."
    words = MODELS if setting.name == "model" else choices
    option = typer.Option(
        "--" + option_name(setting.name).replace("_", "-"),
        help=help_text,
        metavar="|".join(choices) or None,
        autocompletion=completing(*words) if words else None,
        callback=check_seed if setting.name == "seed" else None,
        rich_help_panel="How to train",
    )
    return Annotated[kind | None, option]


def _kind(hint: Any) -> tuple[type, tuple[str, ...]]:
    """Return the type that is typed for a field's annotation, and the words to choose from."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is Literal:
        return str, get_args(hint)
    return hint, ()


# ---------------------------------------------------------------------- behaviour


def _common(help_text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel="Common", **more)


@dataclass(frozen=True)
class Computing(Group):
    """Where a command computes."""

    threads: Annotated[
        int | None, _common("Number of threads. Default: one per core.", min=1, max=1024)
    ] = None
    device: Annotated[
        str | None,
        _common(
            "Where to compute: cpu, cuda, cuda:1, ... Default: cpu.",
            autocompletion=completing("cpu", "cuda"),
        ),
    ] = None
    memory: Annotated[
        str | None,
        _common(
            "Stay below this much memory, such as 4GB or 500MB; large arrays then lie in a "
            "nameless file in $TMPDIR. Default: no limit.",
            metavar="SIZE",
        ),
    ] = None

    @property
    def place(self) -> str:
        """The device that was typed, or the processor; of several processes, this one's own."""
        return own_device(self.device or "cpu")

    def apply(self) -> None:
        """Set torch's threads, and see whether the device is there."""
        if are_several():
            join(threads=self.threads, device=self.place)
        elif self.threads is not None:
            import torch

            torch.set_num_threads(self.threads)
        if self.place != "cpu":
            self._check_device()

    @contextmanager
    def during(self) -> Iterator[None]:
        """Keep the limit of memory, if one was typed."""
        from pgnn.memory import least_needed, memory_limit

        with memory_limit(self.memory):
            least_needed(_LIBRARIES, "Python with its libraries")
            yield

    def _check_device(self) -> None:
        import torch

        try:
            torch.zeros(1, device=self.place).cpu()  # a device may be known and not be there
        except (RuntimeError, AssertionError) as error:
            line = str(error).partition("\n")[0]
            raise PGNNError(f"--device {self.device} cannot be used ({line}); use cpu") from error


@dataclass(frozen=True)
class Common(Group):
    """How a command behaves, whatever it does."""

    quiet: Annotated[bool, _common("Show no progress and no remarks.", "--quiet", "-q")] = False
    config: Annotated[
        Path | None,
        _common(
            "Take options from a TOML file, from the table with the command's name. What is typed "
            "wins.",
            callback=read_config,
            is_eager=True,
        ),
    ] = None
    as_json: Annotated[bool, _common("Print one JSON document.", "--json")] = False

    def apply(self) -> None:
        """Be silent if asked to."""
        people.quiet = self.quiet


def read_config(context: typer.Context, path: Path | None) -> None:
    """Take defaults from the command's table of a TOML file; what is typed wins."""
    if path is not None:
        context.default_map = _read_options(path, context)


def _read_options(path: Path, context: typer.Context) -> dict[str, Any]:
    """Return the options in a TOML file's table of the running command, as they would be typed.

    Raises:
        PGNNError: If the file cannot be read, or holds what is no option of the command.
    """
    command = context.info_name or ""
    table = read_table(path, command)
    known = {str(p.name): p for p in context.command.params if p.name != "config"}
    for name, value in table.items():
        if name not in known:
            raise PGNNError(
                f"{path}: `pgnn {command}` has no option {name!r}; it has "
                f"{', '.join(sorted(known))}"
            )
        problem = _misfit(value, known[name])
        if problem:
            raise PGNNError(f"{path}: {name} = {value!r} {problem}")
    return {key: _as_typed(value) for key, value in table.items()}


def read_table(path: Path, command: str) -> Mapping[str, Any]:
    """Return what a TOML file says in the table of a command."""
    from pgnn.io import read_file

    try:
        document = tomllib.loads(read_file(path).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise PGNNError(f"{path}: cannot be read ({error})") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PGNNError(f"{path}: is not TOML ({error})") from error
    table = document.get(command)
    if not isinstance(table, dict):
        raise PGNNError(f"{path}: has no table [{command}] with the options of `pgnn {command}`")
    return table


def _misfit(value: Any, parameter: Any) -> str | None:
    """Say why a value of a TOML file is of the wrong kind; what it is worth is checked later."""
    flag = getattr(parameter, "is_flag", False) or getattr(parameter, "is_bool_flag", False)
    if flag or isinstance(value, bool):
        fits = flag and isinstance(value, bool)
        return None if fits else f"must {'be true or false' if flag else 'not be true or false'}"
    several = getattr(parameter, "multiple", False)
    if isinstance(value, dict) or (isinstance(value, list) and not several):
        return "must be a list of values" if several else "must be one value"
    if several and not isinstance(value, list):
        return "must be a list of values"
    return None


def _as_typed(value: Any) -> Any:
    """Return a value as it would have been typed; lists stay lists, and flags flags."""
    if isinstance(value, list):
        return [_as_typed(entry) for entry in value]
    return value if isinstance(value, bool) else str(value)
