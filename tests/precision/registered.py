"""Every registered kernel of the engine and the models, wherever its module is."""

import importlib
import pkgutil
import re
from pathlib import Path

import sciprec.accumulation
import sciprec.climate
import sciprec.heston
import sciprec.precision
from sciprec.precision import KERNELS
from sciprec.precision.registry import KernelEntry

PACKAGES = (sciprec.precision, sciprec.accumulation, sciprec.climate, sciprec.heston)
_REGISTERED = re.compile(r"^@?kernel\(\s*example=", re.MULTILINE)


def registered_kernels() -> dict[str, KernelEntry]:
    """All of them by name: as many as the sources register."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(found.name)
    prefixes = tuple(f"{package.__name__}." for package in PACKAGES)
    known = {name: entry for name, entry in KERNELS.items() if name.startswith(prefixes)}
    sources = [path for p in PACKAGES for path in Path(p.__path__[0]).rglob("*.py")]
    written = sum(len(_REGISTERED.findall(path.read_text())) for path in sources)
    assert len(known) == written, f"{len(known)} kernels are found, {written} are registered"
    return known
