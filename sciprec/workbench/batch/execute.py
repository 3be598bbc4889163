"""Execution of a plan: the only module that knows dask."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError, ModelError
from sciprec.foundation.interrupts import insistent_interrupts
from sciprec.foundation.loading import load_files
from sciprec.workbench.batch.compiling import compile_ahead, is_compiled, told_of_compiling
from sciprec.workbench.batch.perform import Days, perform, sentence
from sciprec.workbench.batch.plan import Outcome, Run, code_behind, with_threads
from sciprec.workbench.batch.resume import look_for, restored

CONNECT_SECONDS = 8
SECONDS_BETWEEN_EVENTS = 5.0
"""Seconds between a worker's messages about one run."""
TASKS_AT_A_TIME = 10_000
"""The number of tasks that a cluster's scheduler is handed in one message."""
_LOOK_SECONDS = 0.05
_CLOSE_SECONDS = 5.0
_LOST = (
    "the dask scheduler was lost in the middle of the batch; start it again and run again to go "
    "on: what is done is kept"
)
_OTHER_CODE = (
    "the code of a case, equations, scheme or payoff that the scenario names is not the same on "
    "the worker as where the batch was started; start the workers again, so that they load it anew"
)


def execute(
    runs: Sequence[Run],
    folder: str | Path,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
    on_done: Callable[[Outcome], None] = lambda outcome: None,
    on_days: Days | None = None,
    on_compiling: Callable[[Run], None] | None = None,
    on_cluster: Callable[[str], None] = lambda words: None,
    fresh: bool = False,
    plugins: Sequence[str] = (),
    debug: bool = False,
    action: Callable[..., Outcome] = perform,
) -> tuple[Outcome, ...]:
    """Perform all runs and return their outcomes in the order of the plan.

    Args:
        runs: the plan.
        folder: where files go; on a cluster, a folder that every worker sees under this name.
        scheduler: address of an existing dask cluster, such as tcp://host:8786.
        workers: number of processes on this machine; None for threads in this process.
        threads: how many these are; left out, one per processor. Where there are fewer runs, each
            takes several inside.
        on_done: called with each outcome as it arrives, in any order.
        on_days: called with a run and its simulated days now and then, from other threads.
        on_compiling: called with a run whose kernels are being compiled, from other threads; not on
            clusters.
        on_cluster: called with a line about the cluster, where there is one.
        fresh: files that are there already do not count.
        plugins: files that workers import first, under the same paths.
        debug: let the first failing run end the batch with its traceback.
        action: what is done with a run: a function like `perform`.

    Raises:
        InputError: the scheduler does not answer, workers is no positive number, or they cannot be
            started; or a user's model breaks what every run of it rests on.
    """
    folder = str(Path(folder).resolve())
    on_done = partial(_unless_refused, first={}, on_done=on_done)
    if scheduler is None:
        processors = os.cpu_count() or 1
        count = min(workers or threads or processors, processors)
        if action is perform:
            compile_ahead(runs, count, plugins, on_compiling)
        runs = with_threads(runs, count)
    if scheduler is None and workers is None:
        tasks = partial(action, folder=folder, debug=debug, on_days=on_days)
        if on_compiling is not None:
            tasks = partial(_telling, action=tasks, on_compiling=on_compiling)
        return _on_threads(runs, tasks, threads, on_done)
    with _client(scheduler, workers) as client:
        on_cluster(_words_about(client))
        with _hearing(client, runs, on_days) as topic:
            performing = partial(
                on_worker, action=action, folder=folder, debug=debug, topic=topic, fresh=fresh
            )
            unpacking = partial(_unpacked, action=performing, plugins=plugins)
            return _on_cluster(client, runs, unpacking, on_done, debug)


def _unless_refused(
    outcome: Outcome, first: dict[str, Outcome], on_done: Callable[[Outcome], None]
) -> None:
    """Hear of an outcome.

    Args:
        outcome: of a run.
        first: of each scenario the first outcome with shapes, which is noted here.
        on_done: told of the outcome.

    Raises:
        ModelError: its model is at fault, and no other run of it would do better; or gives other
            variables than in another arithmetic.
    """
    if outcome.refused:
        raise ModelError(f"scenario '{outcome.scenario}': {outcome.failure}")
    if outcome.shapes:
        earlier = first.setdefault(outcome.scenario, outcome)
        for name in dict.fromkeys((*earlier.shapes, *outcome.shapes)):
            form, before = (
                f"has the shape {each.shapes[name]}" if name in each.shapes else "is missing"
                for each in (outcome, earlier)
            )
            if form != before:
                raise ModelError(
                    f"scenario '{outcome.scenario}': the variable '{name}' {form} in "
                    f"{outcome.label} and {before} in {earlier.label}; let the model give the same "
                    "variables on the same points in every arithmetic"
                )
    on_done(outcome)


