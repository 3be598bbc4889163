"""Write digests, or compare with written ones."""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import itertools
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

PARTS = ("texts", "refusals")
"""Modules beside this one; `things()` of each gives functions by name."""
ENVIRONMENT = {"COLUMNS": "200", "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}
MADE_BY, VARIANTS = "made by", "variants"
STORED = Path(__file__).parent / "digests.json"


def things(part: str) -> dict:
    """By name, functions that give digests by variant."""
    return importlib.import_module(f"tests.same.{part}").things()


def digests(part: str, name: str) -> tuple[str, str, dict[str, str] | str, float]:
    """The digests of a thing, or the error, and the seconds that it took."""
    start = time.perf_counter()
    try:
        found = things_of(part)[name]()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return part, name, found, time.perf_counter() - start


_KNOWN: dict[str, dict] = {}


def things_of(part: str) -> dict:
    """The things of a part, made once in a process."""
    if part not in _KNOWN:
        _KNOWN[part] = things(part)
    return _KNOWN[part]


def usual_process() -> None:
    """What a text may depend on and shall not: width, colours, threads, and processor time, of
    which each look is a thousandth of a second after the one before.
    """
    looks = itertools.count()
    time.thread_time = lambda: next(looks) / 1024
    os.environ.pop("FORCE_COLOR", None)
    os.environ.update(ENVIRONMENT)


def all_digests(chosen: list[tuple[str, str]], processes: int, tell) -> tuple[dict, list[str]]:
    """By part and name; and sentences about things that could not be had."""
    found: dict[str, dict] = {part: {} for part in PARTS}
    failed = []
    context, done = multiprocessing.get_context("spawn"), itertools.count(1)
    for part in PARTS:  # in processes of its own: texts are generated where nothing is compiled
        with ProcessPoolExecutor(processes, context, usual_process) as pool:
            futures = [pool.submit(digests, *one) for one in chosen if one[0] == part]
            for future in as_completed(futures):
                _, name, given, seconds = future.result()
                if isinstance(given, str):
                    failed.append(f"{part}: {name}: {given}")
                else:
                    found[part][name] = given
                tell(f"{next(done)}/{len(chosen)} {part}: {name} {seconds:.1f} s")
    return {part: rows for part, rows in found.items() if rows}, failed


def differences(stored: dict, found: dict, chosen: list[tuple[str, str]]) -> list[str]:
    """Sentences, one for each named thing that is not as it was."""
    said = []
    for part, name in chosen:
        old, new = stored.get(part, {}).get(name), found.get(part, {}).get(name)
        if old is None:
            said.append(f"{part}: {name}: is new")
        elif new is not None and old != new:
            other = [v for v in {**old, **new} if old.get(v) != new.get(v)]
            said.append(f"{part}: {name}: other {', '.join(other)}")
    return said


def written(content: dict[str, dict]) -> str:
    """As JSON, a line for each named thing; digests of variants that most things of a part have
    stand one behind the other, and their names once.
    """
    parts = [f'"{MADE_BY}": {json.dumps(made_by())}']
    for part, rows in content.items():
        usual = Counter(map(tuple, rows.values())).most_common(1)[0][0] if rows else ()
        lines = [f"{json.dumps(VARIANTS)}: {json.dumps(usual)}"]
        for name in sorted(rows):
            row = rows[name]
            packed = " ".join(row.values()) if tuple(row) == usual else row
            lines.append(f"{json.dumps(name)}: {json.dumps(packed)}")
        parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def stored_in(file: Path) -> dict:
    """Digests by part, name and variant."""
    found = json.loads(file.read_text()) if file.exists() else {}
    found.pop(MADE_BY, None)
    for rows in found.values():
        usual = rows.pop(VARIANTS)
        for name, row in rows.items():
            if isinstance(row, str):
                rows[name] = dict(zip(usual, row.split(" "), strict=True))
    return found


def made_by() -> dict[str, str]:
    """The machine and the versions that digests were made with."""
    import llvmlite
    import numba
    import numpy as np

    return {
        "processor": f"{platform.machine()} {numba.core.codegen.ll.get_host_cpu_name()}",
        "python": platform.python_version(), "numpy": np.__version__,
        "numba": numba.__version__, "llvmlite": llvmlite.__version__,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0 where nothing differs, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.same", description=__doc__)
    parser.add_argument("verb", choices=("write", "compare"))
    parser.add_argument("file", nargs="?", type=Path, default=STORED)
    parser.add_argument("--part", action="append", choices=PARTS, help="of these; all if not given")
    parser.add_argument("--name", default="*", help="things whose names match, such as 'library.*'")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--quiet", action="store_true", help="do not tell what is done")
    asked = parser.parse_args(arguments)
    start = time.perf_counter()
    usual_process()
    with tempfile.TemporaryDirectory(prefix="same") as folder:
        os.environ["TMPDIR"] = folder
        chosen = [
            (part, name) for part in asked.part or PARTS for name in things(part)
            if fnmatch.fnmatchcase(name, asked.name)
        ]  # fmt: skip
        random.shuffle(chosen)  # no digest depends on what came before
        tell = (lambda text: None) if asked.quiet else (lambda text: print(text, file=sys.stderr))
        found, failed = all_digests(chosen, asked.processes, tell)
    said = [f"{one} (failed)" for one in failed]
    stored = stored_in(asked.file)
    if asked.verb == "write":
        rows = {part: stored.get(part, {}) | found.get(part, {}) for part in PARTS}
        if asked.name == "*":
            rows |= {part: found[part] for part in asked.part or PARTS if part in found}
        asked.file.write_text(written(rows))
    else:
        said += differences(stored, found, chosen)
        gone = [
            f"{part}: {name}: is gone" for part in asked.part or PARTS
            for name in stored.get(part, {})
            if fnmatch.fnmatchcase(name, asked.name) and (part, name) not in set(chosen)
        ]  # fmt: skip
        said += gone
    print("\n".join([*said, f"{len(chosen)} things, {len(said)} not as stored, "
                     f"{time.perf_counter() - start:.0f} s"]))  # fmt: skip
    return 1 if said else 0
