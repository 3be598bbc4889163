"""`check_memory`: every seeded fault is named by its line, and right kernels are left in peace."""

import inspect

import numpy as np
import pytest

import sciprec
from tests.diagnosis import memory_kernels as kernels
from tests.diagnosis import overflow_survey
from tests.precision import foreign_kernels as foreign
from tests.precision.registered import registered_kernels


def check(kernel, args, backend="fp64"):
    before = [np.copy(a) for a in args if isinstance(a, np.ndarray)]
    report = sciprec.check_memory(kernel, backend, args)
    after = [a for a in args if isinstance(a, np.ndarray)]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))  # copies were used
    return report


def faults_of(kernel, backend="fp64"):
    """The findings of a kernel, which are its faults: those of its lines, and of what it calls."""
    report = check(kernel, kernels.FAULTY[kernel], backend)
    lines, first = inspect.getsourcelines(kernel)
    marked = [first + n for n, line in enumerate(lines) if line.endswith("# fault\n")]
    own = [f.line for f in report.findings if first <= f.line < first + len(lines)]
    calls_another = kernel in (kernels.in_calls, kernels.of_integers)
    assert own == marked and len(report.findings) == len(marked) + calls_another
    for finding in report.findings:
        assert finding.text.endswith("# fault") and finding.text in repr(report)
        uninitialised = "np.empty" in finding.text
        assert finding.kind == ("uninitialised" if uninitialised else "out of bounds")
    return report.findings


def other_arithmetic(kernel, backend):
    return pytest.param(kernel, backend, marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "backend"),
    [
        (kernels.compared, "fp64"), (kernels.too_far, "fp64"),
        *(other_arithmetic(one, "fp64") for one in (
            kernels.in_calls, kernels.of_integers, kernels.in_part, kernels.constant_index,
            kernels.in_an_inner_function, kernels.from_the_end)),
        other_arithmetic(kernels.as_index, "float:p=8,round=sr"),
        other_arithmetic(kernels.indices_swapped, "fixed16"),
    ],
)  # fmt: skip
def test_every_fault_is_named_by_its_line(kernel, backend):
    faults_of(kernel, backend)


@pytest.mark.slow
def test_a_report_is_readable():
    (finding,) = faults_of(kernels.beyond_what_was_written)
    assert finding.function == "beyond_what_was_written" and finding.file == "memory_kernels.py"
    assert "'out' changes in 1 of 9 elements, first [8]" in finding.message
    assert finding.read_line == finding.line + 4 and "w[i + 1]" in finding.read_text
    report = sciprec.check_memory(
        sciprec.lift(kernels.ring, "fp16"), "fp64", {"out": kernels.out(), "x": kernels.X}
    )
    assert report.clean and report.arrays == 1 and report.runs == 5
    assert repr(report) == (
        "memory of kernel 'ring' in fp64: no findings (5 runs, 1 place with arrays made empty)"
    )


def raising(x):
    w = np.empty(2)
    w[0] = x[0]
    if x[1] > 0.0:
        raise ValueError("positive")
    return w[0]


def test_an_exception_is_part_of_the_report():
    report = check(raising, (kernels.X,))
    assert report.clean and report.ended == "ValueError: positive"
    assert repr(report).endswith("made empty); it ends with ValueError: positive")


def test_what_cannot_be_checked_is_said():
    with pytest.raises(sciprec.InputError, match=r"args is a ndarray; accepted: a tuple .* \(x,\)"):
        sciprec.check_memory(kernels.ring, "fp64", kernels.X)
    with pytest.raises(sciprec.LiftError, match="called wrongly: missing a required argument"):
        sciprec.check_memory(kernels.ring, "fp64", {"x": kernels.X})
    with pytest.raises(sciprec.LiftError, match="check_memory takes a Python function"):
        sciprec.check_memory("ring", "fp64", ())


# ---- integers ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sum_of_indices_that_wraps_is_named():
    report = check(kernels.index_sum, (np.full(4, 2**30, np.int32), np.zeros(1, np.int32)))
    (finding,) = report.findings
    assert finding.kind == "integer overflow" and finding.text == "s[0] += x[i]"
    assert finding.message == (
        "s[0] = 2,147,483,648 does not fit into int32, -2,147,483,648 to 2,147,483,647; "
        "it wrapped to -2,147,483,648"
    )
    right = np.full(4, 9, np.int32), np.zeros(1, np.int32)
    assert check(kernels.index_sum, right, "fixed16").clean
    wrong = np.full(4, 2**30, np.int32), np.zeros(1, np.int32)
    assert len(check(kernels.index_sum, wrong, "fixed16").findings) == 1


@pytest.mark.slow
def test_integers_that_wrap_on_purpose_are_left_in_peace():
    """Unsigned ones, casts, and operators on bits."""
    assert check(kernels.hashed, (np.uint64(77), np.zeros(8, np.int32))).clean


@pytest.mark.slow
def test_random_integers_overflow_where_exact_ones_do(tmp_path):
    """Some of `overflow_survey`."""
    found = overflow_survey.survey(tmp_path, 36, 39)
    assert found["kernels"] == 3 and not found["others"]
    assert min(found["no overflow"], found["stored"], found["computed"]) > 0


# ---- right kernels -----------------------------------------------------------------------------


@pytest.mark.slow
def test_right_kernels_have_no_findings():
    assert check(kernels.right, kernels.RIGHT[kernels.right]).clean


@pytest.mark.survey
def test_every_right_kernel_has_no_findings():
    """Kernels of this project, of others, and some that do unusual things."""
    own = {entry.function: entry.example() for entry in registered_kernels().values()}
    others = {kernel: make() for kernel, make in foreign.EXAMPLES.items()}
    for kernel, args in (kernels.RIGHT | others | own).items():
        report = sciprec.check_memory(kernel, "fp64", args)
        assert report.clean, report
