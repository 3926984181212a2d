"""The import closure of modules: the source files that their code depends on, and a digest of it.

Imports are read from the source, those within functions too, and followed within a module's own
package and within Kinetarium; of other packages only the names are kept. Comments, docstrings
and imports for type checkers do not count. A name that a package exports lazily (`lazy.py`)
leads to the module it comes from; a package that is imported as a whole leads to all of them.

Parsing a hundred files takes half a second, at the start of every command with kernels; what was
read of a file is therefore kept in `__pycache__`, as kernels are, by the digest of its text.
"""

import ast
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Any

from kinetarium.lazy import is_for_type_checkers, lazy_names

_OWN = "kinetarium"
_OWN_ROOT = Path(__file__).parents[1]
_BLOCKS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PARTS = (ast.stmt, ast.excepthandler, ast.match_case)
_MOST_KEPT = 2000
"""Source files that are remembered, of this and of earlier releases; the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class ImportClosure:
    """What the code of some modules depends on.

    Attributes:
        files: Source files of their own packages and of Kinetarium, from the package on.
        digest: Digest of the code in these files.
        packages: Other packages that they import, without the standard library.
    """

    files: frozenset[str]
    digest: str
    packages: frozenset[str]


def module_closure(modules: Iterable[str]) -> ImportClosure:
    """Return the closure of modules by their names; those without a source file are left out."""
    files = ((_source_file(module), module.count(".")) for module in modules)
    return _closure(
        _Place.of(file, root=file.parents[depth + (file.name == "__init__.py")])
        for file, depth in files
        if file is not None
    )


@cache
def file_closure(file: Path) -> ImportClosure:
    """Return the closure of a module by its source file."""
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    return _closure([_Place.of(file, root=root)])


def _source_file(module: str) -> Path | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        spec = None if file else find_spec(module)
    except (ImportError, ValueError):  # there is no such module, or it has no spec
        spec = None
    path = Path(file or (spec and spec.origin) or "")
    return path if path.suffix == ".py" and path.is_file() else None


@dataclass(frozen=True, slots=True)
class _Place:
    """What an import names: a module, or a name in one, below the folder of its package."""

    root: Path
    name: str

    @classmethod
    def of(cls, file: Path, *, root: Path) -> "_Place":
        return cls(root, ".".join(file.relative_to(root).with_suffix("").parts))

    def find(self) -> tuple[Path, str] | None:
        """Return the source file, and the name in it that is meant; empty for all of it."""
        module, _, name = self.name.rpartition(".")
        for dotted, rest in ((self.name, ""), (module, name)):
            path = os.path.join(self.root, *dotted.split("."))
            for file in (os.path.join(path, "__init__.py"), f"{path}.py"):
                if dotted and os.path.isfile(file):
                    return Path(file), rest
        return None


@dataclass(frozen=True, slots=True)
class _Code:
    """A source file: a digest of its code, what it imports, and the names it exports lazily."""

    digest: str
    imports: tuple[str, ...]
    exports: dict[str, str]


def _closure(places: Iterable[_Place]) -> ImportClosure:
    waiting = list(places)
    seen = set(waiting)
    files: dict[str, str] = {}
    packages: set[str] = set()
    while waiting:
        node = _node(waiting.pop())
        files |= node.file
        packages |= node.packages
        waiting += node.targets - seen
        seen |= node.targets
    _kept().save()
    listed = "\n".join(f"{name} {digest}" for name, digest in sorted(files.items()))
    return ImportClosure(
        frozenset(files),
        sha256(listed.encode()).hexdigest(),
        frozenset(packages - sys.stdlib_module_names),
    )


@dataclass(frozen=True, slots=True)
class _Node:
    """A place in the graph of imports.

    Attributes:
        file: Its source file, from the package on, with the digest of its code; empty if there is
            none, or if it only passes on a name of another module.
        targets: The places it leads to.
        packages: Other packages that it imports.
    """

    file: dict[str, str]
    targets: frozenset[_Place]
    packages: frozenset[str]


@cache
def _node(place: _Place) -> _Node:
    if not (found := place.find()):
        return _Node({}, frozenset(), frozenset())
    path, name = found
    inner = path.relative_to(place.root)
    code = _code(path, inner.parent.parts)
    if name in code.exports:
        file, names = {}, [code.exports[name]]
    else:
        file = {inner.as_posix(): code.digest}
        names = [*code.imports, *(() if name else code.exports.values())]
    top = inner.parts[0] if len(inner.parts) > 1 else ""
    targets = {each: _target(each, top, place.root) for each in names}
    return _Node(
        file,
        frozenset(target for target in targets.values() if target),
        frozenset(each.partition(".")[0] for each, target in targets.items() if not target),
    )


def _target(name: str, top: str, root: Path) -> _Place | None:
    """Return the place of what a file of a package imports; None if it is another package's."""
    first = name.partition(".")[0]
    if first == _OWN:
        return _Place(_OWN_ROOT, name)
    if not top:  # a module without a package: those beside it are its own
        return _Place(root, name) if (root / f"{first}.py").is_file() else None
    return _Place(root, name) if first == top else None


