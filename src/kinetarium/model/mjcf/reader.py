"""MJCF robots: the sections of a file in the order in which they depend on each other."""

from collections import Counter
from dataclasses import replace

import numpy as np

from kinetarium.model.findings import Code
from kinetarium.model.inertia import NEGLIGIBLE_MASS
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.actuators import read_actuators
from kinetarium.model.mjcf.asset_files import check_asset_files
from kinetarium.model.mjcf.bodies import JOINTS, WORLD, Body, BodyReader
from kinetarium.model.mjcf.compiler import read_compiler
from kinetarium.model.mjcf.defaults import Defaults
from kinetarium.model.mjcf.equality import EqualityReader
from kinetarium.model.mjcf.frames import Part, parts_of
from kinetarium.model.mjcf.geoms import GeomReader
from kinetarium.model.mjcf.include import include_files
from kinetarium.model.mjcf.joints import JointReader
from kinetarium.model.mjcf.left_out import LeftOut
from kinetarium.model.mjcf.masses import scaled_inertia
from kinetarium.model.mjcf.materials import Materials
from kinetarium.model.mjcf.meshes import Meshes
from kinetarium.model.mjcf.names import Names
from kinetarium.model.mjcf.origins import Origins
from kinetarium.model.mjcf.references import (
    Known,
    check_names,
    check_references,
    written_names,
)
from kinetarium.model.mjcf.replicate import Replicator
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.mjcf.settings import check_settings
from kinetarium.model.mjcf.tendons import check_tendons
from kinetarium.model.mjcf.vocabulary import check_vocabulary
from kinetarium.model.reading import Reading
from kinetarium.model.robot import IDENTITY, Link, RobotModel
from kinetarium.model.tree import MOST_LINKS, Located, assemble

_MOST = {
    "default": 5_000,
    "mesh": 10_000,
    "body": MOST_LINKS,
    "joint": MOST_LINKS,
    "geom": 10_000,
    "parts": 20_000,
}
"""The most elements of a kind, and the most that make up a robot, replicas included."""
_PARTS = ("worldbody", "equality", "tendon", "actuator")
_UNNAMED = "robot"


# Masses and lengths that vanish beside others are as good as zero.
@np.errstate(under="ignore")
def read_mjcf(root: Element, *, reading: Reading) -> RobotModel:
    """Read an MJCF tree as MuJoCo would, as far as it describes a robot.

    Joint coordinates equal MuJoCo's; what belongs to a scene, a viewer or a
    controller is left out and listed among the repairs.

    Args:
        root: The <mujoco> element.
        reading: The file being read.

    Raises:
        RobotFileError: With every fault that was found.
    """
    scope, known = _open(root, reading)
    world_sections = root.all("worldbody")
    names = Names([*world_sections, *root.all("equality")])
    check_asset_files(root.all("asset"), scope=scope)
    pairs = [pair for section in root.all("contact") for pair in section.all("pair")]
    bodies = BodyReader(
        scope=scope,
        names=names,
        joints=JointReader(scope=scope),
        geoms=GeomReader(
            scope=scope,
            meshes=Meshes(root.all("asset"), scope=scope),
            materials=Materials(root.all("asset"), scope=scope),
            paired={pair.attributes.get(name, "") for pair in pairs for name in ("geom1", "geom2")},
        ),
    )
    parts = [part for section in world_sections for part in parts_of(section, scope=scope)]
    robot, free = _robot_bodies(parts, scope=scope, bodies=bodies)
    world = _read_bodies(robot, free=free, scope=scope, bodies=bodies)
    reading.findings.stop_if_refused()
    check_references(root, known, reading=reading, origins=scope.origins)
    reading.findings.stop_if_refused()
    if world is not None:
        bodies.read_sites(parts, world)
    equalities = EqualityReader(scope=scope, names=names, bodies=bodies, world=world)
    equalities.read(root.all("equality"))
    check_tendons(root.all("tendon"), scope=scope)
    read_actuators(root.all("actuator"), scope=scope, bodies=bodies)
    scope.left_out.report(reading.findings)
    return assemble(
        reading.attributes.name(root, "model") if root.attributes.get("model") else _UNNAMED,
        links=_scaled(bodies, scope),
        joints=list(bodies.joints.values()),
        loops=equalities.loops,
        free_base=free,
        reading=reading,
        format="mjcf",
    )


def _open(root: Element, reading: Reading) -> tuple[Scope, Known]:
    """Make one checked tree of the file and its includes, and read what holds for all of it.

    Returns:
        The file, and the names in it.
    """
    origins = Origins(reading.findings)
    left_out = LeftOut()
    include_files(root, reading=reading, origins=origins)
    _check_size(root, reading=reading, origins=origins)
    check_vocabulary(root, reading=reading, origins=origins, left_out=left_out)
    check_settings(root, reading=reading, origins=origins)
    compiler = read_compiler(root.all("compiler"), reading=reading)
    written = written_names(root)
    Replicator(root, compiler=compiler, reading=reading, origins=origins).write_out()
    _check_size(root, reading=reading, origins=origins)
    defaults = Defaults(root.all("default"), reading=reading, origins=origins)
    reading.findings.stop_if_refused()
    defaults.check_all(root)
    reading.findings.stop_if_refused()
    # What is not copied with a replica, such as a sensor, goes on naming the original.
    known = written | check_names(root, reading=reading, origins=origins)
    return Scope(reading, origins, left_out, compiler, defaults), known


