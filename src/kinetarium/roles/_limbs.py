"""Telling arms, legs and heads apart by geometry, the ground and names."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from kinetarium.model.robot import JointType
from kinetarium.roles._bodies import Bodies, Body
from kinetarium.roles.roles import Arm, BaseKind, BaseRole, Gripper, Leg, RoleSource, Wheel
from kinetarium.spatial.arrays import Array

_LEAST_ARM_JOINTS = 4
"""Fewer make a head or a camera, unless a gripper or the names tell otherwise."""
_ARM_WORDS = ("arm", "shoulder", "elbow", "wrist", "clavicle")
_LEG_WORDS = ("leg", "hip", "knee", "ankle", "thigh", "calf", "haa", "hfe", "kfe", "foot")
_HEAD_WORDS = ("head", "neck", "camera", "eye", "laser", "sensor", "cervical")
_FINGER_WORDS = ("gripper", "finger", "jaw")
_WRIST_WORDS = ("yaw", "pitch", "roll")
_MOBILE_WORDS = ("wheel", "caster", "rotor", "propeller", "flying", "quadrotor", "uav", "drone")
_WORLD = "world"
"""Name of the link that stands for the world, in MJCF and by ROS's convention."""
_TOOL_WORDS = ("tcp", "grasp", "tool0", "ee", "eef", "end effector", "tool", "flange")
"""Names of tool links, the best first."""


@dataclass(frozen=True, eq=False)
class _Limb:
    """A serial chain from a branching of the robot to its end.

    Attributes:
        bodies: The bodies that its joints move, the last one at its end.
        gripper: The gripper at its end, or None.
        wheel: The wheel at its end, or None.
    """

    bodies: list[Body]
    gripper: Gripper | None
    wheel: Wheel | None

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(body.joint.name for body in self.bodies if body.joint)


def find_limbs(
    bodies: Bodies, *, grippers: Sequence[Gripper], wheels: Sequence[Wheel]
) -> tuple[tuple[Arm, ...], tuple[Leg, ...]]:
    """Find arms and legs.

    A limb is a serial chain from a branching of the robot, or its root, to an end. Legs reach
    the ground, at least two of them, below a root that does not; arms have a gripper at their
    end or at least four joints, and are not much shorter than the longest one, as heads are.
    Names of joints decide where they contain such words as leg or shoulder.
    """
    limbs = _limbs(bodies, grippers=grippers, wheels=wheels)
    standing = _standing(bodies, limbs)
    alike = {len(limb.bodies) for limb in standing}  # some may be folded at rest
    legs = [
        limb
        for limb in limbs
        if _is_leg(limb, stands=limb in standing or len(limb.bodies) in alike)
    ]
    others = [limb for limb in limbs if limb not in legs and _may_be_arm(limb)]
    longest = max((_length(bodies, limb) for limb in others), default=0.0)
    arms = [limb for limb in others if limb.gripper or _length(bodies, limb) > 0.5 * longest]
    names = _names("arm", [limb.joints for limb in arms])
    return (
        tuple(_arm(bodies, limb, name) for limb, name in zip(arms, names, strict=True)),
        tuple(
            Leg(name=name, joints=limb.joints, foot=_foot(bodies, limb), source=RoleSource.GEOMETRY)
            for limb, name in zip(legs, _names("leg", [leg.joints for leg in legs]), strict=True)
        ),
    )


def find_base(bodies: Bodies, *, wheels: Collection[Wheel], legs: Collection[Leg]) -> BaseRole:
    """Return how the root moves: free for wheels, legs, rotors and bodies without joints.

    Wheels that a file fixes and rotors that it leaves out are still in the names of links. A root
    without mass is part of the world: a table, a plane, the rail of a robot in a plane. A robot
    whose file joins it to a link named "world" hangs there, whatever its limbs look like.
    """
    model = bodies.model
    source = RoleSource.MJCF if model.source.format == "mjcf" else RoleSource.URDF
    if model.free_base:
        return BaseRole(kind=BaseKind.FREE, source=source)
    if is_planar(bodies):
        return BaseRole(kind=BaseKind.PLANAR, source=RoleSource.GEOMETRY)
    root = next(link for link in model.links if link.name == model.root)
    if root.name == _WORLD and not root.inertia and model.moving_joints:
        return BaseRole(kind=BaseKind.FIXED, source=source)
    words = _words([model.name, *(link.name for link in model.links)])
    moves = bool(words & set(_MOBILE_WORDS))
    heavy = any(model.links[link].inertia for link in bodies.bodies[0].links)
    free = heavy and (len(wheels) > 1 or len(legs) > 1 or moves or not model.moving_joints)
    return BaseRole(kind=BaseKind.FREE if free else BaseKind.FIXED, source=RoleSource.GEOMETRY)


