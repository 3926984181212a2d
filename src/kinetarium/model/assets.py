"""Resolving the meshes and includes of a robot file, within the allowed roots only."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from itertools import chain, islice, takewhile
from pathlib import Path

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError, read_robot_part
from kinetarium.model.markup import parse_xml

_PACKAGES = ("pybullet_data", "dm_control", "gymnasium", "gymnasium_robotics", "mujoco")
"""Python packages with robot files."""


@cache
def installed_packages() -> dict[str, Path]:
    """Return the folders of the installed robot data packages by name, without importing them."""
    found = {"example-robot-data": _example_robot_data()}
    found |= {name: _package_folder(name) for name in _PACKAGES}
    return {name: folder.resolve() for name, folder in found.items() if folder and folder.is_dir()}


def _example_robot_data() -> Path | None:
    """The wheel installs its data under its own prefix, outside the Python packages."""
    try:
        wheel = distribution("example-robot-data")
    except PackageNotFoundError:
        return None
    return Path(str(wheel.locate_file("cmeel.prefix/share/example-robot-data")))


def _package_folder(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


MOST_CHARACTERS = 4096
"""The longest address that is resolved."""
MOST_FOLDERS = 1000
"""Entries of a root that are searched for packages."""


class AssetResolver:
    """Resolves the addresses in a robot file to files within the allowed roots.

    Allowed are the robot file's own folder, the roots that the user named and the
    installed robot data packages, after symbolic links are resolved. Nothing is ever
    fetched from a network.
    """

    def __init__(
        self, folder: Path, *, roots: Sequence[Path] = (), diagnostics: Diagnostics
    ) -> None:
        """Set the allowed roots.

        Args:
            roots: Folders that the user named (--mesh-root): packages, or folders of packages.
        """
        for root in roots:
            if not os.path.isdir(root):
                raise diagnostics.refusal(
                    Code.UNREADABLE,
                    f"the mesh root {str(root)!r} is not a folder",
                    remedy="--mesh-root takes an existing folder",
                )
        self._diagnostics = diagnostics
        # Texts: a robot has a hundred meshes, and `Path` is slow.
        self._packages = {name: str(path) for name, path in installed_packages().items()}
        self._real_folders = {path: path for path in self._packages.values()}
        self._folder = self._real_file(str(folder)) if folder.is_absolute() else _real(folder)
        self._roots = [_real(root) for root in roots]
        self._named = _prefixes(self._roots)
        self._allowed = _prefixes([self._folder, *self._roots, *self._packages.values()])
        # A robot has many meshes in few folders, and finding a folder takes many system calls.
        self._found: dict[tuple[str, Path | None], Path] = {}
        self._is_folder = cache(os.path.isdir)
        self._real_folders.update({path: path for path in (self._folder, *self._roots)})

    def mesh(self, uri: str, *, line: int | None, folder: Path | None = None) -> Path:
        """Find a mesh file.

        Args:
            uri: The address as written: a relative path, package://NAME/... or
                model://NAME/..., or an absolute path or file:// within a root that the
                user named.
            line: The line of the address.
            folder: What a relative path is relative to; the robot file's folder if None.

        Returns:
            The regular file, with symbolic links resolved.

        Raises:
            RobotFileError: With the code MESH_MISSING, MESH_OUTSIDE, MESH_REMOTE,
                MESH_BROKEN if it is not a regular file, or BAD_VALUE if the address
                is invalid.
        """
        try:
            if (uri, folder) not in self._found:  # many meshes are both seen and touched
                self._found[uri, folder] = self._find(uri, folder)
            return self._found[uri, folder]
        except _UnusableError as error:
            remedy = error.remedy
            if error.code is Code.MESH_MISSING:
                remedy += ", or --allow-missing-mesh to leave it out"
            raise self._diagnostics.refusal(
                error.code, f"mesh {_shown(uri)} {error.problem}", remedy=remedy, line=line
            ) from None

    def include(self, uri: str, *, line: int | None, folder: Path | None = None) -> Path:
        """Find a file that the robot file includes; as `mesh`, but every refusal is INCLUDE."""
        try:
            return self._find(uri, folder)
        except _UnusableError as error:
            raise self._diagnostics.refusal(
                Code.INCLUDE,
                f"include {_shown(uri)} {error.problem}",
                remedy=error.remedy,
                line=line,
            ) from None

    def _find(self, uri: str, folder: Path | None) -> Path:
        if uri.startswith(("//", "\\\\")):
            raise _UnusableError(Code.MESH_REMOTE, "is on another computer", _COPY_IT)
        if not uri.strip() or not uri.isprintable() or "\\" in uri or len(uri) > MOST_CHARACTERS:
            raise _UnusableError(
                Code.BAD_VALUE,
                "is empty, too long, or contains backslashes or unprintable characters",
                "write a path with forward slashes",
            )
        if uri.lower().startswith("file:/") and not uri[6:].startswith("/"):
            uri = f"file://{uri[5:]}"
        scheme, separator, rest = uri.partition("://")
        if not separator:
            if os.path.isabs(uri):
                return self._first([uri], allowed=self._named)
            try:
                return self._relative(uri, folder)
            except _UnusableError as error:
                if error.code is Code.MESH_MISSING:  # a file name may contain a colon
                    _refuse_scheme(uri)
                raise
        match scheme.lower():
            case "package" | "model":
                return self._in_package(rest, folder)
            case "file" if rest.startswith("/"):
                return self._first(["/" + rest.lstrip("/")], allowed=self._named)
        raise _UnusableError(Code.MESH_REMOTE, "is not a file of this computer", _COPY_IT)

    def _relative(self, address: str, folder: Path | None) -> Path:
        start = self._folder if folder is None else _real(folder)
        enclosing = [p for p in self._packages.values() if _within(start, _prefixes([p]))]
        bases = [start, *self._roots, *enclosing]
        return self._first(os.path.join(base, address) for base in bases)

    def _in_package(self, address: str, folder: Path | None) -> Path:
        """Find NAME/rest; some files write a third slash before NAME, or have no NAME."""
        name, _, rest = address.lstrip("/").partition("/")
        rest = rest.lstrip("/")
        if name in (".", "..") or (
            ".." in rest and os.path.normpath(rest).split("/", 1)[0] == ".."
        ):
            raise _UnusableError(Code.MESH_OUTSIDE, "leaves its package", "remove the '..'")
        folders = filter(self._is_folder, self._package_folders(name))
        best = next(folders, None) if name else None
        if best is not None:
            return self._first(os.path.join(folder, rest) for folder in chain([best], folders))
        if name and (not rest or address.startswith("/")):
            try:
                return self._relative(address.lstrip("/"), folder)
            except _UnusableError:
                if not rest:
                    raise
        raise _UnusableError(
            Code.MESH_MISSING,
            f"is in the unknown package {_shown(name)}",
            "pass --mesh-root DIR, the package's folder or its parent",
        )

    def _package_folders(self, name: str) -> Iterator[str]:
        """Yield the folders where a package may be, best first."""
        yield from (os.path.join(root, name) for root in self._roots)
        yield from (root for root in self._roots if os.path.basename(root) == name)
        # The robot file's own package, searched upwards within the roots.
        own = [folder for folder in _upwards(self._folder) if os.path.basename(folder) == name]
        yield from (folder for folder in own if _within(folder, self._allowed))
        yield from self._declared_packages.get(name, ())
        if all(_within(folder, self._allowed) for folder in own):  # else the user's is elsewhere
            installed = self._packages.values()
            if name in self._packages:
                yield self._packages[name]
            yield from (os.path.join(folder, "robots", name) for folder in installed)
            yield from (os.path.join(folder, name) for folder in installed)
        yield os.path.join(self._folder, name)

    @cached_property
    def _declared_packages(self) -> dict[str, list[str]]:
        """The folders, in and above the roots' own, that a package.xml names otherwise."""
        folders = [folder for folder in _upwards(self._folder) if _within(folder, self._named)]
        for root in self._roots:
            folders.append(root)
            with suppress(OSError), os.scandir(root) as entries:
                folders += sorted(entry.path for entry in islice(entries, MOST_FOLDERS))
        found: dict[str, list[str]] = {}
        for folder in dict.fromkeys(folders):
            with suppress(OSError, RobotFileError):
                file = self._real_file(os.path.join(folder, "package.xml"))
                if _within(file, self._allowed) and os.path.isfile(file):
                    found.setdefault(_package_name(Path(file)), []).append(folder)
        return found

    def _first(self, candidates: Iterable[str], allowed: tuple[str, ...] | None = None) -> Path:
        """Return the first candidate that exists inside the allowed roots and is a regular file."""
        outside, reason = True, ""
        for candidate in candidates:
            try:
                path = self._real_file(candidate)
                if not _within(path, self._allowed if allowed is None else allowed):
                    continue
                outside = False
                mode = os.stat(path).st_mode
            except OSError as error:
                reason = reason or (error.strerror or "unreadable").lower()
                continue
            if not stat.S_ISREG(mode):
                raise _UnusableError(
                    Code.MESH_BROKEN, "is not a regular file", "name a file, not a folder or device"
                )
            return Path(path)
        if outside:
            raise _UnusableError(
                Code.MESH_OUTSIDE,
                "is outside the robot file's folder and every mesh root",
                "pass --mesh-root DIR for the folder that contains it",
            )
        raise _UnusableError(
            Code.MESH_MISSING,
            f"cannot be found: {reason}",
            "pass --mesh-root DIR for the folder that contains it",
        )

    def _real_file(self, path: str) -> str:
        """Resolve every symbolic link of an absolute path; folders are resolved once."""
        real = self._real_folders
        above = os.path.dirname(path)
        if above not in real:
            for folder in reversed([*takewhile(lambda one: one not in real, _upwards(above))]):
                real[folder] = _real_child(real, folder)
        return _real_child(real, path)


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_COPY_IT = "download it and name the local file"


