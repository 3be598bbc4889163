"""Assignments in files: lines that moved, lines that read alike, and files of one name."""

import re
import sys

import numpy as np
import pytest

from sciprec import Assignment, InputError, lift
from sciprec.instruments.assigning.matching import Matching, program_of
from sciprec.instruments.assigning.origins import own_place
from tests.precision.assigned_files import formats_of_rows, kernel_of

TEXTS = ("y = y * 1.1", "y = y + 0.2", "y = y - z * y", "z = y / 3.0")


def body(statements: list[str]) -> list[str]:
    return ["def kernel(x):", "    y = x", "    z = x", *(f"    {s}" for s in statements),
            "    return y + z"]  # fmt: skip


def formats_by_line(assignment, kernel) -> dict[int, str]:
    program = program_of(kernel)
    lines = [own_place(program, row).line for row in program.layout.rows]
    return dict(zip(lines, formats_of_rows(assignment, kernel), strict=True))


@pytest.mark.slow
def test_random_files_with_lines_that_read_alike_are_found_again(tmp_path):
    rng = np.random.default_rng(20)
    for trial in range(60):
        lines = body([str(t) for t in rng.choice(TEXTS, rng.integers(2, 7))])
        kernel = kernel_of(tmp_path / f"a{trial}", lines)
        numbers = range(4, len(lines))
        some = rng.permutation(numbers)[: rng.integers(1, len(numbers) + 1)]
        formats = {int(n): str(rng.choice(["bf16", "fp16", "fp32"])) for n in some}
        made = Assignment(formats, kernel=kernel)
        loaded = Assignment.load(made.save(tmp_path / "a.toml"))
        before = formats_by_line(made, kernel)
        moved, now = [], {}
        for number, line in enumerate(lines, 1):
            moved += [""] * int(rng.choice([0, 0, 1, 2, 3]))
            moved.append(line)
            now[number] = len(moved)
        again = kernel_of(tmp_path / f"b{trial}", moved)
        right = {now[line]: fmt for line, fmt in before.items()}
        assert formats_by_line(loaded, again) == right, (lines, moved, formats)


@pytest.mark.parametrize("now", [["y = y * 1.1"], ["y = y * 1.1"] * 3])
def test_lines_that_read_alike_and_became_more_or_fewer_are_refused(tmp_path, now):
    kernel = kernel_of(tmp_path / "a", body(["y = y * 1.1"] * 2))
    loaded = Assignment.load(Assignment({5: "bf16"}, kernel=kernel).save(tmp_path / "a.toml"))
    with pytest.raises(InputError, match="was number 2 of 2 that read so; .* cannot be told"):
        lift(kernel_of(tmp_path / "b", body(now)), loaded)


CHAINS = """
def inner(x):
    return 0.3 * x


def middle(x):
    y = inner(x)
    y += inner(x + 0.1)
    return y


def kernel(x):
    z = middle(x)
    z += middle(z)
    return z + inner(z)
""".strip().splitlines()


def test_chains_of_calls_are_found_again_in_shifted_files(tmp_path):
    """By the text of every line of theirs, in whatever functions lines were put in."""
    rng = np.random.default_rng(21)
    kernel = kernel_of(tmp_path / "a", CHAINS)
    every = {str(p.key("mine.py")) for p in Matching(Assignment({}, by="call"), kernel).every}
    inner = sorted(key for key in every if key.endswith("inner"))
    assert len(inner) == 5 and len(every) == 8
    for trial in range(30):
        some = rng.choice(inner, rng.integers(1, 6), replace=False)
        formats = {str(key): str(rng.choice(["bf16", "fp16", "fp32"])) for key in some}
        made = Assignment(formats, by="call", kernel=kernel)
        loaded = Assignment.load(made.save(tmp_path / "a.toml"))
        assert loaded == made and dict(loaded) == formats
        moved = [line for each in CHAINS for line in ("",) * int(rng.integers(3)) + (each,)]
        again = kernel_of(tmp_path / f"b{trial}", moved)
        assert formats_of_rows(loaded, again) == formats_of_rows(made, kernel), (formats, moved)


