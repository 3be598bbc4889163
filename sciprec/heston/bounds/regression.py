"""Regression of payments on their controls."""

import numpy as np

NEGLIGIBLE = 1e-13  # singular values below this share of the largest one are no controls


def regress(values, controls, rows):
    """Return the coefficients b of least squares of values on controls, with an intercept.

    Fixed before the paths that they are used on are drawn, they leave the mean as it is.

    Args:
        values: shape (payoffs, paths); controls: shape (controls, paths).
        rows: per payoff the rows of the controls that may be used.

    Returns:
        Shape (payoffs, controls); zero where a path is not finite.
    """
    coefficients = np.zeros((len(values), len(controls)))
    for k, used in enumerate(rows):
        chosen = controls[used]
        if used and np.isfinite(chosen).all() and np.isfinite(values[k]).all():
            centred = chosen - chosen.mean(axis=1, keepdims=True)
            scale = np.maximum(np.sqrt(np.mean(centred**2, axis=1)), np.finfo(float).tiny)
            design = (centred / scale[:, None]).T
            right = values[k] - values[k].mean()
            solution = np.linalg.lstsq(design, right, rcond=NEGLIGIBLE)[0]
            coefficients[k, used] = solution / scale
    return coefficients
