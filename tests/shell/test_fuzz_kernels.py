"""Spoilt arguments and options of what takes a user's own kernel: a sentence each, no traceback."""

import contextlib
import itertools
import random
from pathlib import Path

import numpy as np
import pytest

import sciprec
from sciprec.diagnosis.models import traces
from sciprec.kinds import scenario_tune
from tests.shell.test_fuzz import (
    ODD,
    WORDS,
    halve,
    is_one_clear_sentence,
    is_taken_or_refused,
    sentences,
)


def doors():
    """Each door with arguments that it takes: name -> (function, arguments)."""
    given = {"x": np.linspace(0.1, 1.0, 5), "out": np.zeros(5)}
    asked = {"kernel": halve, "backend": "fp16", "args": given}
    values = np.linspace(0.1, 1.0, 5)
    return {
        "study": (sciprec.study, {
            "kernel": halve, "args": given, "backends": ["fp16"], "output": None,
            "tolerance": None, "metric": "relative_l2", "out": "study", "axes": None,
            "search": None, "threads": 1, "fresh": False,
        }),
        "trace": (sciprec.trace, asked | {
            "output": None, "by": "line", "lanes": 4, "samples": 1,
        }),
        "tune": (sciprec.tune, {
            "kernel": halve, "args": given, "tolerance": 0.1, "output": None,
            "metric": "relative_l2", "formats": ("fp64", "bf16"), "unit": "line", "check": None,
            "margin": 1.5,
        }),
        "monitor": (sciprec.monitor, asked | {
            "watch": ["x"], "level": 1, "every": 1, "alerts": None, "truth": True,
        }),
        "bound": (sciprec.bound, asked | {"output": None}),
        "check_memory": (sciprec.check_memory, asked),
        "Assignment": (sciprec.Assignment, {
            "formats": {"out": "bf16"}, "unit": "variable", "default": "fp64", "kernel": halve,
            "name": "mine",
        }),
        "ModelArithmetic": (sciprec.ModelArithmetic, {
            "backend": "fp16", "compensation": None, "member": 0, "amplitude": 1e-10, "seed": 0,
            "threads": 1, "monitor": None, "adaptive": None,
        }),
        "model": (sciprec.model, {
            "name": "mine", "perturbs": (), "variables": None, "brief": None,
        }),
        "adaptive_quantize": (sciprec.adaptive_quantize, {
            "x": values, "bits": 16, "headroom": 0, "axis": None, "block": None, "round": "rn",
            "scale": "power_of_two", "saturate": True, "nonfinite": "refuse",
        }),
        "dequantize": (sciprec.dequantize, {"integers": [1, 2], "scale": 0.5}),
        "fixed_matmul": (sciprec.fixed_matmul, {
            "A": np.eye(2), "B": np.eye(2), "bits": 16, "accurate": False, "scales": None,
        }),
        "CarriedUpdate": (sciprec.CarriedUpdate, {
            "backend": "fp16", "compensation": "carry", "trust_inputs": True, "seed": 0,
        }),
        "Compensation": (sciprec.Compensation, {
            "alpha": 1.0, "beta": 0.0, "reset_every": None, "sums": False,
        }),
        "compensated_sum": (sciprec.compensated_sum, {
            "x": values, "backend": "fp16", "method": "carry", "block": 64,
        }),
        "compensated_dot": (sciprec.compensated_dot, {
            "x": values, "y": values, "backend": "fp16", "method": "carry", "block": 64,
        }),
        "Format": (sciprec.Format, {
            "name": "mine", "significand_bits": 9, "emin": -14, "emax": 15, "subnormals": True,
            "overflow": "infinity", "largest": None,
        }),
    }  # fmt: skip


