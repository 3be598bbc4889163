"""A pytest plugin (`-p tests.software_path`): the engine as on processors without a rounding mode
that can be set (arm64). Every rounding is then done by instructions, with the same bits. Processes
that tests start are on the usual path.
"""

from types import SimpleNamespace

from sciprec.precision.rounding import mode

mode.platform = SimpleNamespace(machine=lambda: "arm64")
