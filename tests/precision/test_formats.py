"""The table of formats against NumPy's and ml_dtypes' own; names, spec strings, messages."""

import itertools
import re
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.precision import FORMATS, Arithmetic, backends, resolve_backend
from sciprec.precision.formats.backend import table
from sciprec.precision.formats.float_format import ALIASES, parse_spec
from tests.oracles import exact

INDEPENDENT = {
    "binary64": np.finfo(np.float64),
    "binary32": np.finfo(np.float32),
    "binary16": np.finfo(np.float16),
    "bfloat16": ml_dtypes.finfo(ml_dtypes.bfloat16),
    "float8_e4m3fn": ml_dtypes.finfo(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": ml_dtypes.finfo(ml_dtypes.float8_e5m2),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_format_equals_its_independent_description(name):
    fmt, other = FORMATS[name], INDEPENDENT[name]
    assert fmt.significand_bits == other.nmant + 1
    assert fmt.max_finite == float(other.max)
    assert fmt.min_normal == float(other.smallest_normal)
    assert fmt.min_subnormal == float(other.smallest_subnormal) == fmt.min_positive
    assert fmt.emin == other.minexp
    assert fmt.unit_roundoff == float(other.eps) / 2


@pytest.mark.parametrize("name", FORMATS)
def test_ends_of_the_range_are_numbers_of_the_format(name):
    fmt = FORMATS[name]
    arithmetic = Arithmetic(fmt, "rz")
    for x in (fmt.max_finite, fmt.min_normal, fmt.min_positive):
        assert exact.round_exact(x, arithmetic) == x
    nearest = Arithmetic(fmt)
    assert exact.round_exact(fmt.min_positive / 4, nearest) == 0.0
    assert exact.round_exact(1 + fmt.unit_roundoff, nearest) == 1.0
    assert exact.round_exact(1 + 3 * fmt.unit_roundoff, nearest) > 1.0


@pytest.mark.parametrize("alias", ALIASES)
def test_standard_names_and_aliases_are_the_same_backend(alias):
    assert resolve_backend(alias) is resolve_backend(ALIASES[alias])
    assert resolve_backend(alias).compute.format is FORMATS[ALIASES[alias]]


def test_spec_string_of_every_key():
    spec = "float:p=11,emin=-14,emax=15,round=rz,subnormals=flush,overflow=saturate"
    fmt, rounding, _ = parse_spec(spec)
    assert (fmt.significand_bits, fmt.emin, fmt.emax) == (11, -14, 15)
    assert (fmt.subnormals, fmt.overflow, rounding) == (False, "saturate", "rz")
    backend = resolve_backend(spec)
    assert {role.rounding for role in backend.roles} == {"rz"}
    assert resolve_backend(backend.name) == backend


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("float:p=8", (8, -126, 127, True, "infinity", "rn")),
        ("float:p=8,emax=15", (8, -14, 15, True, "infinity", "rn")),
        ("float:p=8,emin=-14", (8, -14, 15, True, "infinity", "rn")),
        ("float: p = 8 , emax = 15 ", (8, -14, 15, True, "infinity", "rn")),
    ],
)
def test_defaults_of_a_spec_string(spec, expected):
    fmt, rounding, _ = parse_spec(spec)
    shape = (fmt.significand_bits, fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow, rounding)
    assert shape == expected


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("float:emax=15", ["'p' is missing, or 'e' and 'm'", "accepted keys: p, emin, emax, e"]),
        ("float:e=6", ["'m' is missing"]),
        ("float:m=5", ["'e' is missing"]),
        ("float:e=12,m=5", ["e=12 is outside 2 to 11"]),
        ("float:e=1,m=5", ["e=1 is outside 2 to 11"]),
        ("float:e=6,m=0", ["m=0 is outside 1 to 52"]),
        ("float:e=6,m=5,emax=31", ["'emax' is given beside 'e' or 'm'"]),
        ("float:e=11,m=20", ["reach too far"]),
        ("float:p=1", ["p=1 is outside 2 to 53"]),
        ("float:p=54", ["p=54 is outside 2 to 53"]),
        ("float:p=x", ["p='x' is not a whole number"]),
        ("float:p=8,p=9", ["'p' is given twice"]),
        ("float:p=8,exp=3", ["'exp=3' is not key=value with a known key"]),
        ("float:p=8,overlow=infinity", ["did you mean 'overflow'?"]),
        ("float:p=8,round=up", ["round='up' is not one of rn, rz, ru, rd, ro, sr, random, rr, pb"]),
        ("float:p=8,subnormals=no", ["subnormals='no' is not one of keep, flush"]),
        ("float:p=8,overflow=nan", ["overflow='nan' is not one of infinity, saturate"]),
        ("float:p=8,emin=5,emax=5", ["emin=5 is not below emax=5"]),
        ("float:p=8,emin=-900,emax=900", ["reach too far", "emin - p + 1 >= -450"]),
        ("float:p=53,emin=-1022,emax=1023,round=ro", ["round=ro needs exponents within emin - p"]),
        ("float:p=53,emin=-1022,emax=1023,round=sr,subnormals=flush", [
            "round=sr with binary64's exponents is offered where subnormals are kept and overflow "
            "is infinity"]),
        ("float:p=24,round=mca", ["round=mca is offered for binary64 and binary32: write "
                                  "'fp64,round=mca' or 'fp32,round=mca'"]),
    ],
)
def test_malformed_spec_says_what_is_wrong_and_what_is_accepted(spec, words):
    with pytest.raises(InputError) as error:
        resolve_backend(spec)
    for part in [f"malformed number format '{spec}'", *words]:
        assert part in str(error.value)


