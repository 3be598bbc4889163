"""JUnit XML, which continuous integration shows case by case, with metrics as properties."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from sciprec.results.comparison.rows import Comparison

_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class JUnitCase:
    """A test case.

    Args:
        classname, name: what was tested.
        verdict: a word.
        text: a sentence.
        failed: whether it counts as a failure.
        properties: numbers and words by name; those that are not finite are left out.
    """

    classname: str
    name: str
    verdict: str
    text: str
    failed: bool
    properties: Mapping[str, Any] = field(default_factory=dict)


def junit_text(suites: Mapping[str, Sequence[JUnitCase]]) -> str:
    """Suites of test cases as JUnit XML.

    Args:
        suites: cases by the name of their suite.
    """
    top = ElementTree.Element("testsuites", _counts(c for cases in suites.values() for c in cases))
    for name, cases in suites.items():
        suite = ElementTree.SubElement(top, "testsuite", {"name": _plain(name)} | _counts(cases))
        for case in cases:
            _add(suite, case)
    ElementTree.indent(top)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(top, "unicode")}\n'


def junit_xml(comparison: Comparison, *, golden: str, actual: str) -> str:
    """One test case for each variable; changed and broken ones are failures.

    Args:
        comparison: of two files.
        golden, actual: what they are called.
    """
    cases = [
        JUnitCase(
            actual, row.variable, row.verdict, row.reason(),
            row.verdict in ("still", "changed", "broken") or comparison.of_nothing, row.errors,
        )
        for row in comparison.rows
    ]  # fmt: skip
    cases += [
        JUnitCase(actual, name, "missing", "the file is in the truth's folder only", True)
        for name in comparison.missing
    ]
    return junit_text({f"sciprec compare {golden} {actual}": cases})


def run_cases(table: Sequence[Mapping[str, Any]], failing: Iterable[str]) -> list[JUnitCase]:
    """A test case for each run of a batch.

    Args:
        table: of a BatchResult.
        failing: statuses that count as failures.
    """
    bad = set(failing)
    return [
        JUnitCase(
            row["scenario"], row["label"] + (f", member {row['member']}" if row["member"] else ""),
            row["status"], row["reason"], row["status"] in bad,
            {"variable": row["variable"], "seconds": row["seconds"], **row["errors"]},
        )
        for row in table
    ]  # fmt: skip


def _add(suite: ElementTree.Element, case: JUnitCase) -> None:
    """One test case."""
    names = {"classname": _plain(case.classname), "name": _plain(case.name)}
    element = ElementTree.SubElement(suite, "testcase", names)
    told_properties = {name: value for name, value in case.properties.items() if _tells(value)}
    if told_properties:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in told_properties.items():
            attributes = {"name": name, "value": _plain(str(value))}
            ElementTree.SubElement(properties, "property", attributes)
    if case.failed:
        failure = {"type": case.verdict, "message": _plain(f"{case.name}: {case.text}")}
        ElementTree.SubElement(element, "failure", failure)
    else:
        ElementTree.SubElement(element, "system-out").text = _plain(f"{case.verdict}: {case.text}")


def _tells(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def _counts(cases: Iterable[JUnitCase]) -> dict[str, str]:
    cases = list(cases)
    failures = sum(case.failed for case in cases)
    return {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}


def _plain(text: str) -> str:
    """Text without the characters that XML does not know."""
    return _NOT_IN_XML.sub("?", text)
