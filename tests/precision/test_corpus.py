"""Every kernel of the corpus in several arithmetics: its bits are those of its own source on exact
scalars, and no number leaves it that the format does not hold.

Where a kernel rounds is seen without compiling it; a kernel of each kind is compiled, too.
"""

import numpy as np
import pytest

from sciprec.precision import LiftError, lift
from tests.oracles import exact
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import Uncompiled, without_keys
from tests.precision import foreign_kernels
from tests.precision.comparison import assert_same, numbers_of
from tests.precision.corpus import (
    Entry,
    arrays,
    complex_numbers,
    constructs,
    forms,
    library,
    loops,
    roles,
    sums,
    values,
)
from tests.precision.ways import ways
from tests.random_kernels.backends import resolved

CORPUS = {f"foreign.{k.__name__}": Entry(k, make) for k, make in foreign_kernels.EXAMPLES.items()}
for module in (arrays, complex_numbers, constructs, library, loops, roles, sums, values):
    stem = module.__name__.rpartition(".")[2]
    CORPUS |= {f"{stem}.{name}": entry for name, entry in module.KERNELS.items()}

NARROW = ("fp16", "mlu370", "bf16", "float:p=13,emin=-30,emax=30,round=ru", "mlu370-noguard")
WIDE = ("fp64", "float:p=40,round=rz", "float:p=53,emin=-1022,emax=1023,round=ru")
ROLES = (
    "roles: binary16, bfloat16, binary32 rz, tf32", "roles: binary32, binary16, binary32, binary16",
    "roles: binary64, binary32, binary64, binary32",
)  # fmt: skip
COMPILED = (
    "arrays.rows", "complex_numbers.operators", "complex_numbers.whole_arrays", "constructs.typed",
    "constructs.collected", "library.interpolated", "loops.several", "roles.tuples", "roles.sums",
    "sums.several", "values.promoted", "values.filled_like_narrow", "values.guarded",
)  # fmt: skip
"""A kernel of each kind, which Numba's types decide about, in the first of its arithmetics; further
ones are compiled in `test_whole_arrays`, `test_lift_invariance` and `test_fixed_twins`.
"""


def arithmetics(name: str) -> list[str]:
    """Arithmetics whose oracle knows all that a kernel does; the first has variables of binary32,
    the second is of another kind, each in turn.
    """
    number, traits = list(CORPUS).index(name), CORPUS[name].traits
    others = [*(ROLES[:2] if "elementary" in traits else (*WIDE, *ROLES))]
    if "one format" in traits:
        others = [spec for spec in (*WIDE, "tf32") if spec == "tf32" or "elementary" not in traits]
    at, to = number % len(NARROW), number % len(others)
    if name.startswith(("roles.", "sums.")) and len(others) > 3:
        to = 3 + number % 3
    first, *narrow = NARROW[at:] + NARROW[:at]
    return [first, *others[to:], *others[:to], *narrow]


FIRST = [
    (name, spec, n == 1 and number % 4 == 0)
    for number, name in enumerate(CORPUS)
    for n, spec in enumerate(arithmetics(name)[: 2 - number % 2])
]
"""The first arithmetic of each kernel, and of every other one the second, in which every other one
is given arguments that are in the format.
"""


def entered(value, storage):
    """An argument whose numbers are in the format already."""
    if isinstance(value, tuple):
        made = (entered(x, storage) for x in value)
        return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
    if isinstance(value, float):
        return exact.round_exact(value, storage)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        flat = value.astype(complex).ravel().view(float).tolist()
        rounded = np.array([exact.round_exact(x, storage) for x in flat]).view(complex)
        kept = rounded if value.dtype.kind == "c" else rounded.real
        return kept.reshape(value.shape).astype(value.dtype)
    return value


def floats_of(value) -> np.ndarray:
    """The numbers of a result that are no integers."""
    if isinstance(value, tuple):
        return np.concatenate([np.zeros(0), *map(floats_of, value)])
    return numbers_of(value if np.asarray(value).dtype.kind in "fc" else None)


def check(name: str, spec: str, lifted, trust: bool = False) -> None:
    """A kernel's results, and what it writes, in one arithmetic."""
    entry, backend = CORPUS[name], resolved(spec)
    makes = entry.make
    if trust:
        makes = lambda: tuple(entered(x, backend.storage) for x in entry.make())  # noqa: E731
    ours, theirs, before = makes(), makes(), makes()
    found = lifted(entry.kernel, backend, trust_inputs=trust)(*ours)
    places = [
        n for n, (x, old) in enumerate(zip(ours, before, strict=True))
        if isinstance(x, np.ndarray) and numbers_of(x).tobytes() != numbers_of(old).tobytes()
    ]  # fmt: skip
    written = [ours[n][ours[n] != before[n]] for n in places]
    left = floats_of((found, *written))
    held = [exact.round_exact(x, backend.storage) for x in left.tolist()]
    assert_same(left, held, f"what leaves {name} in {spec}")
    if "untwinned" in entry.traits:
        return
    with np.errstate(all="ignore"):
        expected = run_twin(entry.plain, backend, theirs)
    assert_same(found, expected, f"{name} in {spec}")
    for n in places:
        assert_same(ours[n], theirs[n], f"argument {n} of {name} in {spec}")
    assert places or numbers_of(found).size, f"{name} writes and returns nothing"


