"""Residuals against the error cache: sizes, tiles, and bank collisions against a simulation."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.machine.error_cache import (
    ERROR_CACHE,
    ErrorCache,
    conflict_degree,
    conflict_free_pitch,
    tile_layout,
)
from sciprec.machine.footprint import compensation_footprint, element_bytes
from sciprec.workbench.kinds import kinds, load_scenario


def simulated_cycles(stride, lanes, cache):
    """Serve every lane's request: each bank delivers one word in a cycle, to all that want it."""
    queues = [deque() for _ in range(cache.banks)]
    for lane in range(lanes):
        word = lane * stride // cache.word_bytes
        if word not in queues[word % cache.banks]:
            queues[word % cache.banks].append(word)
    cycles = 0
    while any(queues):
        for queue in queues:
            if queue:
                queue.popleft()
        cycles += 1
    return cycles


@given(
    stride=st.integers(0, 3000),
    lanes=st.integers(1, 80),
    element=st.sampled_from([1, 2, 4, 8, 16]),
    banks=st.sampled_from([1, 8, 32, 30]),
)
def test_degree_is_the_simulated_number_of_cycles(stride, lanes, element, banks):
    cache = ErrorCache(banks=banks)
    stride *= element
    assert conflict_degree(stride, lanes, element, cache) == simulated_cycles(stride, lanes, cache)


@given(columns=st.integers(1, 700), lanes=st.integers(1, 64))
def test_padding_is_the_smallest_that_collides_least(columns, lanes):
    pitch = conflict_free_pitch(columns, lanes)
    least = min(
        simulated_cycles(p, lanes, ERROR_CACHE) for p in range(4 * columns, 4 * columns + 513, 4)
    )
    assert simulated_cycles(pitch, lanes, ERROR_CACHE) == least
    assert all(
        simulated_cycles(p, lanes, ERROR_CACHE) > least for p in range(4 * columns, pitch, 4)
    )


def test_landmarks():
    """32 lanes: 128 floats of a pitch all lie in one bank; one word more and none collide."""
    assert ERROR_CACHE.size_bytes == 131072 and ERROR_CACHE.line_bytes == 512
    assert conflict_degree(4) == 1
    assert conflict_degree(512) == 32
    assert conflict_degree(256) == 16
    assert conflict_degree(512 + 16) == 1
    layout = tile_layout(64, 128)
    assert (layout.column_degree, layout.row_degree) == (32, 1)
    assert (layout.padded_pitch_bytes, layout.padded_column_degree) == (528, 1)
    assert (layout.size_bytes, layout.padded_size_bytes) == (32768, 33792)


@pytest.fixture
def climate(scenario_files):
    return load_scenario(scenario_files[0])


def resized(scenario, **changes):
    return scenario.model_copy(update={"climate": scenario.climate.model_copy(update=changes)})


def test_a_small_model_fits(climate):
    """T21: 253 coefficients and 22 of the degree above, complex, three variables."""
    found = compensation_footprint(climate)
    assert [(v.variable, v.elements, v.levels, v.size_bytes) for v in found.variables] == [
        (name, 550, 1, 2200) for name in ("vorticity", "divergence", "geopotential")
    ]
    assert found.total_bytes == 6600 and found.tiles == 1 and found.tile_elements == 550
    assert found.fitting == ("vorticity", "divergence", "geopotential")
    assert found.layout is None


def test_a_large_model_with_two_levels_fits_in_part(climate):
    found = compensation_footprint(
        resized(climate, truncation=85, time_scheme="semi_implicit_leapfrog"), tile=(64, 128)
    )
    elements = 2 * (86 * 87 // 2 + 86)
    assert all(v.size_bytes == elements * 2 * 4 for v in found.variables)
    assert found.fitting == ("vorticity", "divergence")
    assert found.total_bytes > ERROR_CACHE.size_bytes
    assert 3 * 2 * 4 * found.tile_elements <= ERROR_CACHE.size_bytes
    assert found.tile_elements % 128 == 0 and found.tiles == 2
    assert found.layout.column_degree == 32
    half = compensation_footprint(
        resized(climate, truncation=85, time_scheme="semi_implicit_leapfrog"), "fp16"
    )
    assert half.total_bytes * 2 == found.total_bytes and half.fitting == (
        "vorticity", "divergence", "geopotential",
    )  # fmt: skip


def test_paths_and_the_public_name(scenario_files):
    found = sciprec.machine.compensation_footprint(load_scenario(scenario_files[1]))
    assert [(v.variable, v.elements) for v in found.variables] == [
        ("log_spot", 1024), ("variance", 1024),
    ]  # fmt: skip
    assert all(kind.residuals is not None for kind in kinds().values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("fp64", 8), ("fp32", 4), ("mlu370", 4), ("tf32", 4), ("fp16", 2), ("bf16", 2), ("e5m2", 1)],
)
def test_bytes_of_formats(name, expected):
    assert element_bytes(name) == expected


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: conflict_degree(6), "a stride of 6 bytes; accepted: 0 or a multiple of the elem"),
        (lambda: conflict_degree(4, element_bytes=3), "elements of 3 bytes in 32 lanes; accepted"),
        (lambda: tile_layout(0, 4), "a tile of 0 x 4 elements of 4 bytes with a pitch of 16 bytes"),
        (lambda: tile_layout(4, 4, pitch_bytes=8), "and a pitch of 16 or more"),
    ],
)
def test_messages(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


def test_fixed_point_takes_the_bytes_of_its_integers():
    assert [element_bytes(name) for name in ("fixed32", "fixed16", "fixed:bits=12")] == [4, 2, 2]
    scenario = load_scenario("quickstart_climate")
    assert compensation_footprint(scenario, "fixed32").element_bytes == 4