class _UnusableError(Exception):
    """Why an address has no file; meshes and includes report it under different codes."""

    def __init__(self, code: Code, problem: str, remedy: str) -> None:
        self.code, self.problem, self.remedy = code, problem, remedy
        super().__init__(problem)


def _refuse_scheme(uri: str) -> None:
    """Refuse addresses with other schemes, such as data:..., which no root can resolve."""
    match = _SCHEME.match(uri)
    if match is None:
        return
    if len(match[1]) == 1:
        code, problem = Code.MESH_OUTSIDE, "is on a Windows drive"
    else:
        code, problem = Code.MESH_REMOTE, f"has the unsupported scheme {match[0]}"
    raise _UnusableError(code, problem, "write a path relative to the robot file")


def _real(path: str | Path) -> str:
    """Resolve every symbolic link of a path, existing or not."""
    try:
        return os.path.realpath(path)
    except RecursionError:
        raise _UnusableError(
            Code.MESH_BROKEN, "leads through too many symbolic links", "name the file itself"
        ) from None


def _real_child(real_folders: Mapping[str, str], path: str) -> str:
    """Resolve a path in a folder that is resolved, or the root of the file system."""
    folder, name = os.path.split(path)
    found = os.path.join(real_folders.get(folder, folder), name)
    plain = name not in ("", ".", "..") and not os.path.islink(found)
    return found if plain else _real(found)


def _upwards(folder: str) -> Iterator[str]:
    """Yield a real folder and those that contain it, up to the root of the file system."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _prefixes(roots: Iterable[str]) -> tuple[str, ...]:
    return tuple(os.path.join(root, "") for root in roots)


def _within(path: str, prefixes: tuple[str, ...]) -> bool:
    """Return whether a real path is one of the real folders of the prefixes, or below one."""
    return os.path.join(path, "").startswith(prefixes)


def _package_name(file: Path) -> str:
    """Return the name in a package.xml; empty if there is none."""
    diagnostics = Diagnostics(str(file))
    data = read_robot_part(file, diagnostics=diagnostics, most=2**20)
    names = parse_xml(data, diagnostics=diagnostics).all("name")
    return names[0].text.strip() if names else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:197] + "...")
