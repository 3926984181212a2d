"""Controllers and the laws they are made of."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.control.admittance.law import AdmittanceGains as AdmittanceGains
    from kinetarium.control.admittance.law import AdmittanceSE3 as AdmittanceSE3
    from kinetarium.control.admittance.law import AntiWindup as AntiWindup
    from kinetarium.control.admittance.law import Form as Form

_HOMES = {
    "AdmittanceGains": "kinetarium.control.admittance.law",
    "AdmittanceSE3": "kinetarium.control.admittance.law",
    "AntiWindup": "kinetarium.control.admittance.law",
    "Form": "kinetarium.control.admittance.law",
}

__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
