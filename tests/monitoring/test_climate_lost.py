"""Lost updates of the climate's states: every write is seen, faults are named, and rest is none."""


import numpy as np
import pytest

from sciprec.climate.running.lifted_model import LiftedModel, conversion_of
from sciprec.climate.running.observing import RunObserver
from sciprec.climate.running.request import check_request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.tools.monitor.plan import checked_plan
from tests.draws import few

NUMBER = 10
CASES = "williamson_2", "williamson_5", "williamson_6", "williamson_1", "rossby_haurwitz"
SCHEMES = "rk4", "semi_implicit_leapfrog"
BITS = 8, 10, 11, 16, 24


def spec(bits):
    return f"float:p={bits},emin=-126,emax=127"


class Watched:
    """A run with its state at both ends, whose lost updates are looked at; with a seed of waves on
    all scales at its start.
    """

    def __init__(
        self, case, backend, steps, step_seconds, threads=1, waves=None, looks=True, **more
    ):  # fmt: skip
        days = steps * step_seconds / 86400.0
        names = check_request(case, NUMBER, days, step_seconds=step_seconds, output_hours=24 * days)
        plan = checked_plan(names.equations.variables)
        request = check_request(
            case, NUMBER, days, step_seconds=step_seconds, backend=backend, monitor=plan,
            output_hours=24 * days, **more,
        )  # fmt: skip
        initial = initial_state(request, GaussianGrid(request.truncation))
        convert = conversion_of(request, initial)
        model, exact = LiftedModel(request, convert), convert.to_state(initial)
        if waves is not None:
            rng = np.random.default_rng(waves)
            exact = exact * (1.0 + 0.1 * rng.normal(size=exact.shape))
            exact[1:] += 1e-2 * exact.std(axis=0) * rng.normal(size=exact[1:].shape)
        self.start, self.columns, self.steps = model.stored(exact), model.columns, steps
        self.observer = RunObserver(request, convert, model.columns)
        self.observer.start(self.start, exact.ravel())
        if looks:  # code that notes what it sees is not kept on disk
            model.steps = self.observer.attach(model.steps)
        self.levels = [model.steps.system.addition.level(self.start.copy())]
        team = model.team(threads)
        (team or model.steps).advance(self.levels, 0, steps)
        if team is not None:
            team.close()

    def of(self, name, state=None):
        """A variable of the state at the end, or of another one."""
        state = self.levels[0].values if state is None else state
        return state.astype(float).reshape(-1, self.columns.size)[:, self.columns == name]

    def change(self, name):
        """The change of a variable."""
        return self.of(name) - self.of(name, self.start)

    @property
    def told(self):
        return self.observer.observed_at_end(self.levels, self.steps)


def drawn(rng):
    case = str(rng.choice(CASES))
    schemes = SCHEMES if case in ("williamson_2", "williamson_5", "williamson_6") else ("",)
    scheme = str(rng.choice(schemes))
    return case, {"time_scheme": scheme} if scheme else {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", few([6, 9], 1))
def test_every_write_is_seen(seed):
    """What a state was to change by, less what was lost, is what it has changed by: in all levels
    of the scheme, with filter, diffusion, and what a carry owes.
    """
    rng = np.random.default_rng(seed)
    case, more = drawn(rng)
    carry = str(rng.choice(["none", "carry", "published-15-85"]))
    backend = spec(int(rng.choice(BITS)))
    done = Watched(case, backend, 20, 600.0, compensation=carry, **more)
    ends = sum(level.values.astype(float) for level in done.levels)
    sums = done.observer.losses._sums
    size = np.abs(done.start).max()
    assert np.allclose(
        sums.d - sums.r, ends - len(done.levels) * done.start.astype(float), 0.0, 1e-13 * size
    )
    assert sums.d.any() and sums.count == {1: 20, 2: 58}[len(done.levels)]
    exact = Watched(case, "fp64", 20, 600.0, **more).observer.losses._sums
    assert np.abs(exact.r).sum() <= 1e-12 * np.abs(exact.d).sum() + 1e-13 * size


def judged(rng):
    """Variables whose loss is missed, and harmless ones that are named, and how many of each. Half
    of the runs have waves on all scales, narrow states and short steps, beside tendencies in fp32.
    """
    if rng.random() < 0.5:
        case = str(rng.choice(["williamson_2", "williamson_5"]))
        seconds, backend, narrow = 2.0, "fp32", {"stored": spec(int(rng.integers(4, 8)))}
        more = {"waves": int(rng.integers(2**32)), "time_scheme": str(rng.choice(SCHEMES))}
    else:
        case, more = drawn(rng)
        seconds, backend = float(rng.choice([2.0, 10.0, 600.0])), spec(int(rng.choice(BITS)))
        narrow = {}
    run = Watched(case, backend, 60, seconds, **more, **narrow)
    truth = Watched(case, "fp64", 60, seconds, looks=False, **more)
    named = {alert.variable for alert in run.told.alerts if alert.rule == "lost"}
    counts, wrong = [0, 0], []
    for name in dict.fromkeys(run.columns.tolist()):
        moved, true = run.change(name), truth.change(name)
        of = np.abs(true).sum()
        size = np.abs(truth.of(name)).sum()
        share = np.abs(moved - true).sum() / max(of, 1e-300)
        if of <= 1e-9 * size or share <= 0.3:  # at rest, steady, or right
            is_fault = False
        elif share >= 0.6 and np.abs(moved).sum() <= 0.5 * of and of > 1e-5 * size:
            is_fault = True
        else:
            continue
        counts[is_fault] += 1
        if (name in named) != is_fault:
            wrong.append((is_fault, case, backend, narrow, seconds, more, name, run.told.sums))
    return counts, wrong


def all_judged(seeds):
    found = [judged(np.random.default_rng(seed)) for seed in seeds]
    return np.sum([counts for counts, _ in found], axis=0), [w for _, wrong in found for w in wrong]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "least"), few([(range(20, 30), (8, 2)), (range(30, 40), (8, 0))], 1)
)
def test_faults_of_climates_are_named_and_rest_is_not(seeds, least):
    """With at least so many harmless variables, and faults, among the runs."""
    counts, wrong = all_judged(seeds)
    assert (counts >= least).all() and not wrong, (counts, wrong)


def test_lost_updates_do_not_depend_on_threads():
    one, two = (
        Watched("williamson_5", "fp16", 70, 60.0, threads, time_scheme="semi_implicit_leapfrog")
        for threads in (1, 2)
    )
    assert one.told.sums == two.told.sums
    for name, values in one.observer.losses.arrays().items():
        assert np.array_equal(values, two.observer.losses.arrays()[name]), name