def test_unknown_backend_names_the_known_ones_and_the_nearest():
    with pytest.raises(InputError) as error:
        resolve_backend("bf61")
    message = str(error.value)
    assert message.startswith("unknown backend 'bf61'; known: fp64, fp32")
    assert "mlu370" in message and "did you mean 'bf16'?" in message


def test_backend_of_another_type_is_refused():
    with pytest.raises(InputError, match="backend is 16; give a name such as 'mlu370'"):
        resolve_backend(16)


def test_backends_resolve_to_themselves_and_fill_the_table():
    rows = {row["name"]: row for row in table()}
    assert list(rows) == list(backends())
    for name, backend in backends().items():
        assert resolve_backend(name) is backend
        assert resolve_backend(backend) is backend
        assert rows[name]["significand_bits"] == backend.compute.format.significand_bits
        assert rows[name]["about"]
    assert rows["mlu370"]["subnormals"] == "flushed"
    assert rows["mlu370"]["rounding"] == "toward zero"


@pytest.mark.parametrize("backend", backends().values(), ids=lambda b: b.name)
def test_carrier_holds_every_number_of_the_backend(backend):
    for role in backend.roles:
        fmt = role.format
        numbers = (1 + 2.0 ** (1 - fmt.significand_bits),)
        if not role.fixed:  # else a unit of the number's place takes part
            numbers += fmt.max_finite, fmt.min_positive
        for x in numbers:
            assert float(backend.carrier.type(x)) == x


@pytest.mark.parametrize("name", ["fixed32,round=sr", "fixed16,round=rz"])
def test_a_rounding_of_a_backend_that_has_its_own_is_refused(name):
    with pytest.raises(InputError, match=f"'{name}' names a rounding of .*'fixed:bits=32,round"):
        resolve_backend(name)
    assert resolve_backend("fixed16,round=rn").name == "fixed16"


OF_BITS = {(5, 10): np.float16, (5, 2): ml_dtypes.float8_e5m2, (8, 7): ml_dtypes.bfloat16,
           (4, 3): ml_dtypes.float8_e4m3, (3, 4): ml_dtypes.float8_e3m4}  # fmt: skip
OF_OCP = {"e4m3": ml_dtypes.float8_e4m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
          "e2m3": ml_dtypes.float6_e2m3fn, "e2m1": ml_dtypes.float4_e2m1fn}  # fmt: skip


def every_number(dtype):
    """All finite numbers of a type of at most 16 bits, and the middles between them."""
    size = np.dtype(dtype).itemsize
    numbers = np.arange(2 ** (8 * size)).astype(f"u{size}")
    if size == 1:
        numbers = numbers[: 2 ** ml_dtypes.finfo(dtype).bits]
    with np.errstate(invalid="ignore"):  # signalling NaN
        held = numbers.view(dtype).astype(float)
    held = np.unique(held[np.isfinite(held)])
    return np.concatenate([held, (held[1:] + held[:-1]) / 2])


@pytest.mark.parametrize(("bits", "dtype"), OF_BITS.items())
def test_formats_by_their_bits_hold_the_numbers_of_other_libraries(bits, dtype):
    numbers = every_number(dtype)
    beyond = np.append(numbers, 2 * numbers.max())
    found = sciprec.quantize(beyond, "float:e={},m={}".format(*bits))
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(found, beyond.astype(dtype).astype(float))


@pytest.mark.parametrize(("name", "dtype"), OF_OCP.items())
def test_bare_names_of_ocp_are_refused_with_a_spelling_that_holds_its_numbers(name, dtype):
    with pytest.raises(InputError) as refused:
        resolve_backend(name)
    with pytest.raises(InputError):
        resolve_backend(f"{name},round=rz")
    ocp, ieee = re.findall("is '([^']+)'", str(refused.value))
    numbers = every_number(dtype)
    np.testing.assert_array_equal(
        sciprec.quantize(numbers, ocp), numbers.astype(dtype).astype(float)
    )
    assert ieee == f"float:e={name[1]},m={name[3]}"
    assert resolve_backend(ieee).compute.format.max_finite != every_number(dtype).max()


@pytest.mark.parametrize("more", ["", ",round=rz", ",subnormals=flush,overflow=saturate"])
def test_formats_by_their_bits_are_shown_as_given_and_are_those_by_their_range(more):
    for e, m in itertools.product(range(2, 12), range(1, 53)):
        if e > 9 and (e, m) != (11, 52) or e == 11 and more:
            continue
        backend = resolve_backend(f"float:e={e},m={m}{more}")
        emax = 2 ** (e - 1) - 1
        other = resolve_backend(f"float:p={m + 1},emin={1 - emax},emax={emax}{more}")
        assert backend.name == f"float:e={e},m={m}{more}"
        assert resolve_backend(backend.name) == backend
        assert replace(backend.compute.format, name="") == replace(other.compute.format, name="")
        if (e, m) != (5, 2) and f"e{e}m{m}" not in OF_OCP:
            assert resolve_backend(f"e{e}m{m}{more}") == backend
