"""Reading MJCF: the sections of a file, in the order of their dependencies."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import atan2, hypot

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code, RobotFileError
from kinetarium.model.inertia import NEGLIGIBLE_MASS, scaled_inertia
from kinetarium.model.markup import Element
from kinetarium.model.mjcf._constraints import EqualityReader, read_actuators, set_springdampers
from kinetarium.model.mjcf._expansion import Replicator, accept_dialects, include_files
from kinetarium.model.mjcf.bodies import JOINTS, WORLD, BodyReader, MjcfBody
from kinetarium.model.mjcf.compiler import read_compiler
from kinetarium.model.mjcf.document import (
    Defaults,
    MjcfDocument,
    Names,
    PlacedElement,
    placed_elements,
)
from kinetarium.model.mjcf.geoms import GeomReader, Materials
from kinetarium.model.mjcf.joints import JointReader
from kinetarium.model.mjcf.meshes import Meshes
from kinetarium.model.mjcf.references import (
    Known,
    check_names,
    check_references,
    written_names,
)
from kinetarium.model.mjcf.vocabulary import check_vocabulary
from kinetarium.model.mjcf.vocabulary.element_rule import LeftOut
from kinetarium.model.reading import Reading
from kinetarium.model.robot import IDENTITY, Declarations, Link, RobotModel, Site
from kinetarium.model.tree import MOST_LINKS, Located, assemble
from kinetarium.spatial.arrays import frozen

MOST_ENTRIES = 10**8
"""Greatest number of entries of any kind, against files that exhaust the memory."""
MOST_MEMORY = 16 * 2**30
"""Greatest memory that a file may request [bytes]."""

_NOT_NEGATIVE = (
    "timestep", "impratio", "density", "viscosity", "tolerance", "ls_tolerance",
    "noslip_tolerance", "ccd_tolerance", "sleep_tolerance", "iterations", "ls_iterations",
    "noslip_iterations", "ccd_iterations", "sdf_iterations", "sdf_initpoints", "o_margin",
)  # fmt: skip
_MEMORY = re.compile(r"([0-9]{1,18})([KMGTPE]?)", re.IGNORECASE)
_AREAS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}


def check_settings(root: Element, *, reading: Reading) -> None:
    """Refuse invalid options and sizes that would exhaust the memory."""
    for option in root.all("option"):
        with reading.diagnostics.at(option):
            _check_option(option, reading)
    for numeric in (child for section in root.all("custom") for child in section.all("numeric")):
        with reading.diagnostics.at(numeric):
            _check_count(
                reading.attributes.number(numeric, "size", default=0.0), numeric, "size", reading
            )
    for size in root.all("size"):
        with reading.diagnostics.at(size):
            _check_size(size, reading)
    for asset in (child for section in root.all("asset") for child in section.children):
        if asset.tag in _AREAS:
            with reading.diagnostics.at(asset):
                rows, columns = (
                    reading.attributes.number(asset, name, default=0.0)
                    for name in _AREAS[asset.tag]
                )
                _check_count(rows * columns, asset, " x ".join(_AREAS[asset.tag]), reading)


def _check_option(option: Element, reading: Reading) -> None:
    for name in _NOT_NEGATIVE:
        if reading.attributes.number(option, name, default=1.0) < 0:
            raise reading.diagnostics.refusal(Code.BAD_VALUE, f"{option}: {name} is negative")
    if reading.attributes.number(option, "timestep", default=1.0) == 0:
        raise reading.diagnostics.refusal(Code.BAD_VALUE, f"{option}: timestep is zero")


def _check_size(size: Element, reading: Reading) -> None:
    for name in size.attributes:
        if name != "memory":
            _check_count(reading.attributes.number(size, name), size, name, reading)
    text = size.attributes.get("memory", "-1").strip()
    match = _MEMORY.fullmatch(text)
    if text != "-1" and not match:
        raise reading.diagnostics.refusal(
            Code.BAD_NUMBER,
            f"{size}: memory is {text[:40]!r}",
            remedy="write an integer with one of the letters K, M, G, or -1",
        )
    if match:
        unit = " KMGTPE".index(match[2].upper() or " ")
        if int(match[1]) * 1024**unit > MOST_MEMORY:
            raise reading.diagnostics.refusal(
                Code.TOO_LARGE, f"{size} requests {text} bytes of memory"
            )


def _check_count(count: float, element: Element, what: str, reading: Reading) -> None:
    if count > MOST_ENTRIES:
        raise reading.diagnostics.refusal(
            Code.TOO_LARGE,
            f"{element}: {what} is {count:g}",
            remedy=f"the limit is {MOST_ENTRIES:g}",
        )
    if count < -1 or count != int(count):
        raise reading.diagnostics.refusal(
            Code.BAD_VALUE, f"{element}: {what} is {count:g}, not a count"
        )


_FORCES = ("stiffness", "damping", "frictionloss", "armature")


def check_tendons(
    sections: Sequence[Element], *, document: MjcfDocument, bodies: BodyReader
) -> None:
    """Refuse tendons that affect the motion of the robot."""
    for written in (child for section in sections for child in section.children):
        with document.diagnostics.at(written):
            element = document.defaults.complete(written)
            if not written.children:
                raise document.diagnostics.refusal(
                    Code.MISSING_ELEMENT, f"{element} has no joints or sites",
                    remedy="name its joints or sites",
                )  # fmt: skip
            read = document.reading.attributes
            if bodies.leaves_out(written):
                continue
            bears = any(any(read.numbers(element, name, default=())) for name in _FORCES)
            if bears or document.interval(element, limited="limited", bounds="range"):
                document.let_pass(
                    Allowance.TENDONS,
                    element,
                    "tendons with limits, springs, losses or mass are not supported",
                    remedy="couple the joints by an equality instead",
                    repair="leave out such forces",
                )
            document.left_out.add("tendon", element)


_KINDS = ("texture", "hfield", "skin")


def check_asset_files(sections: Sequence[Element], *, document: MjcfDocument) -> None:
    """Check the files of omitted assets: outside the roots, remote or not regular is refused.

    A file that is only missing is omitted with its asset.
    """
    for element in (child for section in sections for child in section.children):
        if element.tag in _KINDS:
            for name, address in element.attributes.items():
                if name.startswith("file"):
                    with document.diagnostics.at(element):
                        _check(element, address, document)


def _check(element: Element, written: str, document: MjcfDocument) -> None:
    compiler = document.compiler
    folder = compiler.texture_folder if element.tag == "texture" else compiler.mesh_folder
    allowed = {Code.MESH_MISSING}
    if Allowance.MISSING_MESH in document.diagnostics.allow:
        allowed |= {Code.MESH_OUTSIDE, Code.MESH_REMOTE}
    try:
        document.reading.assets.mesh(compiler.address(written, folder=folder), line=element.line)
    except RobotFileError as error:
        (refusal,) = error.refusals
        if refusal.code not in allowed:
            message = refusal.message.replace("mesh", f"the file of {element},", 1)
            raise RobotFileError(replace(refusal, message=message)) from None


_MOST = {
    "default": 5_000,
    "mesh": 10_000,
    "body": MOST_LINKS,
    "joint": MOST_LINKS,
    "geom": 10_000,
    "parts": 20_000,
}
"""Greatest number of elements of a kind, and of all parts of a robot, replicas included."""
_PARTS = ("worldbody", "equality", "tendon", "actuator")
_OF_NAMES = (Code.EMPTY_NAME, Code.DUPLICATE_NAME)
_UNNAMED = "robot"


# Masses and lengths below this fraction of others count as zero.
@np.errstate(under="ignore")
def read_mjcf(root: Element, *, reading: Reading) -> RobotModel:
    """Read the robot of an MJCF tree as MuJoCo does.

    Joint coordinates equal MuJoCo's; elements of a scene, a viewer or a controller are
    omitted and listed in the repairs.
    """
    reading.diagnostics.allow -= {Allowance.COMMA}  # which is for URDF
    document, known = _open(root, reading)
    world_sections = root.all("worldbody")
    names = Names([*world_sections, *root.all("equality")])
    check_asset_files(root.all("asset"), document=document)
    pairs = [pair for section in root.all("contact") for pair in section.all("pair")]
    bodies = BodyReader(
        document=document,
        names=names,
        joints=JointReader(document=document),
        geoms=GeomReader(
            document=document,
            meshes=Meshes(root.all("asset"), document=document),
            materials=Materials(root.all("asset"), document=document),
            paired={pair.attributes.get(name, "") for pair in pairs for name in ("geom1", "geom2")},
        ),
    )
    parts = [
        part for section in world_sections for part in placed_elements(section, document=document)
    ]
    robot, free = _robot_bodies(parts, document=document, bodies=bodies)
    world = _read_bodies(robot, free=free, document=document, bodies=bodies)
    if bodies.unread or any(r.code in _OF_NAMES for r in reading.diagnostics.refusals):
        reading.diagnostics.stop_if_refused()  # what refers to them is not at fault
    check_references(root, known, reading=reading)
    if world is not None:
        bodies.read_sites(parts, world)
    equalities = EqualityReader(
        document=document,
        names=names,
        bodies=bodies,
        world=world,
        tendons=[tendon for section in root.all("tendon") for tendon in section.children],
    )
    equalities.read(root.all("equality"))
    check_tendons(root.all("tendon"), document=document, bodies=bodies)
    driven = read_actuators(root.all("actuator"), document=document, bodies=bodies)
    set_springdampers(bodies, free=free)
    document.left_out.report(reading.diagnostics)
    model = assemble(
        reading.attributes.name(root, "model") if root.attributes.get("model") else _UNNAMED,
        links=_scaled(bodies, document),
        joints=list(bodies.joints.values()),
        loops=equalities.loops,
        free_base=free,
        reading=reading,
        format="mjcf",
    )
    sites = (
        Site(name, body.link, frozen(body.X_LB @ X_BS))
        for name, (body, X_BS) in bodies.sites.items()
    )
    links = {link.name for link in model.links}
    poses, tilts = _keyframes(root.all("keyframe"), model=model, document=document)
    return replace(
        model,
        declared=Declarations(
            driven=driven,
            poses=poses,
            tilts=tilts,
            sites=tuple(site for site in sites if site.link in links),
        ),
    )


def _keyframes(
    sections: Sequence[Element], *, model: RobotModel, document: MjcfDocument
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return the keyframes that hold this robot and nothing else: joint positions, and tilts."""
    base = 7 if model.free_base else 0
    poses: dict[str, dict[str, float]] = {}
    tilts: dict[str, float] = {}
    for number, key in enumerate(key for section in sections for key in section.all("key")):
        values = document.reading.attributes.numbers(key, "qpos", default=())
        if len(values) == base + len(model.moving_joints):
            joints = zip(model.moving_joints, values[base:], strict=True)
            name = key.attributes.get("name") or f"key{number}"
            poses[name] = {joint.name: value for joint, value in joints}
            if base:
                w, x, y, z = values[3:7]
                tilts[name] = 2 * atan2(hypot(x, y), hypot(w, z))
    return poses, tilts


