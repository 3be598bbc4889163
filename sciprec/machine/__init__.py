"""The MLU370's instructions, its error cache, and compensation fitted to it; nothing imports it."""

from __future__ import annotations

from typing import Any

from sciprec.foundation.later import public

_PUBLIC = {
    "vcomp_f32": "sciprec.machine.instructions",
    "vscale_i32": "sciprec.machine.instructions",
    "vacc_i64": "sciprec.machine.instructions",
    "vacc_leaves": "sciprec.machine.instructions",
    "accumulate_i64": "sciprec.machine.instructions",
    "compensated_update": "sciprec.machine.updates",
    "rescaled_update": "sciprec.machine.updates",
    "compensation_footprint": "sciprec.machine.footprint",
    "fit_compensation": "sciprec.machine.fit",
    "in_force": "sciprec.workbench.batch.modes",
    "Work": "sciprec.cost.work",
    "update_work": "sciprec.cost.work",
    "Estimate": "sciprec.cost.peak_rates",
    "MACHINES": "sciprec.cost.peak_rates",
    "roofline": "sciprec.cost.peak_rates",
    "modelled": "sciprec.cost.peak_rates",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    return public(name, "sciprec.machine", _PUBLIC)


def __dir__() -> list[str]:
    return sorted(__all__)
