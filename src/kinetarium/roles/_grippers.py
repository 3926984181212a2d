"""Finding grippers by geometry: fingers beyond the last arm joint that meet face to face."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kinetarium.model.robot import Joint
from kinetarium.roles._bodies import Bodies, Body, is_unlimited, travel
from kinetarium.roles.roles import Finger, Gripper, RoleSource
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.intp]

_LONGEST = 0.25
"""Longest finger, from its first joint [m]: legs of the smallest public robots have 0.3."""
_STEPS = 25
"""Positions along the travel of a joint: a few millimetres apart at a fingertip."""
_DRAWS = 96
"""Random positions of a finger with several joints."""
_MEETINGS = 12
"""The pairs of such positions that are looked at closely."""
_TOUCH = 0.005
"""Fingers this near count as touching [m]; closed ones often leave a gap."""
_REMAINING = 0.02
"""Gap that may remain at the end of a travel of twice as much [m]."""
_TIP = 0.7
"""Least distance from a jaw's joint to where it meets the palm, as a share of its length."""
_FACING = 0.7
"""Least cosine between normals of surfaces that are face to face."""
_LEAST_STROKE = 0.01
"""Least opening [m]."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A finger or the palm while it moves, in the palm's frame.

    Attributes:
        bodies: Its bodies.
        points: Points on its surface [m], shape (positions, n, 3).
        normals: Their normals, shape (positions, n, 3).
        links: Index of each point's link, shape (n,).
        spacing: Distance between points [m].
    """

    bodies: tuple[Body, ...]
    points: Array
    normals: Array
    links: Indices
    spacing: float


@dataclass(frozen=True, eq=False)
class _Meeting:
    """Two parts that meet.

    Attributes:
        parts: Which parts, by their place in the list.
        stroke: Distance of the meeting surfaces where they are open [m].
        open: Index of the open position.
        closed: Index of the closed position.
        center: The point where they meet [m], shape (3,).
        axis: Unit vector from the second to the first, shape (3,).
        pads: Index of the link that touches, of either part.
        rate: Change of their distance per step [m].
        gap: Distance that is left at the closed position [m]; negative if they overlap.
    """

    parts: tuple[int, int]
    stroke: float
    open: int
    closed: int
    center: Array
    axis: Array
    pads: tuple[int, int]
    rate: float = 0.0
    gap: float = 0.0


def find_grippers(bodies: Bodies, *, wheels: Iterable[str]) -> tuple[Gripper, ...]:
    """Find the grippers of a robot.

    A palm is a body of which all branches are fingers: short, and moved by joints of their own.
    The independent joints of its fingers are moved through their travel with their followers; a
    gripper is where two fingers, or a finger and the palm beyond the finger's joint, approach
    each other along their normals until they touch.

    Args:
        wheels: Joints of wheels, which are no fingers.
    """
    found: list[Gripper] = []
    taken: set[int] = set()
    rolling = set(wheels)
    for palm in bodies.bodies:
        if palm.index in taken or not palm.children:
            continue
        gripper = _gripper(bodies, palm, rolling)
        if gripper is not None:
            found.append(gripper)
            taken.update(body.index for body in bodies.below(palm.index))
    return tuple(found)


