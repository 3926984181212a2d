"""What a result depends on besides its case: versions of packages and of our own code."""

import subprocess
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from platform import machine, platform, python_version
from typing import Any

from kinetarium.plugins import discover

_PACKAGES = (
    "kinetarium", "numpy", "numba", "pin", "mujoco", "pybullet", "dartpy", "sapien", "drake",
    "example-robot-data",
)  # fmt: skip

_NOT_IN_RESULTS = frozenset({"cli", "figure", "report", "studio", "export"})
"""Packages that show results and cannot change them."""


@cache
def versions() -> dict[str, str]:
    """Give the version of everything that can change a result, by name.

    Besides the packages there are Python and the machine's kind, the packages
    of plug-ins, and "source", a digest of our own code.
    """
    plugins = [*discover("kinetarium.engines").values(), *discover("kinetarium.studies").values()]
    names = {*_PACKAGES, *(plugin.package for plugin in plugins)}
    found = {name: number for name in sorted(names) if (number := _version(name))}
    sources = {
        f"source of {plugin.module}": _plugin_digest(plugin.module)
        for plugin in plugins
        if not plugin.module.startswith("kinetarium.")
    }
    own = {"python": python_version(), "machine": machine(), "source": _source_digest()}
    return {**found, **own, **sources}


def environment(command: str, *, seed: int) -> dict[str, Any]:
    """Give how a result is made, for environment.json.

    Args:
        command: The command, without what does not change the result.
        seed: The seed of everything random.
    """
    return {
        "command": command,
        "seed": seed,
        "versions": versions(),
        "platform": platform(terse=True),
        "git_hash": _git_hash(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError, KeyError):  # metadata that cannot be read
        return ""


def _source_digest() -> str:
    digest = sha256()
    for name, content in _sources(files("kinetarium"), ""):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _plugin_digest(module: str) -> str:
    """Digest the package that a plug-in is in, for its code may change under one version."""
    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError):  # a module that says nothing of itself
        spec = None
    places = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    paths = [path for place in places for path in sorted(place.rglob("*.py"))]
    if spec and spec.origin and not paths:
        paths = [Path(spec.origin)]
    sources = (path.read_bytes() for path in paths if path.is_file())
    return sha256(b"\0".join(sources)).hexdigest()[:16]


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        name = f"{prefix}{item.name}"
        if item.is_dir():
            if name not in _NOT_IN_RESULTS and item.name != "__pycache__":
                found.extend(_sources(item, f"{name}/"))
        elif name.endswith((".py", ".urdf", ".toml")):
            found.append((name, item.read_bytes()))
    return found


def _git_hash() -> str:
    """Give the commit of our own source tree; empty where it is not a checkout of ours."""
    source = Path(__file__).parents[2]
    if not (source.parent / ".git").exists():
        return ""
    try:
        words = ["git", "-C", str(source), "rev-parse", "HEAD"]
        return subprocess.run(words, capture_output=True, text=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
