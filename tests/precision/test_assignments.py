"""Assignments: formats by place, in both forms, against the exact oracle and in files."""

import itertools
import math
import pickle

import numpy as np
import pytest

import sciprec
from sciprec import Assignment, InputError, lift
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.matching import Matching, program_of
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.places import CallLine
from sciprec.instruments.assigning.rows import ANY, NEAREST, VERSION, layout_of
from sciprec.precision import resolve_backend
from tests.oracles.by_line import run_by_line
from tests.precision.assigned_files import formats_of_rows, kernel_of
from tests.precision.comparison import assert_same
from tests.precision.processes import started
from tests.random_kernels.assigned import assigned_trials, whole_trials
from tests.random_kernels.generator import random_case
from tests.random_kernels.runner import run_trials

FORMATS = (
    "fp64", "fp32", "tf32", "fp16", "bf16", "e5m2", "e4m3fn", "mlu370", "float:p=13,round=rz",
)  # fmt: skip
ELEMENTARY = [f for f in FORMATS if f != "fp64"]


def inner(a, b):
    c = a * b
    return c - a


def product(a, b):
    return a * b


def arithmetic(x, y, out):
    total = 0.0
    for i in range(x.size):
        t = 0.1 * x[i] + y[i] / 3
        u = math.sqrt(abs(t)) % 0.7 - sciprec.fma(x[i], y[i], t) ** 3
        out[i] = inner(u, t) + max(x[i], y[i]) + (i + 9007199254740993) * -t
        total += out[i]
    return total + np.sum(x) + np.dot(x, y), min(x[0], 3), float(7) / y[1], np.floor(y[2])


def functions(x, y):
    return math.exp(x) + math.log(abs(y)), math.sin(x * y), abs(x) ** y - math.atan2(x, y)


def weighted(x, first, width):
    total = 0.0
    for k in range(first, first + width):
        total += x[k] * 0.1
    return total


