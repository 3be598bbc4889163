"""Policies of mixed precision by name, for the models that have stages."""

from __future__ import annotations

from sciprec.climate.stages.policies import CLIMATE_STAGES
from sciprec.precision.assigning.assignment import AssignedBackend
from sciprec.precision.assigning.policies import policy_called, rows_of

MODELS = {"climate": CLIMATE_STAGES}
"""Kind -> its stages."""


def backend_called(name: str) -> AssignedBackend:
    """The backend "policy:O2,narrow=fp16,wide=fp32".

    Raises:
        InputError: it is written otherwise, or names an unknown policy, format or stage.
    """
    return policy_called(name).assignment(MODELS).as_backend()


def policy_rows() -> list[dict[str, str]]:
    """Every stage of every model, and how the policies have it."""
    return rows_of(MODELS)
