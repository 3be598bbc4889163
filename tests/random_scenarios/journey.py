"""A scenario's way from its file to its page, looked at from outside at every step."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciprec.foundation.memory import PEAK_MEMORY
from sciprec.results.comparison import compare
from sciprec.results.output import files
from sciprec.results.output.digests import ROOT
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import load_scenario, parse_scenario
from tests.random_scenarios.generator import number_of_runs

Call = Callable[..., tuple[int, str, str]]
"""The command line in this process: exit code, standard output and standard error."""
GOOD, NOT_MET, USAGE = 0, 1, 2
_OF_THE_MOMENT = (
    "history", "processor_seconds", "processor_seconds_range", "sciprec_seconds", PEAK_MEMORY, ROOT
)  # fmt: skip
"""Attributes of a file, beside the time in its provenance; the root of digests covers them."""


def travel(content: dict[str, Any], file: Path, folder: Path, call: Call, stop_after: int) -> None:
    """Take a scenario from its file to its page, twice: at once, and interrupted; then with files
    that are written and read in pieces, as large ones are.

    Args:
        content: of the file.
        file: that holds it.
        folder: for both batches, which is not there yet.
        call: the command line.
        stop_after: finished runs after which the second batch is interrupted.
    """
    scenario, count = load_scenario(file), number_of_runs(content)
    assert parse_scenario(json.loads(scenario.model_dump_json())) == scenario
    assert _kept(call, file, folder / "whole") == [False] * count
    assert not folder.exists()
    code, out, err = call("run", file, "--out", folder / "whole", "--threads", 1, "--json")
    assert out, err
    rows = json.loads(out)["runs"]
    assert code in (GOOD, NOT_MET) and "Traceback" not in err, err
    _is_told(call, file, folder / "whole", rows, code)
    whole = contents(folder / "whole")
    with in_pieces():
        _interrupted(file, folder / "halves", stop_after)
    halves = contents(folder / "halves")
    assert halves.keys() == whole.keys()
    for name, (said, values) in whole.items():
        other = {k: v for k, v in halves[name][0].items() if said.get(k) != v}
        assert halves[name] == (said, values), (name, other)
    _is_compared(rows, folder / "whole", call)
    _is_judged(content, rows, folder / "whole")


def _kept(call: Call, file: Path, folder: Path) -> list[bool]:
    """Of the runs of a plan, which are there already."""
    code, out, err = call("run", file, "--out", folder, "--plan", "--json")
    assert code == GOOD, err
    return [row["kept"] for row in json.loads(out)]


def _is_told(call: Call, file: Path, folder: Path, rows: list[dict], code: int) -> None:
    """The exit code, the page, and both once more from what is kept."""
    failed = any(row["status"] == "failed" for row in rows)
    assert (code == NOT_MET) == failed, rows
    page = _page(folder)
    assert page.rstrip().endswith("</html>")
    if not failed:
        assert all(_kept(call, file, folder))
    beyond = any(row["status"] in ("beyond", "broken") for row in rows)
    with undrawn():
        again = call("run", file, "--out", folder, "--threads", 1, "--json", "--enforce")
    assert again[0] == (NOT_MET if failed or beyond else GOOD), rows
    assert json.loads(again[1])["runs"] == rows
    with in_pieces():
        assert call("report", folder)[0] == code and _page(folder) == page


@contextmanager
def undrawn() -> Iterator[None]:
    """No page is written, which takes longest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")
        yield


@contextmanager
def in_pieces() -> Iterator[None]:
    """Every dataset counts as large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sciprec.results.output.pieces.WHOLE_BYTES", 0)
        patch.setattr("sciprec.results.output.pieces.PIECE_BYTES", 1000)
        yield


def _page(folder: Path) -> str:
    """The page of a batch, without the time that it was made at."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    return re.sub(r"made at</th><td>[^<]*", "", text)


def _interrupted(file: Path, folder: Path, stop_after: int) -> None:
    """A batch that is stopped after some runs, and gone on with."""
    done = []

    def stop(outcome: Any) -> None:
        done.append(outcome)
        if len(done) == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workflow.run(file, out=folder, threads=1, on_done=stop)
    assert not (folder / "index.html").exists()
    kept = []
    with undrawn():
        workflow.run(file, out=folder, threads=1, on_done=lambda outcome: kept.append(outcome.kept))
    assert sum(kept) >= stop_after - sum(bool(o.failure) for o in done)


def contents(folder: Path) -> dict[str, Any]:
    """All values and attributes of a batch's files but those of the moment."""
    found = {}
    for path in sorted(folder.glob("*.nc")):
        dataset = files.read(path)
        said = {k: str(v) for k, v in dataset.attrs.items() if k not in _OF_THE_MOMENT}
        said["sciprec_provenance"] = _without_time(said["sciprec_provenance"])
        values = {n: (v.dtype.str, v.dims, v.values.tobytes(), str(v.attrs))
                  for n, v in dataset.variables.items()}  # fmt: skip
        found[path.name] = said, values
    return found


def _without_time(provenance: str) -> dict[str, str]:
    return {name: words for name, words in json.loads(provenance).items() if name != "made_at"}


def _is_compared(rows: list[dict], folder: Path, call: Call) -> None:
    """The last file with itself, and with its truth."""
    truth, *_, last = (folder / row["file"] for row in rows if row["file"])
    code, out, err = call("compare", last, last)
    assert code == GOOD and ("identical" in out or "empty" in out), err
    code, _, err = call("compare", truth, last, "--json")
    assert code in (GOOD, NOT_MET) and not err, err


def _is_judged(content: dict[str, Any], rows: list[dict], folder: Path) -> None:
    """Tolerances of the largest error, held against it anew; other findings are left aside."""
    wanted = content.get("tolerance", [])
    plain = all(tolerance["metric"] == "max_abs" for tolerance in wanted)
    if not wanted or not plain or "ensemble" in content or content["kind"] == "heston":
        return
    truth = files.read(folder / rows[0]["file"])
    for row in rows[1:]:
        if row["status"] not in ("good", "beyond"):
            continue
        run = files.read(folder / row["file"])
        met = [_largest(truth, run, t) <= t["at_most"] for t in wanted]
        assert row["status"] == ("good" if all(met) else "beyond"), (row, met)


def _largest(truth: Any, run: Any, tolerance: dict[str, Any]) -> float:
    golden, actual = truth[tolerance["variable"]], run[tolerance["variable"]]
    if tolerance.get("times", "last") == "last" and "time" in golden.dims:
        golden, actual = golden.isel(time=-1), actual.isel(time=-1)
    error = np.abs(actual.values - golden.values)
    assert compare(truth, run).row(tolerance["variable"]).errors["max_abs"] >= error.max()
    return float(error.max())
