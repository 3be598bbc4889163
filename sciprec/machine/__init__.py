"""The MLU370 as a machine: its instructions, its modes, and a modelled cost."""

from __future__ import annotations

from typing import Any

from sciprec.plugins.later import public

_PUBLIC = {
    "vcomp_f32": "sciprec.machine.instructions",
    "vscale_i32": "sciprec.machine.instructions",
    "vacc_i64": "sciprec.machine.instructions",
    "vacc_leaves": "sciprec.machine.instructions",
    "accumulate_i64": "sciprec.machine.instructions",
    "compensated_update": "sciprec.machine.updates",
    "rescaled_update": "sciprec.machine.updates",
    "in_force": "sciprec.machine.modes",
    "Work": "sciprec.machine.work",
    "update_work": "sciprec.machine.work",
    "Estimate": "sciprec.machine.cost",
    "MACHINES": "sciprec.machine.cost",
    "roofline": "sciprec.machine.cost",
    "modelled": "sciprec.machine.cost",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    return public(name, "sciprec.machine", _PUBLIC)


def __dir__() -> list[str]:
    return sorted(__all__)
