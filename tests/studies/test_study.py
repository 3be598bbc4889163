"""`sciprec.study`: a kernel on copies of the same inputs in every arithmetic, to a page."""

import copy
import json

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.results.output import files
from sciprec.results.output.dataset import PROCESSOR_SECONDS
from sciprec.workbench.kinds import parse_scenario
from tests.studies import kernels


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study of two members in three arithmetics, and its inputs."""
    given = [kernels.inputs(), kernels.inputs(power=2)]
    result = sciprec.study(
        kernels.diffuse, given, backends=["fp32", "bf16", "float:p=8,round=sr"], tolerance=1e-3,
        out=tmp_path_factory.mktemp("study"), axes={"path": ("time", "x")}, threads=1,
    )  # fmt: skip
    return result, given


def lifted(name, given):
    """The results of a lifted kernel's first call."""
    own = copy.deepcopy(given)
    total = sciprec.lift(kernels.diffuse, name)(**own)
    return own["u"], own["path"], total


@pytest.mark.slow
def test_every_arithmetic_is_judged_by_its_worst_member(made):
    result, given = made
    (truth, *_), rows = (lifted("fp64", given[1]), {r["backend"]: r for r in result.table})
    errors = []
    for one in given:
        pairs = zip(lifted("bf16", one), lifted("fp64", one), strict=True)
        errors += [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs]
    assert rows["fp64"]["status"] == "truth" and rows["fp32"]["status"] == "good"
    assert rows["bf16"]["status"] == "beyond" and "the worst of 2" in rows["bf16"]["reason"]
    assert f"relative l2 error {max(errors):.2g}" in rows["bf16"]["reason"]
    assert result.beyond and truth.shape == (17,)


@pytest.mark.slow
def test_a_study_stores_what_lifted_kernels_give_bit_for_bit(made):
    """The inputs, which the kernel changes, are copied for each call."""
    result, given = made
    assert all(np.array_equal(one["u"], kernels.inputs(power=power)["u"])
               for one, power in zip(given, (1, 2), strict=True))  # fmt: skip
    stored = [files.read(file) for file in result.files]
    for dataset in stored:
        backend, member = (dataset.attrs[f"sciprec_{name}"] for name in ("backend", "member"))
        u, path, total = lifted(backend, given[int(member)])
        for name, expected in (("u", u), ("path", path), ("return", total)):
            assert dataset[name].values.tobytes() == np.asarray(expected, float).tobytes()
    assert len(stored) == 8


def test_the_page_draws_what_the_axes_say(made):
    result, _ = made
    page = result.page.read_text(encoding="utf-8")
    for said in ("Error of path against fp64", "path at the last time", "Each member",
                 "diffuse(u, alpha, steps, path)", "Every operation of the kernel"):  # fmt: skip
        assert said in page, said
    dataset = files.read(result.files[0])
    assert dataset["path"].dims == ("time", "x") and dataset["time"].values.tolist() == [*range(6)]
    assert dataset["u"].dims == ("u_axis_0",)
    assert float(dataset.attrs[PROCESSOR_SECONDS]) > 0.0


def test_what_is_there_is_kept_until_kernel_or_inputs_change(tmp_path, blank_figures):
    def third(x, y):
        y[0] = x[0] / 3.0

    def fifth(x, y):
        y[0] = x[0] / 5.0

    fifth.__name__ = fifth.__qualname__ = "third"
    kept = []
    for kernel, x in ((third, 1.0), (third, 1.0), (third, 1.1), (fifth, 1.1)):
        sciprec.study(
            kernel, (np.array([x]), np.zeros(1)), backends=["fp16"], out=tmp_path, threads=1,
            on_done=lambda outcome: kept.append(outcome.kept),
        )  # fmt: skip
    assert kept == [False] * 2 + [True] * 2 + [False] * 4


def test_inputs_of_netcdf_bring_their_axes_and_units(tmp_path, blank_figures):
    along = xr.DataArray(np.linspace(0.0, 1.0, 5), dims="x", attrs={"units": "m"})
    dataset = xr.Dataset({"y": ("x", np.zeros(5), {"units": "K"})}, coords={"x": along})

    def scaled(x, y):
        for i in range(x.size):
            y[i] = x[i] / 3.0

    dataset.to_netcdf(tmp_path / "given.nc")
    result = sciprec.study(
        scaled, tmp_path / "given.nc", backends=["fp16"], out=tmp_path / "out", threads=1
    )
    found = files.read(result.files[1])
    assert found["y"].attrs["units"] == "K" and found["y"].dims == ("x",)
    assert np.array_equal(found["x"].values, along.values) and found["x"].attrs["units"] == "m"


