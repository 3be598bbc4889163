"""Which of the drawn mutants the tests kill: see the package's first lines."""

from __future__ import annotations

import ast
import json
import math
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tests.mutants.drawing import LIST, ROOT, Mutant

SECONDS = 60.0  # of processor time, for each mutant
ROOMS = (
    "precision", "rounding", "oracles", "random_kernels", "machine", "models", "compare",
    "diagnosis", "tuning", "monitoring", "studies", "shell",
)  # fmt: skip
NEAREST = 12  # test files that are tried
PROBE = '__import__("pathlib").Path({!r}).touch()'
COMPILED = (
    "/library/", "/elementary/", "integers/tiled_product.py", "pointwise/tally.py", "/sums/",
    "operations/reduce.py",
)  # fmt: skip
"""Sources that are lifted or compiled, where no probe may stand."""


def probed(source: str, line: int, mark: Path) -> str:
    """The source with a probe before the statement of a line: it leaves a mark when that runs."""
    lines = source.splitlines(keepends=True)
    around = [
        s for s in ast.walk(ast.parse(source))
        if isinstance(s, ast.stmt) and s.lineno <= line <= s.end_lineno
        and not lines[s.lineno - 1].lstrip().startswith("elif")
    ]  # fmt: skip
    statement = max(around, key=lambda s: s.lineno)
    decorators = [d.lineno for d in getattr(statement, "decorator_list", ())]
    first = min([statement.lineno, *decorators]) - 1
    lines.insert(first, f"{' ' * statement.col_offset}{PROBE.format(str(mark))}\n")
    return "".join(lines)


def nearest(mutant: Mutant) -> list[str]:
    """The test files nearest to a mutant's module: by the names that both have, rare ones first."""
    rooms = [ROOT / "tests" / room for room in ROOMS]
    texts = {str(f.relative_to(ROOT)): f.read_text() for r in rooms for f in r.glob("test_*.py")}
    kinds = ast.FunctionDef | ast.ClassDef
    tree = ast.parse((ROOT / mutant.file).read_text())
    names = {n.name for n in ast.walk(tree) if isinstance(n, kinds) and len(n.name) > 3}
    names |= set(mutant.file.removesuffix(".py").split("/")) - {"sciprec"}
    score = dict.fromkeys(texts, 0.0)
    for name in names:
        found = [f for f, text in texts.items() if name in text]
        for file in found:
            score[file] += math.log(len(texts) / len(found))
    return sorted(texts, key=lambda f: (-score[f], f))[:NEAREST]


def spent(process: psutil.Process) -> float:
    """Processor seconds of a process and its children."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            total += sum(one.cpu_times()[:4])
        except psutil.Error:
            continue
    return total


def outcome(checkout: Path, mutant: Mutant) -> dict[str, str | bool]:
    """The test that killed a mutant, if one did, and whether its line was executed."""
    path, mark = checkout / mutant.file, checkout.parent / "mark"
    mark.unlink(missing_ok=True)
    right = path.read_text()
    planted = mutant.planted(right)
    if not any(part in mutant.file for part in COMPILED):
        planted = probed(planted, mutant.start[0], mark)
    path.write_text(planted)
    left, cache = SECONDS, tempfile.mkdtemp(dir=checkout.parent)
    variables = os.environ | {
        "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1", "SCIPREC_CACHE_DIR": cache
    }  # fmt: skip
    options = ["-q", "-x", "-p", "no:cacheprovider", "--tb=no", "-m", "not survey"]
    try:
        for file in nearest(mutant):
            with tempfile.TemporaryFile("w+") as said:
                process = psutil.Popen(
                    [sys.executable, "-m", "pytest", *options, file],
                    cwd=checkout, env=variables, stdout=said, stderr=said, process_group=0,
                )  # fmt: skip
                used = 0.0
                while process.poll() is None and used < left:
                    time.sleep(0.3)
                    used = max(used, spent(process))
                if process.poll() is None:
                    os.killpg(process.pid, 9)
                    process.wait()
                    return {"killed by": "", "executed": mark.exists()}
                said.seek(0)
                text = said.read()
                if process.returncode not in (0, 5):
                    failed = [t for t in text.splitlines() if t.startswith(("FAILED", "ERROR"))]
                    test = failed[0].split(" - ")[0].split()[1] if failed else file
                    return {"killed by": test, "executed": mark.exists()}
            left -= used
        return {"killed by": "", "executed": mark.exists()}
    finally:
        path.write_text(right)
        shutil.rmtree(cache, ignore_errors=True)


def main(column: str) -> None:
    """Fill a column of the stored list, such as the commit; first what another column killed."""
    listed = json.loads(LIST.read_text())
    left = [one for one in listed if column not in one["outcomes"]]
    left.sort(key=lambda one: not any(o["killed by"] for o in one["outcomes"].values()))
    with tempfile.TemporaryDirectory() as folder:
        left_out = shutil.ignore_patterns(".venv", "__pycache__", ".*_cache")
        checkout = Path(folder) / "sciprec"
        shutil.copytree(ROOT, checkout, ignore=left_out, symlinks=True)
        for one in left:
            mutant = Mutant(**{k: v for k, v in one.items() if k != "outcomes"})
            one["outcomes"][column] = outcome(checkout, mutant)
            LIST.write_text(json.dumps(listed, indent=1) + "\n")
            print(mutant.file, mutant.start[0], one["outcomes"][column], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
