"""Modules that are generated from kernels: by every technique, without compiling any of them.

Techniques that run a kernel are stopped where they would compile: the texts made until then.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.dispatcher import Dispatcher

import sciprec
from tests.precision.corpus import parameters
from tests.precision.registered import registered_kernels
from tests.precision.test_corpus import CORPUS
from tests.random_kernels.backends import resolved
from tests.same.plain import digest, plain, plain_module

BACKENDS = (
    "fp64", "fp32", "bf16", "fp16", "mlu370", "fixed32", "float:p=13,emin=-30,emax=30,round=ru",
    "bf16,round=sr", "roles: binary16, bfloat16, binary32 rz, tf32",
    "roles: binary64, binary32, binary64, binary32",
)  # fmt: skip
_LIFTED = "sciprec_lifted."


class Stopped(BaseException):
    """In place of compiling."""


def kernels() -> dict[str, tuple[Callable, Callable[[], tuple]]]:
    """By a name that has no place in it: a kernel, and what makes arguments for it."""
    found = {name: (entry.kernel, entry.make) for name, entry in CORPUS.items()}
    for path, entry in registered_kernels().items():
        name = f"registered.{path.rpartition('.')[2]}"
        assert name not in found, f"two registered kernels are called {name}"
        found[name] = entry.function, entry.example
    return found


def things():
    """By name, a function that gives digests by variant."""
    return {name: functools.partial(_texts, *row) for name, row in kernels().items()}


def techniques(kernel: Callable, make: Callable[[], tuple]) -> dict[str, Callable[[], Any]]:
    """By name, what is done with a kernel."""
    function = getattr(kernel, "py_func", kernel)
    names = list(parameters(function))
    lifts = {
        f"lift {spec.replace(' ', '')}": functools.partial(
            sciprec.lift, kernel, resolved(spec), ranges=1.0 if spec == "fixed32" else None
        )
        for spec in BACKENDS
    }

    def assigned(unit, key, **more):
        assignment = sciprec.Assignment({key: "bf16"}, by=unit, default="fp32", **more)
        return sciprec.lift(kernel, assignment)

    return lifts | {
        "lift trusting": lambda: sciprec.lift(kernel, "fp16", trust_inputs=True),
        "lift software": lambda: sciprec.lift(kernel, "fp32", path="software"),
        "profile": lambda: sciprec.lift(kernel, "fixed16")(*make()),
        "assigned": lambda: assigned("function", function.__name__),
        "assigned everything": lambda: assigned("function", function.__name__, rounds="everything"),
        "trace": lambda: sciprec.trace(kernel, "fp16", make()),
        "trace fp64": lambda: sciprec.trace(kernel, "fp64", make()),
        "bound": lambda: sciprec.bound(kernel, "fp32", make()),
        "tune": lambda: sciprec.tune(kernel, make(), tolerance=1e-3),
        "check_memory": lambda: sciprec.check_memory(kernel, "bf16", make()),
        "monitor": lambda: sciprec.monitor(kernel, "bf16", make(), watch=names[-1:]),
        "monitor fp64": lambda: sciprec.monitor(kernel, "fp64", make(), watch=names[:1]),
    }


def _texts(kernel: Callable, make: Callable[[], tuple]) -> dict[str, str]:
    own = getattr(kernel, "py_func", kernel).__name__
    return {name: _digest(call, own) for name, call in techniques(kernel, make).items()}


def _digest(call: Callable[[], Any], own: str) -> str:
    """Of the modules that a call generates from a kernel of a name, in any order, and of the
    sentence that refuses it. Kernels of the package that it needs are generated once a process.
    """
    earlier = {n: m for n, m in sys.modules.items() if n.startswith(f"{_LIFTED}{own}_")}
    for name in earlier:
        del sys.modules[name]
    usual, cache, said = Dispatcher.compile, os.environ.get("SCIPREC_CACHE_DIR"), ""
    Dispatcher.compile = _stop
    os.environ["SCIPREC_CACHE_DIR"] = _folder()
    try:
        call()
    except Stopped:
        pass
    except (sciprec.InputError, TypeError, ValueError) as error:
        said = plain(f"{type(error).__name__}: {error}")
    finally:
        Dispatcher.compile = usual
        os.environ.pop("SCIPREC_CACHE_DIR")
        if cache is not None:
            os.environ["SCIPREC_CACHE_DIR"] = cache
    made = {n: m for n, m in sys.modules.items() if n.startswith(f"{_LIFTED}{own}_")}
    sys.modules.update(earlier)  # which others may go on with
    texts = sorted(plain_module(Path(str(m.__file__)).read_text()) for m in made.values())
    assert texts or said, f"{own} is neither generated nor refused"
    return "!" * bool(said) + digest("\n".join([said, *texts]))


@functools.cache
def _folder() -> str:
    """Where modules are generated, of which nothing is compiled."""
    return tempfile.mkdtemp(prefix="texts")


def _stop(self, signature):
    raise Stopped
