"""Functions inside a lifted kernel: machine code once, errors passed on, not called from Python."""

import gc
import io
import math
import tomllib
import warnings
from types import SimpleNamespace

import llvmlite
import numba
import numpy as np
import pytest
from llvmlite.binding import ffi, parse_assembly
from numba import njit, objmode
from numba.core import event, interpreter, targetconfig
from numba.core.compiler import Flags, run_frontend
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import overload

import sciprec
from sciprec.precision.compiled import quicker
from sciprec.precision.compiled.compilations import undisturbed
from sciprec.precision.compiled.disk_cache import kept
from tests.precision.processes import ROOT, started


def innermost(x, out):
    for i in range(x.size):
        if x[i] < 0.0:
            raise ValueError("negative")
        out[i] = 0.5 * x[i]


def middle(x, out):
    for i in range(x.size):
        out[i] = x[i] + 1.0
    innermost(out, out)


def outermost(x, out):
    middle(x, out)
    for i in range(x.size):
        out[i] = out[i] * out[i]


def called_once(x, out):
    outermost(x, out)


def in_new_arrays(x):
    out = np.zeros((x.size, 2))
    for i in range(x.size):
        out[i] = math.log(x[i]), max(math.exp(x[i]), 2.0)
    return np.sort(out[:, 1])


def third(x):
    return x / 3.0


def test_compiled_callers_of_an_entry_are_not_in_its_mode():
    """Its own numbers are truncated, and theirs rounded to nearest, before the call and after."""
    exact, x = sciprec.lift(third, "mlu370", path="software"), np.linspace(1.0, 2.0, 999)
    entry, expected = sciprec.lift(third, "mlu370").dispatcher, [exact(v / 7.0) / 3.0 for v in x]

    @njit
    def thirds(x, out):
        for i in range(x.size):
            out[i] = entry(x[i] / 7.0) / 3.0

    thirds(x, out := np.empty(999))
    np.testing.assert_array_equal(out, expected)


def saying(x):
    if x > 3.0:
        raise ValueError(f"{x} is too large", x)
    print("taken:", x)
    return 2.0 * x


def called_twice(x):
    return saying(x) + saying(x + 1.0)


@pytest.mark.slow
def test_parts_that_read_pythons_objects_find_them(monkeypatch, tmp_path, capfd):
    """In this process, and as another one does that finds them on disk."""
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    for backend in ("fp64", "bf16", "mlu370", "fp64"):
        lifted = sciprec.lift(called_twice, backend)
        assert lifted(1.0) == 6.0
        assert capfd.readouterr().out == "taken: 1.0\ntaken: 2.0\n"
        with pytest.raises(ValueError, match="too large"):
            lifted(2.5)
        assert capfd.readouterr().out == "taken: 2.5\n"
    run = "from tests.precision.test_parts import *; print(sciprec.lift(called_twice, 'bf16')(1.0))"
    assert started(run) == "taken: 1.0\ntaken: 2.0\n6.0\n"


def refused_by_numba(x):
    return x.nothing


def heard(what) -> int:
    """How often a listener to calls of LLVM is told of one."""
    with event.install_recorder("numba:llvm_lock") as recorder:
        what()
    return len(recorder.buffer)


@pytest.mark.slow
def test_nobody_is_told_of_calls_of_llvm_but_who_listens(monkeypatch, tmp_path):
    """However a compilation ends, others are told again afterwards, and garbage is looked for as
    before.
    """
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    told, seldom, called = [], [], ffi._LLVMLock.__enter__
    x, out = np.ones(2), np.zeros(2)

    def noting(lock):
        told.append(len(lock._cblist))
        seldom.append(gc.get_threshold())
        return called(lock)

    monkeypatch.setattr(ffi._LLVMLock, "__enter__", noting)
    usual = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        sciprec.lift(called_once, "fp32")(x, out)
        assert gc.get_threshold() == (700, 10, 10) and np.median(seldom, axis=0)[0] >= 50_000
    finally:
        gc.set_threshold(*usual)
    assert len(told) > 500 and np.mean(told) < 0.2
    kernel = kept(nogil=True)(refused_by_numba)
    with pytest.raises(TypingError):
        kernel(1.0)
    assert heard(lambda: parse_assembly("")) >= 2
    assert heard(lambda: sciprec.lift(called_once, "bf16")(x, out)) > 500


