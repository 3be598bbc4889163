"""The gallery: pages of shipped scenarios that are kept beside the code, without their files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from sciprec.batch import workflow
from sciprec.cli.settings import Settings, as_words
from sciprec.errors import InputError, meant
from sciprec.kinds import load_scenario
from sciprec.output.folders import alone_in
from sciprec.report.page import render
from sciprec.report.stored.batch import read_batch, write_text

GALLERY = {
    "quickstart": ("quickstart_climate", "quickstart_heston"),
    "ensemble_jet": ("ensemble_jet",),
    "mountain_in_ten_bits": ("stored_mountain_10",),
}
"""Page -> scenarios on it."""
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
    chosen = list(GALLERY) if names is None else list(names)
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
            pages.append(_page(name, scenarios, folder))
            if on_page is not None:
                on_page(pages[-1])
    return tuple(pages)


def _page(name: str, scenarios: str | Path | None, folder: Path) -> Path:
    """Run one entry in a folder that is thrown away, and keep its page."""
    files = [
        Path(one) if scenarios is None else Path(scenarios) / f"{one}.toml" for one in GALLERY[name]
    ]
    with tempfile.TemporaryDirectory() as thrown_away:
        done = workflow.run(files, out=thrown_away, plugins=Settings.plugins)
        if done.failures:
            first = done.failures[0]
            raise InputError(
                f"the page '{name}' was not written: {first.scenario} in {first.label} failed "
                f"({first.failure}); mend that and run again"
            )
        command = " ".join(["sciprec run", *map(str, files), *as_words(Settings.plugins)])
        usual = workflow.default_folder([load_scenario(file) for file in files])
        batch = replace(read_batch(done.folder), command=command, folder=usual)
        text = render(batch, links=False)
    if len(text.encode()) > MOST_BYTES:
        raise InputError(
            f"the page '{name}' has {len(text.encode()):,} bytes; pages of the gallery have at "
            f"most {MOST_BYTES:,}: give its scenarios fewer arithmetics"
        )
    return write_text(folder / f"{name}.html", text)
