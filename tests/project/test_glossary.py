"""The glossary has every word that tables, pages and verdicts use: it is compared with the code."""

import ast
import re
from pathlib import Path

import sciprec
from sciprec.arrays import metrics as of_kernels
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.regression.baselines.judging import VERDICTS
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.comparison.tolerances import SEVERITIES
from sciprec.results.comparison.verdicts import STATUS_WORDS
from sciprec.tools.monitor.alerts import RULES
from tests.project.test_house import ROOT

PACKAGE = Path(sciprec.__file__).parent
HEAD = re.compile(r'<th scope="col"[^>]*>([^<]*)</th>')


def entries():
    """The words that the glossary explains."""
    lines = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").splitlines()
    rows = (line.split("|")[1] for line in lines if line.startswith("| "))
    found = set()
    for row in rows:
        parts = (*row.split(";"), *row.split(","))
        found |= {part.strip().strip("`*").lower() for part in parts}
    return found


def heads_of_pages():
    """Heads of the columns of pages that are words."""
    for file in PACKAGE.rglob("*.html"):
        for head in HEAD.findall(file.read_text(encoding="utf-8")):
            if head and "{" not in head:
                yield head


def heads_of_tables():
    """Heads of the columns of tables: texts in calls of `Listing`, in constants and variables that
    these name.
    """
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "Listing(" not in text:
            continue
        tree = ast.parse(text)
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)
                     and getattr(node.func, "id", "") == "Listing"]  # fmt: skip
            named = {node.id for call in calls for node in ast.walk(call)
                     if isinstance(node, ast.Name)} - {"rows", "lines"}  # fmt: skip
            given = [one for call in calls for one in call.args]
            given += [node.value for node in (*ast.walk(function), *tree.body)
                      if isinstance(node, ast.Assign) and calls
                      and {getattr(t, "id", "") for t in node.targets} & named]  # fmt: skip
            for one in given:
                for node in ast.walk(one):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield node.value


def words():
    """Every word by where it is used."""
    found = {
        "verdict": {*STATUS_WORDS.values(), *SEVERITIES, *VERDICTS},
        "metric": {*metrics(), *of_kernels.METRICS},
        "title of a metric": {one.title for one in metrics().values()},
        "alert": {*RULES}, "rounding": {*ROUNDINGS},
        "column of a page": {*heads_of_pages()}, "column of a table": {*heads_of_tables()},
    }  # fmt: skip
    return {where: {word.lower() for word in those if word} for where, those in found.items()}


def test_every_word_is_explained():
    known = entries()
    missing = {where: sorted(those - known) for where, those in words().items()}
    assert not any(missing.values()), missing


def test_names_of_metrics_are_the_same_everywhere():
    """And so are their titles."""
    shared = {name: metrics()[name].title for name in of_kernels.METRICS}
    assert shared == of_kernels.TITLES