WRONG = {
    "the argument 'alpha' of diffuse(u, alpha, steps, path) is missing; given: u, steps, path":
        dict(args={k: v for k, v in kernels.inputs().items() if k != "alpha"}),
    "'alfa' is no argument of diffuse(u, alpha, steps, path); did you mean 'alpha'?":
        dict(args=kernels.inputs() | {"alfa": 1.0}),
    "missing a required argument: 'alpha'": dict(args=(np.zeros(3),)),
    "the argument 'u' has dtype complex128; accepted: real numbers":
        dict(args=kernels.inputs() | {"u": np.zeros(3, complex)}),
    "make an array with np.array(x)": dict(args=kernels.inputs() | {"u": [1.0, 2.0]}),
    "the argument 'alpha' is 'fast'; accepted": dict(args=kernels.inputs() | {"alpha": "fast"}),
    "3 was given; accepted: a tuple of the arguments": dict(args=3),
    "args is []; accepted: the arguments of at least one call": dict(args=[]),
    "never writes its argument 'x'; its outputs: y":
        dict(kernel=kernels.moved, args=(np.ones(3), np.zeros(3)), output="x"),
    "has no output 'pth'; its outputs: u, path, return; did you mean 'path'?": dict(output="pth"),
    "writes no array that it is given and returns nothing":
        dict(kernel=kernels.reads, args=(np.ones(3),)),
    "is called 'health', as a variable of every file":
        dict(kernel=kernels.titled, args=(np.ones(3),)),
    "it ends with ValueError: x is too large": dict(kernel=kernels.failing, args=(3.0, np.ones(1))),
    "unknown backend 'bf61'": dict(backends=["bf61"]),
    "no arithmetic was given": dict(backends=()),
    "unknown metric 'relative_l3'; known": dict(metric="relative_l3"),
    "tolerance is -1.0; accepted: a number >= 0": dict(tolerance=-1.0),
    "tolerance is given '1 percent'; it takes a number, of relative": dict(tolerance="1 percent"),
    "the tolerance of 'u' is given '1%' of the metric max_abs, which has": dict(
        tolerance={"u": "1%"}, metric="max_abs"),
    "a tolerance is given for 'pth'; outputs: u, path, return": dict(tolerance={"pth": 1e-3}),
    "axes are given for 'pth'; outputs: u, path, return": dict(axes={"pth": "time"}),
    "the axes of 'path' are given as time; it has 2, with 6 x 17 elements":
        dict(axes={"path": "time"}),
    "the axis 'x' has 17 elements in one output and 6 in 'path'":
        dict(axes={"u": "x", "path": ("x", "y")}),
    "search is 'bit'; accepted: 'bits'": dict(search="bit", tolerance=1e-3),
    "a search needs to know when an error is small enough": dict(search="bits"),
    "the kernel is of type type; accepted: a Python function": dict(kernel=dict),
    "standard error, which it does not have": dict(metric="standard_errors", tolerance=2.0),
}  # fmt: skip


@pytest.mark.parametrize("said", WRONG)
def test_wrong_input_is_told_before_anything_is_stored(said, tmp_path):
    usual = {"kernel": kernels.diffuse, "args": kernels.inputs(), "backends": ["fp32"]}
    given = usual | WRONG[said]
    with pytest.raises(InputError) as caught:
        sciprec.study(given.pop("kernel"), given.pop("args"), out=tmp_path / "out", **given)
    assert all(said in line for line in str(caught.value).splitlines())
    assert not (tmp_path / "out").exists()


def test_a_member_that_fails_is_told_and_ends_no_other(tmp_path, blank_figures):
    result = sciprec.study(
        kernels.failing, [(1.0, np.ones(1)), (3.0, np.ones(1))], backends=["bf16"], out=tmp_path,
        threads=1,
    )  # fmt: skip
    assert [o.member for o in result.failures] == [1, 1]
    assert "ends with ValueError: x is too large" in result.failures[0].failure
    assert {row["status"] for row in result.table} == {"truth", "identical", "failed"}


@pytest.mark.parametrize(
    ("tolerance", "reason"), [("1%", "return_0: relative l2 error "), (None, "return_0 agrees wi")]
)
def test_an_iteration_that_ends_earlier_is_a_finding_and_not_a_failure(tmp_path, tolerance, reason):
    """Newton's root of 30000: fp64 makes 13 steps, fp16 fewer; the root itself is compared."""
    result = sciprec.study(
        kernels.newton, (30000.0, 1e-13), backends=["fp16"], out=tmp_path, threads=1,
        tolerance=tolerance,
    )  # fmt: skip
    truth, half = (files.read(file)["return_1"].size for file in result.files)
    (_, row) = result.table
    assert truth == 13 and half < truth and row["status"] in ("good", "unjudged")
    assert row["reason"].startswith(reason) and row["variable"] == "return_0"
    told = f"return_1 has {half} values, and {truth} in the truth"
    assert told in row["reason"] and told in result.page.read_text(encoding="utf-8")
    found = sciprec.compare(*result.files)
    assert found.unlike == (told,) and not found.within and told in repr(found)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-2, None])
def test_a_wrong_element_that_the_norm_hides_is_named(tmp_path, blank_figures, tolerance):
    """A value of 3e-4 is lost in fp32 where 1e4 is added and taken off, beside values of 1e4."""
    values = np.array([1e4, 2e4, 3e-4, 1e4])
    told = []
    for given in (values, np.abs(values) + 1.0):
        result = sciprec.study(
            kernels.moved_there_and_back, (given, np.zeros(4)), backends=["fp32"],
            out=tmp_path / str(len(told)), threads=1, tolerance=tolerance,
        )  # fmt: skip
        told.append(result.table[1]["reason"])
    assert told[0].endswith("; the norm hides that out[2] is 0 for 0.0003"), told[0]
    assert "hides" not in told[1]


def test_a_scenario_file_cannot_be_of_this_kind(made):
    result, _ = made
    scenario = json.loads(files.read(result.files[0]).attrs["sciprec_scenario"])
    with pytest.raises(InputError, match="'kind' was given 'kernel'; accepted: climate, heston"):
        parse_scenario(scenario)
