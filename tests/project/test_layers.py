"""Who imports whom, beyond what `lint-imports` sees: modules named in texts, circles, the root."""

import ast
import re
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAYERED = [one for one in SETTINGS["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
NAME = re.compile(r"(?<![\w.])sciprec(?:\.\w+)+")
TEXTS = r"^(?!\s*(from|import) ).*\bsciprec\.\w|[=(] *[rf]*(\"{3}|'{3})"


@pytest.fixture
def graph():
    """All imports of the package, those inside functions too."""
    return grimp.build_graph("sciprec", exclude_type_checking_imports=True, cache_dir=None)


def source_of(module):
    path = ROOT / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


def named_in_texts(source, modules):
    """The modules that texts of a module name, be it as the beginning of a name; not docstrings."""
    if not re.search(TEXTS, source, re.MULTILINE):  # so most of them need not be parsed
        return
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            for name in NAME.findall(node.value):
                while name not in modules:
                    name = name.rpartition(".")[0]
                yield name


def circles(graph):
    """Sets of modules each of which imports all the others, by however many steps (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph.find_modules_directly_imported_by(module):
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(graph.modules):
        if module not in index:
            visit(module)
    return found


def upward(graph):
    """The imports that the layers of pyproject.toml forbid, as texts."""
    for one in LAYERED:
        layers = [grimp.Layer(*row.split(" | "), independent=True) for row in one["layers"]]
        for wrong in graph.find_illegal_dependencies_for_layers(layers, set(one["containers"])):
            yield f"{one['id']}: {wrong.importer} -> {wrong.imported}"


def test_no_modules_import_each_other_in_a_circle(graph):
    assert len(graph.modules) > 550
    assert circles(graph) == []


def test_types_close_no_circle_either():
    typed = grimp.build_graph("sciprec", exclude_type_checking_imports=False, cache_dir=None)
    assert circles(typed) == []


@pytest.mark.slow
def test_no_text_names_a_module_that_must_not_be_imported(graph):
    """As `importlib.import_module` and tables for it take them; the root names whom it likes, and
    so does the table of names that are older or gone.
    """
    modules = frozenset(graph.modules)
    met = 0
    for module in sorted(modules - {"sciprec", "sciprec.foundation.moved"}):
        for name in named_in_texts(source_of(module), modules):
            if name != "sciprec" and not f"{module}.".startswith(f"{name}."):
                graph.add_import(importer=module, imported=name)
                met += 1
    assert list(upward(graph)) == [] and met > 20


def test_nobody_asks_the_root(graph):
    asked = {}
    for module in graph.find_modules_that_directly_import("sciprec"):
        nodes = list(ast.walk(ast.parse(source_of(module))))
        names = {
            alias.name for node in nodes if isinstance(node, ast.ImportFrom)
            for alias in node.names if node.module == "sciprec"
        } | {
            node.attr for node in nodes if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name) and node.value.id == "sciprec"
        }  # fmt: skip
        asked[module] = {name for name in names if f"sciprec.{name}" not in graph.modules}
    assert {module: names for module, names in asked.items() if names} == {}


PLANTED = [
    ("sciprec.tools.trace.lines", "sciprec.tools.trace.models.traces"),
    ("sciprec.cli.pricing.price_request", "sciprec.cli.commands"),
    ("sciprec.climate.running.records", "sciprec.climate.running.integration"),
]


@pytest.mark.parametrize("importer, imported", PLANTED)
def test_a_planted_circle_is_found(graph, importer, imported):
    graph.add_import(importer=importer, imported=imported)
    assert any({importer, imported} <= set(circle) for circle in circles(graph))
