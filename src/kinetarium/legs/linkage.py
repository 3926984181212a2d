"""Linkage: planar linkages of one crank as legs, given as data; closed loops solved as dyads.

A linkage is a plane of points in x (forward) and z (up) about the crank's centre. Rigid links
are pinned together at points; each further point follows from two that are known and its
distances from them.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import inf, pi
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.pantograph import LegsError, checked
from kinetarium.legs.quadruped import MASS
from kinetarium.model.mesh.solids import solid_properties
from kinetarium.model.robot import (
    Box,
    Geometry,
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    RobotModel,
    Source,
    Sphere,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose
from kinetarium.storage.serialization import from_builtins, read_toml

_MOST = 64
_SAMPLES = 720
_STRAIGHT = 1e-12
"""Rounding of three points in a line, squared and relative [-]."""


@dataclass(frozen=True)
class Dyad:
    """A point at given distances from two others.

    Attributes:
        point: Its name.
        first: One of the others.
        second: The other.
        from_first: Distance from the first [unit].
        from_second: Distance from the second [unit].
        side: 1 if it is to the left, seen from the first to the second, -1 to the right.
    """

    point: str
    first: str
    second: str
    from_first: float
    from_second: float
    side: int


@dataclass(frozen=True)
class Linkage:
    """A planar linkage driven by a crank.

    Attributes:
        name: What it is called.
        source: Where its lengths were published.
        pivots: Fixed points: name, x and z [unit]; the first is the centre of the crank.
        crank: Length of the crank [unit].
        pin: The point at its end.
        dyads: All further points, in the order of their solution.
        links: The rigid links: name and points; "crank" first, each sharing a point with a pivot
            or a link before it.
        foot: The point that stands on the ground.
        forward: 1 if a crank that turns to the left, from x to z, walks forward, -1 otherwise.
    """

    name: str
    source: str
    pivots: tuple[tuple[str, float, float], ...]
    crank: float
    pin: str
    dyads: tuple[Dyad, ...]
    links: tuple[tuple[str, ...], ...]
    foot: str
    forward: int = 1

    def __post_init__(self) -> None:
        """Check names and lengths, and that the linkage closes all round.

        Raises:
            LegsError: If a value is invalid.
        """
        checked("crank of a linkage", self.crank, low=1e-9, high=1e9)
        known = {*self.fixed, self.pin}
        if len(self.dyads) > _MOST or not self.pivots or len(self.links) > _MOST:
            raise LegsError(f"a linkage needs pivots, and up to {_MOST} dyads and links")
        if min((len(link) for link in self.links), default=0) < 3 or self.links[0][0] != "crank":
            raise LegsError("a link needs a name and two points or more; the first is the crank")
        for dyad in self.dyads:
            if not {dyad.first, dyad.second} <= known or dyad.point in known:
                raise LegsError(f"point '{dyad.point}' must follow from two known points")
            for length in (dyad.from_first, dyad.from_second):
                checked(f"a distance of point '{dyad.point}'", length, low=1e-9, high=1e9)
            known.add(dyad.point)
        used = {point for points in self.rigid.values() for point in points}
        if not used <= known or self.foot not in used:
            raise LegsError(f"links and foot must name points of the linkage: {sorted(known)}")
        self.points(np.linspace(0.0, 2 * pi, 73))

    @cached_property
    def fixed(self) -> dict[str, Array]:
        """The pivots by name [unit], shape (2,) each."""
        return {name: frozen([x, z]) for name, x, z in self.pivots}

    @cached_property
    def rigid(self) -> dict[str, tuple[str, ...]]:
        """The points of each link by its name."""
        return {name: points for name, *points in self.links}  # type: ignore[misc]

    def points(self, angles: Array) -> dict[str, Array]:
        """Return all points at angles of the crank [unit], shape (n, 2) each.

        Args:
            angles: From x to z [rad], shape (n,).

        Raises:
            LegsError: If the linkage does not close.
        """
        angles = np.asarray(angles, dtype=np.float64)
        places = {name: np.broadcast_to(at, (len(angles), 2)) for name, at in self.fixed.items()}
        center = next(iter(places.values()))
        turn = np.column_stack([np.cos(angles), np.sin(angles)])
        places[self.pin] = center + self.crank * turn
        for dyad in self.dyads:
            a, b = places[dyad.first], places[dyad.second]
            apart = np.linalg.norm(b - a, axis=1)
            ahead = (b - a) / np.maximum(apart, 1e-300)[:, np.newaxis]
            r, s = dyad.from_first, dyad.from_second
            along = (apart**2 + r * r - s * s) / (2 * np.maximum(apart, 1e-300))
            across = r * r - along**2
            if (across < -_STRAIGHT * r * r).any():
                worst = float(np.degrees(angles[int(np.argmin(across))]))
                raise LegsError(
                    f"linkage '{self.name}' does not close: point '{dyad.point}' at {worst:.0f} deg"
                    " of the crank"
                )
            left = np.column_stack([-ahead[:, 1], ahead[:, 0]])
            off = dyad.side * np.sqrt(np.maximum(across, 0.0))
            places[dyad.point] = a + along[:, np.newaxis] * ahead + off[:, np.newaxis] * left
        return places

    @cached_property
    def bars(self) -> dict[tuple[str, str], float]:
        """The published distances between two points [unit]."""
        found = {(self.pivots[0][0], self.pin): self.crank}
        for dyad in self.dyads:
            found[dyad.first, dyad.point] = dyad.from_first
            found[dyad.second, dyad.point] = dyad.from_second
        return found

    def closure(self, angles: Array) -> float:
        """Return the greatest error of a bar's length at angles of the crank [unit].

        All pairs of points of a rigid link count: those without a published distance must keep
        the one that they have at the first angle.
        """
        places = self.points(angles)
        worst = 0.0
        pairs = {frozenset(pair): length for pair, length in self.bars.items()}
        for points in self.rigid.values():
            for a, b in combinations(points, 2):
                gaps = np.linalg.norm(places[a] - places[b], axis=1)
                length = pairs.get(frozenset((a, b)), float(gaps[0]))
                worst = max(worst, float(np.abs(gaps - length).max()))
        for pair, length in self.bars.items():
            gaps = np.linalg.norm(places[pair[0]] - places[pair[1]], axis=1)
            worst = max(worst, float(np.abs(gaps - length).max()))
        return worst

    @cached_property
    def stance(self) -> "Stance":
        """The part of the cycle in which the foot is near the ground and moves backwards."""
        angles: Array = self.forward * np.arange(_SAMPLES, dtype=np.float64) * (2 * pi / _SAMPLES)
        foot = self.points(angles)[self.foot]
        height = foot[:, 1] - foot[:, 1].min()
        back = np.roll(foot[:, 0], -1) < foot[:, 0]
        low = back & (height <= _FLAT * height.max())
        # The longest run of low samples, round the circle.
        twice = np.concatenate([low, low])
        ends = np.flatnonzero(~twice)
        if len(ends) == 0 or not low.any():
            raise LegsError(f"the foot of linkage '{self.name}' has no stance")
        runs = np.diff(ends)
        best = int(np.argmax(runs))
        first, count = int(ends[best]) + 1, int(runs[best]) - 1
        at = np.arange(first, first + count) % _SAMPLES
        return Stance(
            float(angles[first % _SAMPLES]),
            self.forward * count * 2 * pi / _SAMPLES,
            float(foot[at[0], 0]),
            float(foot[at[-1], 0]),
            float(foot[at, 1].mean()),
            float(np.ptp(foot[at, 1])),
        )


_FLAT = 0.05
"""Height of a foot in stance, relative to that of its curve [-]."""


@dataclass(frozen=True, slots=True)
class Stance:
    """The stance of a foot curve.

    Attributes:
        begin: Angle of the crank where it begins [rad].
        angle: Angle through which the crank turns, signed [rad].
        front: Where the foot lands along x [unit].
        rear: Where it lifts along x [unit].
        height: Mean height, negative below the crank [unit].
        ripple: Range of the height [unit].
    """

    begin: float
    angle: float
    front: float
    rear: float
    height: float
    ripple: float

    @property
    def length(self) -> float:
        """Travel of the foot [unit]."""
        return self.front - self.rear


def read_linkage(path: Path) -> Linkage:
    """Read a linkage from a TOML file with the fields of `Linkage`.

    Raises:
        SerializationError: If the file cannot be read or does not match.
        LegsError: If a value is invalid.
    """
    return from_builtins(Linkage, read_toml(path), where=f"linkage {str(path)!r}")


JANSEN = Linkage(
    name="jansen",
    source='T. Jansen, "The Great Pretender", 2007: the numbers a to m of the Strandbeest',
    pivots=(("O", 0.0, 0.0), ("B", -38.0, -7.8)),
    crank=15.0,
    pin="P",
    dyads=(
        Dyad("C", "B", "P", 41.5, 50.0, 1),
        Dyad("D", "B", "C", 40.1, 55.8, 1),
        Dyad("E", "B", "P", 39.3, 61.9, -1),
        Dyad("F", "D", "E", 39.4, 36.7, -1),
        Dyad("G", "F", "E", 65.7, 49.0, -1),
    ),
    links=(
        ("crank", "O", "P"),
        ("upper", "B", "C", "D"),
        ("lower", "B", "E"),
        ("rod_j", "P", "C"),
        ("rod_k", "P", "E"),
        ("rod_f", "D", "F"),
        ("shank", "E", "F", "G"),
    ),
    foot="G",
    forward=-1,
)
"""The leg of Jansen's beach animals."""
KLANN = Linkage(
    name="klann",
    source="the optimised Klann linkage of boim.com/Walkin8r/Klann.html, after US patent 6,260,862",
    pivots=(("A", 0.0, 0.0), ("B", -38.8, -12.5), ("D", -14.6, 41.9)),
    crank=17.5,
    pin="C",
    dyads=(
        Dyad("H", "B", "C", 23.7, 38.8, 1),
        Dyad("F", "C", "H", 73.4, 35.2, -1),
        Dyad("E", "D", "F", 34.1, 57.7, -1),
        Dyad("G", "E", "F", 111.7, 59.0, 1),
    ),
    links=(
        ("crank", "A", "C"),
        ("rocker", "B", "H"),
        ("coupler", "C", "H", "F"),
        ("upper", "D", "E"),
        ("shank", "E", "F", "G"),
    ),
    foot="G",
)
"""Klann's spider leg."""
LINKAGES = {linkage.name: linkage for linkage in (JANSEN, KLANN)}

