"""Policies of mixed precision by name, for the models that have stages."""

from sciprec.facets.stages.arithmetics import STAGES
from sciprec.foundation.later import MODEL_STAGES
from sciprec.instruments.assigning.policies import MIXTURES, Mixture, policy_called, rows_of
from sciprec.precision.formats.backend import backends

_MIXED = ("state update", "Legendre products", "Legendre sums", "Fourier")


def words_of(name: str, kind: str) -> str:
    """The formats that a policy gives to the stages of a kind, such as "state update in fp32, all
    else in fp16"; empty for other backends and kinds.
    """
    if not name.startswith("policy:") or kind not in MODEL_STAGES:
        return ""
    policy, stages = (
        policy_called(name),
        [stage for stage in MODEL_STAGES[kind] if not stage.always],
    )
    if isinstance(policy, Mixture):
        usual, formats = (
            policy.rest,
            {stage.name: policy.formats.get(stage.name) for stage in stages},
        )
    else:
        usual = policy.narrow if policy.name in ("O2", "O3") else policy.wide
        formats = {s.name: policy.narrow if policy.is_narrow(s) else policy.wide for s in stages}
    exceptions: dict[str, list[str]] = {}
    for stage, fmt in formats.items():
        if fmt not in (None, usual):
            exceptions.setdefault(fmt, []).append(stage)
    parts = [f"{', '.join(stages)} in {fmt}" for fmt, stages in exceptions.items()]
    parts.append(f"{'all else' if parts else 'all'} in {usual}")
    return f"policy {policy.name}: {'; '.join(parts)}"


def policy_rows() -> list[dict[str, str]]:
    """Every stage of every model, and how the policies have it."""
    return rows_of(MODEL_STAGES)


def mixture_rows() -> list[dict[str, str]]:
    """A row for each named arithmetic with several formats, with the format of every stage of the
    climate's models; "-" is the format of all other stages.
    """
    rows = [
        _row(f"policy:{mixture.name}", mixture.rest, dict(mixture.formats), mixture.about)
        for mixture in MIXTURES.values()
    ]
    for backend in backends().values():
        formats = {"Legendre products": backend.matmul, "Legendre sums": backend.accumulate}
        changed = {k: a.format.name for k, a in formats.items() if a != backend.compute}
        if changed and not backend.compute.fixed:
            rows.append(_row(backend.name, backend.compute.format.name, changed, backend.about))
    for name, stages in STAGES.items():
        lowest = f"orders below {stages.kept_orders}" * bool(stages.kept_orders)
        lowest += f"degrees below {stages.kept_degrees}" * bool(stages.kept_degrees)
        formats = {
            "Legendre products": stages.legendre, "Legendre sums": stages.sums or stages.legendre,
            "Fourier": stages.fourier,
        }  # fmt: skip
        about = f"{lowest} in {stages.kept}" if lowest else "what is handed on is rounded, too"
        in_stages = {k: str(f) for k, f in formats.items() if f}
        rows.append(_row(f"stages {name}", "any", in_stages, about))
    return rows


def _row(name: str, usual: str, formats: dict[str, str], about: str) -> dict[str, str]:
    columns = {stage: formats.get(stage, "-") for stage in _MIXED}
    return {"given as": name, "rest": usual, **columns, "about": about}
