"""Damaged and exchanged checkpoints: runs that find them are refused, or begin anew."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from sciprec.climate.running.checkpoint import Restart
from sciprec.climate.running.integration import integrate
from sciprec.foundation.errors import InputError
from tests.climate.small_models import SMALL, require_same_bits
from tests.writing import damages

CASE = "williamson_5", SMALL
RUN = {"output_hours": 6.0, "step_seconds": 1200.0}


def files_of(folder: Path) -> tuple[Path, Path]:
    """The two files of the only checkpoint in a folder."""
    (state,) = folder.glob("*.npz")
    return state, state.with_suffix(".states")


def state_of_another_run(folder: Path, shorter: Path, longer: Path, other: Path) -> None:
    """Another run's under this name."""
    shutil.copy(files_of(other)[0], files_of(folder)[0])


def records_of_another_run(folder: Path, shorter: Path, longer: Path, other: Path) -> None:
    """Another run's under this name."""
    shutil.copy(files_of(other)[1], files_of(folder)[1])


def older_records(folder: Path, shorter: Path, longer: Path, other: Path) -> None:
    """A state that speaks of records which are not there yet."""
    shutil.copy(files_of(longer)[0], files_of(folder)[0])


def no_records(folder: Path, shorter: Path, longer: Path, other: Path) -> None:
    """Their file is gone."""
    files_of(folder)[1].unlink()


EXCHANGES = (state_of_another_run, records_of_another_run, older_records, no_records)


def prepared(folder: Path) -> tuple[Any, Path, Path, Path]:
    """An uninterrupted run, and folders with checkpoints of a short part of it, of a longer one and
    of another run.
    """
    folders = [folder / name for name in ("shorter", "longer", "other")]
    integrate(*CASE, 0.5, checkpoints=folders[0], **RUN)
    integrate(*CASE, 0.75, checkpoints=folders[1], **RUN)
    integrate(*CASE, 0.5, checkpoints=folders[2], backend="fp32", **RUN)
    return integrate(*CASE, 1.0, **RUN), *folders


def damaged_run(draw: random.Random, stopped: tuple, folder: Path, lasting: bool) -> None:
    """Run with a damaged checkpoint.

    Args:
        draw: of the damage.
        stopped: from `prepared`.
        folder: in which it runs.
        lasting: whether its checkpoints are.

    Raises:
        AssertionError: it has gone on, or ends with other bits than an uninterrupted one.
    """
    ended, *folders = stopped
    shutil.copytree(folders[0], folder)
    damage, said = draw.choice([*damages.DAMAGES, *EXCHANGES]), []
    if damage in EXCHANGES:
        damage(folder, *folders)
    else:
        file = draw.choice(files_of(folder))
        file.write_bytes(damage(file.read_bytes(), draw))
    restart = Restart(folder, lasting=lasting, told=said.append)
    try:
        run = integrate(*CASE, 1.0, checkpoints=restart, **RUN)
    except InputError as error:
        said.append(str(error))
    else:
        require_same_bits(run, ended)
    assert len(said) == 1, f"{damage.__name__}: {said}"
    assert "\n" not in said[0] and ("to begin again" if lasting else "began anew") in said[0]
