"""The verbs `sciprec bench ...`, a row each; the benchmarks themselves are in a checkout only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.written_files import written
from sciprec.errors import InputError
from sciprec.writing import targets

app = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True)
VERBS = {
    "precision": "Measure lifted kernels against native binary32 and against other emulators.",
    "fixed": "Measure integer matrix products against binary32 and binary64 ones: time and error.",
    "heston": "Measure Heston paths and the time to a price within 0.1 %, against other libraries.",
    "climate": "Measure spectral transforms against other libraries, and shallow-water steps.",
    "compensation": "Time updates with their residuals kept against those without.",
    "batch": "Measure batches with one and two runs at a time, and the planning of many runs.",
    "compare": "Time a comparison of two large arrays, beside what other tools do with them.",
    "trace": "Time kernels whose numbers carry their error, against lifted ones and plain Numba.",
    "monitor": "Time looks of a monitor at climate runs beside their steps.",
    "mixed": "Time mixtures of fp64 and fp32, and kernels and a model whose formats are by line.",
    "start": "Time first starts with an empty cache folder: models, a kernel, the quickstart.",
}


def _verb(name: str) -> Callable[..., None]:
    """The function behind `sciprec bench NAME`."""

    def bench(
        out: Annotated[
            Path | None,
            written(targets.BENCHMARK, "--out", "JSON file [default: reports/bench-NAME.json]."),
        ] = None,
        json: Annotated[
            bool, typer.Option("--json", help="Print JSON instead of a table.")
        ] = False,
    ) -> None:
        try:
            from sciprec import bench
        except ImportError:
            raise InputError(
                "benchmarks are no part of an installed sciprec; run this in a checkout of its "
                "source"
            ) from None
        bench.run(name, out=out or _usual_file(name), json=json)

    return bench


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


for _name, _sentence in VERBS.items():
    app.command(_name, help=_sentence)(_verb(_name))
