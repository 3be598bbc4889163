"""Every registered kernel of the engine and the models, wherever its module is."""

import importlib
import re
from pathlib import Path

import sciprec
from sciprec.precision import KERNELS
from sciprec.precision.registry import KernelEntry

PACKAGE = Path(sciprec.__path__[0])
_REGISTERED = re.compile(r"^@?kernel\(\s*example=", re.MULTILINE)


def registered_kernels() -> dict[str, KernelEntry]:
    """All of them by name: as many as the sources register."""
    written = {
        path: count for path in sorted(PACKAGE.rglob("*.py"))
        if (count := len(_REGISTERED.findall(path.read_text(encoding="utf-8"))))
    }  # fmt: skip
    for path in written:
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        importlib.import_module(".".join(parts))
    known = {name: entry for name, entry in KERNELS.items() if name.startswith("sciprec.")}
    count = sum(written.values())
    assert len(known) == count, f"{len(known)} kernels are found, {count} are registered"
    return known
