"""Residuals against the error cache: sizes, tiles, and bank collisions against a simulation."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciprec.machine.error_cache import (
    ERROR_CACHE,
    ErrorCache,
    conflict_degree,
    conflict_free_pitch,
    tile_layout,
)
from sciprec.machine.footprint import compensation_footprint
from sciprec.workbench.kinds import load_scenario


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
