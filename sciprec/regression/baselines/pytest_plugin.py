"""A plugin of pytest: the fixture `precision_baseline` and the option `--precision-bless`.

Nothing is imported before a test asks for the fixture.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sciprec.regression.baselines.checking import Check

FOLDER = "baselines"
"""Beside the file of a test."""
_LONGEST_NAME = 80


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--precision-bless`."""
    parser.getgroup("sciprec").addoption(
        "--precision-bless", metavar="REASON",
        help="put today's numbers in place of the precision baselines, and note why",
    )  # fmt: skip


class PrecisionBaseline:
    """Checks of one test against its baselines.

    Args:
        node: the test.
        reason: why today's numbers are right; None: they are checked.
    """

    def __init__(self, node: Any, reason: str | None) -> None:
        self._node, self._reason, self._count = node, reason, 0

    def __call__(
        self, thing: Any, args: Any = None, *, name: str | None = None, samples: Any = (),
        exact: bool = False,
    ) -> None:  # fmt: skip
        """Fail where values are not those of the baseline, beyond its noise.

        Args:
            thing: a number, an array, arrays by name, an xarray object; or a function, plain or
                lifted, which is called with copies of `args`.
            args: a tuple, or a mapping by name. By perturbed ones the noise is found.
            name: of the baseline; left out, that of the test.
            samples: of values without a function: 8 or more from inputs that differ by one unit of
                their format. Without them only the same bits are the same.
            exact: fail where any bit differs.

        Raises:
            InputError: what was given cannot be compared.
        """
        __tracebackhide__ = True
        from sciprec.regression.baselines.records import read_record, record_names
        from sciprec.regression.baselines.values import values_answers, values_request

        self._count += 1
        name = name or _name(self._node, self._count)
        folder = Path(self._node.path).parent / FOLDER
        request = values_request(name, thing, args)
        exists = name in record_names(folder)
        if self._reason is not None:
            return self._bless(name, folder, request, (thing, args, samples), exists)
        if not exists:
            pytest.fail(
                f"there is no precision baseline '{name}' in '{folder}'; make one with "
                "--precision-bless REASON",
                pytrace=False,
            )
        from sciprec.regression.baselines.checking import checked, require_same

        record = read_record(name, folder)
        require_same(record, request)
        check = checked(record, request, values_answers(thing, args)[0])
        self._note(check)
        if not (check.identical if exact else check.within):
            pytest.fail(_words(check), pytrace=False)

    def _bless(self, name: str, folder: Path, request: Any, call: Any, exists: bool) -> None:
        """Replace the numbers of a baseline by today's, where the bits differ."""
        from sciprec.foundation.errors import InputError
        from sciprec.regression.baselines.checking import checked
        from sciprec.regression.baselines.records import read_record
        from sciprec.regression.baselines.saving import required_commit, write_new
        from sciprec.regression.baselines.values import values_answers

        if not self._reason.strip():
            raise InputError("--precision-bless was given no reason; say why the numbers are right")
        thing, args, samples = call
        history, counts = (), {}
        if exists:
            record = read_record(name, folder)
            check = checked(record, request, values_answers(thing, args)[0])
            if check.identical and record.asked == request.asked:
                return
            history, counts = record.history, check.counts
        folder.mkdir(exist_ok=True)
        commit = required_commit(folder, unversioned=True)
        computed = values_answers(thing, args, samples, noisy=True)
        write_new(request, name, folder, computed, commit, history, self._reason.strip(), counts)

    def _note(self, check: Check) -> None:
        """Metrics as properties of the test, which `--junit-xml` writes."""
        for row in check.rows:
            about = f"{check.name}.{row.variable}" if row.variable else check.name
            self._node.user_properties.append((about, row.verdict))
            for metric in row.metrics:
                self._node.user_properties.append((f"{about}.{metric.name}", metric.apart))


@pytest.fixture
def precision_baseline(request: pytest.FixtureRequest) -> PrecisionBaseline:
    """Check numbers against the baselines of a test, see `PrecisionBaseline.__call__`."""
    return PrecisionBaseline(request.node, request.config.getoption("--precision-bless"))


def _words(check: Check) -> str:
    """Why a test fails."""
    lines = [f"precision baseline '{check.name}', {check.since or 'without commit'}:"]
    lines += [
        f"  {row.variable or row.run}: {row.verdict}: {row.reason}"
        for row in check.rows if row.verdict != "identical"
    ]  # fmt: skip
    lines += [f"  {note}" for note in check.notes]
    return "\n".join([*lines, "  right? --precision-bless REASON"])


def _name(node: Any, count: int) -> str:
    """The name of a test's baseline: file, class and test; a digest tells odd names apart."""
    test_name = ".".join([Path(node.path).stem, *node.nodeid.split("::")[1:]])
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", test_name).strip("-.")[:_LONGEST_NAME]
    if plain != test_name:
        plain += f"-{hashlib.sha256(test_name.encode()).hexdigest()[:6]}"
    return plain if count == 1 else f"{plain}-{count}"
