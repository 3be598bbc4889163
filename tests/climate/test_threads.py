"""Threads inside one run change no bit, wait for each other where they must, and do not hang."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sciprec.climate.equations.share import Share, first_field
from sciprec.climate.running import team
from sciprec.climate.running.integration import integrate
from sciprec.climate.stepping.schemes import TIME_SCHEMES
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.precision.operations.meeting import abandon, meet_from_python, new_counters
from tests.climate.small_models import Stopped, require_same_bits, stop_at

SMALL = Truncation(5, 8, 16, 1800.0)
FORCED = {"step_seconds": 1200.0, "output_hours": 1.0, "parameters": {"levels": 3}}
ALIKE = ("rk4", "ssprk3")
"""Schemes of explicit stages, which the last of `TIME_SCHEMES` has, too."""
FLOW = {"step_seconds": 1200.0, "output_hours": 1.0}


def on_threads(monkeypatch):
    """The numbers of the threads of each section of the runs from now on."""
    made = []
    advance = team.Team.advance

    def counted(self, *args):
        made.append(len(self._members))
        return advance(self, *args)

    monkeypatch.setattr(team.Team, "advance", counted)
    return made


@pytest.mark.slow
def test_shares_of_the_air_change_no_bit(monkeypatch):
    """More threads than some have orders, fields that do not divide, the first step of leapfrog."""
    made = on_threads(monkeypatch)
    alone = integrate("held_suarez", SMALL, 0.75, **FORCED)
    assert not made
    for threads in (2, 7):
        require_same_bits(alone, integrate("held_suarez", SMALL, 0.75, threads=threads, **FORCED))
    assert set(made) == {2, 7}
    assert np.ptp(alone.fields["u"][-1]) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "backend"),
    [*(pytest.param(s, "fp64", marks=[pytest.mark.slow] * (s in ALIKE)) for s in TIME_SCHEMES),
     pytest.param("rk4", "mlu370", marks=pytest.mark.slow)],
)  # fmt: skip
def test_schemes_on_shares_change_no_bit(monkeypatch, scheme, backend):
    """Equations that one thread evaluates; residuals, and a state between steps of its own; an
    arithmetic in which every thread has to set its processor's mode.
    """
    made = on_threads(monkeypatch)
    how = FLOW | {"time_scheme": scheme, "compensation": {"geopotential": "carry"}}
    how["backend"] = backend
    how["parameters"] = {"diffusion_m4_per_s": 1e17}
    alone = integrate("williamson_5", SMALL, 0.5, **how)
    require_same_bits(alone, integrate("williamson_5", SMALL, 0.5, threads=3, **how))
    assert set(made) == {3}


@pytest.mark.parametrize(
    ("case", "backend"),
    [("williamson_1", "mlu370-noise")],
)
def test_results_that_depend_on_calls_are_made_by_one_thread(monkeypatch, case, backend):
    made = on_threads(monkeypatch)
    how = {"step_seconds": 900.0, "time_scheme": "rk4", "backend": backend, "output_hours": 1.0}
    alone = integrate(case, SMALL, 0.0625, **how)
    for threads in (2, 5):
        require_same_bits(alone, integrate(case, SMALL, 0.0625, threads=threads, **how))
    assert not made


@pytest.mark.slow
def test_an_interrupted_run_goes_on_with_other_threads(tmp_path, written_each_time):
    how = FORCED | {"checkpoints": tmp_path}
    with pytest.raises(Stopped):
        integrate("held_suarez", SMALL, 0.75, threads=2, progress=stop_at(0.3), **how)
    seen = []
    resumed = integrate("held_suarez", SMALL, 0.75, threads=3, progress=seen.append, **how)
    assert min(seen) > 0.2
    require_same_bits(integrate("held_suarez", SMALL, 0.75, **FORCED), resumed)


@pytest.mark.parametrize("where", ["tendency", "adjust"])
def test_a_thread_that_fails_ends_the_run(monkeypatch, where):
    """The others wait at a meeting to which it will not come."""

    def failing(self, *args, **kwargs):
        if self.share.part == 1:
            raise MemoryError("planted")
        return slope(self, *args, **kwargs)

    slope = team.TeamThread.slope
    if where == "tendency":
        monkeypatch.setattr(team.TeamThread, "slope", failing)
    else:
        monkeypatch.setattr(team.TeamThread, "_alone", failing)
        slope = lambda self, *args: self.shared.meet()  # noqa: E731
    with pytest.raises(MemoryError, match="planted"):
        integrate("held_suarez", SMALL, 0.25, threads=2, **FORCED)


def test_a_meeting_lets_nobody_ahead():
    """After the n-th meeting everyone has been n times there."""
    counters, parties, rounds = new_counters(), 3, 200
    done = np.zeros(parties, np.int64)

    def go(k):
        for n in range(1, rounds + 1):
            done[k] = n
            meet_from_python(counters, parties)
            assert (done >= n).all()
            meet_from_python(counters, parties)

    with ThreadPoolExecutor(parties) as pool:
        for each in [pool.submit(go, k) for k in range(parties)]:
            each.result(timeout=60)


def test_nobody_waits_at_an_abandoned_meeting():
    counters = new_counters()
    waiting = threading.Thread(target=meet_from_python, args=(counters, 2), daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    abandon(counters)
    waiting.join(30)
    assert not waiting.is_alive()


@pytest.mark.parametrize("name", ["T5", "T21", "T42"])
@pytest.mark.parametrize("parts", [1, 2, 3, 5, 11])
def test_shares_are_everything_once(name, parts):
    row = resolve_truncation(name)
    shares = [Share(row, part, parts) for part in range(parts)]
    size = (row.number + 1) * (row.number + 4) // 2
    rows = [i for share in shares for i in range(share.rows.start, share.rows.stop)]
    assert rows == list(range(size))
    arrays = [share.array for share in shares]
    assert [n for a in arrays for n in range(a[2], a[3])] == list(range(row.number + 1))
    assert [n for a in arrays for n in range(a[4], a[5])] == list(range(row.nlon))
    for fields in (1, 2, 7, 103):
        cuts = [first_field(fields, arrays[0], part) for part in range(parts + 1)]
        assert cuts == sorted(cuts) and (cuts[0], cuts[-1]) == (0, fields)
        assert all(cut % 2 == 0 for cut in cuts[:-1])
