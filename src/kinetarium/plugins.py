"""Finding engines and studies by entry points, and loading them safely.

The plug-in of another package is untested code. Discovery imports nothing and accepts only
valid names; loading turns whatever the plug-in raises into a PluginError.
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
"""Names become commands, words in shell scripts and environment variables, and JSON keys."""
_PLACE = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*:\s*[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_UNNAMED = "an unnamed package"


class PluginError(KinetariumError):
    """A plug-in that cannot be used.

    Attributes:
        cause: What it raised, or None.
    """

    def __init__(self, reason: str, *, cause: BaseException | None = None) -> None:
        """Keep the reason, in one line."""
        super().__init__(reason)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Plugin:
    """An engine or a study that a package declares, not yet imported.

    Attributes:
        name: The name it is selected by.
        package: The distribution that declares it.
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
        """The package's summary from its metadata, in one line; empty if it has none."""
        try:
            metadata = self.point.dist.metadata if self.point.dist else None
            return one_line(str(metadata["Summary"])) if metadata and metadata["Summary"] else ""
        except Exception:  # metadata that is not text
            return ""

    def load(self) -> Any:
        """Import it.

        Returns:
            The object of the entry point, most often a class.

        Raises:
            PluginError: If the import fails, whatever it raises.
        """
        with running_plugin():
            return self.point.load()


@dataclass(frozen=True, slots=True)
class RefusedPlugin:
    """An entry point that is not accepted.

    Attributes:
        name: Package and name, in printable characters.
        reason: Why, in one line.
    """

    name: str
    reason: str


@contextmanager
def running_plugin() -> Iterator[None]:
    """Run code of a plug-in within this context, whatever it prints or raises.

    Its output goes to standard error, since standard output may carry JSON or a script.

    Raises:
        PluginError: If it raises anything but a stop request.
    """
    # Threads share the stream, so only one of them may replace it.
    alone = threading.current_thread() is threading.main_thread()
    try:
        with redirect_stdout(sys.stderr) if alone else nullcontext():
            yield
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as error:  # SystemExit and Rust panics are not Exceptions
        stop_if_requested()
        raise PluginError(_in_words(error), cause=error) from error


def discover(group: str) -> dict[str, Plugin]:
    """Return the plug-ins of a group by name, not yet imported, ours first.

    Args:
        group: The entry-point group, such as "kinetarium.engines".
    """
    return _survey(group)[0]


def refused(group: str) -> tuple[RefusedPlugin, ...]:
    """Return the entry points of a group that are not accepted: invalid and duplicate names."""
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
            reason = "a valid name has up to 40 ASCII letters, digits, '-', '_' and '.'"
        elif not place:
            reason = "its entry point is not of the form module:Class"
        elif earlier := taken.get(point.name):
            reason = f"duplicate name: the package {earlier.package} has it already"
        else:
            own = package == OWN_PACKAGE
            taken[point.name] = Plugin(point.name, package, place["module"], own, point)
            continue
        left_out.append(RefusedPlugin(_shown(f"{package}:{point.name}"), reason))
    return taken, tuple(left_out)


def _entry_points(group: str) -> tuple[list[EntryPoint], list[RefusedPlugin]]:
    try:
        return list(entry_points(group=group)), []
    except Exception:  # one package with unreadable metadata fails the query for all
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
            continue  # shadowed by an earlier entry of sys.path
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


@cache  # of Kinetarium it is asked for each engine and study, and reads the whole description
def _package(distribution: Distribution | None) -> str:
    """Return the normalized name of a distribution (PEP 503)."""
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
            return "cannot allocate memory"  # the words by which the caller recognizes it
        if isinstance(error, SystemExit):
            return one_line(f"it ends the program ({kind}: {error.code})")
        return one_line(f"{kind}: {error}").removesuffix(":")
    except Exception:  # __str__ of the exception fails
        return kind
