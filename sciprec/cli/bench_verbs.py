"""The verbs `sciprec bench ...`, a row each; the benchmarks themselves are in a checkout only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from sciprec.errors import InputError

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
        out: Annotated[Path | None, typer.Option(help="JSON file to write.")] = None,
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
        bench.run(name, out=out or Path("reports") / f"bench-{name}.json", json=json)

    return bench


for _name, _sentence in VERBS.items():
    app.command(_name, help=_sentence)(_verb(_name))