def _open(root: Element, reading: Reading) -> tuple[MjcfDocument, Known]:
    """Expand and check the file, read its global settings, and list the names in it."""
    left_out = LeftOut()
    include_files(root, reading=reading)
    _check_file_size(root, reading=reading)
    accept_dialects(root, reading=reading)
    check_vocabulary(root, reading=reading, left_out=left_out)
    check_settings(root, reading=reading)
    compiler = read_compiler(root.all("compiler"), reading=reading)
    if compiler.global_coordinates and any(e.tag in ("frame", "replicate") for e in root.walk()):
        raise reading.diagnostics.refusal(
            Code.UNSUPPORTED,
            "<frame> and <replicate>, which are newer, have no meaning in global coordinates",
            remedy="make the coordinates local",
        )
    written = written_names(root)
    known_faults = len(reading.diagnostics.refusals)
    Replicator(root, compiler=compiler, reading=reading).write_out()
    _check_file_size(root, reading=reading)
    defaults = Defaults(root.all("default"), reading=reading)
    reading.diagnostics.stop_if_refused(besides=known_faults)
    defaults.check_all(root)
    reading.diagnostics.stop_if_refused(besides=known_faults)
    # Elements that are not replicated, such as sensors, keep naming the original.
    known = written | check_names(root, reading=reading)
    return MjcfDocument(reading, left_out, compiler, defaults), known


