"""The MLU370 as a machine: its instructions, its modes, and a modelled cost."""

from __future__ import annotations

import importlib

_PUBLIC = {
    "vcomp_f32": "instructions",
    "vscale_i32": "instructions",
    "vacc_i64": "instructions",
    "vacc_leaves": "instructions",
    "accumulate_i64": "instructions",
    "compensated_update": "updates",
    "rescaled_update": "updates",
    "in_force": "modes",
    "Work": "work",
    "update_work": "work",
    "Estimate": "cost",
    "MACHINES": "cost",
    "roofline": "cost",
    "modelled": "cost",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"sciprec.machine.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'sciprec.machine' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
