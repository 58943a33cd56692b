"""Options that several commands share: how a graph is read, and how a command behaves."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from pgnn.cli.config import read_config
from pgnn.cli.show import people
from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph

MAX_SEED = 2**63 - 1  # torch's
_READING = "How the graph is read"
_COMMON = "Common"
# What the library calls a parameter, and how it is typed. With a blank before, for a folder may be
# named `source=web`.
_AS_TYPED = {
    " header=False": " --no-header",
    " weight=False": " --unweighted",
    " source=": " --source ",
    " target=": " --target ",
    " weight=": " --weight ",
    " label=": " --label ",
    " id_column=": " --id-column ",
    "source and target belong together": "--source and --target belong together",
    "id_column and label name columns of a feature table; give features too": (
        "--id-column and --label name columns of a feature table; give --features too"
    ),
    "source, target and header are for tables": "--source, --target and --header are for tables",
    "give it y": "give --features FILE --label COLUMN",
    "data_dir must": "--data-dir must",
}


def in_options(message: str) -> str:
    """Return a message of the library with parameters named as users type them."""
    for name, typed in _AS_TYPED.items():
        message = message.replace(name, typed)
    return message


class StoppedError(Exception):
    """The user stopped a command with Ctrl-C; the message says what was kept."""


def _reading(help_text: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=_READING)


@dataclass(frozen=True)
class Reading:
    """How a graph is read from a file; None: as `pgnn.read_graph` finds out by itself."""

    source: Annotated[str | None, _reading("Column of the first ids: name or number from 0.")]
    target: Annotated[str | None, _reading("Column of the second ids.")]
    weight: Annotated[
        str | None, _reading("Column of weights. Default: one named `weight`, if there is one.")
    ]
    unweighted: Annotated[bool | None, _reading("Ignore weights.", "--unweighted/--weighted")]
    directed: Annotated[
        bool | None, _reading("Whether edges go one way.", "--directed/--undirected")
    ]
    header: Annotated[
        bool | None, _reading("Whether the first line holds names.", "--header/--no-header")
    ]
    features: Annotated[
        Path | None, _reading("Second table: id, numbers and perhaps a label of each node.")
    ]
    id_column: Annotated[str | None, _reading("Column of ids in --features. Default: the first.")]
    label: Annotated[str | None, _reading("Column of labels in --features.")]

    def read(self, path: Path) -> Graph:
        """Read the graph."""
        from pgnn.io import read_graph

        with people.status(f"reading {escape(path.name)} ..."):
            return read_graph(
                path,
                source=_column(self.source),
                target=_column(self.target),
                weight=False if self.unweighted else _column(self.weight),
                directed=self.directed,
                header=self.header,
                features=self.features,
                id_column=_column(self.id_column),
                label=_column(self.label),
            )

    def or_as(self, config: Mapping[str, Any], graph: Path) -> Reading:
        """Fill what is not given from a run's config: the user said it once.

        The table of features is taken over only for the same graph file, and columns only for
        tables.
        """
        from pgnn.io.tables import format_suffix

        given = {name: value for name, value in asdict(self).items() if value is not None}
        other: set[str] = set()
        if Path(config.get("graph", "")).resolve() != graph.resolve() and "features" not in given:
            other |= {"features", "id_column", "label"}
        if format_suffix(graph) in (".npz", ".graphml"):
            other |= {"source", "target", "header", "weight"}
        if "weight" in given:
            other.add("unweighted")
        before = {f.name: config[f.name] for f in fields(self) if f.name in config}
        before = {name: value for name, value in before.items() if name not in other}
        if "features" in before:
            before["features"] = Path(before["features"])
        return Reading(**({f.name: None for f in fields(self)} | before | given))


def _column(name: str | None) -> str | int | None:
    """A column by number, where the name is one."""
    if name is None:
        return None
    text = name.strip()
    return int(text) if text.removeprefix("-").isdecimal() else name


def _common(help_text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=_COMMON, **more)


@dataclass(frozen=True)
class Common:
    """How a command behaves, whatever it does."""

    threads: Annotated[int | None, _common("Default: all cores.", min=1, max=1024)]
    device: Annotated[str, _common("cpu, cuda, cuda:1, ...")]
    quiet: Annotated[bool, _common("No progress and no remarks.", "--quiet", "-q")]
    config: Annotated[
        Path | None,
        _common(
            "TOML file with the options in a table of the command's name; what is typed wins.",
            callback=read_config,
            is_eager=True,
        ),
    ]
    as_json: Annotated[bool, _common("Print one JSON document.", "--json")]

    def apply(self) -> None:
        """Set threads and silence for the process, and see whether the device is there."""
        people.quiet = self.quiet
        if self.threads is not None:
            import torch

            torch.set_num_threads(self.threads)
        if self.device != "cpu":
            self._check_device()

    def _check_device(self) -> None:
        import torch

        try:
            torch.zeros(1, device=self.device).cpu()  # a device may be known and not be there
        except (RuntimeError, AssertionError) as error:
            line = str(error).partition("\n")[0]
            raise PGNNError(f"--device {self.device} cannot be used ({line}); use cpu") from error


@contextmanager
def no_empty_folders(*folders: Path | None) -> Iterator[None]:
    """Remove what folders a command made, and those above them, if it fails and they are empty."""
    paths = [path for folder in folders if folder for path in (folder, *folder.parents)]
    made = [path for path in paths if not path.exists()]
    try:
        yield
    except BaseException:
        for path in made:
            with suppress(OSError):  # never made, or not empty
                path.rmdir()
        raise


_DEFAULTS: dict[str, Any] = {"device": "cpu", "quiet": False, "as_json": False}


def shared_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each parameter that is a `Reading` or a `Common`.

    Typer reads a command's signature, so the parameter is replaced there by one an option, and the
    values are gathered again when the command is called.
    """
    hints = inspect.get_annotations(function, eval_str=True)
    groups = {name: hint for name, hint in hints.items() if hint in (Reading, Common)}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        parameter.replace(kind=keyword)
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
        if parameter.name not in groups
    ]
    parameters += [
        inspect.Parameter(name, keyword, default=_DEFAULTS.get(name), annotation=hint)
        for group in groups.values()
        for name, hint in inspect.get_annotations(group, eval_str=True).items()
    ]

    @functools.wraps(function)
    def command(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})
            if isinstance(values[name], Common):
                values[name].apply()
        function(**values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command
