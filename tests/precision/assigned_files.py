"""Kernels in files of their own, and the formats that an assignment gives to what they compute."""

from pathlib import Path

from sciprec.instruments.assigning.matching import Matching


def kernel_of(folder: Path, lines: list[str]):
    """The kernel of these lines, in a file `mine.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "mine.py"
    path.write_text("\n".join(lines) + "\n")
    space: dict = {"__name__": "mine"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["kernel"]


def formats_of_rows(assignment, kernel) -> list[str]:
    """Of all operations, in an order that shifted lines do not change."""
    found = Matching(assignment, kernel)
    found.require_met()
    return [arithmetic.format.name for arithmetic in found.arithmetics]