ANY = {("Assignment", "name"), ("Format", "name")}  # any object is shown as it is


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_every_argument_is_taken_or_refused(tmp_path, monkeypatch):
    """Each argument of each door beside good others: one of four odd values."""
    monkeypatch.chdir(tmp_path)
    for name, (door, usual) in doors().items():
        assert sentences(lambda d=door, g=usual: d(**g)) is None, name
    pairs = [(name, key, value) for name, (_, usual) in doors().items() for key in usual
             for value in ODD if (name, key) not in ANY]  # fmt: skip
    pairs = random.Random(5).sample(pairs, len(pairs) // 4)
    refused = 0
    for name, key, value in pairs:
        door, usual = doors()[name]
        said = sentences(lambda d=door, g=usual | {key: value}: d(**g))
        if said is not None:
            is_one_clear_sentence(said)
            refused += 1
    assert refused > 0.5 * len(pairs)


class Computes(Exception):
    """What is given has been taken."""


def stop(*given, **more):
    raise Computes


@pytest.mark.slow
def test_doors_of_models_take_or_refuse_every_argument_before_they_compute(monkeypatch):
    """A check that is no mapping, outputs that are no names, and changes in an array once ended in
    Python's own errors.
    """
    monkeypatch.setattr(traces, "Census", stop)
    monkeypatch.setattr(scenario_tune, "tuned", stop)
    few = {"heston.simulation.n_paths": 16}
    usual = {"scenario": "quickstart_heston", "output": None, "changes": few}
    for door, more in (
        (sciprec.trace_scenario, {"backend": "fp16", "by": "line", "lanes": 4, "samples": None}),
        (sciprec.tune_scenario, {
            "tolerance": 0.1, "metric": "relative_l2", "formats": ("fp64", "bf16"), "unit": "line",
            "check": None, "margin": 1.5,
        }),
    ):  # fmt: skip
        given, refused = usual | more, 0
        with pytest.raises(Computes):
            door(**given)
        asked = random.Random(len(given)).sample([*itertools.product(given, ODD)], 80)
        for key, value in asked:
            with contextlib.suppress(Computes):
                said = sentences(lambda d=door, g=given | {key: value}: d(**g))
                is_one_clear_sentence(said.splitlines()[0])
                refused += 1
        assert refused > 0.9 * len(asked)


KERNEL = f"{Path(__file__).parent / 'test_fuzz.py'}:halve"
ASKED = (KERNEL, "--inputs", "in.npz")
VERBS = {
    ("study", *ASKED, "--out", "study"): (
        "", "--backend", "--output", "--tolerance", "--metric", "--axes", "--search", "--threads",
        "--junit-xml",
    ),
    ("trace", *ASKED, "--backend", "fp16", "--samples", "1"): (
        "", "--backend", "--by", "--output", "--samples", "--set", "--html",
    ),
    ("tune", *ASKED, "--tolerance", "0.1", "--formats", "fp64,bf16"): (
        "", "--tolerance", "--formats", "--unit", "--metric", "--margin", "--check", "--output",
        "--set", "--save",
    ),
    ("monitor", *ASKED, "--backend", "fp16", "--watch", "x"): (
        "", "--backend", "--watch", "--level", "--every", "--alert",
    ),
    ("policies",): ("",),
    ("watch", "--once"): ("",),
    ("baseline", "list"): ("--folder",),
    ("baseline", "show"): ("",),
    ("baseline", "bless"): ("", "--reason"),
    ("baseline", "check"): ("", "--slower", "--larger", "--batch", "--threads"),
    ("climate", "run", "williamson_2", "--truncation", "T5"): (
        "", "--days", "--backend", "--truncation", "--step-seconds", "--compensation",
        "--time-scheme", "--output-hours", "--set", "--threads",
    ),
    ("scenario", "show"): ("",),
    ("coverage", "--small"): ("--backend", "--seeds", "--tolerance", "--case", "--confidence"),
}  # fmt: skip


@pytest.mark.parametrize("share", [24, pytest.param(2, marks=pytest.mark.slow)])
def test_every_word_is_taken_or_refused(call, nothing_is_computed, monkeypatch, share):
    """An internal error would be exit code 3."""
    np.savez("in.npz", x=np.linspace(0.1, 1.0, 5), out=np.zeros(5))
    given = [(*verb, *filter(None, [option]), word) for verb, options in VERBS.items()
             for option in options for word in WORDS]  # fmt: skip
    random.Random(6).shuffle(given)
    for arguments in given[::share]:
        is_taken_or_refused(call, arguments)