def _check_file_size(root: Element, *, reading: Reading) -> None:
    """Refuse files that would take minutes to read, before they are read."""
    count: Counter[str] = Counter()
    for section in root.children:
        for element in section.walk():
            kinds = [element.tag] if element.tag in _MOST else []
            kinds += ["parts"] if section.tag in _PARTS else []
            count.update(kinds)
            for kind in kinds:
                if count[kind] > _MOST[kind]:
                    with reading.diagnostics.at(element):
                        raise reading.diagnostics.refusal(
                            Code.TOO_LARGE,
                            f"more than {_MOST[kind]:,} {kind if kind == 'parts' else f'<{kind}>'}",
                            remedy="simplify the file",
                        )
                    reading.diagnostics.stop_if_refused()


def _robot_bodies(
    parts: list[PlacedElement], *, document: MjcfDocument, bodies: BodyReader
) -> tuple[list[PlacedElement], bool]:
    """Find the robot among all bodies: its outermost bodies, and whether it floats."""
    candidates, surroundings = [], []
    for part in parts:
        element = part.element
        if element.tag == "geom":
            document.left_out.add("world geom", element)
            surroundings.append(part)
        elif element.tag == "body" and document.reading.attributes.flag(
            element, "mocap", default=False
        ):
            if _has_joints(element):
                raise document.diagnostics.refusal(
                    Code.UNSUPPORTED,
                    f"{element} is a mocap body and has joints below it",
                    line=element.line,
                    remedy="remove mocap and let the scene place the robot",
                )
            document.left_out.add("mocap body", element)
            bodies.mocap.add(element.attributes.get("name", ""))
            surroundings.append(part)
        elif element.tag == "body":
            candidates.append(part)
    bodies.check_surroundings(surroundings)
    robot = _chosen(candidates, document=document, bodies=bodies)
    others = [part for part in candidates if part not in robot]
    free = bool(robot) and bodies.is_free(robot[0])
    for part in others:
        moves = bodies.is_free(part) or _has_joints(part.element)
        document.left_out.add("other body" if moves else "world body", part.element)
    bodies.check_surroundings(others)
    return robot, free


