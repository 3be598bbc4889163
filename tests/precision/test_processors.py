"""Code for other processors than this one: it asks nothing of them that they do not have."""

import pytest
from llvmlite import binding
from numba.core import codegen, config

from sciprec.precision.rounding import mode
from tests.precision.processor_survey import digests, digests_as

TARGETS = [
    ({"NUMBA_CPU_NAME": "core2", "NUMBA_CPU_FEATURES": ""}, ("fp16", "mlu370")),
    ({"NUMBA_ENABLE_AVX": "0"}, ("int16",)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "arithmetics"), TARGETS)
def test_other_processors_give_the_same_bits(target, arithmetics):
    """With cold caches: without conversions of binary16 code for these ended in a segmentation
    fault, and without vectors of 512 bits LLVM ended the process.
    """
    assert digests_as(target, arithmetics) == digests(arithmetics)


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ("", ()),
        ("+avx,+f16c,+fma", ("f16c", "fma")),
        ("+f16c,+fma,-avx", ()),
        ("-avx,+fma", ("fma",)),
        ("+avx512f,+avx512bw,+fma,-avx512f", ("fma",)),
        ("+avx512f,+f16c,-sse4.2", ()),
        ("+f16c,-f16c", ()),
        ("+fma,-avx512f,-fma4,-sse4a", ("fma",)),
    ],
)
def test_extensions_count_as_numba_s_settings_leave_them(given, held, monkeypatch):
    """One that is taken away takes those along that are built on it, as in LLVM."""
    monkeypatch.setattr(config, "CPU_FEATURES", given)
    names = ("f16c", "fma", "avx512f", "avx512bw", "avx512vnni")
    assert tuple(name for name in names if mode.has_feature(name)) == held


def test_without_settings_the_extensions_are_this_processor_s(monkeypatch):
    monkeypatch.setattr(config, "CPU_FEATURES", None)
    for name, has in binding.get_host_cpu_features().items():
        assert mode.has_feature(name) == has, name
    monkeypatch.setattr(config, "ENABLE_AVX", 0)
    assert "+avx512f" not in codegen.get_host_cpu_features() and not mode.has_feature("avx512f")