def nested(x, width):
    total = 0.0
    for i in range((x.size - 1) // width):
        total = total * 0.3 + weighted(x, i * width, width)
    return total


def numbers(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=count) * 10.0 ** rng.integers(-7, 5, count)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 65519.9, 448.1, 1e-7, 3.5e38, 1e-45, 1e300]
    values[rng.integers(count, size=count // 4)] = rng.choice(special, count // 4)
    return values


def given(kernel, seed: int) -> tuple:
    if kernel is functions:
        return tuple(map(float, np.random.default_rng(seed).normal(size=2)))
    return numbers(24, seed), numbers(24, seed + 1), np.zeros(24)


def lines_of(kernel) -> list[tuple[str, int]]:
    program = program_of(kernel)
    places = [own_place(program, row) for row in program.layout.rows]
    return sorted({(place.file, place.line) for place in places})


def by_lines(kernel, names) -> tuple[Assignment, dict]:
    """Its lines in some formats, one after another."""
    drawn = dict(zip(lines_of(kernel), itertools.cycle(names), strict=False))
    keys = {f"{file}:{line}": fmt for (file, line), fmt in drawn.items()}
    return Assignment(keys, default=names[-1]), drawn


def exact(kernel, drawn, args):
    known = {name: resolve_backend(name).compute for name in drawn.values()}
    return run_by_line(kernel, lambda *place: known[drawn[place]], args)


@pytest.mark.parametrize(
    ("kernel", "formats"),
    [pytest.param(arithmetic, FORMATS, marks=pytest.mark.slow), (functions, ELEMENTARY)],
)
def test_pairs_of_formats_are_the_oracles(kernel, formats):
    """Every eighth pair, each format in both places."""
    forms = {layout: Configured(kernel, layout) for layout in (NEAREST, ANY)}
    for seed, places in enumerate(itertools.product(range(len(formats)), repeat=2)):
        if sum(places) % 8:
            continue
        names = [formats[n] for n in places]
        assignment, drawn = by_lines(kernel, names)
        expected = given(kernel, seed)
        right = exact(kernel, drawn, expected)
        rows = Matching(assignment, kernel).arithmetics
        for layout in dict.fromkeys((layout_of(assignment.arithmetics), ANY)):
            args = given(kernel, seed)
            configured = forms[layout]
            found = configured(configured.table(rows), *args)
            assert_same(found, right, str((names, layout)))
            assert_same(args, expected, str((names, layout)))


def test_the_specialised_form_has_the_same_bits():
    assignment, drawn = by_lines(arithmetic, ("mlu370", "fp32", "e4m3fn"))
    lifted = lift(arithmetic, assignment)
    for seed in range(8):
        args, expected = given(arithmetic, seed), given(arithmetic, seed)
        right = exact(arithmetic, drawn, expected)
        assert_same(lifted(*args), right)
        assert_same(args, expected)


def test_complex_numbers_have_the_format_of_their_line():
    z, w = 1.25 - 0.375j, 0.5 + 3j
    assert lift(inner, Assignment({}, default="bf16"))(z, w) == lift(inner, "bf16")(z, w)
    line = inner.__code__.co_firstlineno + 1
    mixed = lift(inner, Assignment({line: "e5m2"}))(z, w)
    assert mixed == lift(product, "e5m2")(z, w) - z


@pytest.mark.parametrize("layout", [NEAREST, ANY])
def test_a_run_takes_the_version_of_a_function_in_one_format(layout):
    """Whatever the other functions are in: the bits are those of rows, and the rows say so."""
    names = ("fp64", "fp32", "bf16") if layout == NEAREST else ("fp64", "mlu370", "fp16")
    known = [resolve_backend(name).compute for name in names]
    made = Configured(nested, layout, formats=known, after=0.0)
    program, versions, chosen = made.program, made._versions, set()
    own = [own_place(program, row).function for row in program.layout.rows]
    for outer, nearer in itertools.product(range(3), repeat=2):
        formats = {"nested": known[outer], "weighted": known[nearer]}
        rows = [formats[f] if c else known[0] for f, c in zip(own, versions.counted, strict=True)]
        table = made.table(rows)
        read = table.copy()
        read.view(np.int64)[:, VERSION] = 0
        args = numbers(24, 3)
        assert_same(made(table, args, 3), made(read, args, 3), str((outer, nearer)))
        chosen.add(tuple(table.view(np.int64)[:, VERSION][versions.spans[:, 0]]))
    assert chosen == {(o if o == n else 0, n) for o in (1, 2, 3) for n in (1, 2, 3)}


def test_a_kernel_that_is_called_for_long_gets_versions():
    """Its rows stay where they are, tables from before are taken, and bits are as before."""
    known = [resolve_backend(name).compute for name in ("fp64", "fp32", "bf16")]
    made = Configured(nested, NEAREST, formats=known, after=1e-9)
    rows, args = made.program.layout.rows, numbers(24, 3)
    tables = [made.table([each] * len(rows)) for each in known]
    before = [made(table, args, 3) for table in tables]
    again = [made.table([each] * len(rows)) for each in known]
    chosen = [set(table.view(np.int64)[:-1, VERSION]) for table in (*tables, *again)]
    assert chosen == [{0}, {0}, {0}, {1, 0}, {2, 0}, {3, 0}]
    for table, other, result in zip(tables, again, before, strict=True):
        assert_same((made(table, args, 3), made(other, args, 3)), (result, result))
    assert made.program.layout.rows == rows


@pytest.mark.slow
def test_random_kernels_in_formats_by_line_and_in_one_for_everything():
    """Seed 14 returns a literal, 27 has objects; more by `tests.random_kernels.survey`."""
    trials = [*assigned_trials(random_case(27), 1), *whole_trials(random_case(14))]
    assert len(trials) == 2
    wrong = [(t.text(), o) for t, o in run_trials(trials, per_process=20) if o.kind != "same"]
    assert not wrong, wrong[0]


# ---- places, and files --------------------------------------------------------------------------


SOURCE = """
def helper(a, b):
    c = a * b
    return c + a


def kernel(x, out):
    s = 0.0
    for i in range(x.size):
        t = 0.1 * x[i] + x[i] ** 3
        out[i] = helper(x[i], t)
        s += t
    return s + x.sum()
"""


@pytest.fixture
def kernel_in(tmp_path):
    """A maker of the kernel from its source, in a file that can be changed."""
    count = itertools.count()
    return lambda source=SOURCE: kernel_of(tmp_path / f"v{next(count)}", source.split("\n"))


def test_units_name_the_same_operations(kernel_in):
    kernel = kernel_in()
    narrow, *others = (
        formats_of_rows(Assignment(dict.fromkeys(places, "bf16"), by=by), kernel)
        for by, places in (
            ("line", [10, 12]), ("variable", ["t", "kernel.s"]),
            ("operation", ["10:12: 0.1 * x[i]", "10: x[i] ** 3", "10: 0.1 * x[i] + x[i] ** 3",
                           "12: s += t"]),
            ("function", ["helper"]), ("line", [3, 4]), ("call", ["line 11 > helper"]),
        )
    )  # fmt: skip
    assert narrow == others[0] == others[1] != others[2] == others[3] == others[4]
    assert {narrow.count("bfloat16"), others[2].count("bfloat16")} == {4, 2}


def test_a_file_gives_the_assignment_back_and_finds_moved_lines(kernel_in, tmp_path):
    kernel = kernel_in()
    made = Assignment({10: "bf16", 4: "fp16"}, kernel=kernel, name="two")
    path = made.save(tmp_path / "two.toml")
    assert Assignment.load(path) == made and dict(Assignment.load(path)) == dict(made)
    assert made[10] == "bf16" and set(made) == {10, 4} and "t = 0.1 * x[i]" in str(made)
    expected, given = np.zeros(9), (np.linspace(0.1, 1.0, 9), np.zeros(9))
    result = lift(kernel, made)(given[0], expected)
    assert lift(kernel, f"assignment:{path}")(*given) == result
    np.testing.assert_array_equal(given[1], expected)
    moved = kernel_in("# one\n# two\n" + SOURCE.replace("    s = 0.0", "    # three\n    s = 0.0"))
    assert formats_of_rows(Assignment.load(path), moved) == formats_of_rows(made, kernel)
    edited = kernel_in(SOURCE.replace("0.1 * x[i]", "0.2 * x[i]"))
    with pytest.raises(InputError, match=r"line 10 of 'kernel' \(.*mine.py\) reads `t = 0.2 \*"):
        lift(edited, Assignment.load(path))


def test_another_process_finds_an_assignment_by_its_name(kernel_in, tmp_path):
    made = Assignment({10: "bf16"}, name="by name")
    name = made.as_backend().name
    assert resolve_backend(name) == made.as_backend()
    code = f"import sciprec\nprint(dict(sciprec.Assignment.called({name!r})))"
    assert started(code) == "{10: 'bf16'}\n"
    lifted = lift(inner, Assignment({}, default="bf16"))
    assert pickle.loads(pickle.dumps(lifted))(1.23, 4.56) == lifted(1.23, 4.56) != inner(1.23, 4.56)


def test_an_older_pickle_has_the_line_of_a_call_under_its_older_name():
    line = CallLine("outer", "mine.py", 7, "inner(x)")
    older = pickle.dumps(line, 0).replace(b"\nCallLine\n", b"\nCall\n")
    assert b"CallLine" not in older and pickle.loads(older) == line


REFUSED = [
    ({99: "bf16"}, "line", "no operation in line 99; the nearest line with one is 13"),
    ({9: "bf16"}, "line", "the nearest line with one is 10"),
    ({"x": "bf16"}, "line", "accepted: its number"),
    ({10: "fixed16"}, "line", "no single floating-point arithmetic"),
    ({10: "mlu370-noise"}, "line", "no single floating-point arithmetic"),
    ({10: "float:p=9,round=sr"}, "line", "rounds by random bits"),
    ({10: "mlu370-noguard"}, "line", "aligns the operands"),
    ({10: "float:p=53,round=rz"}, "line", "53 bits"),
    ({10: "bf17"}, "line", "did you mean 'bf16'"),
    ({"helpr": "bf16"}, "function", "did you mean 'helper'"),
    ({"kernel.tt": "bf16"}, "variable", "it has kernel.t"),
    ({"10: 0.1*x": "bf16"}, "operation", "no operation in line 10, `0.1"),
    ({10: "bf16"}, "operation", "as in '12: a"),
    ({"line 9 > helper": "bf16"}, "call", "did you mean 'line 11 > helper'"),
    ({"x": "bf16"}, "lines", "accepted: line, operation"),
    ({"t": "bf16", "kernel.t": "fp16"}, "variable", "give it one format"),
]


@pytest.mark.parametrize(("formats", "by", "said"), REFUSED)
def test_what_cannot_be_assigned_is_refused(kernel_in, formats, by, said):
    with pytest.raises(InputError) as raised:
        lift(kernel_in(), Assignment(formats, by=by))
    assert said in str(raised.value) and "\n" not in str(raised.value)


FILES = [
    ("", "schema is None"), ("schema = 1", "by is None"), ("schema = 2", "reads schema 1"),
    ('schema = 1\nunit = "line"\nx = 1', "unknown key 'x'"), ("schema = [", "is no TOML file"),
    ('schema = 1\nby = "line"\n[[format]]\nline = 3', "format is None"),
    ('schema = 1\nby = "line"\n[[format]]\nformat = "bf16"', "the key 'line' is missing"),
    ('schema = 1\nby = "line"\n[[format]]\nformat = "bf16"\nline = "3"', "line is '3'"),
    ('schema = 1\nby = "line"\n[[format]]\nformat = "bf17"\nline = 3', "did you mean 'bf16'"),
    ('schema = 1\nby = "line"\nformat = 3', "write [[format]] before each"),
    ('schema = 1\nby = "line"\n' + 2 * '[[format]]\nformat = "bf16"\nline = 3\n', "twice"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), FILES)
def test_files_that_cannot_be_used_are_refused(tmp_path, text, said):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        resolve_backend(f"assignment:{path}")
    assert said in str(raised.value) and str(path) in str(raised.value)


def test_lines_of_no_kernel_are_not_saved_and_lost_names_are_told(tmp_path):
    with pytest.raises(InputError, match="make it for a kernel"):
        Assignment({10: "bf16"}).save(tmp_path / "x.toml")
    with pytest.raises(InputError, match="is not known here"):
        resolve_backend("assignment:lost@0123456789ab")
    with pytest.raises(InputError, match="cannot be read"):
        resolve_backend("assignment:nowhere.toml")
