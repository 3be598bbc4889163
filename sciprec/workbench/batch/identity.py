"""Global attributes of a run's file: what it is, how it was made, and by what."""

from __future__ import annotations

import json

import xarray as xr

from sciprec.scenario.variant import Variant


def with_identity(
    dataset: xr.Dataset,
    *,
    title: str,
    source: str,
    scenario: dict,
    backend: dict,
    made_by: dict,
    variant: Variant,
    member: int = 0,
) -> xr.Dataset:
    """The dataset with its global attributes: what it is, how it was made, and by what.

    Args:
        title, source: for people.
        scenario: the scenario as resolved; a plain dictionary with `name` and `kind`.
        backend: the properties of the arithmetic; a plain dictionary with `name`.
        made_by: versions, processor and so on.
        variant: the arithmetic with what belongs to it.
        member: of the scenario's ensemble.
    """
    shown = variant.label + (f", member {member}" if member else "")
    dataset.attrs = {
        "Conventions": "CF-1.11",
        "title": f"{title} ({shown})",
        "source": f"sciprec {made_by['sciprec']}: {source}",
        "history": f"{made_by['made_at']} sciprec run",
        "references": source,
        "sciprec_kind": scenario["kind"],
        "sciprec_scenario_name": scenario["name"],
        "sciprec_scenario": json.dumps(scenario, sort_keys=True),
        "sciprec_backend": backend["name"],
        "sciprec_backend_properties": json.dumps(backend, sort_keys=True),
        "sciprec_member": member,
        "sciprec_provenance": json.dumps(made_by, sort_keys=True),
        **variant.as_attributes(),
    } | dataset.attrs
    return dataset
