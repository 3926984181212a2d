"""What an MJCF file holds that has no place in a robot model: noted, and said once per kind."""

from collections import Counter

from kinetarium.model.findings import Code, Findings
from kinetarium.model.markup import Element

_WHY = {
    "geom": "contact properties belong to the scene",
    "joint": "softness belongs to the engine",
    "connect": "softness belongs to the engine",
    "weld": "softness belongs to the engine",
    "equality": "softness belongs to the engine",
    "option": "simulation options belong to the scene",
    "flag": "simulation options belong to the scene",
    "visual": "the view belongs to the viewer",
    "statistic": "the view belongs to the viewer",
    "light": "lights belong to the viewer",
    "camera": "cameras belong to the scene",
    "texture": "only plain colours are kept",
    "layer": "only plain colours are kept",
    "sensor": "sensors belong to the scene",
    "keyframe": "states belong to the study",
    "exclude": "collision filters belong to the scene",
    "hfield": "terrain belongs to the scene",
    "ground": "terrain belongs to the scene",
    "world geom": "fixed surroundings belong to the scene",
    "world body": "fixed surroundings belong to the scene",
    "mocap body": "what is moved from outside belongs to the scene",
    "actuator": "only effort limits are kept, gains belong to the controller",
    "tendon": "it carries no force but an actuator's",
    "free body's alignment": "the base frame stays where the file writes it",
    "base pose": "the scene says where the robot stands",
    "inactive equality": "nothing switches it on",
}


class LeftOut:
    """Counts what is left out, to be said in one repair for each kind."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._count: Counter[str] = Counter()
        self._lines: dict[str, int] = {}
        self._attributes: dict[str, dict[str, int]] = {}

    def add(self, what: str, line: int) -> None:
        """Note that something is left out: an element by its tag, or what it stands for."""
        self._count[what] += 1
        self._lines.setdefault(what, line)

    def add_attribute(self, element: Element, name: str) -> None:
        """Note that an attribute of an element is left out."""
        self._attributes.setdefault(element.tag, {}).setdefault(name, element.line)

    def report(self, findings: Findings) -> None:
        """List what was left out."""
        for what, count in self._count.items():
            times = f"{count} left out" if count > 1 else "left out"
            self._say(what, times, self._lines[what], findings)
        for tag, names in self._attributes.items():
            self._say(tag, f"{', '.join(names)} left out", min(names.values()), findings)

    @staticmethod
    def _say(what: str, message: str, line: int, findings: Findings) -> None:
        why = _WHY.get(what, "no part of the robot's mechanics")
        findings.repair(Code.UNSUPPORTED, what, f"{message}: {why}", line=line)
