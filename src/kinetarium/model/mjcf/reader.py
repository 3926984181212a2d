"""MJCF robots: the sections of a file in the order in which they depend on each other."""

from collections import Counter
from dataclasses import replace

import numpy as np

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.actuators import read_actuators
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
from kinetarium.model.mjcf.replicate import Replicator
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.mjcf.settings import check_settings
from kinetarium.model.mjcf.tendons import check_tendons
from kinetarium.model.mjcf.vocabulary import check_vocabulary
from kinetarium.model.reading import Reading
from kinetarium.model.robot import IDENTITY, Link, RobotModel
from kinetarium.model.tree import MOST_LINKS, Located, assemble

MOST_GEOMS = 10_000
MOST_PARTS = 20_000
"""The most elements that make up a robot, replicas included."""
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
    scope = _open(root, reading)
    world_sections = root.all("worldbody")
    names = Names([*world_sections, *root.all("equality")])
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
    if world is not None:
        bodies.read_sites(parts, world)
    equalities = EqualityReader(scope=scope, names=names, bodies=bodies, world=world)
    equalities.read(root.all("equality"))
    check_tendons(root.all("tendon"), scope=scope)
    read_actuators(root.all("actuator"), scope=scope, bodies=bodies)
    scope.left_out.report(reading.findings)
    return assemble(
        reading.attributes.name(root, "model") if root.attributes.get("model") else _UNNAMED,
        links=_scaled(bodies.links, scope.compiler.total_mass),
        joints=list(bodies.joints.values()),
        loops=equalities.loops,
        free_base=free,
        reading=reading,
        format="mjcf",
    )


def _open(root: Element, reading: Reading) -> Scope:
    """Make one checked tree of the file and its includes, and read what holds for all of it."""
    origins = Origins(reading.findings)
    left_out = LeftOut()
    include_files(root, reading=reading, origins=origins)
    check_vocabulary(root, reading=reading, origins=origins, left_out=left_out)
    check_settings(root, reading=reading, origins=origins, left_out=left_out)
    compiler = read_compiler(root.all("compiler"), reading=reading)
    Replicator(root, compiler=compiler, reading=reading, origins=origins).write_out()
    _check_size(root, reading)
    defaults = Defaults(root.all("default"), reading=reading, origins=origins)
    reading.findings.stop_if_refused()
    return Scope(reading, origins, left_out, compiler, defaults)


def _check_size(root: Element, reading: Reading) -> None:
    """Refuse what would take minutes to read, before it is read."""
    count = Counter(e.tag for tag in _PARTS for part in root.all(tag) for e in part.walk())
    limits = {"body": MOST_LINKS, "joint": MOST_LINKS, "geom": MOST_GEOMS}
    for tag, most in limits.items():
        _refuse_more(count[tag], most, f"<{tag}>", reading)
    _refuse_more(count.total(), MOST_PARTS, "parts", reading)


def _refuse_more(count: int, most: int, what: str, reading: Reading) -> None:
    if count > most:
        raise reading.findings.refusal(
            Code.TOO_LARGE,
            f"{count:,} {what}; up to {most:,} are read",
            remedy="no robot needs that many; simplify the file",
        )


def _robot_bodies(
    parts: list[Part], *, scope: Scope, bodies: BodyReader
) -> tuple[list[Part], bool]:
    """Tell the robot from its surroundings: its outermost bodies, and whether it floats."""
    candidates = []
    for part in parts:
        element = part.element
        if element.tag == "geom":
            scope.left_out.add("world geom", element.line)
        elif element.tag == "body" and scope.reading.attributes.flag(
            element, "mocap", default=False
        ):
            scope.left_out.add("mocap body", element.line)
            bodies.surroundings.update(_body_names(element))
        elif element.tag == "body":
            candidates.append(part)
    free = [part for part in candidates if bodies.is_free(part)]
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
        bodies.surroundings.update(_body_names(part.element))
    return free, True


def _has_joints(body: Element) -> bool:
    return any(element.tag in JOINTS for element in body.walk())


def _body_names(body: Element) -> set[str]:
    return {element.attributes.get("name", "") for element in body.walk() if element.tag == "body"}


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


def _scaled(links: list[Located[Link]], total: float) -> list[Located[Link]]:
    """Scale all masses so that they add up to a total [kg]; none that is not positive."""
    inertias = [located.item.inertia for located in links]
    mass = sum(inertia.mass for inertia in inertias if inertia)
    if total <= 0 or mass <= 0:
        return links
    return [
        Located(replace(located.item, inertia=scaled_inertia(inertia, total / mass)), located.line)
        if inertia
        else located
        for located, inertia in zip(links, inertias, strict=True)
    ]
