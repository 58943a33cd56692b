"""Options of a command from a TOML file: `--config`, and the one that a run keeps."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from pgnn.errors import PGNNError


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
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PGNNError(f"{path}: cannot be read ({error})") from error
    except tomllib.TOMLDecodeError as error:
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
