"""`sciprec climate list`: everything that is registered, with its source."""

import json

from sciprec.cli.climate_verbs import catalogue
from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
from sciprec.climate.transform.grid import TRUNCATIONS
from sciprec.precision.formats.stages import STAGES


def test_the_list_names_everything_that_is_registered(call):
    code, out, err = call("climate", "list")
    assert (code, err) == (0, "")
    for registry in (CASES, EQUATIONS, TIME_SCHEMES, TRUNCATIONS, STAGES):
        for name in registry:
            assert name in out
    assert "formulation = careful | anomaly | whole | naive" in out
    assert "Williamson et al. (1992), case 5" in out


def test_the_list_as_json(call):
    code, out, err = call("climate", "list", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert set(content) == {"cases", "truncations", "equations", "time_schemes", "stages"}
    assert [row["name"] for row in content["cases"]] == list(CASES)
    assert {"name": "T42", "nlat": 64, "nlon": 128, "step_seconds": 600.0} in content["truncations"]


def test_every_row_has_its_source():
    for kind in ("cases", "equations", "time_schemes"):
        assert all(row["source"] for row in catalogue()[kind]), kind
