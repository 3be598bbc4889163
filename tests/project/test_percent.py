"""Per cent in Python as in the shell: "1%" is 0.01 of a share, a rate and a relative error."""

import numpy as np
import pytest

import sciprec
from sciprec import heston
from sciprec.foundation.errors import InputError

MODEL = {"spot": 100.0, "v0": 0.04, "kappa": 2.0, "theta": 0.04, "sigma": 0.5, "rho": -0.5}


def halve(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3.0


GIVEN = {"x": np.arange(1.0, 5.0), "out": np.zeros(4)}


def test_shares_are_texts_in_per_cent_too():
    model = heston.Model(**MODEL, rate="1%", dividend_yield=" 2 %")
    assert model == heston.Model(**MODEL, rate=0.01, dividend_yield=0.02)
    assert heston.ForwardStart(0.5, 1.0, "95%") == heston.ForwardStart(0.5, 1.0, 0.95)
    call, how = heston.Call(100.0, 1.0), {"seed": 3, "max_paths": 2**16}
    one, other = (heston.price(model, call, tolerance=t, confidence=c, **how)
                  for t, c in (("20%", "90%"), (0.2, 0.9)))  # fmt: skip
    assert one.confidence == 0.9 and one.bound == other.bound
    found = [sciprec.tune(halve, GIVEN, tolerance=t, formats=("fp64", "bf16"))
             for t in ("1%", 0.01)]  # fmt: skip
    assert found[0].tolerance == 0.01 and found[0].assignment == found[1].assignment


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: heston.Model(**MODEL | {"rho": "50%"}), "rho is '50%'"),
        (lambda: heston.Model(**MODEL, rate="one %"), "rate is 'one %'; accepted: an interest"),
        (lambda: heston.Model(**MODEL, rate="2000%"), "rate is '2000%'; accepted: an interest"),
        (lambda: sciprec.tune(halve, GIVEN, tolerance="1%", metric="max_abs"),
         "tolerance is given '1%' of the metric max_abs, which has units"),
        (lambda: sciprec.tune(halve, GIVEN, tolerance="-1%"), "tolerance is -0.01; accepted"),
    ],
)  # fmt: skip
def test_what_is_no_share_is_refused(make, said):
    with pytest.raises(InputError) as raised:
        make()
    assert said in str(raised.value)
