"""The house: what may lie at the top, a rule for each room, free names."""

import ast
import importlib
import importlib.util
import inspect
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from sciprec.facets.attributes import JsonAttribute
from sciprec.precision import resolve_backend
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.variant import FLOATS, PLAIN
from sciprec.report.section import _DETAILS, _FINDINGS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sciprec"
TOP = {"__init__.py", "__main__.py", "accessor.py", "py.typed"}
FOLDERS = sorted(
    {p.parent for p in PACKAGE.rglob("*.*") if "__pycache__" not in p.parts} - {PACKAGE}
)  # also while other processes write there
ARCHITECTURE = (ROOT / "docs/reference/architecture.md").read_text(encoding="utf-8")


def test_nothing_is_loose_at_the_top():
    assert {path.name for path in PACKAGE.iterdir() if path.is_file()} == TOP


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_room_has_a_rule_in_one_sentence(folder):
    if any(folder.glob("*.py")):
        rule = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        sentence = rule.split("\n\n")[0].replace("\n", " ")
        assert sentence.endswith(".") and ". " not in sentence


def test_a_class_name_means_one_thing():
    places = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{path.name}, line {node.lineno}")
    assert len(places) > 500 and not {n: of for n, of in places.items() if len(of) > 1}


def test_no_module_has_the_name_of_a_public_function():
    """An import of the module would hide the function in the package that gives both."""
    looked_at = 0
    for room in PACKAGE.rglob("__init__.py"):
        if "\n__all__" in room.read_text(encoding="utf-8"):
            name = ".".join(room.parent.relative_to(ROOT).parts)
            given = functions_of(importlib.import_module(name))
            looked_at += len(given)
            assert not given & {path.stem for path in room.parent.iterdir()}, name
    assert looked_at > 30


def test_a_package_gives_every_name_that_it_shows_to_type_checkers():
    """However long the line of its import is."""
    looked_at = 0
    for room in PACKAGE.rglob("__init__.py"):
        text = room.read_text(encoding="utf-8")
        if "names_of(" in text:
            name = ".".join(room.parent.relative_to(ROOT).parts)
            package = importlib.import_module(name)
            ifs = [node for node in ast.parse(text).body if isinstance(node, ast.If)]
            (block,) = (node for node in ifs if ast.unparse(node.test) == "TYPE_CHECKING")
            for node in block.body:
                for alias in getattr(node, "names", ()):
                    looked_at += 1
                    assert alias.name == alias.asname and hasattr(package, alias.name), name
                    assert node.module == name or alias.name in package.__all__, name
    assert looked_at > 150


def functions_of(package):
    """The names of the functions that a package gives."""
    names = getattr(package, "__all__", ())
    return {name for name in names if inspect.isfunction(getattr(package, name))}


LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
NAMED = re.compile(r"`((?:sciprec|docs|data|scenarios|tests)/[\w./-]+\.\w+)`")
PAGES = sorted(
    path for folder in ("", "docs/**/", "data/**/", "sciprec/**/")
    for path in ROOT.glob(f"{folder}*.md") if path.name != "CHANGELOG.md"
)  # fmt: skip


FENCED = re.compile(r"^```.*?^```", re.M | re.S)
ANCHORED = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)")


def lost_links(page):
    """Links of a page to files that are not there, and to headings that theirs do not have."""
    for path, anchor in ANCHORED.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        target = page.parent / path if path else page
        if not target.exists() or anchor and anchor not in headings_of(target):
            yield f"{path}#{anchor}"


