"""Execution of a plan: the only module that knows dask."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sciprec.batch.perform import perform, sentence
from sciprec.batch.plan import Outcome, Run
from sciprec.errors import InputError

CONNECT_SECONDS = 10


def execute(
    runs: Sequence[Run],
    folder: str | Path,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    on_done: Callable[[Outcome], None] = lambda outcome: None,
    debug: bool = False,
) -> tuple[Outcome, ...]:
    """Perform all runs and return their outcomes in the order of the plan.

    Args:
        runs: the plan.
        folder: where files go; on a cluster, a folder that every worker sees under this name.
        scheduler: address of an existing dask cluster, such as tcp://host:8786.
        workers: number of processes on this machine; None for threads in this process.
        on_done: called with each outcome as it arrives, in any order.
        debug: let the first failing run end the batch with its traceback.

    Raises:
        InputError: the scheduler does not answer, or workers is no positive number.
    """
    folder = str(Path(folder).resolve())
    if scheduler is None and workers is None:
        return _on_threads(runs, folder, on_done, debug)
    with _client(scheduler, workers) as client:
        return _on_cluster(client, runs, folder, on_done, debug)


def _on_threads(
    runs: Sequence[Run], folder: str, on_done: Callable[[Outcome], None], debug: bool
) -> tuple[Outcome, ...]:
    """One task per run on the threads of this process; kernels release the interpreter lock."""
    import dask
    from dask.callbacks import Callback

    def finished(key: Any, result: Any, *_: Any) -> None:
        if isinstance(result, Outcome):
            on_done(result)

    tasks = [dask.delayed(perform, pure=False)(run, folder, debug) for run in runs]
    with Callback(posttask=finished):
        return dask.compute(*tasks, scheduler="threads", num_workers=os.cpu_count() or 1)


def _on_cluster(
    client: Any, runs: Sequence[Run], folder: str, on_done: Callable[[Outcome], None], debug: bool
) -> tuple[Outcome, ...]:
    """One task per run on the workers of a cluster; a lost worker is a failed run."""
    from distributed import as_completed

    futures = [client.submit(perform, run, folder, debug, pure=False) for run in runs]
    planned = dict(zip(futures, runs, strict=True))
    outcomes = {}
    for future in as_completed(futures, loop=client.loop):
        if future.status == "finished":
            outcome = future.result()
        elif debug:
            future.result()
        else:
            run = planned[future]
            failure = f"its worker was lost or failed: {sentence(future.exception())}"
            outcome = Outcome(run.scenario.name, run.backend, run.file, 0.0, failure)
        outcomes[future] = outcome
        on_done(outcome)
    return tuple(outcomes[future] for future in futures)


@contextlib.contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A client of the given cluster, or of one started on this machine for the batch."""
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"no dask scheduler answers at '{scheduler}' ({str(error) or 'timed out'}); give "
                "the address that the cluster printed, such as tcp://127.0.0.1:8786"
            ) from None
        with client:
            yield client
        return
    if workers is None or workers < 1:
        raise InputError(f"{workers} workers were asked for; give a number of processes >= 1")
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client
