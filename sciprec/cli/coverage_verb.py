"""The verb `sciprec dev coverage`: how often the stated bound of a price covers the truth."""

from __future__ import annotations

import json as json_format
import os
import shlex
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_json, say
from sciprec.cli.options import BackendsOption, Json, Quiet, share_option
from sciprec.cli.progress import Waiting
from sciprec.cli.settings import Settings, as_words, interruptible
from sciprec.foundation.errors import InputError, why_no_file
from sciprec.foundation.shipped import PRICES, shipped

REFERENCES = "europeans.json"
SMALL_CASES = ("lewis_K100", "broadie_kaya_2", "andersen_3_r5_K100")
SEEDS, SMALL_SEEDS = 400, 40
DRAW = 2026


def coverage(
    seeds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Number of seeds of each row; more seeds tell more and take longer "
            f"[default: {SEEDS}, {SMALL_SEEDS} with --small].",
        ),
    ] = None,
    backend: BackendsOption = None,
    case: list[str] | None = None,
    small: bool = False,
    random: Annotated[int | None, typer.Option(min=2)] = None,
    draw: Annotated[int, typer.Option(min=0)] = DRAW,
    tolerance: str = "2%",
    confidence: Annotated[
        float,
        share_option(least=0.5, most=0.999),
    ] = 0.95,
    references: Path | None = None,
    out: Path = Path("reports/coverage"),
    threads: Annotated[int | None, typer.Option(min=1)] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Count how often the bound of a price covers the truth; exit with 1 where it fails.

    Minutes long; `--small` takes seconds. `--random` prices models drawn at random, once each.

    Args:
        case: Name of a case in the file of reference prices; repeat it for several.
        small: Price three cases with few seeds, in seconds.
        random: Number of prices of each set of random models, in place of the cases; more prices
            tell more and take longer.
        draw: Seed of the random models; another one draws other models.
        tolerance: Largest bound, as a share of the price; a larger one is reached sooner.
        references: File of reference prices (JSON) [default: the shipped one].
        out: Folder for the page.
        threads: Number of threads; more are usually faster and change no result [default: all
            cores].
        confidence: Probability with which the bound holds; a larger one gives a wider bound.
    """
    from sciprec.foundation.course import tell
    from sciprec.foundation.origin import provenance
    from sciprec.foundation.targets import COVERAGE
    from sciprec.heston.bounds.bound_coverage import BACKENDS
    from sciprec.precision import resolve_backend
    from sciprec.report.coverage_page import RESULTS, store_coverage, write_coverage_page
    from sciprec.results.output.folders import alone_in, require_own, require_own_page
    from sciprec.scenario.asked_price import share_of
    from sciprec.workbench.batch.workflow import prepare_folder

    share = share_of(tolerance)
    if random is None:
        count = _of_cases(tuple(case or ()), small, seeds, references)
    elif case or small or seeds is not None:
        raise InputError(
            "--random was given with --case, --small or --seeds; accepted: --random with --draw, "
            "which draw other models, one price each"
        )
    else:
        count = _of_random_models(random, draw)
    backends = tuple(resolve_backend(name).name for name in backend or BACKENDS)
    n_rows = len(count.names) * (len(backends) if count.in_each_backend else 1)
    folder = prepare_folder(out)
    settings = {
        "tolerance": f"{100 * share:.6g}%", "confidence": confidence,
        "cases": ", ".join(count.names), "backends": ", ".join(backends), **count.settings,
    }  # fmt: skip
    table: list[dict[str, Any]] = []
    content = {
        "rows": table, "settings": settings, "made_by": provenance(),
        "command": _command(count.words, backends, tolerance, confidence, out),
    }  # fmt: skip

    def finished(row: Any) -> None:
        """Keep a finished row."""
        table.append(_plain(row))
        store_coverage(folder, content)
        tell(label, len(table), n_rows)

    label = "rows of coverage"
    with alone_in(folder):
        require_own_page(folder)
        require_own(folder / RESULTS, COVERAGE)
        with interruptible(lambda: _what_is_kept(folder, len(table))), Waiting(label, quiet=quiet):
            count.run(
                backends=backends, tolerance=share, confidence=confidence,
                threads=threads or os.cpu_count() or 1, progress=finished,
            )  # fmt: skip
        page = write_coverage_page(folder)
    _show(folder, content, page, json)
    if not all(row["passed"] for row in table):
        raise typer.Exit(NOT_MET)


@dataclass(frozen=True)
class _Count:
    """A table of coverage: what is priced and counted.

    Args:
        run: function of backends, tolerance, confidence, threads and progress that does it.
        names: of the cases, or of the sets of random models.
        in_each_backend: whether each name has a row in each arithmetic, or one in all.
        settings: of its own, for the page.
        words: of the command line that asks for it.
    """

    run: Callable[..., Any]
    names: tuple[str, ...]
    in_each_backend: bool
    settings: dict[str, Any]
    words: list[Any]


def _of_cases(
    chosen: tuple[str, ...], small: bool, seeds: int | None, references: Path | None
) -> _Count:
    """Cases of known price, each with many seeds."""
    from sciprec import heston
    from sciprec.heston.bounds.bound_coverage import CASES

    names = chosen or (SMALL_CASES if small else CASES)
    cases = _reference_cases(references or shipped(PRICES) / REFERENCES, names)
    n_seeds = seeds if seeds is not None else SMALL_SEEDS if small else SEEDS
    from_file = ["--references", references] if references else []
    return _Count(
        partial(heston.coverage, cases, n_seeds=n_seeds),
        names,
        True,
        {"seeds": n_seeds, "references": str(references or REFERENCES)},
        ["--seeds", n_seeds, *from_file, *_each("--case", names)],
    )


def _of_random_models(n_prices: int, draw: int) -> _Count:
    """Models drawn at random, each priced once, counted by set."""
    from sciprec import heston
    from sciprec.heston.bounds.random_cases import set_names

    return _Count(
        partial(heston.random_coverage, n_prices=n_prices, seed=draw),
        set_names(),
        False,
        {"prices of each set": n_prices, "seed of the random models": draw},
        ["--random", n_prices, "--draw", draw],
    )


def _plain(row: Any) -> dict[str, Any]:
    """A finished row and values derived from it, as plain data."""
    from sciprec.heston.bounds.bound_coverage import WIDEST

    derived = {"share": row.share, "width": row.width, "passed": row.passed, "widest": WIDEST}
    return asdict(row) | derived


def report(folder: Path, json: bool) -> None:
    """Write the page of a stored coverage run again, from its results only, and print its rows.

    Args:
        folder: holds such a run.
        json: whether JSON is printed instead of a table.
    """
    from sciprec.report.coverage_page import read_coverage, write_coverage_page

    content = read_coverage(folder)
    _show(folder, content, write_coverage_page(folder), json)


def _show(folder: Path, content: dict[str, Any], page: Path, json: bool) -> None:
    """Print the rows of a coverage run and where its page is."""
    from sciprec.cli.pricing.price_console import print_coverage

    if json:
        print_json(content | {"folder": folder, "page": page})
    else:
        print_coverage(content["rows"])
        say(f"page: {page}")


def _what_is_kept(folder: Path, n_rows: int) -> str:
    """A sentence on what an interrupted run leaves."""
    if not n_rows:
        return "no row was finished"
    return f"the rows that had finished are kept: `sciprec report {folder}` writes their page"


def _reference_cases(path: Path, names: tuple[str, ...]) -> list[Any]:
    """The cases of a file of reference prices.

    Raises:
        InputError: there is no such file or case, or it holds something else.
    """
    from sciprec.heston.bounds.bound_coverage import reference_cases

    if why := why_no_file(path):
        raise InputError(
            f"file of reference prices '{path}' {why}; give one with --references, or "
            "leave it out for the shipped one"
        )
    try:
        return reference_cases(path, names)
    except (json_format.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: holds no reference prices ({type(error).__name__}: {error}); accepted: JSON "
            f"as in data/heston/{REFERENCES}"
        ) from None


def _each(option: str, values: tuple[str, ...]) -> list[str]:
    """An option once for each value."""
    return [word for value in values for word in (option, value)]


def _command(
    cases: list[Any], backends: tuple[str, ...], tolerance: str, confidence: float, out: Path
) -> str:
    """The command line that makes this page again."""
    how = ["--tolerance", tolerance, "--confidence", f"{confidence:g}"]
    parts = ["sciprec", "dev", "coverage", *cases, *how]
    parts += [*_each("--backend", backends), *as_words(Settings.plugins), "--out", out]
    return shlex.join(map(str, parts))
