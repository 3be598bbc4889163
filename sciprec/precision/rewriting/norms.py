"""Rewriting of np.linalg.norm: each order, known when the kernel is lifted, has a kernel."""

from __future__ import annotations

import ast
import numbers

from sciprec.precision.library.linear_algebra import NORMS, norm_p
from sciprec.precision.rewriting.syntax import Rewriting


def norm_called(rewriter: Rewriting, node: ast.Call):
    """The kernel that a call of np.linalg.norm means, and the arguments that it takes."""
    text = ast.unparse(node.func)
    keywords = {k.arg: k.value for k in node.keywords}
    args = dict(zip(("x", "ord"), node.args, strict=False)) | keywords
    if len(node.args) > 2 or "x" not in args or args.keys() - {"x", "ord"}:
        rewriter.refuse(
            node,
            f"{text} with these arguments",
            "it takes (x, ord) and gives one number; for an axis write the loop over rows",
        )
    order = args.get("ord")
    value = None if order is None else _number(rewriter, order)
    if value in NORMS:
        return NORMS[value], [args["x"]]
    if isinstance(value, numbers.Real):
        return norm_p, [args["x"], order]
    rewriter.refuse(
        node,
        f"{text} with the ord {ast.unparse(order)}",
        "it takes None, 'fro' or a number that is written in the call: 1, 2, np.inf, ... (2 of a "
        "matrix, and 'nuc', need singular values)",
    )


def _number(rewriter: Rewriting, node: ast.expr):
    """The value of a literal, a constant's name, or its negative."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(rewriter, node.operand)
        return -value if isinstance(value, numbers.Real) else "not a number"
    if isinstance(node, ast.Constant):
        return node.value
    value = rewriter.value_of(node)
    return value if isinstance(value, (numbers.Real, str, type(None))) else "not a number"
