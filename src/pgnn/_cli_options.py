"""Options that several commands share: how a graph is read, and how a command behaves."""

from __future__ import annotations

import functools
import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.graph import Graph

people = Console(stderr=True)  # stdout is for what was asked for

_READING = "How the graph is read"
_COMMON = "Common"


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

        The table of features is taken over only for the same graph file.
        """
        given = {name: value for name, value in asdict(self).items() if value is not None}
        before = {f.name: config[f.name] for f in fields(self) if f.name in config}
        if Path(config.get("graph", "")).resolve() != graph.resolve() and "features" not in given:
            before = {
                k: v for k, v in before.items() if k not in ("features", "id_column", "label")
            }
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


def _read_config(context: typer.Context, path: Path | None) -> None:
    """Take defaults from the command's table of a TOML file; what is typed wins."""
    if path is None:
        return
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PGNNError(f"{path}: cannot be read ({error})") from error
    except tomllib.TOMLDecodeError as error:
        raise PGNNError(f"{path}: is not TOML ({error})") from error
    command = context.info_name or ""
    table = document.get(command)
    if not isinstance(table, dict):
        raise PGNNError(f"{path}: has no table [{command}] with the options of `pgnn {command}`")
    known = {parameter.name for parameter in context.command.params} - {"config"}
    unknown = sorted(set(table) - known)
    if unknown:
        raise PGNNError(
            f"{path}: `pgnn {command}` has no option {unknown[0]!r}; it has "
            f"{', '.join(sorted(str(name) for name in known))}"
        )
    context.default_map = {key: _as_typed(value) for key, value in table.items()}


def _as_typed(value: Any) -> Any:
    """A value as it would have been typed; lists stay lists, and flags flags."""
    if isinstance(value, list):
        return [_as_typed(entry) for entry in value]
    return value if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Common:
    """How a command behaves, whatever it does."""

    threads: Annotated[int | None, _common("Default: all cores.", min=1)]
    device: Annotated[str, _common("cpu, cuda, cuda:1, ...")]
    quiet: Annotated[bool, _common("No progress and no remarks.", "--quiet", "-q")]
    config: Annotated[
        Path | None,
        _common(
            "TOML file with the options in a table of the command's name; what is typed wins.",
            callback=_read_config,
            is_eager=True,
        ),
    ]
    as_json: Annotated[bool, _common("Print one JSON document.", "--json")]

    def apply(self) -> None:
        """Set threads and silence for the process."""
        people.quiet = self.quiet
        if self.threads is not None:
            import torch

            torch.set_num_threads(self.threads)


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
