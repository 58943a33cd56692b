"""Where a command meets the library: errors in the user's own words, and what a failure leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from pgnn.errors import PGNNError
from pgnn.io import BusyError

# What the library calls a parameter, and the command's name of the option that sets it.
OPTION_OF = {
    "num_sets": "sets",
    "num_threads": "threads",
    "num_processes": "jobs",
    "rng": "seed",
    "random_state": "seed",
    "path": "graph",
    "models": "model",
    "nodes": "node",
    "protocols": "protocol",
    "weight=False": "unweighted",
}
_options: ContextVar[tuple[Any, ...]] = ContextVar("options of the running command", default=())
_NO_MEMORY = re.compile("(allocate|of) memory")  # torch has no error of its own for it


class StoppedError(Exception):
    """The user stopped a command with Ctrl-C; the message says what was kept."""


class Command(TyperCommand):
    """A command that names options where an error of the library names parameters."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; an option whose value may be left out then has the value 0."""
        return super().parse_args(ctx, with_zeros(args, self.params))

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Raises:
            PGNNError: If the user has to change something; the message is in the user's words.
        """
        _options.set(tuple(self.params))
        try:
            return super().invoke(ctx)
        except PGNNError as error:
            raise PGNNError(error.worded(self._word_for)) from error
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not _NO_MEMORY.search(str(error)):
                raise
            smaller = filter(None, map(self._word_for, ("hidden_channels", "num_sets")))
            advice = " or ".join(["a smaller graph", *smaller])
            raise PGNNError(f"there is not enough memory; use {advice}") from error

    def _word_for(self, parameter: str) -> str | None:
        return word_for(parameter, self.params)


def with_zeros(args: Sequence[str], options: Iterable[Any]) -> list[str]:
    """Add a 0 behind options that show their number in brackets, where no number was typed.

    Args:
        args: What was typed.
        options: The parameters of the command, as click has them; one that shows `[K]` as its value
            may have a number behind it or none.
    """
    flags = {
        flag
        for option in options
        if option.param_type_name == "option" and str(option.metavar or "").startswith("[")
        for flag in option.opts
    }
    filled: list[str] = []
    for place, word in enumerate(args):
        filled.append(word)
        following = args[place + 1] if place + 1 < len(args) else ""
        if word in flags and not following.removeprefix("-").isdecimal():
            filled.append("0")
    return filled


def word_of_running_command(parameter: str) -> str | None:
    """Return what a user of the running command types for a parameter; None outside of one."""
    return word_for(parameter, _options.get())


def word_for(parameter: str, options: Iterable[Any]) -> str | None:
    """Return what a user types for a parameter of the library; None if the command has no word.

    Args:
        parameter: A name, or a name and a value: `header=False` may be typed as `--no-header`.
        options: The parameters of the running command, as click has them.
    """
    by_name = {option.name: option for option in options}
    if parameter == "y" and {"features", "label"} <= by_name.keys():
        return "--features FILE --label COLUMN"
    if (whole := by_name.get(OPTION_OF.get(parameter, parameter))) is not None:
        return _flag(whole)
    name, _, value = parameter.partition("=")
    option = by_name.get(name) or by_name.get(OPTION_OF.get(name, name))
    if option is None or option.param_type_name == "argument":
        return None
    if value == "True":
        return _flag(option)
    if value == "False":
        return _longest(option.secondary_opts) if option.secondary_opts else None
    return f"{_flag(option)} {value}"


@contextmanager
def only_about(*parameters: str) -> Iterator[None]:
    """Let errors name only these parameters as options.

    What a function calls `weights` may be another thing than the option of that name.
    """
    try:
        yield
    except PGNNError as error:
        parts = (
            part if str(part).partition("=")[0] in parameters else str(part) for part in error.args
        )
        raise PGNNError(*parts) from error


def _flag(option: Any) -> str:
    if option.param_type_name == "argument":
        return str(option.metavar or option.name.upper())
    return _longest(option.opts)


def _longest(flags: Sequence[str]) -> str:
    return max(flags, key=len)


@contextmanager
def nothing_left_behind(
    *folders: Path | None, unless: str, begun: str | None = None
) -> Iterator[None]:
    """If a command fails, remove the folders it made that hold no work.

    Args:
        folders: Where the command writes; those above them are removed, too, if they are empty.
        unless: Name of a file whose presence says that there is work to keep.
        begun: Name of a file that is written first and is worth nothing alone, if there is one.
    """
    places = [folder for folder in folders if folder is not None]
    paths = [path for folder in places for path in (folder, *folder.parents)]
    made = [path for path in paths if not path.exists()]
    begun_here = [place / begun for place in places if begun and not (place / begun).exists()]
    try:
        yield
    except BusyError:
        raise  # what is there is another process's
    except BaseException:
        for path in begun_here:
            with suppress(OSError):  # never written
                if not (path.parent / unless).exists():
                    path.unlink()
        for path in made:
            with suppress(OSError):  # never made, or not empty
                path.rmdir()
        raise
