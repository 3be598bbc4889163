"""A little model in a file of its own, and a scenario of it."""

import sys
import textwrap

import pytest

from tests.shell.conftest import undrawn

__all__ = ["undrawn"]

MODEL = '''
"""A ring whose sites are drawn to their neighbours."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec
from helper_of_ring import START


@dataclass(frozen=True)
class Ring:
    """Of the ring."""

    sites: Annotated[int, Field(ge=3, description="around the ring")] = 6
    pull: Annotated[float, Field(gt=0, le=0.5, description="towards the neighbours")] = 0.25
    steps: int = 8


def drawn(x, pull, dx):
    for i in range(x.size):
        dx[i] = pull * (x[(i + 1) % x.size] - 2.0 * x[i] + x[i - 1])


@sciprec.model("ring")
def ring(given: Ring, arithmetic):
    """A ring."""
    kernel = arithmetic.lift(drawn)
    x = arithmetic.quantize(arithmetic.perturb(START + np.cos(np.arange(given.sites))))
    dx, states = np.zeros(given.sites), [x.copy()]
    for _ in range(given.steps):
        kernel(x, given.pull, dx)
        arithmetic.update(x, dx)
        states.append(x.copy())
    states = np.array(states)
    return xr.Dataset(
        {"x": (("time", "site"), states, {"units": "K"}),
         "heat": (("time",), states.sum(axis=1), {"units": "K"})},
        coords={"time": ("time", np.arange(given.steps + 1.0), {"units": "s"})},
        attrs={"primary": "x", "budgets": "heat", "pictures": "growth lines spectrum"},
    )
'''
SCENARIO = """
name = "little_ring"
title = "A ring"
source = "nobody (2000)"
kind = "ring"
backends = ["fp32", "fp16"]

[ring]
sites = 8

[[tolerance]]
variable = "x"
metric = "relative_l2"
at_most = 1.0e-3
reason = "made up"
"""


@pytest.fixture
def fresh(forgotten_plugins):
    """Kinds and modules that a test brings are gone after it."""
    yield
    sys.modules.pop("helper_of_ring", None)


@pytest.fixture
def files(tmp_path, fresh):
    """The folder of a model's file, of the module beside it, and of a scenario."""
    (tmp_path / "ring_model.py").write_text(MODEL)
    (tmp_path / "helper_of_ring.py").write_text("START = 2.0\n")
    (tmp_path / "ring.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def write(tmp_path, fresh):
    """Writes a model that returns `body`, and gives its file and that of a scenario."""

    def written(body, *, parameters="steps: int = 3", scenario="", decorator="'mine'"):
        (tmp_path / "mine.py").write_text(
            "from dataclasses import dataclass, field\nfrom typing import *\n"
            "import numpy as np\nimport xarray as xr\nimport sciprec\n\n\n"
            f"@dataclass\nclass Given:\n    {parameters}\n\n\n"
            "def twice(x):\n    for i in range(x.size):\n        x[i] = 2.0 * x[i]\n\n\n"
            f"@sciprec.model({decorator})\ndef mine(given: Given, arithmetic):\n"
            + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
        )
        (tmp_path / "mine.toml").write_text(
            'name = "mine"\ntitle = "Mine"\nsource = "me"\nkind = "mine"\n'
            f'backends = ["fp16"]\n{scenario}\n'
        )
        return tmp_path / "mine.py", tmp_path / "mine.toml"

    return written
