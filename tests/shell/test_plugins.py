"""An installed package extends sciprec by naming a module; what that module registers is known."""

import sys

import numpy as np
import pytest

import sciprec
from sciprec.climate.running.request import check_request
from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_plugins
from sciprec.report import section
from sciprec.results.comparison import compare, metrics
from tests.extending import BLOCKS, loading

PLUGIN = """
from sciprec.extend import metric, page_section

@metric("first error", absolute=True)
def first_error(pair):
    return float(pair.actual.ravel()[0] - pair.golden.ravel()[0])

@page_section("<p>{{ data }}</p>")
def name_of_it(subject):
    return subject.scenario
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package of one module for one test, found as any other is."""
    registry = sys.modules["sciprec.results.comparison.pointwise.error_metrics"]._METRICS
    monkeypatch.setattr(section, "_ADDED", {})
    known = dict(registry)

    def with_module(source):
        (tmp_path / "extending_module.py").write_text(source)
        told = tmp_path / "extending-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text("Metadata-Version: 2.1\nName: extending\nVersion: 1.0\n")
        (told / "entry_points.txt").write_text("[sciprec.plugins]\nmine = extending_module\n")
        monkeypatch.syspath_prepend(tmp_path)
        load_plugins.cache_clear()

    yield with_module
    monkeypatch.undo()
    sys.modules.pop("extending_module", None)
    load_plugins.cache_clear()
    registry.clear()
    registry.update(known)


def test_metrics_and_sections_of_an_installed_package_are_known(install):
    install(PLUGIN)
    assert list(metrics())[-1] == "first_error"
    assert compare(np.ones(9), np.full(9, 1.5)).row("values").errors["first_error"] == 0.5
    load_plugins()
    assert list(section._ADDED)[-1] == "name_of_it"


NAMES = {
    "number format": lambda: sciprec.lift(halved, "binary24"),
    "rounding": lambda: sciprec.quantize(1.5, "float:p=5,round=rna"),
    "climate case": lambda: check_request("hill_of_water", "T5", 1.0),
    "time scheme": lambda: check_request("williamson_2", "T5", 1.0, time_scheme="heun"),
    "set of equations": lambda: check_request("even", "T5", 1.0),
}  # fmt: skip


def halved(x):
    return 0.5 * x


@pytest.mark.parametrize("heading", NAMES)
def test_python_knows_what_an_installed_package_brings_when_it_is_asked_for(
    install, tmp_path, heading
):
    """Nothing is imported for names that are known already."""
    with loading(tmp_path):
        install(BLOCKS[heading])
        sciprec.lift(halved, "mlu370")
        check_request("williamson_5", "T5", 1.0, time_scheme="rk4", backend="binary16,round=rz")
        assert "extending_module" not in sys.modules
        NAMES[heading]()
        assert "extending_module" in sys.modules


def test_a_package_that_cannot_be_imported_is_named(install):
    install("import nothing_of_that_name\n")
    with pytest.raises(InputError, match=r"plugin 'mine' \(extending_module\) .* cannot be loaded"):
        metrics()
