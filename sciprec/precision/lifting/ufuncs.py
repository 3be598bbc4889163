"""Functions made by `@vectorize` and `@guvectorize`, lifted: they broadcast as the originals do."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core.serialize import dumps
from numba.np.numpy_support import as_dtype
from numba.np.ufunc.gufunc import GUFunc

from sciprec.foundation.listing import Shown, Summary
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.precision.rewriting.vectorized import function_of, layout_of, over_arrays, over_loops


class LiftedUfunc(Shown):
    """A ufunc of Numba's compiled in the arithmetic of a backend; call it like the original.

    Inputs are broadcast against each other, `out` may be given. Results have the dtype of the
    backend's numbers where the function gives floating-point numbers; those of `@guvectorize` have
    the dtype of its signature, or of the arrays given for them.

    Attributes:
        kernel: the plain Python function that was decorated.
        backend: the arithmetic.
        lifted: the lifted loop around it.

    Args:
        ufunc: what the decorator made.
        lift_function: lifts a plain function.
    """

    def __init__(self, ufunc, lift_function: Callable[[Any], Lifted]):
        self.kernel = function_of(ufunc)
        self.__name__, self.__doc__ = self.kernel.__name__, self.kernel.__doc__
        self._sigs = _signatures(ufunc)
        self._core = layout_of(ufunc) if isinstance(ufunc, GUFunc) else None
        loop = over_loops(ufunc) if self._core else over_arrays(self.kernel)
        self.nin = len(self._core[0]) if self._core else ufunc.nin
        self.nout = len(self._core[1]) if self._core else 1
        self.lifted = lift_function(loop)
        self.backend = self.lifted.backend
        self._of_numbers = None if self._core else lift_function(self.kernel)

    @property
    def inner(self):
        """The compiled function of numbers, as an argument of other kernels."""
        if self._of_numbers is None:
            self._refuse("is given as an argument of a kernel", "call it by its own name there")
        return self._of_numbers.inner

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Run it over the inputs.

        Raises:
            LiftError: wrong counts, shapes that do not broadcast.
        """
        if out is not None:
            args = (*args, *(out if isinstance(out, tuple) else (out,)))
        if not self.nin <= len(args) <= self.nin + self.nout:
            self._refuse(
                f"is given {len(args)} operands",
                f"give {self.nin} inputs, and {self.nout} outputs at most",
            )
        inputs = self._converted([np.asarray(a) for a in args[: self.nin]])
        outs = args[self.nin :]
        if not all(isinstance(a, np.ndarray) for a in outs):
            self._refuse("is given an output that is no array", "make one with np.empty")
        inputs = [x.copy() if any(np.may_share_memory(x, o) for o in outs) else x for x in inputs]
        return self._looped(inputs, outs) if self._core else self._mapped(inputs, outs)

    def stream(self, n: int) -> LiftedUfunc:
        """The n-th stream of random bits, see `Lifted.stream`."""
        result = LiftedUfunc.__new__(LiftedUfunc)
        result.__dict__.update(self.__dict__)
        result.lifted = self.lifted.stream(n)
        return result

    def freeze(self, spare_bits: int = 0) -> None:
        """Let the units of fixed point change no more, see `FixedLifted.freeze`."""
        self.lifted.freeze(spare_bits)

    def unfreeze(self) -> None:
        """Let the units of fixed point change again."""
        self.lifted.unfreeze()

    def _mapped(self, inputs: list[np.ndarray], outs: tuple) -> Any:
        """The function of numbers over broadcast inputs."""
        shape = self._broadcast([x.shape for x in inputs])
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in inputs]
        result = self.lifted(*flat).reshape(shape)
        if outs:
            self._store(outs[0], result)
            return outs[0]
        return result if shape else result[()]

    def _looped(self, arrays: list[np.ndarray], outs: tuple) -> Any:
        """The function of core dimensions over the loop dimensions."""
        inputs, outputs = self._core or ([], [])
        sizes: dict[str, int] = {}
        loops = [self._matched(x, core, sizes) for x, core in zip(arrays, inputs, strict=True)]
        for x, core in zip(outs, outputs, strict=False):
            self._matched(x, core, sizes)
        loop = self._broadcast(loops)
        shapes = [loop + self._shape(core, sizes, len(outs)) for core in outputs]
        news = [np.empty(s, d) for s, d in zip(shapes, self._dtypes(arrays, outs), strict=True)]
        for out, new in zip(outs, news, strict=False):
            if out.shape != new.shape:
                self._refuse(f"is given an output of shape {out.shape}", f"here it is {new.shape}")
            new[...] = out  # what the function leaves alone stays
        count = math.prod(loop)
        flat = [
            np.broadcast_to(x, loop + x.shape[x.ndim - len(core) :]).reshape(
                (count, *x.shape[x.ndim - len(core) :])
            )
            for x, core in zip(arrays, inputs, strict=True)
        ]
        writable = [m.reshape((count, *m.shape[len(loop) :])) for m in news]
        self.lifted(*flat, *writable)
        for out, new in zip(outs, news, strict=False):
            out[...] = new
        results = [*outs, *news[len(outs) :]]
        results = [r if r.shape else r[()] for r in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _matched(self, x: np.ndarray, core: tuple[str, ...], sizes: dict[str, int]) -> tuple:
        """The loop dimensions of an operand; its core dimensions go into `sizes`."""
        first = x.ndim - len(core)
        expected = f"({', '.join(core)})"
        if first < 0:
            self._refuse(f"is given a {x.ndim}-D array for {expected}", "add dimensions")
        for dimension, size in zip(core, x.shape[first:], strict=True):
            if sizes.setdefault(dimension, size) != size:
                self._refuse(
                    f"is given the sizes {sizes[dimension]} and {size} for '{dimension}'",
                    "give arrays that agree in it",
                )
        return x.shape[:first]

    def _shape(self, core: tuple[str, ...], sizes: dict[str, int], count: int) -> tuple[int, ...]:
        missing = [dimension for dimension in core if dimension not in sizes]
        if missing:
            self._refuse(f"has an output whose size '{missing[0]}' no input has", "give out=")
        return tuple(sizes[dimension] for dimension in core)

    def _dtypes(self, inputs: list[np.ndarray], outs: tuple) -> list[np.dtype]:
        """Dtypes of the outputs: those given, or those of the signature."""
        dtypes = [out.dtype for out in outs]
        if len(dtypes) < self.nout:
            declared = self._signature(inputs)
            if declared is None:
                self._refuse("has no signature that says what its outputs are", "give out=")
            dtypes += declared[self.nin + len(dtypes) :]
        return dtypes

    def _converted(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Inputs in the dtypes of the signature that takes them."""
        declared = self._signature(inputs)
        if declared is None:
            return inputs
        return [x.astype(d, copy=False) for x, d in zip(inputs, declared, strict=False)]

    def _signature(self, inputs: list[np.ndarray]) -> list[np.dtype] | None:
        """The signature of the inputs' own dtypes, or the first that takes them without a loss;
        None where there are none.
        """
        for fits in (operator.eq, np.can_cast):
            for dtypes in self._sigs:
                if all(fits(x.dtype, d) for x, d in zip(inputs, dtypes, strict=False)):
                    return dtypes
        if self._sigs:
            listed = ", ".join(str(x.dtype) for x in inputs)
            self._refuse(f"is given {listed}", "give inputs that one of its signatures takes")
        return None

    def _broadcast(self, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(map(str, shapes))
            self._refuse(f"is given shapes that do not broadcast: {listed}", "reshape them")
            raise

    def _store(self, out: np.ndarray, result: np.ndarray) -> None:
        if out.shape != result.shape:
            self._refuse(f"is given an output of shape {out.shape}", f"here it is {result.shape}")
        if not np.can_cast(result.dtype, out.dtype):
            self._refuse(f"is given an output of {out.dtype}", f"give one of {result.dtype}")
        out[...] = result

    def _refuse(self, fault: str, advice: str):
        raise LiftError(f"ufunc '{self.__name__}' {fault}; {advice}")

    def __reduce__(self):
        return _restored, (dumps(self.__dict__),)

    def _summary(self) -> Summary:
        return self.lifted._summary()


def _restored(state: bytes) -> LiftedUfunc:
    """A lifted ufunc that was pickled."""
    ufunc = LiftedUfunc.__new__(LiftedUfunc)
    ufunc.__dict__.update(pickle.loads(state))
    return ufunc


def _signatures(ufunc) -> list[list[np.dtype]]:
    """The dtypes of the operands of each signature that was declared."""
    if isinstance(ufunc, GUFunc):
        declared = [signature.args for signature in ufunc.gufunc_builder._sigs]
        declared = declared if not ufunc.is_dynamic else []
    else:
        overloads = ufunc._dispatcher.overloads if ufunc._frozen else {}
        declared = [getattr(kinds, "args", kinds) for kinds in overloads]
    return [[as_dtype(getattr(kind, "dtype", kind)) for kind in kinds] for kinds in declared]
