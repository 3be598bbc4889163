"""Kernels with other callees: the original stays, the copy calls the replacement, however deep."""

import numpy as np

from sciprec.climate.transform.substitution import substitute

SCALE = 3.0


def square(x):
    return x * x


def cube(x):
    return x * x * x


def scaled(x, factor=SCALE):
    return factor * square(x)


def all_scaled(x, out):
    for i in range(x.size):
        out[i] = scaled(x[i])


def unconcerned(x, out):
    for i in range(x.size):
        out[i] = SCALE * x[i]


def test_copy_calls_the_replacement_and_the_original_does_not(lifted):
    copy = substitute(all_scaled, {square: cube})
    for kernel, expected in ((copy, [24.0, -3.0]), (all_scaled, [12.0, 3.0])):
        out = np.zeros(2)
        lifted(kernel, "fp32")(np.array([2.0, -1.0]), out)
        assert out.tolist() == expected
    out = np.zeros(2)
    copy(np.array([2.0, -1.0]), out)
    assert out.tolist() == [24.0, -3.0]


def test_kernels_without_the_callee_stay_themselves():
    assert substitute(unconcerned, {square: cube}) is unconcerned
    assert substitute(all_scaled, {cube: square}) is all_scaled
    assert substitute(square, {square: cube}) is cube


def looping(x, n):
    return square(x) if n == 0 else looping(x, n - 1)


def test_kernels_that_call_themselves():
    assert substitute(looping, {cube: square}) is looping
    assert substitute(looping, {square: cube})(2.0, 3) == 8.0
