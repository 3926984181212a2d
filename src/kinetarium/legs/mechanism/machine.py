"""Machine: a body and four mirrored pantograph legs."""

from dataclasses import dataclass, replace
from math import pi, radians, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.legs.mechanism.pantograph import LegKind, LegsError, checked
from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import frozen
from kinetarium.storage.atomic import write_atomic
from kinetarium.storage.serialization import (
    from_builtins,
    read_toml,
    read_versioned_json,
    to_builtins,
    to_toml,
    versioned_json,
)

if TYPE_CHECKING:  # a machine is part of a command's flags, and --help must not load NumPy
    from kinetarium.legs.mechanism.pantograph import PantographLeg
    from kinetarium.spatial.arrays import Array


LINK_NAMES = (
    "bracket",
    "vertical guide",
    "vertical slider",
    "horizontal slider",
    "thigh",
    "parallel bar",
    "crank",
    "shank",
    "foot",
)
"""Names of links 1 to 9 of a leg."""

MOST_CORNERS = 256
"""Corners of a section."""
_LONGEST_NAME = 60
_MISSED = 1e-6
"""Distance above which a shape misses a pivot [unit]."""
_GREATEST = 1e9
"""Greatest dimension of a shape, as of a machine [unit]."""


@dataclass(frozen=True, slots=True)
class LinkShape:
    """A prism along the z axis of its link; bars hang down from their origin, along -z.

    Attributes:
        name: What the link is.
        section: Corners (x, y) of its section, in order round it [unit].
        top: Height of its upper end [unit].
        bottom: Height of its lower end [unit].
        length: Distance of the two pivots between which it was drawn [unit]: on a link of
            another length its lower end keeps its distance from the lower pivot. 0 for a shape
            that keeps its size.
    """

    name: str
    section: tuple[tuple[float, float], ...]
    top: float
    bottom: float
    length: float = 0.0

    def mirrored(self) -> "LinkShape":
        """Return its mirror image in the plane of x and z."""
        section = tuple((x, -y) for x, y in reversed(self.section))
        return replace(self, section=section)

    def bound(self, length: float) -> "LinkShape":
        """Return it on a link of a length [unit]."""
        if self.length == 0 or length == self.length:
            return self
        return replace(self, bottom=self.bottom + self.length - length, length=length)


def check_shape(shape: LinkShape) -> None:
    """Check that a shape is a valid prism."""
    if not (shape.name.isprintable() and len(shape.name) <= _LONGEST_NAME):
        raise LegsError(f"a link's name may have up to {_LONGEST_NAME} letters")
    if not 3 <= len(shape.section) <= MOST_CORNERS:
        raise LegsError(
            f"the section of link '{shape.name}' has {len(shape.section)} corners;"
            f" it must have from 3 to {MOST_CORNERS}"
        )
    checked(f"the length of link '{shape.name}'", shape.length, low=0.0, high=_GREATEST)
    for value in (shape.top, shape.bottom, *(part for corner in shape.section for part in corner)):
        checked(f"a dimension of link '{shape.name}'", value, low=-_GREATEST, high=_GREATEST)


def default_link_shapes(*, l1: float, l2: float, gain: float) -> tuple[LinkShape, ...]:
    """Return bars of square section for the nine links of a leg.

    Args:
        l1: Length from the upper pivot to the crank's pin on the thigh [unit].
        l2: Length of the crank [unit].
        gain: Magnification of the pantograph [-].
    """
    w = 0.15 * (l1 + l2) / 2
    lengths = (gain * l1, (gain - 1) * l1, l2, gain * l2)
    widths = (w, 0.7 * w, 0.7 * w, 0.9 * w)
    bars = [
        LinkShape(name, _square(width), 0.0, -length, length)
        for name, width, length in zip(LINK_NAMES[4:8], widths, lengths, strict=True)
    ]
    return (
        LinkShape(LINK_NAMES[0], _square(2.5 * w), 3 * w, w),
        LinkShape(LINK_NAMES[1], _square(1.2 * w), w, -1.4 * (l1 + l2)),
        LinkShape(LINK_NAMES[2], _square(1.8 * w), w, -w),
        LinkShape(LINK_NAMES[3], _square(1.8 * w), w, -w),
        *bars,
        LinkShape(LINK_NAMES[8], _square(2.0 * w), w, 0.0),
    )