def _gripper(bodies: Bodies, palm: Body, rolling: set[str]) -> Gripper | None:
    fingers = [tuple(bodies.below(child)) for child in palm.children]
    joints = [body.joint for finger in fingers for body in finger if body.joint]
    leaders = [joint.name for joint in joints if joint.mimic is None]
    followed = {joint.mimic.joint for joint in joints if joint.mimic}
    if not leaders or not followed <= set(leaders) or rolling & set(leaders):
        return None
    # What turns without end beside the fingers, such as a drive that is shown, is none of them.
    fingers = [
        finger for finger in fingers
        if not (len(finger) == 1 and finger[0].joint and is_unlimited(finger[0].joint)
                and finger[0].joint.mimic is None and finger[0].joint.name not in followed)
    ]  # fmt: skip
    joints = [body.joint for finger in fingers for body in finger if body.joint]
    leaders = [joint.name for joint in joints if joint.mimic is None]
    if not leaders or any(is_unlimited(joint) for joint in joints):
        return None
    if not all(_is_short(bodies, finger) for finger in fingers):
        return None
    if len(leaders) == 1:
        return _sweep(bodies, palm, fingers, [{leaders[0]: 1}])
    solid = [finger for finger in fingers if _tip(bodies, finger)]
    own = [[b.joint.name for b in finger if b.joint and not b.joint.mimic] for finger in solid]
    solid = [finger for finger, names in zip(solid, own, strict=True) if names]
    own = [names for names in own if names]
    if len(solid) < 2:
        return None
    if all(len(names) == 1 for names in own):
        signs = [{a[0]: 1, b[0]: sign} for a, b in combinations(own, 2) for sign in (1, -1)]
        return _sweep(bodies, palm, fingers, signs)
    return _hand(bodies, palm, solid, own)


def _tip(bodies: Bodies, finger: Sequence[Body]) -> tuple[Body, ...]:
    """Return the fingertip, the last body with a surface; empty if there is none."""
    return next(((body,) for body in reversed(finger) if bodies.surface(body)), ())


def _is_short(bodies: Bodies, finger: Sequence[Body]) -> bool:
    """Return whether the whole finger is near its first joint."""
    origin = bodies.rest_poses[finger[0].links[0], :3, 3]
    for body in finger:
        if body.joint is None or np.linalg.norm(
            bodies.rest_poses[body.links[0], :3, 3] - origin
        ) > _LONGEST:  # fmt: skip
            return False
    tips = (body for body in finger if bodies.has_shapes(body))
    return all(
        np.linalg.norm(bodies.vertices(body) - origin, axis=1).max() < _LONGEST for body in tips
    )


def _sweep(
    bodies: Bodies, palm: Body, fingers: list[tuple[Body, ...]], signs: list[dict[str, int]]
) -> Gripper | None:
    """Move fingers together from one end of their travel to the other, and back.

    Args:
        signs: Ways to move independent joints together: with or against the first.
    """
    best: tuple[_Meeting, list[_Part], Mapping[str, Array]] | None = None
    for way in signs:
        chosen = {}
        for name, sign in way.items():
            lower, upper = travel(bodies.model.joint(name))
            chosen[name] = np.linspace(lower, upper, _STEPS)[::sign]
        parts = _parts(bodies, palm, fingers, chosen, count=_STEPS)
        moved = {
            i for i, part in enumerate(parts[1:], start=1)
            if any(_leader(body.joint) in way for body in part.bodies)
        }  # fmt: skip
        pairs = list(combinations(sorted(moved), 2))
        if len(way) > 1:  # a way belongs to two fingers
            pairs = [pair for pair in pairs if _owners(parts, pair) >= set(way)]
        farthest = _farthest(parts, pairs)
        if farthest is None and _may_be_jaw(bodies.model.joint(next(iter(way))), palm):
            farthest = _farthest(parts, [(i, 0) for i in sorted(moved)])
        if farthest and (best is None or _distance(farthest) > _distance(best[0])):
            best = farthest, parts, chosen
    return _assembled(bodies, palm, *best) if best else None


def _farthest(parts: list[_Part], pairs: Iterable[tuple[int, int]]) -> _Meeting | None:
    """Return the meeting farthest from the wrist: that of the fingertips, in a linkage."""
    reach = [np.linalg.norm(part.points, axis=2).max(initial=0.0) for part in parts]
    best: _Meeting | None = None
    for bound, pair in sorted(((min(reach[i], reach[j]), (i, j)) for i, j in pairs), reverse=True):
        if best is None or bound > _distance(best):
            meeting = _meeting(parts, pair)
            if meeting and (best is None or _distance(meeting) > _distance(best)):
                best = meeting
    return best


