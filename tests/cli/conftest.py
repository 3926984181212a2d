import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kinetarium.cli import main

ARM = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.5"/><mass value="2"/>
      <inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><geometry><box size="0.1 0.1 1"/></geometry></visual>
  </link>
  <link name="slide">
    <inertial>
      <mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="push" type="prismatic">
    <parent link="upper"/><child link="slide"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.25" velocity="1" effort="30"/>
  </joint>
</robot>
"""

TETRAHEDRON = """\
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


class Outcome(NamedTuple):
    """What a call of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        assert self.out.endswith("}\n")
        return json.loads(self.out, parse_constant=refuse)


Call = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command line in this process."""

    def call(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def program() -> str:
    """The installed program, for what only a process of its own can show."""
    return str(Path(sys.executable).with_name("kinetarium"))


@pytest.fixture
def shell(program: str, tmp_path: Path) -> Call:
    """Runs a line of bash in an empty folder, with the program as $K."""

    def shell(line: str) -> Outcome:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"K={program}; {line}"],
            capture_output=True, text=True, timeout=60, cwd=tmp_path, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)

    return shell


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A good robot file."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.fixture
def arm_with_mesh(tmp_path: Path) -> Path:
    """A good robot file with a mesh beside it."""
    (tmp_path / "shape.obj").write_text(TETRAHEDRON)
    path = tmp_path / "meshed.urdf"
    path.write_text(ARM.replace('<sphere radius="0.1"/>', '<mesh filename="shape.obj"/>'))
    return path
