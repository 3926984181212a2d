"""Random numbers, names and places for random MJCF files."""

from dataclasses import dataclass, field
from random import Random
from xml.etree.ElementTree import Element, tostring

import numpy as np

ORIENTATIONS = {"quat": 4, "euler": 3, "axisangle": 4, "xyaxes": 6, "zaxis": 3}


@dataclass
class MjcfFile:
    """A random file.

    Attributes:
        root: The <mujoco> element.
        others: The files beside it, by name: includes and meshes.
        unsupported: What it holds that a robot model has no place for, so that it is refused.
    """

    root: Element = field(default_factory=lambda: Element("mujoco"))
    others: dict[str, bytes] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The file as it is written."""
        return tostring(self.root, encoding="unicode")


class Draws:
    """Draws of one file, and what has been drawn for all of it.

    Attributes:
        rng: The random numbers.
        out: The file so far.
        degrees: Whether angles are in degrees.
        autolimits: Whether a range alone makes a limit.
        inertials: Whether every body has an <inertial>.
        classes: The default classes so far.
        meshes: The meshes so far.
    """

    def __init__(self, seed: int) -> None:
        """Begin an empty file."""
        self.rng = Random(seed)
        self.out = MjcfFile()
        self.degrees = self.chance(0.6)
        self.autolimits = self.chance(0.9)
        self.inertials = self.chance(0.4)
        self.classes: list[str] = []
        self.meshes: list[str] = []
        self._names = 0

    def chance(self, probability: float) -> bool:
        """Draw whether something happens."""
        return self.rng.random() < probability

    def name(self, stem: str) -> str:
        """Return a new name."""
        self._names += 1
        # The letter at the end keeps names apart from those of replicas, which get a number there.
        return f"{stem}{self._names}n"

    def numbers(self, count: int, low: float, high: float) -> str:
        """Draw numbers of few digits, as people write them."""
        return " ".join(f"{self.rng.uniform(low, high):.6g}" for _ in range(count))

    def angle(self, most: float = 180.0) -> float:
        """Draw an angle of up to some degrees, in the unit of the file."""
        angle = self.rng.uniform(-most, most)
        return angle if self.degrees else float(np.radians(angle))

    def pick_class(self, element: Element, attribute: str, probability: float) -> None:
        """Let an element name a default class, if there are any."""
        if self.classes and self.chance(probability):
            element.set(attribute, self.rng.choice([*self.classes, "main"]))

    def turn(self, element: Element) -> None:
        """Return an element one of the orientations, or none."""
        kind = self.rng.choice(["", *ORIENTATIONS])
        if kind == "euler":
            element.set(kind, " ".join(f"{self.angle():.6g}" for _ in range(3)))
        elif kind == "axisangle":
            element.set(kind, f"{self.numbers(3, 0.1, 1)} {self.angle():.6g}")
        elif kind:
            element.set(kind, self.numbers(ORIENTATIONS[kind], -1, 1))

    def place(self, element: Element, *, reach: float = 0.4) -> None:
        """Return an element a position and an orientation, or neither."""
        if self.chance(0.7):
            element.set("pos", self.numbers(3, -reach, reach))
        self.turn(element)

    def losses(self, joint: Element) -> None:
        """Return a joint damping, friction and armature."""
        for name, most in (("damping", 2.0), ("frictionloss", 1.0), ("armature", 0.1)):
            if self.chance(0.35):
                joint.set(name, self.numbers(1, 0, most))
        if self.chance(0.05) and "damping" in joint.attrib:
            joint.set("damping", joint.get("damping") + " 0")

    def limit(self, joint: Element) -> None:
        """Return a joint a range, in force or not."""
        low, high = sorted(self.angle(150) for _ in range(2))
        joint.set("range", f"{low - 0.1:.6g} {high + 0.1:.6g}")
        if not self.autolimits:
            joint.set("limited", self.rng.choice(["true", "false"]))
        elif self.chance(0.3):
            joint.set("limited", self.rng.choice(["true", "false", "auto"]))

    def weight(self, geom: Element) -> None:
        """Return a geom a mass, a density, both or neither."""
        if self.chance(0.3):
            geom.set("mass", "0" if self.chance(0.1) else self.numbers(1, 0.05, 4))
        if self.chance(0.3):
            geom.set("density", self.numbers(1, 50, 4000))
