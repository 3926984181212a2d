"""Files of textures, terrains and skins: not read, but none may lie where no file may."""

from collections.abc import Sequence
from dataclasses import replace

from kinetarium.model.findings import Allowance, Code, RobotFileError
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.scope import Scope

_KINDS = ("texture", "hfield", "skin")


def check_asset_files(sections: Sequence[Element], *, scope: Scope) -> None:
    """Note every file of an asset that is left out and lies outside, elsewhere or is no file.

    One that is only missing is left out like the rest.

    Args:
        sections: The <asset> sections.
        scope: The file being read; takes the refusals.
    """
    for element in (child for section in sections for child in section.children):
        if element.tag in _KINDS:
            for name, address in element.attributes.items():
                if name.startswith("file"):
                    with scope.origins.at(element):
                        _check(element, address, scope)


def _check(element: Element, written: str, scope: Scope) -> None:
    compiler = scope.compiler
    folder = compiler.texture_folder if element.tag == "texture" else compiler.mesh_folder
    allowed = {Code.MESH_MISSING}
    if Allowance.MISSING_MESH in scope.findings.allow:
        allowed |= {Code.MESH_OUTSIDE, Code.MESH_REMOTE}
    try:
        scope.reading.assets.mesh(compiler.address(written, folder=folder), line=element.line)
    except RobotFileError as error:
        (refusal,) = error.refusals
        if refusal.code not in allowed:
            message = refusal.message.replace("mesh", f"the file of {element},", 1)
            raise RobotFileError(replace(refusal, message=message)) from None
