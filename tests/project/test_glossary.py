"""The glossary has every word that tables, pages, verdicts and sentences use for something that is
defined: it is compared with the code.
"""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

import sciprec
from sciprec.arrays import metrics as of_kernels
from sciprec.arrays.sums.summation import DOT_METHODS, SUM_METHODS
from sciprec.heston.simulation.paths import COMPENSATIONS
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.regression.baselines.judging import VERDICTS
from sciprec.regression.repetition.circumstances import ASPECTS
from sciprec.report.sections import evidence_matrix
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.comparison.verdicts import STATUS_WORDS
from sciprec.tools.memory import memory
from sciprec.tools.monitor.alerts import RULES
from sciprec.tools.monitor.summaries import COLUMNS
from tests.project.test_house import ROOT

SEVERITIES = ("identical", "noise", "still", "changed", "broken", "empty")
PACKAGE = Path(sciprec.__file__).parent
HEAD = re.compile(r'<th scope="col"[^>]*>([^<]*)</th>')


@cache
def tree_of(file):
    """The syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def entries():
    """The words that the glossary explains."""
    lines = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").splitlines()
    rows = (line.split("|")[1] for line in lines if line.startswith("| "))
    found = set()
    for row in rows:
        parts = (*row.split(";"), *row.split(","))
        found |= {part.partition(" (")[0].strip().strip("`*").lower() for part in parts}
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
        tree = tree_of(file)
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


LISTED = ("kind", "case", "calendar", "shell", "field of an initial state", "variable", "scheme")
"""Accepted words that a verb lists, that the user has chosen, or that others define."""


def accepted_words():
    """Words that arguments accept: the third argument of calls of `word` and `choice`, where that
    is the same for every caller.
    """
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "word(" not in text and "choice(" not in text:
            continue
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        module = importlib.import_module(name)
        for node in ast.walk(tree_of(file)):
            is_choice = getattr(getattr(node, "func", None), "id", "") in ("word", "choice")
            if not is_choice or ast.unparse(node.args[0]).strip("'") in LISTED:
                continue
            try:
                yield from eval(ast.unparse(node.args[2]), vars(module))
            except NameError:
                continue  # names that one call of the function has: below, by their registries
    yield from (*SUM_METHODS, *DOT_METHODS, *COMPENSATIONS, *COLUMNS)


def words():
    """Every word by where it is used."""
    found = {
        "verdict": {*STATUS_WORDS.values(), *SEVERITIES, *VERDICTS},
        "metric": {*metrics(), *of_kernels.METRICS},
        "title of a metric": {one.title for one in metrics().values()},
        "accepted word": {*accepted_words()}, "cause of other bits": {*ASPECTS},
        "finding on memory": {memory.UNINITIALISED, memory.OUT_OF_BOUNDS, memory.OVERFLOW},
        "evidence": {head for head, *_ in evidence_matrix._COLUMNS},
        "alert": {*RULES}, "rounding": {*ROUNDINGS},
        "column of a page": {*heads_of_pages()}, "column of a table": {*heads_of_tables()},
    }  # fmt: skip
    return {where: {word.lower() for word in those if word} for where, those in found.items()}


@pytest.mark.slow
def test_every_word_is_explained():
    known = entries()
    missing = {where: sorted(those - known) for where, those in words().items()}
    assert not any(missing.values()), missing


WORD = re.compile(r"[A-Za-z][A-Za-z-]+")
SPEAKING = ("accessor", "cli", "drawing", "facets", "regression", "report", "results/comparison",
            "scenario", "tools", "workbench")  # fmt: skip
"""Rooms whose sentences a user reads."""
MARKUP = re.compile(r"{[{%#].*?[}%#]}|<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL)
CODE = re.compile(r"\(\d{4}\)|def |import |<|\\b|\||np\.|math\.|deg|= ?\"|\.\*|ks_2samp|unitless")
"""Texts that are no sentences: citations, source, patterns, names of units."""
ORDINARY = {
    "celsius", "elapsed", "enumerate", "grey", "mykernel", "newline", "please", "preparing",
    "scientific", "self-contained", "solid", "spike", "unperturbed", "unset", "valid",
}  # fmt: skip
"""Words of sentences in their ordinary use that no other text happens to have."""


def stem(word):
    """A word without the end that its number, its tense or its part of speech gives it."""
    word = word.lower().strip("-")
    ends = ("ations", "ation", "ings", "ing", "edly", "ed", "ers", "er", "ies", "es", "s", "ly",
            "d", "e")  # fmt: skip
    end = next((e for e in ends if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word.removesuffix(end).rstrip("ey")


def sentences():
    """Texts of some words in code and templates, docstrings aside."""
    for file in PACKAGE.rglob("*.html"):
        yield MARKUP.sub(" ", file.read_text(encoding="utf-8"))
    for file in (f for room in SPEAKING for f in (PACKAGE / room).rglob("*.py")):
        tree = tree_of(file)
        alone = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if id(node) not in alone and len(text.split()) >= 3 and not CODE.search(text):
                    yield text


def written_words():
    """Stems of the words of all docs, the changes, and the docstrings of public names."""
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "docs").rglob("*.md")]
    texts += [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CHANGELOG.md")]
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(file)):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                texts.append(ast.get_docstring(node) or "")
    return {stem(word) for text in texts for word in WORD.findall(text)}


@pytest.mark.slow
def test_sentences_use_words_that_the_docs_have():
    """A word that they alone use is one that nobody can look up: write another, or explain it."""
    known = written_words() | {stem(word) for word in ORDINARY}
    strange = {word for text in sentences() for word in WORD.findall(text)
               if stem(word) not in known}  # fmt: skip
    assert not strange, sorted(strange)


def test_names_of_metrics_are_the_same_everywhere():
    """And so are their titles."""
    shared = {name: metrics()[name].title for name in of_kernels.METRICS}
    assert shared == of_kernels.TITLES