DUTY = 0.9
"""Fraction of a cycle that a foot of a linkage walker is on the ground [-]."""
LEG_SHARE = 0.06
"""Mass of a leg relative to that of the robot [-]."""
FOOT_RADIUS = 0.004
"""[m]."""
_ARMATURE = 0.05
"""Inertia of a crank's drive [kg m^2]."""
_DAMPING = 0.002
"""Of the pins [N m s/rad]."""
STIFFNESS, SERVO_DAMPING = 2e3, 20.0
"""Of a crank's servo [N m/rad, N m s/rad]."""
_LEFT = frozen([0.0, -1.0, 0.0])
"""Axis of the pins: angles count from x to z."""


@dataclass(frozen=True)
class LinkageWalker:
    """A body on four equal linkages, each with a drive of its own.

    A crawl in the order rear, front, rear, front: the wave gait, whose longitudinal margin is
    (duty - 3/4) of the distance in a cycle (S.-M. Song, K. J. Waldron, 1987). The cranks turn so
    that feet on the ground move backwards steadily.

    Attributes:
        linkage: The leg.
        unit_m: Length of its unit [m].
        mass: Mass of the robot [kg].
    """

    linkage: Linkage
    unit_m: float = 0.005
    mass: float = MASS

    @cached_property
    def feet(self) -> Array:
        """Middles of the feet's stances in the body frame [unit], shape (4, 3)."""
        stance = self.linkage.stance
        a, b = stance.length, 0.6 * abs(stance.height)
        return frozen([[x, y, stance.height] for y in (-b, b) for x in (-a, a)])

    @cached_property
    def hips(self) -> Array:
        """Centres of the cranks in the body frame [unit], shape (4, 3)."""
        stance = self.linkage.stance
        middle = (stance.front + stance.rear) / 2
        return frozen(self.feet - [middle, 0.0, stance.height])

    @property
    def offsets(self) -> Array:
        """When the feet lift, as a fraction of the cycle, shape (4,)."""
        return np.array([0.0, 1 - DUTY, 0.5, 1.5 - DUTY])

    @property
    def stride(self) -> float:
        """Distance in a cycle [unit]."""
        return self.linkage.stance.length / DUTY

    def cranks(self, phase: Array) -> Array:
        """Return the angles of the cranks at phases of the walk, in cycles [rad], shape (n, 4)."""
        stance = self.linkage.stance
        arc = stance.begin + np.linspace(0.0, stance.angle, 181)
        x = self.linkage.points(arc)[self.linkage.foot][:, 0]
        own = np.asarray(phase)[:, np.newaxis] - self.offsets
        cycle, part = np.floor(own), own - np.floor(own)
        swing = 1 - DUTY
        p = np.clip(part / swing, 0.0, 1.0)
        eased = p**3 * (10 - 15 * p + 6 * p * p)
        whole = 2 * pi * self.linkage.forward
        lifted = stance.begin + stance.angle - whole + (whole - stance.angle) * eased
        wanted = stance.front - stance.length * (part - swing) / DUTY
        standing = np.interp(-wanted, -x, arc)
        return np.asarray(np.where(part < swing, lifted, standing) + whole * cycle)

    def support(self, phase: Array) -> NDArray[np.bool_]:
        """Return which feet are on the ground at phases of the walk, shape (n, 4)."""
        part = (np.asarray(phase)[:, np.newaxis] - self.offsets) % 1.0
        return np.asarray(part >= 1 - DUTY)

    def positions(self, cranks: Array) -> dict[str, float]:
        """Return the positions of all joints of the model for angles of the cranks, shape (4,)."""
        found = {}
        for leg, angle in enumerate(np.asarray(cranks).tolist(), 1):
            turned = self._turned(angle)
            for name, (parent, _) in self._tree.items():
                base = turned[parent] if parent else 0.0
                found[f"leg{leg}_{name}"] = turned[name] - base
            found[f"leg{leg}_crank"] = angle
        return found

    @property
    def drives(self) -> tuple[str, ...]:
        """The driven joints."""
        return tuple(f"leg{leg}_crank" for leg in (1, 2, 3, 4))

    @cached_property
    def _home(self) -> dict[str, Array]:
        """All points at the angle zero of the crank [unit], shape (2,) each."""
        return {name: at[0] for name, at in self.linkage.points(np.zeros(1)).items()}

    def _turned(self, angle: float) -> dict[str, float]:
        """Return how far each link has turned since the angle zero [rad], within half a turn."""
        now = self.linkage.points(np.array([angle]))
        turned = {}
        for name, points in self.linkage.rigid.items():
            a, b = points[:2]
            (x0, z0), (x1, z1) = self._home[b] - self._home[a], (now[b] - now[a])[0]
            turned[name] = float(np.arctan2(x0 * z1 - z0 * x1, x0 * x1 + z0 * z1))
        return turned

    @cached_property
    def _tree(self) -> dict[str, tuple[str, str]]:
        """Each link with its parent, empty for the body, and the point of its joint."""
        found: dict[str, tuple[str, str]] = {}
        for name, points in self.linkage.rigid.items():
            for point in points:
                if point in self.linkage.fixed:
                    found[name] = ("", point)
                    break
                holder = next((o for o in found if point in self.linkage.rigid[o]), None)
                if holder:
                    found[name] = (holder, point)
                    break
            else:
                raise LegsError(f"link '{name}' of a linkage must share a point with one before it")
        return found

    def model(self) -> RobotModel:
        """Return the robot with closed loops; positions are zero where all cranks are."""
        u, links, joints, loops = self.unit_m, [], [], []
        a, b = self.feet[3, 0] * u, self.feet[3, 1] * u
        sizes = {
            name: max(
                float(np.linalg.norm(self._home[p] - self._home[q]))
                for p, q in combinations(points, 2)
            )
            for name, points in self.linkage.rigid.items()
        }
        for leg, hip in enumerate(self.hips * u, 1):
            prefix = f"leg{leg}_"
            for name, points in self.linkage.rigid.items():
                parent, at = self._tree[name]
                mass = LEG_SHARE * self.mass * sizes[name] / sum(sizes.values())
                links.append(self._link(prefix, name, at, mass=mass))
                origin = hip if not parent else -self._offset(self._tree[parent][1])
                X_PJ = frozen(pose(origin + self._offset(at)))
                joints.append(
                    Joint(
                        prefix + name,
                        JointType.REVOLUTE,
                        prefix + parent if parent else "body",
                        prefix + name,
                        X_PJ,
                        _LEFT,
                        JointLimits(-inf, inf),
                        damping=_DAMPING,
                        armature=_ARMATURE if name == "crank" else 0.0,
                    )
                )
                loops += self._loops(prefix, name, points, hip)
        box = Box((2 * a, 1.6 * b, 0.1 * abs(self.feet[0, 2]) * u))
        body = _solid("body", box, mass=self.mass * (1 - 4 * LEG_SHARE), collides=True)
        source = Source(f"walker {self.linkage.name}", "python", "")
        name = f"walker-{self.linkage.name}"
        return RobotModel(name, (body, *links), tuple(joints), source, tuple(loops), True)

    def _offset(self, point: str) -> Array:
        x, z = self._home[point] * self.unit_m
        return np.array([x, 0.0, z])

    def _loops(self, prefix: str, name: str, points: tuple[str, ...], hip: Array) -> list[Loop]:
        """Return the pins of a link other than that of its joint."""
        _, at = self._tree[name]
        before = list(self.linkage.rigid)[: list(self.linkage.rigid).index(name)]
        found = []
        for point in points:
            holder = next((other for other in before if point in self.linkage.rigid[other]), None)
            fixed = point in self.linkage.fixed
            if point == at or not (holder or fixed):
                continue
            own = frozen(pose(self._offset(point) - self._offset(at)))
            other = "body" if fixed else prefix + str(holder)
            base = hip if fixed else -self._offset(self._tree[str(holder)][1])
            place = frozen(pose(base + self._offset(point)))
            loop = f"{prefix}{name}_{point}"
            found.append(Loop(loop, LoopKind.POINT, prefix + name, other, own, place))
        return found

    def _link(self, prefix: str, name: str, at: str, *, mass: float) -> Link:
        """Return a link as bars between its points, its inertia that of the longest."""
        places = [self._offset(p) - self._offset(at) for p in self.linkage.rigid[name]]
        width = 0.03 * abs(self.feet[0, 2]) * self.unit_m
        bars, longest = [], 0.0
        inertia = None
        for p, q in combinations(places, 2):
            x, _, z = q - p
            length = float(np.hypot(x, z))
            turn = np.array([[x, 0, -z], [0, length, 0], [z, 0, x]]) / length
            X = frozen(pose((p + q) / 2, turn))
            box = Box((length, width, width))
            bars.append(Geometry(box, X, color=_COLOR))
            if length > longest:
                longest = length
                unit = solid_properties(box, density=1.0)
                moment = turn @ (unit.moment * (mass / unit.mass)) @ turn.T
                inertia = Inertia(mass, frozen(np.mean(places, axis=0)), frozen(moment))
        collisions: tuple[Geometry, ...] = ()
        if self.linkage.foot in self.linkage.rigid[name]:
            foot = self._offset(self.linkage.foot) - self._offset(at)
            collisions = (Geometry(Sphere(FOOT_RADIUS), frozen(pose(foot))),)
        return Link(prefix + name, inertia, collisions, (*bars, *collisions))

    @property
    def foot_in_link(self) -> tuple[str, Array]:
        """The link that the foot belongs to, and its place in that link's frame [m]."""
        name = next(n for n, points in self.linkage.rigid.items() if self.linkage.foot in points)
        return name, self._offset(self.linkage.foot) - self._offset(self._tree[name][1])

    def feet_in_body(self, cranks: Array) -> Array:
        """Return the feet in the body frame [unit] for angles of the cranks, shape (n, 4, 3)."""
        feet = np.empty((len(cranks), 4, 3))
        for leg in range(4):
            at = self.linkage.points(cranks[:, leg])[self.linkage.foot]
            feet[:, leg] = self.hips[leg] + np.column_stack([at[:, 0], np.zeros(len(at)), at[:, 1]])
        return feet


_COLOR = (0.55, 0.6, 0.68, 1.0)


def _solid(name: str, box: Box, *, mass: float, collides: bool) -> Link:
    unit = solid_properties(box, density=1.0)
    inertia = Inertia(mass, frozen(np.zeros(3)), frozen(unit.moment * (mass / unit.mass)))
    geometry = Geometry(box, frozen(pose()), color=_COLOR)
    return Link(name, inertia, (geometry,) if collides else (), (geometry,))