def is_planar(bodies: Bodies) -> bool:
    """Return whether the first joints are two slides and a turn about their common normal."""
    chain: list[Body] = []
    body = bodies.bodies[0]
    while len(chain) < 3 and len(body.children) == 1:
        body = bodies.bodies[body.children[0]]
        chain.append(body)
    joints = [each.joint for each in chain if each.joint]
    slides = [joint.type is JointType.PRISMATIC for joint in joints]
    if len(joints) < 3 or sum(slides) != 2 or not all(each.parent >= 0 for each in chain):
        return False
    axes = [
        bodies.rest_poses[each.links[0], :3, :3] @ joint.axis
        for each, joint in zip(chain, joints, strict=True)
    ]
    turn = axes[slides.index(False)]
    flat = all(abs(axis @ turn) < 0.01 for axis, slide in zip(axes, slides, strict=True) if slide)
    empty = all(not bodies.has_shapes(each) for each in (bodies.bodies[0], *chain[:2]))
    return bool(flat and empty)


def _limbs(bodies: Bodies, *, grippers: Sequence[Gripper], wheels: Sequence[Wheel]) -> list[_Limb]:
    rolling = {bodies.of_link[wheel.link]: wheel for wheel in wheels}
    palms = {bodies.of_link[gripper.palm]: gripper for gripper in grippers}
    hidden = {body.index for palm in palms for body in bodies.below(palm) if body.index != palm}
    hidden |= {body.index for wheel in rolling for body in bodies.below(wheel)}  # and rollers
    kept = [body for body in bodies.bodies if body.index not in hidden]
    children = {body.index: [i for i in body.children if i not in hidden] for body in kept}
    # A camera or another single joint does not end the chain that carries it.
    for body in kept:
        ends = [i for i in children[body.index] if not children[i]]
        bare = [i for i in ends if i not in palms and not set(bodies.bodies[i].children)]
        if body.parent >= 0 and len(children[body.index]) == len(bare) + 1:
            children[body.index] = [i for i in children[body.index] if i not in bare]
        elif body.parent >= 0 and len(bare) > 1 and len(children[body.index]) == len(bare):
            children[body.index] = _outweighing(bodies, bare)
    limbs = []
    dropped = {i for b in kept for i in b.children if i in children and i not in children[b.index]}
    for body in kept:
        if children[body.index] or body.joint is None or body.index in dropped:
            continue
        chain = [body]
        while True:
            above = bodies.bodies[chain[-1].parent]
            if above.joint is None or len(children[above.index]) > 1:
                break
            chain.append(above)
        wheel = next((rolling[i] for i in body.children if i in rolling), None)
        limb = _Limb(chain[::-1], palms.get(body.index), wheel)
        limbs.append(limb if limb.gripper else _without_fingers(limb))
    return limbs


def _outweighing(bodies: Bodies, ends: list[int]) -> list[int]:
    """Return the body that outweighs all others together, as a foot does a spring beside it."""
    masses: dict[int, float] = {}
    for i in ends:
        inertias = (bodies.model.links[link].inertia for link in bodies.bodies[i].links)
        masses[i] = sum(inertia.mass for inertia in inertias if inertia)
    return [i for i in ends if 2 * masses[i] > sum(masses.values())]


def _without_fingers(limb: _Limb) -> _Limb:
    """Leave out a last joint that its name calls one of a gripper, though none was found."""
    joint = limb.bodies[-1].joint
    words = _words([joint.name]) if joint else set()
    fingers = words & set(_FINGER_WORDS) and not words & set(_WRIST_WORDS)
    if len(limb.bodies) < 2 or not fingers:
        return limb
    return _Limb(limb.bodies[:-1], None, limb.wheel)