def _check_size(root: Element, *, reading: Reading, origins: Origins) -> None:
    """Refuse what would take minutes to read, before it is read."""
    count: Counter[str] = Counter()
    for section in root.children:
        for element in section.walk():
            kinds = [element.tag] if element.tag in _MOST else []
            kinds += ["parts"] if section.tag in _PARTS else []
            count.update(kinds)
            for kind in kinds:
                if count[kind] > _MOST[kind]:
                    with origins.at(element):
                        raise reading.findings.refusal(
                            Code.TOO_LARGE,
                            f"more than {_MOST[kind]:,} {kind if kind == 'parts' else f'<{kind}>'}",
                            remedy="no robot needs that many; simplify the file",
                            line=element.line,
                        )
                    reading.findings.stop_if_refused()


def _robot_bodies(
    parts: list[Part], *, scope: Scope, bodies: BodyReader
) -> tuple[list[Part], bool]:
    """Tell the robot from its surroundings: its outermost bodies, and whether it floats."""
    candidates, surroundings = [], []
    for part in parts:
        element = part.element
        if element.tag == "geom":
            scope.left_out.add("world geom", element.line)
            surroundings.append(part)
        elif element.tag == "body" and scope.reading.attributes.flag(
            element, "mocap", default=False
        ):
            if _has_joints(element):
                raise scope.refusal(
                    Code.UNSUPPORTED,
                    f"{element} is moved from outside, and something moves on it by joints",
                    element,
                    remedy="remove mocap and let the scene place the robot",
                )
            scope.left_out.add("mocap body", element.line)
            surroundings.append(part)
        elif element.tag == "body":
            candidates.append(part)
    free = [part for part in candidates if bodies.is_free(part)]
    bodies.check_surroundings(surroundings)
    if not free:
        return candidates, False
    others = [part for part in candidates if part not in free]
    for part in free[1:] + [part for part in others if _has_joints(part.element)]:
        raise scope.refusal(
            Code.TWO_ROOTS,
            f"{part.element} moves beside {free[0].element}, which floats freely",
            part.element,
            remedy="keep one robot in a file; other things that move belong to the scene",
        )
    for part in others:
        scope.left_out.add("world body", part.element.line)
    bodies.check_surroundings(others)
    return free, True


def _has_joints(body: Element) -> bool:
    return any(element.tag in JOINTS for element in body.walk())


def _read_bodies(robot: list[Part], *, free: bool, scope: Scope, bodies: BodyReader) -> Body | None:
    """Read the robot's bodies and give what stands for the world; None if it floats.

    One body that is fixed at the world's origin is the root itself; otherwise
    a massless link named "world" is.
    """
    if not robot:
        return None
    rooted = free or (len(robot) == 1 and _stands_at_origin(robot[0], scope))
    if rooted:
        bodies.read(robot, None)
        root = bodies.links[0].item.name if bodies.links else WORLD
    else:
        root = WORLD
        bodies.links.append(Located(Link(WORLD), robot[0].element.line))
        bodies.read(robot, Body(WORLD, IDENTITY, IDENTITY, moves=False))
    return None if free else Body(root, IDENTITY, IDENTITY, moves=False)


def _stands_at_origin(part: Part, scope: Scope) -> bool:
    has_joint = any(inner.element.tag in JOINTS for inner in parts_of(part.element, scope=scope))
    return not has_joint and np.array_equal(part.X_BF @ scope.pose(part.element), IDENTITY)


def _scaled(bodies: BodyReader, scope: Scope) -> list[Located[Link]]:
    """Scale all masses so that they add up to the compiler's total; none if it is not positive."""
    total, links = scope.compiler.total_mass, bodies.links
    inertias = [located.item.inertia for located in links]
    mass = sum(inertia.mass for inertia in inertias if inertia)
    if total <= 0 or mass <= 0:
        return links
    if bodies.surroundings or scope.compiler.fuse_static:
        raise scope.findings.refusal(
            Code.UNSUPPORTED,
            "settotalmass with fusestatic or with bodies beside the robot is not supported",
            remedy="write the masses of the robot themselves",
        )
    for located, inertia in zip(links, inertias, strict=True):
        if inertia and not NEGLIGIBLE_MASS <= inertia.mass * total / mass:
            raise scope.findings.refusal(
                Code.MASS,
                f"settotalmass leaves next to nothing of link {located.item.name!r}",
                remedy="give the mass of the whole robot in kg",
                line=located.line,
            )
    return [
        Located(replace(located.item, inertia=scaled_inertia(inertia, total / mass)), located.line)
        if inertia
        else located
        for located, inertia in zip(links, inertias, strict=True)
    ]
