"""Implausible robots: what is possible, but hardly meant.

The mass properties of each link are compared with those of its own shapes. Numbers in grams or
millimetres, or about other axes, simulate without an error, and wrongly. The variance of
mass of a body within a box of edges e is at most e^2/4 along each edge, however its mass is
distributed (Popoviciu's inequality on variances, 1935).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import log10, pi

import numpy as np

from kinetarium.model.diagnostics import Code, Implausibility
from kinetarium.model.inertia import combined_inertia, moved_inertia
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.solids import bounding_box, solid_properties
from kinetarium.model.robot import (
    Geometry,
    Inertia,
    Joint,
    JointType,
    Link,
    MeshData,
    MeshFile,
    RobotModel,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose

LEAST_SHARE = 0.005
"""Links with a smaller fraction of the robot's mass often have dummy inertias: not compared."""
MOST_DENSITY = 25_000.0
"""Greatest density of a bounding box [kg/m^3]; osmium has 22,600."""
LEAST_DENSITY = 5.0
"""Least density of solid shapes [kg/m^3]; expanded foams have 10 and more."""
MOST_OFFSET = 0.25
"""Greatest distance of the centre of mass from the bounding box, as a fraction of its diagonal."""
MOST_SPREAD = 8.0
"""Greatest variance of mass as a multiple of Popoviciu's bound; shapes are often cut back."""
LEAST_SPREAD = 0.01
"""Least variance of mass as a fraction of that of the solid shapes."""
CLEAR_MISFIT = 1.2
GOOD_FIT = 0.35
"""Misfit of the variances of mass as written, and with the principal axes of the shapes."""
ORIGIN_TOLERANCE = 0.2
"""Misfit of a moment about the link's origin with that of the shapes there."""
MOST_SIZE = 20.0
"""Greatest size of a link as a multiple of the distances of joints, and conversely."""
UNIT_RATIO = 300.0
"""Ratio of the sizes of collision and visual shapes from which their units differ."""
MOST_TURN = 8 * pi
"""Greatest limit of a revolute joint [rad]."""
_FLAT = 1e-9
"""Thickness of a mesh, as a fraction of its size, below which its points are in a plane."""
_LEAST_EDGE = 1e-3
"""Thickness that flat shapes count with [m]."""
_NEGLIGIBLE = 1e-12


def find_implausibilities(model: RobotModel) -> tuple[Implausibility, ...]:
    """Return what is implausible about a robot, link by link.

    Meshes are loaded; one that encloses no volume counts as its bounding box.
    """
    bodies = {link.name: _Body(link) for link in model.links}
    given = {repair.where for repair in model.repairs if repair.code is Code.MASSLESS}
    carriers = _carriers(model, bodies)
    widest, farthest = _sizes(bodies.values(), model.joints)
    found: list[Implausibility] = []
    for link in model.links:
        body, joint = bodies[link.name], model.parent_joint.get(link.name)
        wrong_size = list(_size_faults(body, farthest))
        found += wrong_size
        found += _flatness_faults(link)
        # The mass that a massless link was given belongs to no shape.
        stated = f"link {link.name}" not in given
        if link.inertia and stated and body.has_shape and not wrong_size:
            compared = link.inertia.mass >= LEAST_SHARE * model.mass
            found += _mass_faults(body, carriers[link.name], joint, compared=compared)
        if joint:
            found += _joint_faults(joint, widest)
    return tuple(found)


