"""The import closure of modules: the source files that their code depends on, and a digest of it.

Imports are read from the source, those within functions too, and followed within a module's own
package and within Kinetarium; of other packages only the names are kept. Comments, docstrings
and imports for type checkers do not count. A name that a package exports lazily (`lazy.py`)
leads to the module it comes from; a package that is imported as a whole leads to all of them.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from kinetarium.lazy import is_for_type_checkers, lazy_names

_OWN = "kinetarium"
_OWN_ROOT = Path(__file__).parents[1]
_BLOCKS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PARTS = (ast.stmt, ast.excepthandler, ast.match_case)


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
            path = self.root.joinpath(*dotted.split("."))
            for file in (path / "__init__.py", path.with_suffix(".py")):
                if dotted and file.is_file():
                    return file, rest
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
        place = waiting.pop()
        if not (found := place.find()):
            continue
        file, name = found
        code = _code(file, file.parent.relative_to(place.root).parts)
        if name in code.exports:
            names = [code.exports[name]]
        else:
            files[file.relative_to(place.root).as_posix()] = code.digest
            names = [*code.imports, *(() if name else code.exports.values())]
        for each in names:
            target = _target(each, file=file, root=place.root)
            if target is None:
                packages.add(each.partition(".")[0])
            elif target not in seen:
                seen.add(target)
                waiting.append(target)
    listed = "\n".join(f"{name} {digest}" for name, digest in sorted(files.items()))
    return ImportClosure(
        frozenset(files),
        sha256(listed.encode()).hexdigest(),
        frozenset(packages - sys.stdlib_module_names),
    )


def _target(name: str, *, file: Path, root: Path) -> _Place | None:
    """Return the place of what a file imports; None if it is another package's."""
    top = name.partition(".")[0]
    if top == _OWN:
        return _Place(_OWN_ROOT, name)
    if file.parent == root:  # a module without a package: those beside it are its own
        return _Place(root, name) if (root / f"{top}.py").is_file() else None
    return _Place(root, name) if top == file.relative_to(root).parts[0] else None


@cache
def _code(file: Path, package: tuple[str, ...]) -> _Code:
    """Read a source file of a package."""
    source = file.read_bytes()
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
