"""The gallery: pages of scenarios that are kept beside the code, without their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sciprec.cli.settings import Settings, as_words
from sciprec.foundation import targets
from sciprec.foundation.course import tell
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.shipped import EXAMPLES, shipped
from sciprec.foundation.whole import temporary_folder
from sciprec.report.page import render
from sciprec.report.stored.batch import read_batch
from sciprec.results.output.folders import alone_in
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import load_scenarios


@dataclass(frozen=True)
class GalleryPage:
    """A page of the gallery.

    Args:
        scenarios: names of those that are shipped, or of the examples where there is a model.
        model: file of the examples that defines one.
    """

    scenarios: tuple[str, ...]
    model: str = ""

    @property
    def plugins(self) -> tuple[str, ...]:
        """The model's file, as one types it in a checkout."""
        return (f"{EXAMPLES}/{self.model}",) if self.model else ()

    def files(self, folder: str | Path | None) -> list[str]:
        """The scenarios' files, as one types them in a checkout, or those in a given folder."""
        if self.model:
            return [f"{EXAMPLES}/{name}.toml" for name in self.scenarios]
        return list(self.scenarios if folder is None else
                    (str(Path(folder) / f"{name}.toml") for name in self.scenarios))  # fmt: skip


_LAYERS = ("squares_same", "squares_fp32", "two_pass_same", "two_pass_fp32")
GALLERY = {
    "quickstart": GalleryPage(("quickstart_climate", "quickstart_heston")),
    "ensemble_jet": GalleryPage(("ensemble_jet",)),
    "mountain_in_ten_bits": GalleryPage(("stored_mountain_10",)),
    "mountain_by_policies": GalleryPage(("policies_mountain",)),
    "mountain_by_line": GalleryPage(("tuned_mountain",)),
    "jet_by_line": GalleryPage(("tuned_jet",)),
    "prices_by_line": GalleryPage(("tuned_heston", "tuned_heston_euler")),
    "lorenz96": GalleryPage(("lorenz96",), "lorenz96.py"),
    "soil_column": GalleryPage(("soil_column", "soil_column_carried"), "soil_column.py"),
    "half_preconditioner": GalleryPage(("half_preconditioner",), "half_preconditioner.py"),
    "layer_norm": GalleryPage(tuple(f"layer_norm_{name}" for name in _LAYERS), "layer_norm.py"),
}
"""Entries of the gallery by the name of their page."""
MOST_BYTES = 1_000_000


def make_gallery(
    scenarios: str | Path | None = None,
    out: str | Path = Path("reports") / "gallery",
    names: Iterable[str] | None = None,
    on_page: Callable[[Path], None] | None = None,
) -> tuple[Path, ...]:
    """Run the scenarios of the gallery and write a page for each of its entries.

    Args:
        scenarios: folder of the scenario files; left out, those that come with sciprec.
        out: folder of the pages; what else is in it stays.
        names: of entries; all when left out.
        on_page: called with each page as it is written.

    Returns:
        The pages, one HTML file each below 1 MB; links to data files are left out, because only
        the pages are kept.

    Raises:
        InputError: no such entry, a scenario cannot be used, a run failed, or a page is too large.
    """
    chosen = list(GALLERY if names is None else names)
    for name in chosen:
        if name not in GALLERY:
            raise InputError(
                f"the gallery has no page '{name}'; it has: {', '.join(GALLERY)}"
                f"{meant(name, GALLERY)}"
            )
    folder = workflow.prepare_folder(out)
    pages = []
    with alone_in(folder):
        for name in chosen:
            targets.require_free(_file(name, folder), targets.PAGE)
        for count, name in enumerate(chosen):
            tell(f"pages of the gallery, now {name}", count, len(chosen))
            pages.append(_page(name, scenarios, folder))
            if on_page is not None:
                on_page(pages[-1])
    return tuple(pages)


def _page(name: str, scenarios: str | Path | None, folder: Path) -> Path:
    """Run one entry in a folder that is thrown away, and keep its page."""
    entry = GALLERY[name]
    typed = entry.files(scenarios)
    root = shipped(EXAMPLES).parent
    files = [root / file for file in typed] if entry.model else typed
    plugin_files = [str(root / plugin) for plugin in entry.plugins]
    with temporary_folder("gallery") as thrown_away:
        result = workflow.run(files, out=thrown_away, plugins=[*Settings.plugins, *plugin_files])
        failures = [run for run in result.failures if not run.partial]  # a blow-up is a finding
        if failures:
            first = failures[0]
            raise InputError(
                f"the page '{name}' was not written: {first.scenario} in {first.label} failed "
                f"({first.failure}); mend that and run again"
            )
        plugins = as_words((*Settings.plugins, *entry.plugins))
        command = " ".join(["sciprec run", *typed, *plugins])
        usual = workflow.default_folder([each for file in files for each in load_scenarios(file)])
        batch = replace(read_batch(result.folder), command=command, folder=usual)
        text = render(batch, links=False)
    if len(text.encode()) > MOST_BYTES:
        raise InputError(
            f"the page '{name}' has {len(text.encode()):,} bytes; pages of the gallery have at "
            f"most {MOST_BYTES:,}: give its scenarios fewer arithmetics"
        )
    return targets.write(_file(name, folder), text, targets.PAGE)


def _file(name: str, folder: Path) -> Path:
    """The file of a page."""
    return folder / f"{name}.html"
