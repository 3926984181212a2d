"""The <option> and <size> sections and raster assets: left out, but not if they are absurd."""

import re

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.origins import Origins
from kinetarium.model.reading import Reading

MOST_ENTRIES = 10**8
"""More entries of anything than this are a memory bomb."""
MOST_MEMORY = 16 * 2**30
"""More memory [bytes] than this is asked for by mistake."""

_NOT_NEGATIVE = (
    "timestep", "impratio", "density", "viscosity", "tolerance", "ls_tolerance",
    "noslip_tolerance", "ccd_tolerance", "sleep_tolerance", "iterations", "ls_iterations",
    "noslip_iterations", "ccd_iterations", "sdf_iterations", "sdf_initpoints", "o_margin",
)  # fmt: skip
_MEMORY = re.compile(r"([0-9]{1,18})([KMGTPE]?)", re.IGNORECASE)
_AREAS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}


def check_settings(root: Element, *, reading: Reading, origins: Origins) -> None:
    """Refuse options that mean nothing and sizes that would take all memory.

    Args:
        root: The <mujoco> element.
        reading: The file being read.
        origins: Names the file of each element.
    """
    for option in root.all("option"):
        with origins.at(option):
            _check_option(option, reading)
    for numeric in (child for section in root.all("custom") for child in section.all("numeric")):
        with origins.at(numeric):
            _check_count(
                reading.attributes.number(numeric, "size", default=0.0), numeric, "size", reading
            )
    for size in root.all("size"):
        with origins.at(size):
            _check_size(size, reading)
    for asset in (child for section in root.all("asset") for child in section.children):
        if asset.tag in _AREAS:
            with origins.at(asset):
                rows, columns = (
                    reading.attributes.number(asset, name, default=0.0)
                    for name in _AREAS[asset.tag]
                )
                _check_count(rows * columns, asset, " x ".join(_AREAS[asset.tag]), reading)


def _check_option(option: Element, reading: Reading) -> None:
    for name in _NOT_NEGATIVE:
        if reading.attributes.number(option, name, default=1.0) < 0:
            raise reading.findings.refusal(
                Code.BAD_VALUE, f"{option}: {name} is negative", line=option.line
            )
    if reading.attributes.number(option, "timestep", default=1.0) == 0:
        raise reading.findings.refusal(
            Code.BAD_VALUE, f"{option}: timestep is zero", line=option.line
        )


def _check_size(size: Element, reading: Reading) -> None:
    for name in size.attributes:
        if name != "memory":
            _check_count(reading.attributes.number(size, name), size, name, reading)
    text = size.attributes.get("memory", "-1").strip()
    match = _MEMORY.fullmatch(text)
    if text != "-1" and not match:
        raise reading.findings.refusal(
            Code.BAD_NUMBER,
            f"{size}: memory is {text[:40]!r}",
            remedy="a whole number with one of the letters K, M, G, or -1",
            line=size.line,
        )
    if match:
        unit = " KMGTPE".index(match[2].upper() or " ")
        if int(match[1]) * 1024**unit > MOST_MEMORY:
            raise reading.findings.refusal(
                Code.TOO_LARGE, f"{size} asks for {text} bytes of memory", line=size.line
            )


def _check_count(count: float, element: Element, what: str, reading: Reading) -> None:
    if count > MOST_ENTRIES:
        raise reading.findings.refusal(
            Code.TOO_LARGE,
            f"{element}: {what} is {count:g}",
            remedy=f"up to {MOST_ENTRIES:g} are accepted",
            line=element.line,
        )
    if count < -1 or count != int(count):
        raise reading.findings.refusal(
            Code.BAD_VALUE, f"{element}: {what} is {count:g}, not a count", line=element.line
        )