class _Body:
    """The shapes of one link, in its frame."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.sets = [shapes for shapes in (link.collisions, link.visuals) if shapes]
        self.has_shape = bool(self.sets)

    @cached_property
    def points(self) -> Array:
        """The corners of the bounding boxes of all shapes [m], shape (n, 3)."""
        return np.concatenate([_corners(shape) for shapes in self.sets for shape in shapes])

    @cached_property
    def edges(self) -> Array:
        """The edges of the bounding box of all shapes [m], shape (3,)."""
        return np.asarray(np.maximum(np.ptp(self.points, axis=0), _LEAST_EDGE))

    @cached_property
    def solids(self) -> list[Inertia]:
        """The collision and the visual shapes, each as a solid of density one."""
        solids = [
            combined_inertia(
                [moved_inertia(solid_properties(one.shape, density=1.0), one.X_LG) for one in each]
            )
            for each in self.sets
        ]
        return [solid for solid in solids if solid.mass > 0]


def _corners(geometry: Geometry) -> Array:
    corners = np.array(list(product(*bounding_box(geometry.shape).T)))
    return np.asarray(corners @ geometry.X_LG[:3, :3].T + geometry.X_LG[:3, 3])


def _carriers(model: RobotModel, bodies: Mapping[str, _Body]) -> dict[str, Array]:
    """Return the points of all links that are fixed to a link, in its frame, by its name."""
    base, pose = {model.root: model.root}, {model.root: np.eye(4)}
    for joint in model.joints:
        fixed = joint.type is JointType.FIXED
        base[joint.child] = base[joint.parent] if fixed else joint.child
        pose[joint.child] = pose[joint.parent] @ joint.X_PJ if fixed else np.eye(4)
    clouds: dict[str, list[Array]] = {}
    for name, body in bodies.items():
        if body.has_shape:
            X = pose[name]
            clouds.setdefault(base[name], []).append(body.points @ X[:3, :3].T + X[:3, 3])
    carriers = {}
    for name, body in bodies.items():
        if body.has_shape:
            X = inverse_pose(pose[name])
            cloud = np.concatenate(clouds[base[name]])
            carriers[name] = np.asarray(cloud @ X[:3, :3].T + X[:3, 3])
    return carriers


def _sizes(bodies: Iterable[_Body], joints: Sequence[Joint]) -> tuple[float, float]:
    """Return the size of the largest link and the greatest distance between joints [m]."""
    sizes = [float(np.linalg.norm(body.edges)) for body in bodies if body.has_shape]
    distances = [float(np.linalg.norm(joint.X_PJ[:3, 3])) for joint in joints]
    widest, farthest = max(sizes, default=0.0), max(distances, default=0.0)
    # Without distances, as of a ball joint made of hinges, links are compared with each other.
    return widest, farthest if farthest > _LEAST_EDGE else float(np.median(sizes or [0.0]))


def _size_faults(body: _Body, farthest: float) -> Iterator[Implausibility]:
    """Yield a link whose shapes have another unit than the joints, or than each other."""
    if not body.has_shape:
        return
    extents = [
        float(np.linalg.norm(np.ptp(np.concatenate([_corners(one) for one in each]), axis=0)))
        for each in body.sets
    ]
    if max(extents) > MOST_SIZE * farthest:
        yield _of_link(
            body.link,
            Code.IMPLAUSIBLE_SIZE,
            f"its shapes measure {max(extents):.3g} m, distances between joints {farthest:.2g} m",
            'are its meshes in millimetres? write scale="0.001 0.001 0.001"',
        )
    elif len(extents) == 2 and max(extents) > UNIT_RATIO * min(extents):
        yield _of_link(
            body.link,
            Code.IMPLAUSIBLE_SIZE,
            f"its collision shapes measure {extents[0]:.3g} m, its visual ones {extents[1]:.3g} m",
            "check the scale of its meshes",
        )


def _flatness_faults(link: Link) -> Iterator[Implausibility]:
    """Yield a link with a collision mesh in a plane, which engines refuse."""
    for each in link.collisions:
        if isinstance(each.shape, MeshFile | MeshData):
            points = mesh_of(each.shape).vertices
            extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
            if extents[-1] <= _FLAT * extents[0]:
                yield _of_link(
                    link,
                    Code.IMPLAUSIBLE_SIZE,
                    "a collision mesh is flat and encloses no volume",
                    "give it a thickness, or use a box",
                )
                return


def _mass_faults(
    body: _Body, carrier: Array, joint: Joint | None, *, compared: bool
) -> Iterator[Implausibility]:
    """Yield what is implausible about the mass, or else the centre, or else the inertia.

    Args:
        carrier: Points of all links fixed to it [m], shape (n, 3).
        joint: The joint that moves it.
        compared: Whether its inertia is more than a dummy.
    """
    inertia = body.link.inertia
    assert inertia is not None
    if not compared:
        alone = len(carrier) == len(body.points) and joint and joint.type is not JointType.FIXED
        light = _lightness_fault(body, inertia) if alone else None
        if light:
            yield light
        return
    fault = (
        _density_fault(body, inertia)
        or _lightness_fault(body, inertia)
        or _center_fault(body, inertia, carrier)
        or _axes_fault(body, inertia, joint)
        or _spread_fault(body, inertia, carrier)
    )
    if fault:
        yield fault


def _density_fault(body: _Body, inertia: Inertia) -> Implausibility | None:
    dense = inertia.mass / float(np.prod(body.edges))
    if dense > MOST_DENSITY:
        return _of_link(
            body.link,
            Code.IMPLAUSIBLE_MASS,
            f"{inertia.mass:.3g} kg in {_box(body.edges)} are {dense:.2g} kg/m^3, "
            "more than any metal",
            "is its mass in grams, or its geometry too small?",
        )
    return None


def _lightness_fault(body: _Body, inertia: Inertia) -> Implausibility | None:
    volume = max((solid.mass for solid in body.solids), default=0.0)
    light = inertia.mass / volume if volume else MOST_DENSITY
    if light < LEAST_DENSITY:
        return _of_link(
            body.link,
            Code.IMPLAUSIBLE_MASS,
            f"{inertia.mass:.3g} kg in shapes of {volume:.2g} m^3 are {light:.2g} kg/m^3, "
            "less than foam",
            "is its mass in tonnes, or its geometry too large?",
        )
    return None


def _center_fault(body: _Body, inertia: Inertia, carrier: Array) -> Implausibility | None:
    low, high = carrier.min(axis=0), carrier.max(axis=0)
    beyond = np.maximum(0.0, np.maximum(low - inertia.center, inertia.center - high))
    distance, diagonal = float(np.linalg.norm(beyond)), float(np.linalg.norm(high - low))
    if distance <= MOST_OFFSET * diagonal:
        return None
    return _of_link(
        body.link,
        Code.IMPLAUSIBLE_CENTER,
        f"its centre of mass is {distance:.2g} m outside its shapes of {diagonal:.2g} m",
        "is <inertial><origin> in metres, in the link's frame, and of the right sign?",
    )


def _spread_fault(body: _Body, inertia: Inertia, carrier: Array) -> Implausibility | None:
    """Compare the variance of mass with the greatest possible, and with that of a solid."""
    spread = _variance(inertia)
    edges = np.maximum(np.ptp(carrier, axis=0), _LEAST_EDGE)
    excess = float((np.diag(spread) / (edges**2 / 4)).max())
    if _is_about_origin(body, inertia):
        return _of_link(
            body.link,
            Code.IMPLAUSIBLE_INERTIA,
            "its moment of inertia is that of its shapes about the link's origin",
            "write it about the centre of mass",
        )
    if excess > MOST_SPREAD:
        return _of_link(
            body.link,
            Code.IMPLAUSIBLE_INERTIA,
            f"its moment of inertia is {_times(excess)} what {inertia.mass:.3g} kg can have "
            f"in {_box(edges)}",
            "is it in kg m^2, and not a placeholder?",
        )
    fractions = [float(np.trace(spread) / np.trace(_variance(solid))) for solid in body.solids]
    if fractions and max(fractions) < LEAST_SPREAD:
        return _of_link(
            body.link,
            Code.IMPLAUSIBLE_INERTIA,
            f"its moment of inertia is {max(fractions):.1g} of that of its shapes",
            "is it in kg m^2, and not a placeholder?",
        )
    return None


def _is_about_origin(body: _Body, inertia: Inertia) -> bool:
    """Return whether the moment fits the shapes if it is about the link's origin."""
    mass, moved = _variance(inertia), np.outer(inertia.center, inertia.center)
    solids = [_variance(solid) for solid in body.solids]
    return any(
        np.trace(moved) > np.trace(each)
        and np.linalg.norm(mass - each - moved) < ORIGIN_TOLERANCE * np.linalg.norm(mass)
        for each in solids
    )


