"""Every test process computes on one thread and looks for garbage rarely; dear files come first.

Two of them share two cores, where further threads of BLAS only wait for one another (a fifth of the
processor time of tests full of linear algebra), and compiling makes so many objects that a tenth of
its time went into looking which of them are garbage. No result depends on either.
"""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported: not yet
gc.set_threshold(50_000, 20, 50)
# a process that compiles, or looks for garbage at last, stands still for seconds
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

TESTS = Path(__file__).parent
DEAR = (  # a quarter of a minute of processor time and more, nothing compiled yet; dearest first
    "precision/test_fixed_twins.py", "precision/test_twins.py", "precision/test_operations.py",
    "precision/test_functions.py", "precision/test_lift.py", "precision/test_lift_invariance.py",
    "precision/test_lift_escapes.py", "precision/test_lift_forms.py",
    "precision/test_fixed_matmul.py", "precision/test_elementary.py", "precision/test_summation.py",
    "precision/test_lift_contract.py", "precision/test_views.py",
    "precision/test_fixed_operations.py", "precision/test_fixed_lift.py",
    "precision/test_disk_cache.py",
    "random_kernels/test_random_kernels.py", "random_kernels/test_planted_faults.py",
    "climate/test_checkpoint.py",
    "climate/test_galewsky.py", "shell/test_every_scenario.py", "climate/test_stages.py",
    "climate/test_model.py", "climate/test_baroclinic.py", "climate/test_reduced_precision.py",
    "shell/test_same_bits.py", "heston/test_greeks.py", "heston/test_coverage.py",
    "climate/test_climates.py", "climate/test_stored.py", "climate/test_bounds.py",
    "climate/test_compensation.py", "climate/test_staged_model.py", "shell/test_fuzz.py",
    "project/test_packaging.py", "project/test_readme.py", "project/test_claims.py",
    "heston/test_fixed_units.py", "climate/test_advection.py", "climate/test_fixed_identity.py",
    "climate/test_barotropic_vorticity.py", "heston/test_pricing.py", "climate/test_drift.py",
    "climate/test_formulations.py",
)  # fmt: skip


def pytest_collection_modifyitems(items) -> None:
    """Begin with the dearest files, so that none is left to one process while the other has nothing
    to do.
    """
    order = {TESTS / name: number for number, name in enumerate(DEAR)}
    gone = [path.name for path in order if not path.is_file()]
    assert not gone, f"{gone} of DEAR in tests/conftest.py are no files any more"
    items.sort(key=lambda item: order.get(item.path, len(DEAR)))


@pytest.fixture
def forgotten_plugins(monkeypatch):
    """What plugin files register, a model of the examples among them, is unknown afterwards."""
    from sciprec.kinds import kind

    monkeypatch.setattr(kind, "_KINDS", dict(kind._KINDS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("sciprec_plugin_"):
            del sys.modules[name]


@pytest.fixture
def blank_figures(monkeypatch):
    """Figures are made and not written out, which takes longest: what they show is not tested."""

    def written(canvas, buffer, **_):
        buffer.write('<svg viewBox="0 0 1 1"></svg>')

    monkeypatch.setattr("sciprec.report.drawing.svg.FigureCanvasSVG.print_svg", written)


@pytest.fixture
def call(capsys, forgotten_plugins):
    """A function that runs the command and returns exit code, standard output and error."""

    from sciprec.cli import commands as cli

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            cli.main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return caught.value.code, captured.out, captured.err

    return run