def _chosen(
    candidates: list[PlacedElement], *, document: MjcfDocument, bodies: BodyReader
) -> list[PlacedElement]:
    """Return the outermost bodies of the robot: the named one, or the one with joints.

    Bodies that are fixed to the world, or move in it by hinges and slides, are one robot, unless
    another floats.
    """
    root = document.reading.root
    if root:
        named = [part for part in candidates if part.element.attributes.get("name") == root]
        if not named:
            known = ", ".join(part.element.attributes.get("name", "?") for part in candidates)
            raise document.diagnostics.refusal(
                Code.UNKNOWN_NAME,
                f"no outermost body has the name {root!r}",
                remedy=f"--root takes one of {known[:200]}",
            )
        return named
    free = [part for part in candidates if bodies.is_free(part)]
    standing = [part for part in candidates if part not in free]
    jointed = [part for part in standing if _has_joints(part.element)]
    groups = [[part] for part in free] + ([jointed] if jointed else [])
    if len(groups) <= 1:
        return free or candidates
    with_joints = [group for group in groups if any(bodies.inner_joints(part) for part in group)]
    if len(with_joints) == 1:
        return with_joints[0] if with_joints[0] != jointed else standing
    first, second = (group[0].element for group in (with_joints or groups)[:2])
    with document.diagnostics.at(second):
        raise document.diagnostics.refusal(
            Code.TWO_ROOTS,
            f"{second} moves beside {first}, and both may be the robot",
            remedy="name the robot by --root NAME; the others are left out",
        )
    return (with_joints or groups)[0]  # whose faults are found as well


def _has_joints(body: Element) -> bool:
    return any(element.tag in JOINTS for element in body.walk())


def _read_bodies(
    robot: list[PlacedElement], *, free: bool, document: MjcfDocument, bodies: BodyReader
) -> MjcfBody | None:
    """Read the robot's bodies and return the body of the world; None if the robot floats.

    A single body that is fixed at the world's origin is the root itself; otherwise
    the root is a massless link named "world".
    """
    if not robot:
        return None
    rooted = free or (len(robot) == 1 and _stands_at_origin(robot[0], document))
    if rooted:
        bodies.read(robot, None)
        root = bodies.links[0].item.name if bodies.links else WORLD
    else:
        root = WORLD
        bodies.links.append(Located(Link(WORLD), robot[0].element.line))
        bodies.read(robot, MjcfBody(WORLD, IDENTITY, IDENTITY, moves=False))
    return None if free else MjcfBody(root, IDENTITY, IDENTITY, moves=False)


def _stands_at_origin(part: PlacedElement, document: MjcfDocument) -> bool:
    has_joint = any(
        inner.element.tag in JOINTS for inner in placed_elements(part.element, document=document)
    )
    return not has_joint and np.array_equal(part.X_BF @ document.pose(part.element), IDENTITY)


def _scaled(bodies: BodyReader, document: MjcfDocument) -> list[Located[Link]]:
    """Scale all masses to the compiler's total mass, if that is positive."""
    total, links = document.compiler.total_mass, bodies.links
    inertias = [located.item.inertia for located in links]
    mass = sum(inertia.mass for inertia in inertias if inertia)
    if total <= 0 or mass <= 0:
        return links
    if bodies.surroundings or document.compiler.fuse_static:
        raise document.diagnostics.refusal(
            Code.UNSUPPORTED,
            "settotalmass with fusestatic or with bodies beside the robot is not supported",
            remedy="write the masses of the robot themselves",
        )
    for located, inertia in zip(links, inertias, strict=True):
        if inertia and not NEGLIGIBLE_MASS <= inertia.mass * total / mass:
            raise document.diagnostics.refusal(
                Code.MASS,
                f"settotalmass makes link {located.item.name!r} almost massless",
                remedy="write the mass of the whole robot in kg",
                line=located.line,
            )
    return [
        Located(replace(located.item, inertia=scaled_inertia(inertia, total / mass)), located.line)
        if inertia
        else located
        for located, inertia in zip(links, inertias, strict=True)
    ]