def _axes_fault(body: _Body, inertia: Inertia, joint: Joint | None) -> Implausibility | None:
    """Find principal moments that fit the shapes only about other axes."""
    mass = _variance(inertia)
    shapes = [_variance(solid) for solid in body.solids]
    if not shapes or not all(_misfit(mass, each) > CLEAR_MISFIT for each in shapes):
        return None
    if min(_misfit(_turned(mass), _turned(each)) for each in shapes) > GOOD_FIT:
        return None
    wheel = joint is not None and joint.type is JointType.CONTINUOUS
    spin = joint.axis @ inertia.moment @ joint.axis if joint is not None else 0.0
    return _of_link(
        body.link,
        Code.IMPLAUSIBLE_AXES,
        "its moments of inertia fit its shapes only about other axes"
        + (f"; about that of {joint.name!r} it is {spin:.3g} kg m^2" if wheel and joint else ""),
        "exchange ixx, iyy and izz, or correct the rpy of <inertial><origin>",
    )


def _joint_faults(joint: Joint, widest: float) -> Iterator[Implausibility]:
    distance = float(np.linalg.norm(joint.X_PJ[:3, 3]))
    if widest and distance > MOST_SIZE * widest:
        yield Implausibility(
            Code.IMPLAUSIBLE_SIZE,
            f"joint {joint.name}",
            f"{distance:.3g} m from its parent; links measure up to {widest:.2g} m",
            "is its origin in millimetres?",
            joint.line,
        )
    ends = [abs(end) for end in (joint.limits.lower, joint.limits.upper) if np.isfinite(end)]
    if joint.type is JointType.REVOLUTE and ends and max(ends) > MOST_TURN:
        yield Implausibility(
            Code.IMPLAUSIBLE_LIMITS,
            f"joint {joint.name}",
            f"turns up to {max(ends):.3g} rad, {max(ends) / (2 * pi):.2g} turns",
            "are its limits in degrees?",
            joint.line,
        )