def printed(code) -> str:
    """Numba's own code as text."""
    out = io.StringIO()
    code.dump(out)
    return out.getvalue()


def thrice(x):
    """An operation that Numba has no form of, until a test gives it one."""


def test_what_is_registered_while_something_compiles_is_known_at_once():
    contexts = cpu_target.target_context, cpu_target.typing_context
    with undisturbed():
        contexts[0].refresh()
        with undisturbed():
            contexts[0].refresh()
            overload(thrice)(lambda x: lambda x: 3 * x)
            assert njit(lambda x: thrice(x))(14) == 42
    assert not any("refresh" in vars(context) for context in contexts)


def listed(*functions) -> list[list[str]]:
    """The variables of every instruction of functions."""
    blocks = [block for f in functions for block in run_frontend(f).blocks.values()]
    return [
        [variable.name for variable in statement.list_vars()]
        for block in blocks for statement in block.body
    ]  # fmt: skip


def test_what_is_quicker_gives_what_numba_gives():
    """Flags with and without values of their own; a function with a `with`, and one without."""
    usual = vars(targetconfig.TargetConfig)["values"], interpreter.peep_hole_delete_with_exit

    def with_one(x):
        with objmode():
            print(x)
        return x

    flags = Flags()
    flags.nrt, flags.error_model = True, "numpy"
    with undisturbed():
        assert flags.values() == usual[0](flags) and Flags().values() == usual[0](Flags())
        assert list(flags.values()) == list(usual[0](flags))
        texts = [printed(run_frontend(f)) for f in (thrice, with_one)]
        variables = listed(in_new_arrays, saying, with_one)
        assert interpreter.peep_hole_delete_with_exit is not usual[1]
    assert usual == (vars(targetconfig.TargetConfig)["values"],
                     interpreter.peep_hole_delete_with_exit)  # fmt: skip
    assert texts == [printed(run_frontend(f)) for f in (thrice, with_one)]
    assert variables == listed(in_new_arrays, saying, with_one) and sum(map(len, variables)) > 99


@pytest.fixture
def other_versions(monkeypatch):
    """Numba and llvmlite are of versions that nothing was made for."""
    later = dict.fromkeys(quicker.MADE_FOR, ((90, 0), (91, 5)))
    monkeypatch.setattr(quicker, "MADE_FOR", later)
    quicker.replacements.cache_clear()
    yield
    quicker.replacements.cache_clear()


LEFT_OUT = (
    rf"^installed: numba {numba.__version__} and llvmlite {llvmlite.__version__}; sciprec's short "
    "ways through the compiler were made for numba 90.0 to 91.5 and llvmlite 90.0 to 91.5, and are "
    "left out: compiling takes longer, and results are the same"
)


def test_nothing_is_replaced_in_versions_that_it_was_not_made_for(other_versions):
    usual = [vars(owner)[name] for owner, name, _ in quicker.REPLACEMENTS]
    assert len(usual) == 8
    with pytest.warns(RuntimeWarning, match=LEFT_OUT) as told:
        for _ in range(3):
            with undisturbed():
                found = [vars(owner)[name] for owner, name, _ in quicker.REPLACEMENTS]
                assert all(one is own for one, own in zip(found, usual, strict=True))
    assert len(told) == 1


def test_what_is_installed_and_what_is_declared_is_what_it_was_made_for():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (floor,) = (d for d in declared["dependencies"] if d.startswith("numba>="))
    first, last = quicker.MADE_FOR[numba]
    assert floor == f"numba>={first[0]}.{first[1]}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quicker.replacements.cache_clear()
        assert quicker.replacements() is quicker.REPLACEMENTS
    for version, inside in (
        ("0.62.9", False), ("0.63.0rc1", True), ("0.68.9", True), ("0.69.0dev0", False),
        ("1", False),
    ):  # fmt: skip
        package = SimpleNamespace(__version__=version)
        assert quicker._is_between(package, (0, 63), (0, 68)) is inside
