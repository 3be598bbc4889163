"""The command `python -m benchmarks NAME`: speed, measured on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import BENCHMARKS, run
from sciprec.foundation.errors import InputError, printable


def main(arguments: list[str] | None = None) -> int:
    """Run a benchmark; 0 where it was measured, 2 where something given is wrong."""
    known = "\n".join(f"  {name:13s} {what}" for name, what in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description="Measure speed on this machine:\n\n" + known,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("name", help="one of these")
    parser.add_argument("--out", type=Path, help="JSON file [default: reports/bench-NAME.json]")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    given = parser.parse_args(arguments)
    try:
        run(given.name, out=given.out or _usual_file(given.name), json=given.json)
    except InputError as error:
        print(f"benchmarks: {printable(str(error))}", file=sys.stderr)
        return 2
    return 0


def _usual_file(name: str) -> Path:
    """The file of a benchmark whose user names none."""
    folder = Path("reports")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder '{folder}' cannot be made ({error.strerror}); give a file with --out"
        ) from None
    return folder / f"bench-{name}.json"


if __name__ == "__main__":
    raise SystemExit(main())
