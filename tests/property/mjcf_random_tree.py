"""Random trees of bodies for random MJCF files."""

from xml.etree.ElementTree import Element, SubElement

import numpy as np

from property.mjcf_draws import ORIENTATIONS, Draws

MOST_BODIES = 9
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
"""The primitive shapes, and how many sizes they have."""


class RandomTree:
    """Draws what stands in the world.

    Attributes:
        joints: The joints that others may name, with the suffix of replicas left away.
        bodies: The bodies that others may name.
        sites: The sites that others may name.
        copied_joints: Joints inside replicas, which stand for all their copies.
    """

    def __init__(self, draws: Draws) -> None:
        """Keep the draws of the file."""
        self._draws = draws
        self._rng = draws.rng
        self._count = 0
        self._replicas = 0
        self.joints: list[str] = []
        self.bodies: list[str] = []
        self.sites: list[str] = []
        self.copied_joints: list[str] = []

    def fill(self, world: Element) -> None:
        """Draw a robot that floats or stands, and something beside it."""
        draws = self._draws
        if draws.chance(0.5):
            SubElement(world, "geom", name="floor", type="plane", size="5 5 0.1")
        if draws.chance(0.3):
            SubElement(world, "light", pos="0 0 3", dir="0 0 -1")
        if draws.chance(0.05):
            target = SubElement(world, "body", name="target", mocap="true", pos="0 0 2")
            SubElement(target, "geom", size="0.05", contype="0", conaffinity="0")
        if draws.chance(0.35):
            self._body(self._framed(world), depth=0, free=True)
            if draws.chance(0.2):
                table = SubElement(world, "body", name="table", pos="1 0 0")
                SubElement(table, "geom", type="box", size="0.1 0.2 0.3")
        elif draws.chance(0.05):
            replicate = self._replicate(world)
            self._replicas += 1
            self._body(replicate, depth=0, free=False)
            self._replicas -= 1
        else:
            for _ in range(1 if draws.chance(0.7) else 2):
                self._body(self._framed(world), depth=0, free=False)

    def _framed(self, element: Element) -> Element:
        """Return the element, or a frame in it, or one in that."""
        while self._draws.chance(0.2):
            element = SubElement(element, "frame")
            self._draws.place(element, reach=0.2)
            self._draws.pick_class(element, "childclass", 0.2)
        return element

    def _body(self, around: Element, *, depth: int, free: bool) -> None:
        draws = self._draws
        self._count += 1
        body = SubElement(around, "body")
        name = draws.name("body")
        if draws.chance(0.93):
            body.set("name", name)
            if not self._replicas:
                self.bodies.append(name)
        draws.place(body)
        draws.pick_class(body, "childclass", 0.3)
        if draws.chance(0.002):
            body.set("gravcomp", "1")
            draws.out.unsupported.append("gravity compensation")
        parts = [self._masses]
        if free:
            parts.append(self._free_joint)
        elif depth or draws.chance(0.6):
            parts.append(self._some_joints)
        if depth < 4:
            parts.append(lambda inner: self._children(inner, depth))
        if draws.chance(0.3):
            parts.append(self._site)
        self._rng.shuffle(parts)
        for part in parts:
            part(body)

    def _children(self, body: Element, depth: int) -> None:
        for _ in range(self._rng.choice([0, 1, 1, 1, 2, 3])):
            if self._count >= MOST_BODIES:
                return
            if self._draws.chance(0.15) and self._replicas < 2:
                replicate = self._replicate(self._framed(body))
                self._replicas += 1
                self._body(self._framed(replicate), depth=depth + 1, free=False)
                self._replicas -= 1
            else:
                self._body(self._framed(body), depth=depth + 1, free=False)

    def _replicate(self, around: Element) -> Element:
        draws = self._draws
        replicate = SubElement(around, "replicate", count=str(self._rng.randint(1, 3)))
        if draws.chance(0.7):
            replicate.set("offset", draws.numbers(3, -0.3, 0.3))
        if draws.chance(0.7):
            replicate.set("euler", " ".join(f"{draws.angle():.6g}" for _ in range(3)))
        if draws.chance(0.4):
            replicate.set("sep", self._rng.choice(["-", "_", "x"]))
        draws.pick_class(replicate, "childclass", 0.2)
        return replicate

    def _free_joint(self, body: Element) -> None:
        if self._draws.chance(0.8):
            SubElement(body, "freejoint", name=self._draws.name("free"))
        else:
            joint = SubElement(body, "joint", type="free", name=self._draws.name("free"))
            for name in ("damping", "frictionloss", "armature"):
                joint.set(name, "0")

    def _some_joints(self, body: Element) -> None:
        for _ in range(self._rng.choice([0, 1, 1, 1, 1, 2, 3])):
            self._joint(self._framed(body))

    def _joint(self, around: Element) -> None:
        draws, name = self._draws, self._draws.name("joint")
        joint = SubElement(around, "joint", name=name)
        (self.copied_joints if self._replicas else self.joints).append(name)
        kind = self._rng.choice(["", "hinge", "hinge", "slide"])
        if kind:
            joint.set("type", kind)
        if draws.chance(0.8):
            joint.set("axis", draws.numbers(3, -1, 1))
        if draws.chance(0.4):
            joint.set("pos", draws.numbers(3, -0.3, 0.3))
        if draws.chance(0.2):
            joint.set("ref", f"{draws.angle(40):.6g}" if kind != "slide" else "0.15")
        if draws.chance(0.4):
            draws.limit(joint)
        if draws.chance(0.1):
            joint.set("springref", "0.1")
        if draws.chance(0.1):
            joint.set("margin", "0.01")
        draws.losses(joint)
        draws.pick_class(joint, "class", 0.3)
        if draws.chance(0.003):
            joint.set("stiffness", "5")
            draws.out.unsupported.append("springs")

    def _masses(self, body: Element) -> None:
        """Return a body geoms, an inertial or both, in any order and in frames."""
        count = self._rng.choice([0, 1, 1, 2, 3])
        written = self._draws.inertials or self._draws.chance(0.45) or not count
        parts = [self._geom] * count + [self._inertial] * written
        self._rng.shuffle(parts)
        for part in parts:
            part(self._framed(body))

    def _inertial(self, around: Element) -> None:
        draws = self._draws
        inertial = SubElement(around, "inertial", mass=draws.numbers(1, 0.1, 5))
        draws.place(inertial, reach=0.2)
        inertial.set("pos", inertial.get("pos", "0 0 0"))
        second = np.array([self._rng.uniform(0.002, 0.05) for _ in range(3)])
        moments = second.sum() - second
        if draws.chance(0.4):
            for name in ORIENTATIONS:
                inertial.attrib.pop(name, None)
            axes, _ = np.linalg.qr([[self._rng.gauss(0, 1) for _ in range(3)] for _ in range(3)])
            moment = axes @ np.diag(moments) @ axes.T
            rows = (*moment.diagonal(), moment[0, 1], moment[0, 2], moment[1, 2])
            inertial.set("fullinertia", " ".join(f"{x:.12g}" for x in rows))
        else:
            inertial.set("diaginertia", " ".join(f"{x:.12g}" for x in moments))

    def _geom(self, around: Element) -> None:
        draws = self._draws
        if draws.chance(0.08):
            around = self._replicate(around)
        geom = SubElement(around, "geom")
        if draws.chance(0.9):
            geom.set("name", draws.name("geom"))
        draws.weight(geom)
        draws.pick_class(geom, "class", 0.2)
        if draws.chance(0.2):
            geom.set("group", str(self._rng.randint(0, 4)))
        if draws.chance(0.2):
            geom.set("contype", "0")
            geom.set("conaffinity", "0")
        if draws.chance(0.1):
            geom.set("condim", "4")
        if draws.meshes and draws.chance(0.4):
            geom.set("type", "mesh")
            geom.set("mesh", self._rng.choice(draws.meshes))
            draws.place(geom)
            return
        kind = self._rng.choice(list(SIZES))
        # Without a type it is a sphere or what its class says, with as many sizes as that needs.
        if draws.chance(0.9):
            geom.set("type", kind)
        count = 3 if "type" not in geom.attrib or draws.chance(0.2) else SIZES[kind]
        geom.set("size", draws.numbers(count, 0.03, 0.3))
        if "type" in geom.attrib and kind != "sphere" and draws.chance(0.3):
            geom.set("fromto", draws.numbers(6, -0.5, 0.5))
            if draws.chance(0.1):
                draws.turn(geom)
        else:
            draws.place(geom)

    def _site(self, body: Element) -> None:
        site = SubElement(self._framed(body), "site", name=self._draws.name("site"))
        if not self._replicas:
            self.sites.append(site.get("name", ""))
        if self._draws.chance(0.1):
            site.set("type", "capsule")
            site.set("fromto", self._draws.numbers(6, -0.3, 0.3))
        else:
            self._draws.place(site)
