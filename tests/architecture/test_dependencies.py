"""Who may import what: libraries have one home, layers know of none above, modules have users."""

import ast
import re
import sys
import tomllib

import pytest

from kinetarium.batch.study import MODULES
from source_tree import (
    FILES,
    NAMES,
    ROOT,
    import_graph,
    imported,
    module_name,
    plugin_packages,
    tree,
)

ENGINES = plugin_packages("kinetarium.engines")
STUDIES = [
    name for name in NAMES if name.count(".") == 2 and name.startswith("kinetarium.studies.")
]
LIBRARIES = {
    "kinetarium": ("numpy", "scipy"),
    "kinetarium.batch": ("dask", "dask_jobqueue", "distributed", "polars"),
    "kinetarium.cli": ("rich", "tyro"),
    "kinetarium.dynamics": ("pinocchio",),
    "kinetarium.engines.bullet": ("pybullet",),
    "kinetarium.engines.dart": ("dartpy",),
    "kinetarium.engines.drake": ("pydrake",),
    "kinetarium.engines.mujoco": ("mujoco",),
    "kinetarium.engines.newton": ("mujoco_warp", "newton", "warp"),
    "kinetarium.engines.physx": ("sapien",),
    "kinetarium.engines.rapier": ("rapier3d",),
    "kinetarium.export": ("mcap", "polars", "rosbags"),
    "kinetarium.gym": ("gymnasium",),
    "kinetarium.legs": ("PIL",),
    "kinetarium.recording": ("msgspec",),
    "kinetarium.report": ("PIL", "jinja2", "markupsafe", "matplotlib", "mpl_toolkits", "plotly"),
    "kinetarium.spatial": ("numba",),
    "kinetarium.storage": ("msgspec", "tomli_w"),
    "kinetarium.studio": ("h11", "uvicorn", "websockets"),
}
"""The only packages that may import a library, within functions too."""

SMALL = 80
"""Lines of a module that is too small to serve one sibling alone."""
ALIKE = {
    "kinetarium.cli.commands": "commands of one theme each, loaded by name",
    "kinetarium.engines.conformance": "checks of one subject each",
    **dict.fromkeys(ENGINES, "all engines are alike"),
}
"""Packages whose modules are told apart by what they are about, not by who imports them."""

BY_NAME = {
    name
    for name in NAMES
    if name.startswith("kinetarium.studies.") and name.rpartition(".")[2] in MODULES.values()
}
"""Modules in which a study finds its functions."""

GROUPS = {"kinetarium.engines", "kinetarium.studies"}
"""Entry-point groups: names that plug-ins are found by."""


def within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def test_libraries_are_imported_in_their_own_package() -> None:
    ours = sys.stdlib_module_names | {"kinetarium"}
    astray = []
    for name, path in NAMES.items():
        for library in {each.partition(".")[0] for each in imported(path)} - ours:
            homes = [package for package, held in LIBRARIES.items() if library in held]
            if not any(within(name, home) for home in homes):
                astray.append(f"{name} imports {library}, which belongs to {homes}")
    assert astray == []


@pytest.mark.parametrize("packages", [ENGINES, STUDIES], ids=["engines", "studies"])
def test_engines_and_studies_do_not_import_each_other(packages: list[str]) -> None:
    above = packages[0].rpartition(".")[0]
    for name, found in import_graph().items():
        if within(name, above) and name != above:  # which offers public names of some
            others = [p for p in packages if not within(name, p)]
            assert not [each for each in found if any(within(each, p) for p in others)], name


def layers() -> dict[str, int]:
    """Return the height of each part of the package, as import-linter has it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    rows = next(c["layers"] for c in settings["contracts"] if c["type"] == "layers")
    return {
        part.strip(" ()"): height
        for height, row in enumerate(reversed(rows))
        for part in row.split(":")
    }


def test_layers_do_not_name_higher_ones() -> None:
    heights = layers()
    found = []
    for path in FILES:
        own = heights.get(module_name(path).removeprefix("kinetarium.").split(".")[0], 99)
        nodes = list(ast.walk(tree(path)))
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if (
                isinstance(node, ast.Constant)
                and id(node) not in prose
                and node.value not in GROUPS
            ):
                named = re.findall(r"\bkinetarium[./](\w+)", str(node.value))
                if any(heights.get(part, 0) > own for part in named):
                    found.append(f"{path}:{node.lineno}: {node.value}")
    assert found == []


def serves_one_sibling(name: str) -> bool:
    users = [user for user, found in import_graph().items() if name in found]
    package = name.rpartition(".")[0]
    if NAMES[name].name == "__init__.py" or package in ALIKE or name in BY_NAME:
        return False
    return len(users) == 1 and users[0].rpartition(".")[0] == package


def test_small_modules_that_serve_one_sibling_are_part_of_it() -> None:
    """Kernels are apart, since they load Numba and what describes them must not."""
    small = {n for n, path in NAMES.items() if len(path.read_text("utf-8").splitlines()) < SMALL}
    kernels = {n for n, path in NAMES.items() if "kinetarium.spatial.compiled" in imported(path)}
    assert {name for name in small - kernels if serves_one_sibling(name)} == set()


def test_modules_that_serve_one_sibling_are_private() -> None:
    public = {name for name in NAMES if not name.rpartition(".")[2].startswith("_")}
    assert {name for name in public if serves_one_sibling(name)} == set()


def test_every_module_is_used() -> None:
    used = {found for all_found in import_graph().values() for found in all_found}
    plain = {n for n, path in NAMES.items() if path.name not in ("__init__.py", "__main__.py")}
    assert {n for n in plain - used - BY_NAME if n.rpartition(".")[0] not in ALIKE} == set()
