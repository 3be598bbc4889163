"""Random kernels through `sciprec.study`: what it stores is what the lifted kernels give, bit for
bit.
"""

import copy

import numpy as np

import sciprec
from sciprec.precision import resolve_backend
from sciprec.results.output import files
from sciprec.results.output.stated import AUXILIARY
from sciprec.tools.calls import outputs
from tests.random_kernels.backends import ALL, drawn
from tests.random_kernels.generator import random_case
from tests.random_kernels.trials import kernel_of
from tests.random_kernels.values import values_of

SEED = 16
"""Of a kernel of real numbers: a study refuses complex ones."""
NOT_RESULTS = {"health", "quantization_info"}


def inputs(case):
    """Arguments of a case; a study takes floats as binary64."""
    given = values_of(case.arguments, resolve_backend("fp64"), case.seed, 0)
    return {
        argument.name: value.astype(float) if getattr(value, "dtype", None) == np.float32 else value
        for argument, value in zip(case.arguments, given, strict=True)
    }


def left(kernel, backend, given):
    """By name, what the first call of the lifted kernel leaves: in its arguments, and returned."""
    own = copy.deepcopy(given)
    returned = sciprec.lift(kernel, backend)(**own)
    numbered = {f"return_{n}": v for n, v in enumerate(returned)} if isinstance(
        returned, tuple) else {} if returned is None else {"return": returned}  # fmt: skip
    return own, numbered


def same(found, expected):
    """Equal numbers with equal signs, NaN equal to NaN, in equal types."""
    found, expected = np.asarray(found), np.asarray(expected)
    equal = np.array_equal(found, expected, equal_nan=True) and found.dtype == expected.dtype
    return equal and np.array_equal(np.copysign(1.0, found)[found == found],
                                    np.copysign(1.0, expected)[found == found])  # fmt: skip


def differences(seed, folder):
    """Results of a study that are not stored, or not as the lifted kernels give them."""
    case = random_case(seed)
    kernel, given = kernel_of(case, folder), inputs(case)
    names = [trial.backend for trial in drawn(case, 2) if trial.backend in ALL]
    with np.errstate(all="ignore"):
        made = sciprec.study(kernel, given, backends=names, out=folder / "study", threads=1)
    assert not made.failures and len(made.files) == len({"fp64", *names})
    found = []
    for dataset in map(files.read, made.files):
        backend = dataset.attrs["sciprec_backend"]
        arguments, returned = left(kernel, backend, given)
        stored = set(dataset.data_vars) - NOT_RESULTS - set(dataset.attrs[AUXILIARY].split())
        written = {n for n, value in arguments.items() if not same(value, given[n])}
        found += [(backend, n, "missing") for n in (written | returned.keys()) - stored]
        for name in stored:
            if not same(dataset[name].values, (arguments | returned)[name]):
                found.append((backend, name, "differs"))
    return found


def test_a_study_stores_what_lifted_kernels_give(tmp_path, blank_figures):
    assert differences(SEED, tmp_path) == []


def test_arguments_that_are_not_copied_are_noticed(tmp_path, monkeypatch, blank_figures):
    monkeypatch.setattr(outputs, "copied", lambda values: values)
    assert ("fp64", "y", "differs") in differences(SEED, tmp_path)
