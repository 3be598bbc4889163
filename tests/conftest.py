"""Every test process computes on one thread and looks for garbage rarely.

Two of them share two cores, where further threads of BLAS only wait for one another (a fifth of the
processor time of tests full of linear algebra), and compiling makes so many objects that a tenth of
its time went into looking which of them are garbage. No result depends on either.
"""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported: not yet
gc.set_threshold(50_000, 20, 50)
