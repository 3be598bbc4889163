"""The gallery: its entries exist, its pages stand alone, its messages say what to do."""

import json
import re
from pathlib import Path

import pytest

from sciprec.cli.behind import gallery
from sciprec.cli.behind.gallery import GALLERY, MOST_BYTES, GalleryPage, make_gallery
from sciprec.foundation.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def little(monkeypatch, models, scenario_files):
    """A gallery of one page, of the stand-ins."""
    monkeypatch.setattr(gallery, "GALLERY", {"little": GalleryPage(("climate", "heston"))})
    return scenario_files[0].parent


def test_every_entry_is_of_shipped_scenarios_or_examples_and_its_page_is_kept():
    for name, entry in GALLERY.items():
        for scenario in entry.scenarios:
            folder = "examples" if entry.model else "scenarios"
            assert (ROOT / folder / f"{scenario}.toml").is_file()
        page = ROOT / "reports" / "gallery" / f"{name}.html"
        assert page.is_file() and page.stat().st_size <= MOST_BYTES
        text = page.read_text(encoding="utf-8")
        assert "<h1>" in text and "</html>" in text
        assert not re.search(r'href="[^"#]*\.(nc|zarr)"', text)


@pytest.mark.slow
def test_a_page_without_files_is_left(call, undrawn, blank_figures, little, tmp_path):
    out = tmp_path / "gallery"
    code, said, error = call("dev", "gallery", "--scenarios", little, "--out", out, "--json")
    assert (code, error) == (0, "")
    (row,) = json.loads(said)
    assert [path.name for path in out.iterdir()] == ["little.html"]
    text = (out / "little.html").read_text(encoding="utf-8")
    assert row["bytes"] == len(text.encode())
    assert ".nc" not in re.findall(r'href="([^"]*)"', text)
    assert f"sciprec run {little}/climate.toml {little}/heston.toml" in text
    assert "sciprec compare reports/batch/" in text or "What helps" not in text


def test_a_foreign_page_is_not_replaced_and_nothing_is_computed(little, models, tmp_path):
    models["climate"] = lambda *given: pytest.fail("computed first")
    (tmp_path / "little.html").write_text("<title>Our home</title>")
    with pytest.raises(InputError, match="little.html' cannot be written .it is there already"):
        make_gallery(little, tmp_path)
    assert (tmp_path / "little.html").read_text() == "<title>Our home</title>"


def test_unknown_pages_are_named_with_the_known_ones(little):
    with pytest.raises(InputError, match=r"no page 'litle'; it has: little; did you mean"):
        make_gallery(little, names=["litle"])


def test_a_failed_run_leaves_no_page(models, undrawn, little, tmp_path):
    def failing(given, backend, compensation=None):
        raise InputError("too long a step")

    models["climate"] = failing
    with pytest.raises(
        InputError, match=r"page 'little' was not written: .* failed \(too long a step"
    ):
        make_gallery(little, tmp_path / "gallery")
    assert list((tmp_path / "gallery").iterdir()) == []
