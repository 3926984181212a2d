import os
from pathlib import Path

import pytest

from kinetarium.model import assets
from kinetarium.model.assets import AssetResolver, installed_packages
from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A robot, files it may not see, and an installed data package laid out as real ones are."""
    for name in (
        "robot/arm.urdf",
        "robot/meshes/arm.stl",
        "robot/gripper/finger.stl",
        "ws/foo_description/urdf/foo.urdf",
        "ws/foo_description/meshes/foo.stl",
        "secret.stl",
        "installed/robots/bar_description/urdf/bar.urdf",
        "installed/robots/bar_description/meshes/bar.stl",
        "installed/common/wheel.stl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(assets, "installed_packages", lambda: {"data": tmp_path / "installed"})
    return tmp_path


def resolver(folder: Path, *roots: Path) -> AssetResolver:
    return AssetResolver(folder, roots=roots, diagnostics=Diagnostics("arm.urdf"))


def refused(resolver: AssetResolver, uri: str) -> tuple[Code, str]:
    with pytest.raises(RobotFileError) as caught:
        resolver.mesh(uri, line=7)
    (refusal,) = caught.value.refusals
    assert (refusal.file, refusal.line) == ("arm.urdf", 7)
    return refusal.code, str(refusal)


def test_relative_path_is_relative_to_the_robot_file(tree):
    assert resolver(tree / "robot").mesh("meshes/arm.stl", line=1) == tree / "robot/meshes/arm.stl"
    assert resolver(tree / "robot").mesh("meshes/../meshes//./arm.stl", line=1).name == "arm.stl"


def test_relative_path_may_be_relative_to_another_folder(tree):
    found = resolver(tree / "robot").mesh("arm.stl", line=1, folder=tree / "robot/meshes")
    assert found == tree / "robot/meshes/arm.stl"


def test_relative_path_falls_back_on_the_roots(tree):
    robot = tree / "robot"
    assert refused(resolver(robot), "foo.stl")[0] is Code.MESH_MISSING
    meshes = tree / "ws/foo_description/meshes"
    assert resolver(robot, meshes).mesh("foo.stl", line=1) == meshes / "foo.stl"


def test_dots_leave_the_folder_only_into_a_root(tree):
    urdf = tree / "ws/foo_description/urdf"
    code, message = refused(resolver(urdf), "../meshes/foo.stl")
    assert code is Code.MESH_OUTSIDE and "--mesh-root DIR" in message
    package = tree / "ws/foo_description"
    assert resolver(urdf, package).mesh("../meshes/foo.stl", line=1) == package / "meshes/foo.stl"


def test_the_folder_it_is_relative_to_opens_nothing(tree):
    with pytest.raises(RobotFileError) as caught:
        resolver(tree / "robot").mesh("secret.stl", line=1, folder=tree / "robot/..")
    assert caught.value.refusals[0].code is Code.MESH_OUTSIDE


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_absolute_path_needs_an_explicit_root(tree, form):
    uri = form.format(tree / "robot/meshes/arm.stl")
    assert refused(resolver(tree / "robot"), uri)[0] is Code.MESH_OUTSIDE
    assert resolver(tree / "ws", tree / "robot").mesh(uri, line=1).name == "arm.stl"


def test_sibling_with_the_same_beginning_is_outside(tree):
    (tree / "robot_secret").mkdir()
    (tree / "robot_secret/x.stl").touch()
    assert refused(resolver(tree / "robot"), "../robot_secret/x.stl")[0] is Code.MESH_OUTSIDE


@pytest.mark.parametrize("root", ["ws", "ws/foo_description"])
@pytest.mark.parametrize(
    "uri", ["package://foo_description/meshes/foo.stl", "package:///foo_description//meshes/foo.stl",
            "model://foo_description/meshes/foo.stl"]
)  # fmt: skip
def test_package_is_a_root_or_inside_one(tree, root, uri):
    found = resolver(tree / "robot", tree / root).mesh(uri, line=1)
    assert found == tree / "ws/foo_description/meshes/foo.stl"


def test_own_package_is_found_upwards_only_inside_the_roots(tree):
    uri = "package://foo_description/meshes/foo.stl"
    code, message = refused(resolver(tree / "ws/foo_description/urdf"), uri)
    assert code is Code.MESH_MISSING
    assert "'foo_description'" in message and "--mesh-root DIR" in message
    (tree / "ws/deep").mkdir()
    (tree / "ws/foo_description").rename(tree / "ws/deep/foo_description")
    assert resolver(tree / "ws/deep/foo_description/urdf", tree / "ws").mesh(uri, line=1)


@pytest.mark.parametrize("folder", ["", "urdf"])
def test_own_package_comes_before_an_installed_one_of_the_same_name(tree, folder):
    own = tree / "own/bar_description"
    for part in ("meshes", "urdf"):
        (own / part).mkdir(parents=True)
    (own / "meshes/bar.stl").touch()
    uri = "package://bar_description/meshes/bar.stl"
    assert resolver(own / folder, own).mesh(uri, line=1) == own / "meshes/bar.stl"
    if folder:  # the package is not within the roots, and not to be replaced by the other
        code, message = refused(resolver(own / folder), uri)
        assert code is Code.MESH_MISSING and "--mesh-root DIR" in message
    else:
        assert resolver(own).mesh(uri, line=1) == own / "meshes/bar.stl"


@pytest.mark.parametrize("root", ["ws", "ws/foo_description"])
def test_package_is_known_by_the_name_in_its_package_xml(tree, root):
    uri = "package://my_foo/meshes/foo.stl"
    declared = tree / "ws/foo_description/package.xml"
    entity = '<!DOCTYPE p [<!ENTITY e "my_foo">]><package><name>&e;</name></package>'
    for text in ("<package><name>my_foo", entity, "<package/>"):
        declared.write_text(text)
        assert refused(resolver(tree / "robot", tree / root), uri)[0] is Code.MESH_MISSING
    declared.write_text("<package><name> my_foo </name></package>")
    mesh = tree / "ws/foo_description/meshes/foo.stl"
    assert resolver(tree / "robot", tree / root).mesh(uri, line=1) == mesh
    assert resolver(tree / "ws/foo_description/urdf", tree / root).mesh(uri, line=1) == mesh


def test_address_of_a_package_without_its_name_is_relative(tree):
    for uri in ("package:///meshes/arm.stl", "package:///arm.stl", "package://arm.stl"):
        found = resolver(tree / "robot", tree / "robot/meshes").mesh(uri, line=1)
        assert found == tree / "robot/meshes/arm.stl"
    assert "unknown package" not in refused(resolver(tree / "robot"), "package:///x.stl")[1]


def test_package_beside_the_robot_file(tree):
    assert resolver(tree / "robot").mesh("package://gripper/finger.stl", line=1)


@pytest.mark.parametrize(
    "uri", ["package://data/robots/bar_description/meshes/bar.stl",
            "package:///data/robots/bar_description/meshes/bar.stl",
            "package://bar_description/meshes/bar.stl", "package://common/wheel.stl"]
)  # fmt: skip
def test_installed_package_is_known_to_every_robot(tree, uri):
    assert resolver(tree / "robot").mesh(uri, line=1).is_relative_to(tree / "installed")


def test_robot_of_an_installed_package_may_use_all_of_it(tree):
    own = resolver(tree / "installed/robots/bar_description/urdf")
    assert own.mesh("../meshes/bar.stl", line=1).name == "bar.stl"
    assert own.mesh("common/wheel.stl", line=1).name == "wheel.stl"
    assert refused(own, "../../../../secret.stl")[0] is Code.MESH_OUTSIDE


@pytest.mark.parametrize(
    "uri", ["package://data/../secret.stl", "package://..", "package://../secret.stl",
            "package://./secret.stl", "package://data/robots/../../secret.stl"]
)  # fmt: skip
def test_dots_never_leave_a_package(tree, uri):
    assert refused(resolver(tree / "robot", tree), uri)[0] is Code.MESH_OUTSIDE


@pytest.mark.parametrize("uri", ["package://", "package:///", "package://nobody/x.stl"])
def test_unknown_package(tree, uri):
    assert refused(resolver(tree / "robot"), uri)[0] is Code.MESH_MISSING


@pytest.mark.parametrize(
    "uri", ["http://host/a.stl", "HTTPS://host/a.stl", "ftp://host/a.stl", "s3://b/a.stl",
            "file://host/a.stl", "//host/share/a.stl", "\\\\host\\share\\a.stl", "://a.stl"]
)  # fmt: skip
def test_remote(tree, uri):
    assert refused(resolver(tree / "robot"), uri)[0] is Code.MESH_REMOTE


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("file:/etc/passwd", Code.MESH_OUTSIDE),
        ("C:/m.stl", Code.MESH_OUTSIDE),
        ("data:model/stl;base64,AAAA", Code.MESH_REMOTE),
        ("package:foo/a.stl", Code.MESH_REMOTE),
    ],
)
def test_addresses_of_other_kinds(tree, uri, code):
    found, message = refused(resolver(tree / "robot"), uri)
    assert found is code
    assert "--allow-missing-mesh" not in message
    assert ("--mesh-root" in message) == uri.startswith("file:")


def test_a_file_name_may_hold_a_colon(tree):
    (tree / "robot/arm:1.stl").touch()
    assert resolver(tree / "robot").mesh("arm:1.stl", line=1).name == "arm:1.stl"
    uri = f"file:{tree}/robot/arm:1.stl"
    assert resolver(tree / "ws", tree / "robot").mesh(uri, line=1).name == "arm:1.stl"


@pytest.mark.parametrize(
    "uri", ["", "  ", "a\0b.stl", "a\nb.stl", "\x1b[2J", "meshes\\arm.stl", "C:\\arm.stl",
            "\ud800.stl", "x" * 5000]
)  # fmt: skip
def test_no_address_at_all(tree, uri):
    assert refused(resolver(tree / "robot"), uri)[0] is Code.BAD_VALUE


@pytest.mark.parametrize(
    "uri", ["nothing.stl", "x" * 4000, "a/" * 2000, "meshes/arm.stl/x", "~/x.stl"]
)
def test_missing_names_both_remedies(tree, uri):
    code, message = refused(resolver(tree / "robot"), uri)
    assert code is Code.MESH_MISSING
    assert "--mesh-root DIR" in message and "--allow-missing-mesh" in message


def test_symbolic_links_count_as_where_they_lead(tree):
    robot = tree / "robot"
    (robot / "inner.stl").symlink_to(robot / "meshes/arm.stl")
    (robot / "outer.stl").symlink_to(tree / "secret.stl")
    (robot / "out").symlink_to(tree)
    (robot / "loop.stl").symlink_to(robot / "loop.stl")
    assert resolver(robot).mesh("inner.stl", line=1) == robot / "meshes/arm.stl"
    assert refused(resolver(robot), "outer.stl")[0] is Code.MESH_OUTSIDE
    assert refused(resolver(robot), "out/secret.stl")[0] is Code.MESH_OUTSIDE
    assert refused(resolver(robot), "package://out/secret.stl")[0] is Code.MESH_OUTSIDE
    assert refused(resolver(robot), "loop.stl")[0] is Code.MESH_MISSING
    assert resolver(robot, tree).mesh("outer.stl", line=1) == tree / "secret.stl"


def test_endless_chain_of_symbolic_links(tree):
    robot = tree / "robot"
    for i in range(1500):
        (robot / f"link{i}").symlink_to(f"link{i + 1}")
    assert refused(resolver(robot), "link0")[0] in (Code.MESH_BROKEN, Code.MESH_MISSING)
    assert refused(resolver(robot), "link0/x.stl")[0] in (Code.MESH_BROKEN, Code.MESH_MISSING)


def test_folders_and_pipes_are_no_meshes(tree):
    os.mkfifo(tree / "robot/pipe.stl")
    assert refused(resolver(tree / "robot"), "meshes")[0] is Code.MESH_BROKEN
    assert refused(resolver(tree / "robot"), "pipe.stl")[0] is Code.MESH_BROKEN
    assert refused(resolver(tree, Path("/dev")), "/dev/zero")[0] is Code.MESH_BROKEN


def test_include_follows_the_same_rules_under_its_own_code(tree):
    found = resolver(tree / "robot").include("arm.urdf", line=1)
    assert found == tree / "robot/arm.urdf"
    for uri in ("../secret.stl", "http://host/x", "nothing.xacro", "", "meshes", "package://no/x"):
        with pytest.raises(RobotFileError) as caught:
            resolver(tree / "robot").include(uri, line=3)
        (refusal,) = caught.value.refusals
        assert refusal.code is Code.INCLUDE and refusal.line == 3
        assert "--allow-missing-mesh" not in str(refusal)


def test_a_root_must_be_a_folder(tree):
    with pytest.raises(RobotFileError, match="nowhere"):
        resolver(tree / "robot", tree / "nowhere")


def test_relative_robot_folder(tree, monkeypatch):
    monkeypatch.chdir(tree / "robot")
    assert resolver(Path()).mesh("meshes/arm.stl", line=1) == tree / "robot/meshes/arm.stl"


def test_installed_packages_are_folders_and_not_imported():
    for name, folder in installed_packages().items():
        assert folder.is_dir() and folder.name == name
