"""Packages of other people, as an installer would leave them in a folder."""

from pathlib import Path


def install(
    folder: Path,
    name: str,
    *,
    code: str | bytes = "",
    engines: str = "",
    studies: str = "",
    metadata: str | bytes | None = None,
    entry_points: str | bytes | None = None,
) -> None:
    """Write a package of one module, which is called as the package, with "-" as "_".

    Args:
        folder: The folder, to be put on the path.
        name: The package.
        code: What is in its module.
        engines: Its entry points among the engines, one on a line.
        studies: Its entry points among the studies.
        metadata: All of its METADATA, if it is to be odd.
        entry_points: All of its entry_points.txt, if it is to be odd.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    usual = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: What {name} does\n"
    points = f"[kinetarium.engines]\n{engines}\n[kinetarium.studies]\n{studies}\n"
    _write(info / "METADATA", usual if metadata is None else metadata)
    _write(info / "entry_points.txt", points if entry_points is None else entry_points)
    _write(folder / f"{name.replace('-', '_')}.py", code)


def _write(path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