def _standing(bodies: Bodies, limbs: list[_Limb]) -> list[_Limb]:
    """Return the limbs that stand on the ground, which is below along z, else along y."""
    shaped = any(bodies.has_shapes(body) for body in bodies.bodies)
    for axis in (2, 1):
        heights = [bodies.vertices(body)[:, axis] for body in bodies.bodies
                   if bodies.has_shapes(body) or not shaped]  # fmt: skip
        low = min((float(height.min()) for height in heights), default=0.0)
        high = max((float(height.max()) for height in heights), default=0.0)
        near = low + 0.12 * (high - low)
        root = bodies.bodies[0]
        if (bodies.has_shapes(root) or not shaped) and bodies.vertices(root)[:, axis].min() < near:
            continue
        found = [
            limb for limb in limbs
            if len(limb.bodies) > 1 and not limb.gripper and limb.wheel is None
            and min(bodies.vertices(body)[:, axis].min() for body in limb.bodies) < near
        ]  # fmt: skip
        if len(found) > 1:
            return found
    return []


def _is_leg(limb: _Limb, *, stands: bool) -> bool:
    words = _words(limb.joints)
    if limb.gripper or words & {*_ARM_WORDS, *_HEAD_WORDS} or len(limb.bodies) < 2:
        return False
    if limb.wheel:  # more than a suspension and a steering joint
        return len(limb.bodies) > 2
    return stands or bool(words & set(_LEG_WORDS))


def _may_be_arm(limb: _Limb) -> bool:
    words = _words(limb.joints)
    count = len(limb.bodies)
    if limb.gripper:
        return count > 2
    if limb.wheel or words & set(_HEAD_WORDS):
        return False
    return count >= _LEAST_ARM_JOINTS or (count > 1 and bool(words & set(_ARM_WORDS)))


def _length(bodies: Bodies, limb: _Limb) -> float:
    """Return the length along the joints of a limb to the end of its last body [m]."""
    origins: Array = np.array([bodies.rest_poses[body.links[0], :3, 3] for body in limb.bodies])
    end = np.linalg.norm(bodies.vertices(limb.bodies[-1]) - origins[-1], axis=1).max()
    return float(np.linalg.norm(np.diff(origins, axis=0), axis=1).sum() + end)


def _words(names: Iterable[str]) -> set[str]:
    """Return the words in names: parts between digits, punctuation and capitals, in lower case."""
    text = " ".join(names)
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+", " ", text)
    words = set(text.lower().split())
    # RLEG, larm: a side written before the word
    return words | {word[1:] for word in words if word[0] in "lr"}


def _names(kind: str, chains: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a name for each chain of joints: what the names of its joints have in common."""
    if len(chains) == 1:
        return [kind]
    stems = [re.sub(r"(?i)[_\-.\s]*(joint|j)?[_\-.\s\d]*$", "", _start(each)) for each in chains]
    if len(set(stems)) < len(stems) or not all(stems):
        return [f"{kind}{i}" for i in range(1, len(chains) + 1)]
    return stems


def _start(names: Sequence[str]) -> str:
    """Return the letters that all names start with."""
    columns = zip(*names, strict=False)
    return "".join(letters[0] for letters in takewhile(lambda c: len(set(c)) == 1, columns))


def _foot(bodies: Bodies, limb: _Limb) -> str:
    """Return the link at the end of a leg: the wheel, or the last link with a shape."""
    if limb.wheel:
        return limb.wheel.link
    links = [bodies.model.links[i] for i in limb.bodies[-1].links]
    shaped = [link for link in links if link.collisions or link.visuals]
    named = [link for link in shaped or links if _words([link.name]) & {"foot", "sole", "toe"}]
    return (named or shaped or links)[-1].name


def _arm(bodies: Bodies, limb: _Limb, name: str) -> Arm:
    tool, xyz = tool_link(bodies, limb.bodies[-1]), (0.0, 0.0, 0.0)
    if limb.gripper and not _words([tool]) & {"tcp", "grasp", "grasping"}:
        tool, xyz = limb.gripper.palm, limb.gripper.center
    return Arm(
        name=name,
        joints=limb.joints,
        tool=tool,
        xyz=xyz,
        gripper=limb.gripper.name if limb.gripper else "",
        source=RoleSource.GEOMETRY,
    )


def tool_link(bodies: Bodies, body: Body) -> str:
    """Return the link of a body that is most likely its tool: by name, else the last one."""
    names = [bodies.model.links[i].name for i in body.links]
    for word in _TOOL_WORDS:
        for name in reversed(names):
            if f" {word} " in re.sub(r"[^a-z0-9]+", " ", f" {name.lower()} "):
                return name
    shaped = [
        name for i, name in zip(body.links, names, strict=True)
        if bodies.model.links[i].collisions or bodies.model.links[i].visuals
    ]  # fmt: skip
    return shaped[-1] if shaped else names[0]