@pytest.mark.parametrize(("line", "now"), [(6, "y += inner(x + 0.2)"), (11, "z = middle(x + x)")])
def test_a_chain_with_a_line_that_was_edited_is_refused_with_its_place(tmp_path, line, now):
    made = Assignment({"line 12 > line 7 > inner": "bf16"}, by="call",
                      kernel=kernel_of(tmp_path / "a", CHAINS))  # fmt: skip
    loaded = Assignment.load(made.save(tmp_path / "a.toml"))
    edited = [*CHAINS]
    edited[line] = f"    {now}"
    with pytest.raises(InputError, match=rf"line {line + 1} of .* reads `{re.escape(now)}` now"):
        lift(kernel_of(tmp_path / "b", edited), loaded)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A kernel that calls functions of one name and line in two files of one name."""
    for folder, text in (("one", "0.3 * x"), ("two", "x + 0.71")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
        (tmp_path / folder / "part.py").write_text(f"def step(x):\n    return {text}\n")
    (tmp_path / "whole_of_parts.py").write_text(
        "from one import part as a\nfrom two import part as b\n\n\n"
        "def kernel(x):\n    return a.step(x) * b.step(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import whole_of_parts

    yield whole_of_parts
    for name in ("whole_of_parts", "one", "two", "one.part", "two.part"):
        sys.modules.pop(name, None)


def test_files_of_one_name_are_told_apart(package, tmp_path):
    found = {}
    for folder in ("one", "two"):
        made = Assignment({f"{folder}/part.py:2": "bf16"}, kernel=package.kernel)
        loaded = Assignment.load(made.save(tmp_path / "a.toml"))
        found[folder] = formats_of_rows(loaded, package.kernel)
        assert found[folder] == formats_of_rows(made, package.kernel)
        assert found[folder].count("bfloat16") == 1
    assert found["one"] != found["two"]
    with pytest.raises(InputError, match="several files of the kernel's, one/part.py, two/part.py"):
        lift(package.kernel, Assignment({"part.py:2": "bf16"}))


def two_variables(name: str = "by hand") -> Assignment:
    return Assignment({"t": "bf16", "u": "fp16"}, by="variable", name=name)


@pytest.mark.parametrize("name", ["mixed \U0001f600", "Ä\"'\\", "x" * 100])
def test_whatever_save_takes_load_reads(tmp_path, name):
    path = two_variables(name).save(tmp_path / "a.toml")
    assert Assignment.load(path) == two_variables() and Assignment.load(path).name == name


@pytest.mark.parametrize("name", [3, None, "", "x" * 101, "a\nb", "\ud800", "\x7f"])
def test_names_that_no_file_can_have_are_refused(name):
    for make in (two_variables, two_variables().named):
        with pytest.raises(InputError, match="the name of an assignment .* 100 printable"):
            make(name)


def test_a_place_that_is_named_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match="line 5 is named twice, as 5 and as '5'"):
        Assignment({5: "bf16", "5": "bf16"})
    kernel = kernel_of(tmp_path / "a", body(["y = y * 1.1"]))
    with pytest.raises(InputError, match="named twice, as 4 and as 'mine.py:4'"):
        Assignment({4: "bf16", "mine.py:4": "bf16"}, kernel=kernel)


def test_no_file_elsewhere_is_read_by_what_stands_for_a_digest(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "assignments").mkdir(parents=True)
    (tmp_path / "mine.toml").write_text("schema = 1")
    with pytest.raises(InputError, match="is not known here"):
        Assignment.called("assignment:mine@../../mine")
    assert (tmp_path / "mine.toml").exists()


def test_the_older_name_of_by_is_taken_with_a_warning_and_in_files_for_ever(tmp_path):
    """Its digest, by which kept results are found, is that of version 0.1."""
    made = two_variables()
    assert made.digest == "28b95afeb651"
    with pytest.warns(FutureWarning, match="'unit' is called 'by' everywhere now"):
        assert Assignment(dict(made), unit="variable") == made
    with pytest.warns(FutureWarning, match="'unit' is called 'by' everywhere now"):
        assert made.unit == made.by == "variable"
    path = made.save(tmp_path / "mix.toml")
    text = path.read_text(encoding="utf-8")
    assert 'by = "variable"' in text
    path.write_text(text.replace("by =", "unit ="), encoding="utf-8")
    assert Assignment.load(path) == made
    path.write_text(text.replace("by =", 'unit = "line"\nby ='), encoding="utf-8")
    with pytest.raises(InputError, match="unknown key 'unit'"):
        Assignment.load(path)


def test_chains_of_no_kernel_are_not_saved_but_read(tmp_path):
    kernel, chain = kernel_of(tmp_path / "a", CHAINS), "line 12 > line 7 > inner"
    by_number = Assignment({chain: "bf16"}, by="call")
    with pytest.raises(InputError, match="make it for a kernel"):
        by_number.save(tmp_path / "a.toml")
    path = tmp_path / "by_hand.toml"
    head = f'schema = 1\nby = "call"\n[[format]]\nformat = "bf16"\ntext = "{chain}"\n'
    path.write_text(head)
    noted = Assignment({chain: "bf16"}, by="call", kernel=kernel)
    assert formats_of_rows(Assignment.load(path), kernel) == formats_of_rows(noted, kernel)
    call = '{ function = "middle", file = "mine.py", line = 7, source = "y += inner(x + 0.1)" }'
    for calls, said in (
        ("3", "accepted: a list of tables"), ("[3]", "accepted: a list of tables"),
        (f"[{call}]", "has 1 lines and text, 'line 12 > line 7 > inner', 2; give all of them"),
        (f"[{call.replace('line', 'lime')}, {call}]", "did you mean 'line'"),
        (f"[{call.replace(', line = 7', '')}, {call}]", "'line' is missing in calls"),
        (f"[{call.replace('7', '-7')}, {call}]", "line is -7; accepted: a whole"),
    ):  # fmt: skip
        path.write_text(f"{head}calls = {calls}\n")
        with pytest.raises(InputError) as raised:
            Assignment.load(path)
        assert said in str(raised.value) and "\n" not in str(raised.value)
