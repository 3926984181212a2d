"""Diagnostics of robot files: refusals, repairs and their codes.

Everything in this package that reads part of a robot refuses it by a RobotFileError.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from errno import EFBIG
from pathlib import Path
from typing import Literal, Protocol

from kinetarium.errors import KinetariumError
from kinetarium.storage.regular_file import read_regular, reason

MOST_CHARACTERS = 400
"""Longest quotation from a file in a message."""
MOST_REFUSALS = 100
"""After this many faults the rest of a file is not read."""


class Code(StrEnum):
    """The kinds of faults; their values are stable, for use by programs."""

    UNREADABLE = "unreadable"
    NOT_XML = "not-xml"
    ENCODING = "encoding"
    DOCTYPE = "doctype"
    TOO_LARGE = "too-large"
    WRONG_ROOT = "wrong-root"
    UNKNOWN_ELEMENT = "unknown-element"
    DUPLICATE_ELEMENT = "duplicate-element"
    MISSING_ELEMENT = "missing-element"
    MISSING_ATTRIBUTE = "missing-attribute"
    BAD_NUMBER = "bad-number"
    BAD_VALUE = "bad-value"
    UNSUPPORTED = "unsupported"
    EMPTY_NAME = "empty-name"
    DUPLICATE_NAME = "duplicate-name"
    UNKNOWN_NAME = "unknown-name"
    NO_LINKS = "no-links"
    TWO_ROOTS = "two-roots"
    TWO_PARENTS = "two-parents"
    CYCLE = "cycle"
    SELF_JOINT = "self-joint"
    JOINT_TYPE = "joint-type"
    ZERO_AXIS = "zero-axis"
    LIMITS = "limits"
    MIMIC = "mimic"
    LOOP = "loop"
    MASS = "mass"
    MASSLESS = "massless"
    INERTIA = "inertia"
    SIZE = "size"
    MESH_MISSING = "mesh-missing"
    MESH_OUTSIDE = "mesh-outside"
    MESH_REMOTE = "mesh-remote"
    MESH_BROKEN = "mesh-broken"
    INCLUDE = "include"
    EXPRESSION = "expression"
    MACRO = "macro"
    IMPLAUSIBLE_MASS = "implausible-mass"
    IMPLAUSIBLE_CENTER = "implausible-center"
    IMPLAUSIBLE_INERTIA = "implausible-inertia"
    IMPLAUSIBLE_AXES = "implausible-axes"
    IMPLAUSIBLE_SIZE = "implausible-size"
    IMPLAUSIBLE_LIMITS = "implausible-limits"


class Allowance(StrEnum):
    """Faults that a user may allow, by the flag --allow-NAME or --lenient NAME.

    Example:
        >>> from kinetarium import Allowance, load_robot
        >>> load_robot("panda", allow=[Allowance.MISSING_MESH]).repairs
        ()
    """

    MISSING_MESH = "missing-mesh"
    """Leave out geometry whose mesh cannot be found."""
    MISSING_LIMIT = "missing-limit"
    """Read a revolute or prismatic joint without <limit> as unlimited."""
    MASSLESS = "massless"
    """Assign one gram to each link of a massless moving branch."""
    BAD_INERTIA = "bad-inertia"
    """Replace an invalid inertia by that of a solid sphere of the same mass."""
    STRAY_TEXT = "stray-text"
    """Leave out text between the elements of a URDF file."""
    COMMA = "comma"
    """Read commas between and in the numbers of a URDF file."""
    ZERO_VISUAL = "zero-visual"
    """Leave out a visual shape of a URDF file that has no size."""
    BALL_JOINTS = "ball-joints"
    """Read a ball joint of MJCF, or a spherical one of URDF, as turns about x, y and z."""
    TENDONS = "tendons"
    """Leave out limits, springs, losses and couplings of tendons of an MJCF file."""
    GRAVITY_COMPENSATION = "gravity-compensation"
    """Leave out the gravity compensation of bodies of an MJCF file."""
    GLOBAL_COORDINATES = "global-coordinates"
    """Read an MJCF file with global coordinates as MuJoCo up to 2.3.3 does."""
    DUPLICATE_NAMES = "duplicate-names"
    """Keep the first of textures, materials and geoms of one name in an MJCF file."""


Leniency = Literal[
    "stray-text", "comma", "zero-visual", "ball-joints", "tendons", "gravity-compensation",
    "global-coordinates", "duplicate-names",
]  # fmt: skip
"""Faults of form, and parts that a model does not have, which --lenient lets through."""


@dataclass(frozen=True, kw_only=True)
class RobotOptions:
    """How strictly a robot file is read: fields of flags and configs.

    Attributes:
        mesh_root: Folders from which meshes and includes may be read.
        xacro_arg: Values of xacro arguments, each NAME:=VALUE.
        root: Name of the body that is the robot, in an MJCF file with several.
        allow_missing_mesh: Omit geometry whose mesh is missing.
        allow_missing_limit: Treat a joint without limits as unlimited.
        allow_massless: Assign 1 g to each link of a massless moving branch.
        allow_bad_inertia: Replace an invalid inertia by that of a sphere of the same mass.
        lenient: Faults of form, and parts a model does not have, to let through.
    """

    mesh_root: tuple[str, ...] = ()
    xacro_arg: tuple[str, ...] = ()
    root: str = ""
    allow_missing_mesh: bool = False
    allow_missing_limit: bool = False
    allow_massless: bool = False
    allow_bad_inertia: bool = False
    lenient: tuple[Leniency, ...] = ()

    @property
    def allow(self) -> tuple[Allowance, ...]:
        """The faults that are allowed."""
        flags = {allowance: f"allow_{allowance.replace('-', '_')}" for allowance in Allowance}
        return tuple(
            allowance
            for allowance, flag in flags.items()
            if allowance in self.lenient or getattr(self, flag, False)
        )

    @property
    def arguments(self) -> dict[str, str]:
        """The values of xacro arguments by name.

        Raises:
            KinetariumError: If one is not of the form NAME:=VALUE.
        """
        words = [word.partition(":=") for word in self.xacro_arg]
        for name, sign, _ in words:
            if not name or not sign:
                raise KinetariumError(f"--xacro-arg takes NAME:=VALUE, not '{name}'")
        return {name: value for name, _, value in words}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One fault for which a robot file is refused.

    Attributes:
        code: The kind of fault.
        message: What is wrong, naming the element.
        remedy: What to do about it.
        file: The file it is in.
        line: Its line, or None where there is no line.
    """

    code: Code
    message: str
    remedy: str
    file: str
    line: int | None

    def __str__(self) -> str:
        """Return the refusal as one line: file:line: message [code]; remedy."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}: {self.message} [{self.code}]{remedy}"


@dataclass(frozen=True, slots=True)
class Repair:
    """One change that a reader made to a robot, such as an omission or a correction.

    Attributes:
        code: Its kind, from the same set as the refusals.
        where: The element that was changed, such as "link hand".
        message: What was changed and why.
        line: Its line in the file, or None.
        file: The file it is in, such as an include.
    """

    code: Code
    where: str
    message: str
    line: int | None
    file: str = ""


@dataclass(frozen=True, slots=True)
class Implausibility:
    """Something about a robot that is possible but hardly meant.

    Attributes:
        code: Its kind.
        where: The link or joint, such as "link hand".
        message: What is implausible.
        remedy: What to check.
        line: Its line in the robot file, or None.
    """

    code: Code
    where: str
    message: str
    remedy: str
    line: int | None


class RobotFileError(KinetariumError):
    """A robot file that was refused, with every fault found.

    Example:
        >>> from kinetarium import RobotFileError, load_robot
        >>> try:
        ...     load_robot("missing.urdf")
        ... except RobotFileError as error:
        ...     print(len(error.refusals), "refusal:", error.refusals[0].code)
        1 refusal: unreadable
    """

    def __init__(self, *refusals: Refusal) -> None:
        """Keep the refusals; the text is the first one and the number of further ones."""
        self.refusals = refusals
        more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
        super().__init__(f"{refusals[0]}{more}")


class PartOfFile(Protocol):
    """An element with its line and, if that is not the robot file itself, its file."""

    file: str
    line: int


@dataclass(slots=True)
class Diagnostics:
    """Collects refusals and repairs while one file is read.

    Attributes:
        file: The file being read, as the user named it.
        line: The line being read, where refusals are unless they name another.
        allow: The faults that the user allows.
        repairs: The repairs so far.
        refusals: The refusals so far.
        known_bad: Files and lines of elements that were refused and are read nevertheless;
            further faults there would be consequences, and are not recorded.
    """

    file: str
    line: int | None = None
    allow: frozenset[Allowance] = frozenset()
    repairs: list[Repair] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    known_bad: set[tuple[str, int | None]] = field(default_factory=set)
    _robot_file: str = field(init=False)

    def __post_init__(self) -> None:
        """Remember the robot file itself."""
        self._robot_file = self.file

    def collecting(self) -> "_Context":
        """Record a refusal raised in this context and continue, to report every fault at once."""
        return _Context(self, self.file, self.line, collects=True)

    def within(self, file: str, line: int | None) -> "_Context":
        """Report faults in this context for a line, perhaps of another file such as an include."""
        return _Context(self, file, line, collects=False)

    def at(self, element: PartOfFile) -> "_Context":
        """Report faults in this context for an element; record refusals and continue."""
        return _Context(self, element.file or self.file, element.line, collects=True)

    def line_of(self, element: PartOfFile) -> int | None:
        """Return the line of an element in the file being read; None if it is in an include."""
        return element.line if element.file in ("", self._robot_file) else None

    def stop_if_refused(self, *, besides: int = 0) -> None:
        """Raise the collected refusals, if there are any besides the first few."""
        if len(self.refusals) > besides:
            raise RobotFileError(*self.refusals)

    def repair(self, code: Code, where: str, message: str, *, line: int | None = None) -> None:
        """Record a repair."""
        self.repairs.append(Repair(code, _one_line(where), _one_line(message), line, self.file))

    def refusal(
        self, code: Code, message: str, *, remedy: str = "", line: int | None = None
    ) -> RobotFileError:
        """Return the error for one fault, to be raised."""
        place = (self.file, line or self.line)
        return RobotFileError(Refusal(code, _one_line(message), _one_line(remedy), *place))


@dataclass(slots=True)
class _Context:
    """Part of a file, entered for every element: three times as fast as `contextmanager`."""

    diagnostics: Diagnostics
    file: str
    line: int | None
    collects: bool

    def __enter__(self) -> None:
        self._exchange_place()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool | None:
        self._exchange_place()
        if not self.collects or not isinstance(error, RobotFileError):
            return False
        if len(error.refusals) >= MOST_REFUSALS:  # an inner context reached the limit
            return False
        refusals, known_bad = self.diagnostics.refusals, self.diagnostics.known_bad
        for new in error.refusals:
            if new not in refusals and (new.file, new.line) not in known_bad:
                refusals.append(new)
        if len(refusals) >= MOST_REFUSALS:
            raise RobotFileError(*refusals[:MOST_REFUSALS]) from None
        return True

    def _exchange_place(self) -> None:
        outer = self.diagnostics.file, self.diagnostics.line
        self.diagnostics.file, self.diagnostics.line = self.file, self.line
        self.file, self.line = outer


def _one_line(text: str) -> str:
    """Shorten a text from a file and escape unprintable characters."""
    if len(text) > MOST_CHARACTERS:
        text = text[: MOST_CHARACTERS - 3] + "..."
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


MOST_BYTES = 64 * 2**20
"""The largest file that is read, unless a smaller bound is given."""


def read_robot_part(
    path: Path, *, diagnostics: Diagnostics, code: Code = Code.UNREADABLE, most: int = MOST_BYTES
) -> bytes:
    """Read a whole regular file of limited size [bytes] that is part of a robot."""
    try:
        return read_regular(path, most=most)
    except OSError as error:
        if error.errno == EFBIG:
            raise diagnostics.refusal(
                Code.TOO_LARGE,
                f"{str(path)!r} is too large",
                remedy=f"the limit is {most // 2**20} MiB",
            ) from None
        fault = reason(error)
    except ValueError as error:
        fault = reason(error)
    raise diagnostics.refusal(
        code, f"cannot read {str(path)!r}: {fault}", remedy="name an existing, readable file"
    )
