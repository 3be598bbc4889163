"""Requests as a command line names them, and as a baseline has noted them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError
from sciprec.regression.baselines.bench_requests import bench_request
from sciprec.regression.baselines.kernel_requests import named_kernel_request
from sciprec.regression.baselines.price_requests import price_asked_again
from sciprec.regression.baselines.records import Record
from sciprec.regression.baselines.requests import BaselineRequest, scenario_request
from sciprec.tools.calls.kernel_file import is_kernel
from sciprec.workbench.kinds import parse_scenario


def request_named(
    text: str, backends: Sequence[str], changes: Mapping[str, Any], inputs: Sequence[str],
    output: Sequence[str], axes: Mapping[str, Sequence[str]], traced: bool = False,
) -> BaselineRequest:  # fmt: skip
    """A scenario, or a kernel of a file with its inputs, or traces of one.

    Args:
        text: of a scenario its file or name, of a kernel FILE.py:FUNCTION.
        backends: arithmetics; of a scenario those that replace its own.
        changes: of a scenario.
        inputs, output, axes: of a kernel, as for `sciprec study`.
        traced: whether traces of a kernel are asked for.

    Raises:
        InputError: it cannot be read or run, or options of the other were given.
    """
    of_kernel = {"--inputs": inputs, "--output": output, "--axes": axes, "--trace": traced}
    kernel = is_kernel(text)
    foreign = {"--set": changes} if kernel else of_kernel
    for option, value in foreign.items():
        if value:
            what = "a kernel" if kernel else "a scenario"
            raise InputError(f"{option} was given, and '{text}' is {what}: leave it out")
    if kernel:
        return named_kernel_request(text, inputs, backends, output, axes, traced)
    return scenario_request(text, backends, changes)


def asked_again(record: Record) -> BaselineRequest:
    """Make the request of a baseline again, as it stands today: from its files, or, where a
    scenario's file is gone, from the baseline's own copy.

    Raises:
        InputError: it cannot be read or run, or it was given in Python.
    """
    about = record.subject
    if about["kind"] == "scenario":
        file = about["file"]
        if file and (Path(file).is_file() or not Path(file).suffix):
            return scenario_request(file, about["backends"], about["changes"])
        stored = parse_scenario(about["scenario"], "the baseline's scenario")
        return scenario_request(stored, about["backends"])
    if about["kind"] == "price":
        return price_asked_again(about)
    if about["kind"] == "bench":
        return bench_request(about["bench"])
    if "kernel" not in about:
        raise InputError(
            f"baseline '{record.name}' is of what was given in Python; check it there, with the "
            "fixture precision_baseline of its test"
        )
    return named_kernel_request(
        about["kernel"], about["inputs"], about["backends"], about["output"], about["axes"],
        about.get("traced", False),
    )  # fmt: skip