def _square(half: float) -> tuple[tuple[float, float], ...]:
    return ((-half, -half), (half, -half), (half, half), (-half, half))


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The robot, in its own unit of length.

    The body frame has x forward, y left and z up; its origin is the middle of the four hips.
    One leg is defined, link by link; the others are its mirror images.

    Attributes:
        kind: How the legs are driven sideways.
        l1: Length from the upper pivot to the crank's pin on the thigh [unit].
        l2: Length of the crank [unit].
        gain: Magnification K of the pantograph [-].
        rail_height: Height of the horizontal drive's rail over the hip, negative [unit].
        body_length: Distance of the front hips from the rear hips [unit].
        body_width: Distance of the left hips from the right hips [unit].
        foot_offset: Outward distance of a neutral foot from its hip [unit].
        foot_forward: Forward distance of a neutral foot from its hip [unit]; the centre of
            mass of a real machine is behind the middle of its hips.
        com: Centre of mass in the body frame, forward and to the left [unit].
        lateral_stroke: How far a TTT1 leg slides to either side [unit].
        turn_limit_deg: How far a TTR leg turns to either side [deg].
        shapes: Shapes of links of one leg, by their names, or all nine in order; the others
            are default bars.
    """

    kind: LegKind = LegKind.TTT2
    l1: float = 6.0
    l2: float = 6.0
    gain: float = 6.0
    rail_height: float = -6.0 * sqrt(2.0)
    body_length: float = 37.0
    body_width: float = 41.5
    foot_offset: float = 0.0
    foot_forward: float = 0.0
    com: tuple[float, float] = (0.0, 0.0)
    lateral_stroke: float = 25.0
    turn_limit_deg: float = 35.0
    shapes: tuple[LinkShape, ...] = ()

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        object.__setattr__(self, "kind", LegKind(self.kind))
        for name in ("l1", "l2"):
            checked(f"{name} of the machine", getattr(self, name), low=1e-6, high=1e6)
        checked("gain of the machine", self.gain, low=1.001, high=1000.0)
        checked("rail_height of the machine", self.rail_height, low=-1e6, high=-1e-6)
        for name in ("body_length", "body_width"):
            checked(f"{name} of the machine", getattr(self, name), low=1e-6, high=1e6)
        checked("foot_offset of the machine", self.foot_offset, low=0.0, high=1e6)
        checked("foot_forward of the machine", self.foot_forward, low=-1e6, high=1e6)
        checked("lateral_stroke of the machine", self.lateral_stroke, low=0.0, high=1e6)
        checked("turn_limit_deg of the machine", self.turn_limit_deg, low=0.0, high=90.0)
        for value in self.com:
            checked("com of the machine", value, low=-1e6, high=1e6)
        for shape in self.shapes:
            check_shape(shape)
        names = [shape.name for shape in self.shapes]
        if len(names) != len(LINK_NAMES) and not set(names) <= set(LINK_NAMES):
            wrong = next(name for name in names if name not in LINK_NAMES)
            raise LegsError(f"no link is named '{wrong}' (known: {', '.join(LINK_NAMES)})")
        if len(names) != len(LINK_NAMES) and len(set(names)) < len(names):
            raise LegsError("two shapes have the name of one link")

    @property
    def leg(self) -> "PantographLeg":
        """The leg, in its own frame: body axes at the hip."""
        from kinetarium.legs.mechanism.pantograph import PantographLeg

        return PantographLeg(
            self.kind, l1=self.l1, l2=self.l2, gain=self.gain, rail_height=self.rail_height
        )

    @property
    def height(self) -> float:
        """Height of the hips over level ground with the vertical drives at zero [unit]."""
        return -self.gain * self.rail_height

    @property
    def hips(self) -> "Array":
        """Positions of the hips 1 to 4 in the body frame [unit], shape (4, 3)."""
        from kinetarium.spatial.arrays import frozen

        a, b = self.body_length / 2, self.body_width / 2
        return frozen([[-a, -b, 0], [a, -b, 0], [-a, b, 0], [a, b, 0]])

    @property
    def neutral_feet(self) -> "Array":
        """Neutral positions of the feet in the body frame [unit], shape (4, 3)."""
        from kinetarium.spatial.arrays import frozen

        x, y, z = self.foot_forward, self.foot_offset, -self.height
        rest = frozen([[x, -y, z], [x, -y, z], [x, y, z], [x, y, z]])
        return frozen(self.hips + rest)

    @property
    def azimuths(self) -> tuple[float, float, float, float]:
        """Neutral directions of TTR legs, from x to the left [rad]: outward like their feet."""
        side = pi / 2 if self.foot_offset > 0 else 0.0
        return (-side, -side, side, side)

    @property
    def limits(self) -> "Array":
        """Least and greatest |ab| of a leg, lateral stroke [unit] and turn [rad], shape (4,)."""
        from kinetarium.spatial.arrays import frozen

        return frozen([*self.leg.reach, self.lateral_stroke, radians(self.turn_limit_deg)])

    @property
    def link_shapes(self) -> tuple[tuple[LinkShape, ...], ...]:
        """Shapes of the nine links of legs 1 to 4, each in its own frame; the body comes last.

        Five tuples: nine shapes for each leg, mirrored like the legs, and one for the body.
        """
        own = default_link_shapes(l1=self.l1, l2=self.l2, gain=self.gain)
        drawn = dict(zip(LINK_NAMES, self.shapes, strict=False))
        if len(self.shapes) != len(LINK_NAMES):
            drawn = {shape.name: shape for shape in self.shapes}
        own = tuple(drawn.get(bar.name, bar).bound(bar.length) for bar in own)
        right = tuple(shape.mirrored() for shape in own)
        return (right, right, own, own, (self.body_shape,))

    @property
    def bars(self) -> dict[str, float]:
        """Distances of the outer pivots of the four bars of a leg by their names [unit]."""
        lengths = (self.gain * self.l1, (self.gain - 1) * self.l1, self.l2, self.gain * self.l2)
        return dict(zip(LINK_NAMES[4:8], lengths, strict=True))

    @property
    def body_shape(self) -> LinkShape:
        """Shape of the body, in the body frame."""
        a, b = self.body_length / 2, self.body_width / 2 - 2.0
        return LinkShape("body", ((-a, -b), (a, -b), (a, b), (-a, b)), 2.0, -2.0)


def missed_pivots(machine: Machine) -> dict[str, float]:
    """Return by how much shapes miss a pivot of their link, by the link's name [unit].

    A bar has to contain both of its ends, the other links but the bracket their origins.
    """
    missed = {}
    for name, shape in zip(LINK_NAMES[1:], machine.link_shapes[2][1:], strict=True):
        lower, upper = sorted((shape.bottom, shape.top))
        length = machine.bars.get(name, 0.0)
        beyond = max(-upper, lower + length, lower, _distance_outside(shape.section))
        if beyond > _MISSED:
            missed[name] = beyond
    return missed


def _distance_outside(section: tuple[tuple[float, float], ...]) -> float:
    """Return the distance of the origin from a section, 0 if it is inside."""
    x, y = np.array(section).T
    dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
    # The origin is inside if a ray from it crosses the edges an odd number of times.
    crossing = (y > 0) != (np.roll(y, -1) > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = (crossing & (x - y * dx / dy > 0)).sum() % 2 == 1
        part = np.nan_to_num(np.clip(-(x * dx + y * dy) / (dx**2 + dy**2), 0, 1))
    return 0.0 if inside else float(np.hypot(x + part * dx, y + part * dy).min())


LEG_COLORS = (
    (0.01, 0.30, 0.85, 1.0),
    (0.78, 0.22, 0.00, 1.0),
    (0.01, 0.64, 0.55, 1.0),
    (0.56, 0.16, 0.55, 1.0),
)
"""Red, green, blue and opacity of the legs 1 to 4."""

BODY_COLOR = (0.62, 0.63, 0.65, 1.0)


def link_mesh(shape: LinkShape, *, unit_m: float) -> TriangleMesh:
    """Return a prism as triangles that face outwards [m]; its section is assumed convex."""
    section = np.array(shape.section) * unit_m
    x, y = section.T
    if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0:
        section = section[::-1]
    n = len(section)
    lower = np.column_stack([section, np.full(n, min(shape.bottom, shape.top) * unit_m)])
    upper = np.column_stack([section, np.full(n, max(shape.bottom, shape.top) * unit_m)])
    here = np.arange(n)
    there = np.roll(here, -1)
    faces = [
        np.column_stack([here, there, there + n]),
        np.column_stack([here, there + n, here + n]),
    ]
    middle = np.arange(1, n - 1)
    zero = np.zeros(n - 2, dtype=np.int64)
    faces += [
        np.column_stack([zero, middle + 1, middle]),
        np.column_stack([zero + n, middle + n, middle + 1 + n]),
    ]
    triangles = np.concatenate(faces).astype(np.int32)
    triangles.setflags(write=False)
    return TriangleMesh(frozen(np.concatenate([lower, upper])), triangles)


MOST_BYTES = 1_000_000


def save_machine(machine: Machine, path: Path) -> None:
    """Write a machine as JSON, atomically.

    Raises:
        OutputError: If the file cannot be written.
    """
    write_atomic(path, versioned_json(to_builtins(machine)))


_COMMENTS = {
    "kind": "how the legs are driven sideways: ttt1 slides, ttt2 swings, ttr turns",
    "l1": "from the upper pivot to the crank's pin on the thigh",
    "l2": "length of the crank",
    "gain": "magnification of the pantograph, 1.001 to 1000",
    "rail_height": "height of the horizontal drive's rail over the hip, negative",
    "body_length": "distance of the front hips from the rear hips",
    "body_width": "distance of the left hips from the right hips",
    "foot_offset": "outward distance of a neutral foot from its hip",
    "foot_forward": "forward distance of a neutral foot from its hip",
    "com": "centre of mass from the middle of the hips, forward and to the left",
    "lateral_stroke": "how far a ttt1 leg slides to either side",
    "turn_limit_deg": "how far a ttr leg turns to either side [deg], 0 to 90",
}


def machine_toml(machine: Machine) -> str:
    """Return a machine as a commented file to edit, which reads back to the same machine.

    Example:
        >>> from kinetarium.legs.mechanism.machine import Machine, machine_toml
        >>> print(machine_toml(Machine()).splitlines()[3])
        kind = "ttt2"  # how the legs are driven sideways: ttt1 slides, ttt2 swings, ttr turns
    """
    data = to_builtins(machine)
    shapes = data.pop("shapes")
    lines = [
        "# A walking machine, for: kinetarium walk --machine FILE",
        "# Lengths are in the machine's own unit, whose size and the mass are flags of walk.",
        "# An entry that is left out has the value of the machine of 1988.",
        *(
            f"{' '.join(to_toml({name: data[name]}).split())}  # {words}"
            for name, words in _COMMENTS.items()
        ),
    ]
    if shapes:
        lines += ["", "# Links of a leg that are no plain bars: prisms along z.", ""]
        lines.append(to_toml({"shapes": shapes}).strip())
    return "\n".join(lines) + "\n"


def load_machine(path: Path) -> Machine:
    """Read a machine: a TOML file to edit, or JSON as the studio saves it.

    Raises:
        SerializationError: If the file cannot be read or does not match the schema.
        LegsError: If a value is invalid.
    """
    toml = path.suffix == ".toml"
    data = read_toml(path) if toml else read_versioned_json(path, most=MOST_BYTES)
    return from_builtins(Machine, data, where=f"machine {str(path)!r}")
