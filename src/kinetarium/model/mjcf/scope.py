"""What the readers of one MJCF file share."""

from collections.abc import Iterable
from dataclasses import dataclass

from kinetarium.model.findings import Code, Findings, RobotFileError
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import Compiler
from kinetarium.model.mjcf.defaults import Defaults
from kinetarium.model.mjcf.left_out import LeftOut
from kinetarium.model.mjcf.origins import Origins
from kinetarium.model.mjcf.references import near_name
from kinetarium.model.reading import Reading
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True)
class Scope:
    """One MJCF file with its includes, settings and default classes.

    Attributes:
        reading: The file being read.
        origins: Names the file of each element.
        left_out: Takes note of what has no place in a robot model.
        compiler: How the file is to be understood.
        defaults: The default classes.
    """

    reading: Reading
    origins: Origins
    left_out: LeftOut
    compiler: Compiler
    defaults: Defaults

    @property
    def findings(self) -> Findings:
        """What is found in the file."""
        return self.reading.findings

    def pose(self, element: Element) -> Array:
        """Give the pose, shape (4, 4), that an element is placed at by its attributes."""
        return self.compiler.pose(element, self.reading)

    def refusal(
        self, code: Code, message: str, element: Element, *, remedy: str = ""
    ) -> RobotFileError:
        """Make the error for a fault of an element, ready to be raised."""
        return self.findings.refusal(code, message, remedy=remedy, line=element.line)

    def unknown(
        self, element: Element, kind: str, name: str, *, known: Iterable[str]
    ) -> RobotFileError:
        """Make the error for an element that names something which does not exist."""
        meant = near_name(name, set(known))
        return self.refusal(
            Code.UNKNOWN_NAME,
            f"{element} names the {kind} {name[:80]!r}, which does not exist",
            element,
            remedy=f"did you mean {meant!r}?" if meant else f"define the {kind}",
        )

    def not_negative(self, element: Element, name: str, *, code: Code = Code.BAD_VALUE) -> float:
        """Give a number that must not be negative; zero where it is not written.

        Raises:
            RobotFileError: If it is negative.
        """
        value = self.reading.attributes.number(element, name, default=0.0)
        if value < 0:
            raise self.refusal(code, f"{element}: {name} is negative", element)
        return value

    def interval(
        self, element: Element, *, limited: str, bounds: str
    ) -> tuple[float, float] | None:
        """Give an interval that may or may not be in force.

        Args:
            element: The element, with its defaults.
            limited: The attribute that says true, false or auto.
            bounds: The attribute with the two ends.

        Returns:
            The ends, the first below the second; None if there is no limit.

        Raises:
            RobotFileError: If it is in force and empty, reversed or missing.
        """
        attributes = element.attributes
        choice = attributes.get(limited, "auto")
        if choice not in ("true", "false", "auto"):
            raise self.refusal(
                Code.BAD_VALUE, f"{element}: {limited} is {choice!r}", element,
                remedy="true, false or auto",
            )  # fmt: skip
        lower, upper = self.reading.attributes.vector(element, bounds, 2, default=(0.0, 0.0))
        if choice == "false" or (choice == "auto" and lower == upper == 0):
            return None
        if choice == "auto" and not self.compiler.limits_from_range:
            raise self.refusal(
                Code.LIMITS,
                f"{element} has {bounds} but not {limited}, and autolimits is off",
                element,
                remedy=f'write {limited}="true"',
            )
        if lower >= upper:
            raise self.refusal(
                Code.LIMITS,
                f"{element}: {bounds} is reversed, empty or missing",
                element,
                remedy="write the lower end first, then the upper",
            )
        return float(lower), float(upper)