def _may_be_jaw(joint: Joint, palm: Body) -> bool:
    """Return whether a joint turns as that of a jaw does: to one side, or slides.

    Ankles and wrists turn to both sides alike.
    """
    less, more = sorted(map(abs, travel(joint)))
    return palm.joint is not None and less < 0.35 * more and more < pi


def _distance(meeting: _Meeting) -> float:
    return float(np.linalg.norm(meeting.center))


def _leader(joint: Joint | None) -> str:
    if joint is None:
        return ""
    return joint.mimic.joint if joint.mimic else joint.name


def _owners(parts: list[_Part], pair: tuple[int, int]) -> set[str]:
    return {_leader(body.joint) for i in pair for body in parts[i].bodies}


def _parts(
    bodies: Bodies,
    palm: Body,
    fingers: Sequence[tuple[Body, ...]],
    chosen: Mapping[str, Array],
    *,
    count: int,
) -> list[_Part]:
    """Return the palm and the fingers that have shapes, as their joints move."""
    X_WL = bodies.poses(bodies.positions(chosen, count=count))
    X_PL = np.linalg.inv(X_WL[:, palm.links[0]])[:, None] @ X_WL
    parts = []
    for members in [(palm,), *fingers]:
        points, normals, links, spacings = [], [], [], [0.0]
        for body in members:
            surface = bodies.surface(body)
            if surface is None:
                continue
            X = X_PL[:, body.links[0]]
            R = X[:, :3, :3].transpose(0, 2, 1)
            stride = 1 if len(members) < 3 else 2
            points.append(surface.points[::stride] @ R + X[:, None, :3, 3])
            normals.append(surface.normals[::stride] @ R)
            links.append(surface.links[::stride])
            spacings.append(surface.spacing * sqrt(stride))
        if points or members[0] is palm:
            empty = np.zeros((count, 0, 3))
            parts.append(
                _Part(
                    tuple(members),
                    np.concatenate([empty, *points], axis=1),
                    np.concatenate([empty, *normals], axis=1),
                    np.concatenate([np.zeros(0, dtype=np.intp), *links]),
                    max(spacings),
                )
            )
    return parts


def _touching(
    a: _Part, b: _Part, at: tuple[int, int], *, free: tuple[Indices, Indices], gap: float = _TOUCH
) -> tuple[Indices, Indices]:
    """Return the indices of points of two parts that touch face to face.

    Args:
        at: Positions of the two parts.
        free: Indices of the points that are compared, of either part.
    """
    nothing = np.zeros(0, dtype=np.intp)
    near = gap + 2 * max(a.spacing, b.spacing)
    p, q = a.points[at[0], free[0]], b.points[at[1], free[1]]
    if not len(p) or not len(q):
        return nothing, nothing
    low, high = np.maximum(p.min(axis=0), q.min(axis=0)), np.minimum(p.max(axis=0), q.max(axis=0))
    if np.any(low - high > near):
        return nothing, nothing
    distance, nearest = cKDTree(q).query(p, k=3, distance_upper_bound=near)
    first, column = np.nonzero(np.isfinite(distance))
    second = nearest[first, column]
    offset = q[second] - p[first]
    normal = a.normals[at[0], free[0]][first]
    along = np.einsum("ij,ij->i", offset, normal)
    across = np.linalg.norm(offset - along[:, None] * normal, axis=1)
    opposite = b.normals[at[1], free[1]][second]
    facing = np.einsum("ij,ij->i", normal, opposite) < -_FACING
    hits = facing & (np.abs(along) < gap) & (across < 1.5 * max(a.spacing, b.spacing))
    return free[0][first[hits]], free[1][second[hits]]


