"""Every test process computes on one thread and looks for garbage rarely; dear files come first.

Two of them share two cores, where further threads of BLAS only wait for one another (a fifth of the
processor time of tests full of linear algebra), and compiling makes so many objects that a tenth of
its time went into looking which of them are garbage. No result depends on either.
"""

import gc
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported: not yet
gc.set_threshold(50_000, 20, 50)

TESTS = Path(__file__).parent
DEAR = (  # half a minute of processor time and more, nothing compiled yet; dearest first
    "random_kernels/test_random_kernels.py",
)  # fmt: skip


def pytest_collection_modifyitems(items) -> None:
    """Begin with the dearest files, so that none is left to one process while the other has nothing
    to do.
    """
    order = {TESTS / name: number for number, name in enumerate(DEAR)}
    items.sort(key=lambda item: order.get(item.path, len(DEAR)))