def _unpacked(packed: bytes, action: Callable[[Run], Outcome], plugins: Sequence[str]) -> Outcome:
    """Perform a pickled run on a worker; the scheduler need not know what plugins bring."""
    load_files(plugins)
    return action(pickle.loads(packed))


def _telling(
    run: Run, action: Callable[[Run], Outcome], on_compiling: Callable[[Run], None]
) -> Outcome:
    """Perform a run, and say so where its kernels are compiled for the first time."""
    with told_of_compiling(None if is_compiled(run) else partial(on_compiling, run)):
        return action(run)


def _on_threads(
    runs: Sequence[Run],
    action: Callable[[Run], Outcome],
    threads: int | None,
    on_done: Callable[[Outcome], None],
) -> tuple[Outcome, ...]:
    """One task per run on the threads of this process; kernels release the interpreter lock."""
    from dask.callbacks import Callback
    from dask.threaded import get

    def finished(key: Any, result: Any, *_: Any) -> None:
        if isinstance(result, Outcome):
            on_done(result)

    count = threads or os.cpu_count() or 1
    tasks = {("run", i): (action, run) for i, run in enumerate(runs)}
    with insistent_interrupts(), Callback(posttask=finished):
        return tuple(get(tasks, list(tasks), num_workers=count))


@contextlib.contextmanager
def _hearing(client: Any, runs: Sequence[Run], on_days: Days | None) -> Iterator[str | None]:
    """The topic under which workers say how far their runs are; None where nobody listens."""
    if on_days is None:
        yield None
        return
    run_of = {run.file: run for run in runs}

    def heard(event: Any) -> None:
        file, days = event[1]
        on_days(run_of[file], days)

    topic = f"sciprec-days-{uuid.uuid4().hex}"
    client.subscribe_topic(topic, heard)
    try:
        yield topic
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            client.unsubscribe_topic(topic)


def on_worker(
    run: Run, action: Callable[..., Outcome], folder: str, debug: bool, topic: str | None,
    fresh: bool,
) -> Outcome:  # fmt: skip
    """Perform a run on a worker of a cluster, which tells a topic the simulated days.

    A run that had ended is handed out again where its worker is lost before the outcome is fetched;
    unless everything is to be computed again, its file is then there.
    """
    from distributed import get_worker

    if run.code and run.code != code_behind(run.scenario):
        return run.outcome(0.0, _OTHER_CODE)
    if not fresh and (previous := restored(look_for(run, folder), folder)) is not None:
        return replace(previous, kept=False)
    if topic is None:
        return action(run, folder, debug)
    worker, last_time = get_worker(), [time.monotonic()]

    def tell(run: Run, days: float) -> None:
        if time.monotonic() - last_time[0] >= SECONDS_BETWEEN_EVENTS:
            last_time[0] = time.monotonic()
            worker.log_event(topic, (run.file, days))

    return action(run, folder, debug, tell)


def _on_cluster(
    client: Any,
    runs: Sequence[Run],
    action: Callable[[bytes], Outcome],
    on_done: Callable[[Outcome], None],
    debug: bool,
) -> tuple[Outcome, ...]:
    """One task per run on the workers of a cluster.

    Runs whose workers were lost are tried once more, one by one: a run that kills its worker takes
    those with it that wait there. One that fails again is a failed run, and so are all that are
    left where the scheduler is lost.
    """
    packed = [pickle.dumps(run) for run in runs]
    futures = client.map(action, packed, pure=False, batch_size=TASKS_AT_A_TIME)
    outcomes: dict[str, Outcome] = {}

    def ended(outcome: Outcome) -> None:
        outcomes[outcome.file] = outcome
        on_done(outcome)

    def pending() -> list[Run]:
        return [run for run in runs if run.file not in outcomes]

    try:
        for batch in _batches(client, futures):
            for outcome in _answered(client, partial(_fetched, client, batch, debug)):
                ended(outcome)
        if pending():  # nothing that was handed out before stands beside them
            _answered(client, partial(client.cancel, futures))
        for run in pending():
            ended(_answered(client, partial(_alone, client, run, action)))
    except _SchedulerLostError:
        for run in pending():
            ended(run.outcome(0.0, _LOST))
    return tuple(outcomes[run.file] for run in runs)


class _SchedulerLostError(Exception):
    """Nobody will answer a client any more."""


def _batches(client: Any, futures: Sequence[Any]) -> Iterator[list[Any]]:
    """Ended tasks, those together that ended since the last look.

    Raises:
        _SchedulerLostError: there is none that could say what ends.
    """
    from distributed import as_completed

    waiting = as_completed(futures, loop=client.loop)
    while not waiting.is_empty():
        if batch := waiting.next_batch(block=False):
            yield batch
        else:
            _require_connection(client)
            time.sleep(_LOOK_SECONDS)


