"""Advice on how to rewrite code that cannot be lifted."""

import ast
import functools

import numpy as np

_PAIRS = "keep keys and values in two arrays, and look for a key in a loop"
_OTHERWISE = "write it out with operators and loops, or compute it before the call and pass it in"
CONSTRUCTS = {
    ast.Yield: ("yield", "append to a list, or write into an array, and return that"),
    ast.YieldFrom: ("yield from", "append to a list, or write into an array, and return that"),
    ast.Await: ("await", "wait before the call, and pass in what comes of it"),
    ast.AsyncFunctionDef: ("an async function", "define it with def alone"),
    ast.Global: ("global", "pass it as an argument, and return what becomes of it"),
    ast.Nonlocal: ("nonlocal", "pass it as an argument, and return what becomes of it"),
    ast.Import: ("import", "import it at the top of the module"),
    ast.ImportFrom: ("import", "import it at the top of the module"),
    ast.ClassDef: ("a class", "define it outside the kernel"),
    ast.Dict: ("a dictionary", _PAIRS), ast.DictComp: ("a dictionary comprehension", _PAIRS),
    ast.Set: ("a set", "write set([...])"),
    ast.SetComp: ("a set comprehension", "write set([... for ...])"),
    ast.NamedExpr: ("an assignment expression", "assign it in a line before"),
    ast.JoinedStr: ("an f-string", "give print the values themselves"),
    ast.Lambda: ("a lambda", "define a function with def"),
    ast.GeneratorExp: ("a generator expression", "write a list comprehension, or the loop"),
    ast.Match: ("match", "write if and elif"),
}  # fmt: skip
"""Node of the syntax tree -> its name, and what to write instead."""

_MODULES = {
    "linalg": "compute it before the call and pass it in; of np.linalg, norm, solve, inv, det, "
    "cholesky and qr are lifted",
    "fft": "write the transform as loops over complex numbers, or compute it before the call and "
    "pass it in",
    "random": "draw the random numbers before the call, and pass them in as an array",
}
_FUNCTIONS = {
    "einsum": "write the loops over its indices",
    "fsum": "use np.sum (pairwise), or a compensated loop",
    "dtype": "name the type itself, as in np.int32",
    "histogram": "count in a loop: h[int((x[i] - low) / width)] += 1",
    "ldexp": "write x * 2.0 ** i",
    "map": "write a list comprehension, or the loop",
    "filter": "write a list comprehension, or the loop",
    "carray": "pass the array itself as an argument",
    "farray": "pass the array itself as an argument",
    "literal_unroll": "write the loop out, item by item",
    "Dict": _PAIRS,
    "empty": _PAIRS,  # typed.Dict.empty; np.empty is lifted
}
_SPECIAL = {
    "beta": "math.gamma(a) * math.gamma(b) / math.gamma(a + b)",
    "betaln": "math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)",
    "binom": "math.gamma(n + 1.0) / (math.gamma(k + 1.0) * math.gamma(n - k + 1.0))",
    "rgamma": "1.0 / math.gamma(x)", "exp10": "10.0 ** x", "xlogy": "x * math.log(y) if x else 0.0",
    "expit": "1.0 / (1.0 + math.exp(-x))", "logit": "math.log(p / (1.0 - p))",
    "ndtr": "0.5 * math.erfc(-x / math.sqrt(2.0))",
}  # fmt: skip
"""Functions of scipy.special -> the same with functions that are lifted."""


def instead_of(text: str, function) -> str:
    """Say what to write in place of a call.

    Args:
        text: the function as the kernel names it.
        function: what that is.
    """
    if isinstance(function, functools.partial):
        return "call the function inside with all its arguments"
    label = getattr(function, "__name__", text)
    if isinstance(function, np.ufunc) and getattr(np, label, None) is not function:
        return f"write {_SPECIAL[label]}" if label in _SPECIAL else _OTHERWISE
    places = {*text.split("."), *(getattr(function, "__module__", None) or "").split(".")}
    module = next((m for m in _MODULES if m in places), None)
    return _MODULES[module] if module else _FUNCTIONS.get(label, _OTHERWISE)


def instead_of_method(name: str) -> str:
    """Say what to write in place of a method."""
    if hasattr(np.random.Generator, name):
        return _MODULES["random"]
    return (
        "write it out with operators; a method of a jitclass is found where the kernel's module "
        "names the class"
    )
