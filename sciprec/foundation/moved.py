"""Modules under the names that older versions gave them: pickles and extensions still import those.

They go with version 0.3. A module whose contents are in one place today has a row of MOVED; one
that is gone has a sentence in GONE where docs, scenarios or users' code may have named it, and
neither where only the package itself imported it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

MOVED: Mapping[str, str] = {
    "errors": "foundation.errors",
    "interrupts": "foundation.interrupts",
    "checks": "foundation",
    "display": "foundation",
    "plugins": "foundation",
    "provenance": "foundation",
    "writing": "foundation",
    "output": "results.output",
    "comparison": "results.comparison",
    "precision.integers": "arrays.integers",
    "precision.integers.packed_matmul": "arrays.integers.matrix_products",
    "precision.matrix_unit": "arrays.matrix_unit",
    "precision.matrix_unit.unit_kernels": "arrays.matrix_unit.multiplying",
    "arrays.integers.packed_matmul": "arrays.integers.matrix_products",
    "arrays.matrix_unit.unit_kernels": "arrays.matrix_unit.multiplying",
    "climate.transform.aligned": "arrays.aligned",
    "precision.sums": "arrays.sums",
    "precision.quantization": "arrays.quantization",
    "precision.assigning": "instruments.assigning",
    "precision.tracing": "instruments.tracing",
    "precision.elementary.slopes": "instruments.tracing.slopes",
    "precision.lifting.substitution": "climate.transform.substitution",
    "precision.lifting.with_rows": "extend.with_rows",
    "precision.compiled.cache_files": "foundation.cache_files",
    "precision.compiled.turns": "foundation.turns",
    "precision.formats.stages": "facets.stages.arithmetics",
    "precision.formats.matrix_unit": "arrays.matrix_unit.unit",
    "diagnosis": "tools.trace",
    "diagnosis.instrumented": "instruments.observing.observed",
    "diagnosis.noting_program": "instruments.observing.noting",
    "diagnosis.noted_values": "instruments.observing.noted_values",
    "diagnosis.watched_program": "instruments.observing.watching",
    "diagnosis.watch": "instruments.observing.watch",
    "diagnosis.memory": "tools.memory.memory",
    "diagnosis.needed_memory": "tools.trace.needed_memory",
    "diagnosis.metrics": "arrays.metrics",
    "diagnosis.enclosing": "tools.bound.bounds",
    "monitoring": "tools.monitor",
    "adaptation": "tools.adapt",
    "tuning": "tools.tune",
    "output.adapted": "facets.adaptive.attributes",
    "output.drifted": "facets.monitor.attributes",
    "output.monitored": "facets.monitor.attributes",
    "studies.traces": "tools.trace.traces",
    "studies.bounds": "tools.bound.bounds",
    "studies.monitored": "tools.monitor.monitored",
    "studies.tuned": "tools.tune.tuned",
    "studies.inputs": "tools.calls.inputs",
    "studies.outputs": "tools.calls.outputs",
    "studies.call_results": "tools.calls.outputs",
    "studies.kernel_file": "tools.calls.kernel_file",
    "studies.bit_search": "workbench.study.kernel_page",
    "workbench.study.bit_search": "workbench.study.kernel_page",
    "studies": "workbench.study",
    "kinds": "workbench.kinds",
    "models": "workbench.models",
    "batch": "workbench.batch",
    "compensation": "machine",
    "machine.cost": "cost.peak_rates",
    "machine.matrix_rates": "cost.matrix_rates",
    "machine.modes": "workbench.batch.modes",
    "machine.work": "cost.work",
    "baselines": "regression.baselines",
    "repetition": "regression.repetition",
    "comparison.reasons": "results.comparison.rows",
    "results.comparison.reasons": "results.comparison.rows",
    "report.stored.evidence": "report.stored.batch",
    "heston.bounds.listing": "heston.bounds.pricing",
    "heston.sensitivities.listing": "heston.sensitivities.greek_pricing",
    "regression.repetition.by_chance": "regression.repetition.suspects",
    "regression.repetition.by_order": "regression.repetition.suspects",
    "regression.repetition.by_threads": "regression.repetition.suspects",
    "results.comparison.folder_pairs": "results.comparison.inputs",
    "results.comparison.evidence.bands": "results.comparison.evidence.error_scales",
    "workbench.batch.identity": "workbench.batch.perform",
    "regression.baselines.kernel_requests": "regression.baselines.asking",
    "heston.options.catalogue": "heston",
    "heston.bounds.aims": "heston.bounds.plan",
    "heston.bounds.probe": "heston.bounds.rare",
    "heston.sensitivities.greek_plan": "heston.sensitivities.greek_pricing",
    "climate.diagnostics.climatology": "climate.diagnostics.derived",
    "climate.running.loop": "climate.running.integration",
    "regression.repetition.rules": "regression.repetition.suspects",
    "regression.baselines.price_requests": "regression.baselines.asking",
    "regression.baselines.bench_requests": "regression.baselines.asking",
    "foundation.room": "foundation.memory",
    "workbench.batch.members": "workbench.batch.plan",
    "report.trace_page": "tools.trace.page",
    "report.tune_page": "tools.tune.page",
    "report.monitor_page": "tools.monitor.page",
    "report.baseline_page": "regression.baselines.page",
    "report.drawing": "drawing",
    "report.drawing.lines": "report.stored.curves",
    "report.drawing.spectrum": "report.stored.curves",
    "report.sections.monitored": "facets.monitor.section",
    "report.sections.monitored_drift": "facets.monitor.section",
    "tools.monitor.drifted": "facets.monitor.attributes",
    "tools.monitor.stored": "facets.monitor.attributes",
    "scenario.monitor_request": "facets.monitor.keys",
    "report.sections.adaptive": "facets.adaptive.section",
    "scenario.adaptive_request": "facets.adaptive.keys",
    "tools.adapt.adapted": "facets.adaptive.attributes",
    "report.sections.scaled": "facets.scaling.section",
    "scenario.policy_choice": "facets.policy.keys",
    "scenario.scaling_choice": "facets.scaling.keys",
    "report.sections.drift": "facets.compensation.section",
    "scenario.compensation_choice": "facets.compensation.keys",
    "scenario.correction_choice": "facets.compensation.keys",
    "report.sections.matrix_units": "facets.matrix_unit.section",
    "report.sections.stages": "facets.stages.section",
    "scenario.stages_choice": "facets.stages.keys",
    "scenario.sections": "facets.tables",
    "scenario.values": "facets.tables",
    "tools.trace.families": "tools.trace.lines",
    "tools.bound.enclosing": "tools.bound.bounds",
    "tools.digits.shortened": "tools.digits.own_error",
    "tools.mend.beside": "tools.mend.mends",
    "tools.tune.kernel_problem": "tools.tune.tuned",
    "tools.tune.results": "tools.tune.tuned",
    "tools.calls.call_results": "tools.calls.outputs",
    "cli.exit_codes": "cli.console",
    "cli.docs_verb": "cli.list_verbs",
    "drawing.rungs": "drawing.courses",
    "drawing.listed": "drawing.templating",
    "drawing.arrangement": "drawing.svg",
    "facets.values": "facets.tables",
    "heston.bounds.regression": "heston.bounds.pilot",
    "heston.simulation.fixed_counts": "heston.simulation.fixed_point",
    "heston.simulation.fixed_units": "heston.simulation.fixed_point",
    "heston.simulation.tiles": "heston.simulation.block",
    "regression.baselines.pace": "regression.baselines.costs",
    "regression.baselines.room": "regression.baselines.costs",
    "regression.baselines.words": "regression.baselines.summaries",
    "regression.baselines.older": "regression.baselines.records",
    "report.stored.lines": "report.stored.curves",
    "report.stored.spectrum": "report.stored.curves",
    "report.sections.scales": "report.sections.evidence_pictures",
    "results.comparison.pointwise.packing": "results.comparison.pointwise.number_format",
    "results.comparison.pointwise.profiles": "results.comparison.pointwise.tally",
    "results.output.surfaces": "results.output.bounded_prices",
    "scenario.heston_model": "scenario.asked_price",
    "scenario.price_tolerance": "scenario.asked_price",
    "scenario.ensemble": "scenario.loading",
    "scenario.trace_request": "scenario.loading",
    "workbench.batch.estimate": "workbench.batch.course",
    "workbench.batch.notebook": "workbench.batch.course",
    "workbench.batch.tolerable": "workbench.batch.checking",
    "climate.stepping.imex": "climate.stepping.runge_kutta",
    "climate.running.branch_start": "climate.running.given",
    "climate.running.given_forcing": "climate.running.given",
    "climate.running.given_tracers": "climate.running.given",
    "instruments.assigning.versions": "instruments.assigning.configured",
    "instruments.pairs.program": "instruments.pairs.lifted",
    "precision.compiled.undisturbed": "precision.compiled.compilations",
    "precision.compiled.one_pass_at_a_time": "precision.compiled.compilations",
    "precision.compiled.wide_vectors": "precision.compiled.compilations",
    "precision.compiled.dead_stores": "precision.compiled.compilations",
    "precision.lifting.threads": "precision.lifting.lifted",
    "instruments.tracing.carried": "instruments.tracing.program",
    "results.comparison.pointwise.conversions": "results.comparison.pointwise.units",
    "heston.bounds.variance_reduction": "heston.bounds.estimators",
    "heston.bounds.conditional": "heston.bounds.estimators",
    "heston.bounds.controlled": "heston.bounds.estimators",
    "results.output.pressure": "results.output.regridding",
    "climate.running.given_start": "climate.running.start",
    "drawing.heat": "drawing.courses",
    "workbench.batch.behind": "workbench.batch.plan",
    "instruments.assigning.assigned_backend": "instruments.assigning.assignment",
    "workbench.kinds.policies": "facets.policy.words",
    "workbench.models.advancing": "facets.adaptive.models",
    "workbench.models.observing": "facets.monitor.models",
    "instruments.assigning.met": "instruments.assigning.matching",
    "cli.listing_verbs": "cli.list_verbs",
    "cli.page_verbs": "cli.report_verb",
    "cli.monitor_verbs": "cli.monitor_verb",
    "cli.digits_verb": "cli.kernel_verbs",
    "scenario.shipped": "foundation.shipped",
    "workbench.kinds.climate_runs": "climate.running.labelled",
    "workbench.batch.listing": "workbench.batch.workflow",
    "results.comparison.listing": "results.comparison.rows",
    "precision.formats.listing": "precision.formats.backend",
    "precision.lifting.listing": "precision.lifting.lifted",
    "precision.rewriting.sentences": "precision.rewriting.raising",
    "heston.simulation.pricing_arguments": "heston.bounds.request",
    "instruments.assigning.lifted": "instruments.assigning.assignment",
    "instruments.observing.instrumented": "instruments.observing.observed",
    "instruments.observing.noting_program": "instruments.observing.noting",
    "instruments.observing.watched_program": "instruments.observing.watching",
}
"""Old name -> new name, both without "sciprec."; of several that fit, the longest counts."""
_SCALES = (
    "'sciprec.{}' is gone: scales have one implementation, by rows in binary64, with the same "
    "bits: sciprec.instruments.assigning.scaling"
)
GONE: Mapping[str, str] = {
    "sciprec.accumulation": (
        "'sciprec.accumulation' is an example now, examples:accumulation.py: take its kernels, or "
        "run scenarios with kind = \"accumulation\", such as sciprec.run('long_accumulation')"
    ),
    "sciprec.bench": (
        "'sciprec.bench' moved to benchmarks/ at the root of sciprec's source: run one there by "
        "python -m benchmarks NAME"
    ),
    "sciprec.heston.simulation.sobol": (
        "'sciprec.heston.simulation.sobol' is gone: sciprec.heston.price takes the number of paths "
        "that its bound needs"
    ),
    "sciprec.arrays.sums.predictor": (
        "'sciprec.arrays.sums.predictor' is gone: a carry, sciprec.arrays.sums.CarriedUpdate, "
        "loses less in every case that was measured"
    ),
    "sciprec.arrays.matrix_unit.storage": (
        "'sciprec.arrays.matrix_unit.storage' is gone: sciprec.arrays.matrix_unit.unit_table keeps "
        "a number in a whole byte or word"
    ),
    **{
        f"sciprec.{name}": _SCALES.format(name)
        for name in (
            "climate.running.scaled_in_binary32",
            "climate.stages.scaled_tendency",
            "instruments.assigning.scaled_in_format",
            "instruments.assigning.columns",
        )
    },
}
"""Names that nothing has taken the place of -> a sentence on what to do."""


def moved_to(module: str) -> str:
    """Return the name that a module of sciprec has today: the name itself where it never moved."""
    parts = module.removeprefix("sciprec.").split(".")
    for count in range(len(parts), 0, -1):
        if place := MOVED.get(".".join(parts[:count])):
            return moved_to(".".join(["sciprec", place, *parts[count:]]))
    return module


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module under its older name, warns once, and hands out the module of today."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in GONE:
            raise ImportError(GONE[name], name=name)
        if not name.startswith("sciprec.") or moved_to(name) == name:
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def exec_module(self, module: ModuleType) -> None:
        old, new = module.__name__, moved_to(module.__name__)
        warnings.warn(
            f"the module '{old}' is '{new}' now; the older name goes with version 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        sys.modules[old] = importlib.import_module(new)


def renamed(old: str, new: str) -> Any:
    """Return the object of an old public name, and warn: both names with their packages."""
    warnings.warn(
        f"'{old}' is '{new}' now; the older name goes with version 0.3", DeprecationWarning,
        stacklevel=3,
    )  # fmt: skip
    module, _, name = new.rpartition(".")
    return getattr(importlib.import_module(module), name)


def install() -> None:
    """Let Python find modules of sciprec under their older names."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
