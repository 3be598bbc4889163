"""Every test process computes on one thread, looks for garbage rarely and keeps Python's bytecode;
dear files come first.

Two of them share two cores, where further threads of BLAS only wait for one another (a fifth of the
processor time of tests full of linear algebra), and compiling makes so many objects that a tenth of
its time went into looking which of them are garbage. A thousand modules have their assertions
rewritten, and tests start hundreds of processes: where PYTHONDONTWRITEBYTECODE is set, each began
with the sources anew. No result depends on any of this.
"""

import contextlib
import gc
import math
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported: not yet
gc.set_threshold(50_000, 20, 50)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.pop("COLUMNS", None)  # which several processes of tests have, and tables follow
sys.dont_write_bytecode = False
# a process that compiles, or looks for garbage at last, stands still for seconds
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

TESTS = Path(__file__).parent
DEAR = (  # a dozen seconds of processor time and more, nothing compiled yet; dearest first
    "precision/test_observers.py", "precision/test_shared_parts.py", "precision/test_twins.py",
    "precision/test_fixed_twins.py", "precision/test_functions.py", "precision/test_operations.py",
    "precision/test_library.py", "precision/test_linear_algebra.py",
    "precision/test_lift_constructs.py", "precision/test_assignments.py",
    "precision/test_lift_invariance.py", "precision/test_complex.py",
    "precision/test_fixed_matmul.py", "precision/test_lift.py", "precision/test_random_rows.py",
    "precision/test_leading_bits.py", "precision/test_corpus.py", "precision/test_mixed_roles.py",
    "precision/test_whole_arrays.py", "precision/test_elementary.py", "precision/test_with_rows.py",
    "precision/test_lift_contract.py", "precision/test_processors.py",
    "precision/test_contractions.py", "precision/test_interrupts.py", "project/test_docs.py",
    "climate/test_forcing.py", "climate/test_allocations.py", "repetition/test_repeat_verb.py",
    "diagnosis/test_mend_cases.py", "diagnosis/test_model_trace.py", "climate/test_threads.py",
    "climate/test_tracers.py", "climate/test_branch.py", "writing/test_faults.py",
    "diagnosis/test_memory.py", "diagnosis/test_trace.py", "diagnosis/test_verdicts.py",
    "random_kernels/test_random_kernels.py", "diagnosis/test_mend.py", "damage/test_damage.py",
    "climate/test_random_scaled.py", "tuning/test_everything.py", "shell/test_clusters.py",
    "repetition/test_repeat.py", "tuning/test_tune_models.py", "climate/test_checkpoint.py",
    "diagnosis/test_stages.py", "shell/test_full_disk.py", "monitoring/test_climate_lost.py",
    "writing/test_traced_writes.py", "shell/test_browser.py", "climate/test_adaptive.py",
    "baselines/test_killed_baselines.py", "project/test_types.py", "diagnosis/test_bound.py",
    "shell/test_same_bits.py", "tuning/test_tune.py", "climate/test_stored.py",
    "baselines/test_kernel_baselines.py", "project/test_imports.py", "monitoring/test_lost.py",
    "benchmarks/test_bench.py", "shell/test_every_scenario.py", "pairs/test_pair_kernels.py",
    "climate/test_terminator.py", "monitoring/test_kernels.py", "shell/test_matrix_units.py",
    "project/test_packaging.py", "climate/test_published_norms.py", "diagnosis/test_model_steps.py",
    "foreign/test_census.py", "baselines/test_baseline_verbs.py",
    "random_prices/test_random_prices.py", "rounding/test_stochastic.py", "shell/test_kept.py",
    "climate/test_age_of_air.py", "climate/test_time_statistics.py", "heston/test_coverage.py",
    "models/test_model.py", "diagnosis/test_model_groups.py", "studies/test_study.py",
    "rounding/test_binary64.py",
)  # fmt: skip


def pytest_configure() -> None:
    """Let tests hear Ctrl-C: a shell starts what it runs in the background with it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items) -> None:
    """Begin with the dearest files, so that none is left to one process while the other has nothing
    to do.
    """
    order = {TESTS / name: number for number, name in enumerate(DEAR)}
    gone = [path.name for path in order if not path.is_file()]
    assert not gone, f"{gone} of DEAR in tests/conftest.py are no files any more"
    items.sort(key=lambda item: order.get(item.path, len(DEAR)))
    unlike = [item.nodeid for item in items if " at 0x" in item.nodeid]
    assert not unlike, f"names with addresses differ between processes: {unlike[0]}"


@contextlib.contextmanager
def without_plugins():
    """Forget afterwards what plugin files register, a model of the examples among them."""
    from sciprec.workbench.kinds import kind

    known, before = kind._KINDS, set(sys.modules)
    kind._KINDS = dict(known)
    try:
        yield
    finally:
        for name, one in kind._KINDS.items():
            if (one.origin or kind._origin(one.run))[0].startswith("sciprec."):
                known[name] = one  # what the package registers stays, since its modules do
        kind._KINDS = known
        for name in set(sys.modules) - before:
            if name.startswith("sciprec_plugin_"):
                del sys.modules[name]


@pytest.fixture
def forgotten_plugins():
    """Forget after a test what its plugin files register."""
    with without_plugins():
        yield


@pytest.fixture(scope="module", autouse=True)
def plugins_of_one_file():
    """Forget before the next file what a file's fixtures register."""
    with without_plugins():
        yield


def without_figures(patch: pytest.MonkeyPatch) -> None:
    """Figures are made and not written out, which takes longest: what they show is not tested."""

    patch.setattr("sciprec.drawing.svg._as_text", lambda _: '<svg viewBox="0 0 1 1"></svg>')
    patch.setattr("sciprec.report.section.key_of", lambda *_: "")  # nor kept for other tests


@pytest.fixture
def blank_figures(monkeypatch):
    """Figures are made and not written out."""
    without_figures(monkeypatch)


@pytest.fixture
def call(capsys, forgotten_plugins, monkeypatch):
    """A function that runs the command and returns exit code, standard output and error; how far
    it is, which depends on the machine's pace, is not shown.
    """

    from sciprec.cli import commands as cli

    monkeypatch.setattr("sciprec.cli.progress.SECONDS_IN_SILENCE", math.inf)

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            cli.main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return caught.value.code, captured.out, captured.err

    return run
