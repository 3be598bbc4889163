"""The MLU370's instructions, its error cache, and compensation fitted to it; nothing imports it."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.cost.peak_rates import MACHINES as MACHINES
    from sciprec.cost.peak_rates import RooflineEstimate as RooflineEstimate
    from sciprec.cost.peak_rates import modelled as modelled
    from sciprec.cost.peak_rates import roofline as roofline
    from sciprec.cost.work import Work as Work
    from sciprec.cost.work import update_work as update_work
    from sciprec.machine.fit import fit_compensation as fit_compensation
    from sciprec.machine.footprint import compensation_footprint as compensation_footprint
    from sciprec.machine.instructions import accumulate_i64 as accumulate_i64
    from sciprec.machine.instructions import vacc_i64 as vacc_i64
    from sciprec.machine.instructions import vacc_leaves as vacc_leaves
    from sciprec.machine.instructions import vcomp_f32 as vcomp_f32
    from sciprec.machine.instructions import vscale_i32 as vscale_i32
    from sciprec.machine.updates import compensated_update as compensated_update
    from sciprec.machine.updates import rescaled_update as rescaled_update
    from sciprec.workbench.batch.modes import in_force as in_force

__all__, __getattr__, __dir__ = names_of("sciprec.machine", Estimate="RooflineEstimate")
