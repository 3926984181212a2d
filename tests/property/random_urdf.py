"""Random URDF files, valid by the standard of urdfdom, with what their repairs must be.

Files differ in everything a reader could get wrong: the shape of the tree and the order in the
file, defaults left out, ways to write numbers and white space, names, versions, and what other
programs add.
"""

from dataclasses import dataclass, field
from random import Random
from xml.sax.saxutils import quoteattr

import numpy as np

NAMES = (
    "link 1",
    "a/b",
    "élan",
    "x:y",
    "R&D",
    "日本",
    "it's",
    'say "a"',
    "0",
    "-1",
    "a.b-c_d",
    "<in>",
)
MOVING = ("revolute", "continuous", "prismatic", "planar")
JUNK = (
    "<!-- <link name='not one'/> -->",
    '<gazebo reference="x"><mass value="nan"/></gazebo>',
    '<transmission name="t"><joint name="x"><origin/></joint></transmission>',
    '<material name="red"><color rgba="1 0 0 1"/></material>',
)


@dataclass
class RandomUrdf:
    """A file being written.

    Attributes:
        seed: Where it starts from.
        text: The file.
        repairs: Codes of the repairs that it must bring about.
        allowed: Codes of the repairs that it may bring about besides.
        mimics: Whether a joint follows another.
        unlimited: Joints whose limits are missing, which urdfdom reads as zero.
        light: Whether a moving link has no mass, which is repaired or refused.
        tilted: Whether a planar joint has another axis than z, which Pinocchio does not heed.
    """

    seed: int
    text: str = ""
    repairs: set[str] = field(default_factory=set)
    allowed: set[str] = field(default_factory=set)
    mimics: bool = False
    unlimited: set[str] = field(default_factory=set)
    light: bool = False
    tilted: bool = False

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._names: set[str] = set()
        self._version = self._random.choice(("", "1.0", "1.1", "1.2"))
        self._leaders: list[tuple[str, str]] = []
        self._write()

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _number(self, value: float) -> str:
        """Write a number in one of the ways that every reader must understand."""
        r = self._random
        text = r.choice((repr(value), f"{value:.9g}", f"{value:.9e}", f"{value:.12f}"))
        if self._chance(0.1):
            text = text.replace("e", "E")
        if self._chance(0.1) and not text.startswith("-"):
            text = "+" + text
        if self._chance(0.1) and text.endswith(".0"):
            return text[:-1]
        if self._chance(0.1):
            text = text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else "0" + text
            text = text.replace("0-", "-0").replace("0+", "+0")
        return text

    def _vector(self, values) -> str:
        blank = self._random.choice((" ", " ", " ", "  ", "   "))
        edge = self._random.choice(("", "", "", " "))
        return edge + blank.join(self._number(float(value)) for value in values) + edge

    def _element(self, tag: str, attributes: dict[str, str], *inside: str) -> str:
        r = self._random
        items = list(attributes.items())
        r.shuffle(items)
        quote = r.choice((quoteattr, quoteattr, lambda text: quoteattr(text, {"e": "&#101;"})))
        equals = r.choice(("=", "=", "=", " = "))
        head = r.choice((" ", " ", " ", "\n\t")).join(
            [tag, *(f"{name}{equals}{quote(text)}" for name, text in items)]
        )
        children = list(inside)
        r.shuffle(children)
        if not children and self._chance(0.8):
            return f"<{head}/>"
        blank = r.choice(("", "\n", "  ", "<!-- a <comment> -->"))
        return f"<{head}>{blank}{blank.join(children)}{blank}</{tag}>"

    def _name(self, stem: str) -> str:
        name = stem
        if self._chance(0.3):
            name = self._random.choice(NAMES) + self._random.choice(("", f" {stem}", stem))
        while (stem[0], name) in self._names:
            name += "'"
        self._names.add((stem[0], name))
        return name

    def _origin(self, reach: float = 1.0) -> list[str]:
        r = self._random
        if self._chance(0.2):
            return []
        attributes = {}
        if self._chance(0.8):
            attributes["xyz"] = self._vector(r.uniform(-reach, reach) for _ in range(3))
        if self._version in ("1.1", "1.2") and self._chance(0.4):
            quaternion = np.array([r.gauss(0, 1) for _ in range(4)])
            quaternion /= np.linalg.norm(quaternion)
            if self._chance(0.1):
                quaternion *= 2.0
                self.repairs.add("bad-value")
            attributes["quat_xyzw"] = self._vector(quaternion)
        elif self._chance(0.7):
            angles = [r.choice((0.0, r.uniform(-4, 4), np.pi / 2, -np.pi)) for _ in range(3)]
            attributes["rpy"] = self._vector(angles)
        return [self._element("origin", attributes)]

    def _inertial(self, mass: float) -> str:
        r = self._random
        second = np.array([10 ** r.uniform(-4, -1) for _ in range(3)]) * mass
        axes, _ = np.linalg.qr(np.array([[r.gauss(0, 1) for _ in range(3)] for _ in range(3)]))
        if self._chance(0.3):
            axes = np.eye(3)
        moment = axes @ np.diag(second.sum() - second) @ axes.T
        entries = {
            f"i{a}{b}": self._number(float(moment[i, j]))
            for i, a in enumerate("xyz") for j, b in enumerate("xyz") if i <= j
        }  # fmt: skip
        return self._element(
            "inertial",
            {},
            *self._origin(0.2),
            self._element("mass", {"value": self._number(mass)}),
            self._element("inertia", entries),
        )

    def _shape(self) -> str:
        r = self._random
        size = [r.uniform(0.01, 1) for _ in range(3)]
        shapes = [
            self._element("box", {"size": self._vector(size)}),
            self._element("sphere", {"radius": self._number(size[0])}),
        ]
        round_ = {"radius": self._number(size[0]), "length": self._number(size[1])}
        shapes.append(self._element("cylinder", round_))
        if self._version in ("1.1", "1.2"):
            shapes.append(self._element("capsule", round_))
        return r.choice(shapes)

    def _geometries(self) -> list[str]:
        made = []
        for tag in ("visual", "collision"):
            for _ in range(self._random.choice((0, 0, 1, 2))):
                geometry = self._element("geometry", {}, self._shape())
                looks = ['<material name="red"/>'] if tag == "visual" and self._chance(0.3) else []
                named = {"name": self._random.choice(NAMES)} if self._chance(0.3) else {}
                made.append(self._element(tag, named, *self._origin(), geometry, *looks))
        return made

    def _limit(self, kind: str, joint: str) -> list[str]:
        r = self._random
        bounded = kind in ("revolute", "prismatic")
        if not bounded and self._chance(0.5):
            return []
        effort, velocity = 10 ** r.uniform(-1, 3), 10 ** r.uniform(-1, 2)
        if self._chance(0.1):
            effort = 1e16
        attributes = {"effort": self._number(effort), "velocity": self._number(velocity)}
        if self._version == "1.2":
            for name in list(attributes):
                if self._chance(0.3):
                    del attributes[name]
            for name in ("acceleration", "deceleration", "jerk"):
                if self._chance(0.1):
                    attributes[name] = self._number(r.uniform(0, 100))
                    self.repairs.add("unknown-element")
        if kind == "continuous" and self._chance(0.2):
            attributes["lower"] = self._number(-r.uniform(0.1, 3))
            attributes["upper"] = self._number(r.uniform(0.1, 3))
            self.repairs.add("limits")
        if bounded:
            attributes["lower"] = self._number(r.choice((-1e16, -r.uniform(0, 3), 0.0)))
            attributes["upper"] = self._number(r.choice((1e16, r.uniform(0, 3), r.uniform(0, 3))))
            if self._version != "1.2":
                for name in ("lower", "upper"):
                    if self._chance(0.1):
                        del attributes[name]
                if not {"lower", "upper"} & set(attributes):
                    self.repairs.add("limits")
                    self.unlimited.add(joint)
        return [self._element("limit", attributes)]

    def _joint(self, kind: str, parent: str, child: str) -> str:
        r = self._random
        name = self._name("joint")
        parts = [
            *self._origin(),
            self._element("parent", {"link": parent}),
            self._element("child", {"link": child}),
        ]
        axis = np.array(r.choice(((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (0, 0, 0)))) * 1.0
        if not axis.any():
            axis = np.array([r.gauss(0, 1) for _ in range(3)])
            axis /= np.linalg.norm(axis)
        if kind == "planar" and self._chance(0.8):
            axis = np.array([0.0, 0.0, 1.0])
        long = self._chance(0.05)
        if kind == "planar" or self._chance(0.8):
            parts.append(self._element("axis", {"xyz": self._vector(axis * (3 if long else 1))}))
            if long and kind in MOVING:
                self.repairs.add("zero-axis")
        if kind == "planar":
            # Taken apart, and the links between the parts are given a little mass.
            self.repairs |= {"unsupported", "massless"}
            self.tilted |= not np.array_equal(axis, (0, 0, 1))
        parts += self._limit(kind, name)
        if self._chance(0.4):
            losses = {"damping": self._number(r.uniform(0, 5))}
            if self._chance(0.5):
                losses = {**losses, "friction": self._number(r.uniform(0, 5))}
                losses = losses if self._chance(0.7) else {"friction": losses["friction"]}
            parts.append(self._element("dynamics", losses))
        if self._chance(0.1):
            parts.append('<safety_controller k_velocity="1" soft_lower_limit="-1"/>')
            self.repairs.add("unknown-element")
        leaders = [leader for leader, other in self._leaders if other == kind]
        if kind in ("revolute", "prismatic", "continuous"):
            followed = leaders and self._chance(0.25)
            if not followed or self._chance(0.1):  # the latter gives chains of followers
                self._leaders.append((name, kind))
            if followed:
                factor = r.choice((r.uniform(-2, 2), 1.0, -1.0))
                mimic = {"joint": r.choice(leaders), "multiplier": self._number(factor)}
                if kind != "continuous" or self._chance(0.5):
                    mimic["offset"] = self._number(r.uniform(-1, 1))
                for part in ("multiplier", "offset"):
                    if self._chance(0.2):
                        mimic.pop(part, None)
                parts.append(self._element("mimic", mimic))
                self.mimics = True
        return self._element("joint", {"name": name, "type": kind}, *parts)

    def _write(self) -> None:
        r = self._random
        count = r.randint(2, 9)
        links = [self._name("link") for _ in range(count)]
        floating = self._chance(0.1)
        kinds = ["floating"] if floating else []
        while len(kinds) < count - 1:
            kinds.append(r.choices((*MOVING, "fixed"), weights=(35, 20, 15, 5, 25))[0])
        parts = []
        for i, name in enumerate(links):
            inside = []
            must = i > 0 and kinds[i - 1] != "fixed"
            if must and self._chance(0.01):
                self.light = True
                self.allowed.add("massless")
            elif must or (self._chance(0.6) and not (floating and i == 0)):
                inside.append(self._inertial(10 ** r.uniform(-2, 1.5)))
            if not (floating and i == 0):
                inside += self._geometries()
            parts.append(self._element("link", {"name": name}, *inside))
        for i, kind in enumerate(kinds):
            least = 1 if floating and i > 0 else 0
            parts.append(self._joint(kind, links[r.randint(least, i)], links[i + 1]))
        if floating:
            self.allowed.add("unsupported")
        for junk in JUNK:
            if self._chance(0.15):
                parts.append(junk)
                if junk.startswith(("<gazebo", "<trans")):
                    self.repairs.add("unknown-element")
        attributes = {"name": self._name("robot")}
        if self._version:
            attributes["version"] = self._version
        head = r.choice(("", '<?xml version="1.0"?>\n', '<?xml version="1.0" encoding="utf-8"?>'))
        self.text = head + self._element("robot", attributes, *parts) + r.choice(("", "\n"))
