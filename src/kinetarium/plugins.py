"""Finding engines and studies by entry points, and loading them, whatever state they are in.

Another package's plug-in is code that nobody here has tried. Finding it imports nothing and
takes a name only if it is one; loading it turns whatever it raises into a PluginError.
"""

import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import Any

from kinetarium.errors import KinetariumError, one_line
from kinetarium.interruption import stop_if_requested

OWN_PACKAGE = "kinetarium"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
"""Names become commands, words of shell scripts and of environment variables, and JSON."""
_PLACE = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*:\s*[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_UNNAMED = "an unnamed package"


class PluginError(KinetariumError):
    """A plug-in that cannot be used.

    Attributes:
        cause: What it raised, or None.
    """

    def __init__(self, reason: str, *, cause: BaseException | None = None) -> None:
        """Say why, in one line."""
        super().__init__(reason)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Plugin:
    """An engine or a study that a package names, not yet imported.

    Attributes:
        name: The name it is chosen by.
        package: The distribution that names it.
        module: The module it is in.
        own: Whether it is part of Kinetarium.
        point: Its entry point.
    """

    name: str
    package: str
    module: str
    own: bool
    point: EntryPoint

    @property
    def summary(self) -> str:
        """What the package's metadata says of it, in one line; empty if nothing."""
        try:
            metadata = self.point.dist.metadata if self.point.dist else None
            return one_line(str(metadata["Summary"])) if metadata and metadata["Summary"] else ""
        except Exception:  # metadata that is no text
            return ""

    def load(self) -> Any:
        """Import it.

        Returns:
            What the entry point names, most often a class.

        Raises:
            PluginError: If that fails, whatever it raises.
        """
        with running_plugin():
            return self.point.load()


@dataclass(frozen=True, slots=True)
class RefusedPlugin:
    """An entry point that is not taken.

    Attributes:
        name: Package and name, in printable characters.
        reason: Why, in one line.
    """

    name: str
    reason: str


@contextmanager
def running_plugin() -> Iterator[None]:
    """Run code of a plug-in, whose result is needed and which may do anything else.

    What it prints goes to standard error, for standard output may carry JSON or a script.

    Raises:
        PluginError: If it raises anything but a wish to stop.
    """
    # Threads share the stream, so that only one of them may exchange it.
    alone = threading.current_thread() is threading.main_thread()
    try:
        with redirect_stdout(sys.stderr) if alone else nullcontext():
            yield
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as error:  # SystemExit and the panics of Rust are no Exception
        stop_if_requested()
        raise PluginError(_in_words(error), cause=error) from error


def discover(group: str) -> dict[str, Plugin]:
    """Return the plug-ins of a group by name, not yet imported, ours first.

    Args:
        group: The entry-point group, such as "kinetarium.engines".
    """
    return _survey(group)[0]


def refused(group: str) -> tuple[RefusedPlugin, ...]:
    """Return the entry points of a group that are not taken: bad names, names taken twice."""
    return _survey(group)[1]


@cache
def _survey(group: str) -> tuple[dict[str, Plugin], tuple[RefusedPlugin, ...]]:
    points, left_out = _entry_points(group)
    packages = {id(point.dist): _package(point.dist) for point in points}
    named = [(packages[id(point.dist)], point) for point in points]
    named.sort(key=lambda pair: (pair[0] != OWN_PACKAGE, pair[0]))
    taken: dict[str, Plugin] = {}
    for package, point in named:
        place = _PLACE.fullmatch(point.value.partition("[")[0].strip())
        if not _NAME.fullmatch(point.name):
            reason = "a name has up to 40 letters, digits, '-', '_' and '.' of ASCII"
        elif not place:
            reason = "its entry point is not of the form module:Class"
        elif earlier := taken.get(point.name):
            reason = f"the name is taken by the package {earlier.package}"
        else:
            own = package == OWN_PACKAGE
            taken[point.name] = Plugin(point.name, package, place["module"], own, point)
            continue
        left_out.append(RefusedPlugin(_shown(f"{package}:{point.name}"), reason))
    return taken, tuple(left_out)


def _entry_points(group: str) -> tuple[list[EntryPoint], list[RefusedPlugin]]:
    try:
        return list(entry_points(group=group)), []
    except Exception:  # one package whose metadata cannot be read takes those of all away
        return _entry_points_one_by_one(distributions(), group)


def _entry_points_one_by_one(
    found: Iterable[Distribution], group: str
) -> tuple[list[EntryPoint], list[RefusedPlugin]]:
    points: list[EntryPoint] = []
    left_out: list[RefusedPlugin] = []
    seen: set[str] = set()
    for distribution in found:
        package = _package(distribution)
        if package in seen and package != _UNNAMED:
            continue  # an earlier place of the path hides it
        seen.add(package)
        try:
            points += distribution.entry_points.select(group=group)
        except Exception as error:
            if f"[{group}]" in _text(distribution):
                reason = f"its entry_points.txt cannot be read: {_in_words(error)}"
                left_out.append(RefusedPlugin(_shown(package), reason))
    return points, left_out


def _text(distribution: Distribution) -> str:
    try:
        return distribution.read_text("entry_points.txt") or ""
    except Exception:
        return ""


def _package(distribution: Distribution | None) -> str:
    """Return the name of a distribution as indexes compare it (PEP 503)."""
    try:
        name = str(distribution.metadata["Name"] or "") if distribution else ""
    except Exception:
        name = ""
    return one_line(re.sub(r"[-_.]+", "-", name).lower()) or _UNNAMED


def _shown(name: str) -> str:
    return name.encode("unicode_escape").decode()[:80]


def _in_words(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        if isinstance(error, MemoryError):
            return "cannot allocate memory"  # by which words it is still told for what it is
        if isinstance(error, SystemExit):
            return one_line(f"it ends the program ({kind}: {error.code})")
        return one_line(f"{kind}: {error}").removesuffix(":")
    except Exception:  # its message cannot be made
        return kind
