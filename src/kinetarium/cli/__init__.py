"""The command line: `kinetarium COMMAND ...`; each command imports what it needs."""

import gc
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from signal import SIGINT

from kinetarium.cli.core.console import Console, failure_lines, failure_payload, is_defect
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.registry import COMMANDS, Command, refused_studies, studies
from kinetarium.errors import KinetariumError, OutputError, UnknownNameError
from kinetarium.interruption import handling_stop_signals, is_stop_request, stop_request

__all__ = ["main"]

_ALLOCATIONS = 200_000
"""Objects made between two searches for cycles: loading code leaves hardly any, and the searches
take a tenth of the time of a short command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The words after `kinetarium`; those of this process if None.

    Returns:
        The exit code: 0 success, 1 internal error, 2 bad input, 130 interrupted from the
        keyboard, 143 by SIGTERM.
    """
    if argv is None:  # this process is the command's own
        gc.set_threshold(_ALLOCATIONS, 50, 50)
    with handling_stop_signals():
        return _answer(list(sys.argv[1:] if argv is None else argv))


def _answer(words: list[str]) -> int:
    console = Console()
    try:
        match words:
            case [] | ["-h" | "--help", *_]:
                console.text(_help())
            case ["--version", *_]:
                console.line(f"kinetarium {_version()}")
            case [name, *rest]:
                from kinetarium.cli.core.arguments import flag_value, parse_arguments

                # Usage errors are reported as JSON as well.
                console = Console(json=flag_value("--json", rest))
                command = _command(name)
                config_type, run = command.load(rest)
                help = command.title() if command.title else command.help
                config, output = parse_arguments(rest, command=name, config=config_type, help=help)
                console = Console(json=output.json, quiet=output.quiet, force=output.force)
                console.check_result()
                line = shlex.join(["kinetarium", *words])
                invocation = Invocation(line, console, force=output.force)
                with _without_exits(name):
                    return run(config, invocation) or 0
    except SystemExit:  # the parser has printed a command's help
        console.flush()
    except (KeyboardInterrupt, Exception) as error:
        if isinstance(error, KeyboardInterrupt) or is_stop_request(error):
            console.error("kinetarium: interrupted")
            return 128 + (stop_request() or SIGINT)
        return _fail(error, console=console, debug="--debug" in words)
    return 0


@contextmanager
def _without_exits(command: str) -> Iterator[None]:
    """Turn a SystemExit raised by a library or a plug-in into an error."""
    try:
        yield
    except SystemExit as end:
        raise KinetariumError(f"'{command}' called exit (SystemExit: {end.code})") from end


def _command(name: str) -> Command:
    if name.startswith("-"):
        raise UnknownNameError("flag", name, known=["--help", "--version"])
    known = COMMANDS if name in COMMANDS else {**COMMANDS, **studies()}
    if name not in known:
        raise UnknownNameError("command", name, known=known)
    return known[name]


def _fail(error: Exception, *, console: Console, debug: bool) -> int:
    if debug:
        console.traceback(error)
    for line in failure_lines(error):
        console.error(line)
    with suppress(OutputError):  # perhaps the error just printed
        console.result(failure_payload(error))
    return 1 if is_defect(error) else 2


def _version() -> str:
    from kinetarium import __version__

    return __version__


def _help() -> str:
    others = {name: f"not available: {reason}" for name, reason in refused_studies().items()}
    lines = {name: command.help for name, command in studies().items()} | others
    own = {name: command.help for name, command in COMMANDS.items()}
    width = max(map(len, [*own, *lines]))

    def listing(helps: Mapping[str, str]) -> list[str]:
        return [f"  {name:<{width}}  {help}" for name, help in helps.items()]

    return "\n".join(
        [
            "usage: kinetarium [--help] [--version] COMMAND ...",
            "",
            "A proving ground for robots: one robot, every physics engine.",
            "",
            "commands:",
            *listing(own),
            "",
            "studies:",
            *listing(lines),
            "",
            "Every command takes --help, --json FILE|- (result as JSON), --quiet and --debug.",
            "Tab completion: source <(kinetarium completion bash), or zsh, or fish.",
            "Exit codes: 0 success, 1 internal error, 2 bad input, 130 or 143 interrupted.",
            "",
        ]
    )
