"""Random sound MJCF files, with all that a robot may be written with."""

from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.triangles import triangle_mesh
from property.mjcf_draws import Draws, MjcfFile
from property.mjcf_random_tree import SIZES, RandomTree

_TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
_PRISM = (
    ((0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 3, 0), (0, 3, 0),
     (0, 0, 1), (2, 0, 1), (2, 1, 1), (1, 1, 1), (1, 3, 1), (0, 3, 1)),
    ((0, 2, 1), (0, 3, 2), (0, 5, 3), (3, 5, 4), (6, 7, 8), (6, 8, 9), (6, 9, 11), (9, 10, 11),
     (0, 1, 7), (0, 7, 6), (1, 2, 8), (1, 8, 7), (2, 3, 9), (2, 9, 8), (3, 4, 10), (3, 10, 9),
     (4, 5, 11), (4, 11, 10), (5, 0, 6), (5, 6, 11)),
)  # fmt: skip
"""An L-shaped prism, whose convex hull is another solid."""


def random_mjcf(seed: int) -> MjcfFile:
    """Return the random file of a seed."""
    return _Generator(seed).file()


class _Generator:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._draws = Draws(seed)
        self._rng = self._draws.rng
        self._tree = RandomTree(self._draws)

    def file(self) -> MjcfFile:
        root = self._draws.out.root
        if self._draws.chance(0.7):
            root.set("model", f"robot {self._seed}")
        sections = [self._compiler, self._option, self._defaults]
        self._rng.shuffle(sections)
        # Assets and bodies name classes, which must have been made by then.
        for section in (*sections, self._assets, self._world):
            section(root)
        for section in (self._equality, self._actuators, self._surroundings):
            section(root)
        if self._draws.chance(0.25):
            self._include(root)
        return self._draws.out

    def _compiler(self, root: Element) -> None:
        draws = self._draws
        compiler = SubElement(root, "compiler")
        if not draws.degrees or draws.chance(0.3):
            compiler.set("angle", "degree" if draws.degrees else "radian")
        if not draws.autolimits:
            compiler.set("autolimits", "false")
        if draws.chance(0.4):
            compiler.set("eulerseq", "".join(self._rng.choice("xyzXYZ") for _ in range(3)))
        for name, values, probability in (
            ("inertiafromgeom", ("true", "false" if draws.inertials else "auto"), 0.4),
            ("balanceinertia", ("true", "false"), 0.2),
            ("boundmass", ("0.01", "0.5"), 0.15),
            ("boundinertia", ("0.001", "0.02"), 0.15),
            ("settotalmass", ("-1", "7.5"), 0.06),
            ("inertiagrouprange", ("0 2", "1 4"), 0.3 if draws.inertials else 0.03),
            ("discardvisual", ("true", "false"), 0.1),
            ("fusestatic", ("true", "false"), 0.1),
            ("strippath", ("true", "false"), 0.1),
            ("coordinate", ("local",), 0.05),
            ("alignfree", ("true",), 0.03),
        ):
            if draws.chance(probability):
                compiler.set(name, self._rng.choice(values))
        if draws.chance(0.15):  # a second section overrides the first
            again = SubElement(root, "compiler", angle=compiler.get("angle", "degree"))
            compiler.set("angle", self._rng.choice(["degree", "radian"]))
            if "boundmass" in compiler.attrib:
                again.set("boundmass", "0.02")

    def _option(self, root: Element) -> None:
        draws = self._draws
        if draws.chance(0.4):
            option = SubElement(root, "option", gravity=draws.numbers(3, -9, 9), timestep="0.004")
            if draws.chance(0.5):
                SubElement(option, "flag", contact="disable", energy="enable")
        if draws.chance(0.2):
            SubElement(root, "size", njmax="500", nconmax="100")
        if draws.chance(0.2):
            SubElement(SubElement(root, "visual"), "map", znear="0.01")
        if draws.chance(0.2):
            SubElement(root, "statistic", extent="2", center="0 0 1")

    def _defaults(self, root: Element) -> None:
        if self._draws.chance(0.3):
            return
        main = SubElement(root, "default")
        if self._draws.chance(0.3):
            main.set("class", "main")
        self._default_settings(main)
        around = [main]
        for _ in range(self._rng.randint(0, 4)):
            name = self._draws.name("class")
            inner = SubElement(self._rng.choice(around), "default", {"class": name})
            self._default_settings(inner)
            around.append(inner)
            self._draws.classes.append(name)
        for default in around:
            children = list(default)
            self._rng.shuffle(children)
            default[:] = children
        if self._draws.chance(0.1):
            again = SubElement(root, "default")
            SubElement(again, "joint", armature="0.03")

    def _default_settings(self, default: Element) -> None:
        draws = self._draws
        if draws.chance(0.6):
            joint = SubElement(default, "joint")
            draws.losses(joint)
            if draws.chance(0.3):
                joint.set("axis", draws.numbers(3, -1, 1))
            if draws.chance(0.2):
                joint.set("pos", draws.numbers(3, -0.2, 0.2))
            if draws.chance(0.15):
                joint.set("ref", f"{draws.angle(20):.6g}")
            if draws.chance(0.15):
                draws.limit(joint)
            if draws.chance(0.15):
                joint.set("type", self._rng.choice(["hinge", "slide"]))
        if draws.chance(0.6):
            geom = SubElement(default, "geom")
            draws.weight(geom)
            if draws.chance(0.4):
                geom.set("size", draws.numbers(self._rng.randint(1, 3), 0.05, 0.3))
            if draws.chance(0.3):
                geom.set("type", self._rng.choice(list(SIZES)))
            if draws.chance(0.3):
                draws.turn(geom)
            if draws.chance(0.2):
                geom.set("group", str(self._rng.randint(0, 4)))
            if draws.chance(0.3):
                geom.set("friction", "0.9 0.01")
        if draws.chance(0.2):
            SubElement(default, "mesh", scale=draws.numbers(3, 0.2, 0.6))
        if draws.chance(0.3):
            tag = self._rng.choice(["motor", "general", "position"])
            SubElement(default, tag, gear=draws.numbers(2, 1, 3), armature="0.02")
        if draws.chance(0.15):
            SubElement(default, "equality", solref="0.01 1")
        if draws.chance(0.15):
            SubElement(default, "site", size="0.01", rgba="1 0 0 1")

    def _assets(self, root: Element) -> None:
        draws = self._draws
        if draws.chance(0.5):
            return
        assets = SubElement(root, "asset")
        for _ in range(self._rng.randint(1, 3)):
            mesh = SubElement(assets, "mesh")
            draws.pick_class(mesh, "class", 0.3)
            if draws.chance(0.5):
                signs = [self._rng.choice([1, 1, 1, -1]) for _ in range(3)]
                sizes = [sign * self._rng.uniform(0.1, 0.5) for sign in signs]
                mesh.set("scale", " ".join(f"{size:.6g}" for size in sizes))
            if draws.chance(0.4):
                mesh.set("refpos", draws.numbers(3, -1, 1))
            if draws.chance(0.4):
                mesh.set("refquat", draws.numbers(4, -1, 1))
            if draws.chance(0.6):
                mesh.set("inertia", self._rng.choice(["legacy", "exact", "convex", "shell"]))
            self._triangles(mesh)
        if draws.chance(0.3):
            SubElement(assets, "material", name=draws.name("material"), rgba="0 1 0 1")

    def _triangles(self, mesh: Element) -> None:
        """Return a mesh its triangles and its name, in a file or in the element."""
        name = self._draws.name("mesh")
        self._draws.meshes.append(name)
        if self._draws.chance(0.5):
            vertices, faces = np.array(_PRISM[0], dtype=float), np.array(_PRISM[1])
        else:
            vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
            vertices += [[self._rng.uniform(-0.2, 0.2) for _ in range(3)] for _ in range(4)]
            faces = np.array(_TETRAHEDRON)
        if self._draws.chance(0.5):
            self._draws.out.others[f"{name}.stl"] = stl_bytes(triangle_mesh(vertices, faces))
            mesh.set("file", f"{name}.stl")
            if self._draws.chance(0.5):
                mesh.set("name", name)
            return
        mesh.set("name", name)
        mesh.set("vertex", " ".join(f"{x:.6g}" for x in vertices.ravel()))
        if len(faces) > len(_TETRAHEDRON) or self._draws.chance(0.5):
            mesh.set("face", " ".join(str(i) for i in faces.ravel()))

    def _world(self, root: Element) -> None:
        self._tree.fill(SubElement(root, "worldbody"))

    def _equality(self, root: Element) -> None:
        draws, tree, equality = self._draws, self._tree, Element("equality")
        joints = tree.joints if draws.chance(0.8) else tree.copied_joints
        if len(joints) > 1 and draws.chance(0.3):
            first, second = self._rng.sample(joints, 2)
            coupling = SubElement(equality, "joint", joint1=first, joint2=second)
            if joints is tree.copied_joints:
                # They may be in different replicas, which is refused by name.
                draws.out.unsupported.append("inside and outside")
            if draws.chance(0.8):
                numbers = [self._rng.uniform(-1, 1) for _ in range(self._rng.randint(1, 2))]
                zeros = [0.0] * (3 if len(numbers) == 2 and draws.chance(0.5) else 0)
                coupling.set("polycoef", " ".join(f"{x:.6g}" for x in numbers + zeros))
        if len(tree.sites) > 1 and draws.chance(0.2):
            first, second = self._rng.sample(tree.sites, 2)
            tag = self._rng.choice(["connect", "weld"])
            SubElement(equality, tag, site1=first, site2=second)
        elif len(tree.bodies) > 1 and draws.chance(0.2):
            first, second = self._rng.sample(tree.bodies, 2)
            tag = self._rng.choice(["connect", "weld"])
            tie = SubElement(equality, tag, body1=first, body2=second)
            if tag == "connect" or draws.chance(0.5):
                tie.set("anchor", draws.numbers(3, -0.2, 0.2))
            if tag == "weld" and draws.chance(0.3):
                tie.set("relpose", draws.numbers(7, -0.5, 0.5))
            if draws.chance(0.3):
                tie.set("active", "false")
        if len(equality):
            root.append(equality)

    def _actuators(self, root: Element) -> None:
        draws = self._draws
        joints = self._tree.joints + self._tree.copied_joints
        if not joints or draws.chance(0.5):
            return
        section = SubElement(root, "actuator")
        for _ in range(self._rng.randint(1, 3)):
            actuator = SubElement(section, self._rng.choice(["motor", "position", "velocity"]))
            actuator.set(self._rng.choice(["joint", "jointinparent"]), self._rng.choice(joints))
            if draws.chance(0.5):
                actuator.set("gear", draws.numbers(1, -9, 9))
            if draws.chance(0.3):
                actuator.set("armature", draws.numbers(1, 0, 0.01))
            if draws.chance(0.3):
                actuator.set("damping", draws.numbers(1, 0, 0.1))
            if draws.chance(0.3):
                actuator.set("forcerange", "-3 3")
                if not draws.autolimits:
                    actuator.set("forcelimited", "true")
            draws.pick_class(actuator, "class", 0.3)

    def _surroundings(self, root: Element) -> None:
        draws, joints, bodies = self._draws, self._tree.joints, self._tree.bodies
        if len(bodies) > 1 and draws.chance(0.2):
            first, second = self._rng.sample(bodies, 2)
            SubElement(SubElement(root, "contact"), "exclude", body1=first, body2=second)
        if joints and draws.chance(0.2):
            SubElement(SubElement(root, "sensor"), "jointpos", joint=joints[0])
        if joints and draws.chance(0.1):
            tendon = SubElement(SubElement(root, "tendon"), "fixed", name="tendon")
            SubElement(tendon, "joint", joint=joints[0], coef="2")

    def _include(self, root: Element) -> None:
        """Move one section, or what one holds, into a file of its own."""
        section = self._rng.choice(list(root))
        if not len(section) or self._draws.chance(0.5):
            index = list(root).index(section)
            root.remove(section)
            moved = [section]
            root.insert(index, Element("include", file="part.xml"))
        else:
            moved = list(section)
            for child in moved:
                section.remove(child)
            SubElement(section, "include", file="part.xml")
        part = Element("mujocoinclude")
        part.extend(moved)
        self._draws.out.others["part.xml"] = tostring(part)
