"""The robot of a study: base, home, hash, and options that go from a config to its cases."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_robot
from kinetarium.roles import BaseKind, RoleOptions, RolesError, with_base


@dataclass(frozen=True, kw_only=True)
class _Config(RoleOptions):
    engine: str = "mujoco"


def test_options_of_a_config_go_to_its_cases() -> None:
    config = _Config(roles="a.toml", base=BaseKind.FREE, mesh_root=("m",))
    assert config.reading == RoleOptions(roles="a.toml", base=BaseKind.FREE, mesh_root=("m",))


def test_the_hash_depends_on_base_and_roles() -> None:
    hashes = {
        options: options.open("panda").sha256
        for options in (
            RoleOptions(),
            RoleOptions(base=BaseKind.FREE),
            RoleOptions(tool="panda_hand"),
        )
    }
    assert len(set(hashes.values())) == 3
    assert RoleOptions().open("panda", sha256=hashes[RoleOptions()]).roles.arm().joints
    with pytest.raises(KinetariumError, match="has changed"):
        RoleOptions(base=BaseKind.FREE).open("panda", sha256=hashes[RoleOptions()])


def test_followers_are_at_home_where_their_leader_puts_them() -> None:
    panda = RoleOptions().open("panda")
    roles = replace(panda.roles, home={**panda.roles.home, "panda_finger_joint1": 0.013})
    assert replace(panda, roles=roles).home["panda_finger_joint2"] == 0.013


def test_a_planar_base_adds_three_joints_and_no_weight() -> None:
    fixed = load_robot("ur5")
    planar = with_base(fixed, BaseKind.PLANAR)
    q = np.array([0.3, -0.8, 1.1, 0.2, 0.5, -0.4])
    placed = RobotDynamics(planar).link_pose([0.4, -0.2, 0.7, *q], "tool0")
    c, s = np.cos(0.7), np.sin(0.7)
    X = np.array([[c, -s, 0, 0.4], [s, c, 0, -0.2], [0, 0, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(placed, X @ RobotDynamics(fixed).link_pose(q, "tool0"), atol=1e-12)
    assert planar.mass == pytest.approx(fixed.mass, rel=1e-5)
    assert with_base(fixed, BaseKind.FREE).free_base


def test_a_planar_base_needs_its_names() -> None:
    robot = load_robot("husky4")
    links = (*robot.links[:-1], replace(robot.links[-1], name="world"))
    with pytest.raises(RolesError, match="--base free"):
        with_base(replace(robot, links=links), BaseKind.PLANAR)