@pytest.mark.slow
@ways(
    ("name", "spec", "trust"), FIRST,
    compiled=[row for row in FIRST if row[0] in COMPILED and row[1] in NARROW],
)  # fmt: skip
def test_every_bit_is_that_of_exact_scalars(name, spec, trust, lifted):
    check(name, spec, lifted, trust)


@pytest.mark.survey
@pytest.mark.parametrize("name", CORPUS)
def test_every_bit_in_further_arithmetics(name):
    """With arguments that are in the format, and trusted, in one of two."""
    for n, spec in enumerate(arithmetics(name)[1:]):
        check(name, spec, Uncompiled, trust=n % 2 == 0)


OF_SUMS = "complex_numbers.matrices", "loops.several", "sums.fused"
"""In fixed point they form sums of products, which have places of their own."""


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "first"), [("fixed16", 0), ("float:p=8,round=sr", 1)])
def test_texts_with_places_or_random_bits_round_where_those_of_floats_do(spec, first):
    """Run without either, every other kernel; what fixed point refuses is left out."""
    backend, taken, rows = resolved(spec), 0, list(CORPUS.items())[first::2]
    for name, entry in rows:
        if "untwinned" in entry.traits or backend.fixed and name in OF_SUMS:
            continue
        ours, theirs = entry.make(), entry.make()
        try:
            floats, run = without_keys(entry.kernel, backend)
            found = run(*ours)
        except LiftError:
            continue
        with np.errstate(all="ignore"):
            expected = run_twin(entry.plain, floats, theirs)
        assert_same((found, ours), (expected, theirs), f"{name} in {spec}")
        taken += 1
    assert taken > 0.75 * len(rows)


@pytest.mark.parametrize("name", [n for n, e in CORPUS.items() if "NumPy" in e.traits])
def test_binary64_is_numpys(name):
    """In NumPy's order, but for the last bit of a root."""
    entry = CORPUS[name]
    found, expected = Uncompiled(entry.kernel)(*entry.make()), entry.kernel(*entry.make())
    np.testing.assert_allclose(numbers_of(found), numbers_of(expected), rtol=4e-16)


# ---- forms --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", forms.FORMS)
def test_every_form_has_the_bits_of_exact_scalars(kind, tmp_path):
    """In one of three arithmetics in turn; arguments are in the format (the oracle writes them)."""
    for number, form in enumerate(forms.FORMS[kind]()):
        kernel = getattr(forms.load(form, tmp_path), form.name)
        backend = resolved(("mlu370", "fp16", ROLES[0])[number % 3])
        ours, theirs = (entered(form.arguments(), backend.storage) for _ in range(2))
        found = Uncompiled(kernel, backend)(*ours)
        expected = run_twin(kernel, backend, theirs)
        assert_same((found, ours), (expected, theirs), f"{backend.name}\n{form.source}")


@pytest.mark.slow
def test_names_of_the_engine_may_be_a_kernels_own(tmp_path):
    """Where keys of random bits have names, too: as a kernel of usual names."""
    for form in forms.names()[::2]:
        module, results = forms.load(form, tmp_path), []
        for kernel in (getattr(module, form.name), getattr(module, f"plain_{form.name}")):
            arguments = form.arguments()
            results.append((Uncompiled(kernel, "float:p=11,round=sr")(*arguments), arguments))
        assert_same(*results, form.source)


@pytest.mark.slow
@pytest.mark.parametrize("kind", forms.FORMS)
def test_a_form_of_each_kind_is_compiled(kind, tmp_path):
    """Beside plain Python; names also in fixed point, where rows of a table have some."""
    form = forms.FORMS[kind]()[9]
    module = forms.load(form, tmp_path)
    kernel, results = getattr(module, form.name), []
    ways_of = [lambda *x: lift(kernel, "mlu370")(*x), lambda *x: Uncompiled(kernel, "mlu370")(*x)]
    if kind == "names":
        plain = getattr(module, f"plain_{form.name}")
        ways_of = [lambda *x, k=k: lift(k, "fixed32")(*x) for k in (kernel, plain)]
    for run in ways_of:
        arguments = form.arguments()
        results.append((run(*arguments), arguments))
    assert_same(*results, form.source)
