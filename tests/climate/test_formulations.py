"""How shallow water is written: one flow in binary64, different ones in few bits."""

import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
from tests.climate.small_models import SMALL

FORMULATIONS = ("careful", "anomaly", "whole", "naive")


def run(formulation, truncation=SMALL, days=0.5, **options):
    parameters = {"formulation": formulation}
    return integrate("williamson_5", truncation, days, parameters=parameters, **options)


@pytest.mark.parametrize("scheme", ["rk4", "semi_implicit_leapfrog"])
def test_all_are_the_same_flow_in_binary64(scheme):
    careful, *others = (run(f, time_scheme=scheme) for f in FORMULATIONS)
    for other in others:
        for name, field in careful.fields.items():
            size = np.abs(field).max()
            assert np.abs(other.fields[name] - field).max() < 1e-12 * size, name
        assert not np.array_equal(other.fields["height"], careful.fields["height"])


def test_half_precision_needs_the_careful_one():
    """Less in the products leaves them more bits; in SI units numbers leave binary16's range."""
    truth = run("careful", "T21", 3.0).fields["height"][-1]
    made = [run(f, "T21", 3.0, backend="fp16", compensation="carry")
            for f in ("careful", "anomaly", "naive")]  # fmt: skip
    assert "not finite" in made.pop().blow_up
    assert all(run.blow_up is None for run in made)
    careful, anomaly = (np.std(run.fields["height"][-1] - truth) for run in made)
    assert careful < 0.5 * anomaly
