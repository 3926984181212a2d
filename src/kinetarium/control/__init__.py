"""Controllers and the laws they are made of."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

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
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
