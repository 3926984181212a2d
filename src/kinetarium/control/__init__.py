"""Controllers and the laws they are made of."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetarium.control.admittance_form import Form as Form
    from kinetarium.control.admittance_se3 import AdmittanceGains as AdmittanceGains
    from kinetarium.control.admittance_se3 import AdmittanceSE3 as AdmittanceSE3
    from kinetarium.control.anti_windup import AntiWindup as AntiWindup

_HOMES = {
    "AdmittanceGains": "kinetarium.control.admittance_se3",
    "AdmittanceSE3": "kinetarium.control.admittance_se3",
    "AntiWindup": "kinetarium.control.anti_windup",
    "Form": "kinetarium.control.admittance_form",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the list of commands needs no NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kinetarium.control' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
