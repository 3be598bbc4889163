"""The largest sizes in a long accumulation, which give fixed point its units.

They are known beforehand: sums end near their last value, increments are bounded, and a residual
is below one unit of the sum. A profiling run in binary64 could not tell the last one, because sums
are exact there and residuals zero.
"""

from __future__ import annotations

import math

from sciprec.accumulation.kernels import add_block, add_block_with_carry


def ranges(kernel, backend, stream) -> dict[str | int, float] | None:
    """Ranges by the text of an operation, as `lift` takes them; None for floats.

    Args:
        kernel: one of the three of sciprec.accumulation.kernels.
        backend: the arithmetic.
        stream: Increments.
    """
    if not backend.storage.fixed:
        return None
    largest, total = stream.largest, stream.reach
    if kernel is add_block:
        return {"block": largest, "*": total}
    fmt = backend.storage.format
    residual = math.ldexp(1.0, math.frexp(total)[1] + 1 - fmt.bits + fmt.headroom)
    result = {
        "block": largest,
        "residual": residual,
        "total - larger": largest + residual,
        "smaller - (total - larger)": residual,
        "*": total,
    }
    if kernel is add_block_with_carry:
        result["step + kept"] = largest + residual
        result["lost_in_sum(x, whole, state[i]) + lost_in_sum(step, kept, whole)"] = residual
        return result
    shares = ("alpha * kept", "beta * lost_in_sum(x, step, x + step)", "kept - carry")
    sums = (
        "alpha * kept + beta * lost_in_sum(x, step, x + step)",
        "(kept - carry) + lost_in_sum(step, carry, whole)",
        "lost_in_sum(x, whole, state[i]) + left",
    )
    result |= dict.fromkeys(shares, 2 * residual) | dict.fromkeys(sums, 4 * residual)
    result |= dict.fromkeys(("alpha", "beta"), 2.0)
    return result | {"step + carry": largest + 4 * residual, "residual": 4 * residual}
