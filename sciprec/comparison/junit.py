"""A comparison as JUnit XML, which continuous integration shows variable by variable."""

from __future__ import annotations

from xml.etree import ElementTree

from sciprec.comparison.reasons import reason
from sciprec.comparison.rows import Comparison


def junit_xml(comparison: Comparison, *, golden: str, actual: str) -> str:
    """One test case for each variable; changed and broken ones are failures.

    Args:
        comparison: of two files.
        golden, actual: what they are called.
    """
    failing = [row for row in comparison.rows if row.severity in ("changed", "broken")]
    counts = {"tests": str(len(comparison.rows)), "failures": str(len(failing)), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(
        suites, "testsuite", {"name": f"sciprec compare {golden} {actual}"} | counts
    )
    for row in comparison.rows:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": actual, "name": row.variable}
        )
        if row in failing:
            failure = {"type": row.severity, "message": f"{row.variable}: {reason(row)}"}
            ElementTree.SubElement(case, "failure", failure)
        else:
            ElementTree.SubElement(case, "system-out").text = f"{row.severity}: {reason(row)}"
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suites, "unicode")}\n'