def _variance(inertia: Inertia) -> Array:
    """Return the covariance of the distribution of mass [m^2], shape (3, 3)."""
    moment = inertia.moment
    return np.asarray((np.trace(moment) / 2 * np.eye(3) - moment) / inertia.mass)


def _turned(variance: Array) -> Array:
    """Return a covariance in its own principal axes, in ascending order."""
    return np.diag(np.linalg.eigvalsh(variance))


def _misfit(a: Array, b: Array) -> float:
    """Return the distance of two covariances, whatever their scale, as that of logarithms.

    It does not depend on the frame (affine-invariant metric: Pennec, Fillard, Ayache, "A
    Riemannian framework for tensor computing", 2006).
    """
    values, axes = np.linalg.eigh(b)
    whitening = axes / np.sqrt(np.maximum(values, _NEGLIGIBLE))
    ratios = np.log(np.maximum(np.linalg.eigvalsh(whitening.T @ a @ whitening), _NEGLIGIBLE))
    return float(ratios.std())


def _times(factor: float) -> str:
    return f"{factor:.0f} times" if factor < 1000 else f"1e{log10(factor):.0f} times"


def _box(edges: Array) -> str:
    return " x ".join(f"{edge:.2g}" for edge in edges) + " m"


def _of_link(link: Link, code: Code, message: str, remedy: str) -> Implausibility:
    return Implausibility(code, f"link {link.name}", message, remedy, link.line)
