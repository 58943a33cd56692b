"""The `pgnn` command: its list of commands, and the one place where errors are printed."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections import UserDict
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup
from typer.main import get_command

from pgnn.cli.boundary import Command, StoppedError
from pgnn.cli.processes import are_several, check_shared, may_say_why, together
from pgnn.cli.show import forget_kept_remarks, people, visible
from pgnn.errors import PGNNError
from pgnn.threads import is_thread_left_behind

_COMMANDS = (
    *("train", "evaluate", "embed", "predict", "explain", "report", "distances", "datasets"),
    *("reproduce", "bench"),
)


class _Commands(UserDict[str, Any]):
    """The commands by name, each imported when it is first used: all of them take a while."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(_COMMANDS))

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            command = getattr(import_module(f"pgnn.cli.{name}"), name)
            if not isinstance(command, typer.Typer):
                alone = typer.Typer(add_completion=False)
                alone.command(cls=Command)(command)
                command = alone
            self.data[name] = get_command(command)
            self.data[name].name = name
        return self.data[name]


class _Group(TyperGroup):
    """`pgnn` itself."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()


app = typer.Typer(name="pgnn", cls=_Group, no_args_is_help=True, pretty_exceptions_enable=False)

_INTERRUPTED = 130  # what shells call a command that Ctrl-C ended
_TERMINATED = 143  # and one that SIGTERM did
_LONGEST = 4_000  # characters of a message
# click's, or typer's own copy of it, which newer versions bring along.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def main() -> None:
    """Run the command; a user's mistake is one line and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # ids that the terminal cannot show
    people.quiet = False
    forget_kept_remarks()
    signals: list[int] = []
    _hear_signals(signals)
    try:
        with together():
            code = app(prog_name="pgnn", standalone_mode=False)
    except PGNNError as error:
        _end(str(error))
    except StoppedError as error:
        _end(_stopped(str(error), signals), _stopped_code(signals))
    except KeyboardInterrupt:  # before a command began, or as it ended
        _end(_stopped("stopped", signals), _stopped_code(signals))
    except _UsageError as error:
        _end(_usage(error))
    except OSError as error:
        _end(f"{error.filename or 'a file'}: {error.strerror or error}")
    except MemoryError:
        _end("there is not enough memory; use a smaller graph")
    except RecursionError:
        _end("something is nested too deeply")
    if code == _INTERRUPTED:
        _end(_stopped("stopped", signals), _stopped_code(signals))
    if are_several():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # all is written, whoever ends now
    sys.exit(code or 0)


def _stopped(message: str, signals: list[int]) -> str:
    """Say what was kept, and why torchrun may have stopped a process."""
    if are_several() and signal.SIGTERM in signals:
        return f"{message} (torchrun stops all processes when one of them has ended)"
    return message


def _stopped_code(signals: list[int]) -> int:
    return _TERMINATED if signal.SIGTERM in signals else _INTERRUPTED


def _hear_signals(signals: list[int]) -> None:
    """Let SIGTERM do what Ctrl-C does: keep what there is, say so, and leave.

    torchrun sends SIGTERM to its processes when Ctrl-C has stopped them already: that is ignored.
    """

    def stop(number: int, _: object) -> None:
        if signals and "LOCAL_RANK" in os.environ:
            return
        signals.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
        if "LOCAL_RANK" in os.environ:
            signal.signal(signal.SIGINT, stop)


def _end(message: str, code: int = 2) -> NoReturn:
    """Print one line and leave; of several processes, one prints it."""
    if are_several():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun's, when another has ended
        if not may_say_why():
            os._exit(code)
    # Not markup: what the user wrote may have brackets. Not `people`, which may be quiet.
    line = visible(" ".join(message.splitlines()))
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    text = Text.assemble(("pgnn:", "bold red"), " ", line)
    Console(stderr=True).print(text, soft_wrap=True)
    # In the middle of a search Python would wait for it, and gloo for a process that is gone.
    if is_thread_left_behind() or are_several():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _usage(error: Exception) -> str:
    """Say what is wrong with the arguments, and where help is."""
    if type(error).__name__ == "NoArgsIsHelpError":  # of click 8.2 and later
        sys.exit(2)  # help was shown
    text = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = "pgnn" if context is None else context.command_path
    return f"{text[:1].lower()}{text[1:]}; see `{path} --help`"


def _version(show: bool) -> None:
    if show:
        from pgnn import __version__

        typer.echo(f"pgnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn where nodes are in a graph, and which links are missing.

    Begin with a file of edges:

      pgnn train edges.csv --out run       learn, and say how good it is
      pgnn predict run edges.csv           list the most likely missing links
      pgnn explain run edges.csv ann bob   say why two nodes have their score
      pgnn report run                      look at the result in a browser

    Every command explains itself: pgnn train --help
    """
    del version  # was shown
    check_shared(context.invoked_subcommand)
