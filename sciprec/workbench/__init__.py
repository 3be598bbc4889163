"""The workbench: kinds of scenario, models of users, batches of runs, and studies of kernels."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.workbench import models as models
    from sciprec.workbench import study as study
    from sciprec.workbench.kinds.scenario_trace import trace_scenario as trace_scenario
    from sciprec.workbench.kinds.scenario_tune import TunedModel as TunedModel
    from sciprec.workbench.kinds.scenario_tune import tune_scenario as tune_scenario

__all__, __getattr__, __dir__ = names_of("sciprec.workbench")
