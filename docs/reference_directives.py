"""Directives that write the reference from the code itself: names, commands, keys, tables."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class _Written(SphinxDirective):
    """A directive whose content is made as Markdown, by `lines`."""

    has_content = True
    lines: Callable[..., Iterator[str]]

    def run(self) -> list[nodes.Node]:
        """The nodes of the lines that are made."""
        where = nodes.section()
        where.document = self.state.document
        text = StringList("\n".join(self.lines()).splitlines(), source=self.env.docname)
        self.state.nested_parse(text, self.content_offset, where, match_titles=True)
        return where.children


class PublicNames(_Written):
    """The documentation of every public name of a module that is no module itself."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        """A directive of autodoc for each name."""
        module = importlib.import_module(self.arguments[0])
        for name in sorted(n for n in dir(module) if not n.startswith("_")):
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            kind = "class" if inspect.isclass(value) else "function"
            kind = kind if callable(value) else "data"
            yield from ("```{eval-rst}", f".. auto{kind}:: {module.__name__}.{name}")
            yield from ("   :members:", "```", "") if kind == "class" else ("```", "")


class Commands(_Written):
    """The help of every verb."""

    def lines(self) -> Iterator[str]:
        """A heading for each verb, with its help as it is printed."""
        from sciprec.cli.commands import _command

        root = _command()
        yield from self._below(root, "sciprec", click.Context(root, info_name="sciprec"))

    def _below(self, group: click.Command, name: str, context: click.Context) -> Iterator[str]:
        for verb in group.list_commands(context):
            command = group.get_command(context, verb)
            if command is None or command.hidden:
                continue
            inner = click.Context(command, info_name=verb, parent=context, terminal_width=96)
            if hasattr(command, "list_commands"):
                yield from self._below(command, f"{name} {verb}", inner)
                continue
            yield from (f"## {name} {verb}", "", "```text", command.get_help(inner), "```", "")


class ScenarioKeys(_Written):
    """The keys of every kind of scenario, a table each."""

    def lines(self) -> Iterator[str]:
        """A heading and a table for each kind."""
        from sciprec.workbench.kinds import kinds
        from sciprec.workbench.kinds.schema import scenario_keys

        for kind in kinds():
            yield from (f"## {kind}", "", "| key | type | unit | default | meaning |")
            yield "|" + "---|" * 5
            for key in scenario_keys(kind):
                cells = (f"`{key.path}`", key.accepted, key.unit, key.default, key.about)
                yield "| " + " | ".join(str(c or "").replace("|", "\\|") for c in cells) + " |"
            yield ""


class _Table(_Written):
    """A table of Markdown: a head, and rows of cells."""

    head: tuple[str, ...] = ()
    rows: Callable[..., Iterator[tuple[object, ...]]]

    def lines(self) -> Iterator[str]:
        """The head, and a line for each row."""
        yield "| " + " | ".join(self.head) + " |"
        yield "|" + "---|" * len(self.head)
        for cells in self.rows():
            texts = (str(cell).replace("|", "\\|") for cell in cells)
            yield "| " + " | ".join(texts) + " |"


class Formats(_Table):
    """Every backend with a name, and the numbers that its format has."""

    head = ("name", "bits", "unit roundoff", "largest", "smallest", "rounding", "below", "beyond")

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The table of `sciprec list backends`."""
        from sciprec.precision.formats.backend import table

        for row in table():
            sizes = (row[key] for key in ("unit_roundoff", "max_finite", "min_positive"))
            shown = (f"{size:.3g}" if isinstance(size, float) else "–" for size in sizes)
            yield (
                f"`{row['name']}`", row["significand_bits"], *shown, row["rounding"],
                row["subnormals"] or "–", row["overflow"],
            )  # fmt: skip


class Metrics(_Table):
    """Every registered metric of errors."""

    head = ("name", "column", "unit", "is")

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Metrics in the order of their registration."""
        from sciprec.results.comparison.pointwise.error_metrics import metrics

        for metric in metrics().values():
            about = " ".join((inspect.getdoc(metric.compute) or "").split("\n\n")[0].split())
            unit = "of the variable" if metric.absolute else "1"
            yield f"`{metric.name}`", metric.title, unit, about


class Variables(_Table):
    """Every variable that a file of sciprec can hold."""

    head = ("name", "unit", "is", "CF standard name", "compared with the truth")

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The CF table."""
        from sciprec.results.output.variables import VARIABLES

        for name, variable in VARIABLES.items():
            compared = "yes" if variable.compared else "no"
            standard = f"`{variable.standard_name}`" if variable.standard_name else "–"
            yield f"`{name}`", f"`{variable.units}`", variable.long_name, standard, compared


class Units(_Table):
    """Units that comparisons convert, with other spellings."""

    head = ("unit", "is", "also written")

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Units that are defined by others, then base units."""
        from sciprec.results.comparison.pointwise import units

        spelt = units._SPELLINGS
        known = units._DEFINED | units._ALONE | dict.fromkeys(sorted(units._BASES), "a base unit")
        for name, meaning in known.items():
            others = [word for word in spelt.get(name, "").split() if word != name]
            meaning = "π / 180 rad" if name == "degree" else meaning
            yield f"`{name}`", meaning, ", ".join(f"`{word}`" for word in others) or "–"


def _stored_pages(app: Sphinx, failure: Exception | None) -> None:
    """Put the stored pages of the gallery beside the page that names them."""
    if failure is None and app.builder.format == "html":
        stored = Path(app.srcdir).parent / "reports/gallery"
        shutil.copytree(stored, Path(app.outdir) / "gallery", dirs_exist_ok=True)


def _links_inside(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to stored pages lead to where the site has them; links to other texts and folders
    beside the documentation become their names: no page has them.
    """
    folder, root = (Path(app.srcdir) / name).parent, Path(app.srcdir)
    up = "../" * name.count("/")
    page = r"\[([^][]+)\]\((?:\.\./)+reports/gallery/(\w+\.html)\)"
    source[0] = re.sub(page, rf'<a href="{up}gallery/\2">\1</a>', source[0])

    def named(found: re.Match) -> str:
        target = (folder / found[2]).resolve()
        if target.is_relative_to(root):
            return found[0]
        path = target.relative_to(root.parent).as_posix()
        return f"`{path}`" if path.endswith(found[1]) else f"{found[1]} (`{path}`)"

    link = r"(?<!!)\[([^][]+)\]\((\.\./[^)\s#]+?(?:\.md|\.ipynb|/[\w-]+))(?:#[^)]*)?\)"
    source[0] = re.sub(link, named, source[0])


def _bars(app: Sphinx, what: str, name: str, of: object, options: object, text: list) -> None:
    """Bars of formulas in docstrings are bars, and no substitutions."""
    for number, line in enumerate(text):
        if not line.lstrip().startswith(">>>"):
            text[number] = line.replace("|", "\\|")


def _laboratory(app: Sphinx, tree: nodes.document) -> None:
    """Pages of measurements are read through links: the search leaves them out."""
    name = app.env.current_document.docname
    if name.startswith("lab/"):
        app.env.metadata[name]["nosearch"] = True


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("commands", Commands)
    app.add_directive("scenario-keys", ScenarioKeys)
    for table in (Formats, Metrics, Units, Variables):
        app.add_directive(f"{table.__name__.lower()}-table", table)
    app.connect("autodoc-process-docstring", _bars, priority=1)
    app.connect("source-read", _links_inside)
    app.connect("build-finished", _stored_pages)
    app.connect("doctree-read", _laboratory)
    return {"parallel_read_safe": True}
