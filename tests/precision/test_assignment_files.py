"""Assignments in files: lines that moved, lines that read alike, and files of one name."""

import sys
from pathlib import Path

import numpy as np
import pytest

from sciprec import Assignment, InputError, lift
from sciprec.precision.assigning.matching import Matching
from sciprec.precision.assigning.origins import own_place

TEXTS = ("y = y * 1.1", "y = y + 0.2", "y = y - z * y", "z = y / 3.0")


def kernel_of(folder: Path, lines: list[str], name: str = "mine.py"):
    """The kernel of these lines, in a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    space: dict = {"__name__": "mine"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["kernel"]


def body(statements: list[str]) -> list[str]:
    return ["def kernel(x):", "    y = x", "    z = x", *(f"    {s}" for s in statements),
            "    return y + z"]  # fmt: skip


def formats_by_line(assignment, kernel) -> dict[int, str]:
    found = Matching(assignment, kernel)
    found.require_met()
    rows = zip(found.program.layout.rows, found.arithmetics, strict=True)
    return {own_place(found.program, row).line: a.format.name for row, a in rows}


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


@pytest.mark.parametrize("shift", range(4))
def test_one_of_two_lines_that_read_alike_is_the_same_one_in_a_shifted_file(tmp_path, shift):
    lines = body(["y = y * 1.1", "z = y * y", "y = y * 1.1"])
    kernel = kernel_of(tmp_path / "a", lines)
    made = Assignment({6: "bf16"}, kernel=kernel)
    loaded = Assignment.load(made.save(tmp_path / "a.toml"))
    moved = kernel_of(tmp_path / "b", [""] * shift + lines)
    first = lift(kernel, Assignment({4: "bf16"}))(1.7)
    assert lift(moved, loaded)(1.7) == lift(kernel, made)(1.7) != first


@pytest.mark.parametrize("now", [["y = y * 1.1"], ["y = y * 1.1"] * 3])
def test_lines_that_read_alike_and_became_more_or_fewer_are_refused(tmp_path, now):
    kernel = kernel_of(tmp_path / "a", body(["y = y * 1.1"] * 2))
    loaded = Assignment.load(Assignment({5: "bf16"}, kernel=kernel).save(tmp_path / "a.toml"))
    with pytest.raises(InputError, match="was number 2 of 2 that read so; .* cannot be told"):
        lift(kernel_of(tmp_path / "b", body(now)), loaded)


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
        found[folder] = lift(package.kernel, loaded)(1.3)
        assert found[folder] == lift(package.kernel, made)(1.3)
    exact = lift(package.kernel, "fp64")(1.3)
    assert found["one"] != found["two"] and exact not in found.values()
    with pytest.raises(InputError, match="several files of the kernel's, one/part.py, two/part.py"):
        lift(package.kernel, Assignment({"part.py:2": "bf16"}))


def test_a_number_alone_is_a_line_of_the_kernels_file(package):
    with pytest.raises(InputError, match="no operation in line 2; the nearest line with one is"):
        lift(package.kernel, Assignment({2: "bf16"}))
    with pytest.raises(InputError, match="no operation in line 2, `0.3"):
        lift(package.kernel, Assignment({"2: 0.3 * x": "bf16"}, unit="operation"))
    with pytest.raises(InputError, match="in a file 'three/part.py'"):
        lift(package.kernel, Assignment({"three/part.py:step": "bf16"}, unit="function"))
