"""Environments of engine versions: folders that shadow a few packages of the present one.

A child interpreter with such a folder first on its path has another version of an engine, and
everything else as here. A folder is made by pip on demand, in the user's cache folder, and reused.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from sysconfig import get_platform
from tempfile import mkdtemp
from time import monotonic, sleep

from kinetarium.engines.registry import engine_packages
from kinetarium.errors import KinetariumError, OutputError, one_line
from kinetarium.interruption import stop_if_requested
from kinetarium.plugins import OWN_PACKAGE
from kinetarium.storage.atomic import FolderLock, make_folder, remove_leftovers

_TIMEOUT = 900.0
"""Time limit of pip [s]; the wheel of an engine has up to some hundred megabytes."""
_POLL = 0.2
_SITE = "site"
_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


class VersionError(KinetariumError):
    """A version of an engine that cannot be installed."""


def version_folder(pinned: str) -> Path:
    """Return the folder with a version of a package, made if it does not exist yet.

    Args:
        pinned: The package, such as "mujoco==4.0.0".

    Raises:
        VersionError: If pip cannot install it.
        OutputError: If the cache folder cannot be written.
    """
    home = cache_folder() / "engines" / _interpreter() / pinned.replace("==", "-")
    site = home / _SITE
    if not site.is_dir():
        make_folder(home)
        with _locked(home):
            if not site.is_dir():
                _make(pinned, site)
    return site


def cache_folder() -> Path:
    """Return the folder in which Kinetarium keeps what it can make again."""
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "kinetarium"


def _interpreter() -> str:
    """Return what a wheel depends on: the interpreter and the platform."""
    return f"{sys.implementation.cache_tag}-{get_platform()}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process makes the same folder."""
    start = monotonic()
    while True:
        try:
            lock = FolderLock(folder)
            break
        except OutputError:
            if monotonic() - start > 2 * _TIMEOUT:
                raise
        stop_if_requested()
        sleep(_POLL)
    try:
        yield
    finally:
        lock.release()


def _make(pinned: str, site: Path) -> None:
    """Install a package, and what it needs that is not here, into a folder, all or nothing.

    What Kinetarium itself is built on stays as it is: two versions of NumPy in one process
    would end it.
    """
    remove_leftovers(site.parent)  # of a killed process
    wanted = {_plain(name): number for name, number in [pinned.split("==")]}
    for each in json.loads(_pip(pinned, "--dry-run", "--report", "-"))["install"]:
        wanted.setdefault(_plain(each["metadata"]["name"]), each["metadata"]["version"])
    kept = _foundation()
    names = [f"{name}=={number}" for name, number in wanted.items() if name not in kept]
    staging = Path(mkdtemp(prefix=".kinetarium-", dir=site.parent))
    _pip(*names, "--no-deps", "--target", str(staging))
    staging.chmod(0o755)
    staging.rename(site)


def _foundation() -> set[str]:
    """Return the packages that Kinetarium requires, without those of engines."""
    try:
        lines = requires(OWN_PACKAGE) or []
    except PackageNotFoundError:
        lines = []
    plain = [_NAME.match(line) for line in lines if "extra ==" not in line]
    engines = {_plain(package) for package in engine_packages().values()}
    return {_plain(name[0]) for name in plain if name} - engines


def _plain(name: str) -> str:
    """Return the normalized name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip(*words: str) -> str:
    """Run pip install and return what it prints.

    Only wheels are installed: building an engine takes long, and runs code of its sources.

    Raises:
        VersionError: If it fails, with its reason.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input",
               "--retries", "2", "install", "--quiet", "--only-binary=:all:", *words]  # fmt: skip
    pinned = words[0].replace("==", " ")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise VersionError(f"{pinned} cannot be installed: pip took over {_TIMEOUT:g} s") from None
    except OSError as error:
        raise VersionError(f"{pinned} cannot be installed: {one_line(str(error))}") from None
    if done.returncode:
        raise VersionError(f"{pinned} cannot be installed: {_reason(done.stderr.splitlines())}")
    return done.stdout


def _reason(lines: Sequence[str]) -> str:
    said = [line for line in lines if line.startswith("ERROR: ")] or [
        *filter(None, lines),
        "pip failed",
    ]
    if any("No matching distribution" in line for line in said):
        return f"there is no wheel of it for {_interpreter()}"
    return one_line(said[-1].removeprefix("ERROR: "))