@cache
def headings_of(page):
    """The anchors of a page: its headings, and names that stand before one."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    words = (re.sub(r"\]\([^)]*\)", "]", one) for one in re.findall(r"^#+ (.*)", text, re.M))
    found = {re.sub(r"[^\w -]", "", one.lower()).strip().replace(" ", "-") for one in words}
    return found | set(re.findall(r"^\(([\w-]+)\)=$", text, re.M))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_page_points_at_is_there(page):
    text = page.read_text(encoding="utf-8")
    missing = [name for name in NAMED.findall(text) if not (ROOT / name).exists()]
    assert not [*lost_links(page), *missing]


def test_pages_and_headings_that_the_changes_name_are_there():
    """Also where pages have moved since."""
    changes = ROOT / "CHANGELOG.md"
    named = re.findall(r"docs/[\w/]+\.md", changes.read_text(encoding="utf-8"))
    assert not [*lost_links(changes), *(name for name in named if not (ROOT / name).exists())]


def test_every_page_beside_the_code_is_linked_from_the_page_of_rooms():
    linked = {(ROOT / "docs/reference" / link).resolve() for link in LINK.findall(ARCHITECTURE)}
    beside = set(PACKAGE.rglob("README.md"))
    assert len(beside) >= 4 and beside <= linked


@pytest.mark.slow
def test_pages_beside_the_code_name_modules_and_identifiers_that_are_there():
    words = {
        word for path in PACKAGE.rglob("*.py")
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }  # fmt: skip
    for page in (*PACKAGE.rglob("README.md"), ROOT / "docs/reference/architecture.md"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in re.findall(r"`([\w/]+\.py)`", text):
            assert [*page.parent.rglob(name), *ROOT.glob(name), *PACKAGE.rglob(name)], (page, name)
        for name in re.findall(r"`([A-Za-z_][\w.]*)`", text):
            if not name.endswith((".py", ".md")):
                assert set(name.split(".")) <= words, (page, name)


def test_a_facet_says_where_its_work_is_done_and_its_section_is_on_the_page():
    files = {section.file for section in (*_FINDINGS, *_DETAILS)}
    facets = [path.parent for path in (PACKAGE / "facets").glob("*/__init__.py")]
    assert len(facets) >= 7
    for facet in facets:
        text = ast.get_docstring(ast.parse((facet / "__init__.py").read_text(encoding="utf-8")))
        places = re.findall(r"`([\w/]+(?:\.py|/))`", text)
        assert places and all(any(PACKAGE.rglob(place.rstrip("/"))) for place in places), facet
        has = [(facet / name).exists() for name in ("keys.py", "section.py", "section.html")]
        shown = f"facets/{facet.name}/section.html" in files
        assert has == [True, shown, shown], facet


def test_the_name_of_a_facets_attribute_stands_once():
    facets = [path.parent.name for path in (PACKAGE / "facets").glob("*/attributes.py")]
    modules = [importlib.import_module(f"sciprec.facets.{name}.attributes") for name in facets]
    values = [value for module in modules for value in vars(module).values()]
    names = [value.name for value in values if isinstance(value, JsonAttribute)]
    assert len(names) == len(set(names)) >= 6
    texts = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert {name: texts.count(f'"{name}"') for name in names} == dict.fromkeys(names, 1)


def test_the_page_of_rewriting_shows_the_module_that_its_kernel_becomes(tmp_path):
    """Its first block is the kernel; each other one names an arithmetic, then shows lines of the
    module.
    """
    page = (PACKAGE / "precision" / "rewriting" / "README.md").read_text(encoding="utf-8")
    source, *blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "of_the_page.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(blocks) == 3
    for block in blocks:
        title, _, lines = block.partition("\n")
        backend = resolve_backend(title.removeprefix("# "))
        variant = PLAIN if backend.fixed else FLOATS
        text = Program(module.step, backend, Build(variant=variant)).text()
        assert lines in re.sub(r"Backend\(name=.*\), 0, ''\)", "Backend(...), 0, '')", text), title


def test_the_drawing_has_every_room_once_in_the_order_of_the_layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (rooms,) = (c for c in settings["tool"]["importlinter"]["contracts"] if c["id"] == "rooms")
    drawing = ARCHITECTURE.split("```\n")[1].split("\n\n")[1].splitlines()
    drawn = [set(line[:34].split()) for line in drawing]
    assert drawn == [set(layer.split(" | ")) for layer in rooms["layers"] if layer != "__main__"]


def test_every_page_stands_in_an_order_to_read_them_in():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    trees = "\n".join(re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.DOTALL | re.MULTILINE))
    named = re.findall(r"^[\w/]+$", trees, re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").with_suffix("") for page in ROOT.glob("docs/**/*.md")}
    assert len(named) == len(set(named)) and pages == {Path("index"), *map(Path, named)}


def test_the_page_of_rooms_names_what_is_there():
    """Every folder and file in its tables, from the repository or from the package."""
    named = set(re.findall(r"`([\w.*-]+/[\w./*-]*)`", ARCHITECTURE))
    missing = [n for n in named if not (any(ROOT.glob(n)) or any(PACKAGE.glob(n)))]
    assert not missing and len(named) > 50
    asked = [row.split("|")[1] for row in ARCHITECTURE.splitlines() if row.startswith("| a ")]
    for word in ("rounding", "payoff", "section of the page", "number format", "verb"):
        assert any(word in question for question in asked), word
    assert "a climate case" in ARCHITECTURE and "## What you may touch" in ARCHITECTURE


def test_trees_are_built_by_one_thread_at_a_time():
    """Up to Python 3.12 threads that build trees at once end in a SystemError: a batch did."""
    door = ROOT / "sciprec/precision/rewriting/syntax.py"
    builds = re.compile(r"\bast\.parse\(|\bcompile\((tree|module)\b")
    for path in sorted((ROOT / "sciprec").rglob("*.py")):
        assert path == door or not builds.search(path.read_text(encoding="utf-8")), path
    found = door.read_text(encoding="utf-8")
    assert found.count("ast.parse(") == found.count("return compile(tree") == 1