def _answered(client: Any, ask: Callable[[], Any]) -> Any:
    """The answer of a cluster: dask itself goes on waiting where its client has been closed.

    Raises:
        _SchedulerLostError: none will come.
    """
    answers: list[tuple[Any, BaseException | None]] = []

    def wait() -> None:
        try:
            answers.append((ask(), None))
        except BaseException as error:
            answers.append((None, error))

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    while not answers:
        waiting.join(_LOOK_SECONDS)
        if not answers and waiting.is_alive():
            _require_connection(client)
    answer, error = answers[0]
    if error is not None:
        raise error
    return answer


def _require_connection(client: Any) -> None:
    """Make sure that a client is connected; wait while it tries to be again.

    Raises:
        _SchedulerLostError: it has given up.
    """
    while client.status == "connecting":
        time.sleep(_LOOK_SECONDS)
    if client.status != "running":
        raise _SchedulerLostError


def _fetched(client: Any, futures: Sequence[Any], debug: bool) -> list[Outcome]:
    """The outcomes of ended tasks at once, those left out whose workers were lost."""
    try:
        return client.gather([f for f in futures if debug or f.status == "finished"])
    except Exception:
        if debug:
            raise
    outcomes = []
    for future in futures:
        with contextlib.suppress(Exception):  # of the cluster, as in `_alone`
            outcomes.append(future.result())
    return outcomes


def _alone(client: Any, run: Run, action: Callable[[bytes], Outcome]) -> Outcome:
    """The outcome of a run with nothing else on the cluster."""
    _require_connection(client)
    try:
        return client.submit(action, pickle.dumps(run), pure=False).result()
    except Exception as error:  # of the cluster: what a model raises is a sentence already
        _require_connection(client)
        return run.outcome(0.0, f"its worker was lost or failed: {sentence(error)}")


@contextlib.contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A client of the given cluster, or of one started on this machine for the batch."""
    from distributed import Client, LocalCluster

    if scheduler is not None:
        _require_scheduler(scheduler)
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        logs = [logging.getLogger(f"distributed.{name}") for name in ("client", "batched")]
        before = [log.level for log in logs]
        for log in logs:
            log.setLevel(logging.CRITICAL)  # a lost scheduler has its sentence
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):  # without its scheduler it cannot say good-bye
                client.close(timeout=_CLOSE_SECONDS)
            for log, level in zip(logs, before, strict=True):
                log.setLevel(level)
        return
    if workers is None or workers < 1:
        raise InputError(f"{workers} workers were asked for; give a number of processes >= 1")
    try:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port, whatever else runs here
            silence_logs=logging.ERROR,
        )
    except RuntimeError as error:
        raise InputError(
            f"{workers} worker processes could not be started ({error}); a script that asks for "
            "workers calls sciprec.run below `if __name__ == '__main__':`"
        ) from None
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


def _dashboards() -> bool:
    """Whether what dask draws its dashboard with is installed."""
    return importlib.util.find_spec("bokeh") is not None


def _words_about(client: Any) -> str:
    """Address, workers and dashboard of a cluster."""
    threads = client.nthreads()
    dashboard = f", dashboard {client.dashboard_link}" if _dashboards() else ""
    return (
        f"dask: scheduler {client.scheduler.address}, {len(threads)} workers with "
        f"{sum(threads.values())} threads{dashboard}"
    )


def _require_scheduler(address: str) -> None:
    """Ask who answers at an address, before a client is made that would go on trying.

    Raises:
        InputError: nobody answers in time, or something that is no dask scheduler.
    """
    answers: list[Any] = []

    def ask() -> None:  # on a thread of its own: the caller's may run an event loop already
        try:
            answers.append(asyncio.run(_identity(address)))
        except Exception as error:  # a stranger's answer may break anything while it is read
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    answer = answers[0] if answers else TimeoutError()
    if isinstance(answer, dict) and answer.get("type") == "Scheduler":
        return
    if isinstance(answer, Exception):
        words = " ".join(str(answer).split()) or "timed out"
    else:
        words = "something else answers there"
    raise InputError(
        f"no dask scheduler answers at '{address}' ({words}); give "
        "the address that the cluster printed, such as tcp://127.0.0.1:8786"
    )


async def _identity(address: str) -> Any:
    """Ask the server at an address who it is."""
    from distributed.core import rpc
    from distributed.security import Security

    with_tls = Security().get_connection_args("client")  # as dask's settings say
    async with rpc(address, timeout=CONNECT_SECONDS, connection_args=with_tls) as server:
        return await asyncio.wait_for(server.identity(), CONNECT_SECONDS)