@cache
def _code(file: Path, package: tuple[str, ...]) -> _Code:
    """Read a source file of a package."""
    source = file.read_bytes()
    key = sha256(_reader() + ".".join(package).encode() + b"\0" + source).hexdigest()
    code = _kept().find(key)
    if code is None:
        code = _parsed(source, package)
        _kept().add(key, code)
    return code


def _parsed(source: bytes, package: tuple[str, ...]) -> _Code:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # it cannot be imported
        return _Code(sha256(source).hexdigest(), (), {})
    exports = {name: f"{module}.{name}" for name, module in lazy_names(tree).items()}
    names = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            names += [module if a.name == "*" else f"{module}.{a.name}" for a in node.names]
    return _Code(sha256(ast.dump(tree).encode()).hexdigest(), tuple(names), exports)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all statements; those without effect on a run are taken out of the tree first."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if is_for_type_checkers(node):
            node.body = []
        elif isinstance(node, _BLOCKS):
            node.body = [each for each in node.body if not _is_text(each)]
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, _PARTS)]


def _is_text(node: ast.stmt) -> bool:
    """Return whether a statement is only a text, as docstrings are."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


class _Kept:
    """What was read of source files, by the digests of their texts, beside our byte code."""

    def __init__(self) -> None:
        self._codes: dict[str, Any] = {}
        self._is_new = False
        # Whatever is wrong with the file, it can be made again.
        with suppress(OSError, ValueError):
            data = json.loads(_kept_file().read_bytes())
            self._codes = data if isinstance(data, dict) else {}

    def find(self, key: str) -> _Code | None:
        match self._codes.get(key):
            case {"digest": str(digest), "imports": [*imports], "exports": {**exports}}:
                names = {str(name): str(module) for name, module in exports.items()}
                return _Code(digest, tuple(map(str, imports)), names)
        return None

    def add(self, key: str, code: _Code) -> None:
        self._codes[key] = asdict(code)
        self._is_new = True

    def save(self) -> None:
        if not self._is_new:
            return
        self._is_new = False
        newest = dict(list(self._codes.items())[-_MOST_KEPT:])
        path = _kept_file()
        part = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):  # it is read again then, as byte code is compiled again
            path.parent.mkdir(exist_ok=True)
            part.write_text(json.dumps(newest))
            part.replace(path)


def _kept_file() -> Path:
    return Path(cache_from_source(__file__)).with_suffix(".json")


@cache
def _kept() -> _Kept:
    return _Kept()


@cache
def _reader() -> bytes:
    """Return a digest of what reads sources: this module and Python's parser."""
    return sha256(Path(__file__).read_bytes() + sys.version.encode()).digest()