def _meeting(parts: list[_Part], pair: tuple[int, int]) -> _Meeting | None:
    """Find where two parts meet along a sweep that starts open, from either end.

    Only surfaces that are apart at the start can meet: parts may touch at a hinge all the time.
    Two fingers meet where they touch first, a finger and the palm where the tip arrives.
    """
    jaw = pair[1] == 0
    a, b = parts[pair[0]], parts[pair[1]]
    if not len(a.links) or not len(b.links):
        return None
    last = len(a.points) - 1
    best: _Meeting | None = None
    for start, end, step in ((0, last, 1), (last, 0, -1)):
        free = _free(a, b, start), _free(b, a, start)
        # A jaw is closed near the end of its travel.
        begin = end - step * (_STEPS // 6) if jaw else start + step
        for k in range(begin, end + step, step):
            meeting = _met(a, b, pair, (start, k, step), free=free, gap=_TOUCH)
            if meeting is None and k == end:  # closed, with a gap that is left over
                meeting = _met(a, b, pair, (start, k, step), free=free, gap=_REMAINING)
                if meeting and meeting.stroke < 2 * _REMAINING:
                    meeting = None
            if meeting:
                if jaw and not _is_tip(a, b, meeting):
                    continue
                if best is None or meeting.stroke > best.stroke:
                    best = meeting
                if not jaw:
                    break
    return best


def _is_tip(finger: _Part, palm: _Part, meeting: _Meeting) -> bool:
    """Return whether the tip of a finger meets that of the palm beyond the finger's joint.

    So it is with a jaw; links of arms and legs fold back or touch near their joint.
    """
    joint = finger.bodies[0].joint
    assert joint
    hinge = joint.X_PJ[:3, 3]
    reach = np.linalg.norm(finger.points[meeting.closed] - hinge, axis=1).max()
    lever = np.linalg.norm(meeting.center - hinge)
    distance = _distance(meeting)
    beyond = distance > np.linalg.norm(hinge) + _LEAST_STROKE
    end = (palm.points[0] @ meeting.center).max() / distance
    return bool(
        lever > _TIP * reach
        and distance > 0.8 * end
        and beyond
        and meeting.stroke > 2 * _LEAST_STROKE
    )


def _free(a: _Part, b: _Part, k: int) -> Indices:
    """Return the points of one part that are apart from the other at a position."""
    distance, _ = cKDTree(b.points[k]).query(a.points[k])
    return np.flatnonzero(distance > _LEAST_STROKE)


def _met(
    a: _Part,
    b: _Part,
    pair: tuple[int, int],
    moves: tuple[int, int, int],
    *,
    free: tuple[Indices, Indices],
    gap: float,
) -> _Meeting | None:
    """Return how two parts meet at one position of a sweep; None if they do not.

    Args:
        moves: The open position, this position, and the step from one to the next.
    """
    start, k, step = moves
    first, second = _touching(a, b, (k, k), free=free, gap=gap)
    if not len(first):
        return None
    there, before, here = (a.points[i, first] - b.points[i, second] for i in (start, k - step, k))
    motion = there - here
    size = np.linalg.norm(motion, axis=1)
    normal = a.normals[k, first]
    # Near the contact the points must approach along the normal, not slide past.
    arriving = before - here
    approach = np.abs(np.einsum("ij,ij->i", arriving, normal))
    good = (approach > 0.6 * np.linalg.norm(arriving, axis=1)) & (size > _LEAST_STROKE)
    good &= approach > 1e-6
    # They must come nearer, and not pass through each other.
    good &= np.linalg.norm(there, axis=1) > np.linalg.norm(here, axis=1) + _LEAST_STROKE
    side = np.einsum("ij,ij->i", here, motion) / size.clip(min=1e-9)
    good &= side > -_TOUCH
    good &= np.einsum("ij,ij->i", there, a.normals[start, first]) < 0  # not back to back
    if not good.any():
        return None
    first, second = first[good], second[good]
    mean = motion[good].mean(axis=0)
    if pair[1]:  # both fingers must contribute
        own = (a.points[start, first] - a.points[k, first]).mean(axis=0) @ mean
        other = (b.points[k, second] - b.points[start, second]).mean(axis=0) @ mean
        if min(own, other) < 0.2 * (own + other):
            return None
    rate = float(np.linalg.norm(arriving[good].mean(axis=0)))
    gap = float((here[good] @ arriving[good].mean(axis=0)).mean()) / rate
    return _Meeting(
        pair,
        float(size[good].mean()) + gap,
        start,
        k,
        (a.points[k, first] + b.points[k, second]).mean(axis=0) / 2,
        mean / np.linalg.norm(mean),
        (_most(a.links[first]), _most(b.links[second])),
        rate,
        gap,
    )


def _most(links: Indices) -> int:
    return int(Counter(links.tolist()).most_common(1)[0][0])


def _assembled(
    bodies: Bodies,
    palm: Body,
    meeting: _Meeting,
    parts: list[_Part],
    chosen: Mapping[str, Array],
) -> Gripper:
    i, j = meeting.parts
    groups: dict[int, list[Body]] = {i: list(parts[i].bodies), j: list(parts[j].bodies)}
    for index, part in enumerate(parts[1:], start=1):
        if index not in groups and j:  # the other bars of a linkage are on either side
            side = (part.points[meeting.open].mean(axis=0) - meeting.center) @ meeting.axis
            groups[i if side > 0 else j].extend(part.bodies)
    rank = list(chosen)
    fingers = tuple(
        _finger(bodies, groups[index] if index else [], pad=pad)
        for index, pad in zip((i, j), meeting.pads, strict=True)
    )
    leader = bodies.model.joint(rank[0])
    speed = abs(float(chosen[rank[0]][1] - chosen[rank[0]][0]))
    moving = 2 if j else 1
    force = leader.limits.effort * speed * moving / meeting.rate if meeting.rate else 0.0
    return _described(
        bodies, palm, fingers, meeting,
        leaders=rank,
        open_at={name: float(values[meeting.open]) for name, values in chosen.items()},
        closed_at={name: _closed(values, meeting) for name, values in chosen.items()},
        force=force if isfinite(force) else 0.0,
    )  # fmt: skip


def _stands_on(bodies: Bodies, palm: Body, fingers: Sequence[Sequence[Body]]) -> bool:
    """Return whether all branches of a root end below it: then they are legs."""
    floor = bodies.vertices(palm)[:, 2].min()
    return all(
        min(bodies.vertices(body)[:, 2].min() for body in finger) < floor - 0.02
        for finger in fingers
    )


def _closed(values: Array, meeting: _Meeting) -> float:
    """Return the position of a joint where the gap is closed, within its travel."""
    back = -1 if meeting.closed > meeting.open else 1
    step = float(values[meeting.closed] - values[meeting.closed + back])
    position = float(values[meeting.closed]) + step * meeting.gap / meeting.rate
    return min(max(position, float(values.min())), float(values.max()))


def _finger(bodies: Bodies, members: Iterable[Body], *, pad: int) -> Finger:
    ordered = sorted(members, key=lambda body: body.index)
    links = [bodies.model.links[i].name for body in ordered for i in body.links]
    name = bodies.model.links[pad].name
    return Finger(
        joints=tuple(body.joint.name for body in ordered if body.joint),
        links=tuple(links) or (name,),
        pad=name,
    )


def _described(
    bodies: Bodies,
    palm: Body,
    fingers: tuple[Finger, ...],
    meeting: _Meeting,
    *,
    leaders: Sequence[str],
    open_at: Mapping[str, float],
    closed_at: Mapping[str, float],
    force: float = 0.0,
) -> Gripper:
    x, y, z = (round(float(value), 6) + 0.0 for value in meeting.center)
    u, v, w = (round(float(value), 6) + 0.0 for value in meeting.axis)
    followers = [
        joint.name
        for joint in bodies.model.moving_joints
        if joint.mimic and joint.mimic.joint == leaders[0]
    ]
    return Gripper(
        name=bodies.name(palm),
        palm=bodies.name(palm),
        fingers=fingers,
        leader=leaders[0],
        followers=tuple(followers),
        open={name: round(value, 9) + 0.0 for name, value in open_at.items()},
        closed={name: round(value, 9) + 0.0 for name, value in closed_at.items()},
        center=(x, y, z),
        axis=(u, v, w),
        stroke=round(meeting.stroke, 6),
        force=round(force, 3),
        source=RoleSource.GEOMETRY,
    )


def _hand(
    bodies: Bodies, palm: Body, fingers: list[tuple[Body, ...]], own: list[list[str]]
) -> Gripper | None:
    """Find two fingers of several joints that can meet, by random positions of each.

    Of the pairs that meet, those are the thumb and a finger whose tips come from the most
    opposite directions.
    """
    if palm.joint is None and _stands_on(bodies, palm, fingers):
        return None
    rng = np.random.default_rng(0)
    names = [name for group in own for name in group]
    chosen: dict[str, Array] = {}
    rest = {name: float(bodies.rest[bodies.coordinate[name]]) for name in names}
    for name in names:
        lower, upper = travel(bodies.model.joint(name))
        values = rng.uniform(lower, upper, size=_DRAWS)
        values[0] = rest[name]
        chosen[name] = values
    tips = [_tip(bodies, finger) for finger in fingers]
    parts = _parts(bodies, palm, tips, chosen, count=_DRAWS)
    centers = [part.points.mean(axis=1) for part in parts]
    best: tuple[_Meeting, float] | None = None
    for i, j in combinations(range(1, len(parts)), 2):
        apart = np.linalg.norm(centers[i][:, None] - centers[j][None], axis=2)
        for flat in np.argpartition(apart, _MEETINGS, axis=None)[:_MEETINGS]:
            k, m = (int(index) for index in np.unravel_index(flat, apart.shape))
            some = np.arange(0, len(parts[i].links), 2), np.arange(0, len(parts[j].links), 2)
            first, second = _touching(parts[i], parts[j], (k, m), free=some, gap=2 * _TOUCH)
            if not len(first):
                continue
            a0, ak = parts[i].points[0, first], parts[i].points[k, first]
            b0, bm = parts[j].points[0, second], parts[j].points[m, second]
            motion = (a0 - b0).mean(axis=0)
            stroke = float(np.linalg.norm(motion))
            u, v = (ak - a0).mean(axis=0), (bm - b0).mean(axis=0)
            lengths = np.linalg.norm(u) * np.linalg.norm(v)
            opposition = float(u @ v / lengths) if lengths else 1.0
            if not 2 * _LEAST_STROKE < stroke < 1.2 * _LONGEST or opposition > min(
                best[1] if best else 1.0, 0.0
            ):
                continue
            pads = (_most(parts[i].links[first]), _most(parts[j].links[second]))
            middle = (ak + bm).mean(axis=0) / 2
            best = (
                _Meeting((i, j), stroke, k, m, middle, motion / stroke, pads),
                opposition,
            )
    if best is None:
        return None
    meeting = best[0]
    i, j = meeting.parts
    order = [i - 1, j - 1, *(n for n in range(len(fingers)) if n + 1 not in (i, j))]
    closed = dict(rest)
    closed.update({name: float(chosen[name][meeting.open]) for name in own[i - 1]})
    closed.update({name: float(chosen[name][meeting.closed]) for name in own[j - 1]})
    touching = {i - 1: meeting.pads[0], j - 1: meeting.pads[1]}
    described = tuple(
        _finger(bodies, fingers[n], pad=touching.get(n, tips[n][0].links[0])) for n in order
    )
    leaders = [name for n in order for name in own[n]]
    return _described(
        bodies, palm, described, meeting, leaders=leaders, open_at=rest, closed_at=closed
    )
